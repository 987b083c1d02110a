"""Compare two recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import check_label, check_labels, check_names
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import Estimate, LinearEstimate, estimator, estimator_name
from sampled_metrics.evaluation.evaluate import METRICS, exact_outcomes, few_users, largest_values, undefined
from sampled_metrics.evaluation.intervals import (
    IntervalOptions,
    Progress,
    in_blocks,
    no_progress,
    uncertainty,
)
from sampled_metrics.evaluation.result import Remark, Result
from sampled_metrics.evaluation.units import units
from sampled_metrics.metrics.held_out import Metric, metric, metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike, columns_of
from sampled_metrics.ranks.pairing import pair_users
from sampled_metrics.ranks.table import RankTable, rank_table
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks, sampled_ranks

_Side = tuple[Estimate, Ints, int]
"""A recommender: an estimate, the (rows,) outcomes, and the number of outcomes."""


def compare(
    a: RanksLike,
    b: RanksLike,
    *,
    metrics: str | Sequence[str] = METRICS,
    candidates: PerUser | None = None,
    negatives: PerUser | None = None,
    replacement: bool = False,
    estimator: str | None = None,
    names: tuple[str, str] = ("A", "B"),
    confidence_level: float = 0.95,
    method: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Compare two recommenders on the same users, by exact or sampled ranks.

    The difference of a metric is the mean over users of f(r_b) - f(r_a), where r_a and r_b are the ranks of the two
    recommenders. Users are paired by the column user if both have one, else by position; a remark says which.

    Args:
        a: ranks of the first recommender: exact ones as in `evaluate`, or sampled ones as in `correct`.
        b: ranks of the second recommender, of the same users.
        metrics: labels, as in `evaluate`.
        candidates: as in `correct`.
        negatives: (users,) or one number: m. If it is given, here or as a column, the ranks are sampled, else exact.
        replacement: as in `correct`.
        estimator: label of the estimator that corrects sampled ranks. The default is bv-0.1, which orders best with
            100 negatives (docs/which-estimator.md).
        names: names of the two recommenders.
        confidence_level: probability that the interval covers the difference: 1 - the false-alarm rate of a metric.
        method: delta (score interval, as in `evaluate`) or bootstrap (BCa; resamples users with both of their ranks).
            The default is delta, or bootstrap for estimators that are not linear in the sample. By delta, fewer than
            six users who differ are never conclusive at 95 %.
        n_resamples: as in `evaluate`.
        seed: as in `evaluate`.
        progress: as in `evaluate`.

    Returns:
        A row for each metric, with the columns metric, value_a, value_b, difference (b - a), low, high, probability
        (that b is better according to the estimator, from 0 to 1), conclusion (a name, or undecided), users. The
        remarks state the conclusions in sentences.

    Raises:
        DataError: the ranks are wrong, their users or a user's candidates differ, or the estimator is not valid for
            them.
        ConfigError: a metric, an estimator or an option does not exist, or a metric is repeated.

    Examples:
        >>> import sampled_metrics as sm
        >>> old = [5, 80, 3, 200, 9, 30, 14, 7]
        >>> new = [2, 40, 1, 90, 4, 10, 6, 3]
        >>> result = sm.compare(old, new, candidates=1000, metrics="ap", names=("old", "new"))
        >>> print(result.remarks[0])
        AP: new is better than old. The difference (new - old) is +0.1846, with a 95 % interval of +0.0027 to +0.3664.

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
    """
    names, labels = check_names(names), check_labels(metrics, "metrics")
    wanted = [metric(label) for label in labels]
    is_sampled = negatives is not None or any(
        "negatives" in columns_of(each, name)
        for each, name in zip((a, b), names, strict=True)
        if not isinstance(each, RankTable)
    )
    if not is_sampled and estimator is not None:
        raise DataError("an estimator corrects sampled ranks: say how many negatives were sampled, too")
    label = "bv-0.1" if estimator is None else check_label(estimator, "estimator")
    if is_sampled:
        one, other = (
            sampled_ranks(each, candidates, negatives, replacement=replacement, name=name)
            for each, name in zip((a, b), names, strict=True)
        )
        pairs = pair_users(one, other, names, candidates, negatives)
        sides = _sampled_sides(one, other, wanted, label)
    else:
        exact, other_exact = (rank_table(each, candidates, name) for each, name in zip((a, b), names, strict=True))
        pairs = pair_users(exact, other_exact, names, candidates)
        sides = tuple(_exact_side(each, wanted) for each in (exact, other_exact))
    (first, which, outcomes), (second, other_which, other_outcomes) = sides
    kinds = units((which, pairs.one, outcomes), (other_which, pairs.other, other_outcomes))
    weights, most = None, largest_values(wanted)
    bounds = -most, most
    if isinstance(first, LinearEstimate) and isinstance(second, LinearEstimate):
        weights = kinds.weights(second.weights, 1) - kinds.weights(first.weights, 0)
        bounds = second.bounds[0] - first.bounds[1], second.bounds[1] - first.bounds[0]
    value_of = (
        kinds.statistic(in_blocks(first.estimate, outcomes), 0),
        kinds.statistic(in_blocks(second.estimate, other_outcomes), 1),
    )
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    interval = uncertainty(
        lambda counts: value_of[1](counts) - value_of[0](counts),
        kinds.counts,
        options,
        bounds=bounds,
        weights=weights,
        progress=progress,
    )
    value_a, value_b = (each(kinds.counts[np.newaxis])[0] for each in value_of)
    users = int(kinds.counts.sum())
    table = Result(
        {
            "metric": labels,
            "value_a": value_a,
            "value_b": value_b,
            "difference": value_b - value_a,
            "low": interval.low,
            "high": interval.high,
            "probability": interval.positive,
            "conclusion": [
                names[1] if low > EQUAL else names[0] if high < -EQUAL else "undecided"
                for low, high in zip(interval.low, interval.high, strict=True)
            ],
            "users": users,
        }
    )
    remarks = _sentences(table, names, confidence_level, label if is_sampled else None)
    return table.with_remarks([*remarks, *undefined(table, "difference"), *few_users(users), pairs.sentence])


