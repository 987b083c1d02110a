"""Expected estimates of a metric by sample size (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

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
    add_legend,
    draw_lines,
    panels,
    plain_numbers,
    styled,
    styles_of,
)
from sampled_metrics.running import Progress, no_progress, on_one_thread

if TYPE_CHECKING:  # `drawing` says in one line that matplotlib is missing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

    Each estimator has a panel, and each recommender a line. An estimator on a logarithmic scale has
    a second panel, from m = 100 on, on a linear scale. Each crossing of two lines has a circle.
    """
    contents: list[tuple[str, pd.DataFrame, bool]] = []
    for label, curves in table.groupby("estimator", sort=False):
        contents.append((estimator_name(str(label)), curves, False))
        large = curves[curves["negatives"] >= _MAGNIFIED]
        if _is_crushed(curves) and large["negatives"].nunique() > 1:
            contents.append((f"m ≥ {_MAGNIFIED}, linear", large, True))
    crossings = [_crossings(curves) for _, curves, _ in contents]
    circles = "  Circles: two lines cross." if any(map(len, crossings)) else ""
    figure, axes = panels(len(contents), 2, 2.4, f"Thin lines: exact.{circles}  {note}")
    for panel, (title, curves, is_magnified), crossing in zip(
        axes, contents, crossings, strict=True
    ):
        draw_curves(panel, curves, is_magnified=is_magnified)
        panel.plot(*crossing.T, "o", color="black", fillstyle="none", markersize=9)
        panel.set_title(title)
    for panel in axes[1::2]:
        panel.set_ylabel("")
    add_legend(figure)
    return figure


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
    in_percent = table.assign(expected=100 * table["expected"])
    styles = styles_of(table["recommender"])
    draw_lines(panel, in_percent, "recommender", "negatives", "expected", styles, marked=True)
    if not is_magnified:
        for name, exact in table.groupby("recommender", sort=False)["exact"].first().items():
            look = styles[name] | {"marker": None, "linewidth": 0.7}
            panel.axhline(100 * exact, **look)
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

    Expected values far above the exact ones have that effect.
    """
    return bool(0 < _CRUSHED * table["exact"].min() < table["expected"].max())
