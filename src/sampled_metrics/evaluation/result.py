"""The result of `evaluate` and the other functions: a pandas DataFrame with remarks."""

import html
from collections.abc import Callable
from typing import Any

import pandas as pd


class Result(pd.DataFrame):  # type: ignore[misc]  # pandas is not typed here
    """A DataFrame that shows its numbers with few digits, and remarks below them.

    Rows, columns and copies taken from it keep the remarks.

    Attributes:
        remarks: warnings and conclusions, as sentences.
    """

    _metadata = ["remarks"]  # noqa: RUF012  # pandas requires this

    remarks: tuple[str, ...] = ()

    @property
    def _constructor(self) -> Callable[..., "Result"]:
        return Result

    def with_remarks(self, remarks: list[str]) -> "Result":
        """Return the same table with other remarks."""
        table = self.copy()
        table.remarks = tuple(remarks)
        return table

    def __repr__(self) -> str:
        return "\n\n".join([self._shown().to_string(index=False), *self.remarks])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"{self._shown().to_html(index=False, border=0)}{remarks}"

    def _shown(self) -> pd.DataFrame:
        """Return the table as text, with at most four significant digits and a dash for missing numbers."""
        plain = pd.DataFrame(self)
        return plain.map(cell)


def cell(value: Any) -> str:
    """Return a value as text; a value that differs from 0 by rounding only is shown as 0."""
    if isinstance(value, float):
        if abs(value) < 1e-12:
            return "0"
        return "-" if value != value else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return "-" if value is pd.NA else str(value)
