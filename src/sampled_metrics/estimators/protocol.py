"""The interface of estimators: fitted without a sample, an estimator then estimates true metrics (section 5).

A sample is a count of outcomes (`sampled_metrics.sampling.outcomes`): the number of events with x of m negatives above
the held-out item. The outcomes hold everything else that an estimator needs, including n and m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:  # the help of the command loads this module, and starts without numpy
    import numpy as np

    from sampled_metrics._validation import Floats
    from sampled_metrics.metrics.metric import Metric
    from sampled_metrics.sampling.outcomes import Outcomes


class Estimate(Protocol):
    """A fitted estimator."""

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates of the means from (…, outcomes) counts of events.

        Leading axes, such as repetitions, are kept.

        Raises:
            DataError: the estimator is not valid for such a sample; the message says why.
        """
        ...


@runtime_checkable
class Estimator(Protocol):
    """A rule for estimating true metrics from sampled ranks; its text is its label in results."""

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> Estimate:
        """Prepare to estimate metrics from samples with these outcomes; uses no sample.

        Raises:
            DataError: the estimator is not valid for such samples; the message says why.
        """
        ...


EstimatorsLike = str | Estimator | Sequence[str | Estimator]
"""Accepted forms of estimators: one label or object with the method fit, or several."""
