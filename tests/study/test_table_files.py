"""Tables of text in Markdown, LaTeX and html."""

import pandas as pd
from read_pages import cells_of_html

from sampled_metrics_study import table_files


def texts_of(table, tmp_path, title="T", heading=""):
    paths = [tmp_path / f"t.{kind}" for kind in ("md", "tex", "html")]
    table_files.write(title, [(heading, pd.DataFrame(table))], *paths)
    return [path.read_text(encoding="utf-8") for path in paths]


def test_what_latex_or_html_would_read_is_escaped(tmp_path):
    hard = {"a_b": ["50 % & more", "x_1^2"], "c#": ["{~}", r"back\slash"], "γ": ["1±2", "<script>"]}
    _, latex, html = texts_of(hard, tmp_path, "T <b>", "<i>")
    for wanted in (
        r"a\_b",
        r"c\#",
        r"50 \% \& more",
        r"x\_1\textasciicircum 2",
        r"\{\textasciitilde \}",
        r"$\gamma$",
    ):
        assert wanted in latex
    assert r"back\textbackslash slash" in latex
    assert r"1\,$\pm$\,2" in latex
    assert not {"±", "γ"} & {*latex}
    assert "<title>T &lt;b&gt;</title>" in html
    assert "<h2>&lt;i&gt;</h2>" in html
    assert cells_of_html(html) == [
        [["a_b", "c#", "γ"], ["50 % & more", "{~}", "1±2"], ["x_1^2", r"back\slash", "<script>"]]
    ]
