"""Exact means and variances of a sampled evaluation; nothing is drawn.

Given the true ranks, including ties, the samples of different events are independent. A linear estimate with weights w
then has the mean mean_u Σ_x P_u(x) w_x and the variance Σ_u Var_u(w_x) / |D|². A rank table gives the true ranks, a
design how negatives are drawn, and a rule how ties in a sample are broken. If users have several rows, the rows count
by the table's weights.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from sampled_metrics._validation import Floats, Ints, require_sum_of_one
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.ties import distribution_over_ties

_BLOCK = 2_000_000  # probabilities held at once

EQUAL = 1e-12
"""Exact metrics that differ by at most this are equal, because sums in another order differ by rounding."""


def distributions(
    table: ExactRanks, design: SamplingDesign, rule: str = "random"
) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield P(x) of the events of a table, in blocks of (events, m + 1), and the weights of these events."""
    step = max(1, _BLOCK // (design.negatives + 1))
    for first in range(0, len(table), step):
        events = slice(first, first + step)
        counts = table.above[events], table.tied[events], table.candidates[events]
        probabilities = distribution_over_ties(*counts, design, rule)
        require_sum_of_one(probabilities, f"P(x) of events {first + 1} and on, with {design}")
        yield probabilities, None if table.weights is None else table.weights[events, np.newaxis]


def expected_distribution(table: ExactRanks, design: SamplingDesign, rule: str = "random") -> Floats:
    """Return P(x) of a random event of a table, (m + 1,): the expected histogram of samples.

    A linear estimate with weights w has the expected value P @ w.
    """
    total = np.zeros(design.negatives + 1)
    for probabilities, weights in distributions(table, design, rule):
        total += (probabilities if weights is None else weights * probabilities).sum(axis=0)
    return total / len(table)


def linear_moments(
    table: ExactRanks, design: SamplingDesign, weights: Floats, rule: str = "random"
) -> tuple[Floats, Floats]:
    """Return exact (estimates,) means and standard deviations over draws, for (estimates, m + 1) weights."""
    mean, variance = np.zeros(len(weights)), np.zeros(len(weights))
    for probabilities, of_events in distributions(table, design, rule):
        means = probabilities @ weights.T
        variances = np.maximum(probabilities @ weights.T**2 - means**2, 0.0)
        if of_events is not None:
            means, variances = of_events * means, of_events**2 * variances
        mean += means.sum(axis=0)
        variance += variances.sum(axis=0)
    return mean / len(table), np.sqrt(variance) / len(table)


def user_moments(
    table: ExactRanks, design: SamplingDesign, weights: Floats, which: Ints, rule: str = "random"
) -> tuple[Floats, Floats]:
    """Return exact (rows, estimates) means and variances of the weight of each row of a table.

    `weights` are (kinds, estimates, m + 1), and `which` are the (rows,) kinds of rows.
    """
    design.check(table.candidates)
    both = np.concatenate((weights, weights**2), axis=1)
    moments = np.empty((len(table), both.shape[1]))
    order = np.argsort(which, kind="stable")
    step = max(1, _BLOCK // (design.negatives + 1))
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        counts = table.above[rows], table.tied[rows], table.candidates[rows]
        probabilities = distribution_over_ties(*counts, design, rule)
        numbers, firsts = np.unique(which[rows], return_index=True)
        for number, first, last in zip(numbers, firsts, [*firsts[1:], len(rows)], strict=True):
            moments[rows[first:last]] = probabilities[first:last] @ both[number].T
    means, squares = np.split(moments, 2, axis=1)
    return means, np.maximum(squares - means**2, 0.0)


def probability_of_order(gap: float, deviation: float, step: float = 0.0) -> float:
    """Return the probability that a normal variable with mean `gap` is above 0; it is 0 if both numbers are 0.

    If the variable has multiples of `step` only, it can be exactly 0, which is no order. The probability is then that
    of `step` or more, with a correction for continuity. It is NaN if an argument is NaN.
    """
    if np.isnan(gap) or np.isnan(deviation):
        return np.nan
    return float(ndtr((gap - step / 2) / deviation)) if deviation > 0 else float(gap > 0)
