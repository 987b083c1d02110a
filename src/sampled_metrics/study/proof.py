"""What a sample of m negatives proves: intervals of the true metric, and how often they decide between recommenders.

Nothing is drawn. The bounds are those of the expected sample. Their means and deviations over users and samples are
exact. An interval has the expected ends. The probability of a decision is a normal approximation.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats
from sampled_metrics.errors import DataError
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import expected_weights
from sampled_metrics.metrics.metric import metric, metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.rendering.drawing import (
    literal,
    name_lines,
    panels,
    plain_numbers,
    say_what_coincides,
    styled,
    styles,
)
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import user_moments
from sampled_metrics.study.pairs import worse_and_better

_QUANTILE = float(ndtri(0.975))

_TITLE = 20  # letters in a line of the title of a panel
_COLUMNS = 3  # panels in a row

_FEW_PAIRS = 6  # of more pairs, the figure shows those of neighbours by the exact metric

_FILLS = {"free": "#e8e8e8", "decreasing": "#bdbdbd", "convex": "#7f7f7f"}
_EDGES = {"free": ":", "decreasing": "--", "convex": "-"}


@on_one_thread
def proven(
    tables: Mapping[str, ExactRanks],
    label: str,
    negatives: Sequence[int],
    *,
    replacement: bool,
    shapes: Sequence[str] = SHAPES,
    progress: Progress = no_progress,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what samples prove, at a confidence of 95 %: intervals of metrics and of differences.

    Args:
        tables: rank tables by recommender, of the same users.
        label: the metric.
        negatives: m, the sample sizes. Sizes larger than the number of other candidates of an event are left out.
        replacement: whether negatives are drawn with replacement.
        shapes: the assumptions on the ranks.
        progress: wraps the sample sizes, for a progress bar.

    Returns:
        The intervals of recommenders, with columns metric, recommender, assumption, negatives, low, high, exact; and
        those of differences, with columns metric, worse, better, assumption, negatives, low, high, exact, right, wrong.
        The last two are the shares of evaluations that decide for the better and for the worse one. Pairs whose exact
        metrics are equal are left out.

    Raises:
        DataError: no sample size is left.
    """
    target = metric(label)
    exact = {name: table.mean(target) for name, table in tables.items()}
    largest = float(target.of_rank(1, 2))
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    sizes = [m for m in sorted(negatives) if replacement or m <= fewest]
    if not sizes:
        raise DataError(f"negatives of the figure: each is above {fewest}, the fewest other candidates of a row")
    pairs = [pair for names in combinations(tables, 2) if (pair := worse_and_better(*names, exact))]
    bounds = [(side, share * _QUANTILE) for share in (1.0, 1.0) for side in (-1, 1)]
    alone, paired = [], []
    for m in progress(sizes):
        design = SamplingDesign(m, replacement)
        by_shape: dict[str, dict[str, tuple[Floats, Floats]]] = {shape: {} for shape in shapes}
        for name, table in tables.items():
            weights = expected_weights(table, design, shapes, target, bounds)
            moments = _of_users(table, *user_moments(table, design, *weights))
            parts = (np.split(values, len(shapes), axis=1) for values in moments)
            for shape, means, variances in zip(shapes, *parts, strict=True):
                by_shape[shape][name] = means, variances
        for shape, by_name in by_shape.items():
            for name, (means, variances) in by_name.items():
                mean, error = _mean_and_error(means[:, :2], variances[:, :2])
                low, high = np.clip(mean + _QUANTILE * error * [-1, 1], 0, largest)
                alone.append((label, name, shape, m, low, high, exact[name]))
            for worse, better in pairs:
                (worse_means, worse_variances), (better_means, better_variances) = by_name[worse], by_name[better]
                means = better_means[:, [2, 3]] - worse_means[:, [3, 2]]
                variances = better_variances[:, [2, 3]] + worse_variances[:, [3, 2]]
                mean, error = _mean_and_error(means, variances)
                low, high = np.clip(mean + _QUANTILE * error * [-1, 1], -largest, largest)
                right, wrong = ndtr(mean / error * [1, -1] - _QUANTILE)
                gap = exact[better] - exact[worse]
                paired.append((label, worse, better, shape, m, low, high, gap, right, wrong))
    ends = ["assumption", "negatives", "low", "high", "exact"]
    return (
        pd.DataFrame(alone, columns=["metric", "recommender", *ends]),
        pd.DataFrame(paired, columns=["metric", "worse", "better", *ends, "right", "wrong"]),
    )


