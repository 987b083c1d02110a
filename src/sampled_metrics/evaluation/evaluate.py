"""Compute exact metrics of exact ranks or ranked lists, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import enumerated
from sampled_metrics.evaluation.by_group import by_group
from sampled_metrics.evaluation.result import Result, by_recommender
from sampled_metrics.inference.intervals import FEW_USERS, IntervalOptions, evaluated, linear, uncertainty
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric, MetricsLike, alike, metric_name, metrics_by_label
from sampled_metrics.ranks.given import tables_by_name
from sampled_metrics.ranks.groups import Groups
from sampled_metrics.ranks.table import Table


@on_one_thread
def evaluate(
    ranks: Any,
    *,
    metrics: MetricsLike | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
    method: str = "delta",
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Compute the exact metrics of ranks among all candidates, or of ranked lists, with intervals over users.

    The value of a metric is its mean over users, sum_u f(r_u) / U, where r_u is the rank of user u's held-out item. A
    user with several rows counts once, with the mean over the rows. The metric of ranked lists is that of a user's
    whole list.

    Args:
        ranks: an `ExactRanks`, as `exact_ranks` or `rank` returns it, a `StagedRanks`, as `staged_ranks` does, or a
            `RankedLists`, as `ranked_lists` does; or a mapping from the names of recommenders to them.
        metrics: labels such as recall@10, ndcg@10, ap, mrr, auc, precision@5, hit-rate@10, f1@10. Of lists also
            ndcg-exp@10, with the gain 2^grade - 1, and dcg@10 and dcg-exp@10, but not auc. The default is recall@10,
            ndcg@10, ap, and auc, or mrr of lists. Labels come back as they are written. A metric of your own is a
            `Metric` in place of a label; lists have none.
        groups: True for rows by the groups that the reader kept (its argument groups), or a mapping from users to the
            names of their groups. A user with held-out items of several groups counts in each, by the rows of it.
        confidence_level: probability that the interval covers the mean over the population of users.
        method: delta (the likelihood ratio of a mean of values with bounds) or bootstrap (BCa, where it is wider). The
            page docs/coverage.md shows how often the intervals of delta hold the truth.
        n_resamples: bootstrap samples, from 100 to 1,000,000.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each metric, with the columns metric, value (a fraction), low and high (the ends of the interval),
        standard_error, users. The result of a mapping has a first column recommender. With groups there is a column
        group, which is "all" for all rows together; groups of fewer than two users are left out, and a remark names
        them.

    Raises:
        DataError: the ranks are sampled, or have not been read by a reader, or there are too few for an interval.
        ConfigError: a metric or an option does not exist, or a metric is repeated.

    Examples:
        The held-out items of five users are at the ranks 1, 4, 20, 3 and 50 of 100 candidates:

        >>> import sampled_metrics as sm
        >>> ranks = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
        >>> result = sm.evaluate(ranks, metrics=["recall@10", "auc"])
        >>> [(row.metric, row.value) for row in result.itertuples()]
        [('recall@10', 0.6), ('auc', 0.8525252525252525)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
    """
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    tables = tables_by_name(ranks, "evaluate")
    return by_recommender(
        {
            name: by_group(table, name, groups, lambda part: _evaluate(part, metrics, options, progress))
            for name, table in tables.items()
        }
    )


def _evaluate(table: Table, metrics: MetricsLike | None, options: IntervalOptions, progress: Progress) -> Result:
    """Return the result of `evaluate` of a recommender."""
    by_label = checked_metrics(table, metrics)
    of_table = table.outcome_values(list(by_label.values()))
    by_outcome = users_by_outcome((of_table.outcome, table.user_numbers, of_table.values.shape[1]))
    weights, bounds = by_outcome.weights(of_table.values), (of_table.least, of_table.most)
    values = evaluated(linear(weights), by_outcome.counts, options, weights, progress)
    interval = uncertainty(values, by_outcome.counts, options, bounds=bounds, weights=weights)
    result = Result(
        {
            "metric": list(by_label),
            "value": values.estimate,
            "low": np.maximum(interval.low, 0.0),
            "high": np.minimum(interval.high, of_table.largest),
            "standard_error": interval.standard_error,
            "users": int(by_outcome.counts.sum()),
        }
    )
    if reason := table.without_interval():
        result = result.assign(low=np.nan, high=np.nan).with_cautions([reason])
    result.attrs = {"confidence_level": options.confidence_level}
    if table.description:
        result.attrs["parameters"] = table.description
    result = result.with_remarks([*undefined(result), *about_users(by_outcome), *equal_metrics(table, by_label)])
    return result.with_remarks(table.notes).with_cautions(table.cautions)


def checked_metrics(table: Table, metrics: MetricsLike | None) -> dict[str, Metric]:
    """Return the metrics of a table by their labels as written; None stands for the default ones.

    Raises:
        ConfigError: there are none, one is unknown or not of such a table, or two are the same.
    """
    by_label = metrics_by_label(table.default_metrics if metrics is None else metrics)
    table.check_metrics(by_label)
    return by_label


def undefined(table: Result, column: str = "value") -> list[str]:
    """Return a remark on metrics that are not defined."""
    return [
        f"{metric_name(label)} is not defined, as a user has only one candidate."
        for label in dict.fromkeys(table["metric"][np.isnan(table[column].to_numpy(dtype=float))])
    ]


def equal_metrics(table: Table, metrics: Mapping[str, Metric]) -> list[str]:
    """Return remarks on metrics that are the same for one relevant item."""
    if not table.has_one_relevant_item:
        return []
    return [
        f"{enumerated([metric_name(label) for label in labels])} are equal here, as ranks are of one relevant item, "
        "with grade 1."
        for labels in alike(metrics)
    ]


def about_users(by_outcome: Users) -> list[str]:
    """Return remarks if users have several rows, or if there are too few users to rely on an interval."""
    remarks, users = [], int(by_outcome.counts.sum())
    if any((shares.data < 1).any() for shares in by_outcome.shares):
        remarks.append(
            "Some users have several rows. A user counts by the mean over the user's rows, each of one relevant item "
            "among irrelevant ones. Hit rate, NDCG or MAP of all items of a user together are others: `evaluate` has "
            "them of ranked lists."
        )
    if users < FEW_USERS:
        remarks.append(
            f"There are only {users} users. With fewer than {FEW_USERS}, intervals are rough: a few users who are "
            "unlike the others decide them."
        )
    return remarks
