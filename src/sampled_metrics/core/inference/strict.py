"""Values of users whose means bound true metrics, by strict bounds.

The bounds are those of `sampled_metrics.core.estimators.strict_bounds`.

Weights that a sample chooses fit this sample too well. So the users are divided into five folds,
and the weights for the users of a fold are those that are best for the users of the other folds.
Whatever they choose, the mean of these weights over the users of the fold bounds the metric in
expectation, so that the interval of the mean over all users holds the metric.

Where the sample contradicts the assumption on the distribution of ranks, the weights are those
without an assumption. Where it contradicts any distribution of ranks, there is no interval. A test
does not notice all wrong assumptions. So an assumption is also dropped where it alone would decide,
that is, where the interval would be hardly wider than one from the exact ranks of as many users.
AUC needs no assumption, as samples have no bias for it.

References:
    P. Batlle, P. Patil, M. Stanley and M. Kuusela, Optimization-Based Frequentist Confidence
    Intervals for Functionals in Constrained Inverse Problems: Resolving the Burrus Conjecture,
    2023: why a single sample cannot both choose the weights and be the sample they are applied to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.estimators.protocol import Estimate
from sampled_metrics.core.estimators.shapes import FREE, SHAPES
from sampled_metrics.core.estimators.strict_bounds import (
    IMPOSSIBLE,
    SIGNIFICANCE,
    ShapeEstimate,
    StrictBounds,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.means import FEW_USERS, intervals
from sampled_metrics.core.ranks.sampled import ONCE, POPULARITY, SampledRanks
from sampled_metrics.core.sampling.outcomes import Outcomes

FOLDS = 5
"""Number of folds of the users, or fewer if there are fewer users."""

MOST_LEFT_OUT = 1000
"""Largest number of samples without a user for which a pseudo-value is computed; more users are
left out in blocks.
"""

_SEED = 0  # of the division into folds, and into blocks
_NUMBERS = 2**25  # numbers that an estimate holds at once


@dataclass(frozen=True)
class Sample:
    """The sampled ranks of a recommender. A user with several rows counts by the mean over them.

    Attributes:
        outcomes: the distinct outcomes (n, m, x).
        shares: (users, outcomes) share of a user's rows that have an outcome.
        is_shared: whether users share negatives, so that their outcomes depend on one another.
        is_popular: whether negatives are drawn by popularity, so that nothing is estimated.
    """

    outcomes: Outcomes
    shares: csr_array
    is_shared: bool = False
    is_popular: bool = False

    @classmethod
    def from_ranks(cls, ranks: SampledRanks, user: Ints) -> Sample:
        """Return the sample of ranks with the (rows,) numbers of their users, from 0."""
        outcomes, outcome = Outcomes.observed(ranks)
        rows = np.bincount(user)
        shares = csr_array((1 / rows[user], (user, outcome)), shape=(len(rows), len(outcomes)))
        is_sample = not outcomes.are_exact
        return cls(
            outcomes,
            shares,
            is_shared=is_sample and ranks.drawn == ONCE,
            is_popular=is_sample and ranks.drawn == POPULARITY,
        )

    def __len__(self) -> int:
        return int(self.shares.shape[0])

    @cached_property
    def counts(self) -> Floats:
        """The (outcomes,) numbers of users with an outcome."""
        return np.asarray(self.shares.sum(axis=0), dtype=np.float64)

    @cached_property
    def fold(self) -> Ints:
        """The (users,) folds, of the same size up to one.

        The fold of a user depends on the user's number alone. So numbers must not depend on the
        ranks, except at random (`SampledRanks.pair`).
        """
        users = len(self)
        return np.random.default_rng(_SEED).permutation(users) % min(FOLDS, users)

    def of_users(self, weights: Floats) -> Floats:
        """Return the (metrics, users) values of users, from (metrics, outcomes) weights."""
        return np.ascontiguousarray((self.shares @ weights.T).T)


def pseudo_values(estimate: Estimate, sample: Sample) -> Floats:
    """Return (metrics, users) pseudo-values U θ - (U - 1) θ₍₋ᵤ₎ of an estimate θ.

    θ₍₋ᵤ₎ is the estimate without user u. The values are moved so that their mean is θ. Users with
    the same outcome have the same value. More than a thousand different users are left out in as
    many blocks. A user of a block of b users then has the deviation of the block's mean
    pseudo-value times √b, as a mean of b values varies less by this factor.

    The pseudo-value of a single user is the estimate.

    References:
        J. W. Tukey, Bias and Confidence in Not Quite Large Samples, Annals of Mathematical
        Statistics 29, 1958.
    """
    users = len(sample)
    if users == 1:
        return estimate.estimate(sample.counts)[:, np.newaxis]
    left_out = _left_out(sample)
    whole = estimate.estimate(sample.counts)
    step = max(1, _NUMBERS // len(sample.counts))
    starts = range(0, len(left_out.counts), step)
    batches = [sample.counts - left_out.counts[start : start + step] for start in starts]
    without = np.concatenate([estimate.estimate(np.maximum(batch, 0.0)) for batch in batches])
    factors = (users - left_out.sizes) / np.sqrt(left_out.sizes)
    influence_of_block = factors[:, np.newaxis] * (whole - without)
    influence = influence_of_block.T[:, left_out.block]
    return whole[:, np.newaxis] + influence - influence.mean(axis=1, keepdims=True)


class _LeftOut(NamedTuple):
    """The blocks of users that are left out, one block at a time.

    Attributes:
        counts: (blocks, outcomes) numbers of users with an outcome that are left out.
        sizes: (blocks,) numbers of users that are left out at once.
        block: (users,) block of each user.
    """

    counts: Floats
    sizes: Floats
    block: Ints


def _left_out(sample: Sample) -> _LeftOut:
    """Return a block for each outcome or for each user, or as many blocks as may be left out."""
    users = len(sample)
    if sample.shares.nnz == users:  # each user has one outcome
        outcomes, block = np.unique(sample.shares.indices, return_inverse=True)
        if len(outcomes) <= MOST_LEFT_OUT:
            counts = np.eye(len(sample.counts))[outcomes]
            return _LeftOut(counts, np.ones(len(outcomes)), block.ravel())
    elif users <= MOST_LEFT_OUT:
        return _LeftOut(sample.shares.toarray(), np.ones(users), np.arange(users))
    block = np.random.default_rng(_SEED).permutation(users) % MOST_LEFT_OUT
    sizes = np.bincount(block).astype(np.float64)
    members = csr_array((np.ones(users), (block, np.arange(users))), shape=(len(sizes), users))
    return _LeftOut((members @ sample.shares).toarray(), sizes, block)


HARDLY_WIDER = 1.25
"""Ratio of the width to the width with exact ranks up to which an assumption alone decides."""


class StrictValues(NamedTuple):
    """Values of users whose means are, in expectation, at most and at least a metric.

    Attributes:
        low: (metrics, users) values for lower bounds.
        high: (metrics, users) values for upper bounds.
        bounds: (metrics, 2, 2) smallest and largest value of low, and of high.
        assumption: on the distribution of ranks: free or decreasing.
        findings: what the sample supports.
        is_explained: whether a distribution of true ranks explains the sample.
    """

    low: Floats
    high: Floats
    bounds: Floats
    assumption: str
    findings: list[Finding]
    is_explained: bool = True


def strict_values(
    estimate: ShapeEstimate, sample: Sample, variances: Floats, alpha: float
) -> StrictValues:
    """Return the values under the strongest assumption that the sample supports.

    No assumption is stronger than the estimate's own.

    Args:
        estimate: the bounds of the metrics.
        sample: the sampled ranks.
        variances: (metrics,) variances of the metrics over users, by the same estimate.
        alpha: error rate of the interval for which the weights are best.
    """
    findings: list[Finding] = []
    values = _nothing(len(estimate.metrics), len(sample))
    for assumption in SHAPES[SHAPES.index(estimate.estimator.shape) :: -1]:
        p_value = _p_value(estimate, sample, assumption)
        test = {"assumption": assumption, "p_value": p_value}
        if p_value <= _significance(assumption):
            if assumption == FREE:
                findings = [Finding("unexplained", values=test)]
                return values._replace(is_explained=False, findings=findings)
            findings.append(Finding("contradicted", values=test))
            continue
        values = _by_fold(estimate, sample, assumption, alpha)
        if assumption == FREE:
            break
        if not _decides_alone(values, estimate, variances, alpha):
            findings.append(Finding("supported", values=test))
            break
        findings.append(Finding("narrow", values={"assumption": assumption}))
    return values._replace(findings=findings)


def unexplained(sample: Sample) -> list[Finding]:
    """Return a finding if no distribution of true ranks explains the sample.

    Users who share negatives give no finding, because their outcomes depend on one another.
    """
    if sample.is_shared:
        return []
    p_value = _p_value(ShapeEstimate(StrictBounds(FREE), (), sample.outcomes), sample, FREE)
    if p_value > IMPOSSIBLE:
        return []
    return [Finding("unexplained", values={"assumption": FREE, "p_value": p_value})]


def _significance(assumption: str) -> float:
    return IMPOSSIBLE if assumption == FREE else SIGNIFICANCE


def _p_value(estimate: ShapeEstimate, sample: Sample, assumption: str) -> float:
    """Return the p-value of an assumption on the distribution of true ranks."""
    ones = np.ones(len(sample), dtype=np.int64)
    fits = estimate.fits(sample.counts, assumption)
    return estimate.p_value(ones, sample.shares, fits, 0, _significance(assumption))


def _by_fold(
    estimate: ShapeEstimate, sample: Sample, assumption: str, alpha: float
) -> StrictValues:
    """Return the values by the weights that the other folds choose."""
    deviations = -float(ndtri(alpha / 2))
    low, high = np.empty((2, len(estimate.metrics), len(sample)))
    bounds = np.empty((len(estimate.metrics), 2, 2))
    bounds[..., 0] = np.inf
    bounds[..., 1] = -np.inf
    for fold in range(sample.fold.max() + 1):
        in_fold = sample.fold == fold
        shares = sample.shares[in_fold]
        counts_outside = sample.counts - np.asarray(shares.sum(axis=0))
        fits = estimate.fits_of_part(assumption, counts_outside)
        choice = estimate.bounding_weights(fits, deviations)
        low_weights, high_weights = choice.weights
        low[:, in_fold] = (shares @ low_weights.T).T
        high[:, in_fold] = (shares @ high_weights.T).T
        bounds[..., 0] = np.minimum(bounds[..., 0], choice.least.T)
        bounds[..., 1] = np.maximum(bounds[..., 1], choice.most.T)
    return StrictValues(low, high, bounds, assumption, [])


def _nothing(metrics: int, users: int) -> StrictValues:
    """Return values that are all unknown."""
    low, high = np.full((2, metrics, users), np.nan)
    return StrictValues(low, high, np.full((metrics, 2, 2), np.nan), FREE, [])


def _decides_alone(
    values: StrictValues, estimate: ShapeEstimate, variances: Floats, alpha: float
) -> bool:
    """Return whether an interval is hardly wider than one from as many exact ranks.

    AUC, for which samples have no bias, is left out. The result is False for fewer users than
    `FEW_USERS`.
    """
    if values.low.shape[1] < FEW_USERS:
        return False
    limits = np.array([[-np.inf, np.inf]] * len(variances))
    ends = intervals(values.low, values.high, values.bounds, limits, alpha)
    is_biased = np.array([metric.label != "auc" for metric in estimate.metrics])
    exact_width = -2 * float(ndtri(alpha / 2)) * np.sqrt(variances / values.low.shape[1])
    is_narrow = ends.high - ends.low < HARDLY_WIDER * exact_width
    return bool(is_narrow[is_biased].any())
