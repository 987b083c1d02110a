"""Write tables as Markdown, LaTeX and html, and pages of html."""

import base64
import html
import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from sampled_metrics import _files

Section = tuple[str, pd.DataFrame]
"""A heading, which may be empty, and a table of text, in which `**7.80**` is bold."""

_NUMBER = re.compile(r"-|[-+]?\d[\d.]*(±[\d.]+)?")


def number(value: float, form: str) -> str:
    """Format a number; a missing one is a dash."""
    return "-" if math.isnan(value) else f"{value:{form}}"


def plus_minus(mean: float, sd: float, digits: int) -> str:
    """Format a mean and its standard deviation, if there is one."""
    return f"{mean:.{digits}f}" if math.isnan(sd) else f"{mean:.{digits}f}±{sd:.{digits}f}"


def with_best(
    cells: "pd.Series[str]", values: "pd.Series[float]", by: Sequence["pd.Series[str]"], digits: int
) -> "pd.Series[str]":
    """Make the cells bold that have the largest value of their group, as shown, unless the whole group shows the same.

    Args:
        cells: text of the cells.
        values: their values.
        by: keys of the groups.
        digits: the decimals that are shown of a value.
    """
    shown = values.map(lambda value: float(f"{value:.{digits}f}"))
    groups = shown.groupby(list(by))
    best = shown.eq(groups.transform("max")) & groups.transform("nunique").gt(1)
    return cells.where(~best, "**" + cells + "**")


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write a table in the formats given by the paths' endings: .md, .tex or .html."""
    for path in map(Path, paths):
        if path.suffix == ".tex":
            _files.write_text(path, _latex(title, sections, f"tab:{path.parent.name}-{path.stem}"))
        else:
            _files.write_text(path, {".md": _markdown, ".html": _html}[path.suffix](title, sections))


def _are_numbers(text: pd.DataFrame) -> list[bool]:
    """Return for each column whether it holds numbers, which are aligned at their right end."""
    return [all(_NUMBER.fullmatch(cell.strip("*")) for cell in text[name]) for name in text]


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"**{title}**"]
    for heading, table in sections:
        parts += [heading] if heading else []
        sides = ["right" if are else "left" for are in _are_numbers(table)]
        parts.append(str(table.to_markdown(index=False, disable_numparse=True, colalign=sides)))
    return "\n\n".join(parts)


_BOX = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Makes a table narrower that is wider than the text."""


def _latex(title: str, sections: Sequence[Section], label: str) -> str:
    parts = ["% needs \\usepackage{booktabs, graphicx}"]
    title = re.sub(r"^Table \d+\. ", "", title)  # LaTeX numbers its tables
    for place, (heading, table) in enumerate(sections, 1):
        caption = f"{title}. {heading}." if heading else f"{title}."
        text = table.map(lambda cell: re.sub(r"\*\*(.*)\*\*", "\x01\\1\x02", str(cell)).replace("±", "\x00"))
        rendered = (
            text.style.hide(axis="index")
            .format(escape="latex")
            .format_index(escape="latex", axis="columns")
            .to_latex(
                hrules=True,
                caption=caption.replace("±", r"$\pm$"),
                label=label if place == 1 else f"{label}-{place}",
                position_float="centering",
                column_format="".join("r" if are else "l" for are in _are_numbers(table)),
            )
        )
        rendered = rendered.replace(r"\begin{tabular}", _BOX + "\n\\begin{tabular}")
        rendered = rendered.replace(r"\end{tabular}", r"\end{tabular}}")
        for mark, command in {"\x00": r"\,$\pm$\,", "\x01": r"\textbf{", "\x02": "}", "γ": r"$\gamma$"}.items():
            rendered = rendered.replace(mark, command)
        parts.append(rendered)
    return "\n".join(parts)


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.2em; color: #1a1a1a; background: #fff }
h1 { font-size: 1.25em } h2 { font-size: 1.05em; margin-top: 1.6em }
.scroll { overflow-x: auto }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; --side: .7em }
th, td { padding: .25em var(--side); text-align: left; vertical-align: top; background: #fff }
th, td { border-bottom: 1px solid #ddd }
tbody th { font-weight: inherit }
thead th { border-bottom: 2px solid #1a1a1a; white-space: nowrap }
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

_WORDS = 40
"""A table with a longer cell holds sentences; on a phone its cells are stacked."""

_LABEL, _LABELS = 13, 20.0
"""On a phone: the letters of a label per line, and the total width, in em, of the columns that stay on scrolling."""


def _html(title: str, sections: Sequence[Section]) -> str:
    body = []
    for heading, table in sections:
        body += [f"<h2>{html.escape(heading)}</h2>"] if heading else []
        body.append(_scrolled(heading or title, _html_table(table)))
    return _html_page(title, "".join(body))


def _html_page(title: str, body: str, style: str = "") -> str:
    """Return a page that fetches nothing, with the styles of tables and some more."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{body}</body>\n</html>"
    )


