"""Whether one recommender is really better than another one, paired by user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import label_of, labels_of, names_of_two
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import LinearEstimate, estimator, estimator_name
from sampled_metrics.evaluation.evaluate import METRICS
from sampled_metrics.evaluation.intervals import (
    IntervalOptions,
    Progress,
    Statistic,
    Uncertainty,
    in_blocks,
    linear,
    uncertainty,
)
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import Metric, metric, metric_name
from sampled_metrics.ranks.frames import places_of_users, rank_table, refuse_cut_rows
from sampled_metrics.ranks.frames import sampled_ranks as as_sampled
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.sampling.outcomes import Outcomes

COLUMNS = ("metric", "difference", "low", "high", "probability", "conclusion", "users")
"""Columns of the result besides those that bear the names of the recommenders."""


@dataclass(frozen=True)
class _Pairs:
    """Users by what they show of the two recommenders.

    Attributes:
        counts: (pairs of outcomes,) users.
        one: counts of pairs → (samples, metrics) estimates of the first recommender.
        other: the same of the second one.
        weights: (metrics, pairs) what a user with that pair counts in the difference, if the estimates are linear.
    """

    counts: Ints
    one: Statistic
    other: Statistic
    weights: Floats | None


def compare(
    a: Any,
    b: Any,
    metrics: str | Sequence[str] = METRICS,
    *,
    candidates: ArrayLike | None = None,
    negatives: ArrayLike | None = None,
    replacement: bool = False,
    estimator: str | None = None,
    names: tuple[str, str] = ("A", "B"),
    confidence: float = 0.95,
    interval: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = lambda blocks: blocks,
) -> Result:
    """Compare two recommenders on the same users, by exact or by sampled ranks.

    Args:
        a: ranks of the first recommender: exact ones as of `evaluate`, or sampled ones as of `correct`.
        b: ranks of the second one, of the same users: matched by user where both have a column user or an index that
            is more than row numbers from 0, and by their order where not.
        metrics: labels, as of `evaluate`.
        candidates: (users,) or one number: n, unless the ranks say it. A Series is matched with the users by its index.
        negatives: (users,) or one number: m; ranks are sampled if it is given, here or as a column, and exact if not.
        replacement: whether a negative could be sampled twice for the same user.
        estimator: label of the estimator that corrects sampled ranks; bv-0.1 unless stated, which orders best among 100
            negatives (docs/which-estimator.md).
        names: what to call the two; not as a column of the result.
        confidence: how often the interval is to cover the difference; 1 - confidence is the chance of a false alarm,
            for each metric.
        interval: delta (normal) or bootstrap (BCa, of users with both of their ranks). Delta unless stated, but for
            estimators that are not linear in the sample: the bootstrap is too narrow where few users make up the
            difference, and then raises more false alarms than it says (docs/reproduction/coverage.md).
        resamples: bootstrap samples, from 100 to 1,000,000.
        seed: of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each metric, with the columns metric, the two names (values), difference (second less first), low,
        high, probability (that the second is better, from 0 to 1, as far as the estimator can tell), conclusion (a
        name, or undecided), users. The remarks say it in sentences.

    Raises:
        DataError: the ranks are none, their users or a user's candidates differ, or the estimator is not valid for
            them.
        ConfigError: there is no such metric, estimator or interval, or a metric is there twice.
    """
    names = names_of_two(names)
    if taken := [name for name in names if name in COLUMNS]:
        raise DataError(f"a recommender cannot be called {taken[0]!r}: that is another column of the result")
    metrics = labels_of(metrics, "metrics")
    wanted = [metric(label) for label in metrics]
    sampled = negatives is not None or any("negatives" in getattr(each, "columns", ()) for each in (a, b))
    if not sampled and estimator is not None:
        raise DataError("an estimator corrects sampled ranks: say how many negatives were sampled, too")
    label = "bv-0.1" if estimator is None else label_of(estimator, "estimator")
    refuse_cut_rows(a, b, names)
    if sampled:
        pairs = _sampled_pairs(a, b, wanted, candidates, negatives, replacement, label, names)
    else:
        pairs = _exact_pairs(a, b, wanted, candidates, names)

    method = ("bootstrap" if pairs.weights is None else "delta") if interval is None else interval
    options = IntervalOptions(confidence, method, resamples, seed)

    def difference(counts: np.ndarray) -> Floats:
        return pairs.other(counts) - pairs.one(counts)

    sure = uncertainty(difference, pairs.counts, options, weights=pairs.weights, progress=progress)
    of_a, of_b = (each(pairs.counts[np.newaxis])[0] for each in (pairs.one, pairs.other))
    table = Result(
        {
            "metric": list(metrics),
            names[0]: of_a,
            names[1]: of_b,
            "difference": of_b - of_a,
            "low": sure.low,
            "high": sure.high,
            "probability": sure.positive,
            "conclusion": _conclusions(sure, names),
            "users": int(pairs.counts.sum()),
        }
    )
    return table.with_remarks(_sentences(table, names, confidence, label if sampled else None))


def _exact_pairs(
    a: Any, b: Any, metrics: Sequence[Metric], candidates: ArrayLike | None, names: tuple[str, str]
) -> _Pairs:
    one, other = rank_table(a, candidates, names[0]), rank_table(b, candidates, names[1])
    other = other.rows(places_of_users(one, other, names))
    columns = one.candidates, one.above, one.tied, other.above, other.tied
    distinct, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    n, above, tied, other_above, other_tied = distinct.T
    of_one = np.stack([each.over_ties(above, tied, n) for each in metrics])
    of_other = np.stack([each.over_ties(other_above, other_tied, n) for each in metrics])
    return _Pairs(counts, linear(of_one), linear(of_other), of_other - of_one)


def _sampled_pairs(
    a: Any,
    b: Any,
    metrics: Sequence[Metric],
    candidates: ArrayLike | None,
    negatives: ArrayLike | None,
    replacement: bool,
    label: str,
    names: tuple[str, str],
) -> _Pairs:
    one, other = as_sampled(a, candidates, negatives, names[0]), as_sampled(b, candidates, negatives, names[1])
    order = places_of_users(one, other, names)
    of_one, which_one = Outcomes.observed(one.x, one.negatives, one.candidates, replacement=replacement)
    of_other, which_other = Outcomes.observed(
        other.x[order], other.negatives[order], other.candidates[order], replacement=replacement
    )
    pairs, counts = np.unique(np.stack((which_one, which_other), axis=1), axis=0, return_counts=True)
    first, second = (estimator(label).fit(each, metrics) for each in (of_one, of_other))
    if isinstance(first, LinearEstimate) and isinstance(second, LinearEstimate):
        weights, other_weights = first.weights[:, pairs[:, 0]], second.weights[:, pairs[:, 1]]
        return _Pairs(counts, linear(weights), linear(other_weights), other_weights - weights)
    return _Pairs(
        counts,
        _of_marginal(in_blocks(first.estimate, of_one.most_candidates), pairs[:, 0], len(of_one)),
        _of_marginal(in_blocks(second.estimate, of_other.most_candidates), pairs[:, 1], len(of_other)),
        None,
    )


def _of_marginal(statistic: Statistic, outcome: Ints, outcomes: int) -> Statistic:
    """Return a statistic of pair counts that looks at one side: pair p has outcome[p] there."""
    sums = csr_array((np.ones(len(outcome)), (np.arange(len(outcome)), outcome)), shape=(len(outcome), outcomes))
    return lambda counts: statistic((counts @ sums).astype(np.int64))


def _conclusions(sure: Uncertainty, names: tuple[str, str]) -> list[str]:
    return [
        names[1] if low > EQUAL else names[0] if high < -EQUAL else "undecided"
        for low, high in zip(sure.low, sure.high, strict=True)
    ]


def _sentences(table: Result, names: tuple[str, str], confidence: float, label: str | None) -> list[str]:
    """Say for each metric what can be concluded, and what it rests on."""
    sentences = []
    for row in table.to_dict("records"):
        what = metric_name(str(row["metric"]))
        interval = f"{row['low']:+.4f} to {row['high']:+.4f}"
        if row["conclusion"] == "undecided":
            sentences.append(
                f"{what}: undecided. {names[1]} less {names[0]} is {row['difference']:+.4f}, with a "
                f"{100 * confidence:g} % interval of {interval} that includes 0; the chance that {names[1]} is better "
                f"is {row['probability']:.2f}."
            )
        else:
            worse = names[0] if row["conclusion"] == names[1] else names[1]
            sentences.append(
                f"{what}: {row['conclusion']} is better than {worse}. {names[1]} less {names[0]} is "
                f"{row['difference']:+.4f}, with a {100 * confidence:g} % interval of {interval}."
            )
    if label == "uncorrected":
        sentences.append(
            "These are uncorrected sampled metrics: but for AUC, what is better by them may be worse by the true one."
        )
    elif label is not None:
        sentences.append(
            f"By what {estimator_name(label)} gives on average: if its bias differs between the two, the true "
            "difference is another one. Compare by a second estimator to see whether that matters."
        )
    return sentences
