"""What it takes to decide a comparison by strict bounds: more users, or more negatives."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.estimators.rank_prior import Keyed, rank_distributions
from sampled_metrics.estimators.shapes import Mixture, mixtures
from sampled_metrics.estimators.smooth import Smooth
from sampled_metrics.estimators.strict_bounds import PAIRED, Fit, ShapeEstimate, UniformShapeEstimate, expected_weights
from sampled_metrics.evaluation.expectation import mean_of_rows
from sampled_metrics.evaluation.strict_intervals import Fits, bound_weights
from sampled_metrics.evaluation.units import Units
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf
from sampled_metrics.sampling.moments import user_moments
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import rank_classes
from sampled_metrics.sampling.rank_nodes import rank_nodes

FACTORS = (1.0, 10.0, 100.0, 10_000.0)
"""How many times as many users weights are chosen for; the last stands for any number."""

MOST = 1000.0
"""Up to so many times as many users are worth mentioning."""

_QUANTILE = float(ndtri(0.975))  # of the intervals of a plan

_STEP = 2.0  # ratio of the numbers of negatives that are tried
_MOST_NEGATIVES = 5000  # largest number of negatives that is tried


def users_needed(
    estimates: Sequence[ShapeEstimate], fits: Fits, kinds: Units, confidence_level: float, undecided: Sequence[int]
) -> Floats:
    """Return the numbers of users for which the interval of the difference would not include 0, by undecided metric.

    It is infinite where a thousand times as many users are not enough. Samples of more users are taken to be like the
    fitted one. The weights are those that are best for some multiples of the present users, so the numbers are rough.
    """
    quantile = float(ndtri(0.5 + confidence_level / 2))
    users = kinds.counts.sum()
    needed, left = np.full(len(undecided), np.inf), list(range(len(undecided)))
    uniform = all(isinstance(each, UniformShapeEstimate) for each in estimates)
    for factor in FACTORS[::-1] if uniform else FACTORS[:0:-2]:  # the bounds of samples from strata take longer
        wanted = [undecided[at] for at in left]
        weights = bound_weights(estimates, fits, kinds, PAIRED * quantile / np.sqrt(factor), wanted)
        mean, variance = weights.moments(kinds.counts)
        low, high = np.split(mean + weights.off, 2)  # in the fitted sample
        for distance, spread in zip((low, -high), np.split(np.sqrt(variance), 2), strict=True):
            enough = np.divide(quantile * spread, distance, out=np.full(len(left), np.inf), where=distance > 0) ** 2
            needed[left] = np.fmin(needed[left], np.maximum(enough, users + 1.0))
        left = np.flatnonzero(needed < np.inf).tolist()  # where no number is enough, the first factor says so
        if not left:
            break
    return np.where(needed <= MOST * users, needed, np.inf)


def expected_gaps(
    better: tuple[RankTable, Ints],
    worse: tuple[RankTable, Ints],
    design: SamplingDesign,
    shape: str,
    metric: Metric,
    factors: Sequence[float] = (1.0,),
) -> list[tuple[float, float]]:
    """Return what samples of exact ranks are expected to prove, for weights that are best for multiples of the users.

    Args:
        better: exact ranks of a recommender, and the (rows,) numbers of the users.
        worse: the same of another one.
        design: how negatives are drawn.
        shape: the assumption on the ranks.
        metric: the metric.
        factors: multiples of the users.

    Returns:
        For each factor, the mean of the lower bound of the difference, and its standard deviation over users and their
        samples.
    """
    means, variances = [], []
    for (table, user), side in ((better, -1), (worse, 1)):
        bounds = [(side, PAIRED * _QUANTILE / float(np.sqrt(factor))) for factor in factors]
        mean, variance = user_moments(table, design, *expected_weights(table, design, [shape], metric, bounds))
        means.append(mean_of_rows(mean, user))
        variances.append(mean_of_rows(variance / np.bincount(user)[user][:, np.newaxis], user))
    gaps, variance = means[0] - means[1], (variances[0] + variances[1]).mean(axis=0)
    spread = gaps.var(axis=0, ddof=1) if len(gaps) > 1 else np.full(len(factors), np.nan)
    return [(float(gap), float(np.sqrt(off))) for gap, off in zip(gaps.mean(axis=0), spread + variance, strict=True)]


def negatives_needed(estimates: Sequence[ShapeEstimate], kinds: Units, shape: str, metric: int) -> int | None:
    """Return about how many negatives would let a thousand times the users decide; None if 5000 would not.

    The true ranks are taken to have the distributions that `smooth` finds, and all users the mean number of candidates.
    """
    uniform = [each for each in estimates if isinstance(each, UniformShapeEstimate)]
    if len(uniform) < len(estimates):
        return None
    outcomes = uniform[0].outcomes
    counts = [np.asarray(kinds.counts @ shares) for shares in kinds.shares]
    candidates = round(float(counts[0] @ outcomes.candidates / counts[0].sum()))
    most = min(candidates - 1, _MOST_NEGATIVES)
    size = max(1, int(outcomes.negatives.max()))
    while size < most:
        size = min(int(np.ceil(_STEP * size)), most)
        design = SamplingDesign(size, outcomes.replacement)
        samples = [
            _Sample(Keyed.of(each.outcomes), each.metrics, Keyed((count.tobytes(),), count), design, candidates, shape)
            for each, count in zip(uniform, counts, strict=True)
        ]
        worse, better = sorted(samples, key=lambda each: _limit(each, metric, 0))
        if _limit(better, metric, -1) > _limit(worse, metric, 1):
            return size
    return None


class _Sample(NamedTuple):
    """A recommender, and the design of another sample of it; all that the sample is expected to prove depends on."""

    outcomes: Keyed
    metrics: tuple[Metric, ...]
    counts: Keyed
    design: SamplingDesign
    candidates: int
    shape: str


@lru_cache(maxsize=1024)
def _limit(sample: _Sample, metric: int, side: int) -> float:
    """Return a metric (side 0), or an end of its interval (1 or -1), from a sample of a thousand times the users."""
    fit = _expected_fit(sample, metric)
    if side == 0:
        return float(fit.proportions @ fit.mixture.values[:, 0])
    return float(fit.fitted @ fit.weights(0, side, 1 / np.sqrt(MOST)))


@lru_cache(maxsize=2)  # of the two recommenders of a pair; the fits of many would take much memory
def _expected_fit(sample: _Sample, metric: int) -> Fit:
    """Return the fit to the expected sample."""
    outcomes, metrics, counts, design, candidates, shape = sample
    mixture = _mixture(design, candidates, shape, metrics[metric])
    nodes = rank_nodes(candidates, design)
    total, ranks = counts.value.sum(), np.zeros(len(nodes.ranks))
    for each in rank_distributions(Smooth(), outcomes.value, metrics, counts.value[np.newaxis]):
        number = each.users.nodes(metrics).weights
        density = np.interp(nodes.ranks, each.ranks, each.probabilities[0] / number, right=0.0)
        ranks += each.events[0] / total * density * nodes.weights
    shown = ranks / ranks.sum() @ pmf(nodes.ranks - 1, candidates - 1, design)
    return Fit.of(mixture, total * shown)


@lru_cache(maxsize=2)
def _mixture(design: SamplingDesign, candidates: int, shape: str, metric: Metric) -> Mixture:
    (users,) = rank_classes(Outcomes.of(design, candidates))
    return mixtures(users, (metric,))[shape]
