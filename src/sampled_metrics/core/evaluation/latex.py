"""Results as the tables of a paper: a row for each recommender, and a column for each metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from sampled_metrics._registry import renderer
from sampled_metrics.checks import require_flags, require_whole
from sampled_metrics.core.findings import grouped
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.errors import ConfigError, printable


@dataclass(frozen=True)
class LatexOptions:
    """How a LaTeX table shows numbers, and its caption; fields as in `Result.to_latex`."""

    digits: int = 4
    percent: bool = False
    bold: bool = True
    caption: str = ""
    label: str = ""

    @classmethod
    def from_given(
        cls, digits: Any, percent: Any, bold: Any, caption: Any, label: Any
    ) -> LatexOptions:
        """Return the options; raise ConfigError if one is wrong."""
        require_flags(percent=percent, bold=bold)
        if digits is None:
            digits = 2 if percent else 4
        require_whole(0, 15, digits=digits)
        return cls(int(digits), percent, bold, str(caption or ""), str(label or ""))

    def number(self, value: float) -> str:
        """Return a number as text."""
        return f"{100 * value if self.percent else value:.{self.digits}f}"


class LatexValue(NamedTuple):
    """A value of a table, with its interval and letters.

    Attributes:
        labels: what names the row: the group, the recommender and the estimator.
        metric: the label of its metric, which is its column.
        rival: the values of a metric and a rival are compared: the largest one is bold.
        value: the value; NaN if it is not defined, and None in a table of intervals alone.
        low: the lower end of its interval; NaN without one.
        high: the upper end.
        letters: values of a rival that share a letter cannot be distinguished.
    """

    labels: tuple[str, ...]
    metric: str
    rival: tuple[str, ...]
    value: float | None
    low: float = math.nan
    high: float = math.nan
    letters: str = ""

    def text(self, options: LatexOptions, *, is_best: bool) -> str:
        """Return the value, which is bold if it is the best one, with its interval."""
        interval = f"[{options.number(self.low)}, {options.number(self.high)}]"
        if self.value is None:
            return "-" if math.isnan(self.low) else interval
        if math.isnan(self.value):
            return "-"
        value = options.number(self.value)
        if is_best:
            value = f"**{value}**"
        return value if math.isnan(self.low) else f"{value} {interval}"


def latex_of_values(
    values: Sequence[LatexValue], heads: Sequence[str], options: LatexOptions, note: str
) -> str:
    """Return values as LaTeX, the best one of each metric in bold, and letters as superscripts.

    Args:
        values: the values, in the order of the rows and columns.
        heads: the heads of the columns of the labels.
        options: how numbers are shown.
        note: sentences at the end of the caption.
    """
    best = _best(values, options) if options.bold else set()
    cells = dict[tuple[str, ...], dict[str, str]]()
    superscripts = dict[tuple[str, ...], dict[str, str]]()
    for value in values:
        head = f"{metric_name(value.metric)} (%)" if options.percent else metric_name(value.metric)
        text = value.text(options, is_best=value in best)
        cells.setdefault(value.labels, {})[head] = text
        superscripts.setdefault(value.labels, {})[head] = value.letters
    index = pd.DataFrame(list(cells), columns=[head.capitalize() for head in heads]).map(printable)
    table = pd.concat([index, pd.DataFrame(list(cells.values())).fillna("-")], axis=1)
    letters = pd.DataFrame(list(superscripts.values())).fillna("")
    return as_latex(table, letters.reindex(columns=table.columns, fill_value=""), options, note)


def _best(values: Sequence[LatexValue], options: LatexOptions) -> set[LatexValue]:
    """Return the largest values of each metric, as shown; none where all are equal."""
    best = set[LatexValue]()
    defined = [value for value in values if value.value is not None and value.value == value.value]
    for rivals in grouped(defined, lambda value: (value.metric, value.rival)).values():
        largest = options.number(max(value.value or 0.0 for value in rivals))
        at_largest = [value for value in rivals if options.number(value.value or 0.0) == largest]
        if len(at_largest) < len(rivals):
            best.update(at_largest)
    return best


def as_latex(
    table: pd.DataFrame, superscripts: pd.DataFrame | None, options: LatexOptions, note: str
) -> str:
    """Return a table of text as LaTeX; raise ConfigError if no package of the library writes it."""
    write = renderer("latex")
    if write is None:
        raise ConfigError(
            "to_latex: sampled_metrics.reporting is not installed, which writes LaTeX"
        )
    caption = " ".join(filter(None, [options.caption, note]))
    return str(write(table, superscripts, caption, options.label))
