"""Expected estimates of a metric by sample size (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sampled_metrics.checks import Floats
from sampled_metrics.core.estimators import estimator_name, linear_estimator
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import EQUAL, expected_distribution, thinned
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import DataError
from sampled_metrics.reporting.drawing import (
    literal,
    move_clear,
    name_lines,
    panels,
    plain_numbers,
    styled,
    styles,
)
from sampled_metrics.running import Progress, no_progress, on_one_thread

if TYPE_CHECKING:  # `drawing` says in one line that matplotlib is missing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_FEW = 4  # recommenders whose crossing lines are marked
_MAGNIFIED = 100  # m from which a second panel shows lines on a linear scale
# exact values this many times smaller than the largest one would be one line on a linear scale
_CRUSHED = 5


@on_one_thread
def expected_by_sample_size(
    tables: Mapping[str, ExactRanks],
    metric_label: str,
    estimators: Sequence[str],
    negatives: Sequence[int],
    *,
    replacement: bool,
    assume_replacement: bool,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Compute the expected estimates of a metric by sample size.

    Ties are broken at random, and nothing is drawn.

    Args:
        tables: rank tables by recommender.
        metric_label: the metric.
        estimators: labels of estimators.
        negatives: m, the sample sizes. Sizes larger than the number of other candidates of a user
            are left out.
        replacement: whether negatives are drawn with replacement.
        assume_replacement: whether estimators take P(x | r) as binomial.
        progress: wraps the sample sizes, for a progress bar.

    Returns:
        Columns metric, recommender, estimator, negatives, expected, exact.

    Raises:
        DataError: no sample size is left.
    """
    target = metric(metric_label)
    exact = {name: table.mean(target) for name, table in tables.items()}
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    sizes = sorted((m for m in negatives if replacement or m <= fewest), reverse=True)
    if not sizes:
        raise DataError(
            f"figure 6: each of its sample sizes is above {fewest}, the fewest other candidates "
            "of a user"
        )
    distributions = {
        name: expected_distribution(table, SamplingDesign(sizes[0], replacement))
        for name, table in tables.items()
    }
    expected: dict[tuple[str, str, int], float] = {}
    for m in progress(sizes):
        for name, table in tables.items():
            distributions[name] = thinned(distributions[name], m)
            outcomes = Outcomes.from_design(SamplingDesign(m, replacement), table.mean_candidates)
            for label in estimators:
                estimator = linear_estimator(label, assume_replacement=assume_replacement)
                weights = estimator.fit(outcomes, [target]).weights[0]
                expected[name, label, m] = float(distributions[name] @ weights)
    rows = [
        (metric_label, name, label, m, expected[name, label, m], exact[name])
        for label in estimators
        for name in tables
        for m in reversed(sizes)
    ]
    return pd.DataFrame(
        rows, columns=["metric", "recommender", "estimator", "negatives", "expected", "exact"]
    )


