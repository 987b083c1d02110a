"""The distribution of true ranks behind a sample, and the metrics that follow from it.

Maximum likelihood and maximum entropy say how the true ranks are distributed; a metric is its mean under that. The
same distribution serves as the prior of other estimators (`estimated_prior`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics._validation import require_sum_of_one
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Group, Outcomes


class RankPrior(Protocol):
    """A way to estimate how true ranks are distributed. Equal ones must compare and hash as equal."""

    def __hash__(self) -> int:
        """Return the hash of its parameters."""
        ...

    @property
    def replacement(self) -> bool | None:
        """Whether P(x | r) is taken as binomial; None is as the negatives were drawn."""
        ...

    def check(self, outcomes: Outcomes) -> None:
        """Raise DataError if it is not valid for samples with such outcomes."""
        ...

    def solve(self, outcomes: Outcomes, counts: np.ndarray) -> Floats:
        """Return (samples, largest n) distributions of true ranks from (samples, outcomes) counts."""
        ...


def distribution_of_ranks(prior: RankPrior, outcomes: Outcomes, counts: np.ndarray) -> Floats:
    """Return (samples, largest n) distributions of true ranks, computed once for the same samples.

    Args:
        prior: the way to estimate it.
        outcomes: what samples can show.
        counts: (samples, outcomes) how many events had each outcome.
    """
    return _solved(prior, _Samples(outcomes, counts))


class _Samples:
    """Samples that are equal if their outcomes and counts are."""

    def __init__(self, outcomes: Outcomes, counts: np.ndarray) -> None:
        self.outcomes, self.counts = outcomes, counts
        columns = (outcomes.x, outcomes.negatives, outcomes.candidates, outcomes.relevant, counts)
        flags = (outcomes.replacement, outcomes.adaptive, outcomes.position, counts.shape, counts.dtype.str)
        self.key = (flags, *(np.ascontiguousarray(column).tobytes() for column in columns))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Samples) and self.key == other.key


@lru_cache(maxsize=4)
def _solved(prior: RankPrior, samples: _Samples) -> Floats:
    distribution = prior.solve(samples.outcomes, samples.counts)
    require_sum_of_one(distribution, f"ranks behind the sample, by {prior}", tolerance=1e-6)  # of an iteration
    distribution.flags.writeable = False
    return distribution


@dataclass(frozen=True)
class PlugIn:
    """Metrics of the estimated distribution of true ranks: Σ_r π_r f(r).

    Where f differs between events, as AUC does with n, each outcome counts the mean of its own f under π given the
    outcome.

    Attributes:
        prior: how π is estimated.
        outcomes: what samples can show.
        metrics: the metrics f.
    """

    prior: RankPrior
    outcomes: Outcomes
    metrics: tuple[Metric, ...]

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        samples = counts.reshape(-1, counts.shape[-1])
        distribution = distribution_of_ranks(self.prior, self.outcomes, samples)
        estimates = np.stack([self._mean(metric, distribution, samples) for metric in self.metrics], axis=-1)
        return estimates.reshape(*counts.shape[:-1], len(self.metrics))

    def _mean(self, metric: Metric, distribution: Floats, counts: np.ndarray) -> Floats:
        groups = self.outcomes.groups
        values = [group.target(metric).values(group.candidates) for group in groups]
        largest = max(values, key=len)
        if all(np.array_equal(each, largest[: len(each)]) for each in values):
            return distribution @ largest
        total = np.zeros(len(counts))
        for group, of_group in zip(groups, values, strict=True):
            total += self._mean_given_outcomes(group, of_group, distribution, counts[:, group.outcomes])
        return total / counts.sum(axis=1)

    def _mean_given_outcomes(self, group: Group, values: Floats, distribution: Floats, counts: np.ndarray) -> Floats:
        """Σ_x h_x E[f(r) | x], summed over the outcomes of a group."""
        assumed = self.prior.replacement
        likelihood = group.likelihood(self.outcomes.replacement if assumed is None else assumed)
        of_group = distribution[:, : group.candidates]
        weight = of_group @ likelihood
        mean = np.divide(
            of_group @ (values[:, np.newaxis] * likelihood), weight, out=np.zeros_like(weight), where=weight > 0
        )
        return (counts * mean).sum(axis=1)


class PlugInEstimator:
    """Base of the estimators that are a distribution of true ranks and nothing else."""

    def check(self, outcomes: Outcomes) -> None:
        """Accept all samples."""

    def fit(self: RankPrior, outcomes: Outcomes, metrics: Sequence[Metric]) -> PlugIn:
        """Keep the outcomes; the distribution needs the sample.

        Raises:
            DataError: the estimator is not valid for such samples.
        """
        self.check(outcomes)
        return PlugIn(self, outcomes, tuple(metrics))
