"""Draw the results of evaluate, correct, compare, expect, published and plan.

They are values with intervals, legible without colour.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics._registry import layouts
from sampled_metrics.core.estimators import estimator_name, line_styles
from sampled_metrics.core.evaluation.standings import MANY, best_of
from sampled_metrics.core.evaluation.values import NO_BIAS
from sampled_metrics.core.evaluation.verdict import Conclusion, Verdict, verdict_of_row
from sampled_metrics.core.evaluation.wording import assumed
from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.evaluation.words.captions import difference_in_words, value_in_words
from sampled_metrics.core.evaluation.words.order import best_alone
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.errors import ConfigError
from sampled_metrics.reporting.drawing import (
    WIDTH,
    literal,
    shown_or_written,
    style,
    styled,
    write_below,
)

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.44  # height of a mark, in inches
_LABEL = 17  # letters per line: of a label, and by inch of an axis and of a caption
_AXIS = 8
_CAPTION = 17
_LETTER = 4.2  # width of a letter of a text, in points, and share of axes that the labels leave
_SHARE = 0.9
# an interval is narrow if it is that part of the panel, and then its metric has a panel of its own
_NARROW = 0.04


class Mark(NamedTuple):
    """A value with an interval, or an interval alone; what is missing is NaN."""

    value: float
    low: float
    high: float
    text: str
    style: int = 0  # number of its marker and its colour
    filled: bool = True
    name: str = ""  # in the legend

    @property
    def middle(self) -> float:
        """The value, or the middle of an interval without one."""
        return (self.low + self.high) / 2 if np.isnan(self.value) else self.value


_Entry = tuple[str, str, Mark]  # the label of a metric, the label of a row, and its mark


class Panel(NamedTuple):
    """Rows of marks over one axis."""

    title: str
    axis: str
    rows: Mapping[str, list[Mark]]
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

    They are None if the table is no result.
    """
    drawn = picture(table)
    if drawn is None:
        return None
    if ax is not None:
        draw_panel(only_panel(drawn.panels), ax, drawn.caption)
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
    panels: list[Panel], figure: Figure, caption: str = "", width: float = WIDTH
) -> list[Axes]:
    """Draw panels one below the other, and a caption below them, into an empty figure.

    The figure gets its size.
    """
    legend = {mark.name: mark for panel in panels for mark in panel.marks if mark.name}
    heights = []
    for panel in panels:
        lines = len(panel.axis) // (_AXIS * WIDTH) + bool(panel.title)
        heights.append(0.75 + _ROW * len(panel.marks) + 0.2 * lines)
    axes = _axes(figure, heights, caption, width, more=len(legend))
    for panel, axes_of_panel in zip(panels, axes, strict=True):
        draw_panel(panel, axes_of_panel)
    if legend:
        handles = [
            _mark(axes[0], np.nan, np.nan, mark, label=literal(name))
            for name, mark in legend.items()
        ]
        figure.legend(handles=handles, loc="outside upper left")
    return axes


def _axes(
    figure: Figure, heights: list[float], caption: str, width: float, more: int = 0
) -> list[Axes]:
    """Return axes of these heights in inches, with a caption and room for more lines.

    The figure gets its size.
    """
    text = textwrap.fill(literal(caption), round(_CAPTION * width))
    figure.set_size_inches(width, sum(heights) + 0.17 * (text.count("\n") + 1 + more))
    if caption:
        write_below(figure, text)
    grid = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
    axes: list[Axes] = grid.ravel().tolist()
    return axes


@styled
def draw_panel(panel: Panel, axes: Axes, caption: str = "") -> None:
    """Draw one panel, with a caption below it, into axes of a figure."""
    height = 0.0
    ticks = []
    labels = []
    for label, marks in panel.rows.items():
        if height and len(marks) > 1:
            axes.axhline(height - 0.65, color="#bbbbbb", linewidth=0.6)
        ticks.append(height + (len(marks) - 1) / 2)
        labels.append(textwrap.fill(literal(label), _LABEL))
        for mark in marks:
            if not np.isnan(mark.middle):
                _mark(axes, mark.value, height, mark)
            height += 1
    if panel.of_differences:
        axes.axvline(0, color="#404040", linewidth=0.9, zorder=1)
        if panel.margin:
            axes.axvspan(-panel.margin, panel.margin, color="#dddddd", linewidth=0, zorder=0)
    axes.margins(x=0.15)
    if not panel.of_differences and not panel.log:
        _leave_out_what_cannot_be(axes, panel.marks)
    if panel.log:
        _log_axis(axes, [mark.value for mark in panel.marks])
    else:
        axes.locator_params(axis="x", nbins=5)
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(height - 0.4, -0.75)
    axes.grid(axis="y", visible=False)
    axes.set_title(panel.title)
    below = [
        textwrap.fill(literal(text), round(_AXIS * WIDTH)) for text in (panel.axis, caption) if text
    ]
    axes.set_xlabel("\n".join(below))
    for place, mark in enumerate(panel.marks):
        _write_value(axes, mark, place)


