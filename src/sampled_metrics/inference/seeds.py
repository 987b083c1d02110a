"""Intervals of means over users and seeds: what new runs of a training would give.

The spread between seeds is a part of the uncertainty. A recommender that is trained S times ranks the same U users S
times. The value of user u and seed s is modelled as

    y_us = μ + a_u + b_s + c_us,

with independent parts for the user, the seed, and both. The mean over all of them has the variance
σ_a² / U + σ_b² / S + σ_c² / (U S). The variance of the S means over users, divided by S, estimates the last two terms,
with S - 1 degrees of freedom. The variance of the users' means, divided by U, estimates the first and the third. The
third term is the mean square of the interaction, divided by U S. It is known well, and is subtracted from the users'
part, so that it counts once. If it were subtracted from the seeds' part, this would often be 0 and have no distribution
of variances: verdicts of two seeds against ten were wrong in 11.5 % of simulations. For a difference, the users are
paired, and the seeds of the two recommenders are independent.

The number of seeds is small, and may differ between the recommenders. So the interval is that of W. V. Behrens and R.
A. Fisher: the variance of S seeds is uncertain as (S - 1) / χ² with S - 1 degrees of freedom, and the p-value of a
difference d is the mean of P(|z| > |d| / √V) over the possible variances V, with a normal z. The interval over users
alone takes its place where it is wider. Satterthwaite's approximation raises up to twice as many false alarms as stated
for two seeds against ten.

Reference:
    R. A. Fisher, The Fiducial Argument in Statistical Inference, Annals of Eugenics 6, 1935.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr

from sampled_metrics._validation import Floats
from sampled_metrics.inference.means import Intervals

_NODES = 32  # of the mean over a variance; the ends for two seeds are right to three digits
_HALVINGS = 30  # of the search for an end


@dataclass(frozen=True)
class SeedSpread:
    """What the seeds of a recommender add to the variance of its metrics.

    Attributes:
        variance: (metrics,) (σ_b² + σ_c² / U) / S.
        interaction: (metrics,) σ_c² / (U S).
        freedom: the number of seeds minus one.
    """

    variance: Floats
    interaction: Floats
    freedom: int

    @classmethod
    def from_seeds(cls, points: Floats, values: Floats) -> SeedSpread:
        """Estimate the spread of two seeds or more.

        Args:
            points: (seeds, metrics) estimates.
            values: (seeds, metrics, users) values of users.
        """
        seeds, _, users = values.shape
        residuals = values - values.mean(axis=0)
        residuals -= residuals.mean(axis=2, keepdims=True)
        interaction = (residuals**2).sum(axis=(0, 2)) / (max(users - 1, 1) * (seeds - 1)) / (users * seeds)
        return cls(points.var(axis=0, ddof=1) / seeds, interaction, seeds - 1)

    def scaled(self, ratio: float) -> SeedSpread:
        """Return the spread of the metrics times a ratio."""
        return SeedSpread(self.variance * ratio**2, self.interaction * ratio**2, self.freedom)

    @property
    def nodes(self) -> tuple[Floats, Floats]:
        """Return (nodes,) possible variances relative to the estimate, and their probabilities."""
        points, weights = np.polynomial.legendre.leggauss(_NODES)
        return self.freedom / chdtri(self.freedom, (1 - points) / 2), weights / 2


def with_seeds(
    interval: Intervals, mean: Floats, spreads: Sequence[SeedSpread], limits: Floats, alpha: Floats | float
) -> Intervals:
    """Return intervals of means over users, widened by the spreads between the seeds of one recommender, or of two.

    Args:
        interval: (metrics,) intervals over users, with p-values.
        mean: (metrics,) means.
        spreads: of the recommenders with several seeds.
        limits: (metrics, 2) smallest and largest value of a mean.
        alpha: (metrics,) error rates.
    """
    of_users = np.maximum(interval.standard_error**2 - sum(spread.interaction for spread in spreads), 0.0)
    variances, probabilities = _possible_variances(of_users, spreads)

    def p_value(distance: Floats) -> Floats:
        t = np.divide(
            distance[:, np.newaxis], np.sqrt(variances), out=np.full_like(variances, np.inf), where=variances > 0
        )
        return np.asarray(2 * ndtr(-t) @ probabilities)

    error = np.sqrt(of_users + sum(spread.variance for spread in spreads))
    reach = _inverse(p_value, np.broadcast_to(alpha, mean.shape), error)
    return Intervals(
        np.maximum(np.minimum(interval.low, mean - reach), limits[:, 0]),
        np.minimum(np.maximum(interval.high, mean + reach), limits[:, 1]),
        error,
        np.maximum(interval.p_value, p_value(np.abs(mean))),
    )


def _possible_variances(of_users: Floats, spreads: Sequence[SeedSpread]) -> tuple[Floats, Floats]:
    """Return (metrics, possibilities) variances of a difference, and the (possibilities,) probabilities."""
    variances, probabilities = of_users[:, np.newaxis], np.ones(1)
    for spread in spreads:
        ratios, of_ratios = spread.nodes
        further = spread.variance[:, np.newaxis] * ratios
        variances = (variances[:, :, np.newaxis] + further[:, np.newaxis]).reshape(len(of_users), -1)
        probabilities = np.outer(probabilities, of_ratios).ravel()
    return variances, probabilities


def _inverse(p_value: Callable[[Floats], Floats], alpha: Floats, error: Floats) -> Floats:
    """Return the (metrics,) distances whose p-values are the error rates, from (metrics,) standard errors."""
    low, high = np.zeros_like(error), error.copy()
    while (short := (p_value(high) > alpha) & (error > 0)).any():
        high = np.where(short, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = p_value(middle) > alpha
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
