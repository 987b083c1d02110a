"""Differences of the metrics of recommenders: intervals of all pairs that hold together, and p-values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats
from sampled_metrics.estimators import Estimate
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, has_bounds
from sampled_metrics.inference.families import Pair, max_t_rates, pairs_of, replicate_rates
from sampled_metrics.inference.intervals import (
    Evaluated,
    IntervalOptions,
    Statistic,
    Uncertainty,
    evaluated,
    in_blocks,
    resamples,
    uncertainty,
)
from sampled_metrics.inference.margins import Margin
from sampled_metrics.inference.seeds import SeedSpread, with_seeds
from sampled_metrics.inference.strict_intervals import StrictInterval, fits_of, strict_interval, supported
from sampled_metrics.inference.users import Users
from sampled_metrics.inference.verdicts import Contender, users_needed
from sampled_metrics.sampling.moments import EQUAL

MAX_T, BONFERRONI = "max-t bootstrap", "Bonferroni"


@dataclass(frozen=True)
class ComparedRecommender:
    """A recommender with the estimates of its seeds.

    Attributes:
        name: its name.
        estimates: fitted estimators, one for each seed.
        sides: their places among the recommenders of `Users`.
        seen: (1 or metrics, groups) means over the rows of users, the smaller the better: ranks, which are the same for
            all metrics, or negative values of lists; NaN if they are not known.
    """

    name: str
    estimates: tuple[Estimate, ...]
    sides: tuple[int, ...]
    seen: Floats

    def statistic(self, by_outcome: Users) -> Statistic:
        """Return the mean of the metrics over seeds as a statistic of the counts of groups."""
        seeds = self._statistics(by_outcome)
        return lambda counts: np.mean([statistic(counts) for statistic in seeds], axis=0)

    def of_seeds(self, by_outcome: Users) -> Floats:
        """Return the (seeds, metrics) estimates of each seed."""
        return np.stack([statistic(by_outcome.counts[np.newaxis])[0] for statistic in self._statistics(by_outcome)])

    def _statistics(self, by_outcome: Users) -> list[Statistic]:
        return [
            by_outcome.statistic(in_blocks(estimate.estimate, by_outcome.shares[side].shape[1]), side)
            for estimate, side in zip(self.estimates, self.sides, strict=True)
        ]

    def weights(self, by_outcome: Users) -> Floats | None:
        """Return the (seeds, metrics, groups) values of users; None if the estimator is not linear."""
        weights = [
            by_outcome.weights(estimate.weights, side)
            for estimate, side in zip(self.estimates, self.sides, strict=True)
            if estimate.weights is not None
        ]
        return np.stack(weights) if weights else None

    def bounds(self, most: Floats) -> Floats:
        """Return the (2, metrics) smallest and largest values of a user, or of the metrics, from 0 to `most`."""
        bounds = [estimate.bounds for estimate in self.estimates if estimate.bounds is not None]
        return np.mean(bounds, axis=0) if bounds else np.stack((np.zeros_like(most), most))


@dataclass(frozen=True)
class Differences:
    """Differences between the recommenders of each pair, of the second one from the first.

    Attributes:
        values: (recommenders, metrics) estimates.
        difference: (pairs, metrics) differences.
        low: (pairs, metrics) lower ends.
        high: (pairs, metrics) upper ends.
        p_value: (pairs, metrics) p-values, not adjusted for the pairs; NaN for strict bounds.
        rates: (metrics,) error rates of the interval of each pair, such that those of all pairs hold together.
        family: the method of these error rates.
        users_needed: (pairs, metrics) numbers of users that would decide; NaN if no number would, or it is not known.
        strict: of each pair, if these are strict bounds.
        scaled: (2, 2, pairs, metrics) ends of the intervals of the second value minus the first one times 1 + a
            relative margin, and of the first minus the second likewise; None without a relative margin.
    """

    values: Floats
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats
    rates: Floats
    family: str
    users_needed: Floats
    strict: tuple[StrictInterval, ...] = ()
    scaled: Floats | None = None

    def above_margin(self, margin: Margin) -> Floats:
        """Return the ends of the intervals of what a difference is above the margin, (2, 2, pairs, metrics).

        The first axis is that of the directions: of the second recommender from the first, and the reverse.
        """
        if self.scaled is not None:
            return self.scaled
        return np.array([(self.low, self.high), (-self.high, -self.low)]) - margin.size

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Return whether an interval includes 0, excludes its own difference, or is missing, (pairs, metrics)."""
        return ~((self.low > EQUAL) | (self.high < -EQUAL)) | self.apart

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Return whether the difference is outside its interval by more than rounding, (pairs, metrics)."""
        return (self.difference < self.low - EQUAL) | (self.difference > self.high + EQUAL)

    def without_verdicts(self, recommenders: Collection[int]) -> Differences:
        """Return the differences without the intervals and p-values of the pairs of some recommenders."""
        missing = np.array([bool(set(pair) & set(recommenders)) for pair in pairs_of(len(self.values))])
        low, high, p_value, needed = (
            np.where(missing[:, np.newaxis], np.nan, numbers)
            for numbers in (self.low, self.high, self.p_value, self.users_needed)
        )
        scaled = None if self.scaled is None else np.where(missing[:, np.newaxis], np.nan, self.scaled)
        return replace(self, low=low, high=high, p_value=p_value, users_needed=needed, scaled=scaled)


def differences(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress = no_progress,
    margin: Margin | None = None,
) -> Differences:
    """Return the differences of all pairs of two recommenders or more, with intervals that hold together.

    Args:
        recommenders: all with the same estimator.
        by_outcome: their users.
        options: of the intervals; the confidence level is that of all pairs of a metric together.
        most: (metrics,) largest values.
        progress: wraps the blocks of bootstrap samples, or the pairs.
        margin: a relative one has intervals of its own.

    Raises:
        DataError: there are fewer than two users, or the delta method takes too much work.
    """
    ratio = 1 + margin.size if margin is not None and margin.is_relative else None
    if all(has_bounds(estimate) for recommender in recommenders for estimate in recommender.estimates):
        return _strict(recommenders, by_outcome, options, most, progress, ratio)
    of_users = [recommender.weights(by_outcome) for recommender in recommenders]
    means = [weights.mean(axis=0) for weights in of_users if weights is not None]
    weights = np.stack(means) if means else None
    statistics = [recommender.statistic(by_outcome) for recommender in recommenders]
    values = evaluated(
        lambda counts: np.stack([statistic(counts) for statistic in statistics], axis=1),
        by_outcome.counts,
        options,
        weights,
        progress,
    )
    family = _Family(recommenders, by_outcome, values, of_users, weights)
    rates, method = family.rates(options, progress)
    pairs = pairs_of(len(recommenders))
    intervals = [family.interval(pair, most, options, rates) for pair in progress(pairs)]
    low, high, p_value = (
        np.stack([getattr(interval, name) for interval in intervals]) for name in ("low", "high", "p_value")
    )
    one, other = np.transpose(pairs)
    gaps, unknown = values.estimate[other] - values.estimate[one], np.full(low.shape, np.nan)
    scaled = None
    if ratio is not None:
        scaled = _scaled(pairs, lambda pair: family.interval(pair, most, options, rates, ratio))
    return Differences(values.estimate, gaps, low, high, p_value, rates, method, unknown, scaled=scaled)


def _scaled(pairs: Sequence[Pair], interval: Callable[[Pair], Uncertainty | StrictInterval]) -> Floats:
    """Return the (2, 2, pairs, metrics) ends of the intervals of pairs, and of the same pairs the other way round."""
    directions = [pairs, [(other, one) for one, other in pairs]]
    intervals = [[interval(pair) for pair in direction] for direction in directions]
    return np.array(
        [[[one.low for one in of_direction], [one.high for one in of_direction]] for of_direction in intervals]
    )


@dataclass(frozen=True)
class _Family:
    """What the pairs of recommenders share.

    Attributes:
        recommenders: all with the same estimator.
        by_outcome: their users.
        values: their metrics, (…, recommenders, metrics), which are means over seeds.
        of_users: of each recommender, the (seeds, metrics, groups) values of users; None if not linear.
        weights: (recommenders, metrics, groups) means of these values over seeds; None if not linear.
    """

    recommenders: Sequence[ComparedRecommender]
    by_outcome: Users
    values: Evaluated
    of_users: list[Floats | None]
    weights: Floats | None

    @cached_property
    def spreads(self) -> list[SeedSpread]:
        """The spread of each recommender between its seeds."""
        return [
            SeedSpread.from_seeds(recommender.of_seeds(self.by_outcome), of_users, self.by_outcome.counts)
            for recommender, of_users in zip(self.recommenders, self.of_users, strict=True)
        ]

    def rates(self, options: IntervalOptions, progress: Progress) -> tuple[Floats, str]:
        """Return the (metrics,) error rates with which the intervals of all pairs hold together, and their method."""
        pairs, alpha = len(pairs_of(len(self.recommenders))), 1 - options.confidence_level
        if pairs > 1 and all(len(recommender.sides) == 1 for recommender in self.recommenders):
            if self.values.replicates is not None:
                return replicate_rates(self.values.estimate, self.values.replicates, alpha), MAX_T
            if self.weights is not None:
                samples = resamples(self.by_outcome.counts, options, progress)
                return max_t_rates(self.weights, self.by_outcome.counts, alpha, samples), MAX_T
        return np.full(self.values.estimate.shape[1], alpha / pairs), BONFERRONI

    def interval(
        self, pair: Pair, most: Floats, options: IntervalOptions, rates: Floats, ratio: float = 1.0
    ) -> Uncertainty:
        """Return the (metrics,) intervals of the second recommender of a pair minus the first one times a ratio."""
        one, other = pair
        first, second = self.recommenders[one], self.recommenders[other]
        (least_first, most_first), (least_second, most_second) = first.bounds(most), second.bounds(most)
        least, largest = least_second - ratio * most_first, most_second - ratio * least_first
        values, counts = self.values.difference(one, other, ratio), self.by_outcome.counts
        interval = uncertainty(
            values,
            counts,
            options,
            bounds=(least, largest),
            weights=None if self.weights is None else self.weights[other] - ratio * self.weights[one],
            alpha=rates,
            differ=int(counts @ (np.abs(second.seen - first.seen) > EQUAL).any(axis=0)),
            test=True,
        )
        if len(first.sides) == len(second.sides) == 1:
            return interval
        spreads = [self.spreads[one].scaled(ratio), self.spreads[other]]
        wider = with_seeds(interval, values.estimate, spreads, rates)
        return replace(wider, low=np.maximum(wider.low, least), high=np.minimum(wider.high, largest))


def _strict(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress,
    ratio: float | None,
) -> Differences:
    """Return differences with strict bounds, which hold together by Bonferroni's inequality."""
    pairs = pairs_of(len(recommenders))
    rate = (1 - options.confidence_level) / len(pairs)
    of_pairs, within_pair = (progress, no_progress) if len(pairs) > 1 else (no_progress, progress)
    if len(pairs) > 1:
        options = replace(options, confidence_level=1 - rate)
    estimates = [one for recommender in recommenders for one in recommender.estimates[:1] if has_bounds(one)]
    places = [recommender.sides[0] for recommender in recommenders]
    moments = [
        estimate.moments(by_outcome.counts @ by_outcome.shares[place])
        for estimate, place in zip(estimates, places, strict=True)
    ]
    supports = [
        supported(estimate, by_outcome.of(place), options, variances)
        for estimate, place, (_, variances) in zip(estimates, places, moments, strict=True)
    ]

    def interval(pair: Pair, ratio: float = 1.0) -> StrictInterval:
        of_pair = by_outcome.of(*(places[number] for number in pair))
        both, limits = [estimates[number] for number in pair], (-ratio * most, most)
        return strict_interval(
            both, of_pair, options, limits, [supports[number] for number in pair], within_pair, ratio
        )

    intervals = [interval(pair) for pair in of_pairs(pairs)]
    values = np.stack([mean for mean, _ in moments])
    first, second = np.transpose(pairs)
    low, high = np.stack([one.low for one in intervals]), np.stack([one.high for one in intervals])
    return Differences(
        values=values,
        difference=values[second] - values[first],
        low=low,
        high=high,
        p_value=np.full(low.shape, np.nan),
        rates=np.full(len(most), rate),
        family=BONFERRONI,
        users_needed=_needed(estimates, places, by_outcome, intervals, options.confidence_level),
        strict=tuple(intervals),
        scaled=None if ratio is None else _scaled(pairs, lambda pair: interval(pair, ratio)),
    )


