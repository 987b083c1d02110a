"""Draw the results of evaluate, correct, compare, expect, published and plan as a forest plot.

A forest plot shows values with intervals, here legible without colour.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics._registry import layouts
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.questions import NEW_RUNS, THESE_RUNS, in_words
from sampled_metrics.core.evaluation.standings import MANY, best_of
from sampled_metrics.core.evaluation.values import NO_BIAS
from sampled_metrics.core.evaluation.verdict import Conclusion, Verdict, verdict_of_row
from sampled_metrics.core.evaluation.wording import assumed
from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.evaluation.words.captions import value_in_words
from sampled_metrics.core.evaluation.words.order import best_alone
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.errors import ConfigError
from sampled_metrics.reporting.drawing import (
    LINE,
    RULE,
    SHADE,
    ZERO,
    add_legend,
    in_lines,
    literal,
    shown_or_written,
    style,
    styled,
    styles_of,
    write_below,
)

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 2  # panels side by side, which fit into a column of a paper
_PANEL = 1.55  # width of a panel without labels, in inches
_NARROWEST = 3.3  # width of a figure, in inches
_ROW = 0.34  # height of a mark, in inches
_AROUND = 0.6  # height of the title, the numbers and the name of an axis, in inches
_LABEL = 24  # letters per line of a label
_LETTERS = 15  # letters by inch of an axis and of a caption
_SIDE = 0.25  # share of an axis in which a number is aligned with its end
_MINUS = "\N{MINUS SIGN}"


class Mark(NamedTuple):
    """A value with an interval, or an interval alone; what is missing is NaN."""

    value: float
    low: float
    high: float
    look: Mapping[str, Any]  # colour and marker
    filled: bool = True
    name: str = ""  # in the legend

    @property
    def middle(self) -> float:
        """The value, or the middle of an interval without one."""
        return (self.low + self.high) / 2 if np.isnan(self.value) else self.value


class Panel(NamedTuple):
    """Rows of marks over one axis."""

    title: str
    axis: str
    rows: dict[str, list[Mark]]
    log: bool = False
    of_differences: bool = False  # with a line at 0
    margin: float = 0.0  # differences from minus to plus this are shaded

    @property
    def marks(self) -> list[Mark]:
        """The marks of all rows, from top to bottom."""
        return [mark for marks in self.rows.values() for mark in marks]


class Picture(NamedTuple):
    """Panels, and the sentences below them."""

    panels: list[Panel]
    caption: str


def picture(table: pd.DataFrame) -> Picture | None:
    """Return what to draw of a result, or None if its columns are not those of a result."""
    for columns, lay_out in layouts():
        if set(columns) <= set(table.columns) and len(table):
            shown, note = _best_of_many(table)
            drawn = lay_out(shown)
            parameters = setting_of(table).parameters
            texts = (f"{parameters}." if parameters else "", note, drawn.caption)
            return drawn._replace(caption=" ".join(filter(None, texts)))
    return None


def _best_of_many(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the rows of the best recommenders by the first metric, if there are many; else all.

    Also return a sentence on this, which may be empty.
    """
    sides = {
        "a": "value_a",
        "b": "value_b",
        "recommender": "exact" if "exact" in table else "value",
    }
    columns = {name: value for name, value in sides.items() if {name, value} <= set(table.columns)}
    if not columns:
        return table, ""
    rows = table[table["metric"] == table["metric"].iloc[0]]
    values: dict[str, float] = {}
    for name, value in columns.items():
        for recommender, number in zip(rows[name], rows[value], strict=True):
            values.setdefault(str(recommender), float(number))
    if len(values) <= MANY:
        return table, ""
    best = best_of(values, MANY)
    shown = table[np.logical_and.reduce([table[name].isin(best) for name in columns])]
    return shown, best_alone(str(table["metric"].iloc[0]), MANY, len(values))


def show(table: pd.DataFrame, path: str | os.PathLike[str] | None, ax: Axes | None) -> Any:
    """Draw a result into a file, axes or a figure of pyplot, and return the axes.

    A table that is not a result is not drawn, and None is returned.
    """
    drawn = picture(table)
    if drawn is None:
        return None
    if ax is not None:
        draw_panel(only_panel(drawn.panels), ax, drawn.caption)
        handles, names = ax.get_legend_handles_labels()
        if names:
            named = dict(zip(names, handles, strict=True))
            ax.legend(named.values(), named.keys())
        return ax
    return shown_or_written(path, lambda figure: draw(drawn.panels, figure, drawn.caption))


