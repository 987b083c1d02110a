"""Tables of text, as aligned text, Markdown, LaTeX and html."""

import html
import math
import re
from collections.abc import Sequence

import pandas as pd

Section = tuple[str, pd.DataFrame]
"""A heading, which may be empty, and a table of text, in which `**7.80**` is bold."""

_NUMBER = re.compile(r"-|(< )?[-+]?\d[\d.]*(e[-+]?\d+)?(±[\d.]+)?")


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


def as_text(table: pd.DataFrame) -> str:
    """Return a table as aligned text, with two spaces between the columns."""
    columns = []
    for name, are in zip(table, _are_numbers(table), strict=True):
        cells = [str(name), *table[name]]
        width = max(map(len, cells))
        columns.append([cell.rjust(width) if are else cell.ljust(width) for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def as_markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    sides = ["right" if are else "left" for are in _are_numbers(table)]
    return str(table.to_markdown(index=False, disable_numparse=True, colalign=sides))


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum ", "±": r"\,$\pm$\,",
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "γ": r"$\gamma$",
    }
)  # fmt: skip


def as_latex(table: pd.DataFrame, superscripts: pd.DataFrame | None = None) -> str:
    """Return a table as LaTeX, in the style of the package booktabs.

    Args:
        table: cells of text.
        superscripts: what is raised behind each cell, of the same shape; nothing by default.
    """
    cells = table.map(_latex_cell)
    if superscripts is not None:
        cells = cells + superscripts.map(lambda text: rf"\textsuperscript{{{text}}}" if text else "")
    rows = [[latex_text(str(name)) for name in table], *cells.to_numpy().tolist()]
    header, *lines = (" & ".join(row) + r" \\" for row in rows)
    columns = "".join("r" if are else "l" for are in _are_numbers(table))
    start, rules = rf"\begin{{tabular}}{{{columns}}}", (r"\toprule", header, r"\midrule", *lines, r"\bottomrule")
    return "\n".join([start, *rules, r"\end{tabular}"])


def latex_text(text: str) -> str:
    """Return text as LaTeX shows it."""
    return text.translate(_LATEX)


def _latex_cell(text: str) -> str:
    bold = re.fullmatch(r"\*\*(.*)\*\*", text)
    return rf"\textbf{{{latex_text(bold[1])}}}" if bold else latex_text(text)


_WORDS = 40
"""A table with a longer cell holds sentences; on a phone its cells are stacked."""

_LABEL, _LABELS = 13, 20.0
"""On a phone: the letters of a label per line, and the total width, in em, of the columns that stay on scrolling."""


def as_html(table: pd.DataFrame) -> str:
    """Return a table as html. The columns that label a row are headers, and stay in sight on a phone."""
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


def _are_numbers(text: pd.DataFrame) -> list[bool]:
    """Return for each column whether it holds numbers, which are aligned at their right end."""
    return [all(_NUMBER.fullmatch(cell.strip("*")) for cell in text[name]) for name in text]