def _write_value(axes: Axes, mark: Mark, height: float) -> None:
    """Write the text of a mark above it, within the axes; that of a missing one at the left."""
    if np.isnan(mark.middle):
        axes.text(
            0.02,
            height,
            literal(mark.text),
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize="small",
        )
        return
    across = axes.transLimits.transform(axes.transScale.transform((mark.middle, height)))[0]
    width = _SHARE * 72 * axes.bbox.width / axes.figure.dpi
    half = min(_LETTER * len(mark.text) / width / 2, 0.5)
    axes.annotate(
        literal(mark.text),
        (min(max(across, half), 1 - half), height),
        (0, 6),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="center",
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

    It has labels at 1, 2, 5, 10 and so on.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_locator(NullLocator())
    if not np.isnan(values).all():
        axes.set_xlim(np.nanmin(values) / 2, 2 * np.nanmax(values))


def _mark(axes: Axes, value: float, height: float, mark: Mark, **more: Any) -> Any:
    look = style(mark.style) | {"linestyle": "none", "capsize": 3, "markersize": 6, **more}
    look |= {"markerfacecolor": look["color"] if mark.filled else "white"}
    ends = np.array([[value - mark.low], [mark.high - value]])
    is_alone = np.isnan(mark.value) and not np.isnan(mark.middle)
    if is_alone or (ends < 0).any():  # an interval without a value, or one that excludes it
        middle = (mark.low + mark.high) / 2
        reach = (mark.high - mark.low) / 2
        interval = axes.errorbar([middle], [height], xerr=[reach], **look | {"marker": ""})
        if is_alone:
            return interval
    is_around = bool((ends >= 0).all())
    return axes.errorbar([value], [height], xerr=ends if is_around else None, **look)


# --- what each function's result shows ----------------------------------------------------------


def _values(table: pd.DataFrame) -> Picture:
    """Lay out the result of `evaluate`, `correct` or `published`, whose intervals have no value.

    It has a row for each recommender, estimator and metric, or group.
    """
    labels = [column for column in ("recommender", "estimator") if column in table]
    styles: Mapping[Any, int] = {}
    if labels:
        distinct = list(dict.fromkeys(table[labels[-1]]))
        if "estimator" in labels:
            styles = line_styles(distinct)
        else:
            styles = {label: number for number, label in enumerate(distinct)}
    interval = captions.interval_in_words(getattr(table, "setting", None))
    entries = list[_Entry]()
    for row in table.to_dict("records"):
        words = {column: str(row[column]) for column in labels}
        if "estimator" in words:
            words["estimator"] = estimator_name(words["estimator"])
        name = ": ".join(words.values())
        number = styles[row[labels[-1]]] if labels else 0
        if "value" in row:
            text = value_in_words(row["value"])
        else:
            text = f"{value_in_words(row['low'])} to {value_in_words(row['high'])}"
        mark = _mark_of(row, "value", text, number, row.get("assumes") != NO_BIAS)
        part = captions.part_in_words(row)
        if part:
            mark = mark._replace(name=name)
            name = part
        entries.append((row["metric"], name, mark))
    by_metric = bool(labels) or "group" in table or "inference" in table
    subject = "value" if "value" in table else "true metric"
    panels = _panels(entries, f"{subject}, {interval}", by_metric=by_metric)
    if "assumes" in table:
        return Picture(panels, _assumptions(table, interval))
    over = captions.over_users_and_seeds if "inference" in table else captions.over_users
    return Picture(panels, over(interval))


def _assumptions(table: pd.DataFrame, interval: str) -> str:
    """Return sentences on what the intervals of `correct` assume."""
    varying = table.groupby("estimator")["assumes"].nunique() > 1  # among recommenders
    names_by_assumption: dict[str, list[str]] = {}
    for row in table.to_dict("records"):
        differs = varying[row["estimator"]] and "recommender" in table
        recommender = str(row["recommender"]) if differs else ""
        name = captions.estimator_in_words(str(row["estimator"]), recommender)
        names = names_by_assumption.setdefault(str(row["assumes"]), [])
        if name not in names:
            names.append(name)
    return captions.assumed_by_estimators(names_by_assumption, interval)


def _differences(table: pd.DataFrame) -> Picture:
    """Lay out the result of `compare`.

    It has a row for each metric, or a panel for each with a row for each pair or group.
    """
    entries = list[_Entry]()
    pairs = dict[str, int]()
    hollow = list[Verdict]()
    setting = setting_of(table)
    findings = getattr(table, "findings", ())
    for row in table.to_dict("records"):
        verdict = verdict_of_row(row, findings, setting.names) if findings else None
        is_decided = verdict is not None and verdict.conclusion is Conclusion.BETTER
        not_decided = (Conclusion.UNDECIDED, Conclusion.EQUIVALENT)
        if verdict is not None and verdict.conclusion in not_decided:
            hollow.append(verdict)
        mark = _mark_of(row, "difference", difference_in_words(row, verdict), 0, is_decided)
        pair = f"{row['b']} - {row['a']}" if "a" in row else ""
        label = captions.part_in_words(row)
        if label and pair:
            mark = mark._replace(name=pair, style=pairs.setdefault(pair, len(pairs)))
        entries.append((row["metric"], label or pair, mark))
    a, b = (setting.names or ("a", "b")) if "a" not in table else ("", "")
    subject = f"difference ({b} - {a})" if b else "difference"
    axis = f"{subject}, {captions.interval_in_words(getattr(table, 'setting', None))}"
    panels = _panels(
        entries, axis, by_metric=any(name in table for name in ("a", "group", "inference"))
    )
    sentences = [*assumed(findings, setting), captions.hollow(hollow)]
    if ((table["low"] > table["difference"]) | (table["high"] < table["difference"])).any():
        sentences.append(captions.BESIDE_INTERVAL)
    if "inference" in table:
        sentences.append(captions.over_users_and_seeds("interval"))
    if "group" in table:
        sentences.append(captions.OF_GROUPS)
    margin = 0.0
    if setting.margin is not None and not setting.margin.is_relative:
        margin = setting.margin.size
        sentences.append(captions.within_margin(setting.margin.text))
    panels = [panel._replace(of_differences=True, margin=margin) for panel in panels]
    return Picture(panels, " ".join(filter(None, sentences)))


def _expectations(table: pd.DataFrame) -> Picture:
    """Lay out the result of `expect`: a row for each recommender, with the exact metric first."""
    entries = list[_Entry]()
    styles = line_styles(table["estimator"])
    for (what, name), rows in table.groupby(["metric", "recommender"], sort=False):
        exact = float(rows["exact"].iloc[0])
        marks = [Mark(exact, np.nan, np.nan, value_in_words(exact), 0, False, "exact")]
        for row in rows.to_dict("records"):
            value = float(row["expected"])
            deviation = float(row["deviation"])
            by = f"{estimator_name(str(row['estimator']))}, expected"
            number = styles[row["estimator"]]
            low = value - deviation
            high = value + deviation
            marks.append(Mark(value, low, high, value_in_words(value), number, True, by))
        entries += [(what, str(name), mark) for mark in marks]
    panels = _panels(entries, "exact and expected metric", by_metric=True)
    return Picture(panels, captions.of_expectations(setting_of(table).negatives))


LAYOUTS: dict[tuple[str, ...], Callable[[pd.DataFrame], Picture]] = {
    ("metric", "difference", "low", "high", "conclusion"): _differences,
    ("recommender", "estimator", "metric", "exact", "expected", "deviation"): _expectations,
    ("metric", "value", "low", "high"): _values,
    ("recommender", "estimator", "metric", "low", "high", "assumes"): _values,
}
"""The columns of a result, and the function that lays it out."""


def _panels(entries: Iterable[_Entry], axis: str, *, by_metric: bool) -> list[Panel]:
    """Return a panel for each metric, or one with a row for each.

    There is one if not `by_metric` and the scales are alike.
    """
    rows: dict[str, dict[str, list[Mark]]] = {}
    for metric, label, mark in entries:
        rows.setdefault(metric_name(str(metric)), {}).setdefault(label, []).append(mark)
    if not by_metric:
        ends = np.array([[mark.low, mark.high] for marks in rows.values() for mark in marks[""]])
        low, high = ends[~np.isnan(ends).any(axis=1)].T
        if not len(low) or (high - low).min() >= _NARROW * (high.max() - low.min()):
            return [Panel("", axis, {what: marks[""] for what, marks in rows.items()})]
    return [Panel(what, axis, marks) for what, marks in rows.items()]


def _mark_of(row: Mapping[str, Any], value: str, *look: Any) -> Mark:
    return Mark(float(row.get(value, np.nan)), float(row["low"]), float(row["high"]), *look)


def only_panel(panels: list[Panel]) -> Panel:
    """Return the panel of a picture that has one; raise ConfigError if it has several."""
    if len(panels) > 1:
        titles = ", ".join(panel.title for panel in panels)
        raise ConfigError(
            f"ax: there are {len(panels)} panels, {titles}; take the rows of one, or give no ax"
        )
    return panels[0]
