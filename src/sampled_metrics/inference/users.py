"""Users by outcome, as the unit of intervals: the users of a group have the same outcomes.

A user with several rows counts once, with the mean over the rows. A statistic of the counts of outcomes then becomes
one of the counts of groups. The users are also divided at random into folds of equal size.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.inference.intervals import Statistic

FOLDS = 5
"""Number of folds of the users, or fewer if there are fewer users."""

_SEED = 0  # of the division into folds


@dataclass(frozen=True)
class Users:
    """Users in groups by their outcomes, of one recommender or of several.

    Attributes:
        counts: (groups,) numbers of users.
        shares: for each recommender, the (groups, outcomes) share of a user's rows that have an outcome.
        folds: (folds, groups) numbers of users by fold.
    """

    counts: Ints
    shares: tuple[csr_array, ...]
    folds: Ints

    def weights(self, weights: Floats, side: int = 0) -> Floats:
        """Return (metrics, groups) weights from the (metrics, outcomes) weights of a recommender."""
        return np.asarray((self.shares[side] @ weights.T).T)

    def statistic(self, statistic: Statistic, side: int = 0) -> Statistic:
        """Return a statistic of the counts of groups from one of the counts of a recommender's outcomes."""
        return lambda counts: statistic(np.asarray(counts @ self.shares[side]))

    def of(self, *sides: int) -> "Users":
        """Return the same users with the outcomes of some of the recommenders."""
        return Users(self.counts, tuple(self.shares[side] for side in sides), self.folds)


def users_by_outcome(*sides: tuple[Ints, Ints, int]) -> Users:
    """Return the users of recommenders in groups.

    A recommender is given by the (rows,) outcomes, the (rows,) users from 0, and the number of outcomes. The fold of a
    user depends on the user's number alone.
    """
    if all(len(outcome) == user.max() + 1 for outcome, user, _ in sides):
        of_users = np.stack([outcome[np.argsort(user)] for outcome, user, _ in sides], axis=1)
        groups, of_user, counts = np.unique(of_users, axis=0, return_inverse=True, return_counts=True)
        ones, ends = np.ones(len(groups)), np.arange(len(groups) + 1)
        parts = zip(groups.T, sides, strict=True)
        shares = [csr_array((ones, outcome, ends), shape=(len(groups), side[2])) for outcome, side in parts]
        return Users(counts, tuple(shares), _by_fold(of_user.ravel(), len(groups)))
    shares = []
    for outcome, user, outcomes in sides:
        rows = np.bincount(user)
        shares.append(csr_array((1 / rows[user], (user, outcome)), shape=(len(rows), outcomes)))
    users = shares[0].shape[0]
    return Users(np.ones(users, dtype=np.int64), tuple(shares), _by_fold(np.arange(users), users))


def _by_fold(of_user: Ints, groups: int) -> Ints:
    """Return the (folds, groups) numbers of users from the (users,) groups; the folds have the same size, up to one."""
    users = len(of_user)
    folds = min(FOLDS, users)
    fold = np.random.default_rng(_SEED).permutation(users) % folds
    return np.bincount(fold * groups + of_user, minlength=folds * groups).reshape(folds, groups)
