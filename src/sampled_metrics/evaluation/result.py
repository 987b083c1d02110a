"""The result of `evaluate` and the other functions: a pandas DataFrame with remarks."""

import html
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd


class Remark(NamedTuple):
    """A sentence about some rows of a table.

    Attributes:
        sentence: the text; remarks with the same text are shown as one.
        clause: stands for ``{}`` in the sentence, with commas between the clauses of several rows.
        rows: columns and their values in the rows; the remark is shown if the table has such a row.
        others: the same of other rows, which the table must have too.
    """

    sentence: str
    clause: str = ""
    rows: tuple[tuple[str, Any], ...] = ()
    others: tuple[tuple[str, Any], ...] = ()


class Result(pd.DataFrame):  # type: ignore[misc]  # pandas is not typed here
    """A DataFrame that shows its numbers with few digits, and remarks below them.

    Rows, columns and copies taken from it keep the remarks that are about their rows.
    """

    _metadata = ["_remarks"]  # noqa: RUF012  # pandas requires this

    _remarks: tuple[Remark, ...] = ()

    @property
    def _constructor(self) -> Callable[..., "Result"]:
        return Result

    def with_remarks(self, remarks: Sequence[Remark | str]) -> "Result":
        """Return the same table with other remarks; a text is about all rows."""
        table = self.copy()
        table._remarks = tuple(each if isinstance(each, Remark) else Remark(each) for each in remarks)
        return table

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the warnings and conclusions about the rows of this table, as sentences."""
        clauses: dict[str, list[str]] = {}
        for remark in self._remarks:
            if all(not rows or self._has(rows) for rows in (remark.rows, remark.others)):
                clauses.setdefault(remark.sentence, []).append(remark.clause)
        return tuple(
            sentence.replace("{}", ", ".join(each)) if each[0] else sentence for sentence, each in clauses.items()
        )

    def _has(self, rows: tuple[tuple[str, Any], ...]) -> bool:
        found = pd.Series(True, index=range(len(self)))
        for column, value in rows:
            if column in self.columns:
                found &= (self[column].astype(object) == value).to_numpy()
        return bool(found.any())

    def __repr__(self) -> str:
        return "\n\n".join([self._shown().to_string(index=False), *self.remarks])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"{self._shown().to_html(index=False, border=0)}{remarks}"

    def _shown(self) -> pd.DataFrame:
        """Return the table as text, with at most four significant digits and a dash for missing numbers."""
        return pd.DataFrame(self)[self.shown_columns].map(cell)

    def latex(self) -> str:
        """Return the table as LaTeX, as it is shown, with the remarks as comments above it; needs booktabs."""
        shown = self._shown()
        right = [pd.api.types.is_numeric_dtype(self[name]) for name in shown]
        return latex_table(
            [latex_escaped(str(name)) for name in shown],
            [[latex_escaped(text) for text in row] for row in shown.itertuples(index=False)],
            "".join("r" if each else "l" for each in right),
            self.remarks,
        )

    @property
    def shown_columns(self) -> list[str]:
        """Return the columns, without those of numbers that are all missing."""
        return [name for name in self.columns if self[name].dtype != float or self[name].notna().any() or not len(self)]


def cell(value: Any) -> str:
    """Return a value as text; a value that differs from 0 by rounding only is shown as 0."""
    if isinstance(value, float):
        if abs(value) < 1e-12:
            return "0"
        return "-" if value != value else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return "-" if value is pd.NA else str(value)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    }
)  # fmt: skip


def latex_escaped(text: str) -> str:
    """Return text as LaTeX shows it."""
    return text.translate(_LATEX)


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: str, comments: Sequence[str]) -> str:
    """Return a table in the style of the package booktabs, of cells in LaTeX, with comments above it."""
    lines = [" & ".join(row) + r" \\" for row in (header, *rows)]
    return "\n".join(
        [
            *(f"% {comment}" for comment in comments),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
