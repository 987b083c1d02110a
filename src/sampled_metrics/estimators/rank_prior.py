"""The distribution of true ranks behind a sample, and the metrics that follow from it.

Maximum likelihood and maximum entropy estimate the distribution of true ranks. The estimate of a metric is its mean
under this distribution, which is also the prior of other estimators (`estimated_prior`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics._validation import require_sum_of_one
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Group, Outcomes


class RankPrior(ABC):
    """An estimator of the distribution of true ranks. Equal instances must have equal hashes."""

    replacement: bool | None  # whether P(x | r) is taken as binomial; None follows the design

    @abstractmethod
    def solve(self, outcomes: Outcomes, counts: np.ndarray) -> Floats:
        """Return (samples, largest n) distributions of true ranks from (samples, outcomes) counts."""

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> "PlugIn":
        """Keep the outcomes; the distribution needs the sample."""
        return PlugIn(self, outcomes, tuple(metrics))


def distribution_of_ranks(prior: RankPrior, outcomes: Outcomes, counts: np.ndarray) -> Floats:
    """Return the result of `RankPrior.solve`, cached by samples."""
    columns = (outcomes.x, outcomes.negatives, outcomes.candidates, outcomes.relevant, counts)
    flags = (outcomes.replacement, outcomes.adaptive, outcomes.position, counts.shape, counts.dtype.str)
    key = (flags, *(np.ascontiguousarray(column).tobytes() for column in columns))
    return _solved(prior, _Samples(key, outcomes, counts))


@dataclass(frozen=True)
class _Samples:
    """Samples that compare equal if their keys are equal."""

    key: tuple[object, ...]
    outcomes: Outcomes = field(compare=False)
    counts: np.ndarray = field(compare=False)


@lru_cache(maxsize=4)
def _solved(prior: RankPrior, samples: _Samples) -> Floats:
    distribution = prior.solve(samples.outcomes, samples.counts)
    require_sum_of_one(distribution, f"ranks behind the sample, by {prior}", tolerance=1e-6)  # errors of iteration
    distribution.flags.writeable = False
    return distribution


@dataclass(frozen=True)
class PlugIn:
    """Metrics of the estimated distribution of true ranks: Σ_r π_r f(r).

    If f differs between events, as AUC does with n, each outcome counts the mean of its own f under π given the
    outcome.
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
        for group, group_values in zip(groups, values, strict=True):
            total += self._mean_given_outcomes(group, group_values, distribution, counts[:, group.outcomes])
        return total / counts.sum(axis=1)

    def _mean_given_outcomes(self, group: Group, values: Floats, distribution: Floats, counts: np.ndarray) -> Floats:
        """Σ_x h_x E[f(r) | x], summed over the outcomes of a group."""
        likelihood = group.likelihood(self.prior.replacement)
        possible = distribution[:, : group.candidates]
        weight = possible @ likelihood
        mean = np.divide(
            possible @ (values[:, np.newaxis] * likelihood), weight, out=np.zeros_like(weight), where=weight > 0
        )
        return (counts * mean).sum(axis=1)
