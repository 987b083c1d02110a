"""Say what a published sampled metric shows of the true one, from its value alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise, product
from math import ceil, floor

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._defaults import ESTIMATORS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import MOST, Floats, Ints, counted, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError, printable
from sampled_metrics.estimators import Estimator, EstimatorsLike, estimators_by_label
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import has_bounds
from sampled_metrics.evaluation.correct import knowledge
from sampled_metrics.evaluation.result import Result, by_recommender
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.strict_intervals import contradictions, strict_interval, supported
from sampled_metrics.inference.users import Users
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric_name, metrics_by_label
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

MOST_VALUES = 6
"""Largest number of values that are taken together."""


@on_one_thread
def published(
    values: Mapping[str, Mapping[str, float | str]],
    *,
    negatives: int,
    candidates: int,
    users: int,
    replacement: bool = False,
    estimators: EstimatorsLike = ESTIMATORS,
    metrics: MetricsLike | None = None,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> Result:
    """Bound the true metrics behind published sampled ones, such as a hit rate of .62 among 99 negatives.

    If x of a user's m sampled negatives rank above the held-out item, a hit rate at k is the share of users with x < k.
    So each value says how many users are in a range of x. The bounds are those of `correct` for a sample of which only
    these numbers are known.

    Args:
        values: for each recommender, by its name, the values by label: recall@k, hit-rate@k, or precision@k, which is
            the hit rate divided by k. Several values of a recommender are of the same users and negatives. A value is
            rounded as it is written: .62 stands for .615 to .625, and the intervals are those of both ends together. An
            assumption is contradicted only if all of these numbers contradict it. Text keeps zeros at the end: "0.620".
            A value that no whole number of users has, such as .333333 of 100 users, is refused; a mean over seeds needs
            fewer digits.
        negatives: m, the number of sampled negatives of each user.
        candidates: n, the number of items in an exact evaluation, including the held-out item.
        users: the number of users, each with one held-out item.
        replacement: whether a negative could be sampled twice for the same user.
        estimators: some of free, decreasing and convex, which bound the metric.
        metrics: the true metrics to bound, such as recall@10. The default is those of the values.
        confidence_level: probability that the interval covers the true metric.
        seed: seed of the simulated samples that the test of the assumption draws.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator, metric, low, high,
        assumes, users. There is no value between the ends, as a share of users does not determine one.

    Raises:
        ConfigError: values are not by name and label, a metric does not say how many users have x < k, an estimator is
            not one of bounds, or an option does not exist.
        DataError: a value is not a number from 0 to 1, the values contradict one another, or candidates, negatives and
            users do not fit.

    Examples:
        A paper reports a hit rate at 10 of .62 among 99 sampled negatives, for 6040 users and 20,000 items:

        >>> import sampled_metrics as sm
        >>> values = {"GMF": {"hit-rate@10": 0.62}}
        >>> result = sm.published(values, negatives=99, candidates=20000, users=6040)
        >>> [(row.estimator, round(row.low, 3), round(row.high, 3)) for row in result.itertuples()]
        [('decreasing', 0.003, 0.637), ('free', 0.0, 0.637)]

    References:
        P. B. Stark, Inference in infinite-dimensional inverse problems: discretization and duality, Journal of
        Geophysical Research 97, 1992.
    """
    for name, number, least in (("candidates", candidates, 1), ("users", users, 1)):
        if not is_whole(number) or number < least:
            raise DataError(f"{name} must be a whole number, {least} or more, not {shown(number)}")
        if number > MOST:
            raise DataError(f"{name} must be 2^53 or less, not {number}")
    design, options = SamplingDesign(negatives, replacement), IntervalOptions(confidence_level, None, 1000, seed)
    design.check(candidates)
    if not isinstance(values, Mapping) or not values or not all(isinstance(one, Mapping) for one in values.values()):
        raise ConfigError(f"values: give them by recommender, {{'GMF': {{'hit-rate@10': 0.62}}}}, not {shown(values)}")
    chosen = estimators_by_label(estimators)
    for label, estimator in chosen.items():
        if estimator.assumed_shape is None:
            raise ConfigError(f"estimators: {label} needs all ranks; of a value, there are bounds: {', '.join(SHAPES)}")
    results = {}
    for name, of_one in {printable(str(name)): of_one for name, of_one in values.items()}.items():
        given = metrics_by_label(list(of_one), "values")
        wanted = given if metrics is None else metrics_by_label(metrics)
        cuts, possible = _counts(given, list(of_one.values()), negatives, users)
        results[name] = _of_counts(cuts, possible, chosen, wanted, Outcomes.from_design(design, candidates), options)
        results[name].attrs["parameters"] = f"{users:,} users, n = {candidates:,}, m = {negatives:,}"
    return by_recommender(results)


def _of_counts(
    cuts: tuple[int, ...],
    possible: Sequence[Ints],
    estimators: Mapping[str, Estimator],
    wanted: Mapping[str, Metric],
    outcomes: Outcomes,
    options: IntervalOptions,
) -> Result:
    """Return the bounds of a recommender, from the numbers of users between cuts of x that its values allow."""
    negatives, users = int(outcomes.negatives[0]), int(possible[0].sum())
    limits = np.zeros(len(wanted)), np.array([metric.largest for metric in wanted.values()])
    rows: list[tuple[object, ...]] = []
    cautions: list[str] = []
    for label, estimator in estimators.items():
        estimate = estimator.fit(outcomes, tuple(wanted.values()))
        assert has_bounds(estimate)  # others are refused before
        estimate = replace(estimate, cuts=cuts)
        intervals = []
        for counts in possible:
            by_outcome = _users(cuts, counts, negatives)
            support = supported(estimate, by_outcome, options)
            intervals.append(strict_interval([estimate], by_outcome, options, limits, [support]))
        fitting = min(intervals, key=lambda one: len(one.supports[0].contradicted))  # of the counts that fit best
        low: Floats = np.min([one.low for one in intervals], axis=0)
        high: Floats = np.max([one.high for one in intervals], axis=0)
        rows += [(label, *row, fitting.assumes, users) for row in zip(wanted, low, high, strict=True)]
        cautions += contradictions(fitting.supports[0])
    table = Result(rows, columns=["estimator", "metric", "low", "high", "assumes", "users"])
    table.attrs = {"confidence_level": options.confidence_level}
    remarks = knowledge(table, estimators, options.confidence_level, outcomes.negatives)
    return table.with_remarks(remarks).with_cautions(cautions)


def _counts(
    given: Mapping[str, Metric], values: Sequence[float | str], negatives: int, users: int
) -> tuple[tuple[int, ...], list[Ints]]:
    """Return the cuts of x, and the numbers of users in the ranges between them that agree with rounded values.

    Raises:
        ConfigError: a metric does not say how many users have x < k; there are too many values.
        DataError: a value is not a number from 0 to 1, or the values contradict one another.
    """
    if len(given) > MOST_VALUES:
        raise ConfigError(f"values: at most {MOST_VALUES} values are taken together, not {len(given)}")
    limits: dict[int, tuple[int, int]] = {}
    shares: dict[int, dict[str, tuple[float, float]]] = {}  # and halves of their last digits, by k and label
    for (label, metric), value in zip(given.items(), values, strict=True):
        k = metric.cutoff
        divisor = 0.0 if k is None else 1 / float(metric.of_rank(1, 2))
        if k is None or divisor not in (1, k) or not _is_flat(metric, k):
            raise ConfigError(
                f"values: {label} does not say how many users have the held-out item among the first k; take recall@k, "
                "hit-rate@k or precision@k"
            )
        if k > negatives:
            raise DataError(
                f"{label}: k must be at most the {counted(negatives, 'negative')}, as the value is 1 otherwise"
            )
        share, half = (number * divisor for number in _rounded(label, value))
        if not 0 <= share <= 1 + 1e-9:
            raise DataError(f"{label}: the value must be from 0 to {1 / divisor:g}, not {value}")
        low, high = max(0, ceil((share - half) * users - 1e-9)), min(users, floor((share + half) * users + 1e-9))
        if low > high:
            nearest = f"{high / users / divisor:.6g} and {low / users / divisor:.6g}"
            raise DataError(
                f"{label}: no number of {users} users has the value {value}; the nearest are {nearest}. Give a mean "
                "over seeds with fewer digits"
            )
        for other, (other_share, other_half) in shares.get(k, {}).items():
            if share != other_share and abs(share - other_share) > half + other_half - 1e-12:
                raise DataError(f"values: {other} and {label} are the same share, so they contradict one another")
        shares.setdefault(k, {})[label] = share, half
        before = limits.get(k, (0, users))
        limits[k] = max(low, before[0]), min(high, before[1])
    cuts = tuple(sorted(limits))
    possible = [np.diff(corner, prepend=0, append=users) for corner in _corners([limits[k] for k in cuts])]
    if not possible:
        labels = ", ".join(map(metric_name, given))
        raise DataError(f"values: {labels} contradict one another: a larger k cannot have a smaller share")
    return cuts, possible


def _corners(limits: Sequence[tuple[int, int]]) -> list[Ints]:
    """Return the corners of the ascending numbers within limits.

    In a corner, each number is at one of its limits, or equal to a neighbour that is.
    """
    ends = sorted({end for pair in limits for end in pair})
    within = [[end for end in ends if low <= end <= high] for low, high in limits]
    corners = []
    for numbers in product(*within):
        ascending = all(one <= other for one, other in pairwise(numbers))
        limited = {number for number, pair in zip(numbers, limits, strict=True) if number in pair}
        if ascending and set(numbers) <= limited:
            corners.append(np.array(numbers))
    return corners


def _is_flat(metric: Metric, k: int) -> bool:
    """Return whether a metric is the same for all ranks up to k, and 0 beyond."""
    ranks = np.arange(1, k + 2)
    return np.array_equal(metric.of_rank(ranks, k + 2), metric.of_rank(1, 2) * (ranks <= k))


def _rounded(label: str, value: float | str) -> tuple[float, float]:
    """Return a value, and half of its last digit; whole numbers are not rounded."""
    try:
        digits = Decimal(str(value))
    except InvalidOperation:
        raise DataError(f"{label}: the value must be a number, not {shown(value)}") from None
    if not digits.is_finite():
        raise DataError(f"{label}: the value must be a number, not {shown(value)}")
    exponent = int(digits.as_tuple().exponent)
    return float(digits), 0.5 * 10.0**exponent if exponent < 0 else 0.0


def _users(cuts: tuple[int, ...], counts: Ints, negatives: int) -> Users:
    """Return the users by range of x; the first outcome of a range stands for it."""
    ranges = np.flatnonzero(counts)
    first, ones, rows = np.array((0, *cuts))[ranges], np.ones(len(ranges)), np.arange(len(ranges))
    return Users(counts[ranges], (csr_array((ones, (rows, first)), shape=(len(ranges), negatives + 1)),))