def _scrolled(name: str, element: str) -> str:
    """Return an element of html in a box that scrolls where it is too wide."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(name)}">{element}</div>'


def _html_table(table: pd.DataFrame) -> str:
    """Return one table. The columns that label a row are headers, and stay in sight on a phone."""
    text = table.astype(str)
    has_words = bool((text.map(len) > _WORDS).to_numpy().any())
    labels = 1 if has_words else _label_columns(text)
    stay = {} if has_words else _staying(text.iloc[:, :labels])
    numbers = {
        place: _short(text.iloc[:, place]) for place, are in enumerate(_are_numbers(text)) if are and place >= labels
    }
    head = "".join(
        f'<th scope="col"{stay.get(place, "")}{_NUMERIC * (place in numbers)}>{html.escape(str(name))}</th>'
        for place, name in enumerate(text)
    )
    rows = []
    for index, row in enumerate(text.itertuples(index=False)):
        cells = [f'<th scope="row"{stay.get(place, "")}>{_html_cell(row[place])}</th>' for place in range(labels)]
        for place in range(labels, len(row)):
            about = f' data-of="{html.escape(str(text.columns[place]))}"' if has_words else ""
            about += _NUMERIC + numbers[place][index] if place in numbers else ""
            cells.append(f"<td{about}>{_html_cell(row[place])}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    kind = "words" if has_words else "numbers"
    return f'<table class="{kind}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{"".join(rows)}</tbody></table>'


_NUMERIC = ' class="number"'


def _html_cell(text: str) -> str:
    """Return a cell, in which a line may break before ± alone, on paper."""
    return re.sub(r"^\*\*(.*)\*\*$", r"<strong>\1</strong>", html.escape(text).replace("±", "<wbr>±"))


def _short(cells: "pd.Series[str]") -> list[str]:
    """Return a style for each number of a column that has fewer decimals than others, which moves its point in line."""
    decimals = [len(cell.strip("*").partition(".")[2].rpartition(".")[2]) for cell in cells]
    most = max((each for cell, each in zip(cells, decimals, strict=True) if cell != "-"), default=0)
    return [
        "" if cell == "-" or each == most else f' style="--short: calc({most - each}ch + {0 if each else 0.3}em)"'
        for cell, each in zip(cells, decimals, strict=True)
    ]


def _label_columns(text: pd.DataFrame) -> int:
    """Count the columns that label a row: the first, and those after it up to the first column of numbers."""
    numbers = [bool(text[name].str.fullmatch(r"-|\**[-+]?[\d.].*").all()) for name in text]
    return next((place for place, are in enumerate(numbers) if are and place), len(numbers))


def _staying(labels: pd.DataFrame) -> dict[int, str]:
    """Return the attributes of the label columns that stay on a phone: as many of the last ones as leave room."""
    widths = [  # in em: the letters, bold in the header, and the padding
        max(0.62 * min(labels[name].map(len).max(), _LABEL), 0.8 * max(map(len, str(name).split()))) + 0.8
        for name in labels
    ]
    first = next(place for place in range(len(widths)) if sum(widths[place:]) <= _LABELS or place == len(widths) - 1)
    attributes = {}
    for place in range(first, len(widths)):
        kind = "stays last" if place == len(widths) - 1 else "stays"
        style = f"--left: {sum(widths[first:place]):.2f}em; --width: {widths[place]:.2f}em"
        attributes[place] = f' class="{kind}" style="{style}"'
    return attributes


_PAGE_STYLE = """
body { max-width: 84em; margin-left: auto; margin-right: auto; padding: 0 .8em; overflow-wrap: anywhere }
h3 { font-size: 1em; margin: 1.6em 0 .3em }
p, li { max-width: 44em }
ul { padding-left: 1.4em }
.scroll { margin: .8em 0 }
@media screen { wbr { display: none } }
thead th { white-space: normal; vertical-align: bottom; overflow-wrap: normal }
.verdict { font-size: 1.1em; font-weight: 600 }
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
        self.body += "".join(f'<p class="{kind}">{html.escape(each)}</p>\n' for each in sentences)

    def list(self, sentences: Iterable[str]) -> None:
        """Add a list, if it has an item."""
        items = "".join(f"<li>{html.escape(each)}</li>\n" for each in sentences)
        self.body += f"<ul>\n{items}</ul>\n" if items else ""

    def table(self, name: str, table: pd.DataFrame) -> None:
        """Add a table of text."""
        self.body += f"{_scrolled(name, _html_table(table))}\n"

    def figures(self, elements: Iterable[str], caption: str = "", kind: str = "figures") -> None:
        """Add figures, as html, and a caption below them."""
        self.body += f'<div class="{kind}">{"".join(f"<figure>{each}</figure>" for each in elements)}</div>\n'
        self.paragraphs([caption] if caption else [], kind="caption")

    def wide_figure(self, svg: str, name: str, caption: str) -> None:
        """Add a figure, as svg, in its own size, or as wide as the page if that is narrower."""
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
