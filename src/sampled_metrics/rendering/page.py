"""Pages of html, and files of tables."""

import base64
import html
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.rendering.tables import Section, as_html, as_latex, as_markdown

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.2em; color: #1a1a1a; background: #fff }
h1 { font-size: 1.25em } h2 { font-size: 1.05em; margin-top: 1.6em }
.scroll { overflow-x: auto }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; --side: .7em }
th, td { padding: .25em var(--side); text-align: left; vertical-align: top; background: #fff }
th, td { border-bottom: 1px solid #ddd }
tbody th { font-weight: inherit }
thead th { border-bottom: 2px solid #1a1a1a; vertical-align: bottom; overflow-wrap: normal }
.numbers td, .numbers tbody th { white-space: nowrap }
.number { text-align: right; padding-right: calc(var(--side) + var(--short, 0ch)) }
tbody tr:hover > * { background: #f3f3f3 }
@media (max-width: 40em) {
  body { font-size: 13.5px; margin: .8em }
  table { --side: .4em }
  th, td { padding: .3em var(--side) }
  .numbers tbody th { white-space: normal }
  .stays { position: sticky; left: var(--left); min-width: var(--width); max-width: var(--width) }
  .stays { z-index: 1; box-sizing: border-box; white-space: normal; overflow-wrap: anywhere }
  .last { border-right: 1px solid #ddd }
  .words thead { display: none }
  .words, .words tbody, .words tr, .words th, .words td { display: block }
  .words tr { border-bottom: 2px solid #ddd; padding: .4em 0 }
  .words tbody th, .words td { border: 0; padding: .1em 0 }
  .words tbody th { font-weight: 600 }
  .words td::before { content: attr(data-of) ": "; color: #595959 }
}
"""


def _html_page(title: str, body: str, style: str = "") -> str:
    """Return a page that fetches nothing. It has the styles of tables, and the given ones."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{body}</body>\n</html>"
    )


def _scrolled(name: str, element: str) -> str:
    """Return an element of html in a box that scrolls if the element is too wide."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(name)}">{element}</div>'


_PAGE_STYLE = """
body { max-width: 84em; margin-left: auto; margin-right: auto; padding: 0 .8em; overflow-wrap: anywhere }
h3 { font-size: 1em; margin: 1.6em 0 .3em }
p, li { max-width: 44em }
ul { padding-left: 1.4em }
.scroll { margin: .8em 0 }
@media screen { wbr { display: none } }
.verdict { font-size: 1.1em; font-weight: 600 }
.caution { border-left: .3em solid #b00020; padding-left: .7em; font-weight: 600 }
.figures { display: flex; flex-wrap: wrap; gap: 1em 2em }
figure { margin: 0; max-width: 100%; width: 24em }
figure svg { max-width: 100%; height: auto; display: block }
.wide figure { width: auto }
.wide img { display: block; width: var(--natural); max-width: 100% }
.caption, footer { font-size: .9em; color: #444 }
@media print {
  body { margin: 0; max-width: none; font-size: 9.5pt }
  .scroll { overflow: visible }
  th, td { padding: .2em .4em }
  .numbers { font-size: 8.5pt }
  .numbers td, .numbers tbody th { white-space: normal; overflow-wrap: normal }
  figure, tr { break-inside: avoid }
  h2, h3 { break-after: avoid }
}
"""


class Page:
    """The body of a page; all text that is given to it is escaped."""

    def __init__(self) -> None:
        self.body = ""

    def heading(self, text: str, level: int = 2) -> None:
        """Add a heading."""
        self.body += f"<h{level}>{html.escape(text)}</h{level}>\n"

    def paragraphs(self, sentences: Iterable[str], kind: str = "said") -> None:
        """Add paragraphs of a class."""
        self.body += "".join(f'<p class="{kind}">{html.escape(sentence)}</p>\n' for sentence in sentences)

    def list(self, sentences: Iterable[str]) -> None:
        """Add a list; without sentences, nothing."""
        items = "".join(f"<li>{html.escape(sentence)}</li>\n" for sentence in sentences)
        self.body += f"<ul>\n{items}</ul>\n" if items else ""

    def table(self, name: str, table: pd.DataFrame) -> None:
        """Add a table of text."""
        self.body += f"{_scrolled(name, as_html(table))}\n"

    def figures(self, elements: Iterable[str], caption: str = "", kind: str = "figures") -> None:
        """Add figures, as html, and a caption below them."""
        boxes = "".join(f"<figure>{element}</figure>" for element in elements)
        self.body += f'<div class="{kind}">{boxes}</div>\n'
        self.paragraphs([caption] if caption else [], kind="caption")

    def wide_figure(self, svg: str, name: str, caption: str) -> None:
        """Add a figure, as svg, in its own size, but not wider than the page."""
        data = base64.b64encode(svg.encode()).decode()
        points = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
        natural = f"{float(points[1]) / 72:.2f}in" if points else "100%"
        image = f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(name)}" style="--natural: {natural}">'
        self.figures([image], caption, kind="wide")

    def footer(self, text: str) -> None:
        """Add a last line."""
        self.body += f"<footer><p>{html.escape(text)}</p></footer>\n"

    def html(self, title: str) -> str:
        """Return the page, which fetches nothing."""
        return _html_page(title, self.body, _PAGE_STYLE)


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write tables in the formats given by the paths' endings: .md, .tex or .html."""
    for path in map(Path, paths):
        if path.suffix == ".tex":
            _files.write_text(path, _latex(title, sections, f"tab:{path.parent.name}-{path.stem}"))
        else:
            _files.write_text(path, {".md": _markdown, ".html": _html}[path.suffix](title, sections))


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
    body = []
    for heading, table in sections:
        body += [f"<h2>{html.escape(heading)}</h2>"] if heading else []
        body.append(_scrolled(heading or title, as_html(table)))
    return _html_page(title, "".join(body))
