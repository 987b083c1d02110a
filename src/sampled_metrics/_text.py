"""Tables of text for a terminal."""

import re
from collections.abc import Iterable

import pandas as pd

_NUMBER = re.compile(r"-|(< )?[-+]?\d[\d.]*(e[-+]?\d+)?(±[\d.]+)?")


def as_aligned_text(table: pd.DataFrame) -> str:
    """Return a table as aligned text, with two spaces between the columns."""
    columns = []
    for name, is_numeric in zip(table, are_numbers(table), strict=True):
        cells = [str(name), *table[name]]
        width = max(map(len, cells))
        columns.append([cell.rjust(width) if is_numeric else cell.ljust(width) for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def are_numbers(text: pd.DataFrame) -> list[bool]:
    """Return whether each column holds numbers, which are aligned to the right."""
    return [_is_number_column(text[name]) for name in text]


def _is_number_column(cells: Iterable[str]) -> bool:
    return all(_NUMBER.fullmatch(cell.strip("*")) for cell in cells)
