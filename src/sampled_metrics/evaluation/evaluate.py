"""Exact metrics of exact ranks, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import labels_of
from sampled_metrics.evaluation.intervals import IntervalOptions, Progress, linear, uncertainty
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import Metric, metric
from sampled_metrics.ranks.frames import rank_table
from sampled_metrics.ranks.table import RankTable

METRICS = ("recall@10", "ndcg@10", "ap", "auc")
"""Metrics unless others are stated: those of the paper."""


def evaluate(
    ranks: Any,
    metrics: str | Sequence[str] = METRICS,
    *,
    candidates: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "bootstrap",
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = lambda blocks: blocks,
) -> Result:
    """Compute the exact metrics of ranks among all candidates, with intervals over users.

    Args:
        ranks: (users,) ranks of the held-out items, from 1, best first; or a DataFrame with the columns candidates and
            rank, or candidates, above and tied (ties count in expectation); or a RankTable. A DataFrame with the column
            negatives is refused, as its ranks are sampled ones.
        metrics: labels such as recall@10, ndcg@10, ap, mrr, auc, precision@5, hit-rate@10.
        candidates: (users,) or one number: n, how many items were ranked, the held-out one included; unless the ranks
            say it. A Series is matched by its index where the ranks say their users, by a column user or an index that
            is more than row numbers from 0. Only AUC depends on it.
        confidence: how often the interval is to cover the mean over the population that the users come from.
        interval: bootstrap (BCa) or delta (normal).
        resamples: bootstrap samples, from 100 to 1,000,000.
        seed: of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each metric, with the columns metric, value (the mean over users, a fraction), low, high (the ends of
        the interval), standard_error, users.

    Raises:
        DataError: the ranks are none, sampled, or too few for an interval.
        ConfigError: there is no such metric or interval, or a metric is there twice.
    """
    table = rank_table(ranks, candidates)
    metrics = labels_of(metrics, "metrics")
    wanted = [metric(label) for label in metrics]
    options = IntervalOptions(confidence, interval, resamples, seed)
    weights, counts = exact_outcomes(table, wanted)
    sure = uncertainty(linear(weights), counts, options, weights=weights, progress=progress)
    return Result(
        {
            "metric": list(metrics),
            "value": linear(weights)(counts[np.newaxis])[0],
            "low": sure.low,
            "high": sure.high,
            "standard_error": sure.standard_error,
            "users": len(table),
        }
    )


def exact_outcomes(table: RankTable, metrics: Sequence[Metric]) -> tuple[Floats, Ints]:
    """Return the (metrics, outcomes) values of the different users of a table, and how many there are of each."""
    rows = np.stack((table.candidates, table.above, table.tied), axis=1)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    n, above, tied = distinct.T
    return np.stack([each.over_ties(above, tied, n) for each in metrics]), counts
