"""Figures of the running example: metrics and their expectations on samples (Figures 1-4).

The expectations of Figures 2-4 use binomial ranks (section 4.3).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sampled_metrics._arrays import Ints
from sampled_metrics._drawing import draw_lines, panels, styled, styles
from sampled_metrics.estimators import estimator_name, linear_estimator
from sampled_metrics.metrics.held_out import metric, metric_name
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import rank_distribution
from sampled_metrics.sampling.draws import expected_metric
from sampled_metrics.sampling.outcomes import Outcomes


def figure_1(candidates: int, metrics: Sequence[str], zoom: int) -> pd.DataFrame:
    """Metrics by rank; columns panel (all, or first for the ranks to `zoom`), metric, rank, value."""
    ranks = {"all": _ranks_to_draw(candidates, zoom), "first": np.arange(1, min(zoom, candidates) + 1)}
    curves = []
    for panel, rank in ranks.items():
        for label in metrics:
            value = metric(label).of_rank(rank, candidates)
            curves.append(pd.DataFrame({"panel": panel, "metric": label, "rank": rank, "value": value}))
    return pd.concat(curves, ignore_index=True)


def figure_2(
    ranks: Mapping[str, Sequence[int]], candidates: int, metrics: Sequence[str], negatives: Sequence[int]
) -> pd.DataFrame:
    """Expected metrics of the example by sample size; columns metric, recommender, negatives, expected."""
    rows = [
        (label, name, m, expected_metric(row, candidates, SamplingDesign(m, True), metric(label)).mean())
        for label in metrics
        for name, row in ranks.items()
        for m in negatives
    ]
    return pd.DataFrame(rows, columns=["metric", "recommender", "negatives", "expected"])


def figure_3(candidates: int, metrics: Sequence[str], negatives: Sequence[int], zoom: int) -> pd.DataFrame:
    """Expected metrics by true rank; columns metric, negatives, rank, expected. Exact ones have negatives n - 1."""
    rank = _ranks_to_draw(min(candidates, zoom), 100)
    curves = []
    for label in metrics:
        for m in negatives:
            expected = expected_metric(rank, candidates, SamplingDesign(m, replacement=True), metric(label))
            curves.append(pd.DataFrame({"metric": label, "negatives": m, "rank": rank, "expected": expected}))
        exact = metric(label).of_rank(rank, candidates)
        curves.append(pd.DataFrame({"metric": label, "negatives": candidates - 1, "rank": rank, "expected": exact}))
    return pd.concat(curves, ignore_index=True)


def figure_4(candidates: int, metric_label: str, negatives: int, estimators: Sequence[str]) -> pd.DataFrame:
    """Corrected metrics; columns panel, estimator, rank, value.

    In the panel `sampled`, rank is the sampled rank and value is the weight of an event with it. In the panel
    `expected`, rank is the true rank and value is the expected weight; the estimator `exact` is the metric itself.
    """
    design = SamplingDesign(negatives, replacement=True)
    sampled_rank = np.arange(1, negatives + 2)
    rank = np.unique(np.geomspace(1, candidates, 300).round().astype(np.int64))
    chances = rank_distribution(candidates, design)[rank - 1]
    exact = metric(metric_label).of_rank(rank, candidates)
    curves = []
    for label in estimators:
        [weights] = linear_estimator(label).fit(Outcomes.of(design, candidates), [metric(metric_label)]).weights
        curves.append(pd.DataFrame({"panel": "sampled", "estimator": label, "rank": sampled_rank, "value": weights}))
        curves.append(pd.DataFrame({"panel": "expected", "estimator": label, "rank": rank, "value": chances @ weights}))
    curves.append(pd.DataFrame({"panel": "expected", "estimator": "exact", "rank": rank, "value": exact}))
    return pd.concat(curves, ignore_index=True)


def _ranks_to_draw(last: int, dense: int) -> Ints:
    """Return every rank to `dense`, then 400 evenly spread ranks to `last`."""
    spread = np.linspace(min(dense, last), last, 400).round().astype(np.int64)
    return np.unique(np.concatenate((np.arange(1, min(dense, last) + 1), spread)))


def _grid(number: int) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, in two columns, or in one if there is one panel."""
    columns = min(number, 2)
    rows = -(-number // columns)
    figure, axes = panels(rows, columns, 2.8)
    for unused in axes[number:]:
        unused.remove()
    return figure, axes[:number]


@styled
def draw_1(table: pd.DataFrame) -> Figure:
    """Draw Figure 1 from its table."""
    figure, axes = panels(1, 2)
    for panel, which in zip(axes, ("all", "first"), strict=True):
        curves = table[table["panel"] == which]
        draw_lines(panel, curves, "metric", "rank", "value", metric_name)
        last = int(curves["rank"].max())
        panel.set(xlabel="predicted rank", ylabel="metric", xlim=(-0.01 * last, last), ylim=(-0.02, 1.05))
        panel.set_title({"all": "all ranks", "first": f"the first {last} ranks"}[which])
    axes[1].legend()
    return figure


@styled
def draw_2(table: pd.DataFrame) -> Figure:
    """Draw Figure 2 from its table."""
    figure, axes = _grid(table["metric"].nunique())
    for panel, (label, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        draw_lines(panel, curves, "recommender", "negatives", "expected", marked=True)
        panel.set(xscale="log", title=metric_name(str(label)), ylim=(-0.03, 1.05))
        panel.set(xlabel="negatives sampled, m", ylabel="expected metric")
    axes[0].legend(title="recommender")
    return figure


@styled
def draw_3(table: pd.DataFrame) -> Figure:
    """Draw Figure 3 from its table."""
    figure, axes = _grid(table["metric"].nunique())
    names = {str(table["negatives"].max()): "all: the exact metric"}
    for panel, (label, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        largest_first = curves.sort_values("negatives", ascending=False, kind="stable")
        draw_lines(panel, largest_first, "negatives", "rank", "expected", lambda m: names.get(m, m))
        panel.set(title=metric_name(str(label)), ylim=(-0.03, 1.05), xlim=(0, curves["rank"].max()))
        panel.set(xlabel="true rank", ylabel="expected metric")
    axes[0].legend(title="negatives sampled, m", loc="lower left")
    return figure


@styled
def draw_4(table: pd.DataFrame) -> Figure:
    """Draw Figure 4 from its table."""
    figure, axes = panels(1, 2, 4.2)
    names = sorted(dict.fromkeys(table["estimator"]), key=lambda name: name != "exact")
    style = dict(zip(names, styles(len(names), marked=True), strict=True))
    for panel, which in zip(axes, ("sampled", "expected"), strict=True):
        curves = table[table["panel"] == which]
        for number, name in enumerate(names):
            curve = curves[curves["estimator"] == name]
            if len(curve):
                # markers at all of the first sampled ranks, and staggered along the true ranks
                spaced = np.unique(np.geomspace(1, len(curve), 20).round().astype(int) - 1).tolist()
                marks = spaced if which == "sampled" else (number * 3, max(1, len(curve) // 12))
                panel.plot(curve["rank"], curve["value"], **style[name], markevery=marks)
        panel.set_title({"sampled": "on the sample", "expected": "in expectation, on all items"}[which])
        panel.set_xlabel({"sampled": "rank in the sample", "expected": "true rank"}[which])
        panel.set(xscale="log", ylabel="corrected metric")
    handles = [Line2D([], [], label=estimator_name(name), **style[name]) for name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


FIGURES: dict[int, tuple[Callable[..., pd.DataFrame], Callable[[pd.DataFrame], Figure]]] = {
    1: (figure_1, draw_1),
    2: (figure_2, draw_2),
    3: (figure_3, draw_3),
    4: (figure_4, draw_4),
}
"""Number of a figure → (function of its table, function that draws the table)."""
