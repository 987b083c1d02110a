"""The result of `evaluate` and the other functions: a pandas DataFrame with findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
from pandas.plotting import PlotAccessor

from sampled_metrics import file_io
from sampled_metrics._registry import renderer
from sampled_metrics._text import as_aligned_text
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation import wording
from sampled_metrics.core.evaluation.kinds import cautions_of
from sampled_metrics.core.evaluation.latex import (
    LatexOptions,
    LatexValue,
    as_latex,
    latex_of_values,
)
from sampled_metrics.core.evaluation.phrases import number, p_value
from sampled_metrics.core.evaluation.questions import in_words
from sampled_metrics.core.evaluation.words.captions import (
    assumed_by_estimators,
    in_brackets,
    interval_in_words,
    over_runs,
)
from sampled_metrics.core.findings import Finding, about, distinct, of_all, plain
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.core.ranks.groups import ALL, Groups, runs_by_group
from sampled_metrics.core.ranks.reading import UNNAMED
from sampled_metrics.core.ranks.runs import Runs, paired, require_comparable
from sampled_metrics.errors import ConfigError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_OF_ROWS = ("group", "recommender", "estimator")
"""Columns that name the rows of a LaTeX table."""

_NAMES: Mapping[str, Callable[[str], str]] = {
    "metric": metric_name,
    "estimator": estimator_name,
    "inference": in_words,
}
"""The columns of labels, and the function that returns the name of one."""


class Plot(PlotAccessor):  # type: ignore[misc]  # pandas is not typed here
    """Draws a result; with further arguments, it plots as pandas does.

    So do its methods, such as ``bar``.
    """

    def __call__(
        self,
        path: str | os.PathLike[str] | None = None,
        *args: Any,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Any:
        """Draw values with their intervals, legible without colour; it needs matplotlib.

        Metrics with similar scales share a panel. The caption says what the intervals assume.

        Args:
            path: a file to write, as svg, png or pdf by its ending. Without it, the figure is one
                of pyplot, which a notebook shows.
            args: any further arguments are passed to `pandas.DataFrame.plot`, which then draws.
            ax: the axes to draw in, for a result with one panel; `path` must not be given too.
            kwargs: as args.

        Returns:
            The axes, or a (panels,) array of them.

        Raises:
            ConfigError: matplotlib is not installed, the ending is another one, `ax` is given for
                several panels, or `path` for columns that are not those of a result.
            WriteError: the file cannot be written, or its folder does not exist.

        Examples:
            >>> import sampled_metrics as sm
            >>> ranks = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
            >>> axes = sm.evaluate(ranks).plot("metrics.svg")  # doctest: +SKIP
        """
        table: Result = self._parent
        if args or kwargs:
            return super().__call__(*([] if path is None else [path]), *args, ax=ax, **kwargs)
        if path is not None and ax is not None:
            raise ConfigError(
                "plot() takes a path or ax, not both; write the figure of ax by its savefig"
            )
        picture = drawing()(table, path, ax)
        if picture is None and path is None:
            return super().__call__(ax=ax)
        if picture is None:
            raise ConfigError(
                f"{path}: rows and columns as a function returned them can be drawn, not {[*table]}"
            )
        return picture


class Result(pd.DataFrame):  # type: ignore[misc]  # pandas is not typed here
    """A DataFrame with findings, shown with few digits between its cautions and its remarks.

    Rows, columns and copies taken from it keep the findings. What pandas makes of several tables,
    such as `pandas.concat`, `merge` or a difference of two results, is a plain DataFrame, because
    the findings of one table are not those of all. `plot()` draws the values with their intervals,
    `plot("figure.svg")` writes the figure (see `Plot`).
    """

    _metadata = ["findings", "setting"]  # noqa: RUF012  # pandas requires this

    findings: tuple[Finding, ...] = ()
    setting: Setting = Setting()

    @property
    def _constructor(self) -> Callable[..., Result]:
        return Result

    def __finalize__(self, other: Any, method: str | None = None, **kwargs: Any) -> Any:
        """Keep the findings of the table that this one is made of.

        A table that is made of several is a plain DataFrame.
        """
        if isinstance(other, Result):
            is_of_several = bool(self.findings) and self.findings != other.findings
        else:  # pandas.concat and merge pass what they put together, which is no table
            is_of_several = not isinstance(other, pd.DataFrame | pd.Series) and method is not None
        if is_of_several:
            return pd.DataFrame(self)
        return super().__finalize__(other, method=method, **kwargs)

    @property
    def plot(self) -> Plot:
        """Draw the result, or plot its columns as pandas does."""
        return Plot(self)

    def found(self, findings: Iterable[Finding], setting: Setting | None = None) -> Self:
        """Return the same table with further findings, each once, and a new setting if any."""
        table = self.copy()
        table.setting = setting or self.setting
        table.findings = distinct(of_all((*self.findings, *findings), table.setting.names))
        return table

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the findings as sentences, the cautions first.

        Rows taken from a table have the remarks of the whole table.
        """
        return (*self.cautions, *self.further_remarks)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return the cautions, which are the first of the remarks.

        What a caution names would make all numbers wrong.
        """
        return wording.cautions(self.findings, self.setting)

    @property
    def further_remarks(self) -> tuple[str, ...]:
        """Return the remarks that are not cautions."""
        return wording.remarks(self.findings, self.setting)

    def __repr__(self) -> str:
        return "\n\n".join([*self.cautions, as_aligned_text(self.as_text()), *self.further_remarks])

    def _repr_html_(self) -> str | None:
        show = renderer("page")
        return None if show is None else show(self.as_text(), self.cautions, self.further_remarks)

    def as_text(self) -> pd.DataFrame:
        """Return the table as text in single lines, with at most four significant digits.

        What is missing is a dash.
        """
        text = pd.DataFrame(self)[self.shown_columns].map(lambda value: printable(cell(value)))
        if "p_value" in text:
            text["p_value"] = self["p_value"].map(p_value)
        return text

    def to_latex(
        self,
        buf: Any = None,
        *,
        digits: int | None = None,
        percent: bool = False,
        bold: bool = True,
        caption: str = "",
        label: str = "",
    ) -> str | None:
        """Return the table as LaTeX for a paper, with the remarks as comments above it.

        The table needs the LaTeX package booktabs. Each recommender (and estimator and group, if
        there are several) has a row, and each metric a column, whose best value is bold. Values are
        followed by their interval; of several seeds, it is the one of new runs if there is one. The
        values of `compare` have letters: recommenders that share a letter cannot be distinguished,
        as in `standings`. A result without intervals has the rows and columns that it shows.

        Args:
            buf: a path or an open file to write to, in place of returning the text.
            digits: decimals of values and intervals; 4 by default, and 2 in per cent.
            percent: whether values and intervals are in per cent.
            bold: whether the best value of each metric is bold, unless all are equal.
            caption: the start of the caption, which ends with what intervals and letters mean.
            label: the label of the table, to refer to it.

        Raises:
            ConfigError: an argument is out of range; or digits or percent is for a result without
                intervals, which shows its numbers with four significant digits.

        Examples:
            >>> import sampled_metrics as sm
            >>> ranks = sm.exact_ranks({"X": [1, 4, 20] * 9, "Z": [2, 3, 50] * 9}, candidates=100)
            >>> result = sm.evaluate(ranks, metrics="recall@10")
            >>> lines = result.to_latex().splitlines()
            >>> print(lines[-5].rstrip(chr(92) + " "))
            X & 0.6667 [0.4710, 0.8294]
        """
        options = LatexOptions.from_given(digits, percent, bold, caption, label)
        if "metric" in self.index.names:
            return self.reset_index().to_latex(buf, **asdict(options))
        values = self._latex_values()
        if (digits is not None or percent) and not values:
            raise ConfigError(
                "digits and percent are for values with intervals, which this result lacks"
            )
        if values:
            lines = [latex_of_values(values, self._latex_heads, options, self._latex_note)]
        else:
            lines = [as_latex(self.in_words(), None, options, self._latex_parameters)]
        text = "\n".join([*(f"% {printable(remark)}" for remark in self.remarks), *lines])
        if buf is None:
            return text
        if hasattr(buf, "write"):
            buf.write(text)
        else:
            file_io.write_text(buf, f"{text}\n")
        return None

    def in_words(self, headings: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
        """Return the table as text, with the names of metrics and estimators.

        A column without a heading has its name, in words.
        """
        text = self.as_text().reset_index(drop=True)
        for column, name_of in _NAMES.items():
            if column in text:
                text[column] = text[column].map(name_of)
        names = {column: column.replace("_", " ").capitalize() for column in text}
        return text.rename(columns={**names, **headings})

    @property
    def _latex_parameters(self) -> str:
        """The users, candidates and negatives, as a sentence of the caption."""
        return f"{self.setting.parameters}." if self.setting.parameters else ""

    @property
    def _latex_heads(self) -> list[str]:
        """The columns that name the rows of the LaTeX table."""
        names = [name for name in _OF_ROWS if name in self and self[name].nunique() > 1]
        if "recommender" in self and not names:
            return ["recommender"]
        return names

    @property
    def _latex_note(self) -> str:
        """What the intervals of the LaTeX table are."""
        interval = in_brackets(self.setting) if bool(self["low"].notna().any()) else ""
        runs = over_runs(self["inference"]) if "inference" in self else ""
        assumptions = ""
        if {"estimator", "assumes"} <= set(self.columns):
            assumptions = assumed_by_estimators(self, interval_in_words(self.setting))
        return " ".join(filter(None, [self._latex_parameters, interval, runs, assumptions]))

    def _latex_values(self) -> list[LatexValue]:
        """Return the values of the LaTeX table.

        Nothing is returned if a column of values, or of the names of rows, is missing.
        """
        if not {"metric", "low", "high"} <= set(self.columns):
            return []
        heads = self._latex_heads
        # of several seeds, the first row is of new runs, if there are any
        seeds = ["inference"] if "inference" in self else []
        if bool(self.duplicated([*heads, *seeds, "metric"]).any()):
            return []
        rows = pd.DataFrame(self).drop_duplicates([*heads, "metric"])
        return [
            LatexValue(
                labels=tuple(_NAMES.get(name, str)(str(row[name])) for name in heads),
                metric=row["metric"],
                rival=tuple(str(row.get(name, "")) for name in ("group", "estimator")),
                value=row.get("value"),
                low=row["low"],
                high=row["high"],
            )
            for row in rows.to_dict("records")
        ]

    def sentence(self) -> str:
        """Return in one sentence what the first row shows and assumes, for the text of a paper.

        Take rows of a result for the sentence on another metric or recommender. The remarks have
        the rest.

        Examples:
            >>> import sampled_metrics as sm
            >>> ranks = {
            ...     "old": [5, 80, 3, 200, 9, 30, 14, 7] * 5,
            ...     "new": [2, 40, 1, 90, 4, 10, 6, 3] * 5,
            ... }
            >>> tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
            >>> sm.evaluate(tables, metrics="recall@10").sentence()
            'old: Recall@10 is 0.5 (95 % interval 0.3456 to 0.6544).'
        """
        return printable(
            wording.sentence(pd.DataFrame(self).to_dict("records"), self.findings, self.setting)
        )

    def plain_rows(self) -> list[dict[str, Any]]:
        """Return the rows with Python's numbers, as JSON has them.

        What is missing or not finite is None.
        """
        return [
            {name: plain(None if value is pd.NA else value) for name, value in row.items()}
            for row in self.to_dict("records")
        ]

    @property
    def shown_columns(self) -> list[str]:
        """Return the columns, without those of numbers that are all missing."""
        return [
            name
            for name in self.columns
            if self[name].dtype != float or self[name].notna().any() or not len(self)
        ]


def results_of_runs(
    recommenders: Sequence[Runs],
    groups: Groups,
    result_of: Callable[[Runs], Result],
) -> Result:
    """Return the results of recommenders as one, by group if there are groups.

    Raises DataError if the runs of a recommender cannot be compared.
    """
    for runs in recommenders:
        require_comparable([runs])
    return by_recommender({runs.name: by_group(runs, groups, result_of) for runs in recommenders})


def by_recommender(results: Mapping[str, Result]) -> Result:
    """Return the results of recommenders as one, with their names in the first column.

    The result of a single recommender without a name is unchanged.
    """
    if list(results) == [UNNAMED]:
        return results[UNNAMED]
    return together(results, "recommender")


def together(results: Mapping[str, Result], column: str) -> Result:
    """Return results of recommenders, or of groups, as one, with names in the first column."""
    rows = [pd.DataFrame(result).assign(**{column: name}) for name, result in results.items()]
    table = Result(pd.concat(rows, ignore_index=True))
    table = table[[column, *table.columns.drop(column)]]
    is_group = column == "group"
    findings = list[Finding]()
    for name, result in results.items():
        if is_group:
            findings += about(result.findings, group=name)
        else:
            findings += about(result.findings, name=name)

    settings = [result.setting for result in results.values()]
    setting = settings[0]
    if any(other_setting.parameters != setting.parameters for other_setting in settings):
        setting = replace(setting, parameters="")
    if not is_group:
        setting = replace(setting, names=tuple(results))
    return table.found(findings, setting)


def drawing() -> Any:
    """Return the function that draws a result.

    Raises:
        ConfigError: no package of the library draws.
    """
    draw = renderer("figure")
    if draw is None:
        raise ConfigError("plot: sampled_metrics.reporting is not installed, which draws figures")
    return draw


def cell(value: Any) -> str:
    """Return a value as text."""
    return number(value) if isinstance(value, float) or value is pd.NA else str(value)


def by_group(runs: Runs, groups: Groups, result_of: Callable[[Runs], Result]) -> Result:
    """Return the results of a recommender's paired runs and of its groups as one."""
    runs_of_groups, left_out = runs_by_group([runs], groups)
    whole = _of_paired(runs, result_of)
    if not runs_of_groups:
        return whole
    results = dict[str, Result]()
    for group, [runs_of_group] in runs_of_groups.items():
        results[group] = _of_paired(runs_of_group, result_of)
        results[group].findings = tuple(cautions_of(results[group].findings))
    result = together({"": whole} | results, "group")
    result["group"] = result["group"].replace("", ALL)
    return result.found([*left_out, Finding("group-level")], whole.setting)


def _of_paired(runs: Runs, result_of: Callable[[Runs], Result]) -> Result:
    """Return the result of runs, with findings on how their users are paired."""
    [paired_runs], on_pairing = paired([runs])
    return result_of(paired_runs).found(on_pairing)
