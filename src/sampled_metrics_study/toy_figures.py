"""The running example of sections 3 to 5: Figures 1-4."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sampled_metrics.checks import Ints
from sampled_metrics.core.estimators import estimator_name, line_styles, linear_estimator
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.sampling.distributions import SamplingDesign, rank_distribution
from sampled_metrics.core.sampling.draws import expected_metric
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.reporting.drawing import (
    draw_lines,
    name_lines,
    panels,
    plain_numbers,
    say_what_coincides,
    style,
    styled,
)
from sampled_metrics.running import on_one_thread

MAGNIFIED = (-0.1, 0.25)
"""Limits of the lower panels of Figure 4: the weights of the corrected metrics at most ranks."""


_NEAR_ZERO = 0.01  # up to here, lines of Figure 4 cannot be told apart


def figure_1(candidates: int, metrics: Sequence[str], zoom: int) -> pd.DataFrame:
    """Return metrics by rank; columns panel, metric, rank, value.

    The panel is all, or first for the ranks to `zoom`.
    """
    ranks = {
        "all": _ranks_to_draw(candidates, zoom),
        "first": np.arange(1, min(zoom, candidates) + 1),
    }
    curves = []
    for panel, rank in ranks.items():
        for label in metrics:
            value = metric(label).of_rank(rank, candidates)
            curves.append(
                pd.DataFrame({"panel": panel, "metric": label, "rank": rank, "value": value})
            )
    return pd.concat(curves, ignore_index=True)


def figure_2(
    ranks: Mapping[str, Sequence[int]],
    candidates: int,
    metrics: Sequence[str],
    negatives: Sequence[int],
) -> pd.DataFrame:
    """Return expected metrics by sample size; columns metric, recommender, negatives, expected."""
    rows = [
        (
            label,
            name,
            m,
            expected_metric(instances, candidates, SamplingDesign(m, True), metric(label)).mean(),
        )
        for label in metrics
        for name, instances in ranks.items()
        for m in negatives
    ]
    return pd.DataFrame(rows, columns=["metric", "recommender", "negatives", "expected"])


def figure_3(
    candidates: int, metrics: Sequence[str], negatives: Sequence[int], zoom: int
) -> pd.DataFrame:
    """Return expected metrics by true rank; columns metric, negatives, rank, expected.

    Exact ones have m = n - 1.
    """
    rank = _ranks_to_draw(min(candidates, zoom), 100)
    curves = []
    for label in metrics:
        for m in negatives:
            expected = expected_metric(
                rank, candidates, SamplingDesign(m, replacement=True), metric(label)
            )
            curves.append(
                pd.DataFrame({"metric": label, "negatives": m, "rank": rank, "expected": expected})
            )
        exact = metric(label).of_rank(rank, candidates)
        curves.append(
            pd.DataFrame(
                {"metric": label, "negatives": candidates - 1, "rank": rank, "expected": exact}
            )
        )
    return pd.concat(curves, ignore_index=True)


@on_one_thread
def figure_4(
    candidates: int, metric_label: str, negatives: int, estimators: Sequence[str]
) -> pd.DataFrame:
    """Return corrected metrics by rank; columns panel, estimator, rank, value.

    In the panel `sampled`, rank is the sampled rank and value is the weight of an event with it. In
    the panel `expected`, rank is the true rank and value is the expected weight. The estimator
    `exact` is the metric itself.
    """
    design = SamplingDesign(negatives, replacement=True)
    outcomes = Outcomes.from_design(design, candidates)
    sampled_rank = np.arange(1, negatives + 2)
    rank = np.unique(np.geomspace(1, candidates, 300).round().astype(np.int64))
    probabilities = rank_distribution(candidates, design)[rank - 1]
    exact = metric(metric_label).of_rank(rank, candidates)
    curves = []
    for label in estimators:
        estimate = linear_estimator(label).fit(outcomes, [metric(metric_label)])
        [weights] = estimate.weights
        curves.append(
            pd.DataFrame(
                {"panel": "sampled", "estimator": label, "rank": sampled_rank, "value": weights}
            )
        )
        expected = probabilities @ weights
        curves.append(
            pd.DataFrame({"panel": "expected", "estimator": label, "rank": rank, "value": expected})
        )
    curves.append(
        pd.DataFrame({"panel": "expected", "estimator": "exact", "rank": rank, "value": exact})
    )
    return pd.concat(curves, ignore_index=True)


def _ranks_to_draw(last: int, dense: int) -> Ints:
    """Return every rank up to `dense`, and 400 evenly spread ranks from there to `last`."""
    spread = np.linspace(min(dense, last), last, 400).round().astype(np.int64)
    return np.unique(np.concatenate((np.arange(1, min(dense, last) + 1), spread)))


@styled
def draw_1(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 1 from its table."""
    figure, axes = panels(2, 2, 2.3, note, sharey=True)
    for panel, name in zip(axes, ("all", "first"), strict=True):
        curves = table[table["panel"] == name]
        draw_lines(panel, curves, "metric", "rank", "value", metric_name)
        last = int(curves["rank"].max())
        panel.set(xlabel="predicted rank", xlim=(0, last), ylim=(-0.03, 1.05))
        panel.set_title({"all": f"all {last:,} ranks", "first": f"the first {last} ranks"}[name])
    axes[0].set_ylabel("metric")
    name_lines(axes[1])
    return figure


