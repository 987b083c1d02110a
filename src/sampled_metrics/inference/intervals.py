"""Intervals for functions of the counts of users by outcome: in closed form, or by the bootstrap.

Users are the unit. The users and their sampled negatives are a random sample of a population, so the intervals include
the error of sampling negatives. Users with the same outcome are exchangeable, so a bootstrap sample is a multinomial
count of outcomes for any number of users.

The mean of values of users has the interval of `sampled_metrics.inference.bounded_means`, and its p-value. The
bootstrap, where it is asked for, can only make this interval wider.

Other statistics have the bootstrap interval BCa, bias-corrected and accelerated (B. Efron, Better Bootstrap Confidence
Intervals, JASA 82, 1987), widened by the ratio of the quantiles of Student's and the normal distribution, or Student's
interval by the delta method. For a difference, the bootstrap interval is at least Student's, with the standard
deviation of the bootstrap estimates: BCa alone excludes a true 0 in up to a third of samples in which few users differ.
If only d users differ, all of their differences have the same sign with a probability of 2^(1 - d). The interval of
such a statistic includes 0 if this probability is above α.

The p-value of a difference is two-sided, and is the interval inverted: the smallest α for which the interval at the
level 1 - α excludes 0. So p < 0.05 if the 95 % interval excludes 0. It is the probability of a difference of this size
or more, in either direction, if there is none in the population; it is not the probability that there is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats, Ints, is_real, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.inference.bounded_means import SMALLEST_P_VALUE, mean_interval, p_value_of_zero

Statistic = Callable[[np.ndarray], Floats]
"""(samples, outcomes) counts → (samples, metrics) estimates, or (samples, recommenders, metrics) ones."""


METHODS = ("bootstrap", "delta")

MOST_OUTCOMES = 300
"""Largest number of outcomes for which a nonlinear statistic is computed with one user left out."""

MOST_RESAMPLES = 1_000_000
"""Largest number of resamples. More do not change the digits that are shown."""

FEW_USERS = 100
"""Below this number of users, a remark says that an interval is rough."""

_HALVINGS = 45  # of the search for a p-value, on a logarithmic scale

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
    """The confidence level and the method of an interval; the names are those of the parameters of `evaluate`."""

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
        if self.method is not None and not (isinstance(self.method, str) and self.method in METHODS):
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


@dataclass(frozen=True)
class Evaluated:
    """The values of a statistic that its interval is made of.

    Attributes:
        estimate: (…, metrics) the value for the users.
        left_out: (outcomes, …, metrics) values with one user left out, by the outcome of that user; None if they are
            not needed, or are too many.
        replicates: (resamples, …, metrics) values for users that are drawn with replacement; None without a bootstrap.
    """

    estimate: Floats
    left_out: Floats | None = None
    replicates: Floats | None = None

    def difference(self, one: int, other: int, ratio: float = 1.0) -> "Evaluated":
        """Return the values of a recommender minus those of another one times a ratio.

        The values here are those of several recommenders, (…, recommenders, metrics).
        """
        left_out, replicates = (
            None if values is None else values[:, other] - ratio * values[:, one]
            for values in (self.left_out, self.replicates)
        )
        return Evaluated(self.estimate[other] - ratio * self.estimate[one], left_out, replicates)


def evaluated(
    statistic: Statistic,
    counts: Ints,
    options: IntervalOptions,
    weights: Floats | None = None,
    progress: Progress = no_progress,
) -> Evaluated:
    """Return the values of a statistic that its interval is made of.

    Args:
        statistic: the metrics, or those of several recommenders.
        counts: (outcomes,) numbers of users by outcome.
        options: of the interval.
        weights: (…, metrics, outcomes) weights of a linear statistic.
        progress: wraps the blocks of bootstrap samples.

    Raises:
        DataError: there are fewer than two users.
    """
    users = int(counts.sum())
    if users < 2:
        raise DataError(f"an interval needs two users or more, not {users}")
    estimate, is_linear = statistic(counts[np.newaxis])[0], weights is not None
    if not uses_bootstrap(options, is_linear):
        return Evaluated(estimate, None if is_linear else _left_out(statistic, counts, None, estimate))
    left_out = _left_out(statistic, counts, weights, estimate)
    replicates = [statistic(drawn) for drawn in resamples(counts, options, progress)]
    return Evaluated(estimate, left_out, np.concatenate(replicates))


def uncertainty(
    values: Evaluated,
    counts: Ints,
    options: IntervalOptions,
    *,
    bounds: tuple[ArrayLike, ArrayLike],
    weights: Floats | None = None,
    alpha: Floats | None = None,
    differ: int = 0,
    test: bool = False,
) -> Uncertainty:
    """Return the intervals of a statistic of the users' outcomes.

    Args:
        values: the values of the statistic, by `evaluated` with the same options and weights.
        counts: (outcomes,) numbers of users by outcome.
        options: of the intervals; the method is delta for a linear statistic and bootstrap for others, unless given.
        bounds: (metrics,) smallest and largest values that a user can have.
        weights: (metrics, outcomes) weights of a linear statistic.
        alpha: (metrics,) error rates of the intervals, in place of 1 - the confidence level.
        differ: number of users who can differ from 0, for the p-values of a statistic that is not linear.
        test: whether to compute p-values; the metrics are then differences.

    Raises:
        DataError: the delta method takes too much work.
    """
    users, estimate, left_out, replicates = int(counts.sum()), values.estimate, values.left_out, values.replicates
    least, most = (np.broadcast_to(np.asarray(bound, dtype=np.float64), estimate.shape) for bound in bounds)
    rates = np.broadcast_to(1 - options.confidence_level if alpha is None else alpha, estimate.shape)
    if weights is not None:
        of_mean = _of_means(weights, counts, estimate, (least, most), rates, test)
        if replicates is None:
            return of_mean
    if replicates is not None:
        error, smallest = replicates.std(axis=0, ddof=1), 1 / (len(replicates) + 1)
        reach = error if test else np.zeros_like(error)
        ends = partial(_bootstrap_ends, estimate, replicates, left_out, counts, reach)
    elif left_out is None:
        raise DataError(
            f"the delta method for an estimator that is not linear needs {MOST_OUTCOMES} different outcomes or "
            f"fewer, not {len(counts)}; take the bootstrap"
        )
    else:
        error, smallest = _jackknife_error(left_out, counts), SMALLEST_P_VALUE
        ends = partial(_student_ends, estimate, error, users)
    if weights is None:
        # probability that all values that differ from 0 have the same sign, if both signs are possible
        same_sign = np.where(_both_signs(least, most), 2.0 ** (1.0 - differ), 0.0) if test else np.zeros_like(least)
        ends = partial(_with_width, ends, estimate, users, (least, most), same_sign)
    low, high = ends(rates)
    p_value = _inverted(ends, smallest, estimate) if test else np.full_like(low, np.nan)
    if weights is not None:
        low, high = np.minimum(low, of_mean.low), np.maximum(high, of_mean.high)
        p_value = np.maximum(p_value, of_mean.p_value)
    return Uncertainty(np.maximum(low, least), np.minimum(high, most), error, p_value)


def _of_means(
    weights: Floats, counts: Ints, estimate: Floats, bounds: tuple[Floats, Floats], rates: Floats, test: bool
) -> Uncertainty:
    """Return intervals of the means of (metrics, outcomes) weights; other parameters as in `uncertainty`."""
    rows = list(zip(weights, *bounds, rates, strict=True))
    ends = np.array([mean_interval(row, counts, (least, most), rate) for row, least, most, rate in rows])
    p_values = [p_value_of_zero(row, counts, (least, most)) if test else np.nan for row, least, most, _ in rows]
    variance = (weights - estimate[:, np.newaxis]) ** 2 @ counts / (counts.sum() - 1)
    return Uncertainty(ends[:, 0], ends[:, 1], np.sqrt(variance / counts.sum()), np.array(p_values))


Ends = Callable[[Floats], tuple[Floats, Floats]]
"""(metrics,) error rates → (metrics,) lower and upper ends."""


def _bootstrap_ends(
    estimate: Floats, replicates: Floats, left_out: Floats | None, counts: Ints, reach: Floats, rates: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of BCa, or those of Student's interval with the standard errors `reach` where these are wider."""
    users = int(counts.sum())
    quantile = -stdtrit(users - 1, rates / 2)
    wider = -quantile / ndtri(rates / 2) * np.sqrt(users / (users - 1))
    low, high = (estimate + wider * (end - estimate) for end in _bca(estimate, replicates, left_out, counts, rates))
    return np.minimum(low, estimate - quantile * reach), np.maximum(high, estimate + quantile * reach)


