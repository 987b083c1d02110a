"""Write tables as Markdown, LaTeX and html."""

import html
import math
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sampled_metrics import _files

Section = tuple[str, pd.DataFrame]
"""A heading, which may be empty, and a table of text."""


def number(value: float, form: str) -> str:
    """Format a number; a missing one is a dash."""
    return "-" if math.isnan(value) else f"{value:{form}}"


def plus_minus(mean: float, sd: float, digits: int) -> str:
    """Format a mean and its standard deviation, if there is one."""
    return f"{mean:.{digits}f}" if math.isnan(sd) else f"{mean:.{digits}f}±{sd:.{digits}f}"


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write a table in the formats given by the paths' endings: .md, .tex or .html."""
    formats = {".md": _markdown, ".tex": _latex, ".html": _html}
    for path in paths:
        _files.write_text(path, formats[Path(path).suffix](title, sections))


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"**{title}**"]
    for heading, table in sections:
        parts += [heading] if heading else []
        parts.append(str(table.to_markdown(index=False, disable_numparse=True)))
    return "\n\n".join(parts)


def _latex(title: str, sections: Sequence[Section]) -> str:
    parts = []
    for heading, table in sections:
        caption = (f"{title}. {heading}." if heading else f"{title}.").replace("±", r"$\pm$")
        text = table.map(lambda cell: str(cell).replace("±", "\x00")).style.hide(axis="index")
        rendered = (
            text.format(escape="latex")
            .format_index(escape="latex", axis="columns")
            .to_latex(hrules=True, caption=caption, column_format="ll" + "r" * (table.shape[1] - 2))
        )
        parts.append(rendered.replace("\x00", r"\,$\pm$\,").replace("γ", r"$\gamma$"))
    return "\n".join(parts)


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.2em; color: #1a1a1a; background: #fff }
h1 { font-size: 1.25em } h2 { font-size: 1.05em; margin-top: 1.6em }
.scroll { overflow-x: auto }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums }
th, td { padding: .25em .7em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; background: #fff }
tbody th { font-weight: inherit }
thead th { border-bottom: 2px solid #1a1a1a; white-space: nowrap }
.numbers td, .numbers tbody th { white-space: nowrap }
tbody tr:hover > * { background: #f3f3f3 }
@media (max-width: 40em) {
  body { font-size: 13.5px; margin: .8em }
  th, td { padding: .3em .4em }
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
        body.append(scrolled_table(heading or title, table))
    return html_page(title, "".join(body))


def html_page(title: str, body: str, style: str = "") -> str:
    """Return a page that fetches nothing, with the styles of tables and some more."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{body}</body>\n</html>"
    )


def scrolled_table(name: str, table: pd.DataFrame) -> str:
    """Return a table of text as html, in a box that scrolls where the table is too wide."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(name)}">{_html_table(table)}</div>'


def _html_table(table: pd.DataFrame) -> str:
    """Return one table. The columns that label a row are headers, and stay in sight on a phone."""
    text = table.astype(str)
    has_words = bool((text.map(len) > _WORDS).to_numpy().any())
    labels = 1 if has_words else _label_columns(text)
    stay = {} if has_words else _staying(text.iloc[:, :labels])
    head = "".join(
        f'<th scope="col"{stay.get(place, "")}>{html.escape(str(name))}</th>' for place, name in enumerate(text)
    )
    rows = []
    for row in text.itertuples(index=False):
        cells = [f'<th scope="row"{stay.get(place, "")}>{html.escape(row[place])}</th>' for place in range(labels)]
        for name, cell in zip(text.columns[labels:], row[labels:], strict=True):
            of = f' data-of="{html.escape(str(name))}"' if has_words else ""
            cells.append(f"<td{of}>{html.escape(cell)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    kind = "words" if has_words else "numbers"
    return f'<table class="{kind}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{"".join(rows)}</tbody></table>'


def _label_columns(text: pd.DataFrame) -> int:
    """Count the columns that label a row: the first, and those after it up to the first column of numbers."""
    numbers = [bool(text[name].str.fullmatch(r"-|[-+]?[\d.].*").all()) for name in text]
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
