"""The report of an estimator study: the order of recommenders, the tables and the figure."""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from sampled_metrics.estimators import estimator_name
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.rendering.drawing import panels, plain_numbers, styled, styles
from sampled_metrics.rendering.tables import Section, number
from sampled_metrics.sampling.draws import probability_of_order
from sampled_metrics.study.pairs import worse_and_better

TITLE = "Estimators compared, by sample size"


def order_probabilities(studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the probability that each estimator orders each pair of recommenders as the exact metric does.

    Args:
        studies: results of `study_estimators` by recommender.

    Returns:
        Columns negatives, estimator, metric, worse, better, correct: the probability by the normal
        approximation, for independent samples. Pairs whose exact metrics are equal are left out.
    """
    rows: list[tuple[object, ...]] = []
    for one, other in combinations(studies, 2):
        study, other_study = (studies[name].dropna(subset="exact") for name in (one, other))
        both = study.merge(other_study, on=["negatives", "estimator", "metric"], suffixes=("_one", "_other"))
        for row in both.itertuples(index=False):
            pair = worse_and_better(one, other, {one: row.exact_one, other: row.exact_other})
            if pair is not None:
                gap = row.mean_other - row.mean_one if pair == (one, other) else row.mean_one - row.mean_other
                correct = probability_of_order(gap, float(np.hypot(row.sd_one, row.sd_other)))
                rows.append((row.negatives, row.estimator, row.metric, *pair, correct))
    columns = ["negatives", "estimator", "metric", "worse", "better", "correct"]
    return pd.DataFrame(rows, columns=columns)


def sections(compared: pd.DataFrame, ordered: pd.DataFrame) -> list[Section]:
    """Lay out the error and the right order by sample size, then every metric.

    Args:
        compared: results of `study_estimators` of all recommenders, with a column recommender.
        ordered: result of `order_probabilities`.
    """
    recall = compared[compared["metric"].str.startswith("recall@1-")]
    top = ordered[ordered["metric"] != "auc"]
    name = metric_name(str(recall["metric"].iloc[0]))
    error = f"Error of {name} in per cent: mean of |estimate - exact| / exact, over the recommenders"
    correct = "Right order in per cent: mean over all pairs of recommenders and all metrics but AUC"
    tables = [
        (error, _by_size(recall, "error", 1)),
        (correct, _by_size(top, "correct", 0)),
    ]
    for label in dict.fromkeys(compared.loc[compared["exact"].notna(), "metric"]):
        cells = compared[compared["metric"] == label]
        heading = f"{metric_name(str(label))} in per cent, by recommender: bias ± standard deviation"
        tables.append((heading, _bias_and_deviation(cells)))
    return tables


def _means(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the mean of a column: a row for each estimator, a column for each sample size."""
    return cells.pivot_table(index="estimator", columns="negatives", values=column, sort=False, dropna=False)


def _by_size(cells: pd.DataFrame, column: str, digits: int) -> pd.DataFrame:
    text = _means(cells, column).map(lambda value: number(100 * value, f".{digits}f"))
    text.columns = [f"m = {m:g}" for m in text.columns]
    text.insert(0, "Estimator", [estimator_name(str(label)) for label in text.index])
    return text


def _bias_and_deviation(cells: pd.DataFrame) -> pd.DataFrame:
    sizes = list(dict.fromkeys(cells["negatives"]))
    rows = []
    for (recommender, label), cell in cells.groupby(["recommender", "estimator"], sort=False):
        by_size = cell.set_index("negatives").reindex(sizes)
        texts = [
            "-" if math.isnan(bias) else f"{100 * bias:+z.2f}±{100 * sd:.2f}"
            for bias, sd in zip(by_size["bias"], by_size["sd"], strict=True)
        ]
        rows.append([str(recommender), estimator_name(str(label)), *texts])
    return pd.DataFrame(rows, columns=["Recommender", "Estimator", *(f"m = {m:g}" for m in sizes)])


@styled
def draw(compared: pd.DataFrame, ordered: pd.DataFrame, note: str = "") -> Figure:
    """Draw error and right order: a row for each estimator, a mark for each sample size. The smallest error is on top.

    Without pairs of recommenders there is no panel of right orders.

    Args:
        compared: results of `study_estimators` of all recommenders, with a column recommender.
        ordered: result of `order_probabilities`.
        note: the parameters, written below.
    """
    recall = compared[compared["metric"].str.startswith("recall@1-")]
    errors = 100 * _means(recall, "error")
    correct = 100 * _means(ordered[ordered["metric"] != "auc"], "correct")
    labels = errors.mean(axis=1).sort_values(ascending=False, na_position="first").index
    shown = [errors, correct] if len(ordered) else [errors]
    figure, axes = panels(len(shown), 2, 1.5 + 0.2 * len(labels), note, sharey=True)
    for panel, values in zip(axes, shown, strict=True):
        for (m, column), look in zip(values.items(), styles(len(values.columns), marked=True), strict=True):
            marks = column.reindex(labels)
            panel.plot(marks, range(len(labels)), label=f"m = {m:g}", **look | {"linestyle": "none"})
    left = axes[0]
    left.set_yticks(range(len(labels)), [estimator_name(str(label)) for label in labels])
    left.set_xlabel(f"error of {metric_name(str(recall['metric'].iloc[0]))} in %")
    for panel in axes[1:]:
        panel.set(xlabel="right order in %", xlim=(-5, 105))
    if (errors > 0).any(axis=None):
        left.set_xscale("log")
        plain_numbers(left.xaxis)
        left.xaxis.set_minor_locator(NullLocator())
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=4, handlelength=1)
    return figure
