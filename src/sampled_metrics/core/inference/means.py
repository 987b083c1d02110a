"""Intervals of means over users.

Values with bounds have intervals by the likelihood ratio, and values without bounds Student's.

A mean μ is compatible with U values y_u from L to H if some distribution on [L, H] has this mean
and explains the values well. The deviance of μ below the sample mean is the loss of log-likelihood
of the best such distribution,

    D(μ) = max over λ of Σ_u log(1 + λ (y_u - μ)),  where 1 + λ (L - μ) >= 0,

and that above the sample mean is the same of -y. The distribution may have mass at the bound L,
seen or not. D is U times the quantity KL_inf of Honda and Takemura, the empirical likelihood ratio
of Owen with the bounds as support points, and the betting interval of Waudby-Smith and Ramdas in
hindsight. The interval holds the μ with

    D(μ) <= z²/2 + (log(2/α) - z²/2) / k,

with the quantile z of the normal distribution at 1 - α/2. The first part is the limit for many
users. The second part is for few. If no value is near the bound L, then k = 1: the interval allows
a share 1 - (α/2)^(1/U) of users at L, as no user is there with probability α/2 then. In general k
is the number of users who decide the end: the users on the rarer side of the sample mean, counted
by their squared distances, (Σ d²)² / Σ d⁴, and one more, who is at L on the side of the end. For
values 0 and 1, k - 1 is the number of ones or of zeros, whichever is smaller.

With Poisson counts the interval at 95 % has a coverage of 94.1 % or more
(tests/core/inference/test_means.py). docs/coverage.md has the lowest coverage that a search over
many distributions finds.

The p-value of a mean of 0 is the interval inverted: the smallest α for which the interval excludes
0.

References:
    A. B. Owen, Empirical Likelihood Ratio Confidence Intervals for a Single Functional, Biometrika
    75, 1988. J. Honda and A. Takemura, An Asymptotically Optimal Bandit Algorithm for Bounded
    Support Models, COLT 2010. I. Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random
    Variables by Betting, JRSS B 86, 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri, ndtri, stdtr, stdtrit

from sampled_metrics.checks import Floats, Ints

SMALLEST_P_VALUE = 1e-50
"""Smallest p-value that is distinguished from 0."""

FEW_USERS = 100
"""Below this number of users, a finding says that an interval is rough."""

_STEPS = 100  # most steps of a search; Newton's method takes about five
_CLOSE = 1e-12  # relative change at which a search ends
_ROUNDING = 1e-12  # relative distances up to this are none
# widths up to this, relative to the limits of a mean, show only that all users are alike
_NO_WIDTH = 1e-6


@dataclass(frozen=True)
class Intervals:
    """The intervals of the means of some metrics.

    Attributes:
        low: (metrics,) lower ends.
        high: (metrics,) upper ends.
        standard_error: (metrics,) standard errors; NaN where a mean is known to lie between two
            means only.
        p_value: (metrics,) two-sided p-values of a mean of 0.
    """

    low: Floats
    high: Floats
    standard_error: Floats
    p_value: Floats


def intervals(
    low: Floats,
    high: Floats,
    bounds: Floats,
    limits: Floats,
    alpha: Floats | float,
    *,
    test: bool = False,
) -> Intervals:
    """Return the intervals of means that lie between the means of two values of each user.

    The lower end comes from the interval of the mean of `low`, and the upper end from `high`.

    Args:
        low: (metrics, users) values whose mean is, in expectation, at most the one that is sought;
            NaN if it is not defined.
        high: (metrics, users) values whose mean is at least the one that is sought: the same array
            as `low` where the mean is that of the values.
        bounds: (metrics, 2, 2) smallest and largest value of `low`, and of `high`. Where they are
            infinite, the interval is Student's.
        limits: (metrics, 2) smallest and largest value of the mean.
        alpha: the error rate, or (metrics,) error rates.
        test: whether to compute the p-value of a mean of 0: the smallest α for which the interval
            excludes 0.

    Returns:
        The intervals; NaN for a single user, whose value does not show how users vary.
    """
    metrics, users = low.shape
    if users < 2:
        return Intervals(*np.full((4, metrics), np.nan))
    rows = np.full((metrics, 4), np.nan)
    rates = np.broadcast_to(np.asarray(alpha, dtype=np.float64), metrics)
    for row, (rate, limit) in enumerate(zip(rates, limits, strict=True)):
        if np.isnan(low[row]).any() or np.isnan(high[row]).any():
            continue
        values, counts = np.unique(low[row], return_counts=True)
        if not np.isfinite(bounds[row]).all():
            rows[row] = _student(values, counts, limit, rate)
            continue
        lower = LowerSide.from_values(values, counts, bounds[row, 0])
        if high is low:
            upper = LowerSide.from_values(-values, counts, -bounds[row, 1, ::-1])
            rows[row, 2] = _standard_error(values, counts)
        else:
            high_values, high_counts = np.unique(high[row], return_counts=True)
            upper = LowerSide.from_values(-high_values, high_counts, -bounds[row, 1, ::-1])
        rows[row, :2] = np.clip(sorted((lower.end(rate), -upper.end(rate))), *limit)
        rows[row, 3] = _p_value(lower, upper) if test else np.nan
    return Intervals(*rows.T)


def mean_interval(
    values: Floats, counts: Ints, bounds: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """Return the interval of the mean of the values of users at the level 1 - α.

    Args:
        values: (groups,) values.
        counts: (groups,) numbers of users with the value.
        bounds: the smallest and the largest possible value.
        alpha: the error rate.

    Examples:
        One hit of ten users, and none:

        >>> [round(end, 3) for end in mean_interval(np.array([0, 1]), np.array([9, 1]), (0, 1),
        ...     alpha=0.05)]
        [0.002, 0.441]
        >>> [round(end, 3) for end in mean_interval(np.array([0, 1]), np.array([10, 0]), (0, 1),
        ...     alpha=0.05)]
        [0.0, 0.308]
    """
    lower = LowerSide.from_values(values, counts, np.asarray(bounds))
    upper = LowerSide.from_values(-values, counts, -np.asarray(bounds)[::-1])
    return lower.end(alpha), -upper.end(alpha)


def p_value_of_zero(values: Floats, counts: Ints, bounds: tuple[float, float]) -> float:
    """Return the two-sided p-value of a mean of 0; parameters as in `mean_interval`.

    Examples:
        >>> round(p_value_of_zero(np.array([-1, 1]), np.array([1, 8]), (-1, 1)), 3)
        0.036
    """
    lower = LowerSide.from_values(values, counts, np.asarray(bounds))
    upper = LowerSide.from_values(-values, counts, -np.asarray(bounds)[::-1])
    return _p_value(lower, upper)


def _p_value(lower: LowerSide, upper: LowerSide) -> float:
    """Return the smallest α for which the interval excludes 0."""
    for side in (lower, upper):
        if side.mean > 0:
            return p_value_of_deviance(side.deviance_at(side.mean), side.deciding)
    return 1.0


def _standard_error(values: Floats, counts: Ints) -> float:
    users = counts.sum()
    mean = counts @ values / users
    return float(np.sqrt(counts @ (values - mean) ** 2 / (users - 1) / users))


def _student(
    values: Floats, counts: Ints, limits: Floats, alpha: float
) -> tuple[float, float, float, float]:
    """Return the row of Student's interval: its ends, standard error, and p-value of a mean of 0.

    If all values are equal, the ends are those with t² more users at the limits of the mean.
    """
    users = int(counts.sum())
    mean = float(counts @ values / users)
    error = _standard_error(values, counts)
    t = -float(stdtrit(users - 1, alpha / 2))
    if 2 * t * error > _NO_WIDTH * (limits[1] - limits[0]):
        low = mean - t * error
        high = mean + t * error
        distance = abs(mean) / error
    else:
        share = t**2 / (users + t**2)
        low = mean - share * (mean - limits[0])
        high = mean + share * (limits[1] - mean)
        distance = 0.0
        if mean:
            limit = abs(float(limits[0] if mean > 0 else limits[1]))
            distance = float(np.sqrt(users * abs(mean) / limit)) if limit else np.inf
    p_value = float(2 * stdtr(users - 1, -distance))
    return max(low, float(limits[0])), min(high, float(limits[1])), error, p_value


def threshold(alpha: float, deciding: float) -> float:
    """Return the largest deviance that the interval allows at the error rate α.

    Args:
        alpha: the error rate of both ends together.
        deciding: k, the number of users who decide the end.
    """
    limit_of_many = chdtri(1, alpha) / 2  # upper quantile of the χ² distribution
    surplus_of_few = np.log(2 / alpha) - ndtri(alpha / 2) ** 2 / 2
    return float(limit_of_many + surplus_of_few / deciding)


def p_value_of_deviance(deviance: float, deciding: float) -> float:
    """Return the largest α at which the threshold is at least the deviance.

    The parameters are those of `threshold`.
    """
    if deviance > threshold(SMALLEST_P_VALUE, deciding):
        return SMALLEST_P_VALUE
    smallest = threshold(1.0, deciding)
    if deviance <= smallest:
        return 1.0

    def rise(tail: float) -> float:  # the tail is -log α; the threshold grows nearly as it does
        return threshold(float(np.exp(-tail)), deciding) - smallest

    return float(np.exp(-_solve(rise, deviance - smallest, 1.0, -np.log(SMALLEST_P_VALUE))))


@dataclass(frozen=True)
class LowerSide:
    """What decides the lower end of the interval of a mean.

    Attributes:
        mean: the sample mean.
        distances: (groups,) values minus their mean.
        counts: (groups,) numbers of users with the value.
        reach: distance of the mean from the lower bound.
        deciding: k, the number of users who decide the end; see the top of this file.
    """

    mean: float
    distances: Floats
    counts: Ints | Floats
    reach: float
    deciding: float

    @classmethod
    def from_values(cls, values: Floats, counts: Ints | Floats, bounds: Floats) -> LowerSide:
        """Return what decides the lower end of the mean of values.

        Args:
            values: (groups,) values.
            counts: (groups,) numbers of users with the value; expected numbers may be fractions.
            bounds: (2,) smallest and largest possible value.
        """
        seen = counts > 0
        values = values[seen]
        counts = counts[seen]
        mean = float(counts @ values / counts.sum())
        distances = values - mean
        distances[np.abs(distances) <= _ROUNDING * np.abs(bounds).max()] = 0.0
        reach = float(mean - bounds[0])
        below = np.minimum(distances, 0.0) ** 2
        above = np.maximum(distances, 0.0) ** 2
        deciding = _effective_number(np.append(below, reach**2), np.append(counts, 1))
        if above.any():
            deciding = min(deciding, _effective_number(above, counts) + 1)
        return cls(mean, distances, counts, reach, deciding)

    def end(self, alpha: float) -> float:
        """Return the lower end of the interval of the mean, for an error rate α of both ends."""
        return float(self.mean - self.depth(alpha))

    def depth(self, alpha: float) -> float:
        """Return how far the end is below the mean, for an error rate α."""
        if self.reach <= 0:
            return 0.0
        limit = threshold(alpha, self.deciding)
        deviance, depth = self._at_bound
        if limit < deviance:
            return self._depth(self._tilt(limit))
        share_seen = np.exp((deviance - limit) / self.counts.sum())  # the rest is at the bound
        return float(self.reach - (self.reach - depth) * share_seen)

    def law(self, alpha: float) -> tuple[Floats, float]:
        """Return the distribution whose mean is the end, for an error rate α.

        Returns:
            (groups,) shares of the values that were seen, and the share at the lower bound.
        """
        if self.reach <= 0:
            return self.counts / self.counts.sum(), 0.0
        limit = threshold(alpha, self.deciding)
        deviance, _ = self._at_bound
        tilt = self._tilt(limit) if limit < deviance else 1 / self.reach
        weights = self.counts / (1 + tilt * self.distances)
        at_bound = -float(np.expm1(min(0.0, (deviance - limit) / self.counts.sum())))
        return weights / weights.sum() * (1 - at_bound), at_bound

    def _tilt(self, limit: float) -> float:
        """Return the tilt of a deviance, which is below that of the largest tilt."""
        slope = float(np.sqrt(self.counts @ self.distances**2 / 2))

        def root_of_deviance(tilt: float) -> float:  # nearly a straight line
            return float(np.sqrt(self._deviance(tilt)))

        return _solve(root_of_deviance, np.sqrt(limit), slope, 1 / self.reach)

    def deviance_at(self, depth: float) -> float:
        """Return D(μ) of the mean μ that is `depth` below the sample mean.

        D(μ) is infinite at the bound and beyond.
        """
        if depth >= self.reach * (1 - _ROUNDING):
            return np.inf
        deviance, depth_at_bound = self._at_bound
        if depth < depth_at_bound:
            slope = self.counts @ self.distances**2 / self.counts.sum()
            return self._deviance(_solve(self._depth, depth, slope, 1 / self.reach))
        return deviance + float(
            self.counts.sum() * np.log((self.reach - depth_at_bound) / (self.reach - depth))
        )

    # With 1 + λ (y - μ) = A (1 + t (y - ȳ)), the best λ of a μ has A = the mean of 1 / (1 + t (y -
    # ȳ)). So the tilt t gives both the deviance and the depth ȳ - μ = (1 - 1 / A) / t, and one
    # search for t replaces two nested ones.

    def _deviance(self, tilt: float) -> float:
        """Return the deviance of a tilt, below 1 / reach."""
        logs = self.counts @ np.log1p(tilt * self.distances)
        log_of_a = np.log1p(tilt**2 * self._tilted_square(tilt))
        return max(0.0, float(self.counts.sum() * log_of_a + logs))

    def _depth(self, tilt: float) -> float:
        """Return the depth of a tilt."""
        square = self._tilted_square(tilt)
        return tilt * square / (1 + tilt**2 * square)

    def _tilted_square(self, tilt: float) -> float:
        """Return (A - 1) / t², the mean of d² / (1 + t d) over the distances d, of mean 0."""
        squares = self.distances**2 / (1 + tilt * self.distances)
        return float(self.counts @ squares / self.counts.sum())

    @cached_property
    def _at_bound(self) -> tuple[float, float]:
        """Return the deviance and the depth of the largest tilt.

        Beyond it, the distribution has unseen mass at L.
        """
        if not self.distances.any():
            return 0.0, 0.0
        if self.distances.min() <= -self.reach * (1 - _ROUNDING):  # the bound is seen
            return np.inf, self.reach
        return self._deviance(1 / self.reach), self._depth(1 / self.reach)


def _effective_number(squares: Floats, counts: Ints | Floats) -> float:
    """Return (Σ d²)² / Σ d⁴, the users who decide a sum of (groups,) squares; 1 if all are 0."""
    if not squares.any():
        return 1.0
    return float((counts @ squares) ** 2 / (counts @ squares**2))


def _solve(rising: Callable[[float], float], target: float, slope: float, largest: float) -> float:
    """Return the argument from 0 to `largest` at which a function is at its target.

    The function rises from 0 with a known slope, nearly in a straight line, so the secant method
    takes few steps.
    """
    low = 0.0
    high = largest
    argument_before = 0.0
    value_before = 0.0
    argument = target / slope
    for _ in range(_STEPS):
        if not low < argument < high:
            argument = (low + high) / 2
        value = rising(argument)
        if value < target:
            low = argument
        else:
            high = argument
        if value == value_before or abs(argument - argument_before) <= _CLOSE * argument:
            break
        step = (target - value) * (argument - argument_before) / (value - value_before)
        argument_before = argument
        value_before = value
        argument = argument + step
    return argument
