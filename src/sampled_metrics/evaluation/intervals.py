"""Intervals for functions of the counts of users by outcome: in closed form, or by the bootstrap.

Users are the unit. The users and their sampled negatives are a random sample of a population, so the intervals include
the error of sampling negatives. Users with the same outcome are exchangeable, so a bootstrap sample is a multinomial
count of outcomes for any number of users.

The closed form is the score interval of E. B. Wilson (Probable Inference, JASA 22, 1927), for means of any values that
have bounds. It holds the means μ with (ȳ - μ)² <= t² V(μ) / U, with the quantile t of Student's distribution. The
variance V(μ) = κ μ - μ² grows with the mean, as hits are rare or frequent; κ = Σ y² / Σ y is the size of a hit. For
values 0 and 1, κ is 1, and this is Wilson's interval. κ counts half a hit of the largest size, so the interval has a
width even if all users are the same. Differences of metrics have Student's interval, or this one where it is wider.

The bootstrap interval is BCa, bias-corrected and accelerated (B. Efron, Better Bootstrap Confidence Intervals, JASA 82,
1987), and widened by the ratio of the quantiles of Student's and the normal distribution.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import is_real, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError

Statistic = Callable[[np.ndarray], Floats]
"""(samples, outcomes) counts → (samples, metrics) estimates."""

Progress = Callable[[Iterable[int]], Iterable[int]]
"""Wraps a range, for a progress bar."""


def no_progress(steps: Iterable[int]) -> Iterable[int]:
    """Return the steps unchanged, without a progress bar."""
    return steps


METHODS = ("bootstrap", "delta")

MOST_OUTCOMES = 300
"""Largest number of outcomes for which a nonlinear statistic is computed with one user left out."""

MOST_RESAMPLES = 1_000_000
"""Largest number of resamples. More do not change the digits that are shown."""

FEW_USERS = 100
"""Below this number of users, a remark says that an interval is rough."""

_ROUNDING = 1e-12  # relative differences up to this are none

_NO_WIDTH = 1e-6  # widths up to this, relative to the bounds of a user's value, show only that all users are alike

_BLOCK = 4_000_000  # counts held at once

_NUMBERS = 2**25  # numbers that a statistic holds at once, over the samples of a block


@dataclass(frozen=True)
class Uncertainty:
    """(metrics,) ends of intervals, standard errors, and probabilities that the metric is above 0."""

    low: Floats
    high: Floats
    standard_error: Floats
    positive: Floats


@dataclass(frozen=True)
class IntervalOptions:
    """Options of an interval, as in `evaluate`."""

    confidence_level: float = 0.95
    method: str | None = None
    n_resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        level = self.confidence_level
        if not is_real(level):
            raise ConfigError(f"confidence_level must be a number above 0 and below 1, not {shown(level)}")
        if not level > 0 or not 0.5 + level / 2 < 1:  # the sum may round to 1
            raise ConfigError(f"confidence_level must be above 0 and below 1, not {level}")
        if self.method is not None and self.method not in METHODS:
            raise ConfigError(f"unknown method {shown(self.method)}; it may be {', '.join(METHODS)}")
        if not is_whole(self.n_resamples):
            raise ConfigError(f"n_resamples must be a whole number, 100 or more, not {shown(self.n_resamples)}")
        if not 100 <= self.n_resamples <= MOST_RESAMPLES:
            raise ConfigError(f"n_resamples must be from 100 to {MOST_RESAMPLES}, not {self.n_resamples}")
        if not is_whole(self.seed) or self.seed < 0:
            raise ConfigError(f"seed must be a whole number, 0 or more, not {shown(self.seed)}")


def linear(weights: Floats) -> Statistic:
    """Return the statistic Σ_x counts_x w_x / Σ_x counts_x of (metrics, outcomes) weights."""
    return lambda counts: counts @ weights.T / counts.sum(axis=1, keepdims=True)


def in_blocks(statistic: Statistic, numbers: int) -> Statistic:
    """Return the statistic computed in blocks of samples that fit into memory; a sample takes `numbers` numbers."""
    step = max(1, _NUMBERS // numbers)

    def blockwise(counts: np.ndarray) -> Floats:
        if counts.ndim == 1 or len(counts) <= step:
            return statistic(counts)
        return np.concatenate([statistic(counts[first : first + step]) for first in range(0, len(counts), step)])

    return blockwise


def uncertainty(
    statistic: Statistic,
    counts: Ints,
    options: IntervalOptions,
    *,
    bounds: tuple[ArrayLike, ArrayLike],
    weights: Floats | None = None,
    progress: Progress = no_progress,
) -> Uncertainty:
    """Compute intervals of a statistic of the users' outcomes.

    Args:
        statistic: the metrics.
        counts: (outcomes,) numbers of users by outcome.
        options: of the intervals; the method is delta for a linear statistic and bootstrap for others, unless given.
        bounds: (metrics,) smallest and largest values that a user can have.
        weights: (metrics, outcomes) weights of a linear statistic.
        progress: wraps the blocks of bootstrap samples.

    Raises:
        DataError: there are fewer than two users, or the delta method takes too much work.
    """
    users = int(counts.sum())
    if users < 2:
        raise DataError(f"an interval needs two users or more, not {users}")
    estimate = statistic(counts[np.newaxis])[0]
    least, most = (np.broadcast_to(np.asarray(bound, dtype=np.float64), estimate.shape) for bound in bounds)
    quantile = float(stdtrit(users - 1, 0.5 + options.confidence_level / 2))
    left_out = _left_out(statistic, counts, weights, estimate)
    if options.method == "bootstrap" or (options.method is None and weights is None):
        replicates = _bootstrap(statistic, counts, options, progress)
        wider = quantile / ndtri(0.5 + options.confidence_level / 2) * np.sqrt(users / (users - 1))
        ends = _bca(estimate, replicates, left_out, counts, options.confidence_level)
        low, high = (estimate + wider * (end - estimate) for end in ends)
        error, positive = replicates.std(axis=0, ddof=1), 1 - _share_below(replicates, 0.0)
    else:
        if left_out is None:
            raise DataError(
                f"the delta method for an estimator that is not linear needs {MOST_OUTCOMES} different outcomes or "
                f"fewer, not {len(counts)}; take the bootstrap"
            )
        variance = counts @ (left_out - counts @ left_out / users) ** 2 * (users - 1) / users
        error = np.sqrt(variance)
        low, high = estimate - quantile * error, estimate + quantile * error
        positive = stdtr(users - 1, np.divide(estimate, error, out=np.zeros_like(error), where=error > 0))
        if weights is not None:
            alpha = 1 - options.confidence_level
            scores = [_score(*each, counts, quantile, alpha) for each in zip(weights, least, most, strict=True)]
            low, high = (np.array(end) for end in zip(*scores, strict=True))
            error_at_0 = np.sqrt(weights**2 @ counts) / users
            positive = stdtr(users - 1, np.divide(estimate, error_at_0, out=np.zeros_like(error), where=error_at_0 > 0))
    same = ~(high - low > _NO_WIDTH * (most - least))
    share = users / (users + quantile**2)  # the ends if t² more users had the smallest, or the largest, value
    low = np.where(same, share * estimate + (1 - share) * least, low)
    high = np.where(same, share * estimate + (1 - share) * most, high)
    # a mean is within the bounds of a user's values
    low, high = np.maximum(low, least), np.minimum(high, most)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return Uncertainty(low, high, error, positive)


def _score(
    values: Floats, least: float, most: float, counts: Ints, quantile: float, alpha: float
) -> tuple[float, float]:
    """Return the ends of the score interval of a mean of values with these bounds; see the top of this file.

    If the mean is above the middle of values of one sign, the hits are the distances from the largest value. Values of
    both signs have Student's interval, or that of hits where it is wider. It includes 0 if so few values differ from 0
    that the same sign of all of them would be no surprise.
    """
    users = int(counts.sum())
    mean, ratio = float(counts @ values / users), quantile**2 / users
    if least >= -_ROUNDING * most:
        if mean <= most / 2:
            return _score_of_hits(mean, _hit_size(values, most, counts), ratio)
        low, high = _score_of_hits(most - mean, _hit_size(most - values, most, counts), ratio)
        return most - high, most - low
    largest = float(np.abs(values[counts > 0]).max()) or max(-least, most)
    reach = float(np.sqrt(ratio * (counts @ (values - mean) ** 2) / (users - 1)))
    ends = [mean - reach, mean + reach]
    hit = _hit_size(np.abs(values), largest, counts)
    for sign in (1, -1):
        if sign * mean + ratio * hit / 2 > np.sqrt(1 + ratio) * abs(mean):
            ends += [sign * end for end in _score_of_hits(sign * mean, hit, ratio)]
    if 2.0 ** (1 - counts[values != 0].sum()) > alpha:
        ends.append(0.0)
    return min(ends), max(ends)


def _hit_size(values: Floats, most: float, counts: Ints) -> float:
    """Return κ = Σ y² / Σ y of values from 0, with half a hit of the largest size added; 0 if all are 0."""
    return 0.0 if most == 0 else float((counts @ values**2 + most**2 / 2) / (counts @ values + most / 2))


def _score_of_hits(mean: float, hit: float, ratio: float) -> tuple[float, float]:
    """Return the roots of (ȳ - μ)² = (κ μ - μ²) t²/U."""
    half = mean + ratio * hit / 2
    root = np.sqrt(max(half**2 - (1 + ratio) * mean**2, 0.0))
    return float((half - root) / (1 + ratio)), float((half + root) / (1 + ratio))


def _left_out(statistic: Statistic, counts: Ints, weights: Floats | None, estimate: Floats) -> Floats | None:
    """Return (outcomes, metrics) estimates with one user left out, by the outcome of that user."""
    users = counts.sum()
    if weights is not None:
        return (users * estimate - weights.T) / (users - 1)
    if len(counts) > MOST_OUTCOMES:
        return None
    left_out = np.tile(estimate, (len(counts), 1))
    there = np.flatnonzero(counts)
    left_out[there] = statistic(counts - np.eye(len(counts), dtype=counts.dtype)[there])
    return left_out


def _bootstrap(statistic: Statistic, counts: Ints, options: IntervalOptions, progress: Progress) -> Floats:
    """Return (resamples, metrics) estimates."""
    rng = np.random.default_rng(options.seed)
    users = counts.sum()
    step = max(1, _BLOCK // len(counts))
    blocks = [
        statistic(rng.multinomial(users, counts / users, size=min(step, options.n_resamples - first)))
        for first in progress(range(0, options.n_resamples, step))
    ]
    return np.concatenate(blocks)


def _bca(
    estimate: Floats, replicates: Floats, left_out: Floats | None, counts: Ints, confidence: float
) -> tuple[Floats, Floats]:
    """Return quantiles of the replicates at levels corrected for bias and skewness."""
    below = _share_below(replicates, estimate)
    smallest = 0.5 / len(replicates)
    one_sided = (below < smallest) | (below > 1 - smallest)  # the shift is not known then, and taken as 0
    shift = np.where(one_sided, 0.0, ndtri(np.clip(below, smallest, 1 - smallest)))
    acceleration = np.zeros_like(estimate)
    if left_out is not None:
        off = counts @ left_out / counts.sum() - left_out
        largest = np.abs(off).max(axis=0)
        off = np.divide(off, largest, out=np.zeros_like(off), where=largest > 0)
        spread = counts @ off**2
        acceleration = np.divide(counts @ off**3, 6 * spread**1.5, out=acceleration, where=spread > 0)
    ends = []
    for tail in (0.5 - confidence / 2, 0.5 + confidence / 2):
        moved = shift + ndtri(tail)
        level = ndtr(shift + moved / np.maximum(1 - acceleration * moved, 1e-3))
        ends.append(np.array([np.quantile(column, at) for column, at in zip(replicates.T, level, strict=True)]))
    return ends[0], ends[1]


def _share_below(replicates: Floats, value: Floats | float) -> Floats:
    """Return the share of the replicates below a value; replicates equal up to rounding count as half."""
    rounding = 1e-12 * np.abs(replicates).max(axis=0)
    return ((replicates < value - rounding).mean(axis=0) + (replicates <= value + rounding).mean(axis=0)) / 2
