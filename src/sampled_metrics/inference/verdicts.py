"""What it takes to decide a comparison by strict bounds."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from sampled_metrics._validation import Ints
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, StrictBounds, expected_weights
from sampled_metrics.inference.expectation import mean_of_rows
from sampled_metrics.inference.samples import Sample
from sampled_metrics.inference.strict import strict_values
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import draw
from sampled_metrics.sampling.moments import user_moments

FACTORS = (1.0, 10.0, 100.0, 10_000.0)
"""Multiples of the users for which weights are chosen; the last stands for any number."""

_QUANTILE = float(ndtri(0.975))  # of the intervals of a plan


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
        of_users = Sample.from_ranks(sample, sample.user_numbers)
        estimate = ShapeEstimate(StrictBounds(shape), (metric,), of_users.outcomes)
        _, variances = estimate.moments(of_users.counts)
        taken.append(strict_values(estimate, of_users, variances, 0.05).assumption)
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
        bounds = [(side, _QUANTILE / float(np.sqrt(factor))) for factor in FACTORS]
        mean, variance = user_moments(table, design, *expected_weights(table, design, shapes, metric, bounds))
        means.append(mean_of_rows(mean, user))
        variances.append(mean_of_rows(variance / np.bincount(user)[user][:, np.newaxis], user))
    gaps, variance = means[0] - means[1], (variances[0] + variances[1]).mean(axis=0)
    spread = gaps.var(axis=0, ddof=1) if len(gaps) > 1 else np.full(gaps.shape[1], np.nan)
    deviations = np.sqrt(spread + variance)
    expected = [(float(gap), float(deviation)) for gap, deviation in zip(gaps.mean(axis=0), deviations, strict=True)]
    return {shape: expected[len(FACTORS) * row :][: len(FACTORS)] for row, shape in enumerate(shapes)}
