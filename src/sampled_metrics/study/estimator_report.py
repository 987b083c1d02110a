"""The report of an estimator study: the order of recommenders, the tables and the figure."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from sampled_metrics._drawing import WIDTH, estimator_styles, plain_numbers, styled, write_below
from sampled_metrics.estimators import estimator_name
from sampled_metrics.metrics.held_out import metric_name
from sampled_metrics.sampling.moments import EQUAL, probability_of_order
from sampled_metrics.study.page import Section, number
from sampled_metrics.study.stratified_study import STRATA

_COLUMNS = 4  # panels in a row

_BEHIND = {"color": "#cccccc", "linewidth": 0.7, "zorder": 1}

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
    """Add the key that pairs the samples of two recommenders: m of a fixed size, the same key for the others."""
    return table.assign(place=table["negatives"].where(table["sample"].isin(["fixed", STRATA]), 0.0))


def sections(compared: pd.DataFrame, ordered: pd.DataFrame) -> list[Section]:
    """Lay out error and order by sample size, the adaptive sample, samples from strata, then every metric.

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
    if (compared["sample"] == STRATA).any():
        beside = "Samples from strata, and uniform ones of equal cost"
        error = f"{beside}: root mean square error in per cent, mean over the recommenders"
        chance = f"{beside}: right order in per cent, mean over all pairs of recommenders"
        exact = compared[compared["exact"].notna()]
        found += [(error, _beside_uniform(exact, "rmse", 2)), (chance, _beside_uniform(ordered, "correct", 0))]
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


def _beside_uniform(cells: pd.DataFrame, column: str, digits: int) -> pd.DataFrame:
    """Lay out a mean by sample size: for each metric that of the best uniform estimator, and those from strata."""
    sizes = list(dict.fromkeys(cells.loc[cells["sample"] == STRATA, "negatives"]))
    rows = []
    for label in dict.fromkeys(cells["metric"]):
        uniform, strata = (
            cells[(cells["metric"] == label) & (cells["sample"] == sample)].pivot_table(
                index="estimator", columns="negatives", values=column, sort=False
            )[sizes]
            for sample in ("fixed", STRATA)
        )
        best = uniform.idxmin() if column == "rmse" else uniform.idxmax()
        shown = [
            f"{number(100 * uniform.loc[name, m], f'.{digits}f')} ({estimator_name(str(name))})"
            for m, name in best.items()
        ]
        rows.append([metric_name(str(label)), "uniform", "the best", *shown])
        for name, row in strata.iterrows():
            shown = [number(100 * value, f".{digits}f") for value in row]
            rows.append([metric_name(str(label)), "from strata", estimator_name(str(name)), *shown])
    return pd.DataFrame(rows, columns=["Metric", "Negatives", "Estimator", *(f"m = {m:g}" for m in sizes)])


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
def draw(compared: pd.DataFrame, ordered: pd.DataFrame, note: str = "") -> Figure:
    """Draw error and order by sample size: a panel for each estimator, with the others in grey, by ascending error.

    Args:
        compared: results of `study_estimators` of all recommenders, with a column recommender.
        ordered: result of `order`.
        note: the parameters, written below.
    """
    error = compared[compared["metric"].str.startswith("recall@1-")]
    what = metric_name(str(error["metric"].iloc[0]))
    parts = {
        f"a   error of {what} in %, by negatives m: lower is better": _curves(error, "error"),
        "b   right order of recommenders in %, by negatives m: higher is better": _curves(
            ordered[ordered["metric"] != "auc"], "correct"
        ),
    }
    order_of_panels = sorted(
        next(iter(parts.values())).items(),
        key=lambda item: (item[0] == "adaptive", np.nan_to_num(item[1].mean(), nan=np.inf)),
    )
    look = estimator_styles(label for label, _ in order_of_panels)
    rows = -(-len(look) // _COLUMNS)
    height = 0.75 * rows + 0.85
    # the usual layout takes seconds for so many panels
    figure = Figure(figsize=(WIDTH, 2 * height), layout="none")  # type: ignore[arg-type]
    halves: Any = figure.subfigures(len(parts))
    for part, (title, curves) in zip(halves, parts.items(), strict=True):
        axes = part.subplots(rows, min(len(look), _COLUMNS), sharex=True, sharey=True, squeeze=False).ravel()
        part.subplots_adjust(
            left=0.08, right=0.99, bottom=0.45 / height, top=1 - 0.45 / height, wspace=0.12, hspace=0.6
        )
        part.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize="medium")
        for panel, label in zip(axes, look, strict=False):
            for other, curve in curves.items():
                panel.plot(curve.index, curve, **look[other] if other == label else _BEHIND)
            panel.set_title(estimator_name(label), fontsize="small")
            if curves.get(label, pd.Series()).empty:
                panel.text(0.5, 0.5, "not defined", ha="center", fontsize="small", transform=panel.transAxes)
            panel.set_xscale("log")
            plain_numbers(panel.xaxis)
            panel.xaxis.set_minor_locator(NullLocator())
        if title.startswith("b"):
            axes[0].set_ylim(-5, 105)
        elif any((curve > 0).any() for curve in curves.values()):
            axes[0].set_yscale("log")
            plain_numbers(axes[0].yaxis)
            axes[0].yaxis.set_minor_locator(NullLocator())
        for panel in axes[len(look) :]:
            panel.remove()
    if note:
        write_below(figure, note)
    return figure


def _curves(table: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """Return the mean of a column in per cent by sample size, for each estimator; an adaptive sample has one size."""
    curves = {}
    for label, cells in table[table["sample"].isin(["fixed", "adaptive"])].groupby("estimator", sort=False):
        if label == "adaptive":
            cells = cells.assign(negatives=cells["negatives"].mean())
        curves[str(label)] = 100 * cells.groupby("negatives")[column].mean().dropna()
    return curves
