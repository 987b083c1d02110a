"""The report of an estimator study: the order of recommenders, the tables and the figure."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sampled_metrics._drawing import panels, plain_numbers, styled, styles
from sampled_metrics.estimators import estimator_name
from sampled_metrics.metrics.held_out import metric_name
from sampled_metrics.sampling.moments import EQUAL, probability_of_order
from sampled_metrics.study.page import Section, number

TITLE = "Estimators compared, by sample size"


def order(studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compute the probability that each estimator orders each pair of recommenders as the exact metric does.

    Args:
        studies: results of `study_estimators` by recommender.

    Returns:
        Columns sample, negatives (mean over the two), estimator, metric, worse, better, correct: the probability by the
        normal approximation, for independent samples. Pairs whose exact metrics are equal are left out.
    """
    rows: list[tuple[object, ...]] = []
    for one, other in combinations(studies, 2):
        pairs = [_with_place(studies[name].dropna(subset="exact")) for name in (one, other)]
        both = pairs[0].merge(pairs[1], on=["place", "sample", "estimator", "metric"], suffixes=("_one", "_other"))
        for row in both.itertuples(index=False):
            gap = row.exact_other - row.exact_one
            if abs(gap) > EQUAL:
                found = np.sign(gap) * (row.mean_other - row.mean_one)
                chance = probability_of_order(found, float(np.hypot(row.sd_one, row.sd_other)))
                worse, better = (one, other) if gap > 0 else (other, one)
                cost = (row.negatives_one + row.negatives_other) / 2
                rows.append((row.sample, cost, row.estimator, row.metric, worse, better, chance))
    columns = ["sample", "negatives", "estimator", "metric", "worse", "better", "correct"]
    return pd.DataFrame(rows, columns=columns)


def _with_place(table: pd.DataFrame) -> pd.DataFrame:
    """Add the key that pairs the samples of two recommenders: m of fixed samples, the same key for the others."""
    return table.assign(place=table["negatives"].where(table["sample"] == "fixed", 0.0))


def sections(compared: pd.DataFrame, ordered: pd.DataFrame) -> list[Section]:
    """Lay out error and order by sample size, the adaptive sample, then every metric.

    Args:
        compared: results of `study_estimators` of all recommenders, with a column recommender.
        ordered: result of `order`.
    """
    recall = compared[compared["metric"].str.startswith("recall@1-")]
    top = ordered[ordered["metric"] != "auc"]
    name = metric_name(str(recall["metric"].iloc[0]))
    error = f"Error of {name} in per cent: mean of |estimate - exact| / exact, over the recommenders"
    chance = "Right order in per cent: mean over all pairs of recommenders and all metrics but AUC"
    found = [
        (error, _by_size(recall[recall["sample"] == "fixed"], "error", 1)),
        (chance, _by_size(top[top["sample"] == "fixed"], "correct", 0)),
    ]
    if (compared["sample"] == "adaptive").any():
        found.append(("Adaptive sampling, and fixed samples of equal cost", _equal_cost(recall, top)))
    for label in dict.fromkeys(compared.loc[compared["exact"].notna(), "metric"]):
        cells = compared[(compared["metric"] == label) & (compared["sample"] == "fixed")]
        heading = f"{metric_name(str(label))} in per cent, by recommender: bias ± standard deviation"
        found.append((heading, _bias_and_deviation(cells)))
    return found


def _by_size(cells: pd.DataFrame, column: str, digits: int) -> pd.DataFrame:
    wide = cells.pivot_table(index="estimator", columns="negatives", values=column, sort=False, dropna=False)
    text = wide.map(lambda value: number(100 * value, f".{digits}f"))
    text.columns = [f"m = {m:g}" for m in text.columns]
    text.insert(0, "Estimator", [estimator_name(str(label)) for label in text.index])
    return text


