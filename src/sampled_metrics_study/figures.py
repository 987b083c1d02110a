"""The figure of the answer: a line for each recommender, from its exact to its sampled value."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sampled_metrics.reporting.drawing import WIDTH, literal, styled, styles

SHOWN = 12
"""The most recommenders that are drawn."""

_WIDTH = 0.8 * WIDTH  # inches
_HEIGHT = 3.0
_LETTERS = 10  # points
_APART = 0.06  # least distance of two names, as a share of the height
_ROOM = 10  # letters of a name that the width has room for, and that are drawn at most
_LONGEST = 20
_LETTER = 0.06  # width of a letter; the sides are at 0 and 1


class Ends(NamedTuple):
    """One side of the figure.

    Attributes:
        title: what the values are.
        value: values by recommender, fractions.
        low: the lower end of an interval of each.
        high: the upper end.
    """

    title: str
    value: "pd.Series[float]"
    low: "pd.Series[float]"
    high: "pd.Series[float]"


@styled
def draw(exact: Ends, sampled: Ends) -> Figure:
    """Draw a line for each recommender, from its exact value on the left to its sampled one.

    The two sides have scales of their own. Each spans from the lowest to the highest end of an
    interval, so that lines cross where the order of two recommenders differs. Of many recommenders,
    those with the best exact values are drawn. The styles are by the order of the recommenders, as
    in other figures. Of a long name, the two ends are drawn. A single recommender has no order, and
    the sides share a scale from 0.
    """
    styles_of = dict(zip(exact.value.index, styles(len(exact.value), marked=True), strict=True))
    names = exact.value.sort_values(ascending=False, kind="stable").index[:SHOWN]
    texts = {name: _shortened(str(name)) for name in names}
    wider = _LETTER * max(0, max(map(len, texts.values())) - _ROOM)
    # 2.5: from edge to edge without longer names
    figure = Figure(figsize=(_WIDTH * (2.5 + 2 * wider) / 2.5, _HEIGHT))
    panel = figure.subplots()
    looks = [styles_of[name] for name in names]
    sides = exact, sampled
    shared = sides if len(names) == 1 else ()
    places = [_places(side, names, shared=shared) for side in sides]
    for name, look in zip(names, looks, strict=True):
        panel.plot([0, 1], [place.loc[name, "value"] for place in places], linewidth=1.4, **look)
    for x, (side, place) in enumerate(zip(sides, places, strict=True)):
        heights = _apart(place["value"])
        for number, (name, look) in enumerate(zip(names, looks, strict=True), 1):
            bar = x + (0.025 if x == 0 else -0.025) * number  # intervals stand side by side
            panel.plot(
                [bar] * 2,
                place.loc[name, ["low", "high"]],
                color=look["color"],
                linewidth=2.5,
                alpha=0.5,
            )
            value = f"{100 * side.value[name]:.1f} %"
            label = literal(texts[name])
            panel.text(
                x - 0.06 + 0.12 * x,
                heights[name],
                f"{label}  {value}" if x == 0 else f"{value}  {label}",
                ha="left" if x else "right",
                va="center",
                fontsize=_LETTERS,
            )
        panel.text(
            0.42 + 0.16 * x,
            1.12,
            side.title,
            ha="left" if x else "right",
            va="bottom",
            fontweight="bold",
            fontsize=_LETTERS,
        )
    panel.set(xlim=(-0.75 - wider, 1.75 + wider), ylim=(-0.08, 1.2))
    panel.set_axis_off()
    return figure


def _places(side: Ends, names: "pd.Index[str]", shared: Sequence[Ends] = ()) -> pd.DataFrame:
    """Return the values and ends of recommenders as heights from 0 to 1.

    If sides share the scale, it begins at 0.
    """
    table = pd.DataFrame({"value": side.value, "low": side.low, "high": side.high}).loc[names]
    table["low"] = table["low"].fillna(table["value"])
    table["high"] = table["high"].fillna(table["value"])
    lowest = table["low"].min()
    highest = table["high"].max()
    if shared:
        lowest = 0.0
        highest = max(float(np.fmax(ends.value, ends.high).max()) for ends in shared)
    return (table - lowest) / (highest - lowest) if highest > lowest else table * 0 + 0.5


def _apart(values: "pd.Series[float]") -> "pd.Series[float]":
    """Return heights of names that are near their values, and do not overlap."""
    from scipy.optimize import isotonic_regression  # slow to import, and used only here

    ascending = values.sort_values(kind="stable")
    steps = _APART * pd.Series(range(len(ascending)), index=ascending.index)
    return pd.Series(isotonic_regression(ascending - steps).x, index=ascending.index) + steps


def _shortened(name: str) -> str:
    """Return the two ends of a long name."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
