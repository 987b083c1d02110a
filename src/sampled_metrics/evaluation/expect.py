"""Compute the expectation of a sampled evaluation from exact ranks, and whether it orders recommenders wrongly."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from sampled_metrics._defaults import METRICS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import counted
from sampled_metrics.estimators import EstimatorsLike, estimator_name, estimators_by_label
from sampled_metrics.evaluation.result import Result
from sampled_metrics.inference.expectation import DesignWeights, Expectation, mean_of_rows
from sampled_metrics.metrics.metric import MetricsLike, metric_name, metrics_by_label
from sampled_metrics.ranks.given import cautions_of, tables_by_name
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, probability_of_order


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

    The expectation of an estimator with weights w is the mean over users of sum_x P(x | r_u) w_x (eq. 16). The weights
    are those of each user's own n, as in `correct`. A user with several rows counts once, with the mean over the rows.

    Args:
        ranks: an `ExactRanks`, as `exact_ranks` or `rank` returns it; or a mapping from the names of recommenders to
            them.
        negatives: m, the number of negatives to sample for each user.
        metrics: labels such as recall@10, ndcg@10, ap, auc.
        replacement: whether a negative may be sampled twice for the same user.
        estimators: labels of estimators that are linear in the sample; uncorrected is the sampled metric itself.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator, metric, exact,
        expected, deviation (standard deviation of one evaluation of these users). A remark names the recommenders that
        are ordered wrongly on average.

    Raises:
        DataError: the ranks are sampled, or have not been read by a reader; or a user has too few candidates to sample
            from.
        ConfigError: a metric or an estimator does not exist, is repeated, or is not linear in the sample; or
            negatives is not a whole number from 1.

    Examples:
        X ranks every held-out item at 30. Y ranks one of three first, and the others near the end. Y has the higher
        Recall@10, but with 100 sampled negatives X does:

        >>> import sampled_metrics as sm
        >>> ranks = sm.exact_ranks({"X": [30, 30, 30], "Y": [1, 900, 900]}, candidates=1000)
        >>> result = sm.expect(ranks, negatives=100, metrics="recall@10")
        >>> [(row.recommender, round(row.exact, 3), round(row.expected, 3)) for row in result.itertuples()]
        [('X', 0.0, 1.0), ('Y', 0.333, 0.333)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    tables = {name or "ranks": table for name, table in tables_by_name(ranks, "expect").items()}
    by_label, chosen = metrics_by_label(metrics), estimators_by_label(estimators)
    wanted, rows = tuple(by_label.values()), []
    design = SamplingDesign(negatives, replacement)
    weights = DesignWeights.from_tables(tables.values(), design, list(chosen.values()), wanted)
    for name, table in tables.items():
        user = table.user_numbers
        expectation = Expectation.from_ranks(table, user, weights)
        true = np.stack([mean_of_rows(table.values(metric), user) for metric in wanted], axis=1).mean(axis=0)
        expected = expectation.means.mean(axis=0)
        deviation = np.sqrt(expectation.variances.sum(axis=0)) / len(expectation.variances)
        rows += [
            (name, label, of_metric, *numbers)
            for (label, of_metric), *numbers in zip(
                product(chosen, by_label), np.tile(true, len(chosen)), expected, deviation, strict=True
            )
        ]
    result = Result(rows, columns=["recommender", "estimator", "metric", "exact", "expected", "deviation"])
    result.attrs = {"negatives": negatives, "parameters": next(iter(tables.values())).description}
    unused = dict.fromkeys(note for table in tables.values() for note in table.notes)
    wrong = list(wrong_orders(result, negatives).values())
    undecided = "An order by exact values may be undecided. compare says whether the exact ranks decide it."
    result = result.with_cautions(cautions_of(tables))
    return result.with_remarks([*wrong, *([undecided] if wrong else []), *unused])


def wrong_orders(table: Result, negatives: int) -> dict[tuple[str, str, str, str], str]:
    """Return sentences on the recommenders that a sampled evaluation orders wrongly on average.

    They are by estimator, metric, the better recommender and the worse one, by exact values.
    """
    sentences = {}
    for (label, metric_label), group in table.groupby(["estimator", "metric"], sort=False):
        for one, other in combinations(group.to_dict("records"), 2):
            better, worse = (one, other) if one["exact"] > other["exact"] else (other, one)
            gap = better["expected"] - worse["expected"]
            if better["exact"] - worse["exact"] > EQUAL and gap < -EQUAL:
                variance = better["deviation"] ** 2 + worse["deviation"] ** 2
                chance = probability_of_order(gap, float(np.sqrt(variance)))
                name, decimals = metric_name(str(metric_label)), "{:.4f} against {:.4f}"
                exact = decimals.format(better["exact"], worse["exact"])
                expected = decimals.format(better["expected"], worse["expected"])
                key = str(label), str(metric_label), better["recommender"], worse["recommender"]
                by = f"the uncorrected {name}" if label == "uncorrected" else f"{estimator_name(str(label))} of {name}"
                sentences[key] = (
                    f"Another order: by the exact {name}, {better['recommender']} is ahead of {worse['recommender']} "
                    f"({exact}). Among {counted(negatives, 'sampled negative')}, {by} puts {better['recommender']} "
                    f"behind {worse['recommender']} on average ({expected}). The chance of the exact order is "
                    f"{chance:.2f}."
                )
    return sentences