def _exact_side(table: RankTable, metrics: Sequence[Metric]) -> _Side:
    values, which = exact_outcomes(table, metrics)
    possible = np.stack((np.zeros(len(metrics)), largest_values(metrics)), axis=1)
    return LinearEstimate(values, (possible,)), which, values.shape[1]


def _sampled_sides(one: SampledRanks, other: SampledRanks, metrics: Sequence[Metric], label: str) -> tuple[_Side, ...]:
    sides = []
    for ranks in (one, other):
        outcomes, which = Outcomes.observed(ranks)
        sides.append((estimator(label).fit(outcomes, metrics), which, len(outcomes)))
    return tuple(sides)


def _sentences(table: Result, names: tuple[str, str], confidence_level: float, label: str | None) -> list[Remark | str]:
    """Return the conclusion for each metric, and its assumptions, as sentences."""
    sentences: list[Remark | str] = []
    for row in table.to_dict("records"):
        if np.isnan(row["difference"]):
            continue
        found, rest = "undecided", f" that includes 0; the chance that {names[1]} is better is {row['probability']:.2f}"
        if row["conclusion"] != "undecided":
            worse = names[0] if row["conclusion"] == names[1] else names[1]
            found, rest = f"{row['conclusion']} is better than {worse}", ""
        sentence = (
            f"{metric_name(str(row['metric']))}: {found}. The difference ({names[1]} - {names[0]}) is "
            f"{row['difference']:+.4f}, with a {100 * confidence_level:g} % interval of {row['low']:+.4f} to "
            f"{row['high']:+.4f}{rest}."
        )
        sentences.append(Remark(sentence, rows=(("metric", row["metric"]),)))
    if label == "uncorrected":
        sentences.append(
            "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by "
            "the true metric."
        )
    elif label is not None:
        sentences.append(
            f"The comparison is between the means of {estimator_name(label)}. If its bias differs between them, so "
            "does the true difference. Compare by a second estimator to see whether that matters."
        )
    return sentences
