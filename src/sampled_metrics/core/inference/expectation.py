"""Means and variances of sampled evaluations of exact ranks, by user."""

from collections.abc import Iterator, Sequence

import numpy as np

from sampled_metrics.checks import Floats, check_memory_limit
from sampled_metrics.core.estimators import Estimator, linear_estimator
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import row_moments


def expectations(
    tables: Sequence[ExactRanks],
    design: SamplingDesign,
    estimators: Sequence[Estimator],
    metrics: tuple[Metric, ...],
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the (rows, estimates) means and variances of the weights of each table's rows.

    Means and variances are over the samples of negatives, by estimator and metric. The weights of
    an n are computed once.

    Raises:
        DataError: a user has too few candidates to sample from, or the weights take too much
            memory.
    """
    candidates = np.unique(np.concatenate([table.candidates for table in tables]))
    design.check(candidates)
    shape = (len(candidates) * len(estimators) * len(metrics) + 16, design.negatives + 1)
    check_memory_limit(shape, f"the weights of every n for {design}", "take fewer negatives")
    weights = [
        linear_estimator(estimator).checked_weights(design, candidates, metrics)
        for estimator in estimators
    ]
    weights_by_n = np.concatenate(weights, axis=1)
    for table in tables:
        index_of_n = np.searchsorted(candidates, table.candidates)
        yield row_moments(table, design, weights_by_n, index_of_n)
