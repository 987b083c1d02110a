"""Compute the expectation of a sampled evaluation from exact ranks, and whether it orders
recommenders wrongly.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._defaults import METRICS
from sampled_metrics._running import on_one_thread
from sampled_metrics.core.estimators import EstimatorsLike, estimators_by_label
from sampled_metrics.core.evaluation.evaluate import from_readers
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.expectation import DesignWeights, Expectation, mean_of_rows
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.calls import says_what_to_write
from sampled_metrics.core.ranks.runs import tables_by_name
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import EQUAL, probability_of_order


@says_what_to_write
@on_one_thread
def expect(
    ranks: Any,
    *,
    negatives: int,
    metrics: MetricsLike = METRICS,
    replacement: bool = False,
    estimators: EstimatorsLike = ("uncorrected",),
) -> Result:
    """Compute the exact expectation of an evaluation on sampled negatives; nothing is drawn.

    The expectation of an estimator with weights w is the mean over users of sum_x P(x | r_u) w_x
    (eq. 16). The weights are those of each user's own n, as in `correct`. A user with several rows
    counts once, with the mean over the rows.

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
        >>> [(row.recommender, round(row.exact, 3), round(row.expected,
        ...     3)) for row in result.itertuples()]
        [('X', 0.0, 1.0), ('Y', 0.333, 0.333)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    tables = {name or "ranks": table for name, table in tables_by_name(ranks, "expect").items()}
    by_label = metrics_by_label(metrics)
    chosen = estimators_by_label(estimators)
    wanted = tuple(by_label.values())
    rows = []
    design = SamplingDesign(negatives, replacement)
    weights = DesignWeights.from_tables(tables.values(), design, list(chosen.values()), wanted)
    for name, table in tables.items():
        user = table.user_numbers
        expectation = Expectation.from_ranks(table, user, weights)
        true = np.stack(
            [mean_of_rows(table.values(metric), user) for metric in wanted], axis=1
        ).mean(axis=0)
        expected = expectation.means.mean(axis=0)
        deviation = np.sqrt(expectation.variances.sum(axis=0)) / len(expectation.variances)
        rows += [
            (name, label, of_metric, *numbers)
            for (label, of_metric), *numbers in zip(
                product(chosen, by_label),
                np.tile(true, len(chosen)),
                expected,
                deviation,
                strict=True,
            )
        ]
    result = Result(
        rows, columns=["recommender", "estimator", "metric", "exact", "expected", "deviation"]
    )
    setting = Setting(
        parameters=next(iter(tables.values())).description, names=tuple(tables), negatives=negatives
    )
    wrong = wrong_orders(result)
    further = [Finding("order-undecided")] if wrong else []
    return result.found([*wrong, *further, *from_readers(tables.items())], setting)


def wrong_orders(table: pd.DataFrame) -> list[Finding]:
    """Return the pairs of recommenders that a sampled evaluation orders wrongly on average, the
    better one first.

    A pair is by an estimator and a metric, and the better one is so by the exact values.
    """
    findings = []
    for (label, metric_label), group in table.groupby(["estimator", "metric"], sort=False):
        for one, other in combinations(group.to_dict("records"), 2):
            better, worse = (one, other) if one["exact"] > other["exact"] else (other, one)
            gap = better["expected"] - worse["expected"]
            if better["exact"] - worse["exact"] > EQUAL and gap < -EQUAL:
                deviation = float(np.sqrt(better["deviation"] ** 2 + worse["deviation"] ** 2))
                values = {"estimator": str(label), "chance": probability_of_order(gap, deviation)}
                for what in ("exact", "expected"):
                    values |= {f"{what}_better": better[what], f"{what}_worse": worse[what]}
                names = better["recommender"], worse["recommender"]
                findings.append(Finding("wrong-order", str(metric_label), names, values=values))
    return findings
