"""Compute the expectation of a sampled evaluation from exact ranks.

A finding names the recommenders that it orders wrongly on average.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._defaults import DEFAULT_METRICS
from sampled_metrics.core.estimators import EstimatorsLike, estimators_by_label
from sampled_metrics.core.evaluation.evaluate import from_readers
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.evaluation.values import mean_by_user
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.expectation import expectations
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.runs import tables_by_name
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import EQUAL, probability_of_order
from sampled_metrics.running import on_one_thread


@on_one_thread
def expect(
    ranks: Any,
    *,
    negatives: int,
    metrics: MetricsLike = DEFAULT_METRICS,
    replacement: bool = False,
    estimators: EstimatorsLike = ("uncorrected",),
) -> Result:
    """Compute the exact expectation of an evaluation on sampled negatives; nothing is drawn.

    The expectation of an estimator with weights w is the mean over users of sum_x P(x | r_u) w_x
    (eq. 16). Each user has the weights of the user's own n, as in `correct`. A user with several
    rows counts once, with the mean over the rows.

    Args:
        ranks: an `ExactRanks`, as `exact_ranks` or `rank` returns it; or a mapping from the names
            of recommenders to them.
        negatives: m, the number of negatives to sample for each user.
        metrics: labels such as recall@10, ndcg@10, ap, auc.
        replacement: whether a negative may be sampled twice for the same user.
        estimators: labels of estimators that are linear in the sample; uncorrected is the sampled
            metric itself.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator,
        metric, exact, expected, deviation (standard deviation of one evaluation of these users). A
        remark names the recommenders that are ordered wrongly on average.

    Raises:
        DataError: the ranks are sampled, or have not been read by a reader; or a user has too few
            candidates to sample from.
        ConfigError: a metric or an estimator does not exist, is repeated, or is not linear in the
            sample; or negatives is not a whole number from 1.

    Examples:
        X ranks every held-out item at 30. Y ranks one of three first, and the others near the end.
        Y has the higher Recall@10, but with 100 sampled negatives X does:

        >>> import sampled_metrics as sm
        >>> ranks = sm.exact_ranks({"X": [30, 30, 30], "Y": [1, 900, 900]}, candidates=1000)
        >>> result = sm.expect(ranks, negatives=100, metrics="recall@10")
        >>> result[["recommender", "exact", "expected"]].round(3).values.tolist()
        [['X', 0.0, 1.0], ['Y', 0.333, 0.333]]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    # --- read and check
    tables = {name or "ranks": table for name, table in tables_by_name(ranks, "expect").items()}
    by_label = metrics_by_label(metrics)
    measures = tuple(by_label.values())
    chosen = estimators_by_label(estimators)
    design = SamplingDesign(negatives, replacement)
    moments = expectations([*tables.values()], design, [*chosen.values()], measures)

    # --- rows, by estimator and metric
    rows = list[dict[str, Any]]()
    for (name, table), (means, variances) in zip(tables.items(), moments, strict=True):
        user = table.user_numbers
        values = np.stack([table.values(metric) for metric in measures])
        exact = np.tile(mean_by_user(values, user).mean(axis=1), len(chosen))
        expected = mean_by_user(means.T, user).mean(axis=1)
        # the variance of a user's mean is that of a row over the number of rows
        variances_of_users = mean_by_user(variances.T / np.bincount(user)[user], user)
        deviation = np.sqrt(variances_of_users.sum(axis=1)) / variances_of_users.shape[1]
        for index, (label, metric_label) in enumerate(product(chosen, by_label)):
            rows.append(
                {
                    "recommender": name,
                    "estimator": label,
                    "metric": metric_label,
                    "exact": exact[index],
                    "expected": expected[index],
                    "deviation": deviation[index],
                }
            )
    result = Result(rows)

    # --- findings
    findings = wrong_orders(result, negatives)
    if findings:
        findings.append(Finding("order-undecided"))
    findings += from_readers(tables.items())
    description = next(iter(tables.values())).description
    setting = Setting(parameters=description, names=tuple(tables), negatives=negatives)
    return result.found(findings, setting)


def wrong_orders(table: pd.DataFrame, negatives: int) -> list[Finding]:
    """Return the pairs of recommenders that a sampled evaluation orders wrongly on average.

    A pair has an estimator and a metric, and the better recommender is the one with the larger
    exact value.
    """
    findings = []
    for (label, metric_label), group in table.groupby(["estimator", "metric"], sort=False):
        for row_a, row_b in combinations(group.to_dict("records"), 2):
            better, worse = (row_a, row_b) if row_a["exact"] > row_b["exact"] else (row_b, row_a)
            gap = better["expected"] - worse["expected"]
            if better["exact"] - worse["exact"] > EQUAL and gap < -EQUAL:
                deviation = float(np.sqrt(better["deviation"] ** 2 + worse["deviation"] ** 2))
                values = {
                    "estimator": str(label),
                    "negatives": negatives,
                    "chance": probability_of_order(gap, deviation),
                    "exact_better": better["exact"],
                    "exact_worse": worse["exact"],
                    "expected_better": better["expected"],
                    "expected_worse": worse["expected"],
                }
                names = (better["recommender"], worse["recommender"])
                findings.append(Finding("wrong-order", str(metric_label), names, values=values))
    return findings
