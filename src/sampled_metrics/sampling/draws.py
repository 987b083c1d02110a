"""Draw sampled ranks given true ranks (sections 4.3 and 4.4).

An event has n candidates: the held-out item and n - 1 negatives. m negatives are drawn, and x of them score above the
held-out item, so the sampled rank is x + 1. Given the true rank r, x is Binomial(m, (r-1)/(n-1)) with replacement and
Hypergeometric(n-1, r-1, m) without.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._validation import Floats, Ints, require_sum_of_one
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf
from sampled_metrics.sampling.ties import tie_rule


def thinned(distribution: ArrayLike, negatives: int) -> Floats:
    """Return P(x) after a random selection of `negatives` from the m negatives of each sample.

    A random part of a sample is a smaller sample of the same kind, with or without replacement. Takes (m + 1,) and
    returns (negatives + 1,) probabilities.
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    drawn = len(distribution) - 1
    if negatives < drawn:
        distribution = distribution @ pmf(np.arange(drawn + 1), drawn, SamplingDesign(negatives))
    require_sum_of_one(distribution, f"P(x) of samples of {drawn} negatives thinned to m = {negatives}")
    return distribution


def expected_metric(rank: ArrayLike, candidates: ArrayLike, design: SamplingDesign, metric: Metric) -> Floats:
    """Return E[metric of the sampled rank], eq. 16, summed over x: (events,) values for (events,) true ranks."""
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


def draw(above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign, rng: np.random.Generator) -> Draws:
    """Draw m negatives for every event, from the (events,) counts of a rank table."""
    m, below_or_tied = design.negatives, candidates - 1 - above
    if design.replacement:
        drawn_above = rng.binomial(m, above / (candidates - 1))
        share = np.divide(tied, below_or_tied, out=np.zeros(len(tied)), where=below_or_tied > 0)
        drawn_tied = rng.binomial(m - drawn_above, share)
    else:
        drawn_above = rng.hypergeometric(above, below_or_tied, m)
        drawn_tied = np.zeros_like(drawn_above)
        ties = tied > 0
        drawn_tied[ties] = rng.hypergeometric(tied[ties], (below_or_tied - tied)[ties], (m - drawn_above)[ties])
    return Draws(drawn_above, drawn_tied, rng.random(len(above)))
