"""Compute exact metrics of exact ranks, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._defaults import METRICS
from sampled_metrics.evaluation.intervals import (
    FEW_USERS,
    IntervalOptions,
    Progress,
    linear,
    no_progress,
    uncertainty,
)
from sampled_metrics.evaluation.result import Remark, Result
from sampled_metrics.evaluation.units import Units, units
from sampled_metrics.metrics.held_out import Metric, metric, metric_labels, metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike
from sampled_metrics.ranks.pairing import user_numbers
from sampled_metrics.ranks.table import RankTable, columns_or_table, rank_table


def evaluate(
    ranks: RanksLike,
    *,
    metrics: str | Sequence[str] = METRICS,
    candidates: PerUser | None = None,
    confidence_level: float = 0.95,
    method: str = "delta",
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Compute the exact metrics of ranks among all candidates, with intervals over users.

    The value of a metric is its mean over users, sum_u f(r_u) / U, where r_u is the rank of user u's held-out item. A
    user with several rows counts once, with the mean over the rows.

    Args:
        ranks: (users,) ranks of the held-out items, from 1, best first; or a DataFrame with the columns candidates and
            rank, or candidates, above and tied (ties count in expectation); or the path of a csv or parquet file of
            such columns; or a RankTable. A DataFrame with the column negatives raises an error, because its ranks are
            sampled.
        metrics: labels such as recall@10, ndcg@10, ap, mrr, auc, precision@5, hit-rate@10.
        candidates: (users,) or one number: n, the number of ranked items, including the held-out item. Leave it out if
            the ranks have this column. An array is in the order of the ranks. Only AUC depends on it.
        confidence_level: probability that the interval covers the mean over the population of users.
        method: delta (score interval with quantiles of Student's distribution; for recall@k it is Wilson's interval) or
            bootstrap (BCa). The page docs/reproduction/coverage.md shows how often the first hold the truth.
        n_resamples: bootstrap samples, from 100 to 1,000,000.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each metric, with the columns metric, value (a fraction), low and high (the ends of the interval),
        standard_error, users.

    Raises:
        DataError: the ranks are not exact ranks, or too few for an interval.
        ConfigError: a metric or an option does not exist, or a metric is repeated.

    Examples:
        The held-out items of five users are at the ranks 1, 4, 20, 3 and 50 of 100 candidates:

        >>> import sampled_metrics as sm
        >>> result = sm.evaluate([1, 4, 20, 3, 50], candidates=100, metrics=["recall@10", "auc"])
        >>> [(row.metric, row.value) for row in result.itertuples()]
        [('recall@10', 0.6), ('auc', 0.8525252525252525)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
    """
    given = columns_or_table(ranks, "ranks")
    table = rank_table(given, candidates)
    labels = metric_labels(metrics)
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    values, which = exact_outcomes(table, [metric(label) for label in labels])
    kinds = units((which, user_numbers(table), values.shape[1]))
    result = evaluate_units(values, kinds, labels, options, progress)
    return result.with_remarks(given.remarks)


def evaluate_units(
    values: Floats, kinds: Units, labels: Sequence[str], options: IntervalOptions, progress: Progress
) -> Result:
    """Return the result of `evaluate` from the (metrics, outcomes) values of metrics and the users by kind."""
    weights, bounds = kinds.weights(values), (0.0, largest_values([metric(label) for label in labels]))
    interval = uncertainty(linear(weights), kinds.counts, options, bounds=bounds, weights=weights, progress=progress)
    users = int(kinds.counts.sum())
    result = Result(
        {
            "metric": labels,
            "value": linear(weights)(kinds.counts[np.newaxis])[0],
            "low": interval.low,
            "high": interval.high,
            "standard_error": interval.standard_error,
            "users": users,
        }
    )
    result.attrs = {"confidence_level": options.confidence_level}
    return result.with_remarks([*undefined(result), *about_users(kinds)])


def largest_values(metrics: Sequence[Metric]) -> Floats:
    """Return the (metrics,) largest values, those of rank 1."""
    return np.array([float(metric.of_rank(1, 2)) for metric in metrics])


def undefined(table: Result, column: str = "value") -> list[Remark]:
    """Return a remark on metrics that are not defined."""
    return [
        Remark(f"{metric_name(label)} is not defined, as a user has only one candidate.", rows=(("metric", label),))
        for label in dict.fromkeys(table["metric"][np.isnan(table[column].to_numpy(dtype=float))])
    ]


def about_users(kinds: Units) -> list[str]:
    """Return remarks if users have several rows, or if there are too few users to rely on an interval."""
    remarks, users = [], int(kinds.counts.sum())
    if any((shares.data < 1).any() for shares in kinds.shares):
        remarks.append(
            "Some users have several rows. A user counts by the mean over the user's rows, each of one relevant item "
            "among irrelevant ones. Hit rate, NDCG or MAP of all items of a user together are others "
            "(docs/graded-metrics.md)."
        )
    if users < FEW_USERS:
        remarks.append(
            f"There are only {users} users. With fewer than {FEW_USERS}, intervals are rough: a few users who are "
            "unlike the others decide them."
        )
    return remarks


def exact_outcomes(table: RankTable, metrics: Sequence[Metric]) -> tuple[Floats, Ints]:
    """Return the (metrics, outcomes) values of the distinct rows of a table, and the (rows,) outcome of each row."""
    rows = np.stack((table.candidates, table.above, table.tied), axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    n, above, tied = distinct.T
    return np.stack([metric.over_ties(above, tied, n) for metric in metrics]), np.asarray(which).ravel()
