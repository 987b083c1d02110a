"""The running example of sections 3 to 5: Figures 1-4."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sampled_metrics.checks import Ints
from sampled_metrics.core.estimators import estimator_name, linear_estimator
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.sampling.distributions import SamplingDesign, rank_distribution
from sampled_metrics.core.sampling.draws import expected_metric
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.reporting.drawing import (
    add_legend,
    draw_lines,
    panels,
    plain_numbers,
    styled,
    styles_of,
)
from sampled_metrics.running import on_one_thread

MAGNIFIED = (-0.1, 0.25)
"""Limits of the lower panels of Figure 4: the weights of the corrected metrics at most ranks."""


_SAME = 0.01  # lines of Figure 3 that differ by less look the same
# of the markers of Figure 4, as shares of the diagonal of a panel: between two of a line, and
# between the first ones of two lines
_SPACE = 0.24
_APART = 0.03


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

    Exact ones have m = n - 1. Samples of as many negatives or more are left out.
    """
    rank = _ranks_to_draw(min(candidates, zoom), 100)
    curves = []
    for label in metrics:
        for m in [m for m in negatives if m < candidates - 1]:
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
    figure, axes = panels(2, 2, 2.1, note, sharey=True)
    styles = styles_of(table["metric"])
    for panel, name in zip(axes, ("all", "first"), strict=True):
        curves = table[table["panel"] == name]
        draw_lines(panel, curves, "metric", "rank", "value", styles, metric_name)
        last = int(curves["rank"].max())
        panel.set(xlabel="predicted rank", xlim=(0, last), ylim=(-0.03, 1.05))
        panel.set_title({"all": f"all {last:,} ranks", "first": f"the first {last} ranks"}[name])
    axes[0].set_ylabel("metric")
    add_legend(figure)
    return figure


@styled
def draw_2(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 2 from its table."""
    figure, axes = _for_each_metric(table, note)
    styles = styles_of(table["recommender"])
    for panel, (_, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        draw_lines(panel, curves, "recommender", "negatives", "expected", styles, marked=True)
        panel.set(xscale="log", xlabel="negatives sampled, m")
        plain_numbers(panel.xaxis)
    add_legend(figure)
    return figure


@styled
def draw_3(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 3 from its table."""
    figure, axes = _for_each_metric(table, note)
    exact = table["negatives"].max()
    styles = styles_of(sorted(table["negatives"].unique(), reverse=True))
    for panel, (label, curves) in zip(axes, table.groupby("metric", sort=False), strict=True):
        draw_lines(
            panel,
            curves,
            "negatives",
            "rank",
            "expected",
            styles,
            lambda m: "exact" if m == str(exact) else f"m = {m}",
        )
        panel.set(xlabel="true rank", xlim=(0, curves["rank"].max()))
        by_rank = curves.groupby("rank")["expected"]
        spread = by_rank.max() - by_rank.min()
        if spread.max() < _SAME:
            panel.set_title(f"{metric_name(str(label))}: the same for all m")
    add_legend(figure)
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
    """
    figure, axes = panels(4, 2, 2.0, note, sharex="col", sharey="row")
    exact_first = table.sort_values("estimator", key=lambda label: label != "exact", kind="stable")
    styles = styles_of(exact_first["estimator"], estimators=True)
    for number, look in enumerate(styles.values()):
        look["markevery"] = (_APART * number, _SPACE)
    for panel, name in zip(axes, 2 * ("sampled", "expected"), strict=True):
        curves = exact_first[exact_first["panel"] == name]
        columns = ("estimator", "rank", "value")
        draw_lines(panel, curves, *columns, styles, estimator_name, marked=True)
        panel.set_xscale("log")
        plain_numbers(panel.xaxis)
    axes[0].set(title="on the sample", ylabel="corrected metric")
    axes[1].set(title="in expectation")
    axes[2].set(xlabel="rank in the sample", ylabel="magnified", ylim=MAGNIFIED)
    axes[3].set(xlabel="true rank")
    add_legend(figure, axes[1].get_legend_handles_labels()[0])
    return figure


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