def _equal_cost(recall: pd.DataFrame, top: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for sample in ("adaptive", "equal-cost"):
        errors = recall[recall["sample"] == sample]
        for label, cell in errors.groupby("estimator", sort=False):
            chances = top.loc[(top["sample"] == sample) & (top["estimator"] == label), "correct"]
            values = [number(100 * value, ".1f") for value in (cell["error"].mean(), chances.mean())]
            rows.append([estimator_name(str(label)), f"{cell['negatives'].mean():.0f}", *values])
    return pd.DataFrame(rows, columns=["Estimator", "Mean negatives", "Error", "Right order"])


def _bias_and_deviation(cells: pd.DataFrame) -> pd.DataFrame:
    sizes = list(dict.fromkeys(cells["negatives"]))
    rows = []
    for (recommender, label), cell in cells.groupby(["recommender", "estimator"], sort=False):
        row = cell.set_index("negatives").reindex(sizes)
        shown = [
            "-" if math.isnan(bias) else f"{100 * bias:+z.2f}±{100 * sd:.2f}"
            for bias, sd in zip(row["bias"], row["sd"], strict=True)
        ]
        rows.append([str(recommender), estimator_name(str(label)), *shown])
    return pd.DataFrame(rows, columns=["Recommender", "Estimator", *(f"m = {m:g}" for m in sizes)])


@styled
def draw(compared: pd.DataFrame, ordered: pd.DataFrame) -> Figure:
    """Draw error and order of every estimator by sample size, with up to eight estimators in each row of panels.

    Args:
        compared: results of `study_estimators` of all recommenders, with a column recommender.
        ordered: result of `order`.
    """
    error = compared[compared["metric"].str.startswith("recall@1-")]
    correct = ordered[ordered["metric"] != "auc"]
    labels = list(dict.fromkeys(compared.loc[compared["sample"] == "fixed", "estimator"]))
    rows = [labels[first : first + 8] for first in range(0, len(labels), 8)]
    figure, axes = panels(len(rows), 2, 3.4)
    for row, some in enumerate(rows):
        left, right = axes[2 * row : 2 * row + 2]
        for label, style in zip(some, styles(len(some), marked=True), strict=True):
            _by_negatives(left, error, "error", label, style)
            _by_negatives(right, correct, "correct", label, style)
        if (compared["sample"] == "adaptive").any() and row == len(rows) - 1:
            star = {"color": "#7F7F7F", "linestyle": "none", "marker": "*", "markersize": 9}
            _by_negatives(left, error, "error", "adaptive", star, "adaptive")
            _by_negatives(right, correct, "correct", "adaptive", star, "adaptive")
        name = metric_name(str(error["metric"].iloc[0]))
        left.set(xscale="log", xlabel="negatives sampled, m", ylabel=f"error of {name} in %")
        if any((np.asarray(line.get_ydata(), dtype=np.float64) > 0).any() for line in left.get_lines()):
            left.set_yscale("log")
        right.set(xscale="log", xlabel="negatives sampled, m", ylabel="right order in %", ylim=(-3, 103))
        right.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
        for axis in (left.xaxis, left.yaxis, right.xaxis):
            plain_numbers(axis)
    lowest, highest = zip(*(panel.get_ylim() for panel in axes[::2]), strict=True)
    for panel in axes[::2]:
        panel.set_ylim(min(lowest), max(highest))
    return figure


def _by_negatives(
    panel: Axes, table: pd.DataFrame, column: str, label: str, style: dict[str, Any], sample: str = "fixed"
) -> None:
    """Draw the mean of a column, over all other columns, by sample size."""
    cells = table[(table["sample"] == sample) & (table["estimator"] == label)]
    curve = 100 * cells.groupby("negatives")[column].mean().dropna()
    if sample != "fixed":
        curve = pd.Series({cells["negatives"].mean(): 100 * cells[column].mean()}).dropna()
    panel.plot(curve.index, curve, label=estimator_name(label), **style)
