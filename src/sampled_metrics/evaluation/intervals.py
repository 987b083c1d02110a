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
1987), and widened by the ratio of the quantiles of Student's and the normal distribution. For a difference it is
Student's interval, with the standard deviation of the bootstrap estimates, where that is wider. BCa alone excludes a
true 0 in up to a third of samples in which few users differ.

If few users differ by values of both signs, that all of them have the same sign is no surprise: with a chance of
2^(1 - d) for d users. The interval includes 0 if this chance is above α.

The p-value of a difference is two-sided, and is the interval inverted: the smallest α for which the interval at the
level 1 - α excludes 0. So p < 0.05 if the 95 % interval excludes 0. It is the chance of a difference of this size or
more, in either direction, if there is none in the population; it is not the probability that there is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats, Ints, is_real, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError

Statistic = Callable[[np.ndarray], Floats]
"""(samples, outcomes) counts → (samples, metrics) estimates."""


METHODS = ("bootstrap", "delta")

MOST_OUTCOMES = 300
"""Largest number of outcomes for which a nonlinear statistic is computed with one user left out."""

MOST_RESAMPLES = 1_000_000
"""Largest number of resamples. More do not change the digits that are shown."""

FEW_USERS = 100
"""Below this number of users, a remark says that an interval is rough."""

_HALVINGS = 45  # of the search for a p-value, on a logarithmic scale

_SMALLEST = 1e-50  # p-value by the delta method; squares of Student's quantiles of smaller ones overflow

_ROUNDING = 1e-12  # relative differences up to this are none

_NO_WIDTH = 1e-6  # widths up to this, relative to the bounds of a user's value, show only that all users are alike

_BLOCK = 4_000_000  # counts held at once

_NUMBERS = 2**25  # numbers that a statistic holds at once, over the samples of a block


@dataclass(frozen=True)
class Uncertainty:
    """(metrics,) ends of intervals, standard errors, and two-sided p-values.

    The p-value is that of a metric of 0, where it was asked for, and NaN if not. By the bootstrap it is never below
    1 / (n_resamples + 1).
    """

    low: Floats
    high: Floats
    standard_error: Floats
    p_value: Floats


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
    alpha: Floats | None = None,
    replicates: Floats | None = None,
    differ: float | Ints = np.inf,
    test: bool = False,
    progress: Progress = no_progress,
) -> Uncertainty:
    """Compute intervals of a statistic of the users' outcomes.

    Args:
        statistic: the metrics.
        counts: (outcomes,) numbers of users by outcome.
        options: of the intervals; the method is delta for a linear statistic and bootstrap for others, unless given.
        bounds: (metrics,) smallest and largest values that a user can have.
        weights: (metrics, outcomes) weights of a linear statistic.
        alpha: (metrics,) error rates of the intervals, in place of 1 - the confidence level.
        replicates: (resamples, metrics) bootstrap estimates, if they are known already.
        differ: number of users who can differ from 0, if the statistic is not linear.
        test: whether to compute p-values; the metrics are then differences.
        progress: wraps the blocks of bootstrap samples.

    Raises:
        DataError: there are fewer than two users, or the delta method takes too much work.
    """
    users = int(counts.sum())
    if users < 2:
        raise DataError(f"an interval needs two users or more, not {users}")
    estimate = statistic(counts[np.newaxis])[0]
    least, most = (np.broadcast_to(np.asarray(bound, dtype=np.float64), estimate.shape) for bound in bounds)
    rates = np.broadcast_to(1 - options.confidence_level if alpha is None else alpha, estimate.shape)
    left_out = _left_out(statistic, counts, weights, estimate)
    if uses_bootstrap(options, weights is not None):
        if replicates is None:
            replicates = bootstrap(statistic, counts, options, progress)
        error, smallest = replicates.std(axis=0, ddof=1), 1 / (len(replicates) + 1)

        def ends(rates: Floats) -> tuple[Floats, Floats]:
            quantile = -stdtrit(users - 1, rates / 2)
            wider = -quantile / ndtri(rates / 2) * np.sqrt(users / (users - 1))
            low, high = (
                estimate + wider * (end - estimate) for end in _bca(estimate, replicates, left_out, counts, rates)
            )
            reach = quantile * error if test else 0.0  # BCa alone excludes 0 too often where few users differ
            return np.minimum(low, estimate - reach), np.maximum(high, estimate + reach)
    else:
        if left_out is None:
            raise DataError(
                f"the delta method for an estimator that is not linear needs {MOST_OUTCOMES} different outcomes or "
                f"fewer, not {len(counts)}; take the bootstrap"
            )
        error = np.sqrt(counts @ (left_out - counts @ left_out / users) ** 2 * (users - 1) / users)
        smallest = _SMALLEST
        scores = (
            [] if weights is None else [_Score.of(*each, counts) for each in zip(weights, least, most, strict=True)]
        )

        def ends(rates: Floats) -> tuple[Floats, Floats]:
            quantile = -stdtrit(users - 1, rates / 2)
            if weights is None:
                return estimate - quantile * error, estimate + quantile * error
            found = [score.ends(float(each)) for score, each in zip(scores, quantile, strict=True)]
            return np.array([low for low, _ in found]), np.array([high for _, high in found])

    if weights is not None:
        differ = counts @ (weights.T != 0)
    # chance that as many values as differ from 0 have the same sign, if they can have both
    same_sign = np.where(_both_signs(least, most), 2.0 ** (1.0 - differ), 0.0)

    def with_width(rates: Floats) -> tuple[Floats, Floats]:
        low, high = ends(rates)
        few = same_sign > rates
        low, high = np.where(few, np.minimum(low, 0.0), low), np.where(few, np.maximum(high, 0.0), high)
        same = ~(high - low > _NO_WIDTH * (most - least))
        # the ends if t² more users had the smallest, or the largest, value
        share = users / (users + stdtrit(users - 1, rates / 2) ** 2)
        low = np.where(same, share * estimate + (1 - share) * least, low)
        high = np.where(same, share * estimate + (1 - share) * most, high)
        # a mean is within the bounds of a user's values
        low, high = np.maximum(low, least), np.minimum(high, most)
        return np.minimum(low, estimate), np.maximum(high, estimate)

    low, high = with_width(rates)
    return Uncertainty(
        low, high, error, _inverted(with_width, smallest, estimate) if test else np.full_like(low, np.nan)
    )


