"""Tie rules: how sampled negatives count that score exactly as the held-out item does.

A tie rule gives the number of t tied negatives that count as above. `random` breaks ties at random: 0 … t are equally
likely. `beats-one` reproduces the paper's printed numbers: the held-out item always beats one of the tied negatives.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import ConfigError
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf, sparse_pmf


@dataclass(frozen=True)
class TieRule:
    """A rule by which 0 … outcomes(tied) - 1 of the tied negatives count as above, each equally likely."""

    outcomes: Callable[[Ints], Ints]
    distribution: Callable[[Ints, Ints, Ints, SamplingDesign], Floats]
    """P(x) from (events,) above, tied and candidates, as in `distribution_over_ties`."""

    def count_above(self, tied: Ints, uniform: Floats) -> Ints:
        """Return the (events,) numbers of tied negatives that count as above; `uniform` is (events,) in [0, 1)."""
        return np.floor(uniform * self.outcomes(tied)).astype(np.int64)


def tie_rule(name: str) -> TieRule:
    """Return a tie rule by its name, or raise ConfigError."""
    if name not in TIE_RULES:
        raise ConfigError(f"unknown tie rule {name!r}; it may be {', '.join(TIE_RULES)}")
    return TIE_RULES[name]


def distribution_over_ties(
    above: ArrayLike, tied: ArrayLike, candidates: ArrayLike, design: SamplingDesign, rule: str = "random"
) -> Floats:
    """Return P(x) of each event, (events, m + 1), over its samples and the breaking of their ties.

    Negligible probabilities are 0, as in `sparse_pmf`.

    `above`, `tied` and `candidates` are (events,), as in a rank table.

    Raises:
        DataError: an event has too few candidates for the design.
        ConfigError: there is no such rule.
    """
    above, tied, candidates = (
        np.atleast_1d(np.asarray(column, dtype=np.int64)) for column in np.broadcast_arrays(above, tied, candidates)
    )
    design.check(candidates)
    chosen = tie_rule(rule)
    ties = tied > 0
    distribution = np.empty((len(above), design.negatives + 1))
    distribution[~ties] = sparse_pmf(above[~ties], candidates[~ties] - 1, design)
    if ties.any():
        distribution[ties] = chosen.distribution(above[ties], tied[ties], candidates[ties], design)
    return distribution


FEW_TIES = 8
"""Largest number of ties for which the mean over ranks is a sum; beyond, a difference that loses a few digits."""


def _broken_at_random(above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign) -> Floats:
    """Return P(x) when ties are broken at random; every event has ties.

    Without replacement this is the mean of P(x | r) over r - 1 = above … above + tied. It has a closed form: of the
    (m+1)-subsets of n positions, C(K, x) C(n-1-K, m-x) have their (x+1)-th smallest element at position K. This is
    C(n-1, m) P(x | K better of n - 1). So the sum over K ≤ R is n / (m+1) times the probability that more than x of
    m + 1 draws from n are among the first R + 1.

    With replacement a tied item may be drawn several times, and its tie is broken anew each time. Then x is binomial
    with a θ that is uniform between above/(n-1) and (above + tied)/(n-1), which is a beta integral.
    """
    if design.replacement:
        return _binomial_over_ties(above, tied, candidates - 1, design.negatives)
    distribution = np.empty((len(above), design.negatives + 1))
    few = np.flatnonzero(tied <= FEW_TIES)
    distribution[few] = sparse_pmf(above[few], candidates[few] - 1, design)
    for further in range(1, int(tied[few].max(initial=0)) + 1):
        reached = few[tied[few] >= further]
        distribution[reached] += sparse_pmf(above[reached] + further, candidates[reached] - 1, design)
    distribution[few] /= (tied[few] + 1)[:, np.newaxis]
    many = np.flatnonzero(tied > FEW_TIES)
    if len(many):
        distribution[many] = _hypergeometric_over_ties(above[many], tied[many], candidates[many], design.negatives)
    return distribution


def _hypergeometric_over_ties(above: Ints, tied: Ints, candidates: Ints, negatives: int) -> Floats:
    # P(more than x) at the last rank + 1 minus at the first = CDF at the first minus CDF at the last + 1, x = 0 … m
    one_more = SamplingDesign(negatives + 1)
    up_to_first = np.cumsum(sparse_pmf(above, candidates, one_more), axis=1)[:, :-1]
    up_to_last = np.cumsum(sparse_pmf(above + tied + 1, candidates, one_more), axis=1)[:, :-1]
    return (up_to_first - up_to_last) * (candidates / (negatives + 1) / (tied + 1))[:, np.newaxis]


def _binomial_over_ties(above: Ints, tied: Ints, pool: Ints, negatives: int) -> Floats:
    x = np.arange(negatives + 1)
    first, last = (above / pool)[:, np.newaxis], ((above + tied) / pool)[:, np.newaxis]
    # ∫ C(m, x) p^x (1-p)^(m-x) dp = I_p(x + 1, m - x + 1) / (m + 1)
    inside = betainc(x + 1, negatives - x + 1, last) - betainc(x + 1, negatives - x + 1, first)
    return inside / ((negatives + 1) * (last - first))


NEGLIGIBLE = 1e-18
"""Numbers of tied negatives that are less likely are ignored; their total is below the last digit."""


def counted(
    above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign, outcomes: Callable[[Ints], Ints]
) -> Floats:
    """Return P(x) for any tie rule, summed over the number t of tied negatives in the sample; every event has ties.

    Given t, the number a of negatives above is hypergeometric (or binomial) among the items that are not tied, and x is
    uniform on a … a + outcomes(t) - 1.
    """
    distribution = np.zeros((len(above), design.negatives + 1))
    probabilities = pmf(tied, candidates - 1, design)
    for t in range(design.negatives + 1):
        events = np.flatnonzero(probabilities[:, t] > NEGLIGIBLE)
        if len(events) == 0:
            continue
        not_tied = np.maximum(candidates[events] - 1 - tied[events], 1)
        if t == design.negatives:
            above_probabilities = np.ones((len(events), 1))
        else:
            above_probabilities = pmf(above[events], not_tied, SamplingDesign(design.negatives - t, design.replacement))
        width = int(outcomes(np.asarray(t)))
        running = np.cumsum(above_probabilities, axis=1)
        for x in range(design.negatives - t + width):
            last = running[:, min(x, design.negatives - t)]
            before = running[:, x - width] if x >= width else 0.0
            distribution[events, x] += probabilities[events, t] / width * (last - before)
    return distribution


def _one_is_beaten(above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign) -> Floats:
    return counted(above, tied, candidates, design, TIE_RULES["beats-one"].outcomes)


TIE_RULES = {
    "random": TieRule(lambda tied: tied + 1, _broken_at_random),
    "beats-one": TieRule(lambda tied: np.maximum(tied, 1), _one_is_beaten),
}
"""Tie rules by name."""
