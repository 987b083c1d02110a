"""Compare two recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import check_label, check_names
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import (
    Estimate,
    LinearEstimate,
    ShapeEstimate,
    estimator,
    estimator_labels,
    estimator_name,
)
from sampled_metrics.estimators.shapes import ASSUMPTIONS
from sampled_metrics.evaluation.evaluate import METRICS, exact_outcomes, few_users, largest_values, undefined
from sampled_metrics.evaluation.intervals import (
    IntervalOptions,
    Progress,
    in_blocks,
    no_progress,
    uncertainty,
)
from sampled_metrics.evaluation.result import Remark, Result
from sampled_metrics.evaluation.strict_intervals import StrictInterval, contradictions, strict_interval
from sampled_metrics.evaluation.units import Units, units
from sampled_metrics.evaluation.verdicts import negatives_needed, users_needed
from sampled_metrics.metrics.held_out import Metric, metric, metric_labels, metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike, columns_of
from sampled_metrics.ranks.pairing import pair_users
from sampled_metrics.ranks.table import RankTable, rank_table
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks, are_sampled, sampled_ranks

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
        estimator: label of the estimator that corrects sampled ranks. The default is decreasing: the interval holds the
            true difference if better ranks are more frequent than worse ones. The estimators free and convex assume
            less and more. All others compare the means of the estimator and assume that its bias is equal for both
            recommenders; bv-0.1 has a low variance.
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
        (that b is better according to the estimator, from 0 to 1; it is missing for strict bounds), conclusion (a name,
        or undecided), users_needed and negatives_needed (what would decide it; missing if it is decided, or not known),
        users. The remarks state the conclusions in sentences.

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
    names, labels = check_names(names), metric_labels(metrics)
    wanted = [metric(label) for label in labels]
    a, b = (
        each if isinstance(each, RankTable) else columns_of(each, name)
        for each, name in zip((a, b), names, strict=True)
    )
    is_sampled = are_sampled((a, b), negatives)
    if not is_sampled and estimator is not None:
        raise DataError("an estimator corrects sampled ranks: say how many negatives were sampled, too")
    (label,) = estimator_labels("decreasing" if estimator is None else check_label(estimator, "estimator"), "estimator")
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
    options, most = IntervalOptions(confidence_level, method, n_resamples, seed), largest_values(wanted)
    value_of = (
        kinds.statistic(in_blocks(first.estimate, outcomes), 0),
        kinds.statistic(in_blocks(second.estimate, other_outcomes), 1),
    )
    value_a, value_b = (each(kinds.counts[np.newaxis])[0] for each in value_of)
    difference = value_b - value_a
    needed, notes = _Needed.nothing(len(labels)), list[Remark | str]()
    if isinstance(first, ShapeEstimate) and isinstance(second, ShapeEstimate):
        strict = strict_interval([first, second], kinds, options, (-most, most), progress)
        low, high = strict.low, strict.high
        difference = np.fmax(np.fmin(difference, high), low)
        probability = np.full(len(labels), np.nan)
        undecided = (low <= EQUAL) & (high >= -EQUAL)
        if undecided.any():
            needed = _Needed.of((first, second), strict, kinds, undecided, confidence_level)
        notes = [*_assumed(strict.shape), *contradictions(strict.contradicted)]
    else:
        weights, bounds = None, (-most, most)
        if isinstance(first, LinearEstimate) and isinstance(second, LinearEstimate):
            weights = kinds.weights(second.weights, 1) - kinds.weights(first.weights, 0)
            bounds = second.bounds[0] - first.bounds[1], second.bounds[1] - first.bounds[0]
        interval = uncertainty(
            lambda counts: value_of[1](counts) - value_of[0](counts),
            kinds.counts,
            options,
            bounds=bounds,
            weights=weights,
            progress=progress,
        )
        low, high, probability = interval.low, interval.high, interval.positive
        if is_sampled:
            notes = _biased(label)
    users = int(kinds.counts.sum())
    table = Result(
        {
            "metric": labels,
            "value_a": value_a,
            "value_b": value_b,
            "difference": difference,
            "low": low,
            "high": high,
            "probability": probability,
            "conclusion": [
                names[1] if bottom > EQUAL else names[0] if top < -EQUAL else "undecided"
                for bottom, top in zip(low, high, strict=True)
            ],
            "users_needed": needed.users,
            "negatives_needed": needed.negatives,
            "users": users,
        }
    )
    assumption = next((str(note) for note in notes if isinstance(note, str)), "")
    table.attrs = {"confidence_level": confidence_level, "names": names, "assumption": assumption}
    remarks = [*_sentences(table, names, confidence_level), *notes]
    return table.with_remarks([*remarks, *undefined(table, "difference"), *few_users(users), pairs.sentence])


@dataclass(frozen=True)
class _Needed:
    """(metrics,) numbers of users, and of negatives, that would decide; NaN where that is not known."""

    users: Floats
    negatives: Floats

    @classmethod
    def nothing(cls, metrics: int) -> _Needed:
        return cls(np.full(metrics, np.nan), np.full(metrics, np.nan))

    @classmethod
    def of(
        cls,
        estimates: tuple[ShapeEstimate, ShapeEstimate],
        strict: StrictInterval,
        kinds: Units,
        undecided: NDArray[np.bool_],
        confidence_level: float,
    ) -> _Needed:
        found, places = cls.nothing(len(undecided)), [int(at) for at in np.flatnonzero(undecided)]
        users = users_needed(estimates, strict.fits, kinds, confidence_level, places)
        for at, number in zip(places, users, strict=True):
            if np.isfinite(number):
                found.users[at] = _rounded(number)
            elif (negatives := negatives_needed(estimates, kinds, strict.shape, at)) is not None:
                found.negatives[at] = _rounded(negatives)
        return found


def _rounded(number: float) -> float:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, np.floor(np.log10(number)) - 1)
    return float(np.ceil(number / step) * step)


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


def _sentences(table: Result, names: tuple[str, str], confidence_level: float) -> list[Remark | str]:
    """Return the conclusion for each metric as a sentence."""
    sentences: list[Remark | str] = []
    for row in table.to_dict("records"):
        if np.isnan(row["difference"]) or np.isnan(row["low"]):
            continue
        found, rest = "undecided", f" that includes 0; the chance that {names[1]} is better is {row['probability']:.2f}"
        if row["conclusion"] != "undecided":
            worse = names[0] if row["conclusion"] == names[1] else names[1]
            found, rest = f"{row['conclusion']} is better than {worse}", ""
        elif np.isnan(row["probability"]):
            found, rest = f"undecided; {_what_decides(row)}", ""
        sentence = (
            f"{metric_name(str(row['metric']))}: {found}. The difference ({names[1]} - {names[0]}) is "
            f"{row['difference']:+.4f}, with a {100 * confidence_level:g} % interval of {row['low']:+.4f} to "
            f"{row['high']:+.4f}{rest}."
        )
        sentences.append(Remark(sentence, rows=(("metric", row["metric"]),)))
    return sentences


def _what_decides(row: Mapping[str, Any]) -> str:
    if not np.isnan(row["users_needed"]):
        return f"about {row['users_needed']:.0f} users would decide if the difference is as found"
    if not np.isnan(row["negatives_needed"]):
        return f"no number of users would, it takes about {row['negatives_needed']:.0f} negatives"
    return "no number of users would, and the sample does not say how many negatives it takes"


def _assumed(shape: str) -> list[str]:
    """Return a sentence on what an interval of the truth assumes."""
    given = f"if {ASSUMPTIONS[shape]}" if ASSUMPTIONS[shape] else "without an assumption on the ranks"
    return [f"The intervals are of the true difference, {given}."]


def _biased(label: str) -> list[Remark | str]:
    """Return a sentence on what an interval of the mean of an estimator ignores."""
    if label == "uncorrected":
        return [
            "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by "
            "the true metric."
        ]
    return [
        f"The comparison is between the means of {estimator_name(label)}, and assumes that its bias is equal for both. "
        "If its bias differs between them, so does the true difference. The estimator decreasing does not assume that."
    ]
