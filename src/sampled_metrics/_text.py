"""Tables of text for a terminal."""

import re

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
    return [all(_NUMBER.fullmatch(cell.strip("*")) for cell in text[name]) for name in text]
