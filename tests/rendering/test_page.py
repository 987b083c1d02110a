"""Tables of text in Markdown, LaTeX and html."""

import re

import pandas as pd
from rendering.read_pages import cells_of_html

from sampled_metrics.rendering import page, tables


def texts_of(table, tmp_path):
    paths = [tmp_path / f"t.{kind}" for kind in ("md", "tex", "html")]
    page.write("T", [("", table)], *paths)
    return [path.read_text(encoding="utf-8") for path in paths]


class TestFormats:
    HARD = (
        ("A heading", pd.DataFrame({"a_b": ["50 % & more", "x_1^2"], "c#": ["{~}", r"back\slash"], "γ": ["1±2", "$"]})),
    )

    def test_latex_escapes_what_latex_would_read(self, tmp_path):
        page.write("Title", self.HARD, tmp_path / "t.tex")
        text = (tmp_path / "t.tex").read_text(encoding="utf-8")
        for wanted in (r"a\_b", r"c\#", r"50 \% \& more", r"x\_1\textasciicircum 2", r"\{\textasciitilde \}", r"\$"):
            assert wanted in text
        assert r"back\textbackslash slash" in text
        assert r"1\,$\pm$\,2" in text
        assert r"$\gamma$" in text
        assert "\x00" not in text
        assert "±" not in text
        assert "γ" not in text

    def test_html_escapes_what_html_would_read(self, tmp_path):
        sections = [("<i>", pd.DataFrame({"a": ["<script>", "x & y"]}))]
        page.write("T <b>", sections, tmp_path / "t.html")
        text = (tmp_path / "t.html").read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "<title>T &lt;b&gt;</title>" in text
        assert "<h2>&lt;i&gt;</h2>" in text
        assert cells_of_html(text) == [[["a"], ["<script>"], ["x & y"]]]


class TestNumbers:
    def test_are_aligned_at_their_end_and_text_is_not(self, tmp_path):
        table = pd.DataFrame(
            {"A": ["x", "y"], "B": ["1.50±0.20", "**12.25±0.10**"], "C": ["7", "-"], "D": ["1 (z)", "2"]}
        )
        markdown, latex, html = texts_of(table, tmp_path)
        assert re.search(r"^\|:-+\|-+:\|-+:\|:-+\|$", markdown, flags=re.MULTILINE)
        assert r"\begin{tabular}{lrrl}" in latex
        assert re.findall(r"<th scope=\"col\".*?>(\w)<", html) == ["A", "B", "C", "D"]
        assert re.findall(r' class="number">(\w)</th>', html) == ["B", "C"]


class TestBest:
    def test_is_bold_in_each_format(self, tmp_path):
        table = pd.DataFrame({"A": ["x", "y"], "B": ["**2.0±1.0**", "1.0±1.0"]})
        markdown, latex, html = texts_of(table, tmp_path)
        assert "**2.0±1.0**" in markdown
        assert r"\textbf{2.0\,$\pm$\,1.0}" in latex
        assert "<strong>2.0<wbr>±1.0</strong>" in html

    def test_is_the_largest_as_shown_of_its_group_and_none_where_all_are_equal(self):
        values = pd.Series([0.123, 0.1234, 0.1, 0.5, 0.5, float("nan"), 0.2])
        group = pd.Series(["a", "a", "a", "b", "b", "c", "c"])
        cells = pd.Series(list("1234567"))
        found = tables.with_best(cells, values, [group], 3)
        assert found.tolist() == ["**1**", "**2**", "3", "4", "5", "6", "7"]


def test_a_value_that_rounds_to_zero_has_no_sign():
    assert tables.plus_minus(-0.001, 0.12, 2) == "0.00±0.12"
    assert tables.plus_minus(-0.001, float("nan"), 2) == "0.00"