def setting_of(table: pd.DataFrame) -> Setting:
    """Return the setting of a result.

    A table that lost it, such as one of plain pandas, has the default one.
    """
    return getattr(table, "setting", Setting())


def caption_of(table: pd.DataFrame) -> str:
    """Return the sentences below the picture of a result, on what its intervals assume."""
    drawn = picture(table)
    return drawn.caption if drawn else ""


@styled
def draw(
    panels: list[Panel], figure: Figure, caption: str = "", width: float | None = None
) -> list[Axes]:
    """Draw panels side by side, and a caption below them, into an empty figure.

    The figure gets its size, and a legend if marks have names. By default, its width is that of a
    column of a paper, or as the panels need it.
    """
    columns = min(len(panels), _COLUMNS)
    labels = [in_lines(label, _LABEL) for panel in panels for label in panel.rows]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    if width is None:
        width = max(_NARROWEST, longest / _LETTERS + columns * _PANEL)
    room = round(_LETTERS * (width - longest / _LETTERS) / columns)
    panels = [panel._replace(axis=in_lines(panel.axis, max(room, _LABEL))) for panel in panels]
    lines = max(panel.axis.count("\n") for panel in panels)
    stretch = max(_stretch(panel) for panel in panels)
    height = _AROUND + LINE * lines + stretch * max(len(panel.marks) for panel in panels)
    rows = -(-len(panels) // columns)
    text = in_lines(caption, round(1.15 * _LETTERS * width))
    below = LINE * (text.count("\n") + 1) if caption else 0.0
    figure.set_size_inches(width, rows * height + below)
    if caption:
        write_below(figure, text)
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for place, axes in enumerate(grid):
        if place >= len(panels):
            axes.remove()
            continue
        draw_panel(panels[place], axes)
        is_left = place % columns == 0
        if not is_left and list(panels[place].rows) == list(panels[place - 1].rows):
            axes.tick_params(axis="y", labelleft=False)
    shown = grid[: len(panels)]
    handles: dict[str, Any] = {}
    for axes in shown:
        for handle in axes.get_legend_handles_labels()[0]:
            handles.setdefault(handle.get_label(), handle)
    if handles:
        add_legend(figure, list(handles.values()))
    return shown


def _stretch(panel: Panel) -> float:
    """Return the height of a mark, in inches, so that each label has room."""
    heights = [
        LINE * in_lines(label, _LABEL).count("\n") / len(row) for label, row in panel.rows.items()
    ]
    return _ROW + max(0.0, *heights) / 2


@styled
def draw_panel(panel: Panel, axes: Axes, caption: str = "") -> None:
    """Draw one panel, with a caption below it, into axes of a figure."""
    height = 0.0
    ticks = []
    for marks in panel.rows.values():
        if height and len(marks) > 1:
            axes.axhline(height - 0.65, color=RULE, linewidth=0.6)
        ticks.append(height + (len(marks) - 1) / 2)
        for mark in marks:
            if not np.isnan(mark.middle):
                _draw_mark(axes, height, mark)
            height += 1
    if panel.of_differences:
        axes.axvline(0, color=ZERO, linewidth=0.9, zorder=1)
        if panel.margin:
            axes.axvspan(-panel.margin, panel.margin, color=SHADE, linewidth=0, zorder=0)
    axes.margins(x=0.15)
    if not panel.of_differences and not panel.log:
        _leave_out_what_cannot_be(axes, panel.marks)
    if panel.log:
        _log_axis(axes, [mark.value for mark in panel.marks])
    else:
        axes.locator_params(axis="x", nbins=3)
    axes.set_yticks(ticks, [in_lines(label, _LABEL) for label in panel.rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(height - 0.4, -0.75)
    axes.grid(axis="y", visible=False)
    axes.set_title(panel.title)
    text = in_lines(caption, 2 * _LABEL)
    axes.set_xlabel(f"{panel.axis}\n{text}" if caption else panel.axis)
    for place, mark in enumerate(panel.marks):
        _write_value(axes, panel, mark, place)


def _write_value(axes: Axes, panel: Panel, mark: Mark, height: float) -> None:
    """Write the value of a mark above it, or the ends of an interval without one.

    The text is aligned so that it stays within the axes, and for a missing mark it is at the left.
    """
    text = value_in_words(mark.value, "+" if panel.of_differences else "")
    across = 0.0
    if not np.isnan(mark.middle):
        across = axes.transLimits.transform(axes.transScale.transform((mark.middle, height)))[0]
        if np.isnan(mark.value):
            text = f"{value_in_words(mark.low)} to {value_in_words(mark.high)}"
    side = "left" if across < _SIDE else "right" if across > 1 - _SIDE else "center"
    axes.annotate(
        text,
        (min(max(across, 0.0), 1.0), height),
        ({"left": 2, "right": -2, "center": 0}[side], 5),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha=side,
        fontsize="small",
        bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "linewidth": 0},
        zorder=1.5,  # above the line at 0, and below the marks
    )


def _leave_out_what_cannot_be(axes: Axes, marks: Iterable[Mark]) -> None:
    """End an axis of values at 0 where none is below it, and at 1 where none is above it."""
    ends = np.array([(mark.value, mark.low, mark.high) for mark in marks])
    if np.isnan(ends).all():
        return
    low, high = axes.get_xlim()
    axes.set_xlim(
        max(low, 0.0) if np.nanmin(ends) >= 0 else low,
        min(high, 1.0) if np.nanmax(ends) <= 1 else high,
    )


def _log_axis(axes: Axes, values: list[float]) -> None:
    """Make the axis of some numbers, which may be missing, logarithmic.

    Labels are at 1, 2, 5, 10 and so on.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_locator(NullLocator())
    if not np.isnan(values).all():
        axes.set_xlim(np.nanmin(values) / 2, 2 * np.nanmax(values))


def _draw_mark(axes: Axes, height: float, mark: Mark) -> None:
    """Draw a mark at a height, with its name as label."""
    look = {**mark.look, "linestyle": "none", "capsize": 2, "markersize": 5, "clip_on": False}
    look |= {"markerfacecolor": look["color"] if mark.filled else "white"}
    look["label"] = literal(mark.name) or "_"
    ends = np.array([[mark.value - mark.low], [mark.high - mark.value]])
    is_alone = np.isnan(mark.value)
    if is_alone or (ends < 0).any():  # an interval without a value, or one that excludes it
        middle = (mark.low + mark.high) / 2
        reach = (mark.high - mark.low) / 2
        axes.errorbar([middle], [height], xerr=[reach], **look | {"marker": ""})
    if not is_alone:
        is_around = bool((ends >= 0).all())
        axes.errorbar([mark.value], [height], xerr=ends if is_around else None, **look)


# --- what each function's result shows ----------------------------------------------------------


def _values(table: pd.DataFrame) -> Picture:
    """Lay out the result of `evaluate`, `correct` or `published`, whose intervals have no value."""
    interval = captions.interval_in_words(getattr(table, "setting", None))
    is_filled = [row.get("assumes") != NO_BIAS for row in table.to_dict("records")]
    subject = "value" if "value" in table else "true metric"
    panels = _panels(table, "value", f"{subject}, {interval}", is_filled)
    if "assumes" in table:
        hollow = "" if all(is_filled) else captions.HOLLOW_BIAS
        sentences = (captions.assumed_by_estimators(table, interval), hollow)
        return Picture(panels, " ".join(filter(None, sentences)))
    over = captions.over_users_and_seeds if "inference" in table else captions.over_users
    return Picture(panels, over(interval))


def _differences(table: pd.DataFrame) -> Picture:
    setting = setting_of(table)
    findings = getattr(table, "findings", ())
    verdicts = list[Verdict | None]()
    for row in table.to_dict("records"):
        verdicts.append(verdict_of_row(row, findings, setting.names) if findings else None)
    is_better = [
        verdict is not None and verdict.conclusion is Conclusion.BETTER for verdict in verdicts
    ]
    subject = "difference"
    if "a" not in table:
        a, b = setting.names or ("a", "b")
        subject = f"difference {b} {_MINUS} {a}"
    axis = f"{subject}, {captions.interval_in_words(getattr(table, 'setting', None))}"
    not_decided = (Conclusion.UNDECIDED, Conclusion.EQUIVALENT)
    hollow = [
        verdict for verdict in verdicts if verdict is not None and verdict.conclusion in not_decided
    ]
    sentences = [*assumed(findings, setting), captions.hollow(hollow)]
    if "inference" in table:
        sentences.append(captions.over_users_and_seeds("interval"))
    if "group" in table:
        sentences.append(captions.OF_GROUPS)
    margin = 0.0
    if setting.margin is not None and not setting.margin.is_relative:
        margin = setting.margin.size
        sentences.append(captions.within_margin(setting.margin.text))
    panels = []
    for panel in _panels(table, "difference", axis, is_better):
        panels.append(panel._replace(of_differences=True, margin=margin))
    return Picture(panels, " ".join(filter(None, sentences)))


def _expectations(table: pd.DataFrame) -> Picture:
    """Lay out the result of `expect`, with the exact metric first in each row."""
    expected = pd.DataFrame(table).assign(
        value=table["expected"],
        low=table["expected"] - table["deviation"],
        high=table["expected"] + table["deviation"],
    )
    exact = expected.drop_duplicates(["metric", "recommender"])
    exact = exact.assign(estimator="exact", value=exact["exact"], low=np.nan, high=np.nan)
    rows = pd.concat([exact, expected]).sort_values("recommender", kind="stable", key=_in_order)
    is_filled = (rows["estimator"] != "exact").tolist()
    panels = _panels(rows, "value", "metric, ± one standard deviation", is_filled)
    return Picture(panels, captions.of_expectations(setting_of(table).negatives))


def _in_order(labels: pd.Series[Any]) -> pd.Series[Any]:
    """Return the place of each label, in the order in which they come."""
    return pd.Series(pd.factorize(labels)[0], index=labels.index)


LAYOUTS: dict[tuple[str, ...], Callable[[pd.DataFrame], Picture]] = {
    ("metric", "difference", "low", "high", "conclusion"): _differences,
    ("recommender", "estimator", "metric", "exact", "expected", "deviation"): _expectations,
    ("metric", "value", "low", "high"): _values,
    ("recommender", "estimator", "metric", "low", "high", "assumes"): _values,
}
"""The columns of a result, and the function that lays it out."""


def _panels(table: pd.DataFrame, value: str, axis: str, is_filled: Iterable[bool]) -> list[Panel]:
    """Return a panel for each metric.

    A row is a recommender or a pair. With groups or runs, a row is one of these, and the marks of
    recommenders or pairs have a legend, as estimators have.
    """
    names = _names(table)
    parts = [name for name in ("group", "inference") if name in table]
    has_estimators = "estimator" in table
    if has_estimators:
        series = table["estimator"]
        labels = [names, *(table[part].map(_part_in_words) for part in parts)]
    elif parts:
        series = names
        labels = [table[part].map(_part_in_words) for part in parts]
    else:
        series = names
        labels = [names]
    styles = styles_of(series, estimators=has_estimators)
    is_pair = value == "difference" and not parts
    rows: dict[str, dict[str, list[Mark]]] = {}
    records = table.to_dict("records")
    texts = (", ".join(filter(None, map(str, label))) for label in zip(*labels, strict=True))
    for row, name, label, filled in zip(records, series, texts, is_filled, strict=True):
        legend = estimator_name(str(name)) if has_estimators else str(name) if parts else ""
        mark = Mark(
            float(row.get(value, np.nan)),
            float(row["low"]),
            float(row["high"]),
            style(0) if is_pair else styles[name],
            filled,
            legend,
        )
        rows_of_metric = rows.setdefault(metric_name(str(row["metric"])), {})
        rows_of_metric.setdefault(label, []).append(mark)
    return [Panel(title, axis, marks) for title, marks in rows.items()]


def _part_in_words(part: str) -> str:
    """Return a group, or which runs a row describes in words."""
    return in_words(part) if part in (NEW_RUNS, THESE_RUNS) else str(part)


def _names(table: pd.DataFrame) -> pd.Series[str]:
    """Return what each row is on: a recommender, a pair, or the only one, which has no name."""
    if "a" in table:
        return table["b"].astype(str) + f" {_MINUS} " + table["a"].astype(str)
    if "recommender" in table:
        return table["recommender"].astype(str)
    return pd.Series("", index=table.index)


def only_panel(panels: list[Panel]) -> Panel:
    """Return the panel of a picture that has one; raise ConfigError if it has several."""
    if len(panels) > 1:
        titles = ", ".join(panel.title for panel in panels)
        raise ConfigError(
            f"ax: there are {len(panels)} panels, {titles}; take the rows of one, or give no ax"
        )
    return panels[0]
