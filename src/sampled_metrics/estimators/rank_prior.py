"""The distribution of true ranks behind a sample, and the metrics that follow from it.

Maximum likelihood and maximum entropy estimate the distribution of true ranks, for each class of users with similar n
(`sampled_metrics.sampling.rank_classes`). The estimate of a metric is its mean under these distributions.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from sampled_metrics._validation import Floats, require_sum_of_one
from sampled_metrics.estimators.protocol import Estimate, Estimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import RankClass, rank_classes
from sampled_metrics.sampling.rank_nodes import RankNodes


class RankPrior(Estimator):
    """An estimator of the distribution of true ranks. Equal instances must have equal hashes."""

    replacement: bool | None  # whether P(x | r) is taken as binomial; None follows the design

    @abstractmethod
    def solve(self, users: RankClass, nodes: RankNodes, counts: Floats) -> Floats:
        """Return (samples, nodes) probabilities of the true ranks from (samples, distinct (m, x)) counts above 0."""

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> "PlugIn":
        """Return the estimate, which computes the distribution of true ranks from each sample."""
        return PlugIn(self, outcomes, tuple(metrics))


@dataclass(frozen=True)
class ClassDistribution:
    """The estimated distribution of true ranks of a class of users.

    Attributes:
        users: the class.
        ranks: (nodes,) ranks.
        probabilities: (samples, nodes) the probability of the ranks that a node stands for; 0 in a sample without any
            of these users.
        events: (samples,) numbers of events of the class.
    """

    users: RankClass
    ranks: Floats
    probabilities: Floats
    events: Floats


def rank_distributions(
    prior: RankPrior, outcomes: Outcomes, metrics: tuple[Metric, ...], counts: np.ndarray
) -> tuple[ClassDistribution, ...]:
    """Return the distributions of true ranks by class of users, from (samples, outcomes) counts, cached by samples.

    The nodes are right for sums of these metrics.
    """
    return _solved(prior, Keyed.from_outcomes(outcomes), Keyed((_key(counts),), counts), metrics)


@dataclass(frozen=True)
class Keyed:
    """A value that compares equal to another one if their keys are equal."""

    key: tuple[object, ...]
    value: Any = field(compare=False)

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> "Keyed":
        """Return outcomes that compare equal to the same outcomes."""
        columns = (outcomes.x, outcomes.negatives, outcomes.candidates, outcomes.events)
        return cls((outcomes.replacement, *map(_key, columns)), outcomes)


def _key(array: np.ndarray) -> tuple[object, ...]:
    return array.shape, array.dtype.str, np.ascontiguousarray(array).tobytes()


@lru_cache(maxsize=4)
def _classes(outcomes: Keyed) -> tuple[RankClass, ...]:
    return rank_classes(outcomes.value)


@lru_cache(maxsize=4)
def _solved(
    prior: RankPrior, outcomes: Keyed, samples: Keyed, metrics: tuple[Metric, ...]
) -> tuple[ClassDistribution, ...]:
    distributions = []
    for users in _classes(outcomes):
        nodes, counts = users.nodes(metrics), users.counts(samples.value)
        events = counts.sum(axis=1)
        distinct, which = np.unique(counts[events > 0], axis=0, return_inverse=True)
        probabilities = np.zeros((len(counts), len(nodes.ranks)))
        if len(distinct):
            solved = prior.solve(users, nodes, distinct)
            require_sum_of_one(solved, f"ranks behind the sample, by {prior}", tolerance=1e-6)  # errors of iteration
            probabilities[events > 0] = solved[np.asarray(which).ravel()]
        probabilities.flags.writeable = False
        distributions.append(ClassDistribution(users, nodes.ranks, probabilities, events))
    return tuple(distributions)


@dataclass(frozen=True)
class PlugIn(Estimate):
    """Metrics of the estimated distributions of true ranks: the mean over users of Σ_r π_r f(r)."""

    prior: RankPrior
    outcomes: Outcomes
    metrics: tuple[Metric, ...]

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        samples = counts.reshape(-1, counts.shape[-1])
        total = np.zeros((len(samples), len(self.metrics)))
        for distribution in rank_distributions(self.prior, self.outcomes, self.metrics, samples):
            values = distribution.users.values(self.metrics, distribution.ranks)
            total += distribution.events[:, np.newaxis] * (distribution.probabilities @ values)
        return (total / samples.sum(axis=1, keepdims=True)).reshape(*counts.shape[:-1], len(self.metrics))

    def variances(self, counts: Floats) -> Floats:
        """Return the (metrics,) variances over users, with true ranks as estimated from (outcomes,) counts."""
        squares = np.zeros(len(self.metrics))
        for distribution in rank_distributions(self.prior, self.outcomes, self.metrics, counts[np.newaxis]):
            values = distribution.users.values(self.metrics, distribution.ranks)
            squares += distribution.events[0] * (distribution.probabilities[0] @ values**2)
        return np.asarray(np.maximum(squares / counts.sum() - self.estimate(counts) ** 2, 0.0))
