"""Compute exact metrics of exact ranks, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampled_metrics._defaults import METRICS
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.evaluation.comparison import listed
from sampled_metrics.evaluation.result import Result, by_recommender
from sampled_metrics.inference.intervals import FEW_USERS, IntervalOptions, linear, uncertainty
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric, MetricsLike, alike, metric_name, metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.frames import Columns, PerUser, RanksLike
from sampled_metrics.ranks.judged_lists import Judgements, ListMetric, list_metrics
from sampled_metrics.ranks.read import Form, read_exact, recommenders
from sampled_metrics.ranks.sampled import SampledRanks


@on_one_thread
def evaluate(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    metrics: MetricsLike | None = None,
    candidates: PerUser | None = None,
    exact: bool = False,
    by: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    relevance: Any = None,
    relevant_from: float | None = None,
    confidence_level: float = 0.95,
    method: str = "delta",
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Compute the exact metrics of ranks among all candidates, or of ranked lists, with intervals over users.

    The value of a metric is its mean over users, sum_u f(r_u) / U, where r_u is the rank of user u's held-out item. A
    user with several rows counts once, with the mean over the rows. With `relevance`, the metric is that of a user's
    whole list.

    Args:
        ranks: (users,) ranks of the held-out items, from 1, best first; or a DataFrame with the columns candidates and
            rank, or candidates, above and tied (ties count in expectation); or the path of a csv or parquet file of
            such columns; or a ExactRanks. A DataFrame with the column negatives raises an error, because its ranks are
            sampled. With `relevance`, these are lists: a table with the columns user, item and score, or rank in place
            of score; or a dict {user: {item: score}}, as ranx and pytrec_eval have it.
        metrics: labels such as recall@10, ndcg@10, ap, mrr, auc, precision@5, hit-rate@10, f1@10. Of lists also
            ndcg-exp@10, with the gain 2^grade - 1, and dcg@10 and dcg-exp@10, but not auc. The default is recall@10,
            ndcg@10, ap, and auc, or mrr of lists. Labels come back as they are written. A metric of your own is a
            `Metric` in place of a label; lists have none.
        candidates: (users,) or one number: n, the number of ranked items, including the held-out item. Leave it out if
            the ranks have this column. An array is in the order of the ranks. Only AUC depends on it.
        exact: that the ranks are exact although no rank comes near n. Without it, ranks that end as among sampled
            negatives are refused, and the first remark is a caution if no rank is above a tenth of n
            (docs/how-to/tables.md). A ExactRanks, and the columns above and tied, are exact.
        by: the column of a table that names the recommenders of its rows. The result of several recommenders, named by
            this column, by `rank_column` or by a mapping from names to ranks, has a column recommender.
        rank_column: the column of ranks, if it has another name; or several, of one recommender each.
        zero_based: whether ranks start at 0, in place of 1.
        relevance: the judged items of users: a table with the columns user, item and relevance (a grade from 0), or a
            dict {user: {item: grade}}. Without the column relevance, all have grade 1. Other items have grade 0. Users
            of the lists without a judged item are left out; judged users without a list count as an empty one.
        relevant_from: the lowest relevant grade, for metrics other than NDCG and DCG. The default is any above 0.
        confidence_level: probability that the interval covers the mean over the population of users.
        method: delta (the likelihood ratio of a mean of values with bounds) or bootstrap (BCa, where it is wider). The
            page docs/coverage.md shows how often the first hold the truth.
        n_resamples: bootstrap samples, from 100 to 1,000,000.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each metric, with the columns metric, value (a fraction), low and high (the ends of the interval),
        standard_error, users.

    Raises:
        DataError: the ranks are not exact ranks, or too few for an interval; or a table of lists or of judged items has
            no number somewhere, or a user's item twice.
        ConfigError: a metric or an option does not exist, or a metric is repeated.

    Examples:
        The held-out items of five users are at the ranks 1, 4, 20, 3 and 50 of 100 candidates:

        >>> import sampled_metrics as sm
        >>> result = sm.evaluate([1, 4, 20, 3, 50], candidates=100, metrics=["recall@10", "auc"])
        >>> [(row.metric, row.value) for row in result.itertuples()]
        [('recall@10', 0.6), ('auc', 0.8525252525252525)]

        The lists of two users, of whom the second has two relevant items:

        >>> run = {"ann": {"film": 0.9, "song": 0.4}, "bob": {"film": 0.2, "book": 0.8, "song": 0.5}}
        >>> grades = {"ann": {"song": 3}, "bob": {"book": 1, "film": 2}}
        >>> result = sm.evaluate(run, relevance=grades, metrics=["ndcg@2", "map", "dcg@2"])
        >>> [(row.metric, round(row.value, 3)) for row in result.itertuples()]
        [('ndcg@2', 0.506), ('map', 0.667), ('dcg@2', 1.446)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
    """
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    check_relevance(relevance, {"relevant_from": relevant_from}, {"candidates": candidates, "exact": exact})
    form = Form(candidates, None, exact, False, by, rank_column, zero_based)
    if relevance is not None:
        of_lists, judged = list_metrics(metrics), Judgements.of(relevance, relevant_from)
        runs = recommenders(ranks, form)
        found = {name: _of_run(each, name, judged, of_lists, options, progress) for name, each in runs.items()}
        return by_recommender(found)
    wanted = metrics_by_label(METRICS if metrics is None else metrics)
    tables = read_exact(ranks, form)
    return by_recommender({name: _of_ranks(each, wanted, options, progress) for name, each in tables.items()})


