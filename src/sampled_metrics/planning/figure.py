"""The figure of a plan: the users that each way needs, or its width and chance to decide."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.core.evaluation.values import NO_ASSUMPTION, UNIFORM
from sampled_metrics.core.evaluation.words.captions import OF_PLAN
from sampled_metrics.planning.words import way_in_words
from sampled_metrics.reporting.drawing import style, styles_of
from sampled_metrics.reporting.plots import Mark, Panel, Picture

_STYLES = {"all candidates": 0, "stop at k": 28, "stages": 23}
"""Numbers of styles that no estimator has; all candidates give the exact metric."""

_PROMISES = {
    "users": ("Users that are needed", "users, 95 % interval"),
    "width": ("Width of the interval", "width, 95 % interval"),
    "decided": ("Decided rightly", "share of evaluations, 95 % interval"),
}
"""Title and axis of each promise."""


def way_style(way: str, estimator: str) -> dict[str, Any]:
    """Return the style of a way to evaluate, which is the same for a part of the users.

    The way of negatives has the style of its estimator.
    """
    if way == "negatives":
        return styles_of([estimator], estimators=True)[estimator]
    return style(_STYLES[way.removesuffix(", part of users")])


def _lay_out(table: pd.DataFrame) -> Picture:
    """Lay out the numbers of a plan that have intervals, a panel for each."""
    panels = []
    for promise, (title, axis) in _PROMISES.items():
        if f"{promise}_low" in table:
            finite = table.replace(np.inf, np.nan).to_dict("records")
            rows = dict(_row(row, promise) for row in finite)
            panels.append(Panel(title, axis, rows, log=promise != "decided"))
    return Picture(panels, OF_PLAN)


def _row(row: Mapping[str, Any], promise: str) -> tuple[str, list[Mark]]:
    """Return the label of a row of a plan, and its mark."""
    mark = Mark(
        float(row[promise]),
        float(row[f"{promise}_low"]),
        float(row[f"{promise}_high"]),
        way_style(row["way"], str(row["estimator"])),
        row["assumes"] in (NO_ASSUMPTION, UNIFORM),
    )
    return f"{way_in_words(row)}: {row['scores']:,.0f} scores", [mark]


LAYOUTS: dict[tuple[str, ...], Callable[[pd.DataFrame], Picture]] = {
    ("way", "scores", "users", "assumes"): _lay_out,
}
"""The columns of a plan, and the function that lays it out."""
