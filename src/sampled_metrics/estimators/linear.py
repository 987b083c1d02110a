"""Linear estimators: every estimator of the paper is a vector of weights (section 5).

An event with the sampled rank x + 1 counts w_x. The estimate is the mean over events.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics._validation import check_memory_limit, require_finite
from sampled_metrics.errors import DataError
from sampled_metrics.metrics.held_out import Metric, RankMetric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes


@dataclass(frozen=True)
class LinearEstimate:
    """A fitted estimator that is linear in the counts of outcomes, with (metrics, outcomes) weights."""

    weights: Floats

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        return np.asarray(counts @ self.weights.T / np.sum(counts, axis=-1, keepdims=True))


class Solved(NamedTuple):
    """(metrics, m + 1) weights that solve equations, and the condition number of these equations."""

    weights: Floats
    condition_number: float


class LinearEstimator(ABC):
    """An estimator that is given by its weights for a design, an n and a metric."""

    @abstractmethod
    def weights(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> Floats:
        """Return the (metrics, m + 1) weights of x = 0 … m for samples of a design from n candidates."""

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[RankMetric, ...]) -> float:
        """Return the condition number of the solved equations, 1 if there are none; arguments as in `weights`."""
        return 1.0

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> LinearEstimate:
        """Return the weights of all outcomes, fitted separately for each n and m.

        Raises:
            DataError: m depends on the sample, an event has no sampled negatives, or n or m is too large for the
                allowed memory.
        """
        if outcomes.adaptive:
            raise DataError(
                f"{self} is not valid on an adaptive sample: its weights hold for a number of negatives that was fixed "
                "beforehand; mle is valid"
            )
        weights = np.empty((len(metrics), len(outcomes)))
        for group in outcomes.groups:
            if group.negatives == 0:
                raise DataError(f"{self} has no weights for an event without sampled negatives; mle is valid")
            design = SamplingDesign(group.negatives, outcomes.replacement)
            check_memory_limit((len(metrics), design.negatives + 1), f"weights of {self} for {design}", "take fewer")
            group_weights = self.weights(design, group.candidates, tuple(group.target(metric) for metric in metrics))
            require_finite(group_weights, f"weights of {self} for n = {group.candidates} candidates and {design}")
            weights[:, group.outcomes] = group_weights[:, group.x]
        return LinearEstimate(weights)
