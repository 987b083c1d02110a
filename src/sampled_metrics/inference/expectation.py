"""Means and variances of sampled evaluations of exact ranks by user, and the probability of an order.

A tie is not an order: the probability of an order is that of a difference above 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints, check_memory_limit
from sampled_metrics.estimators import Estimator, linear_estimator
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import common_step, probability_of_order, user_moments
from sampled_metrics.sampling.ties import distribution_over_ties


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
            DataError: a user has too few candidates to sample from, or the weights take too much memory.
        """
        candidates = np.unique(np.concatenate([table.candidates for table in tables]))
        design.check(candidates)
        shape = (len(candidates) * len(estimators) * len(metrics) + 16, design.negatives + 1)
        check_memory_limit(shape, f"the weights of every n for {design}", "take fewer negatives")
        weights = [linear_estimator(one).checked_weights(design, candidates, metrics) for one in estimators]
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
        """Return the expectation of exact ranks; `user` holds the (rows,) numbers of the users from 0."""
        number_of_n = np.searchsorted(weights.candidates, table.candidates)
        means, variances = user_moments(table, weights.design, weights.values, number_of_n)
        rows = np.bincount(user)[user][:, np.newaxis]
        of_users = mean_of_rows(means, user), mean_of_rows(variances / rows, user)
        return cls(*of_users, table, weights.design, weights.values, number_of_n, user)


def mean_of_rows(values: Floats, user: Ints) -> Floats:
    """Return the (users, …) means over the rows of each user, from (rows, …) values."""
    sums = np.zeros((int(user.max()) + 1, *values.shape[1:]))
    np.add.at(sums, user, values)
    return sums / np.bincount(user).reshape(-1, *[1] * (values.ndim - 1))


def step_of_difference(better: Expectation, worse: Expectation, estimate: int = 0) -> float:
    """Return the largest step of which the difference of the means is a whole multiple; 0 if there is none.

    A mean of 0 and 1 over users has the step 1 / users.
    """
    sides = (better, worse)
    first = np.concatenate([side.weights[0, estimate] for side in sides])
    if common_step(first) == 0:
        return 0.0
    rows = np.unique(np.concatenate([np.bincount(side.user) for side in sides]))
    weights = np.concatenate([side.weights[:, estimate].ravel() for side in sides])
    return common_step(np.concatenate([np.unique(weights) / count for count in rows])) / len(better.means)


def exact_probability(better: Expectation, worse: Expectation, estimate: int = 0) -> float:
    """Return the probability that an estimate, by index, of `better` is above that of `worse`; a tie is not.

    The difference of the means is a sum of independent terms, one for each row. Its distribution is computed on a
    lattice of 2048 points from its characteristic function. The lattice is the one on which the weights lie best. A
    weight between points is split among the nearest three, so that its mean and its square are kept.
    """
    points = 2048
    sides = [(side, sign / len(side.means)) for side, sign in ((better, 1.0), (worse, -1.0))]
    deviation = np.sqrt(sum(side.variances[:, estimate].sum() for side, _ in sides)) / len(better.means)
    gap = float(better.means[:, estimate].mean() - worse.means[:, estimate].mean())
    if deviation == 0:
        return probability_of_order(gap, 0.0)
    largest = max(float(np.abs(side.weights[:, estimate]).max()) for side, _ in sides) / len(better.means)
    most = largest * points / (2 * abs(gap) + 24 * deviation + 16 * largest)
    lattice = step_of_difference(better, worse, estimate)
    step = _step(largest, most, lattice)
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    log = np.zeros(len(angle), dtype=complex)
    for side, sign in sides:
        rows = np.bincount(side.user)[side.user]
        for n, count in np.unique(np.stack((side.number_of_n, rows)), axis=1).T:
            alike = np.flatnonzero((side.number_of_n == n) & (rows == count))
            log += _log_transform(side, alike, side.weights[n, estimate] * sign / count / step, angle)
    transform = np.concatenate((np.exp(log), np.conj(np.exp(log[1:-1]))[::-1]))
    probabilities = np.real(np.fft.fft(transform)) / points  # of 0, 1, ... and then of the negative points
    above, at_zero = probabilities[1 : points // 2].sum(), probabilities[0]
    # what the point 0 has beyond its neighbours are ties; a lattice of ties alone has no such neighbours
    ties = at_zero if lattice and step <= lattice * (1 + 1e-9) else at_zero - (probabilities[1] + probabilities[-1]) / 2
    return float(above + (at_zero - max(ties, 0.0)) / 2)


def _step(largest: float, most: float, lattice: float) -> float:
    """Return the distance of the points: one by which the largest weight has up to `most` steps.

    It divides the step of the weights, if they have one that is not too small.
    """
    if lattice and (within := np.floor(most * lattice / largest)) >= 1:
        return float(lattice / within)
    return largest / max(1.0, np.floor(most))


def _log_transform(side: Expectation, rows: Ints, places: Floats, angle: Floats) -> NDArray[np.complex128]:
    """Return the logarithm of the characteristic function of the sum of some rows, at (angles,) angles.

    Args:
        side: the expectation that has the rows.
        rows: indices of rows with the same weights.
        places: (m + 1,) weights, in points.
        angle: (angles,) angles.
    """
    counts = side.table.above[rows], side.table.tied[rows], side.table.candidates[rows]
    distinct, index = np.unique(np.round(places, 9), return_inverse=True)
    of_place = csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), len(distinct)))
    probabilities = distribution_over_ties(*counts, side.design) @ of_place
    seen = (probabilities > 1e-18).any(axis=0)
    whole = np.round(distinct[seen])
    offset = (distinct[seen] - whole)[:, np.newaxis]
    phase = np.exp(1j * np.outer(whole, angle))
    phase *= 1 - offset**2 * (1 - np.cos(angle)) + 1j * offset * np.sin(angle)
    with np.errstate(divide="ignore"):  # the logarithm of 0 is that of a product with a factor 0
        logarithm: NDArray[np.complex128] = np.log(probabilities[:, seen] @ phase).sum(axis=0)
    return logarithm
