"""Differences of the metrics of recommenders: intervals of all pairs that hold together, and p-values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats
from sampled_metrics.estimators import Estimate
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, has_bounds
from sampled_metrics.inference.families import Pair, holm, max_t_rates, pairs_of, replicate_rates
from sampled_metrics.inference.intervals import (
    IntervalOptions,
    Statistic,
    Uncertainty,
    bootstrap,
    in_blocks,
    resamples,
    uncertainty,
    uses_bootstrap,
)
from sampled_metrics.inference.seeds import SeedSpread, with_seeds
from sampled_metrics.inference.strict_intervals import StrictInterval, strict_interval, supported
from sampled_metrics.inference.users import Users
from sampled_metrics.inference.verdicts import users_needed
from sampled_metrics.sampling.moments import EQUAL

MAX_T, BONFERRONI = "max-t bootstrap", "Bonferroni"


@dataclass(frozen=True)
class ComparedRecommender:
    """A recommender with the estimates of its seeds.

    Attributes:
        name: its name.
        estimates: fitted estimators, one for each seed.
        sides: their places among the recommenders of `Users`.
        seen: (groups,) mean sampled ranks of users; two recommenders differ for users with different ones.
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
        p_value: (pairs, metrics) p-values, adjusted for the pairs; NaN for strict bounds.
        rates: (metrics,) error rates of the interval of each pair, such that those of all pairs hold together.
        family: the method of these error rates.
        users_needed: (pairs, metrics) numbers of users that would decide; NaN if no number would, or it is not known.
        strict: of each pair, if these are strict bounds.
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

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Return whether an interval does not exclude 0, or its own difference, or is missing, (pairs, metrics)."""
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
        return replace(self, low=low, high=high, p_value=p_value, users_needed=needed)


def differences(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress = no_progress,
) -> Differences:
    """Return the differences of all pairs of two recommenders or more, with intervals that hold together.

    Args:
        recommenders: all with the same estimator.
        by_outcome: their users.
        options: of the intervals; the confidence level is that of all pairs of a metric together.
        most: (metrics,) largest values.
        progress: wraps the blocks of bootstrap samples, or the pairs.

    Raises:
        DataError: there are fewer than two users, or the delta method takes too much work.
    """
    if all(has_bounds(estimate) for recommender in recommenders for estimate in recommender.estimates):
        return _strict(recommenders, by_outcome, options, most, progress)
    of_users, replicates = [recommender.weights(by_outcome) for recommender in recommenders], None
    if uses_bootstrap(options, of_users[0] is not None):
        statistics = [recommender.statistic(by_outcome) for recommender in recommenders]
        replicates = bootstrap(
            lambda counts: np.stack([statistic(counts) for statistic in statistics], axis=1),
            by_outcome.counts,
            options,
            progress,
        )
    of_seeds = [recommender.of_seeds(by_outcome) for recommender in recommenders]
    family = _Family(recommenders, by_outcome, of_seeds, of_users, replicates)
    rates, method = family.rates(options, progress)
    intervals = [family.interval(pair, most, options, rates) for pair in progress(pairs_of(len(recommenders)))]
    low, high, p_value = (
        np.stack([getattr(interval, name) for interval in intervals]) for name in ("low", "high", "p_value")
    )
    one, other = np.transpose(pairs_of(len(recommenders)))
    gaps, unknown = family.values[other] - family.values[one], np.full(low.shape, np.nan)
    return Differences(family.values, gaps, low, high, holm(p_value), rates, method, unknown)


@dataclass(frozen=True)
class _Family:
    """What the pairs of recommenders share.

    Attributes:
        recommenders: all with the same estimator.
        by_outcome: their users.
        of_seeds: of each recommender, the (seeds, metrics) estimates.
        of_users: of each recommender, the (seeds, metrics, groups) values of users; None if not linear.
        replicates: (samples, recommenders, metrics) bootstrap estimates; None if intervals need none.
    """

    recommenders: Sequence[ComparedRecommender]
    by_outcome: Users
    of_seeds: list[Floats]
    of_users: list[Floats | None]
    replicates: Floats | None

    @cached_property
    def values(self) -> Floats:
        """The (recommenders, metrics) estimates, the means over seeds."""
        return np.stack([estimates.mean(axis=0) for estimates in self.of_seeds])

    @cached_property
    def weights(self) -> Floats | None:
        """The (recommenders, metrics, groups) values of users, the means over seeds; None if there are none."""
        weights = [of_users.mean(axis=0) for of_users in self.of_users if of_users is not None]
        return np.stack(weights) if weights else None

    def rates(self, options: IntervalOptions, progress: Progress) -> tuple[Floats, str]:
        """Return the (metrics,) error rates with which the intervals of all pairs hold together, and their method."""
        pairs, alpha = len(pairs_of(len(self.recommenders))), 1 - options.confidence_level
        if pairs > 1 and all(len(estimates) == 1 for estimates in self.of_seeds):
            if self.replicates is not None:
                return replicate_rates(self.values, self.replicates, alpha), MAX_T
            if self.weights is not None:
                samples = resamples(self.by_outcome.counts, options, progress)
                return max_t_rates(self.weights, self.by_outcome.counts, alpha, samples), MAX_T
        return np.full(self.values.shape[1], alpha / pairs), BONFERRONI

    def interval(self, pair: Pair, most: Floats, options: IntervalOptions, rates: Floats) -> Uncertainty:
        """Return the (metrics,) intervals of the differences of the second recommender of a pair from the first."""
        one, other = pair
        first, second = self.recommenders[one], self.recommenders[other]
        (least_first, most_first), (least_second, most_second) = first.bounds(most), second.bounds(most)
        least, largest = least_second - most_first, most_second - least_first
        of_first, of_second = first.statistic(self.by_outcome), second.statistic(self.by_outcome)
        counts = self.by_outcome.counts
        interval = uncertainty(
            lambda counts: of_second(counts) - of_first(counts),
            counts,
            options,
            bounds=(least, largest),
            weights=None if self.weights is None else self.weights[other] - self.weights[one],
            alpha=rates,
            replicates=None if self.replicates is None else self.replicates[:, other] - self.replicates[:, one],
            differ=int(counts @ (np.abs(second.seen - first.seen) > EQUAL)),
            test=True,
        )
        if len(self.of_seeds[one]) == len(self.of_seeds[other]) == 1:
            return interval
        spreads = [SeedSpread.from_seeds(self.of_seeds[place], self.of_users[place], counts) for place in pair]
        wider = with_seeds(interval, self.values[other] - self.values[one], spreads, rates)
        return replace(wider, low=np.maximum(wider.low, least), high=np.minimum(wider.high, largest))


def _strict(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress,
) -> Differences:
    """Return differences with strict bounds, which hold together by Bonferroni's inequality."""
    pairs = pairs_of(len(recommenders))
    rate = (1 - options.confidence_level) / len(pairs)
    of_pairs, within_pair = (progress, no_progress) if len(pairs) > 1 else (no_progress, progress)
    if len(pairs) > 1:
        options = replace(options, confidence_level=1 - rate)
    estimates = [one for recommender in recommenders for one in recommender.estimates[:1] if has_bounds(one)]
    places = [recommender.sides[0] for recommender in recommenders]
    supports = [
        supported(estimate, by_outcome.of(place), options) for estimate, place in zip(estimates, places, strict=True)
    ]
    intervals, needed = [], []
    for one, other in of_pairs(pairs):
        of_pair = [estimates[one], estimates[other]]
        users = by_outcome.of(places[one], places[other])
        interval = strict_interval(
            of_pair, users, options, (-most, most), [supports[one], supports[other]], within_pair
        )
        intervals.append(interval)
        needed.append(_needed(of_pair, interval, users, options.confidence_level))
    values = np.stack([recommender.of_seeds(by_outcome)[0] for recommender in recommenders])
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
        users_needed=np.stack(needed),
        strict=tuple(intervals),
    )


def _needed(
    estimates: Sequence[ShapeEstimate], strict: StrictInterval, by_outcome: Users, confidence_level: float
) -> Floats:
    """Return the (metrics,) numbers of users that would decide what is undecided; NaN where no number would."""
    undecided = (strict.low <= EQUAL) & (strict.high >= -EQUAL)
    needed, columns = np.full(len(undecided), np.nan), np.flatnonzero(undecided).tolist()
    if columns:
        users = users_needed(estimates, strict.fits, by_outcome, confidence_level, columns)
        needed[columns] = [_rounded(number) if np.isfinite(number) else np.nan for number in users]
    return needed


def _rounded(number: float) -> float:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, np.floor(np.log10(number)) - 1)
    return float(np.ceil(number / step) * step)
