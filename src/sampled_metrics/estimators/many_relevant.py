"""Corrections for users with several relevant items.

Only irrelevant items are sampled. The true rank of the i-th best of a user's R relevant items is b + i, where b is the
number of irrelevant items above it. The sample estimates b; i is known. Every metric of eqs 2-6 is a sum over i of a
function of b + i. Each term is corrected as a separate metric (`Metric.at_position`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats
from sampled_metrics._validation import refuse_masked
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import Estimate, Estimator
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.ranks.frames import refuse_rows
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks


@dataclass(frozen=True)
class ManyRelevant:
    """Estimators of the terms of the metrics, fitted by position.

    Attributes:
        parts: for each position, the fitted estimator, and the (users, outcomes) outcomes of the users who have it.
    """

    parts: tuple[tuple[Estimate, csr_array], ...]

    def estimate(self, counts: ArrayLike) -> Floats:
        """Return the (metrics,) means of users who are there (users,) times; or of samples, from (samples, users)."""
        total: Floats | float = 0.0
        for each, shares in self.parts:
            there = np.asarray(counts @ shares)
            number = there.sum(axis=-1, keepdims=True)
            some = np.where(number > 0, there, 1)  # of nobody there is no estimate, and none counts
            total = total + each.estimate(some) * number / np.sum(counts, axis=-1, keepdims=True)
        return np.asarray(total)


def fit_many(
    estimator: Estimator,
    metrics: Sequence[Metric],
    above: ArrayLike,
    negatives: ArrayLike,
    irrelevant: ArrayLike,
    *,
    replacement: bool = False,
) -> ManyRelevant:
    """Fit an estimator to users who may have several relevant items, once for each position i.

    Args:
        estimator: any estimator but strict bounds.
        metrics: the metrics.
        above: (users, most relevant) numbers of sampled irrelevant items above the user's best relevant item, second
            best, and so on; rows of users with fewer relevant items are filled up with -1.
        negatives: (users,) or one number: m, sampled irrelevant items.
        irrelevant: (users,) or one number: all irrelevant items that could have been sampled.
        replacement: whether they were sampled with replacement.

    Raises:
        DataError: there are no users, a user has no relevant item, counts decrease or exceed m, an entry is masked, or
            the estimator is not valid for such samples.
    """
    for name, values in {"above": above, "negatives": negatives, "irrelevant": irrelevant}.items():
        refuse_masked(values, name)
    x = np.atleast_2d(np.asarray(above, dtype=np.int64))
    there = x >= 0
    relevant = there.sum(axis=1)
    users = len(x)
    if users == 0:
        raise DataError("there are no users to estimate from")
    m, pool = (np.broadcast_to(np.asarray(each, dtype=np.int64), users) for each in (negatives, irrelevant))
    _refuse(relevant == 0, "has no relevant item")
    _refuse((there[:, 1:] & ~there[:, :-1]).any(axis=1), "has -1 before its last relevant item")
    _refuse((there[:, 1:] & (np.diff(x, axis=1) < 0)).any(axis=1), "has fewer sampled items above a worse item")
    _refuse((x > m[:, np.newaxis]).any(axis=1), "has more sampled items above a relevant item than were sampled")
    parts = []
    for position in range(1, relevant.max() + 1):
        having = np.flatnonzero(relevant >= position)
        sampled = SampledRanks(x[having, position - 1], m[having], pool[having] + 1, replacement)
        outcomes, which = Outcomes.observed(sampled, position=position, relevant=relevant[having])
        shares = csr_array((np.ones(len(having)), (having, which)), shape=(users, len(outcomes)))
        parts.append((estimator.fit(outcomes, metrics), shares))
    return ManyRelevant(tuple(parts))


def _refuse(wrong: ArrayLike, message: str) -> None:
    refuse_rows(wrong, lambda row: message, lambda row: f"user {row + 1}")