def _needed(
    estimates: Sequence[ShapeEstimate],
    places: Sequence[int],
    by_outcome: Users,
    intervals: Sequence[StrictInterval],
    confidence_level: float,
) -> Floats:
    """Return the (pairs, metrics) numbers of users that would decide what is undecided; NaN where no number would.

    A recommender has the same fits and weights in all pairs with the same assumption.
    """
    undecided = np.stack([(strict.low <= EQUAL) & (strict.high >= -EQUAL) for strict in intervals])
    sides = [
        [(number, strict.shape, support) for number, support in zip(pair, strict.supports, strict=True)]
        for pair, strict in zip(pairs_of(len(estimates)), intervals, strict=True)
    ]
    rows = np.flatnonzero(undecided.any(axis=1))
    supports = {(number, shape): support for row in rows for number, shape, support in sides[row]}
    contenders = [
        Contender(
            estimates[number],
            fits_of(estimates[number], support, by_outcome.counts @ by_outcome.shares[places[number]], shape),
            places[number],
        )
        for (number, shape), support in supports.items()
    ]
    index = {key: position for position, key in enumerate(supports)}
    pairs = [(index[sides[row][0][:2]], index[sides[row][1][:2]]) for row in rows]
    needed = np.full(undecided.shape, np.inf)
    needed[rows] = users_needed(contenders, pairs, by_outcome, confidence_level, undecided[rows])
    return np.array([[_rounded(number) if np.isfinite(number) else np.nan for number in row] for row in needed])


def _rounded(number: float) -> float:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, np.floor(np.log10(number)) - 1)
    return float(np.ceil(number / step) * step)
