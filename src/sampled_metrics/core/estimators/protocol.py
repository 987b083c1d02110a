"""The interface of estimators.

An estimator is fitted without a sample, and then estimates true metrics from samples (section 5).

A sample is a count of outcomes (`sampled_metrics.core.sampling.outcomes`): the number of events
with x of m negatives above the held-out item. The outcomes hold everything else that an estimator
needs, including n and m.

An estimator of your own is a subclass of `Estimator`, and its estimate is a subclass of `Estimate`.
Each property has a default, so that a subclass defines only what differs. An estimator that is
linear in the sample is a subclass of `sampled_metrics.core.estimators.linear.LinearEstimator` and
needs no class for its estimate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # the help of the command loads this module, and starts without numpy
    import numpy as np

    from sampled_metrics.checks import Floats
    from sampled_metrics.core.metrics import Metric
    from sampled_metrics.core.sampling.distributions import SamplingDesign
    from sampled_metrics.core.sampling.outcomes import Outcomes


class Estimate(ABC):
    """A fitted estimator.

    Attributes:
        weights: (metrics, outcomes) weights of an estimate that is linear in the counts, or None.
        of_groups: for each group of the outcomes, the (metrics, m + 1) weights of every x, seen or
            not; empty if the estimate is not linear.
    """

    weights: Floats | None = None
    of_groups: tuple[Floats, ...] = ()

    @property
    def is_linear(self) -> bool:
        """Return whether the estimate is linear in the counts: a mean of weights over events."""
        return self.weights is not None

    @property
    def bounds(self) -> tuple[Floats, Floats] | None:
        """Return the (metrics,) smallest and largest values of one event.

        None stands for the smallest and largest values of the metrics.
        """
        return None

    @property
    def assumed_shape(self) -> str | None:
        """Return the assumed shape of the distribution of ranks; None without strict bounds."""
        return None

    @abstractmethod
    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates of the means from (…, outcomes) counts of events.

        Leading axes, such as repetitions, are kept.

        Raises:
            DataError: the estimator is not valid for such a sample; the message says why.
        """


class Estimator(ABC):
    """A rule for estimating true metrics from sampled ranks; its text is its label in results.

    Attributes:
        is_linear: whether its estimates are linear in the sample, with weights and an exact
            expectation.
        is_uncorrected: whether its metrics are those of the sampled ranks, and not estimates of the
            true metrics.
    """

    is_linear: ClassVar[bool] = False
    is_uncorrected: ClassVar[bool] = False

    @property
    def assumed_shape(self) -> str | None:
        """Return the assumed shape of the distribution of ranks; None without strict bounds."""
        return None

    @abstractmethod
    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> Estimate:
        """Prepare to estimate metrics from samples with these outcomes; uses no sample.

        Raises:
            DataError: the estimator is not valid for such samples; the message says why.
        """

    def condition_number(
        self, design: SamplingDesign, candidates: int, metrics: tuple[Metric, ...]
    ) -> float | None:
        """Return the condition number of the equations of its weights.

        An estimator that is not linear in the sample returns None.

        Args:
            design: how negatives are drawn.
            candidates: n.
            metrics: the metrics.
        """
        return None


EstimatorsLike = str | Estimator | Sequence[str | Estimator]
"""Accepted forms of estimators: one label or `Estimator`, or several."""
