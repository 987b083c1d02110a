"""What it takes to decide a comparison by strict bounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import (
    PAIRED,
    Bounds,
    Fits,
    ShapeEstimate,
    StrictBounds,
    expected_weights,
)
from sampled_metrics.inference.expectation import mean_of_rows
from sampled_metrics.inference.families import Pair
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.strict_intervals import BoundWeights, bound_weights, supported
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import draw
from sampled_metrics.sampling.moments import user_moments
from sampled_metrics.sampling.outcomes import Outcomes

FACTORS = (1.0, 10.0, 100.0, 10_000.0)
"""Multiples of the users for which weights are chosen; the last stands for any number."""

MOST = 10.0
"""Largest multiple of the users that is suggested. Beyond it, the fit to the sample does not carry the number."""

_QUANTILE = float(ndtri(0.975))  # of the intervals of a plan


@dataclass(frozen=True)
class Contender:
    """A recommender under an assumption, in some of the pairs of a comparison.

    Attributes:
        estimate: its fitted estimator.
        fits: the best fits of the assumption, by class of users.
        side: its place among the recommenders of `Users`.
    """

    estimate: ShapeEstimate
    fits: Fits
    side: int


def users_needed(
    contenders: Sequence[Contender],
    pairs: Sequence[Pair],
    by_outcome: Users,
    confidence_level: float,
    undecided: NDArray[np.bool_],
) -> Floats:
    """Return the numbers of users for which the intervals of differences would not include 0, (pairs, metrics).

    A number is infinite where ten times as many users are not enough, or where the metric of the pair is not undecided.
    Samples of more users are taken to be like the fitted one. The weights are the best ones for some multiples of the
    present users, so the numbers are rough.

    Args:
        contenders: the recommenders, each with the assumption of its pairs.
        pairs: pairs of contenders.
        by_outcome: the users of all recommenders.
        confidence_level: of the interval of a pair.
        undecided: (pairs, metrics) whether the interval includes 0.
    """
    quantile, users = float(ndtri(0.5 + confidence_level / 2)), by_outcome.counts.sum()
    needed, still_open = np.full(undecided.shape, np.inf), undecided
    for factor in FACTORS[::-1]:
        deviations, bounds = PAIRED * quantile / np.sqrt(factor), list[Bounds]()
        for number, contender in enumerate(contenders):
            of_pairs = [metrics for pair, metrics in zip(pairs, still_open, strict=True) if number in pair]
            wanted = np.flatnonzero(np.any(of_pairs, axis=0)).tolist()
            bounds.append(contender.estimate.bounding_weights(contender.fits, deviations, wanted))
        for row, pair in enumerate(pairs):
            columns = np.flatnonzero(still_open[row]).tolist()
            of_pair = by_outcome.of(*(contenders[number].side for number in pair))
            weights = bound_weights([bounds[number].of_metrics(columns) for number in pair], of_pair)
            enough = _enough(weights, by_outcome.counts, quantile)
            needed[row, columns] = np.fmin(needed[row, columns], np.maximum(enough, users + 1.0))
        still_open = undecided & (needed < np.inf)  # where no number is enough, the first factor says so
    return np.where(needed <= MOST * users, needed, np.inf)


def _enough(weights: BoundWeights, counts: Ints, quantile: float) -> Floats:
    """Return the (metrics,) numbers of users at which the ends of the mean weights exclude 0; infinite if none do."""
    low, high = np.split(weights.fitted, 2)
    spreads = np.split(np.sqrt(weights.variances(counts)), 2)
    ends = [
        np.divide(quantile * spread, distance, out=np.full(len(low), np.inf), where=distance > 0) ** 2
        for distance, spread in zip((low, -high), spreads, strict=True)
    ]
    return np.fmin(*ends)


def shape_taken(tables: Sequence[ExactRanks], design: SamplingDesign, shape: str, metric: Metric) -> str:
    """Return the assumption that `compare` takes for samples of exact ranks: a shape, or a weaker one.

    It is decided by one sample of each recommender, with a seed of its own.

    Args:
        tables: exact ranks of the recommenders.
        design: how negatives are drawn.
        shape: the assumption on the ranks.
        metric: the metric.
    """
    taken = []
    for seed, table in enumerate(tables):
        drawn = draw(table.above, table.tied, table.candidates, design, np.random.default_rng(seed))
        x = drawn.ranked_above("random")
        sample = SampledRanks(x, np.full_like(x, design.negatives), table.candidates, design.replacement, table.user)
        outcomes, outcome = Outcomes.observed(sample)
        by_outcome = users_by_outcome((outcome, sample.user_numbers, len(outcomes)))
        estimate = ShapeEstimate(StrictBounds(shape), (metric,), outcomes)
        _, variances = estimate.moments(by_outcome.counts @ by_outcome.shares[0])
        taken.append(supported(estimate, by_outcome, IntervalOptions(), variances).shape)
    return min(taken, key=SHAPES.index)


def expected_gaps(
    better: tuple[ExactRanks, Ints],
    worse: tuple[ExactRanks, Ints],
    design: SamplingDesign,
    shapes: Sequence[str],
    metric: Metric,
) -> dict[str, list[tuple[float, float]]]:
    """Return what samples of exact ranks are expected to prove, for weights that are best for multiples of the users.

    Args:
        better: exact ranks of a recommender, and the (rows,) numbers of the users.
        worse: the same of another one.
        design: how negatives are drawn.
        shapes: assumptions on the ranks.
        metric: the metric.

    Returns:
        For each shape and each of `FACTORS`, the mean of the lower bound of the difference, and its standard deviation
        over users and their samples.
    """
    means, variances = [], []
    for (table, user), side in ((better, -1), (worse, 1)):
        bounds = [(side, PAIRED * _QUANTILE / float(np.sqrt(factor))) for factor in FACTORS]
        mean, variance = user_moments(table, design, *expected_weights(table, design, shapes, metric, bounds))
        means.append(mean_of_rows(mean, user))
        variances.append(mean_of_rows(variance / np.bincount(user)[user][:, np.newaxis], user))
    gaps, variance = means[0] - means[1], (variances[0] + variances[1]).mean(axis=0)
    spread = gaps.var(axis=0, ddof=1) if len(gaps) > 1 else np.full(gaps.shape[1], np.nan)
    deviations = np.sqrt(spread + variance)
    expected = [(float(gap), float(deviation)) for gap, deviation in zip(gaps.mean(axis=0), deviations, strict=True)]
    return {shape: expected[len(FACTORS) * row :][: len(FACTORS)] for row, shape in enumerate(shapes)}
