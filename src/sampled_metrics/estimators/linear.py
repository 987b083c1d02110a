"""Linear estimators: every estimator of the paper is a vector of weights (section 5).

An event with the sampled rank x + 1 counts w_x. The estimate is the mean over events.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sampled_metrics._validation import Floats, Ints, check_memory_limit, require_finite
from sampled_metrics.errors import DataError
from sampled_metrics.estimators.protocol import Estimate, Estimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Group, Outcomes


@dataclass(frozen=True)
class LinearEstimate(Estimate):
    """A fitted estimator that is linear in the counts of outcomes.

    Attributes:
        weights: (metrics, outcomes) weights.
        of_groups: for each group of the outcomes, the (metrics, m + 1) weights of every x, seen or not.
    """

    weights: Floats = field()  # required, unlike in `Estimate`
    of_groups: tuple[Floats, ...] = field()

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Return the (metrics,) smallest and largest weights of any x."""
        return (
            np.min([weights.min(axis=1) for weights in self.of_groups], axis=0),
            np.max([weights.max(axis=1) for weights in self.of_groups], axis=0),
        )

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates from (…, outcomes) counts."""
        return np.asarray(counts @ self.weights.T / np.sum(counts, axis=-1, keepdims=True))


class LinearEstimator(Estimator):
    """An estimator that is given by its weights for a design, an n and a metric."""

    is_linear: ClassVar[bool] = True

    @abstractmethod
    def weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return the (n's, metrics, m + 1) weights of x = 0 … m for samples of a design, for each n by itself.

        Raises:
            DataError: an n or m is too large for the allowed memory, or the equations are too badly conditioned.
        """

    def condition_number(self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]) -> float:
        """Return the condition number of the solved equations, 1 if there are none; parameters as in `weights`."""
        return 1.0

    def checked_weights(self, design: SamplingDesign, candidates: Ints, metrics: tuple[Metric, ...]) -> Floats:
        """Return `weights`; raise NumericError if one is not finite."""
        weights = self.weights(design, candidates, metrics)
        require_finite(weights, f"weights of {self} for {design} from up to {candidates.max()} candidates")
        return weights

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> LinearEstimate:
        """Return the weights of all outcomes, fitted separately for each n and m.

        Raises:
            DataError: an event has no sampled negatives, or n or m is too large for the allowed memory.
        """
        without = int(outcomes.events[outcomes.negatives == 0].sum())
        if without:
            raise DataError(
                f"{self} has no weights for the {without} of {outcomes.events.sum()} rows without a uniformly sampled "
                "negative, and the mean of the others may be another one; take decreasing, or draw more "
                "negatives or with weights that differ less"
            )
        weights = np.empty((len(metrics), len(outcomes)))
        of_groups: dict[int, Floats] = {}
        by_design: dict[int, list[tuple[int, Group]]] = {}
        for number, group in enumerate(outcomes.groups):
            by_design.setdefault(group.negatives, []).append((number, group))
        for negatives, groups in by_design.items():
            design = SamplingDesign(negatives, outcomes.replacement)
            shape = (len(groups), len(metrics), negatives + 1)
            check_memory_limit(shape, f"weights of {self} for {design}", "take fewer")
            candidates = np.array([group.candidates for _, group in groups])
            fitted = self.checked_weights(design, candidates, tuple(metrics))
            for (number, group), group_weights in zip(groups, fitted, strict=True):
                weights[:, group.outcomes] = group_weights[:, group.x]
                of_groups[number] = group_weights
        return LinearEstimate(weights, tuple(of_groups[number] for number in sorted(of_groups)))
