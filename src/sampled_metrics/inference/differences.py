"""Differences of the metrics of recommenders: intervals of all pairs that hold together, and p-values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats
from sampled_metrics.estimators import Estimate
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, has_bounds
from sampled_metrics.inference.families import holm, max_t_rates, pairs_of, replicate_rates
from sampled_metrics.inference.intervals import (
    IntervalOptions,
    Statistic,
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
    """A recommender.

    Attributes:
        name: of the recommender.
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
        return lambda counts: np.mean([each(counts) for each in seeds], axis=0)

    def of_seeds(self, by_outcome: Users) -> Floats:
        """Return the (seeds, metrics) estimates of each seed."""
        return np.stack([each(by_outcome.counts[np.newaxis])[0] for each in self._statistics(by_outcome)])

    def _statistics(self, by_outcome: Users) -> list[Statistic]:
        return [
            by_outcome.statistic(in_blocks(each.estimate, by_outcome.shares[side].shape[1]), side)
            for each, side in zip(self.estimates, self.sides, strict=True)
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

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Return whether an interval does not exclude 0, or its own difference, or is missing, (pairs, metrics)."""
        return ~((self.low > EQUAL) | (self.high < -EQUAL)) | self.apart

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Return whether the difference is outside its interval by more than rounding, (pairs, metrics)."""
        return (self.difference < self.low - EQUAL) | (self.difference > self.high + EQUAL)

    def without_verdicts(self, recommenders: Collection[int]) -> Differences:
        """Return the differences without the intervals and p-values of the pairs of some recommenders."""
        missing = np.array([bool(set(pair) & set(recommenders)) for pair in pairs_of(len(self.values))])
        low, high, p_value, needed = (
            np.where(missing[:, np.newaxis], np.nan, each)
            for each in (self.low, self.high, self.p_value, self.users_needed)
        )
        return replace(self, low=low, high=high, p_value=p_value, users_needed=needed)


def differences(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress = no_progress,
) -> Differences:
    """Compute the differences of all pairs of two recommenders or more, with intervals that hold together.

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
    pairs, alpha = pairs_of(len(recommenders)), 1 - options.confidence_level
    of_seeds, of_users = zip(
        *((each.of_seeds(by_outcome), each.weights(by_outcome)) for each in recommenders), strict=True
    )
    linear = [each.mean(axis=0) for each in of_users if each is not None]
    values = np.stack([each.mean(axis=0) for each in of_seeds])
    statistics, replicates = [each.statistic(by_outcome) for each in recommenders], None
    if uses_bootstrap(options, bool(linear)):
        replicates = bootstrap(
            lambda counts: np.stack([each(counts) for each in statistics], axis=1), by_outcome.counts, options, progress
        )
    bonferroni = np.full(len(most), alpha / len(pairs))
    rates, family = bonferroni, BONFERRONI
    if len(pairs) > 1 and all(len(each) == 1 for each in of_seeds):
        if replicates is not None:
            rates, family = replicate_rates(values, replicates, alpha), MAX_T
        elif linear:
            samples = resamples(by_outcome.counts, options, progress)
            rates, family = max_t_rates(np.stack(linear), by_outcome.counts, alpha, samples), MAX_T
    spreads = [SeedSpread.from_seeds(*each, by_outcome.counts) for each in zip(of_seeds, of_users, strict=True)]
    found = []
    for one, other in pairs:
        (least, largest), (other_least, other_largest) = (recommenders[each].bounds(most) for each in (one, other))
        smallest, greatest = other_least - largest, other_largest - least
        interval = uncertainty(
            lambda counts, one=one, other=other: statistics[other](counts) - statistics[one](counts),  # type: ignore[misc]
            by_outcome.counts,
            options,
            bounds=(smallest, greatest),
            weights=linear[other] - linear[one] if linear else None,
            alpha=rates,
            replicates=None if replicates is None else replicates[:, other] - replicates[:, one],
            differ=int(by_outcome.counts @ (np.abs(recommenders[other].seen - recommenders[one].seen) > EQUAL)),
            test=True,
        )
        if len(of_seeds[one]) > 1 or len(of_seeds[other]) > 1:
            gap = values[other] - values[one]
            wider = with_seeds(interval, gap, (spreads[one], spreads[other]), rates)
            interval = replace(wider, low=np.maximum(wider.low, smallest), high=np.minimum(wider.high, greatest))
        found.append(interval)
    low, high, p_value = (np.stack([getattr(each, end) for each in found]) for end in ("low", "high", "p_value"))
    one, other = np.transpose(pairs)
    nothing = np.full(low.shape, np.nan)
    return Differences(values, values[other] - values[one], low, high, holm(p_value), rates, family, nothing)


def _strict(
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    options: IntervalOptions,
    most: Floats,
    progress: Progress,
) -> Differences:
    """Return differences with strict bounds, which hold together by Bonferroni's inequality."""
    pairs, values = pairs_of(len(recommenders)), np.stack([each.of_seeds(by_outcome)[0] for each in recommenders])
    rate = (1 - options.confidence_level) / len(pairs)
    inner = progress
    if len(pairs) > 1:
        options, inner = replace(options, confidence_level=1 - rate), no_progress
    supports = [
        supported(estimate, by_outcome.of(side), options)
        for recommender in recommenders
        for estimate, side in zip(recommender.estimates[:1], recommender.sides[:1], strict=True)
        if has_bounds(estimate)
    ]
    found, needed = [], np.full((len(pairs), len(most)), np.nan)
    for at in progress(range(len(pairs))) if len(pairs) > 1 else range(len(pairs)):
        sides = [recommenders[each] for each in pairs[at]]
        estimates = [estimate for side in sides for estimate in side.estimates if has_bounds(estimate)]
        users = by_outcome.of(*(side.sides[0] for side in sides))
        strict = strict_interval(
            estimates, users, options, (-most, most), [supports[each] for each in pairs[at]], inner
        )
        needed[at] = _needed(estimates, strict, users, options.confidence_level)
        found.append(strict)
    one, other = np.transpose(pairs)
    low, high = np.stack([each.low for each in found]), np.stack([each.high for each in found])
    missing = np.full(low.shape, np.nan)
    rates = np.full(len(most), rate)
    return Differences(values, values[other] - values[one], low, high, missing, rates, BONFERRONI, needed, tuple(found))


def _needed(
    estimates: Sequence[ShapeEstimate], strict: StrictInterval, by_outcome: Users, confidence_level: float
) -> Floats:
    """Return the (metrics,) numbers of users that would decide what is undecided; NaN where no number would."""
    undecided = (strict.low <= EQUAL) & (strict.high >= -EQUAL)
    found, places = np.full(len(undecided), np.nan), [int(at) for at in np.flatnonzero(undecided)]
    if places:
        users = users_needed(estimates, strict.fits, by_outcome, confidence_level, places)
        for at, number in zip(places, users, strict=True):
            if np.isfinite(number):
                found[at] = _rounded(number)
    return found


def _rounded(number: float) -> float:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, np.floor(np.log10(number)) - 1)
    return float(np.ceil(number / step) * step)
