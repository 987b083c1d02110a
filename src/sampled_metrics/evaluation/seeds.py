"""The spread between the seeds of a recommender, as a part of the uncertainty of its metrics.

A recommender that is trained S times ranks the same U users S times. The value of user u and seed s is modelled as

    y_us = μ + a_u + b_s + c_us,

with independent parts for the user, the seed, and both. The mean over all of them has the variance
σ_a² / U + σ_b² / S + σ_c² / (U S). The variance of the users' means, divided by U, estimates the first and the third
term. So only σ_b² / S is added for the seeds. It is the variance of the S means over users, divided by S, minus the
third term, which it holds too: the mean square of the interaction, divided by U S. It is at least 0. For a difference,
the users are paired, and the seeds of the two recommenders are independent.

The interval is Student's, with the degrees of freedom of F. E. Satterthwaite (An Approximate Distribution of Estimates
of Variance Components, Biometrics Bulletin 2, 1946), or the interval over users alone where that is wider.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.evaluation.intervals import Uncertainty


@dataclass(frozen=True)
class SeedSpread:
    """What the seeds of a recommender add to the variance of its metrics.

    Attributes:
        variance: (metrics,) σ_b² / S.
        over_freedom: (metrics,) sums of squared parts of it, over their degrees of freedom.
    """

    variance: Floats
    over_freedom: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats | None, counts: Ints) -> "SeedSpread":
        """Estimate the spread of two seeds or more; one seed shows none.

        Args:
            values: (seeds, metrics) estimates.
            weights: (seeds, metrics, groups) values of the users of a group; None for an estimator that is not linear.
                Its interaction is not known and not subtracted, so the interval is somewhat too wide.
            counts: (groups,) numbers of users.
        """
        seeds, users = len(values), counts.sum()
        nothing = np.zeros(values.shape[1])
        if seeds == 1:
            return cls(nothing, nothing)
        between, interaction, freedom = values.var(axis=0, ddof=1) / seeds, nothing, (users - 1) * (seeds - 1)
        if weights is not None:
            means = weights @ counts / users
            off = weights - weights.mean(axis=0) - (means - means.mean(axis=0))[..., np.newaxis]
            interaction = (off**2).sum(axis=0) @ counts / freedom / (users * seeds)
        shows = between > interaction
        over_freedom = between**2 / (seeds - 1) + interaction**2 / freedom
        return cls(np.where(shows, between - interaction, 0.0), np.where(shows, over_freedom, 0.0))


def with_seeds(
    found: Uncertainty, difference: Floats, spreads: Sequence[SeedSpread], users: int, alpha: Floats
) -> Uncertainty:
    """Return intervals of differences over users, widened by the spreads of the two recommenders.

    Args:
        found: (metrics,) intervals over users, with p-values.
        difference: (metrics,) differences.
        spreads: of the two recommenders.
        users: how many.
        alpha: (metrics,) error rates.
    """
    of_users = found.standard_error**2
    variance = of_users + sum(each.variance for each in spreads)
    over_freedom = of_users**2 / (users - 1) + sum(each.over_freedom for each in spreads)
    freedom = np.divide(variance**2, over_freedom, out=np.full_like(variance, users - 1.0), where=over_freedom > 0)
    error, freedom = np.sqrt(variance), np.minimum(freedom, users - 1.0)
    reach = -stdtrit(freedom, alpha / 2) * error
    t = np.divide(np.abs(difference), error, out=np.zeros_like(error), where=error > 0)
    return Uncertainty(
        np.minimum(found.low, difference - reach),
        np.maximum(found.high, difference + reach),
        error,
        np.maximum(found.p_value, 2 * stdtr(freedom, -t) if error.any() else found.p_value),
    )
