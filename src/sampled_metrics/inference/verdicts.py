"""What it takes to decide a comparison by strict bounds."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.strict_bounds import PAIRED, Fits, ShapeEstimate, expected_weights
from sampled_metrics.inference.expectation import mean_of_rows
from sampled_metrics.inference.strict_intervals import bound_weights
from sampled_metrics.inference.users import Users
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import user_moments

FACTORS = (1.0, 10.0, 100.0, 10_000.0)
"""Multiples of the users for which weights are chosen; the last stands for any number."""

MOST = 10.0
"""Largest multiple of the users that is suggested. Beyond it, the fit to the sample does not carry the number."""

_QUANTILE = float(ndtri(0.975))  # of the intervals of a plan


def users_needed(
    estimates: Sequence[ShapeEstimate],
    fits: Sequence[Fits],
    by_outcome: Users,
    confidence_level: float,
    undecided: Sequence[int],
) -> Floats:
    """Return the numbers of users for which the interval of the difference would not include 0, by undecided metric.

    A number is infinite where ten times as many users are not enough. Samples of more users are taken to be like the
    fitted one. The weights are the best ones for some multiples of the present users, so the numbers are rough.
    """
    quantile = float(ndtri(0.5 + confidence_level / 2))
    users = by_outcome.counts.sum()
    needed, still_open = np.full(len(undecided), np.inf), list(range(len(undecided)))
    for factor in FACTORS[::-1]:
        wanted = [undecided[column] for column in still_open]
        weights = bound_weights(estimates, fits, by_outcome, PAIRED * quantile / np.sqrt(factor), wanted)
        low, high = np.split(weights.fitted, 2)
        spreads = np.split(np.sqrt(weights.variances(by_outcome.counts)), 2)
        for distance, spread in zip((low, -high), spreads, strict=True):
            enough = (
                np.divide(quantile * spread, distance, out=np.full(len(still_open), np.inf), where=distance > 0) ** 2
            )
            needed[still_open] = np.fmin(needed[still_open], np.maximum(enough, users + 1.0))
        still_open = np.flatnonzero(needed < np.inf).tolist()  # where no number is enough, the first factor says so
        if not still_open:
            break
    return np.where(needed <= MOST * users, needed, np.inf)


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