@styled
def draw(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw the table of `expected_by_sample_size`.

    It has a panel for each estimator, and a line for each recommender. An estimator on a
    logarithmic scale has a second panel, from m = 100 on, on a linear scale. Each crossing of two
    lines has a circle with its m.
    """
    contents: list[tuple[str, pd.DataFrame, bool]] = []
    for label, curves in table.groupby("estimator", sort=False):
        contents.append((estimator_name(str(label)), curves, False))
        large = curves[curves["negatives"] >= _MAGNIFIED]
        if _is_crushed(curves) and large["negatives"].nunique() > 1:
            contents.append((f"m ≥ {_MAGNIFIED}, linear", large, True))
    crossings = [_crossings(curves) for _, curves, _ in contents]
    circles = "  Circles: two lines cross, at this m." if any(map(len, crossings)) else ""
    figure, axes = panels(len(contents), 2, 2.4, f"Thin lines: exact.{circles}  {note}")
    numbers: list[Annotation] = []
    for panel, (title, curves, is_magnified), crossing in zip(
        axes, contents, crossings, strict=True
    ):
        draw_curves(panel, curves, is_magnified=is_magnified)
        numbers += _draw_crossings(panel, crossing, curves)
        panel.set_title(title)
    for panel in axes[1::2]:
        panel.set_ylabel("")
    name_lines(*dict.fromkeys([*axes[1::2], axes[-1]]))
    move_clear(numbers)
    return figure


def _draw_crossings(panel: Axes, crossings: Floats, curves: pd.DataFrame) -> list[Annotation]:
    """Draw a circle with its m at each crossing of curves, and return these numbers.

    Crossings are (crossings, 2): m and per cent. The number is below the circle, on the side that
    falling or rising curves leave free, or above it at the first sample size.
    """
    if len(crossings):
        panel.margins(y=0.15)
    by_size = curves.groupby("negatives")["expected"].mean()
    side = "right" if by_size.iloc[0] > by_size.iloc[-1] else "left"
    numbers = []
    for m, height in crossings:
        panel.plot(m, height, "o", color="black", fillstyle="none", markersize=9)
        below: Any = {"xytext": (-5 if side == "right" else 5, -6), "ha": side, "va": "top"}
        above: Any = {"xytext": (5, 6), "ha": "left", "va": "bottom"}
        place = above if m < 1.2 * by_size.index[0] else below
        numbers.append(
            panel.annotate(
                f"{m:.0f}", (m, height), textcoords="offset points", fontsize="small", **place
            )
        )
    return numbers


def _crossings(table: pd.DataFrame) -> Floats:
    """Return where lines of an estimator cross, (crossings, 2): m and per cent.

    Crossings of more than `_FEW` lines are not marked.
    """
    curves = 100 * table.pivot(index="negatives", columns="recommender", values="expected")
    if len(curves.columns) > _FEW:
        return np.empty((0, 2))
    size = np.log(curves.index.to_numpy())
    crossings: list[tuple[float, float]] = []
    for recommender, rival in combinations(curves.columns, 2):
        height = curves[recommender].to_numpy()
        gap = height - curves[rival].to_numpy()
        gap = np.where(np.abs(gap) <= 100 * EQUAL, 0.0, gap)  # equal but for rounding
        for step in np.flatnonzero(gap[:-1] * gap[1:] < 0):
            share = gap[step] / (gap[step] - gap[step + 1])
            m = np.exp(size[step] + share * (size[step + 1] - size[step]))
            crossings.append((m, height[step] + share * (height[step + 1] - height[step])))
    return np.array(crossings).reshape(-1, 2)


def draw_curves(panel: Axes, table: pd.DataFrame, *, is_magnified: bool = False) -> None:
    """Draw the rows of one estimator into a panel.

    The scale is logarithmic if they are far above the exact values.

    Args:
        panel: the panel.
        table: the rows.
        is_magnified: whether the scale is linear whatever the values, and leaves the exact ones
            out.
    """
    curves = list(table.groupby("recommender", sort=False))
    for (name, curve), style in zip(curves, styles(len(curves), marked=True), strict=True):
        panel.plot(curve["negatives"], 100 * curve["expected"], label=literal(str(name)), **style)
        if not is_magnified:
            exact = 100 * curve["exact"].iloc[0]
            panel.axhline(exact, color=style["color"], linestyle=style["linestyle"], linewidth=0.7)
    panel.set(
        xscale="log",
        xlabel="negatives sampled, m",
        ylabel=f"{metric_name(table['metric'].iloc[0])} in %",
    )
    if _is_crushed(table) and not is_magnified:
        panel.set_yscale("log")
        plain_numbers(panel.yaxis)
    plain_numbers(panel.xaxis)


def _is_crushed(table: pd.DataFrame) -> bool:
    """Return whether the exact values would be one line on a linear scale.

    They would be where the expected ones are far above them.
    """
    return bool(0 < _CRUSHED * table["exact"].min() < table["expected"].max())
