"""Means and variances of sampled evaluations of exact ranks, by user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sampled_metrics.checks import Floats, Ints, check_memory_limit
from sampled_metrics.core.estimators import Estimator, linear_estimator
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import user_moments


@dataclass(frozen=True)
class DesignWeights:
    """The weights of estimators under a design, for each n of some tables.

    Attributes:
        design: how negatives are drawn.
        candidates: (n's,) ascending.
        values: (n's, estimates, m + 1) weights, by estimator and metric.
    """

    design: SamplingDesign
    candidates: Ints
    values: Floats

    @classmethod
    def from_tables(
        cls,
        tables: Iterable[ExactRanks],
        design: SamplingDesign,
        estimators: Sequence[Estimator],
        metrics: tuple[Metric, ...],
    ) -> "DesignWeights":
        """Compute the weights for all n of the tables, each once.

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
        return cls(design, candidates, np.concatenate(weights, axis=1))


@dataclass(frozen=True)
class Expectation:
    """Expected weights of the users of a table under a design, by estimator and metric.

    Attributes:
        means: (users, estimates) means over the samples of negatives.
        variances: (users, estimates) variances.
        table: the exact ranks.
        design: how negatives are drawn.
        weights: (n's, estimates, m + 1) weights, for each n of the tables.
        number_of_n: (rows,) index of each row's n.
        user: (rows,) number of each row's user.
    """

    means: Floats
    variances: Floats
    table: ExactRanks
    design: SamplingDesign
    weights: Floats
    number_of_n: Ints
    user: Ints

    @classmethod
    def from_ranks(cls, table: ExactRanks, user: Ints, weights: DesignWeights) -> "Expectation":
        """Return the expectation of exact ranks.

        Args:
            table: the exact ranks.
            user: (rows,) numbers of the users, from 0.
            weights: the weights under the design.
        """
        number_of_n = np.searchsorted(weights.candidates, table.candidates)
        means, variances = user_moments(table, weights.design, weights.values, number_of_n)
        rows_of_user = np.bincount(user)[user][:, np.newaxis]
        return cls(
            mean_of_rows(means, user),
            mean_of_rows(variances / rows_of_user, user),
            table,
            weights.design,
            weights.values,
            number_of_n,
            user,
        )


def mean_of_rows(values: Floats, user: Ints) -> Floats:
    """Return the (users, …) means over the rows of each user, from (rows, …) values."""
    sums = np.zeros((int(user.max()) + 1, *values.shape[1:]))
    np.add.at(sums, user, values)
    return sums / np.bincount(user).reshape(-1, *[1] * (values.ndim - 1))
