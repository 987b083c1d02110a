"""Sampled ranks by user: the users, their outcomes, and their division into folds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.protocol import Estimate
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.outcomes import Outcomes

FOLDS = 5
"""Number of folds of the users, or fewer if there are fewer users."""

MOST_LEFT_OUT = 1000
"""Largest number of samples without a user for which a pseudo-value is computed; more users are left out in blocks."""

_SEED = 0  # of the division into folds, and into blocks
_NUMBERS = 2**25  # numbers that an estimate holds at once


@dataclass(frozen=True)
class Sample:
    """The sampled ranks of a recommender. A user with several rows counts by the mean over them.

    Attributes:
        outcomes: the distinct outcomes (n, m, x).
        shares: (users, outcomes) share of a user's rows that have an outcome.
    """

    outcomes: Outcomes
    shares: csr_array

    @classmethod
    def from_ranks(cls, ranks: SampledRanks, user: Ints) -> Sample:
        """Return the sample of ranks with the (rows,) numbers of their users, from 0."""
        outcomes, outcome = Outcomes.observed(ranks)
        rows = np.bincount(user)
        return cls(outcomes, csr_array((1 / rows[user], (user, outcome)), shape=(len(rows), len(outcomes))))

    def __len__(self) -> int:
        return int(self.shares.shape[0])

    @cached_property
    def counts(self) -> Floats:
        """The (outcomes,) numbers of users with an outcome."""
        return np.asarray(self.shares.sum(axis=0), dtype=np.float64)

    @cached_property
    def fold(self) -> Ints:
        """The (users,) folds, of the same size up to one. The fold of a user depends on the user's number alone."""
        users = len(self)
        return np.random.default_rng(_SEED).permutation(users) % min(FOLDS, users)

    def of_users(self, weights: Floats) -> Floats:
        """Return the (metrics, users) values of users, from (metrics, outcomes) weights."""
        return np.ascontiguousarray((self.shares @ weights.T).T)


def pseudo_values(estimate: Estimate, sample: Sample) -> Floats:
    """Return (metrics, users) pseudo-values U θ - (U - 1) θ₍₋ᵤ₎ of an estimate θ, moved so that their mean is θ.

    θ₍₋ᵤ₎ is the estimate without user u. Users with the same outcome have the same one. More than a thousand different
    users are left out in as many blocks. A user of a block of b users then has the deviation of the block's mean
    pseudo-value times √b, as a mean of b values varies less by this factor.

    References:
        J. W. Tukey, Bias and Confidence in Not Quite Large Samples, Annals of Mathematical Statistics 29, 1958.
    """
    users, single = len(sample), sample.shares.nnz == len(sample)
    kinds, kind = np.unique(sample.shares.indices, return_inverse=True) if single else (np.arange(users),) * 2
    sizes, left_out = np.ones(len(kinds)), np.eye(len(sample.counts))[kinds] if single else None
    if len(kinds) > MOST_LEFT_OUT:
        kind = np.random.default_rng(_SEED).permutation(users) % MOST_LEFT_OUT
        sizes, left_out = np.bincount(kind).astype(np.float64), None
    if left_out is None:
        blocks = csr_array((np.ones(users), (kind, np.arange(users))), shape=(len(sizes), users))
        left_out = (blocks @ sample.shares).toarray()
    whole, step = estimate.estimate(sample.counts), max(1, _NUMBERS // len(sample.counts))
    parts = [sample.counts - left_out[first : first + step] for first in range(0, len(left_out), step)]
    without = np.concatenate([estimate.estimate(np.maximum(part, 0.0)) for part in parts])
    influence = (((users - sizes) / np.sqrt(sizes))[:, np.newaxis] * (whole - without)).T[:, kind.ravel()]
    return whole[:, np.newaxis] + influence - influence.mean(axis=1, keepdims=True)