def _student_ends(estimate: Floats, error: Floats, users: int, rates: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Student's interval."""
    reach = -stdtrit(users - 1, rates / 2) * error
    return estimate - reach, estimate + reach


def _jackknife_error(left_out: Floats, counts: Ints) -> Floats:
    """Return the (metrics,) standard errors from the (outcomes, metrics) estimates with one user left out."""
    users = counts.sum()
    return np.asarray(np.sqrt(counts @ (left_out - counts @ left_out / users) ** 2 * (users - 1) / users))


def _with_width(
    ends: Ends, estimate: Floats, users: int, bounds: tuple[Floats, Floats], same_sign: Floats, rates: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of intervals that hold the estimate, hold 0 if few users differ, and are not points."""
    least, most = bounds
    low, high = ends(rates)
    few = same_sign > rates
    low, high = np.where(few, np.minimum(low, 0.0), low), np.where(few, np.maximum(high, 0.0), high)
    same = ~(high - low > _NO_WIDTH * (most - least))
    # the ends if t² more users had the smallest, or the largest, value
    share = users / (users + stdtrit(users - 1, rates / 2) ** 2)
    low = np.where(same, share * estimate + (1 - share) * least, low)
    high = np.where(same, share * estimate + (1 - share) * most, high)
    return np.minimum(low, estimate), np.maximum(high, estimate)


def uses_bootstrap(options: IntervalOptions, is_linear: bool) -> bool:
    """Return whether the bootstrap makes the intervals; it is the default for statistics that are not linear."""
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


def _both_signs(least: ArrayLike, most: ArrayLike) -> np.ndarray:
    """Return whether values from the least to the most can have both signs, up to rounding."""
    least, most = np.asarray(least), np.asarray(most)
    return (least < -_ROUNDING * most) & (most > -_ROUNDING * least)


def _left_out(statistic: Statistic, counts: Ints, weights: Floats | None, estimate: Floats) -> Floats | None:
    """Return (outcomes, …, metrics) estimates with one user left out, by the outcome of that user."""
    users = counts.sum()
    if weights is not None:
        return np.asarray((users * estimate - np.moveaxis(weights, -1, 0)) / (users - 1))
    if len(counts) > MOST_OUTCOMES:
        return None
    left_out = np.repeat(estimate[np.newaxis], len(counts), axis=0)
    seen = np.flatnonzero(counts)
    left_out[seen] = statistic(counts - np.eye(len(counts), dtype=counts.dtype)[seen])
    return left_out


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
        influence = counts @ left_out / counts.sum() - left_out
        largest = np.abs(influence).max(axis=0)
        influence = np.divide(influence, largest, out=np.zeros_like(influence), where=largest > 0)
        spread = counts @ influence**2
        acceleration = np.divide(counts @ influence**3, 6 * spread**1.5, out=acceleration, where=spread > 0)
    ends = []
    for distance in (ndtri(rates / 2), -ndtri(rates / 2)):
        moved = shift + distance
        level = ndtr(shift + moved / np.maximum(1 - acceleration * moved, 1e-3))
        ends.append(np.array([np.quantile(column, share) for column, share in zip(replicates.T, level, strict=True)]))
    return ends[0], ends[1]


def _share_below(replicates: Floats, value: Floats | float) -> Floats:
    """Return the share of the replicates below a value; replicates equal up to rounding count as half."""
    rounding = 1e-12 * np.abs(replicates).max(axis=0)
    return ((replicates < value - rounding).mean(axis=0) + (replicates <= value + rounding).mean(axis=0)) / 2