def _of_users(table: ExactRanks, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return (users, bounds) moments, users ascending, from those of rows. A user counts as the mean of its rows."""
    if table.weights is None:
        order = np.argsort(table.users, kind="stable")
        return means[order], variances[order]
    user, _ = pd.factorize(table.users, sort=True)
    shares = csr_array((1 / np.bincount(user)[user], (user, np.arange(len(user)))))
    return shares @ means, shares.power(2) @ variances


def _mean_and_error(means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return the means over (users, bounds) moments, and their standard errors over users and samples."""
    users = len(means)
    spread = means.var(axis=0, ddof=1) if users > 1 else np.full(means.shape[1], np.nan)
    return means.mean(axis=0), np.sqrt((spread + variances.mean(axis=0)) / users)


@styled
def draw(alone: pd.DataFrame, paired: pd.DataFrame, note: str = "") -> Figure:
    """Draw the results of `proven`: a panel for each recommender, and one for each assumption on the pairs."""
    names, shapes = list(dict.fromkeys(alone["recommender"])), list(dict.fromkeys(alone["assumption"]))
    first = -(-len(names) // _COLUMNS) * _COLUMNS  # place of the first panel on pairs
    wrong = f"Thin: wrong decisions, at most {100 * paired['wrong'].max():.3g} %.  " if len(paired) else ""
    places = first + _COLUMNS * (len(paired) > 0)
    empty = range(len(names), first)
    figure, axes = panels(places, _COLUMNS, 2.1, wrong + note, empty, sharex=True, sharey="row")
    top = 105 * min(alone["high"].max(), 1.0)
    for panel, name in zip(axes, names, strict=False):
        _intervals(panel, alone[alone["recommender"] == name])
        exact = 100 * alone.loc[alone["recommender"] == name, "exact"].iloc[0]
        panel.set(title=literal(fill(name, _TITLE)), ylim=(0, top))
        box = {"frameon": True, "facecolor": "white", "edgecolor": "none", "borderpad": 0.1}
        panel.legend(handles=[], title=f"exact {exact:.1f} %", loc="upper right", title_fontsize="small", **box)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, title="95 % interval of the metric, if ranks are", loc="outside upper left", ncols=4)
    if len(paired):
        pairs = _pairs_to_draw(paired, alone)
        pair_styles = styles(len(names) + len(pairs), marked=True)[len(names) :]  # not those of recommenders
        for panel, shape in zip(axes[len(names) :], shapes, strict=False):
            for (worse, better), style in zip(pairs, pair_styles, strict=True):
                cells = paired[(paired["worse"] == worse) & (paired["better"] == better)]
                cells = cells[cells["assumption"] == shape]
                label = literal(f"{better} over {worse}")
                panel.plot(cells["negatives"], 100 * cells["right"], label=label, **style)
                panel.plot(cells["negatives"], 100 * cells["wrong"], **{**style, "linewidth": 0.6, "marker": None})
            panel.set(title=f"if {shape}", ylim=(-3, 103))
            say_what_coincides(panel)
        axes[len(names)].set_ylabel("decided rightly, %")
        name_lines(axes[-1], legend="outside lower left")
    for panel in axes:
        panel.set_xscale("log")
        plain_numbers(panel.xaxis)
    for panel in axes[-_COLUMNS:]:
        panel.set_xlabel("negatives, m")
    for panel in axes[: len(names) : _COLUMNS]:
        panel.set_ylabel(f"{metric_name(alone['metric'].iloc[0])} in %")
    return figure


def _intervals(panel: Axes, cells: pd.DataFrame) -> None:
    """Draw the intervals by sample size as bands, and the exact metric as a line."""
    for shape, band in cells.groupby("assumption", sort=False):
        ends = band["negatives"], 100 * band["low"], 100 * band["high"]
        panel.fill_between(*ends, color=_FILLS[shape], label=shape, linewidth=0)
        for end in ends[1:]:
            panel.plot(band["negatives"], end, color="#404040", linewidth=0.8, linestyle=_EDGES[shape])
    panel.axhline(100 * cells["exact"].iloc[0], color="black", linewidth=1.4, label="exact metric")


def _pairs_to_draw(paired: pd.DataFrame, alone: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs (worse, better) of the figure: all, or those of neighbours by the exact metric."""
    pairs = list(dict.fromkeys(zip(paired["worse"], paired["better"], strict=True)))
    if len(pairs) <= _FEW_PAIRS:
        return pairs
    exact = alone.groupby("recommender", sort=False)["exact"].first().sort_values(kind="stable")
    return [pair for pair in pairwise(exact.index) if pair in pairs]
