"""The figure of the answer: a line for each recommender, from its sampled to its exact value."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sampled_metrics.reporting.drawing import (
    WIDTH,
    add_legend,
    literal,
    styled,
    styles_of,
    write_below,
)

SHOWN = 12
"""The most recommenders that are drawn."""

_WIDTH = 0.8 * WIDTH  # inches
_HEIGHT = 3.0


class Ends(NamedTuple):
    """One side of the figure.

    Attributes:
        title: what the values are.
        value: values by recommender, fractions.
        low: the lower end of an interval of each.
        high: the upper end.
        bars: what the intervals are.
    """

    title: str
    value: "pd.Series[float]"
    low: "pd.Series[float]"
    high: "pd.Series[float]"
    bars: str


@styled
def draw(sampled: Ends, exact: Ends) -> Figure:
    """Draw a line for each recommender, from its sampled value on the left to its exact one.

    The two sides have scales of their own. Each spans from the lowest to the highest end of an
    interval, so that lines cross where the order of two recommenders differs. Of many recommenders,
    those with the best exact values are drawn, and the legend has both values of each. The styles
    are by the order of the recommenders, as in other figures. A single recommender has no order,
    and the sides share a scale from 0.
    """
    styles = styles_of(exact.value.index)
    names = exact.value.sort_values(ascending=False, kind="stable").index[:SHOWN]
    figure = Figure(figsize=(_WIDTH, _HEIGHT))
    panel = figure.subplots()
    sides = sampled, exact
    scales = [_scale(side, names) for side in sides]
    if len(names) == 1:
        scales = [(0.0, max(highest for _, highest in scales))] * 2
    for number, name in enumerate(names):
        heights = [
            _height(side.value[name], scale) for side, scale in zip(sides, scales, strict=True)
        ]
        values = " → ".join(f"{100 * side.value[name]:.1f} %" for side in sides)
        label = literal(f"{name}: {values}")
        panel.plot([0, 1], heights, linewidth=1.4, label=label, **styles[name])
        for x, side, scale in zip((0, 1), sides, scales, strict=True):
            ends = _height(np.array([side.low[name], side.high[name]]), scale)
            bar = x + (0.025 if x == 0 else -0.025) * (number + 1)  # intervals stand side by side
            panel.plot([bar, bar], ends, color=styles[name]["color"], linewidth=2.5, alpha=0.5)
    edges: tuple[Any, Any] = ("left", "right")
    for edge, side, scale in zip(edges, sides, scales, strict=True):
        axis = panel.secondary_yaxis(edge, functions=_functions(scale))
        axis.set_ylabel(f"{side.title}, %", labelpad=6)
        axis.spines[edge].set_visible(True)
    panel.set(xlim=(-0.03, 1.03), ylim=(-0.05, 1.05))
    panel.set_axis_off()
    bars = dict.fromkeys(side.bars for side in sides)
    write_below(figure, f"Bars: {' (left) and '.join(bars)}{' (right)' * (len(bars) > 1)}.")
    add_legend(figure)
    return figure


def _scale(side: Ends, names: "pd.Index[str]") -> tuple[float, float]:
    """Return the lowest and the highest end of an interval of a side, or of a value without one."""
    table = pd.DataFrame({"value": side.value, "low": side.low, "high": side.high}).loc[names]
    return float(np.nanmin(table)), float(np.nanmax(table))


def _height(value: Any, scale: tuple[float, float]) -> Any:
    """Return values as heights from 0 at the lowest value of a scale to 1 at its highest."""
    lowest, highest = scale
    return (value - lowest) / (highest - lowest) if highest > lowest else value * 0 + 0.5


def _functions(scale: tuple[float, float]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return per cent by height, and height by per cent."""
    lowest, highest = scale
    width = highest - lowest or 1.0
    middle = (lowest + highest) / 2
    return (
        lambda height: 100 * (middle + width * (height - 0.5)),
        lambda percent: (percent / 100 - middle) / width + 0.5,
    )
