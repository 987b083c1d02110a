"""Tables of text, as Markdown, LaTeX and html."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from sampled_metrics._text import are_numbers
from sampled_metrics.errors import printable

Section = tuple[str, pd.DataFrame]
"""A heading, which may be empty, and a table of text, in which `**7.80**` is bold."""


def number(value: float, form: str) -> str:
    """Format a number; a missing one is a dash."""
    return "-" if math.isnan(value) else f"{value:{form}}"


def plus_minus(mean: float, sd: float, digits: int) -> str:
    """Format a mean and its standard deviation, if there is one."""
    return f"{mean:z.{digits}f}" if math.isnan(sd) else f"{mean:z.{digits}f}±{sd:.{digits}f}"


def with_best(
    cells: "pd.Series[str]", values: "pd.Series[float]", by: Sequence["pd.Series[str]"], digits: int
) -> "pd.Series[str]":
    """Return cells in which the largest rounded value of each group is bold.

    None is bold in a group whose values are all equal.

    Args:
        cells: text of the cells.
        values: their values.
        by: keys of the groups.
        digits: the decimals of a cell, to which the values are rounded.
    """
    rounded = values.map(lambda value: float(f"{value:.{digits}f}"))
    groups = rounded.groupby(list(by))
    best = rounded.eq(groups.transform("max")) & groups.transform("nunique").gt(1)
    return cells.where(~best, "**" + cells + "**")


def as_markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    sides = ["right" if is_numeric else "left" for is_numeric in are_numbers(table)]
    return str(table.to_markdown(index=False, disable_numparse=True, colalign=sides))


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash ",
        "~": r"\textasciitilde ",
        "^": r"\textasciicircum ",
        "±": r"\,$\pm$\,",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "γ": r"$\gamma$",
    }
)


def as_latex(
    table: pd.DataFrame,
    superscripts: pd.DataFrame | None = None,
    caption: str = "",
    label: str = "",
) -> str:
    """Return a table as LaTeX, in the style of the package booktabs.

    Args:
        table: cells of text.
        superscripts: superscript of each cell, of the same shape; none by default.
        caption: of a float around the table; without it and a label, there is no float.
        label: of the float.
    """
    cells = table.map(_latex_cell)
    if superscripts is not None:
        cells = cells + superscripts.map(
            lambda text: rf"\textsuperscript{{{text}}}" if text else ""
        )
    names = [latex_text(str(name)) for name in table]
    header, *lines = (" & ".join(row) + r" \\" for row in [names, *cells.to_numpy().tolist()])
    columns = "".join("r" if is_numeric else "l" for is_numeric in are_numbers(table))
    start = rf"\begin{{tabular}}{{{columns}}}"
    rules = (r"\toprule", header, r"\midrule", *lines, r"\bottomrule")
    lines = [start, *rules, r"\end{tabular}"]
    if caption or label:
        head = [r"\begin{table}", r"\centering", rf"\caption{{{latex_text(caption)}}}"]
        head += [rf"\label{{{label}}}"] if label else []
        lines = [*head, *lines, r"\end{table}"]
    return "\n".join(lines)


_MINUS = re.compile(r"(?<![^\s\[(±])-(?=\.?\d)|(?<= )-(?= )")
"""The sign of a number, and that of a difference."""


def latex_text(text: str) -> str:
    """Return text with the special characters of LaTeX escaped, and minus signs as such."""
    return _MINUS.sub("\0", text).translate(_LATEX).replace("\0", "$-$")


def _latex_cell(text: str) -> str:
    bold = re.fullmatch(r"\*\*(.*?)\*\*(.*)", text)
    return rf"\textbf{{{latex_text(bold[1])}}}{latex_text(bold[2])}" if bold else latex_text(text)


_WORDS = 40
"""A table with a longer cell holds sentences. A phone stacks its cells."""

_LABEL = 13
_LABELS = 20.0
"""On a phone: the letters of a label per line, and the total width, in em, of the columns that stay
on scrolling.
"""


class Cell(NamedTuple):
    """A cell of a table on a page.

    Attributes:
        text: what it says; ** around it stands for bold.
        kind: classes of its style.
        style: a style of its own.
        column: the name of its column, if a phone shows it before the text.
        is_label: whether it labels the row.
    """

    text: str
    kind: str = ""
    style: str = ""
    column: str = ""
    is_label: bool = False


class PageTable(NamedTuple):
    """A table on a page.

    Attributes:
        kind: words or numbers.
        head: the names of the columns.
        rows: the cells of each row.
    """

    kind: str
    head: list[Cell]
    rows: list[list[Cell]]


def laid_out(table: pd.DataFrame) -> PageTable:
    """Return a table as the templates show it.

    Columns that label a row are headers, which a phone keeps in sight.
    """
    text = table.astype(str).map(printable)
    has_words = bool((text.map(len) > _WORDS).to_numpy().any())
    labels = 1 if has_words else _label_columns(text)
    sticky = {} if has_words else _sticky(text.iloc[:, :labels])
    styles_of_numbers = {
        column: _alignment(text.iloc[:, column])
        for column, is_numeric in enumerate(are_numbers(text))
        if is_numeric and column >= labels
    }
    head = []
    for column, name in enumerate(text):
        kind, style = sticky.get(column, ("number" if column in styles_of_numbers else "", ""))
        head.append(Cell(printable(str(name)), kind, style))
    rows = []
    for index, row in enumerate(text.itertuples(index=False)):
        cells = []
        for column in range(labels):
            kind, style = sticky.get(column, ("", ""))
            cells.append(Cell(row[column], kind, style, is_label=True))
        for column in range(labels, len(row)):
            is_numeric = column in styles_of_numbers
            kind = "number" if is_numeric else ""
            style = styles_of_numbers[column][index] if is_numeric else ""
            cells.append(Cell(row[column], kind, style, head[column].text if has_words else ""))
        rows.append(cells)
    return PageTable("words" if has_words else "numbers", head, rows)


def _alignment(cells: "pd.Series[str]") -> list[str]:
    """Return the style of each cell, which aligns the decimal points of a column.

    The style is empty for a cell with the most decimals, and for a dash.
    """
    decimals = [len(cell.strip("*").partition(".")[2].rpartition(".")[2]) for cell in cells]
    largest = max(
        (count for cell, count in zip(cells, decimals, strict=True) if cell != "-"), default=0
    )
    styles = []
    for cell, count in zip(cells, decimals, strict=True):
        if cell == "-" or count == largest:
            styles.append("")
        else:
            point = 0 if count else 0.3  # em; a whole number has no point
            styles.append(f"--short: calc({largest - count}ch + {point}em)")
    return styles


def _label_columns(text: pd.DataFrame) -> int:
    """Count the columns that label a row: the first one, and those before numbers begin."""
    for column, name in enumerate(text):
        if column and text[name].str.fullmatch(r"-|\**[-+]?[\d.].*").all():
            return column
    return len(text.columns)


def _sticky(labels: pd.DataFrame) -> dict[int, tuple[str, str]]:
    """Return the classes and the style of the last label columns that a phone keeps in sight."""
    widths = []
    for name in labels:
        letters = 0.62 * min(labels[name].map(len).max(), _LABEL)
        bold_letters = 0.8 * max(map(len, str(name).split()))  # of the header
        widths.append(max(letters, bold_letters) + 0.8)  # in em, with the padding
    last = len(widths) - 1
    start = 0
    while start < last and sum(widths[start:]) > _LABELS:
        start += 1
    attributes = {}
    for column in range(start, len(widths)):
        kind = "stays last" if column == last else "stays"
        style = f"--left: {sum(widths[start:column]):.2f}em; --width: {widths[column]:.2f}em"
        attributes[column] = kind, style
    return attributes
