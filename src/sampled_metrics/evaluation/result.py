"""The result of `evaluate` and the other functions: a pandas DataFrame with remarks."""

import html
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.plotting import PlotAccessor

from sampled_metrics import _files
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.read import UNNAMED
from sampled_metrics.rendering import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


class Plot(PlotAccessor):  # type: ignore[misc]  # pandas is not typed here
    """Draws a result; with any other arguments, or by its methods such as ``bar``, it plots as pandas does."""

    def __call__(
        self, path: str | os.PathLike[str] | None = None, *args: Any, ax: "Axes | None" = None, **kwargs: Any
    ) -> Any:
        """Draw values with their intervals, legible without colour; it needs matplotlib.

        Metrics share a panel if their scales are alike. The caption says what the intervals assume.

        Args:
            path: a file to write, as svg, png or pdf by its ending. Without it, the figure is one of pyplot, which a
                notebook shows.
            args: any further arguments are those of `pandas.DataFrame.plot`, which then draws.
            ax: the axes to draw in, for a result with one panel; `path` must not be given too.
            kwargs: as args.

        Returns:
            The axes, or a (panels,) array of them.

        Raises:
            ConfigError: matplotlib is not installed, the ending is another one, `ax` is given for several panels, or
                `path` for columns that are not those of a result.
            WriteError: the file cannot be written, or its folder does not exist.

        Examples:
            >>> import sampled_metrics as sm
            >>> axes = sm.evaluate([1, 4, 20, 3, 50], candidates=100).plot("metrics.svg")  # doctest: +SKIP
        """
        table: Result = self._parent
        if args or kwargs:
            return super().__call__(*([] if path is None else [path]), *args, ax=ax, **kwargs)
        if path is not None and ax is not None:
            raise ConfigError("plot() takes a path or ax, not both; write the figure of ax by its savefig")
        from sampled_metrics.rendering import drawing  # says in one line that matplotlib is missing

        if path is not None:
            _files.require_folder(path)
        from sampled_metrics.evaluation import plots

        picture = plots.picture(table)
        if picture is None and path is None:
            return super().__call__(ax=ax)
        if picture is None:
            raise ConfigError(f"{path}: rows and columns as a function returned them can be drawn, not {[*table]}")
        if ax is not None:
            plots.draw_panel(plots.only_panel(picture.panels), ax, picture.caption)
            return ax
        figure = drawing.new_figure(shown=path is None)
        axes = plots.draw(picture.panels, figure, picture.caption)
        if path is not None:
            drawing.write(figure, path)
        return axes[0] if len(axes) == 1 else np.array(axes)


class Result(pd.DataFrame):  # type: ignore[misc]  # pandas is not typed here
    """A DataFrame that shows its numbers with few digits, and remarks below them.

    Rows, columns and copies taken from it keep the remarks that are about their rows. `plot()` draws the values with
    their intervals, `plot("figure.svg")` writes the figure (see `Plot`).
    """

    _metadata = ["_remarks"]  # noqa: RUF012  # pandas requires this

    _remarks: tuple[Remark, ...] = ()

    @property
    def _constructor(self) -> Callable[..., "Result"]:
        return Result

    @property
    def plot(self) -> Plot:
        """Draw the result, or plot its columns as pandas does."""
        return Plot(self)

    def with_remarks(self, remarks: Sequence[Remark | str]) -> "Result":
        """Return the same table with further remarks; a text is about all rows."""
        table = self.copy()
        table._remarks = self._remarks + tuple(each if isinstance(each, Remark) else Remark(each) for each in remarks)
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
        return "\n\n".join([tables.as_text(self.as_text()), *self.remarks])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"{tables.as_html(self.as_text())}{remarks}"

    def as_text(self) -> pd.DataFrame:
        """Return the table as text, with at most four significant digits and a dash for missing numbers."""
        text = pd.DataFrame(self)[self.shown_columns].map(cell)
        if "p_value" in text:
            text["p_value"] = self["p_value"].map(p_value)
        return text

    def latex(self) -> str:
        """Return the table as LaTeX, as it is shown, with the remarks as comments above it; needs booktabs."""
        return "\n".join([*(f"% {remark}" for remark in self.remarks), tables.as_latex(self.as_text())])

    def plain_rows(self) -> list[dict[str, Any]]:
        """Return the rows with Python's numbers, as JSON has them; what is missing or not finite is None."""
        return [{name: _plain(value) for name, value in row.items()} for row in self.to_dict("records")]

    @property
    def shown_columns(self) -> list[str]:
        """Return the columns, without those of numbers that are all missing."""
        return [name for name in self.columns if self[name].dtype != float or self[name].notna().any() or not len(self)]


def by_recommender(results: Mapping[str, Result]) -> Result:
    """Return the results of recommenders as one, with their names in the first column; an unnamed one is unchanged.

    A remark that is about one of the recommenders alone says which.
    """
    if list(results) == [UNNAMED]:
        return results[UNNAMED]
    rows = [pd.DataFrame(each).assign(recommender=name) for name, each in results.items()]
    table = Result(pd.concat(rows, ignore_index=True))
    table = table[["recommender", *table.columns.drop("recommender")]]
    first, *others = (each.attrs for each in results.values())
    table.attrs = {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}
    said = [{remark.sentence for remark in each._remarks} for each in results.values()]
    shared = set.intersection(*said)
    remarks: dict[Remark, None] = {}
    for name, each in results.items():
        here = (("recommender", name),)
        for remark in each._remarks:
            if remark.clause:
                changed = remark._replace(clause=f"{name}: {remark.clause}")
            elif remark.sentence in shared:
                changed = remark
            else:
                changed = remark._replace(sentence=f"{name}: {remark.sentence}")
            if changed is not remark:
                changed = changed._replace(rows=here + changed.rows, others=changed.others and here + changed.others)
            remarks[changed] = None
    return table.with_remarks(list(remarks))


def _plain(value: Any) -> Any:
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


def cell(value: Any) -> str:
    """Return a value as text; a value that differs from 0 by rounding only is shown as 0."""
    if isinstance(value, float):
        if abs(value) < 1e-12:
            return "0"
        return "-" if value != value else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return "-" if value is pd.NA else str(value)


def p_value(value: float) -> str:
    """Return a p-value as text; one that rounding may have made 0 is shown as smaller than what it can be."""
    return "< 1e-16" if value < 1e-16 else "-" if value != value else f"{value:.4g}"
