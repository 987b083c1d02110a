"""Compute the expectation of a sampled evaluation from exact ranks, and whether it orders recommenders wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from sampled_metrics._defaults import METRICS
from sampled_metrics.estimators import estimator_labels, estimator_name
from sampled_metrics.evaluation.expectation import Expectation, mean_of_rows, shared_covariances
from sampled_metrics.evaluation.result import Remark, Result
from sampled_metrics.metrics.held_out import metric, metric_labels, metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike, named_ranks
from sampled_metrics.ranks.pairing import pair_users, user_numbers
from sampled_metrics.ranks.table import columns_or_table, rank_table
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, probability_of_order


def expect(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    negatives: int,
    metrics: str | Sequence[str] = METRICS,
    replacement: bool = False,
    estimators: str | Sequence[str] = ("uncorrected",),
    candidates: PerUser | None = None,
    shared_negatives: float | None = None,
) -> Result:
    """Compute the exact expectation of an evaluation on sampled negatives; nothing is drawn.

    The expectation of an estimator with weights w is the mean over users of sum_x P(x | r_u) w_x (eq. 16). The weights
    are those of each user's own n, as in `correct`. A user with several rows counts once, with the mean over the rows.

    Args:
        ranks: exact ranks, as in `evaluate`; or a mapping from the names of recommenders to their ranks. Names must
            differ as text.
        negatives: m, the number of negatives to sample for each user.
        metrics: labels, as of `evaluate`.
        replacement: whether a negative may be sampled twice for the same user.
        estimators: labels of estimators that are linear in the sample; uncorrected is the sampled metric itself.
        candidates: (users,) or one number: n. Leave it out if the ranks have this column.
        shared_negatives: None if each recommender has negatives of its own, or how much the recommenders agree if all
            rank the same negatives of a user: from 0 (the items above the held-out item by one are a random part of
            all items for the other) to 1 (one set of items above contains the other). This changes the chances in the
            remarks, and not the columns.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator, metric, exact,
        expected, deviation (standard deviation of one evaluation of these users). A remark names the recommenders that
        are ordered wrongly on average.

    Raises:
        DataError: the ranks are not exact ranks, two recommenders have the same name, or a user has too few candidates
            to sample from.
        ConfigError: a metric or an estimator does not exist, is repeated, or is not linear in the sample; or
            negatives is not a whole number from 1.

    Examples:
        X ranks every held-out item at 30. Y ranks one of three first, and the others near the end. Y has the higher
        Recall@10, but with 100 sampled negatives X does:

        >>> import sampled_metrics as sm
        >>> result = sm.expect(
        ...     {"X": [30, 30, 30], "Y": [1, 900, 900]}, negatives=100, candidates=1000, metrics="recall@10"
        ... )
        >>> [(row.recommender, round(row.exact, 3), round(row.expected, 3)) for row in result.itertuples()]
        [('X', 0.0, 1.0), ('Y', 0.333, 0.333)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
    """
    given = {name: columns_or_table(each, name) for name, each in named_ranks(ranks).items()}
    tables = {name: rank_table(each, candidates, name) for name, each in given.items()}
    labels, estimators = metric_labels(metrics), estimator_labels(estimators)
    wanted, design = tuple(metric(label) for label in labels), SamplingDesign(negatives, replacement)
    rows, expectations = [], {}
    for name, table in tables.items():
        user = user_numbers(table)
        exact = [float(mean_of_rows(table.values(each), user).mean()) for each in wanted]
        expectations[name] = each = Expectation.of(table, user, design, estimators, wanted)
        expected, deviation = each.means.mean(axis=0), np.sqrt(each.variances.sum(axis=0)) / len(each.means)
        moments = zip(expected, deviation, strict=True)
        rows += [
            (name, label, of_metric, true, *next(moments))
            for label in estimators
            for of_metric, true in zip(labels, exact, strict=True)
        ]
    result = Result(rows, columns=["recommender", "estimator", "metric", "exact", "expected", "deviation"])
    result.attrs = {"negatives": negatives}
    columns = [(label, of_metric) for label in estimators for of_metric in labels]

    def covariance(one: str, other: str, label: str, of_metric: str) -> float:
        if shared_negatives is None:
            return 0.0
        pairs = pair_users(tables[one], tables[other], (one, other))
        both = expectations[one], expectations[other]
        of_users = shared_covariances(*both, pairs, shared_negatives)[:, columns.index((label, of_metric))]
        return float(of_users.sum() / len(of_users) ** 2)

    unused = dict.fromkeys(remark for each in given.values() for remark in each.remarks)
    return result.with_remarks([*_wrong_orders(result, negatives, covariance), *unused])


def _wrong_orders(
    table: Result, negatives: int, covariance: Callable[[str, str, str, str], float]
) -> list[Remark | str]:
    """Return sentences on the recommenders that a sampled evaluation orders wrongly on average."""
    remarks: list[Remark | str] = []
    for (label, metric_label), group in table.groupby(["estimator", "metric"], sort=False):
        for one, other in combinations(group.to_dict("records"), 2):
            better, worse = (one, other) if one["exact"] > other["exact"] else (other, one)
            gap = better["expected"] - worse["expected"]
            if better["exact"] - worse["exact"] > EQUAL and gap < -EQUAL:
                shared = covariance(better["recommender"], worse["recommender"], str(label), str(metric_label))
                variance = better["deviation"] ** 2 + worse["deviation"] ** 2 - 2 * shared
                chance = probability_of_order(gap, float(np.sqrt(max(variance, 0.0))))
                sentence = (
                    f"Wrong order: {better['recommender']} is better than {worse['recommender']} on "
                    f"{metric_name(str(metric_label))} ({better['exact']:.4f} against {worse['exact']:.4f}), but among "
                    f"{negatives} sampled negatives {estimator_name(str(label))} says {better['expected']:.4f} against "
                    f"{worse['expected']:.4f}, and is right with a chance of {chance:.2f}."
                )
                here = ("estimator", label), ("metric", metric_label)
                rows, others = ((("recommender", each["recommender"]), *here) for each in (better, worse))
                remarks.append(Remark(sentence, rows=rows, others=others))
    return remarks
