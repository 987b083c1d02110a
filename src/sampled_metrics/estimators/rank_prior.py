"""The distribution of true ranks behind a sample, and the metrics that follow from it.

Maximum likelihood and maximum entropy estimate the distribution of true ranks, for each class of users with similar n
(`sampled_metrics.sampling.rank_classes`). The estimate of a metric is its mean under these distributions.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sampled_metrics._validation import Floats, require_sum_of_one
from sampled_metrics.estimators.protocol import Estimate, Estimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import RankClass, rank_classes
from sampled_metrics.sampling.rank_nodes import RankNodes

Solver = Callable[[Floats], Floats]
"""(samples, distinct (m, x)) counts, not all 0 in any sample → (samples, nodes) probabilities of the true ranks."""


class RankPrior(Estimator):
    """An estimator of the distribution of true ranks."""

    replacement: bool | None  # whether P(x | r) is taken as binomial; None follows the design

    @abstractmethod
    def solver(self, users: RankClass, nodes: RankNodes) -> Solver:
        """Return the function that estimates the distributions of true ranks of a class of users from samples."""

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


@dataclass(frozen=True)
class PlugIn(Estimate):
    """Metrics of the estimated distributions of true ranks: the mean over users of Σ_r π_r f(r).

    Attributes:
        prior: the estimator of the distributions.
        outcomes: the outcomes of the samples.
        metrics: the metrics of one relevant item.
    """

    prior: RankPrior
    outcomes: Outcomes
    metrics: tuple[Metric, ...]

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        samples = counts.reshape(-1, counts.shape[-1])
        return self._moment(self.distributions(samples), samples, 1).reshape(*counts.shape[:-1], len(self.metrics))

    def moments(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the (metrics,) means and variances over users, with true ranks estimated from (outcomes,) counts."""
        samples = counts[np.newaxis]
        distributions = self.distributions(samples)
        mean, square = (self._moment(distributions, samples, power)[0] for power in (1, 2))
        return mean, np.maximum(square - mean**2, 0.0)

    def distributions(self, samples: np.ndarray) -> tuple[ClassDistribution, ...]:
        """Return the distributions of true ranks by class of users, from (samples, outcomes) counts.

        The nodes are right for sums of the metrics.
        """
        return tuple(self._distribution(*of_class, samples) for of_class in self._classes)

    @cached_property
    def _classes(self) -> tuple[tuple[RankClass, RankNodes, Solver], ...]:
        """Return the classes of users with their nodes and solvers, which all samples share."""
        classes = [(users, users.nodes(self.metrics)) for users in rank_classes(self.outcomes)]
        return tuple((users, nodes, self.prior.solver(users, nodes)) for users, nodes in classes)

    def _distribution(self, users: RankClass, nodes: RankNodes, solve: Solver, samples: Floats) -> ClassDistribution:
        """Return the distribution of a class; equal samples are solved once."""
        counts = users.counts(samples)
        events = counts.sum(axis=1)
        distinct, which = np.unique(counts[events > 0], axis=0, return_inverse=True)
        probabilities = np.zeros((len(counts), len(nodes.ranks)))
        if len(distinct):
            solved = solve(distinct)
            require_sum_of_one(solved, f"ranks behind the sample, by {self.prior}", tolerance=1e-6)  # of iteration
            probabilities[events > 0] = solved[np.asarray(which).ravel()]
        return ClassDistribution(users, nodes.ranks, probabilities, events)

    def _moment(self, distributions: Sequence[ClassDistribution], samples: np.ndarray, power: int) -> Floats:
        """Return the (samples, metrics) means over users of a power of the metrics."""
        total = np.zeros((len(samples), len(self.metrics)))
        for one in distributions:
            values = one.users.values(self.metrics, one.ranks)
            total += one.events[:, np.newaxis] * (one.probabilities @ values**power)
        return total / samples.sum(axis=1, keepdims=True)
