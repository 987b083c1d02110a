"""The figure of a training: metrics by epoch, references, and the epochs that may be the best."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.reporting.drawing import (
    COLOURS,
    LINE,
    SHADE,
    WIDTH,
    ZERO,
    in_lines,
    shown_or_written,
    style,
    styled,
    write_below,
)
from sampled_metrics.validation.standing import FIRST, NO, YES

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = 1.9  # height of a panel, in inches
_COLUMNS = 2  # panels side by side
_LETTERS = 92  # of a line of the caption
_CAPTION = (
    "Filled: the first epoch, and those that are better than the filled one before. Cross: worse "
    "than an earlier epoch. Shaded: epochs that may be the best. Dotted: the highest value, which "
    "is too high on average. The {interval}s hold together for all epochs."
)


def draw(history: pd.DataFrame, setting: Setting, path: str | os.PathLike[str] | None) -> Any:
    """Draw the metrics of a validator by epoch into a file, or a figure of pyplot.

    Return the axes.
    """
    return shown_or_written(path, lambda figure: draw_history(history, figure, setting))


@styled
def draw_history(history: pd.DataFrame, figure: Figure, setting: Setting) -> list[Axes]:
    """Draw the metrics of a validator by epoch into an empty figure, and set its size.

    There is a panel for each metric, two side by side.
    """
    by_metric = list(history.groupby("metric", sort=False))
    caption = in_lines(_CAPTION.format(interval=_interval(setting)), _LETTERS)
    columns = min(len(by_metric), _COLUMNS)
    rows = -(-len(by_metric) // columns)
    figure.set_size_inches(WIDTH, _PANEL * rows + LINE * (caption.count("\n") + 1))
    write_below(figure, caption)
    grid: list[Axes] = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for panel in grid[len(by_metric) :]:
        panel.remove()
    panels = grid[: len(by_metric)]
    for (_, epochs), panel in zip(by_metric, panels, strict=True):
        draw_epochs(epochs, panel, setting)
        if panel not in grid[::columns]:
            panel.set_ylabel("")
    return panels


@styled
def draw_epochs(history: pd.DataFrame, axes: Axes, setting: Setting) -> None:
    """Draw one metric of a validator by epoch."""
    from matplotlib.ticker import MaxNLocator

    rows = history[history["value"].notna()]
    _shade_contenders(rows, axes)
    axes.plot(rows["epoch"], rows["value"], color=COLOURS[7], linewidth=0.8, zorder=1)
    is_reference = rows["better"].isin([FIRST, YES])
    is_worse = rows["better"] == NO
    look = style(0) | {"linestyle": "none", "capsize": 2, "elinewidth": 0.8}
    hollow = look | {"markersize": 4, "markerfacecolor": "white"}
    _draw_marks(rows[~is_reference & ~is_worse], axes, hollow)
    _draw_marks(rows[is_worse], axes, look | {"marker": "x", "markersize": 5})
    _draw_marks(rows[is_reference], axes, look | {"markersize": 6})
    if len(rows):
        axes.axvline(int(rows["best"].iloc[-1]), color=ZERO, linestyle=":", linewidth=1.2, zorder=1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel="epoch", ylabel=f"value, {_interval(setting)}")
    axes.set_title(metric_name(str(history["metric"].iloc[0])))


def _draw_marks(rows: pd.DataFrame, axes: Axes, look: dict[str, Any]) -> None:
    """Draw values with their intervals in a look; an interval that is not known is left out."""
    distances = np.abs(rows[["low", "high"]].to_numpy().T - rows["value"].to_numpy())
    axes.errorbar(rows["epoch"], rows["value"], yerr=distances, **look)


def _shade_contenders(rows: pd.DataFrame, axes: Axes) -> None:
    """Shade the epochs that may be the best.

    The shade of an epoch goes half the way to its neighbours, and not beyond the last epoch.
    """
    epochs = rows["epoch"].to_numpy(dtype=np.float64)
    if not len(epochs):
        return
    middles = (epochs[:-1] + epochs[1:]) / 2
    margin = 0.5 if len(epochs) == 1 else 0.0  # so that a single epoch has a width
    starts = np.append(epochs[0] - margin, middles)
    ends = np.append(middles, epochs[-1] + margin)
    for start, end, is_contender in zip(starts, ends, rows["contender"], strict=True):
        if is_contender:
            axes.axvspan(start, end, facecolor=SHADE, linewidth=0, zorder=0)


def _interval(setting: Setting) -> str:
    return f"{100 * setting.confidence_level:g} % interval"
