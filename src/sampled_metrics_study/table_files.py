"""Files of tables: Markdown, LaTeX and html."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from sampled_metrics import file_io
from sampled_metrics.reporting.page import render
from sampled_metrics.reporting.tables import Section, as_latex, as_markdown, laid_out


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write tables in the formats given by the paths' endings: .md, .tex or .html."""
    for path in map(Path, paths):
        if path.suffix == ".tex":
            text = _latex(title, sections, f"tab:{path.parent.name}-{path.stem}")
        else:
            text = {".md": _markdown, ".html": _html}[path.suffix](title, sections)
        file_io.write_text(path, text)


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"**{title}**"]
    for heading, table in sections:
        parts += [heading, as_markdown(table)] if heading else [as_markdown(table)]
    return "\n\n".join(parts)


_BOX = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Shrinks a table that is wider than the text."""


def _latex(title: str, sections: Sequence[Section], label: str) -> str:
    parts = ["% needs \\usepackage{booktabs, graphicx}"]
    title = re.sub(r"^Table \d+\. ", "", title)  # LaTeX numbers its tables
    for number, (heading, table) in enumerate(sections, 1):
        caption = f"{title}. {heading}." if heading else f"{title}."
        name = label if number == 1 else f"{label}-{number}"
        caption = caption.replace("±", r"$\pm$").replace("γ", r"$\gamma$")
        lines = rf"\caption{{{caption}}}", rf"\label{{{name}}}", _BOX, as_latex(table) + "}"
        parts.append("\n".join([r"\begin{table}", r"\centering", *lines, r"\end{table}", ""]))
    return "\n".join(parts)


def _html(title: str, sections: Sequence[Section]) -> str:
    laid = [{"heading": heading, "table": laid_out(table)} for heading, table in sections]
    return render("tables.html", "sampled_metrics_study", title=title, sections=laid)
