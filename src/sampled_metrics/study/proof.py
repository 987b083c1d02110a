"""What a sample of m negatives proves: intervals of the true metric, and how often they decide between recommenders.

Nothing is drawn. The bounds are those of the expected sample, and their means and deviations over users and samples are
exact. An interval is at the expected ends, and a decision has the chance of a normal approximation.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import ndtr, ndtri

from sampled_metrics._arrays import Floats
from sampled_metrics._drawing import panels, plain_numbers, styled, styles
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics.errors import DataError
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import PAIRED, expected_weights
from sampled_metrics.metrics.held_out import metric, metric_name
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, user_moments

_QUANTILE = float(ndtri(0.975))

_COLUMNS = 3  # panels in a row

_FEW_PAIRS = 6  # with more pairs, the figure shows those of neighbours by the exact metric

_FILLS = {"free": "#e8e8e8", "decreasing": "#bdbdbd", "convex": "#7f7f7f"}
_EDGES = {"free": ":", "decreasing": "--", "convex": "-"}


def proven(
    tables: Mapping[str, RankTable],
    label: str,
    negatives: Sequence[int],
    *,
    replacement: bool,
    progress: Progress = no_progress,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute what samples prove, at a confidence of 95 %.

    Args:
        tables: rank tables by recommender, of the same users.
        label: the metric.
        negatives: m, the sample sizes. Sizes larger than the number of other candidates of an event are left out.
        replacement: whether negatives are drawn with replacement.
        progress: wraps the sample sizes, for a progress bar.

    Returns:
        The intervals of recommenders, with columns metric, recommender, assumption, negatives, low, high, exact; and
        those of differences, with columns metric, worse, better, assumption, negatives, low, high, exact, right, wrong:
        the shares of evaluations that decide for the better and for the worse one. Pairs whose exact metrics are equal
        are left out.

    Raises:
        DataError: no sample size is left.
    """
    target = metric(label)
    order = {name: np.argsort(table.users, kind="stable") for name, table in tables.items()}
    exact = {name: float(table.values(target).mean()) for name, table in tables.items()}
    largest = float(target.of_rank(1, 2))
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    sizes = [m for m in sorted(negatives) if replacement or m <= fewest]
    if not sizes:
        raise DataError(f"figures.proof.negatives: each is above {fewest}, the fewest other candidates of an event")
    bounds = [(side, share * _QUANTILE) for share in (1.0, PAIRED) for side in (-1, 1)]
    alone, paired = [], []
    for m in progress(sizes):
        design = SamplingDesign(m, replacement)
        for shape in SHAPES:
            moments = {}
            for name, table in tables.items():
                found = user_moments(table, design, *expected_weights(table, design, shape, target, bounds))
                means, variances = moments[name] = tuple(each[order[name]] for each in found)
                mean, error = _mean_and_error(means[:, :2], variances[:, :2])
                low, high = np.clip(mean + _QUANTILE * error * [-1, 1], 0, largest)
                alone.append((label, name, shape, m, low, high, exact[name]))
            for one, other in combinations(tables, 2):
                gap = exact[other] - exact[one]
                if abs(gap) <= EQUAL:
                    continue
                worse, better = (one, other) if gap > 0 else (other, one)
                (of_worse, spread), (of_better, other_spread) = moments[worse], moments[better]
                differences = of_better[:, [2, 3]] - of_worse[:, [3, 2]]
                mean, error = _mean_and_error(differences, other_spread[:, [2, 3]] + spread[:, [3, 2]])
                low, high = np.clip(mean + _QUANTILE * error * [-1, 1], -largest, largest)
                right, wrong = ndtr(mean / error * [1, -1] - _QUANTILE)
                paired.append((label, worse, better, shape, m, low, high, abs(gap), right, wrong))
    ends = ["assumption", "negatives", "low", "high", "exact"]
    return (
        pd.DataFrame(alone, columns=["metric", "recommender", *ends]),
        pd.DataFrame(paired, columns=["metric", "worse", "better", *ends, "right", "wrong"]),
    )


def _mean_and_error(means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return the means of (users, bounds) weights, and their standard errors over users and samples."""
    users = len(means)
    spread = means.var(axis=0, ddof=1) if users > 1 else np.full(means.shape[1], np.nan)
    return means.mean(axis=0), np.sqrt((spread + variances.mean(axis=0)) / users)


@styled
def draw(alone: pd.DataFrame, paired: pd.DataFrame) -> Figure:
    """Draw the results of `proven`: a panel for each recommender, and one for each assumption on the pairs."""
    names, shapes = list(dict.fromkeys(alone["recommender"])), list(dict.fromkeys(alone["assumption"]))
    what = metric_name(alone["metric"].iloc[0])
    rows = -(-len(names) // _COLUMNS) + (1 if len(paired) else 0)
    figure, axes = panels(rows, _COLUMNS)
    top = 105 * min(alone["high"].max(), 1.0)
    for panel, name in zip(axes, names, strict=False):
        _intervals(panel, alone[alone["recommender"] == name])
        panel.set(title=name, ylabel=f"{what} in %", ylim=(0, top))
    for panel in axes[len(names) : (rows - bool(len(paired))) * _COLUMNS]:
        panel.set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), title="95 % interval, if\nranks are", loc="outside right upper")
    if len(paired):
        shown = _shown_pairs(paired, alone)
        for panel, shape in zip(axes[-_COLUMNS:], shapes, strict=False):
            for (worse, better), style in zip(shown, styles(len(shown), marked=True), strict=True):
                cells = paired[(paired["worse"] == worse) & (paired["better"] == better)]
                cells = cells[cells["assumption"] == shape]
                panel.plot(cells["negatives"], 100 * cells["right"], label=f"{better} over {worse}", **style)
                panel.plot(cells["negatives"], 100 * cells["wrong"], **{**style, "linewidth": 0.6, "marker": None})
            panel.set(title=f"decided, if {shape}", ylabel="evaluations in %", ylim=(-3, 103))
        handles = axes[-1].get_legend_handles_labels()
        figure.legend(*handles, title="decided rightly\n(thin: wrongly)", loc="outside right lower")
    for panel in axes:
        panel.set(xscale="log", xlabel="negatives sampled, m")
        plain_numbers(panel.xaxis)
    return figure


def _intervals(panel: Axes, cells: pd.DataFrame) -> None:
    """Draw the intervals by sample size as bands, and the exact metric as a line."""
    for shape, band in cells.groupby("assumption", sort=False):
        ends = band["negatives"], 100 * band["low"], 100 * band["high"]
        panel.fill_between(*ends, color=_FILLS[shape], label=shape, linewidth=0)
        for end in ends[1:]:
            panel.plot(band["negatives"], end, color="#404040", linewidth=0.8, linestyle=_EDGES[shape])
    panel.axhline(100 * cells["exact"].iloc[0], color="black", linewidth=1.8, label="exact metric")


def _shown_pairs(paired: pd.DataFrame, alone: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs (worse, better) of the figure: all, or those of neighbours by the exact metric."""
    pairs = list(dict.fromkeys(zip(paired["worse"], paired["better"], strict=True)))
    if len(pairs) <= _FEW_PAIRS:
        return pairs
    exact = alone.groupby("recommender", sort=False)["exact"].first().sort_values(kind="stable")
    ordered = list(exact.index)
    return [pair for pair in pairwise(ordered) if pair in pairs]
