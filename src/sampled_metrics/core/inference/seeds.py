"""Intervals of means over users and seeds: what new runs of a training would give.

A recommender that is trained S times ranks the same U users S times. The value of user u and seed s
is modelled as

    y_us = μ + a_u + b_s + c_us,

with independent parts for the user, the seed, and both. The mean over all of them has the variance
σ_a² / U + σ_b² / S + σ_c² / (U S). The variance s² of the S means over users, divided by S,
estimates the last two terms, with S - 1 degrees of freedom. The variance of the users' means,
divided by U, estimates the first and the third. The third term is the mean square of the
interaction, divided by U S; this well-known term is subtracted from the users' part, so that it
counts once. If it were subtracted from the seeds' part, this would often be 0 and have no
distribution of variances: verdicts of two seeds against ten were wrong in 11.5 % of simulations.
For a difference, the users are paired, and the seeds of the two recommenders are independent.

The half width of an interval at the error rate α is the users' half width and the seeds', added in
quadrature:

    h(α)² = z(α)² V + r(α)²,

with the users' variance V, the normal quantile z, and the half width r of the seeds alone. This is
never too narrow if r is right and the metrics of seeds are normal (K. S. Banerjee). The interval
over users alone takes its place where it is wider. The p-value is the interval inverted: the α at
which h(α) is the distance of the mean from 0.

**One recommender.** r is Student's, t s / √S with S - 1 degrees of freedom. The same holds for
draws of negatives that users share, which are paired. A recommender with a single seed does not
show how its seeds vary, so nothing is said of new runs of it.

**Two recommenders alone.** Two seeds hardly show how much a recommender spreads, but the seeds of
the other recommender show it, too, as far as both spread similarly. So the logarithm l of the ratio
of their deviations, σ_A / σ_B, has a prior distribution, a normal one and a flat one together:

    p(l) ∝ exp(-l² / (2 τ²)) + (S_A + S_B - 2) / 100,  with τ = 0.7 + 2 (1 - S_min / S_max).

For a known l, the seeds of both give one variance with f = S_A + S_B - 2 degrees of freedom, and
the difference has Student's distribution with the squared scale

    V(l) = q(l) / f (exp(2 l) / S_A + 1 / S_B),  q(l) = (S_A - 1) s_A² exp(-2 l) + (S_B - 1) s_B².

The probability of l is proportional to p(l) exp(-(S_A - 1) l) q(l)^(-f/2), and r is the quantile of
the mixture over l. If l were taken to be 0, this would be Student's test with the pooled variance,
which misses 14 % with two seeds each, and 40 % with two seeds against twenty, if one recommender
spreads far more than the other. With a flat prior alone, it would be the test of W. V. Behrens and
R. A. Fisher, whose interval of two seeds each is almost three times as wide. The scale τ and the
share of the flat part are chosen so that at most 6 % miss at 95 % if seeds are normal and one
recommender spreads up to three times as much as the other. A larger ratio counts as far as the
seeds show it, which two seeds hardly do. With many seeds, the interval is about Student's.
docs/coverage.md has the misses and the widths, and what no seeds can show.

**Three recommenders or more.** Each pair uses the seeds of all recommenders. Recommender i has S_i
seeds, f_i = S_i - 1 degrees of freedom, and the variance s_i² between its seeds. This variance is
moderated, as by G. K. Smyth: the variance p of all counts as d_i degrees of freedom,

    d_i = 3 min(1, S_i / mean of S)²,  w_i = f_i / (d_i + f_i),
    p = Σ w_k s_k² / Σ w_k,  m_i = w_i s_i² + (1 - w_i) p.

So recommenders may differ in how much their seeds vary, and a recommender with fewer seeds than the
others borrows less. The difference of i and j has the variance

    V_ij = m_i / S_i + m_j / S_j = Σ c_k s_k²,

and r is the quantile of Student's distribution with Satterthwaite's degrees of freedom, times .8,

    r(α)² = t(ν_ij, α)² V_ij,  ν_ij = .8 V_ij² / Σ ((c_k m_k)² / f_k).

The error rate α is the rate of the family divided by the number of pairs (Bonferroni). The factor
.8 makes up for the variances in ν_ij, which are estimates: without it, a family at the level of
99.9 % errs in up to .3 %. With equal numbers of normal seeds, the half widths are 1.2 to 1.7 times
those of J. W. Tukey and C. Y. Kramer. Theirs take all variances to be equal, and err in 9 to 14 %
if recommenders spread differently.

References:
    K. S. Banerjee, Approximate Confidence Interval for Linear Functions of Means of k Populations
    When the Population Variances Are Not Equal, Sankhyā 22, 1960. R. A. Fisher, The Fiducial
    Argument in Statistical Inference, Annals of Eugenics 6, 1935. C. Y. Kramer, Extension of
    Multiple Range Tests to Group Means with Unequal Numbers of Replications, Biometrics 12, 1956.
    F. E. Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics
    Bulletin 2, 1946. G. K. Smyth, Linear Models and Empirical Bayes Methods for Assessing
    Differential Expression in Microarray Experiments, Statistical Applications in Genetics and
    Molecular Biology 3, 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.inference.means import Intervals

_NODES = 161  # number of values of l that stand for its distribution
# distance of the outermost node from the estimate of l, for two seeds; with more it is smaller
_REACH = 20.0
_SMALLEST_RATIO = 1e-6  # smallest ratio of two deviations; a smaller one is taken to be this
_SMALLEST_TAIL = 1e-300  # takes the place of a probability of 0, which has no logarithm
_FREEDOM_OF_ALL = 3.0  # degrees of freedom that the seeds of all recommenders of a family count as
_CAUTION = 0.8  # factor of the degrees of freedom of a pair of a family
_TOLERANCES = {"xatol": 1e-12, "xrtol": 0.0}  # of the logarithms of roots
_SLACK = 1e-9  # moves the limits of a root apart, as rounding may put a limit past the root


@dataclass(frozen=True)
class SeedSpread:
    """What the seeds of a recommender add to the variance of its metrics.

    Attributes:
        variance: (metrics,) (σ_b² + σ_c² / U) / S.
        interaction: (metrics,) σ_c² / (U S).
        freedom: the number of seeds minus one.
        errors: in a family, (recommenders, metrics) |c_k| m_k / √f_k: how much the seeds of each
            recommender of the family add to the standard error of `variance`, divided by √2. None
            outside of a family.
    """

    variance: Floats
    interaction: Floats
    freedom: int
    errors: Floats | None = None

    @classmethod
    def from_seeds(cls, points: Floats, values: Floats) -> SeedSpread:
        """Estimate the spread of two seeds or more.

        Args:
            points: (seeds, metrics) estimates.
            values: (seeds, metrics, users) values of users.
        """
        seeds, _, users = values.shape
        # what is left without the means of the users and of the seeds
        residuals = values - values.mean(axis=0)
        residuals -= residuals.mean(axis=2, keepdims=True)
        # their mean square, with its degrees of freedom, divided by U S
        interaction = (
            (residuals**2).sum(axis=(0, 2)) / (max(users - 1, 1) * (seeds - 1)) / (users * seeds)
        )
        return cls(points.var(axis=0, ddof=1) / seeds, interaction, seeds - 1)

    def scaled(self, ratio: float) -> SeedSpread:
        """Return the spread of the metrics times a ratio."""
        return SeedSpread(
            self.variance * ratio**2,
            self.interaction * ratio**2,
            self.freedom,
            None if self.errors is None else self.errors * ratio**2,
        )

    def of_metric(self, index: int) -> SeedSpread:
        """Return the spread of one metric."""
        chosen = slice(index, index + 1)
        return SeedSpread(self.variance[chosen], self.interaction[chosen], self.freedom)


def pooled(spreads: Sequence[SeedSpread]) -> list[SeedSpread]:
    """Return the spreads of the recommenders of a family, each estimated with the seeds of all.

    The equations are at the top of this file.

    Args:
        spreads: of three recommenders or more, each estimated with its own seeds.

    Returns:
        The spreads in the same order, with m_i / S_i as variances.

    Examples:
        Three recommenders of three seeds with the variances .0001, .0004 and .0004. Each has .4 of
        its own variance, and .6 of the mean .0003 of all:

        >>> spreads = [SeedSpread(np.array([square / 3]), np.zeros(1), 2)
        ...     for square in (0.0001, 0.0004, 0.0004)]
        >>> [round(3 * float(spread.variance[0]), 5) for spread in pooled(spreads)]
        [0.00022, 0.00034, 0.00034]
    """
    freedom = np.array([spread.freedom for spread in spreads])
    seeds = freedom + 1
    # (recommenders, metrics) s_i²
    own = np.stack([spread.variance for spread in spreads]) * seeds[:, np.newaxis]
    freedom_of_all = _FREEDOM_OF_ALL * np.minimum(1, seeds / seeds.mean()) ** 2  # d_i
    own_share = freedom / (freedom_of_all + freedom)  # w_i
    # (recommenders, recommenders) coefficient of s_k² in m_i / S_i
    coefficients = np.diag(own_share) + np.outer(1 - own_share, own_share / own_share.sum())
    coefficients /= seeds[:, np.newaxis]
    variances = coefficients @ own
    deviations = variances * (seeds / np.sqrt(freedom))[:, np.newaxis]  # m_k / √f_k
    in_family = []
    for spread, variance, row in zip(spreads, variances, coefficients, strict=True):
        errors = row[:, np.newaxis] * deviations
        in_family.append(SeedSpread(variance, spread.interaction, spread.freedom, errors))
    return in_family


def with_seeds(
    interval: Intervals,
    mean: Floats,
    spreads: Sequence[SeedSpread],
    limits: Floats,
    alpha: Floats | float,
) -> Intervals:
    """Return intervals of means over users, widened by the spreads between seeds.

    Args:
        interval: (metrics,) intervals over users, with p-values.
        mean: (metrics,) means.
        spreads: of the recommenders with several seeds, one or two; of two in a family, as `pooled`
            returns them.
        limits: (metrics, 2) smallest and largest value of a mean.
        alpha: (metrics,) error rates.

    Returns:
        The intervals. The standard error counts users and seeds, and is never below that of users.
        The p-value is that of a mean of 0.

    Examples:
        Five seeds of a recommender, whose mean has an error of .003 by them, and of .004 by the
        users:

        >>> spread = SeedSpread(np.array([0.003**2]), np.zeros(1), freedom=4)
        >>> users = Intervals(np.array([0.022]), np.array([0.038]), np.array([0.004]),
        ...     np.array([6e-14]))
        >>> widened = with_seeds(users, np.array([0.03]), [spread], np.array([[0.0, 1.0]]),
        ...     alpha=0.05)
        >>> [round(float(end), 4) for end in (widened.low[0], widened.high[0])]
        [0.0186, 0.0414]
    """
    users_variance = _users_variance(interval.standard_error, spreads)
    students = _Students.from_spreads(spreads)
    z = ndtri(np.asarray(alpha) / 2)
    half_width = np.sqrt(z**2 * users_variance + students.half_width(alpha) ** 2)
    error = np.sqrt(users_variance + sum(spread.variance for spread in spreads))
    p_value = _p_value(np.abs(mean), users_variance, students)
    return Intervals(
        low=np.maximum(np.minimum(interval.low, mean - half_width), limits[:, 0]),
        high=np.minimum(np.maximum(interval.high, mean + half_width), limits[:, 1]),
        standard_error=np.fmax(error, interval.standard_error),
        p_value=np.maximum(interval.p_value, p_value),
    )


def _users_variance(standard_error: Floats, spreads: Sequence[SeedSpread]) -> Floats:
    """Return the (metrics,) variances by the users alone, without the interaction with seeds."""
    interaction = sum(spread.interaction for spread in spreads)
    return np.maximum(standard_error**2 - interaction, 0.0)


@dataclass(frozen=True)
class _Students:
    """Mixtures of Student variables with the mean 0, for the chance of seeds in a difference.

    Attributes:
        shares: (metrics, nodes) their shares.
        deviations: (metrics, nodes) their scales; all 0 if seeds do not differ.
        freedom: (metrics,) their degrees of freedom.
    """

    shares: Floats
    deviations: Floats
    freedom: Floats

    @classmethod
    def from_spreads(cls, spreads: Sequence[SeedSpread]) -> _Students:
        """Return what the seeds of a recommender, or of two, A and B, give.

        The equations are those at the top of this file.
        """
        if len(spreads) == 1:
            [spread] = spreads
            return cls.alone(spread.variance, np.full(spread.variance.shape, spread.freedom))
        a, b = spreads
        if a.errors is not None and b.errors is not None:
            return cls.of_family(a.variance + b.variance, a.errors + b.errors)
        return cls.of_two(a, b)

    @classmethod
    def alone(cls, variance: Floats, freedom: Floats) -> _Students:
        """Return a single variable of each metric, from (metrics,) variances and freedoms."""
        deviations = np.sqrt(variance)[:, np.newaxis]
        return cls(np.ones_like(deviations), deviations, freedom)

    @classmethod
    def of_family(cls, variance: Floats, errors: Floats) -> _Students:
        """Return what the seeds of all recommenders of a family say of a pair.

        Args:
            variance: (metrics,) V_ij.
            errors: (recommenders, metrics) c_k m_k / √f_k.
        """
        square_of_error = (errors**2).sum(axis=0)
        freedom = np.divide(
            _CAUTION * variance**2,
            square_of_error,
            out=np.ones_like(variance),
            where=square_of_error > 0,
        )
        return cls.alone(variance, freedom)

    @classmethod
    def of_two(cls, a: SeedSpread, b: SeedSpread) -> _Students:
        """Return the mixture over the ratio of the deviations of two recommenders."""
        seeds = np.array([a.freedom, b.freedom]) + 1
        freedom = a.freedom + b.freedom
        # (2, metrics) s_A and s_B, relative to the larger one, which scales V(l) in the end
        deviations = np.sqrt(np.stack((a.variance, b.variance)) * seeds[:, np.newaxis])
        largest = deviations.max(axis=0)
        relative = np.maximum(deviations / np.where(largest > 0, largest, 1.0), _SMALLEST_RATIO)
        # (metrics, nodes) l, around the estimate
        estimate = np.log(relative[0] / relative[1])
        offsets = np.linspace(-1, 1, _NODES) * _REACH / np.sqrt(min(a.freedom, b.freedom))
        log_ratios = estimate[:, np.newaxis] + offsets
        # q(l) / f, and from it the probability of l and V(l)
        squares_a = a.freedom * (relative[0, :, np.newaxis] * np.exp(-log_ratios)) ** 2
        squares_b = b.freedom * relative[1, :, np.newaxis] ** 2
        pooled = (squares_a + squares_b) / freedom
        log_prior = np.log(_prior(log_ratios, seeds))
        log_shares = log_prior - a.freedom * log_ratios - freedom / 2 * np.log(pooled)
        shares = np.exp(log_shares - log_shares.max(axis=1, keepdims=True))
        variances = pooled * (np.exp(2 * log_ratios) / seeds[0] + 1 / seeds[1])
        return cls(
            shares / shares.sum(axis=1, keepdims=True),
            largest[:, np.newaxis] * np.sqrt(variances),
            np.full(len(largest), freedom),
        )

    def half_width(self, alpha: Floats | float) -> Floats:
        """Return the (metrics,) distances that are exceeded with the (metrics,) probabilities α."""
        rates = np.broadcast_to(np.asarray(alpha, dtype=np.float64), len(self.shares))
        # the quantile of a mixture is between those of its narrowest and its widest part
        t = -stdtrit(self.freedom, rates / 2)
        smallest = t * self.deviations.min(axis=1)
        largest = t * self.deviations.max(axis=1)
        if self.deviations.shape[1] == 1:
            return largest

        def excess(distance: Floats, metric: Ints) -> Floats:
            return np.log(rates[metric]) - np.log(self.tail(distance, metric))

        return _root(excess, smallest, largest)

    def tail(self, distance: Floats, metric: Ints) -> Floats:
        """Return the probabilities that variables are at least so far from 0, on either side.

        Args:
            distance: (some,) distances.
            metric: (some,) the metric of each distance.
        """
        freedom = self.freedom[metric, np.newaxis]
        tails = 2 * stdtr(freedom, -distance[:, np.newaxis] / self.deviations[metric])
        return np.maximum((self.shares[metric] * tails).sum(axis=1), _SMALLEST_TAIL)


def _prior(log_ratios: Floats, seeds: Ints) -> Floats:
    """Return the prior p(l), up to a factor, for (2,) numbers of seeds.

    The logarithms l and the constants are those at the top of this file.
    """
    scale = 0.7 + 2 * (1 - seeds.min() / seeds.max())  # τ
    return np.exp(-((log_ratios / scale) ** 2) / 2) + 0.01 * (seeds.sum() - 2)


def _p_value(distance: Floats, users_variance: Floats, students: _Students) -> Floats:
    """Return the (metrics,) error rates at which the half widths are (metrics,) distances.

    Args:
        distance: (metrics,) distances.
        users_variance: (metrics,) variances of the means over users.
        students: what the seeds give.
    """
    # The seeds have a part r of the half width. As r / (the smallest deviation) is at least z, this
    # share of the distance is at most r.
    smallest = students.deviations.min(axis=1)
    deviation = np.sqrt(users_variance + smallest**2)
    smallest_share = np.divide(
        smallest, deviation, out=np.zeros_like(smallest), where=deviation > 0
    )

    def excess(seeds_width: Floats, metric: Ints) -> Floats:
        z = ndtri(students.tail(seeds_width, metric) / 2)
        square = z**2 * users_variance[metric] + seeds_width**2
        return np.log(square) - 2 * np.log(distance[metric])

    seeds_width = _root(excess, distance * smallest_share, distance)
    p_value = np.ones_like(distance)
    has_width = seeds_width > 0
    p_value[has_width] = students.tail(seeds_width[has_width], np.flatnonzero(has_width))
    # where seeds do not differ, or the distance is 0, the p-value is that of the users alone
    no_deviation = np.where(distance > 0, np.inf, 0.0)
    z_of_users = np.divide(distance, deviation, out=no_deviation, where=deviation != 0)
    return np.where(has_width, p_value, 2 * ndtr(-z_of_users))


def _root(rising: Callable[[Floats, Ints], Floats], low: Floats, high: Floats) -> Floats:
    """Return the roots of rising functions of positive numbers, between (metrics,) limits.

    Args:
        rising: the functions, of (some,) numbers and their (some,) metrics.
        low: the lower limits; where they are not above 0, the root is the limit.
        high: the upper limits.
    """
    roots = low.copy()
    metrics = np.flatnonzero(low > 0)
    if len(metrics):
        from scipy.optimize.elementwise import find_root  # slow to import, and used only here

        log_limits = np.log(low[metrics]) - _SLACK, np.log(high[metrics]) + _SLACK
        solution = find_root(
            lambda log_numbers, metric: rising(np.exp(log_numbers), metric),
            log_limits,
            args=(metrics,),
            tolerances=_TOLERANCES,
        )
        roots[metrics] = np.exp(solution.x)
    return roots
