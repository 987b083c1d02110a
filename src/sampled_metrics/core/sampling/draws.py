"""Sampled evaluations of true ranks: repetitions, exact means and variances (sections 4.3, 4.4).

An event has n candidates: the held-out item and n - 1 negatives. m negatives are drawn, and x of
them score above the held-out item, so the sampled rank is x + 1. Given the true rank r, x is
Binomial(m, (r-1)/(n-1)) with replacement and Hypergeometric(n-1, r-1, m) without.

Means and variances are exact, and need no draws. Given the true ranks, including ties, the samples
of different events are independent. A linear estimate with weights w then has the mean mean_u Σ_x
P_u(x) w_x and the variance Σ_u Var_u(w_x) / |D|². A rank table gives the true ranks, a design how
negatives are drawn, and a rule how ties in a sample are broken. If users have several rows, the
rows count by the table's weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from sampled_metrics.checks import Floats, Ints, require_sum_of_one
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import (
    SamplingDesign,
    distribution_over_ties,
    pmf,
    tie_rule,
)


def thinned(distribution: ArrayLike, negatives: int) -> Floats:
    """Return P(x) after a random selection of `negatives` from the m negatives of each sample.

    A random part of a sample is a smaller sample of the same kind, with or without replacement.
    Takes (m + 1,) and returns (negatives + 1,) probabilities.
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    drawn = len(distribution) - 1
    if negatives < drawn:
        distribution = distribution @ pmf(np.arange(drawn + 1), drawn, SamplingDesign(negatives))
    require_sum_of_one(
        distribution, f"P(x) of samples of {drawn} negatives thinned to m = {negatives}"
    )
    return distribution


def expected_metric(
    rank: ArrayLike, candidates: ArrayLike, design: SamplingDesign, metric: Metric
) -> Floats:
    """Return E[metric of the sampled rank] at (events,) true ranks: the sum over x of eq. 16."""
    better = np.atleast_1d(np.asarray(rank, dtype=np.int64)) - 1
    return pmf(better, np.asarray(candidates) - 1, design) @ metric.values(design.negatives + 1)


@dataclass(frozen=True)
class Draws:
    """Samples of one repetition.

    Attributes:
        above: (events,) numbers of drawn negatives that score higher than the held-out item.
        tied: (events,) numbers of drawn negatives that score the same.
        uniform: (events,) numbers in [0, 1) that break the ties; all tie rules share them.
    """

    above: Ints
    tied: Ints
    uniform: Floats

    def ranked_above(self, rule: str) -> Ints:
        """Return x, the (events,) numbers of drawn negatives ranked above the held-out item."""
        return self.above + tie_rule(rule).count_above(self.tied, self.uniform)


def draw(
    above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign, rng: np.random.Generator
) -> Draws:
    """Draw m negatives for every event, from the (events,) counts of a rank table."""
    m = design.negatives
    below_or_tied = candidates - 1 - above
    if design.replacement:
        drawn_above = rng.binomial(m, above / (candidates - 1))
        share = np.divide(tied, below_or_tied, out=np.zeros(len(tied)), where=below_or_tied > 0)
        drawn_tied = rng.binomial(m - drawn_above, share)
    else:
        drawn_above = rng.hypergeometric(above, below_or_tied, m)
        drawn_tied = np.zeros_like(drawn_above)
        ties = tied > 0
        drawn_tied[ties] = rng.hypergeometric(
            tied[ties], (below_or_tied - tied)[ties], (m - drawn_above)[ties]
        )
    return Draws(drawn_above, drawn_tied, rng.random(len(above)))


_BLOCK = 2_000_000  # probabilities held at once

EQUAL = 1e-12
"""Exact metrics that differ by at most this are equal.

Sums in another order differ by rounding.
"""


def distributions(
    table: ExactRanks, design: SamplingDesign, rule: str = "random"
) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield P(x) of the events of a table, in blocks of (events, m + 1), with their weights.

    The weights are (events, 1), and None if each user has one row.
    """
    step = max(1, _BLOCK // (design.negatives + 1))
    for start in range(0, len(table), step):
        events = slice(start, start + step)
        counts = table.above[events], table.tied[events], table.candidates[events]
        probabilities = distribution_over_ties(*counts, design, rule)
        require_sum_of_one(probabilities, f"P(x) of events {start + 1} and on, with {design}")
        weights = None if table.weights is None else table.weights[events, np.newaxis]
        yield probabilities, weights


def expected_distribution(table: ExactRanks, design: SamplingDesign) -> Floats:
    """Return P(x) of a random event of a table, (m + 1,): the expected histogram of samples.

    A linear estimate with weights w has the expected value P @ w.
    """
    total = np.zeros(design.negatives + 1)
    for probabilities, weights in distributions(table, design):
        total += (probabilities if weights is None else weights * probabilities).sum(axis=0)
    return total / len(table)


def linear_moments(
    table: ExactRanks, design: SamplingDesign, weights: Floats, rule: str = "random"
) -> tuple[Floats, Floats]:
    """Return exact (estimates,) means and standard deviations over draws.

    `weights` are (estimates, m + 1).
    """
    mean = np.zeros(len(weights))
    variance = np.zeros(len(weights))
    for probabilities, event_weights in distributions(table, design, rule):
        means = probabilities @ weights.T
        variances = np.maximum(probabilities @ weights.T**2 - means**2, 0.0)
        if event_weights is not None:
            means = event_weights * means
            variances = event_weights**2 * variances
        mean += means.sum(axis=0)
        variance += variances.sum(axis=0)
    return mean / len(table), np.sqrt(variance) / len(table)


def row_moments(
    table: ExactRanks, design: SamplingDesign, weights: Floats, which: Ints
) -> tuple[Floats, Floats]:
    """Return exact (rows, estimates) means and variances of the weight of each row of a table.

    `weights` are (kinds, estimates, m + 1), and `which` are the (rows,) kinds of rows.
    """
    design.check(table.candidates)
    powers = np.concatenate((weights, weights**2), axis=1)
    moments = np.empty((len(table), powers.shape[1]))
    order = np.argsort(which, kind="stable")
    step = max(1, _BLOCK // (design.negatives + 1))
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        counts = table.above[rows], table.tied[rows], table.candidates[rows]
        probabilities = distribution_over_ties(*counts, design)
        kinds, begins = np.unique(which[rows], return_index=True)
        for kind, begin, end in zip(kinds, begins, [*begins[1:], len(rows)], strict=True):
            moments[rows[begin:end]] = probabilities[begin:end] @ powers[kind].T
    means, squares = np.split(moments, 2, axis=1)
    return means, np.maximum(squares - means**2, 0.0)


def probability_of_order(gap: float, deviation: float) -> float:
    """Return the probability that a normal variable with mean `gap` is above 0.

    Two zeros give 0, and NaN gives NaN.
    """
    if np.isnan(gap) or np.isnan(deviation):
        return np.nan
    return float(ndtr(gap / deviation)) if deviation > 0 else float(gap > 0)
