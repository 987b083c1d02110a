"""Users as the unit of intervals: users of a kind have the same outcomes.

A user with several rows counts once, with the mean over the rows. A statistic of the counts of outcomes then becomes
one of the counts of kinds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.evaluation.intervals import Statistic


@dataclass(frozen=True)
class Units:
    """Users by kind.

    Attributes:
        counts: (kinds,) numbers of users.
        shares: for each recommender, the (kinds, outcomes) share of a user's rows that have an outcome.
    """

    counts: Ints
    shares: tuple[csr_array, ...]

    def weights(self, weights: Floats, side: int = 0) -> Floats:
        """Return (metrics, kinds) weights from the (metrics, outcomes) weights of a recommender."""
        return np.asarray((self.shares[side] @ weights.T).T)

    def statistic(self, statistic: Statistic, side: int = 0) -> Statistic:
        """Return a statistic of the counts of kinds from one of the counts of a recommender's outcomes."""
        return lambda counts: statistic(np.asarray(counts @ self.shares[side]))

    def of(self, *sides: int) -> "Units":
        """Return the same users, of some of the recommenders."""
        return Units(self.counts, tuple(self.shares[side] for side in sides))


def units(*sides: tuple[Ints, Ints, int]) -> Units:
    """Return the units of recommenders.

    A recommender is given by the (rows,) outcomes, the (rows,) users from 0, and the number of outcomes.
    """
    if all(len(outcome) == user.max() + 1 for outcome, user, _ in sides):
        of_users = np.stack([outcome[np.argsort(user)] for outcome, user, _ in sides], axis=1)
        kinds, counts = np.unique(of_users, axis=0, return_counts=True)
        ones, at = np.ones(len(kinds)), np.arange(len(kinds) + 1)
        parts = zip(kinds.T, sides, strict=True)
        return Units(counts, tuple(csr_array((ones, kind, at), shape=(len(kinds), side[2])) for kind, side in parts))
    shares = []
    for outcome, user, outcomes in sides:
        rows = np.bincount(user)
        shares.append(csr_array((1 / rows[user], (user, outcome)), shape=(len(rows), outcomes)))
    return Units(np.ones(shares[0].shape[0], dtype=np.int64), tuple(shares))


def counted_units(counts: Ints) -> Units:
    """Return the units of users with one row each, from the (outcomes,) numbers of users."""
    return Units(counts, (csr_array(eye_array(len(counts))),))