def uses_bootstrap(options: IntervalOptions, is_linear: bool) -> bool:
    """Return whether intervals are made by the bootstrap: it is the default of what is not linear."""
    return options.method == "bootstrap" or (options.method is None and not is_linear)


def _inverted(ends: Callable[[Floats], tuple[Floats, Floats]], smallest: float, estimate: Floats) -> Floats:
    """Return the (metrics,) smallest α, from `smallest` to 1, for which the interval at 1 - α excludes 0."""
    low, high = np.full(estimate.shape, np.log(smallest)), np.zeros(estimate.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        bottom, top = ends(np.exp(middle))
        excludes = (bottom > 0) | (top < 0)
        low, high = np.where(excludes, low, middle), np.where(excludes, middle, high)
    return np.where(np.isnan(estimate), np.nan, np.exp(high))


@dataclass(frozen=True)
class _Score:
    """The score interval of a mean of values with bounds; see the top of this file.

    If the mean of values of one sign is beyond the middle, the hits are the distances from the value that is farthest
    from 0. Values of both signs have Student's interval, or that of hits where it is wider.

    Attributes:
        users: how many.
        mean: of the hits.
        hit: the size of a hit.
        sign: 1 or -1; a value is the origin and this times a hit.
        origin: the value that is no hit.
        spread: the variance of values of both signs; None if they have one sign.
    """

    users: int
    mean: float
    hit: float
    sign: int = 1
    origin: float = 0.0
    spread: float | None = None

    @classmethod
    def of(cls, values: Floats, least: float, most: float, counts: Ints) -> "_Score":
        users = int(counts.sum())
        mean = float(counts @ values / users)
        if not _both_signs(least, most):
            sign = 1 if most >= -least else -1
            values, mean, most = sign * values, sign * mean, max(most, -least)
            if mean <= most / 2:
                return cls(users, mean, _hit_size(values, most, counts), sign)
            return cls(users, most - mean, _hit_size(most - values, most, counts), -sign, sign * most)
        largest = float(np.abs(values[counts > 0]).max()) or max(-least, most)
        spread = float(counts @ (values - mean) ** 2 / (users - 1))
        return cls(users, mean, _hit_size(np.abs(values), largest, counts), spread=spread)

    def ends(self, quantile: float) -> tuple[float, float]:
        ratio = quantile**2 / self.users
        if self.spread is None:
            low, high = _score_of_hits(self.mean, self.hit, ratio)
            ends = [self.origin + self.sign * low, self.origin + self.sign * high]
        else:
            reach = float(np.sqrt(ratio * self.spread))
            ends = [self.mean - reach, self.mean + reach]
            for sign in (1, -1):
                if sign * self.mean + ratio * self.hit / 2 > np.sqrt(1 + ratio) * abs(self.mean):
                    ends += [sign * end for end in _score_of_hits(sign * self.mean, self.hit, ratio)]
        return min(ends), max(ends)


def _both_signs(least: ArrayLike, most: ArrayLike) -> np.ndarray:
    """Return whether values from the least to the most can have both signs, up to rounding."""
    least, most = np.asarray(least), np.asarray(most)
    return (least < -_ROUNDING * most) & (most > -_ROUNDING * least)


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


def bootstrap(statistic: Statistic, counts: Ints, options: IntervalOptions, progress: Progress) -> Floats:
    """Return (resamples, metrics) estimates."""
    return np.concatenate([statistic(drawn) for drawn in resamples(counts, options, progress)])


def resamples(counts: Ints, options: IntervalOptions, progress: Progress) -> Iterator[Ints]:
    """Yield blocks of (samples, outcomes) counts of users who are drawn with replacement."""
    rng, users = np.random.default_rng(options.seed), counts.sum()
    step = max(1, _BLOCK // len(counts))
    for first in progress(range(0, options.n_resamples, step)):
        yield rng.multinomial(users, counts / users, size=min(step, options.n_resamples - first))


def _bca(
    estimate: Floats, replicates: Floats, left_out: Floats | None, counts: Ints, rates: Floats
) -> tuple[Floats, Floats]:
    """Return quantiles of the replicates at levels corrected for bias and skewness, for (metrics,) error rates."""
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
    for distance in (ndtri(rates / 2), -ndtri(rates / 2)):
        moved = shift + distance
        level = ndtr(shift + moved / np.maximum(1 - acceleration * moved, 1e-3))
        ends.append(np.array([np.quantile(column, at) for column, at in zip(replicates.T, level, strict=True)]))
    return ends[0], ends[1]


def _share_below(replicates: Floats, value: Floats | float) -> Floats:
    """Return the share of the replicates below a value; replicates equal up to rounding count as half."""
    rounding = 1e-12 * np.abs(replicates).max(axis=0)
    return ((replicates < value - rounding).mean(axis=0) + (replicates <= value + rounding).mean(axis=0)) / 2
