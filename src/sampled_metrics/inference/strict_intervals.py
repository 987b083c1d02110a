"""Intervals of true metrics, and of their differences, by strict bounds (`sampled_metrics.estimators.strict_bounds`).

The ends are confidence limits of mean weights, as those of linear estimators. Users are the unit.

Weights that a sample chooses fit this sample too well. So the users are divided into five folds, and the weights for
the users of a fold are those that are best for the users of the other folds. Whatever they choose, the mean of these
weights over the users of the fold bounds the metric in expectation, so that the interval of the mean over all users
holds the metric.

Where the sample contradicts the assumed shape of the distribution of ranks, the next weaker one takes its place. Where
it contradicts any distribution of ranks, there is no interval. A test does not notice all wrong assumptions. So an
assumption is also dropped where it alone would decide, that is, where the interval would be hardly wider than one from
the exact ranks of as many users. AUC needs no assumption, as samples have no bias for it.

References:
    P. Batlle, P. Patil, M. Stanley and M. Kuusela, Optimization-Based Frequentist Confidence Intervals for Functionals
    in Constrained Inverse Problems: Resolving the Burrus Conjecture, 2023: why a single sample cannot both choose the
    weights and be the sample they are applied to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import (
    IMPOSSIBLE,
    PAIRED,
    SIGNIFICANCE,
    Bounds,
    Fits,
    ShapeEstimate,
    StrictBounds,
)
from sampled_metrics.inference.intervals import FEW_USERS, IntervalOptions, evaluated, linear, uncertainty
from sampled_metrics.inference.users import Users
from sampled_metrics.sampling.outcomes import Outcomes

_HARDLY_WIDER = 1.25  # ratio of the width to that of exact ranks up to which an assumption alone decides


@dataclass(frozen=True)
class Support:
    """The strongest assumption that the sample of a recommender supports.

    Attributes:
        shape: the assumption.
        p_value: of the test of this assumption.
        contradicted: the p-values of the stronger assumptions that the sample contradicts; `free` is among them if no
            distribution of ranks explains the sample.
        narrow: the stronger assumptions with which an interval would be hardly wider than that of exact ranks.
        fits: the best fits of the assumption, by class of users.
        ends: (2, 2 metrics) ends of the weights of this recommender by folds, if they are known.
    """

    shape: str
    p_value: float
    contradicted: dict[str, float]
    narrow: tuple[str, ...] = ()
    fits: Fits = ()
    ends: Floats | None = None

    @property
    def is_explained(self) -> bool:
        """Return whether some distribution of ranks explains the sample."""
        return SHAPES[0] not in self.contradicted


@dataclass(frozen=True)
class StrictInterval:
    """Intervals of the metrics of one recommender, or of the differences between two.

    Attributes:
        low: (metrics,) lower ends; NaN if no distribution of ranks explains the sample.
        high: (metrics,) upper ends.
        shape: the assumption under which they hold.
        supports: what the sample of each recommender supports.
    """

    low: Floats
    high: Floats
    shape: str
    supports: Sequence[Support]

    @property
    def assumes(self) -> str:
        """Return the assumption under which the interval holds the truth."""
        return "none" if self.shape == SHAPES[0] else self.shape


def strict_interval(
    estimates: Sequence[ShapeEstimate],
    by_outcome: Users,
    options: IntervalOptions,
    limits: tuple[Floats, Floats],
    supports: Sequence[Support],
    progress: Progress = no_progress,
    ratio: float = 1.0,
) -> StrictInterval:
    """Return the intervals of the metrics of a recommender, or of the second of two minus the first times a ratio.

    Args:
        estimates: one or two recommenders, with the same shape.
        by_outcome: their users.
        options: of the intervals.
        limits: (metrics,) smallest and largest values.
        supports: what the sample of each recommender supports.
        progress: wraps the blocks of bootstrap samples.
        ratio: above 0; it is 1 where the users are not known.
    """
    shape = min((support.shape for support in supports), key=SHAPES.index)
    if not all(support.is_explained for support in supports):
        missing = np.full(len(estimates[0].metrics), np.nan)
        return StrictInterval(missing, missing, shape, supports)
    if len(estimates) == 1 and supports[0].ends is not None:
        ends = supports[0].ends
    else:
        ends = _ends_by_fold(estimates, shape, by_outcome, options, progress, ratio)
    low, high = np.split(ends[0], 2)[0], np.split(ends[1], 2)[1]
    low, high = (np.clip(end, *limits) for end in (np.minimum(low, high), np.maximum(low, high)))
    return StrictInterval(low, high, shape, supports)


def _ends_by_fold(
    estimates: Sequence[ShapeEstimate],
    shape: str,
    by_outcome: Users,
    options: IntervalOptions,
    progress: Progress = no_progress,
    ratio: float = 1.0,
) -> Floats:
    """Return (2, 2 metrics) ends of the means of the weights that the users of the other folds choose."""
    quantile = float(ndtri(0.5 + options.confidence_level / 2))
    deviations = quantile * (PAIRED if len(estimates) == 2 else 1.0)
    weights = weights_by_fold(estimates, shape, by_outcome, deviations, ratio)
    defined = np.isfinite(weights.values.sum(axis=1))
    kept, counts = weights.values[defined], by_outcome.folds.ravel()
    values = evaluated(linear(kept), counts, options, kept, progress)
    bounds = weights.least[defined], weights.most[defined]
    interval = uncertainty(values, counts, options, bounds=bounds, weights=kept)
    ends = np.full((2, len(defined)), np.nan)
    ends[:, defined] = interval.low, interval.high
    return ends


def fits_of(estimate: ShapeEstimate, support: Support, counts: Floats, shape: str) -> Fits:
    """Return the best fits of a shape to (outcomes,) counts: those of the support, if they have the shape."""
    return support.fits if support.shape == shape else estimate.fits(counts, shape)


def supported(
    estimate: ShapeEstimate, by_outcome: Users, options: IntervalOptions, variances: Floats | None = None
) -> Support:
    """Return the strongest assumption that the sample supports; the estimate's own is tried first, then weaker ones.

    Args:
        estimate: the recommender.
        by_outcome: its users.
        options: of the interval, which an assumption must not make too narrow; `free` needs only the seed.
        variances: (metrics,) variances over users, by the same estimate; `free` needs none.
    """
    contradicted, narrow, ends = dict[str, float](), list[str](), None
    shares = by_outcome.shares[0]
    counts = np.asarray(by_outcome.counts @ shares, dtype=np.float64)
    for shape in SHAPES[SHAPES.index(estimate.estimator.shape) :: -1]:
        significance = IMPOSSIBLE if shape == SHAPES[0] else SIGNIFICANCE
        fits = estimate.fits(counts, shape)
        p_value = estimate.p_value(by_outcome.counts, shares, fits, options.seed, significance)
        if p_value <= significance:
            contradicted[shape] = p_value
            continue
        if shape == SHAPES[0]:
            break
        assert variances is not None
        ends = _ends_by_fold([estimate], shape, by_outcome, options)
        biased = np.array([metric.label != "auc" for metric in estimate.metrics])
        deviations = np.where(biased, np.sqrt(variances / by_outcome.counts.sum()), 0.0)
        few = by_outcome.counts.sum() < FEW_USERS  # whose intervals are as wide as the bounds of a metric
        if few or not _is_too_narrow(ends, deviations, options.confidence_level):
            break
        narrow.append(shape)
        ends = None
    return Support(shape, p_value, contradicted, tuple(narrow), fits, ends)


def _is_too_narrow(ends: Floats, deviations: Floats, confidence_level: float) -> bool:
    """Return whether an interval of a metric is hardly wider than one from the exact ranks of as many users.

    Args:
        ends: (2, 2 metrics) ends.
        deviations: (metrics,) standard errors of the means of the metrics of exact ranks; 0 for metrics without bias.
        confidence_level: of the intervals.
    """
    low, high = np.split(ends[0], 2)[0], np.split(ends[1], 2)[1]
    exact = 2 * float(ndtri(0.5 + confidence_level / 2)) * deviations
    return bool((high - low < _HARDLY_WIDER * exact).any())


def unexplained(outcomes: Outcomes, by_outcome: Users, seed: int) -> dict[str, float]:
    """Return the p-value of `free`, if no distribution of true ranks explains the sample of a recommender."""
    estimate = ShapeEstimate(StrictBounds(SHAPES[0]), (), outcomes)
    return supported(estimate, by_outcome, IntervalOptions(seed=seed)).contradicted


@dataclass(frozen=True)
class BoundWeights:
    """Weights of users whose means bound metrics, or differences of metrics: first lower bounds, then upper ones.

    Attributes:
        values: (2 metrics, groups) weights.
        least: (2 metrics,) smallest weights that a user can have.
        most: (2 metrics,) largest weights.
        fitted: (2 metrics,) means in the fitted sample.
    """

    values: Floats
    least: Floats
    most: Floats
    fitted: Floats

    def variances(self, counts: Ints) -> Floats:
        """Return the (2 metrics,) variances over (groups,) counts of users."""
        shares = counts / counts.sum()
        return np.asarray((self.values - (self.values @ shares)[:, np.newaxis]) ** 2 @ shares)


def weights_by_fold(
    estimates: Sequence[ShapeEstimate], shape: str, by_outcome: Users, deviations: float, ratio: float = 1.0
) -> BoundWeights:
    """Return the weights of all metrics, (2 metrics, folds × groups), that the users of the other folds choose."""
    of_folds = []
    for own in by_outcome.folds:
        counts = by_outcome.counts - own
        sides = zip(estimates, by_outcome.shares, strict=True)
        bounds = [one.bounding_weights(one.fits_of_part(shape, counts @ shares), deviations) for one, shares in sides]
        of_folds.append(bound_weights(bounds, by_outcome, ratio))
    values = np.concatenate([weights.values for weights in of_folds], axis=1)
    least, most = (
        np.min([weights.least for weights in of_folds], axis=0),
        np.max([weights.most for weights in of_folds], axis=0),
    )
    return BoundWeights(values, least, most, np.mean([weights.fitted for weights in of_folds], axis=0))


def bound_weights(bounds: Sequence[Bounds], by_outcome: Users, ratio: float = 1.0) -> BoundWeights:
    """Return the weights of users from the bounds of one recommender, or of the second of two minus ratio × the first.

    The ratio is above 0.
    """
    last = bounds[-1]
    values = np.concatenate([by_outcome.weights(weights, len(bounds) - 1) for weights in last.weights])
    least, most, fitted = last.least, last.most, last.fitted
    if len(bounds) == 2:  # the upper bound of a difference takes the lower one of what is subtracted
        first = bounds[0]
        values = values - ratio * np.concatenate([by_outcome.weights(weights, 0) for weights in first.weights[::-1]])
        least, most = least - ratio * first.most[::-1], most - ratio * first.least[::-1]
        fitted = fitted - ratio * first.fitted[::-1]
    return BoundWeights(values, least.ravel(), most.ravel(), fitted.ravel())


def contradictions(support: Support) -> list[str]:
    """Return sentences on the assumptions that a sample contradicts, or that would alone make an interval narrow."""
    if not support.is_explained:
        return [unexplained_sentence(support.contradicted[SHAPES[0]])]
    return [
        *(
            f"The sample contradicts {shape} (p = {p_value:.2g}), so the interval is that of a weaker assumption."
            for shape, p_value in support.contradicted.items()
        ),
        *(
            f"By {shape}, the interval would be hardly wider than that of exact ranks of as many users, so that the "
            "assumption alone would decide. The interval is that of a weaker assumption."
            for shape in support.narrow
        ),
    ]


def unexplained_sentence(p_value: float) -> str:
    """Say that no distribution of ranks explains a sample, and why that may be."""
    return (
        f"No distribution of true ranks explains the sample (p = {p_value:.2g}), so there is no interval and no "
        "verdict. Usual causes are ties that count in favour of the held-out item, negatives that are not drawn "
        "uniformly, and a wrong number of candidates or negatives."
    )


def tested(supports: Mapping[str, Support]) -> list[str]:
    """Return a sentence with the p-values of the assumption in use, by the name of the recommender, or no name."""
    p_values = {name: support.p_value for name, support in supports.items() if support.shape != SHAPES[0]}
    if not p_values:
        return []
    shape = next(support.shape for name, support in supports.items() if name in p_values)
    values = ", ".join(f"p = {p_value:.2g}{f' for {name}' if name else ''}" for name, p_value in p_values.items())
    samples = "samples do" if len(p_values) > 1 else "sample does"
    return [f"The {samples} not contradict {shape} ({values}). Not every wrong assumption is noticed."]