def _of_ranks(table: ExactRanks, metrics: Mapping[str, Metric], options: IntervalOptions, progress: Progress) -> Result:
    """Return the result of `evaluate` of the ranks of a recommender."""
    wanted = list(metrics.values())
    values, which = exact_outcomes(table, wanted)
    by_outcome = users_by_outcome((which, table.user_numbers, values.shape[1]))
    result = _evaluate_users(values, largest_values(wanted), by_outcome, list(metrics), options, progress)
    result.attrs["parameters"] = table.description
    return result.with_remarks([*equal_metrics(metrics), *table.notes]).with_cautions(table.cautions)


def _of_run(
    run: Columns | ExactRanks | SampledRanks,
    name: str,
    judged: Judgements,
    metrics: Mapping[str, ListMetric],
    options: IntervalOptions,
    progress: Progress,
) -> Result:
    """Return the result of `evaluate` of the ranked lists of a recommender."""
    users = np.arange(len(judged.users))
    lists, remarks = judged.lists(run, name or "ranks")
    by_outcome, values = users_by_outcome((users, users, len(users))), judged.values(lists, metrics.values())
    result = _evaluate_users(values, judged.largest(metrics.values()), by_outcome, list(metrics), options, progress)
    return result.with_remarks([*judged.remarks, *remarks])


def _evaluate_users(
    values: Floats,
    largest: Floats,
    by_outcome: Users,
    labels: Sequence[str],
    options: IntervalOptions,
    progress: Progress,
) -> Result:
    """Return the result of `evaluate` from (metrics, outcomes) values, (metrics,) largest values, and users."""
    weights, bounds = by_outcome.weights(values), (0.0, largest)
    interval = uncertainty(
        linear(weights), by_outcome.counts, options, bounds=bounds, weights=weights, progress=progress
    )
    users = int(by_outcome.counts.sum())
    result = Result(
        {
            "metric": labels,
            "value": linear(weights)(by_outcome.counts[np.newaxis])[0],
            "low": interval.low,
            "high": interval.high,
            "standard_error": interval.standard_error,
            "users": users,
        }
    )
    result.attrs = {"confidence_level": options.confidence_level}
    return result.with_remarks([*undefined(result), *about_users(by_outcome)])


def check_relevance(relevance: Any, of_lists: Mapping[str, Any], of_ranks: Mapping[str, Any]) -> None:
    """Raise DataError if an argument that is for lists is given without relevance, or one for ranks with it."""
    for name, given in (of_lists if relevance is None else of_ranks).items():
        if given is not None and given is not False:
            kind = (
                "ranked lists, so it needs relevance" if relevance is None else "ranks, and relevance for ranked lists"
            )
            raise DataError(f"{name} is for {kind}")


def largest_values(metrics: Sequence[Metric]) -> Floats:
    """Return the (metrics,) largest values, those of rank 1."""
    return np.array([float(metric.of_rank(1, 2)) for metric in metrics])


def undefined(table: Result, column: str = "value") -> list[str]:
    """Return a remark on metrics that are not defined."""
    return [
        f"{metric_name(label)} is not defined, as a user has only one candidate."
        for label in dict.fromkeys(table["metric"][np.isnan(table[column].to_numpy(dtype=float))])
    ]


def equal_metrics(metrics: Mapping[str, Metric]) -> list[str]:
    """Return remarks on metrics that are the same for one relevant item."""
    return [
        f"{listed([metric_name(label) for label in labels])} are equal here, as ranks are of one relevant item, "
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
            "them of lists with relevance."
        )
    if users < FEW_USERS:
        remarks.append(
            f"There are only {users} users. With fewer than {FEW_USERS}, intervals are rough: a few users who are "
            "unlike the others decide them."
        )
    return remarks


def exact_outcomes(table: ExactRanks, metrics: Sequence[Metric]) -> tuple[Floats, Ints]:
    """Return the (metrics, outcomes) values of the distinct rows of a table, and the (rows,) outcome of each row."""
    rows = np.stack((table.candidates, table.above, table.tied), axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    n, above, tied = distinct.T
    return np.stack([metric.over_ties(above, tied, n) for metric in metrics]), np.asarray(which).ravel()