@styled
def draw_2(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 2 from its table."""
    figure, axes = _for_each_metric(table, note)
    for panel, (_, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        draw_lines(panel, curves, "recommender", "negatives", "expected", marked=True)
        panel.set(xscale="log", xlabel="negatives sampled, m")
        plain_numbers(panel.xaxis)
    name_lines(*(axes[1::2] or axes))
    return figure


@styled
def draw_3(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 3 from its table."""
    figure, axes = _for_each_metric(table, note)
    exact = str(table["negatives"].max())
    named = axes[1::2] or axes
    for panel, (_, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        largest_first = curves.sort_values("negatives", ascending=False, kind="stable")
        draw_lines(
            panel,
            largest_first,
            "negatives",
            "rank",
            "expected",
            lambda m: "exact" if m == exact else f"m = {m}",
        )
        panel.set(xlabel="true rank", xlim=(0, curves["rank"].max()))
        say_what_coincides(panel, is_named=panel in named)
    name_lines(*named)
    return figure


def _for_each_metric(table: pd.DataFrame, note: str) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each metric, in two columns, and the panels."""
    labels = list(dict.fromkeys(table["metric"]))
    figure, axes = panels(len(labels), 2, 1.9, note, sharey=True)
    for panel, label in zip(axes, labels, strict=True):
        panel.set(title=metric_name(label), ylim=(-0.03, 1.05))
    for panel in axes[::2]:
        panel.set_ylabel("expected metric")
    return figure, axes


@styled
def draw_4(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 4 from its table.

    The upper panels have the scale of the metric, the lower ones a magnified one.

    Where lines are near 0, and so together, they have no markers.
    """
    figure, axes = panels(4, 2, 2.0, note, sharex="col", sharey="row")
    estimators = sorted(dict.fromkeys(table["estimator"]), key=lambda label: label != "exact")
    styles = {label: style(number) for label, number in line_styles(estimators).items()}
    for panel, name in zip(axes, 2 * ("sampled", "expected"), strict=True):
        curves = table[table["panel"] == name]
        for number, label in enumerate(estimators):
            curve = curves[curves["estimator"] == label]
            if len(curve):
                # markers at all of the first sampled ranks, and staggered along the true ranks
                spaced = np.unique(np.geomspace(1, len(curve), 12).round().astype(int) - 1).tolist()
                staggered = list(range(number * 4, len(curve), max(1, len(curve) // 8)))
                is_apart = np.abs(curve["value"].to_numpy()) > _NEAR_ZERO
                places = spaced if name == "sampled" else staggered
                marks = [place for place in places if is_apart[place]]
                panel.plot(curve["rank"], curve["value"], **styles[label], markevery=marks)
        panel.set_xscale("log")
        plain_numbers(panel.xaxis)
    axes[0].set(title="on the sample", ylabel="corrected metric")
    axes[1].set(title="in expectation")
    axes[2].set(xlabel="rank in the sample", ylabel="magnified", ylim=MAGNIFIED)
    axes[3].set(xlabel="true rank")
    handles = [
        Line2D([], [], label=estimator_name(label), **styles[label])
        for label in _from_the_top(table)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3)
    return figure


def _from_the_top(table: pd.DataFrame) -> list[str]:
    """Return the estimators of Figure 4 in the order of their lines at true rank 1.

    The exact metric is the first.
    """
    is_at_top = (table["panel"] == "expected") & (table["rank"] == 1)
    heights = table[is_at_top].set_index("estimator")["value"]
    return sorted(heights.index, key=lambda label: (label != "exact", -heights[label]))


def note(
    candidates: int, negatives: int | Sequence[int] = (), metric_label: str = "", **_: Any
) -> str:
    """Return the parameters of a figure, from the arguments of its table."""
    parts = [metric_name(metric_label)] if metric_label else []
    parts.append(f"n = {candidates:,} items")
    if negatives:
        size = f"m = {negatives} " if isinstance(negatives, int) else ""
        parts.append(f"{size}negatives drawn with replacement")
    return ", ".join(parts)
