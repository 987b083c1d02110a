"""Intervals of true metrics, and of their differences, by strict bounds (`sampled_metrics.estimators.strict_bounds`).

The ends are confidence limits of mean weights, as those of linear estimators. Users are the unit. Where the sample
contradicts the assumed shape of the distribution of ranks, the next weaker one takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import IMPOSSIBLE, PAIRED, SIGNIFICANCE, Fit, ShapeEstimate
from sampled_metrics.evaluation.intervals import IntervalOptions, linear, uncertainty
from sampled_metrics.evaluation.users import Users
from sampled_metrics.sampling.rank_classes import RankClass

Fits = Sequence[Sequence[tuple[RankClass, Fit]]]
"""For each recommender, the best fit of each class of users."""


@dataclass(frozen=True)
class StrictInterval:
    """Intervals of the metrics of one recommender, or of the differences between two.

    Attributes:
        low: (metrics,) lower ends.
        high: (metrics,) upper ends.
        shape: the assumption under which they hold.
        contradicted: the p-values of the assumptions that the sample contradicts.
        fits: of each recommender, by class of users.
    """

    low: Floats
    high: Floats
    shape: str
    contradicted: dict[str, float]
    fits: Fits

    @property
    def assumes(self) -> str:
        """Return the assumption under which the interval holds the truth."""
        return "none" if self.shape == SHAPES[0] else self.shape


def strict_interval(
    estimates: Sequence[ShapeEstimate],
    by_outcome: Users,
    options: IntervalOptions,
    limits: tuple[Floats, Floats],
    progress: Progress = no_progress,
) -> StrictInterval:
    """Return the interval of a metric of the last of one or two recommenders, minus that of the first of two.

    Args:
        estimates: one or two recommenders, with the same shape.
        by_outcome: their users.
        options: of the intervals.
        limits: (metrics,) smallest and largest values.
        progress: wraps the blocks of bootstrap samples.
    """
    contradicted: dict[str, float] = {}
    for shape in SHAPES[SHAPES.index(estimates[0].estimator.shape) :: -1]:
        sides = list(zip(estimates, by_outcome.shares, strict=True))
        fits = [one.fits(np.asarray(by_outcome.counts @ shares), shape) for one, shares in sides]
        p_values = [
            one.p_value(by_outcome.counts, shares, fit, shape, options.seed)
            for (one, shares), fit in zip(sides, fits, strict=True)
        ]
        p_value = min(1.0, len(sides) * min(p_values))
        if p_value > (IMPOSSIBLE if shape == SHAPES[0] else SIGNIFICANCE):
            break
        contradicted[shape] = p_value
    quantile = float(ndtri(0.5 + options.confidence_level / 2))
    deviations = quantile * (PAIRED if len(estimates) == 2 else 1.0)
    weights = bound_weights(estimates, fits, by_outcome, deviations, range(len(estimates[0].metrics)))
    defined = np.isfinite(weights.values.sum(axis=1))
    found = uncertainty(
        linear(weights.values[defined]),
        by_outcome.counts,
        options,
        bounds=(weights.least[defined], weights.most[defined]),
        weights=weights.values[defined],
        progress=progress,
    )
    at_the_bound = weights.limits(by_outcome.counts, quantile)[defined]
    ends = np.full((2, len(defined)), np.nan)
    ends[0, defined] = np.minimum(found.low, at_the_bound)
    ends[1, defined] = np.maximum(found.high, at_the_bound)
    ends += weights.off / 2
    low, high = np.split(ends[0], 2)[0], np.split(ends[1], 2)[1]
    low, high = (np.clip(end, *limits) for end in (np.minimum(low, high), np.maximum(low, high)))
    return StrictInterval(low, high, shape, contradicted, fits)


@dataclass(frozen=True)
class BoundWeights:
    """Weights of users whose means bound metrics, or differences of metrics: first lower bounds, then upper ones.

    Attributes:
        values: (2 metrics, groups) weights.
        least: (2 metrics,) smallest weights that a user can have.
        most: (2 metrics,) largest weights.
        off: (2 metrics,) means in the fitted sample, minus those in the observed one. Weights that are chosen for a
            sample are too good for this very sample; half of this makes up for it in simulations
            (docs/coverage.md).
        more: (2 metrics,) by how much the variance over users is larger at the bound than in the sample.
    """

    values: Floats
    least: Floats
    most: Floats
    off: Floats
    more: Floats

    def limits(self, counts: Ints, quantile: float) -> Floats:
        """Return the (2 metrics,) confidence limits of the mean weights of (groups,) counts of users, as at the bound.

        A limit takes the variance at the bound, as a score interval does: a sample in which an outcome is missing says
        little about how much its weight varies.
        """
        means, variances = self.moments(counts)
        reach = quantile * np.sqrt((variances + self.more) / counts.sum())
        return means + reach * np.repeat([-1, 1], len(means) // 2)

    def moments(self, counts: Ints) -> tuple[Floats, Floats]:
        """Return the (2 metrics,) means and variances over (groups,) counts of users."""
        shares = counts / counts.sum()
        means = self.values @ shares
        return means, (self.values - means[:, np.newaxis]) ** 2 @ shares


def bound_weights(
    estimates: Sequence[ShapeEstimate], fits: Fits, by_outcome: Users, deviations: float, wanted: Sequence[int]
) -> BoundWeights:
    """Return the weights of some metrics, or of their differences between the second and the first recommender."""
    bounds = [one.bounds(fit, deviations, wanted) for one, fit in zip(estimates, fits, strict=True)]
    last = bounds[-1]
    values = np.concatenate([by_outcome.weights(each, len(bounds) - 1) for each in last.weights])
    least, most, off, more = last.least, last.most, last.off, last.more
    if len(bounds) == 2:  # the upper bound of a difference takes the lower one of what is subtracted
        first = bounds[0]
        values = values - np.concatenate([by_outcome.weights(each, 0) for each in first.weights[::-1]])
        least, most, off = least - first.most[::-1], most - first.least[::-1], off - first.off[::-1]
        more = more + first.more[::-1]
    return BoundWeights(values, *(each.ravel() for each in (least, most, off, more)))


def contradictions(p_values: dict[str, float]) -> list[str]:
    """Return sentences on the assumptions that a sample contradicts."""
    remarks = []
    for shape, p_value in p_values.items():
        if shape == SHAPES[0]:
            sentence = (
                f"No distribution of true ranks explains the sample well (p = {p_value:.2g}). Check the numbers of "
                "candidates and negatives, and how negatives were sampled; if they are wrong, so is the interval."
            )
        else:
            sentence = (
                f"The sample contradicts {shape} (p = {p_value:.2g}), so the interval is that of a weaker assumption."
            )
        remarks.append(sentence)
    return remarks
