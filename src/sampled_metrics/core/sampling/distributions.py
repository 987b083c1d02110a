"""The sampling design, P(x | rank), and the tie rules: how negatives are drawn and counted.

Neighbouring probabilities have a simple ratio: P(x+1) / P(x) = (m-x)(b-x) / ((x+1)(N-b-m+x+1))
without replacement and (m-x) b / ((x+1)(N-b)) with it, where b of N negatives are better. The
probabilities are the products of these ratios from the most likely x on, divided by their sum.
Unlike logarithms of factorials, they lose no digits as N grows.

A tie rule gives the number of t tied negatives that count as above. `random` breaks ties at random:
0 … t are equally likely. `beats-one` reproduces the paper's printed numbers: the held-out item
always beats one of the tied negatives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from sampled_metrics.checks import (
    Floats,
    Ints,
    check_memory_limit,
    is_whole,
    require_candidates,
    require_flags,
    require_sum_of_one,
    shown,
)
from sampled_metrics.errors import ConfigError


@dataclass(frozen=True)
class SamplingDesign:
    """How negatives are drawn.

    Attributes:
        negatives: m, the number of negatives drawn for an event.
        replacement: whether a negative may be drawn again.
    """

    negatives: int
    replacement: bool = False

    def __post_init__(self) -> None:
        require_flags(replacement=self.replacement)
        if not is_whole(self.negatives):
            raise ConfigError(
                "the number of negatives must be a whole number, 1 or more, not "
                f"{shown(self.negatives)}"
            )
        if self.negatives < 1:
            raise ConfigError(f"the number of negatives must be 1 or more, not {self.negatives}")
        # a number of numpy may be of few bits
        object.__setattr__(self, "negatives", int(self.negatives))

    def __str__(self) -> str:
        how = "with" if self.replacement else "without"
        return f"m = {self.negatives} negatives {how} replacement"

    def check(self, candidates: ArrayLike) -> None:
        """Raise DataError if an event has too few other candidates."""
        require_candidates(candidates, self.negatives, self.replacement)

    def assumed(self, replacement: bool | None) -> "SamplingDesign":
        """Return the design with the replacement that an estimator assumes.

        None keeps that of the design.
        """
        return self if replacement is None else SamplingDesign(self.negatives, replacement)


_BLOCK = 32_768  # probabilities at a time; intermediate results stay in the cache
_FEWEST = 16  # events at a time
_MANY = 300  # negatives from which on it saves time to leave out what is negligible


def pmf(
    better: ArrayLike, pool: ArrayLike, design: SamplingDesign, x: Ints | None = None
) -> Floats:
    """Return P(x of m negatives are better) under a design.

    Args:
        better: (events,) b = r - 1, the better items of the pool. Without replacement, a number
            that is not whole is allowed if the pool is at least 10 m: the probability is then that
            of the polynomial in b, or 0 if x > b.
        pool: (events,) or one number: n - 1, all items that can be drawn.
        design: m, and whether an item can be drawn again.
        x: (columns,) numbers from 0 to m, by default all of them.

    Returns:
        (events, columns) probabilities.
    """
    better, pool = _events(better, pool)
    draws = design.negatives
    probabilities = np.empty((len(better), draws + 1 if x is None else len(x)))
    step = max(1, _BLOCK // (draws + 1))
    for start in range(0, len(better), step):
        events = slice(start, start + step)
        block = _products(better[events], pool[events], design, np.zeros(1), draws + 1)
        probabilities[events] = block if x is None else block[:, x]
    return probabilities


def sparse_pmf(
    better: ArrayLike, pool: ArrayLike, design: SamplingDesign, x: Ints | None = None
) -> Floats:
    """Return P(x) as `pmf` does, where negligible probabilities may be 0.

    Negligible probabilities add up to less than 10⁻²⁰ for an event. This is faster for large m,
    where x is likely only in a small part of 0 … m.
    """
    if design.negatives < _MANY:
        return pmf(better, pool, design, x)
    better, pool = _events(better, pool)
    draws = design.negatives
    share = better / pool
    variance = draws * share * (1 - share)
    if not design.replacement:
        variance *= np.maximum(pool - draws, 0) / np.maximum(pool - 1, 1)
    reach = np.ceil(17 + np.sqrt(17**2 + 100 * variance))  # Bernstein's inequality
    probabilities = np.zeros((len(better), draws + 1 if x is None else len(x)))
    order = np.argsort(reach, kind="stable")
    start = 0
    while start < len(order):
        width = int(min(2 * reach[order[min(start + _FEWEST, len(order)) - 1]] + 1, draws + 1))
        events = order[start : start + max(_FEWEST, _BLOCK // width)]
        width = int(min(2 * reach[events[-1]] + 1, draws + 1))
        lowest = np.clip(np.round(draws * share[events]) - width // 2, 0, draws + 1 - width)
        block = _products(better[events], pool[events], design, lowest, width)
        offset = lowest.astype(np.int64)[:, np.newaxis]
        if x is None:
            probabilities[events[:, np.newaxis], offset + np.arange(width)] = block
        else:
            row, column = np.nonzero((x >= offset) & (x < offset + width))
            probabilities[events[row], column] = block[row, x[column] - offset[row, 0]]
        start += len(events)
    return probabilities


def _events(better: ArrayLike, pool: ArrayLike) -> tuple[Floats, Floats]:
    better = np.atleast_1d(np.asarray(better, dtype=np.float64))
    return better, np.broadcast_to(np.asarray(pool, dtype=np.float64), better.shape)


def _products(
    better: Floats, pool: Floats, design: SamplingDesign, lowest: Floats, width: int
) -> Floats:
    """Return P(lowest) … P(lowest + width - 1), (events, width), relative to their sum.

    `lowest` is (events,) or (1,).
    """
    draws = design.negatives
    x = lowest[:, np.newaxis] + np.arange(width - 1)
    b = better[:, np.newaxis]
    worse = (pool - better)[:, np.newaxis]
    if design.replacement:
        up = (draws - x) * b
        down = (x + 1) * worse
        likely = np.floor((draws + 1) * (better / pool))
    else:
        up = (draws - x) * np.maximum(b - x, 0)
        down = (x + 1) * np.maximum(worse - draws + 1 + x, 0)
        likely = np.floor((draws + 1) * ((better + 1) / (pool + 2)))
    above = x >= np.minimum(likely, draws)[:, np.newaxis]
    products = np.ones((len(better), width))
    np.cumprod(np.divide(up, down, out=np.ones_like(up), where=above), axis=1, out=products[:, 1:])
    ratios = np.divide(down, up, out=np.ones_like(up), where=~above)
    products[:, :-1] *= np.cumprod(ratios[:, ::-1], axis=1)[:, ::-1]
    products /= products.sum(axis=1, keepdims=True)
    return products


@lru_cache(maxsize=2)  # an array may take 100 MB
def rank_distribution(candidates: int, design: SamplingDesign) -> Floats:
    """Return A of eq. 23 without the prior: P(x | r), (n, m + 1).

    The rows are r = 1 … n, and the columns x = 0 … m.
    """
    design.check(candidates)
    check_memory_limit(
        (candidates, design.negatives + 1),
        f"P(x | rank) of {candidates} candidates and {design}",
        "take an estimator that does not hold it, such as bv-0.1 or cls",
    )
    distribution = pmf(np.arange(candidates), candidates - 1, design)
    require_sum_of_one(distribution, f"P(x | rank) of n = {candidates} candidates and {design}")
    distribution.flags.writeable = False
    return distribution


@dataclass(frozen=True)
class TieRule:
    """A rule by which 0 … outcomes(tied) - 1 of the tied negatives count as above.

    All these numbers are equally likely.
    """

    outcomes: Callable[[Ints], Ints]
    distribution: Callable[[Ints, Ints, Ints, SamplingDesign], Floats]
    """P(x) from (events,) above, tied and candidates, as in `distribution_over_ties`."""

    def count_above(self, tied: Ints, uniform: Floats) -> Ints:
        """Return the (events,) numbers of tied negatives that count as above.

        `uniform` is (events,) in [0, 1).
        """
        return np.floor(uniform * self.outcomes(tied)).astype(np.int64)


def tie_rule(name: str) -> TieRule:
    """Return a tie rule by its name, or raise ConfigError."""
    if name not in TIE_RULES:
        raise ConfigError(f"unknown tie rule {name!r}; it may be {', '.join(TIE_RULES)}")
    return TIE_RULES[name]


def distribution_over_ties(
    above: ArrayLike,
    tied: ArrayLike,
    candidates: ArrayLike,
    design: SamplingDesign,
    rule: str = "random",
) -> Floats:
    """Return P(x) of each event, (events, m + 1), over its samples and the breaking of their ties.

    Negligible probabilities are 0, as in `sparse_pmf`.

    `above`, `tied` and `candidates` are (events,), as in a rank table.

    Raises:
        DataError: an event has too few candidates for the design.
        ConfigError: there is no such rule.
    """
    above, tied, candidates = (
        np.atleast_1d(np.asarray(column, dtype=np.int64))
        for column in np.broadcast_arrays(above, tied, candidates)
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
"""Largest number of ties for which the mean over ranks is a sum.

Beyond it, the mean is a difference, which loses a few digits.
"""


def _broken_at_random(above: Ints, tied: Ints, candidates: Ints, design: SamplingDesign) -> Floats:
    """Return P(x) when ties are broken at random; every event has ties.

    Without replacement this is the mean of P(x | r) over r - 1 = above … above + tied, which has a
    closed form: of the (m+1)-subsets of n positions, C(K, x) C(n-1-K, m-x) have their (x+1)-th
    smallest element at position K. This is C(n-1, m) P(x | K better of n - 1). So the sum over K ≤
    R is n / (m+1) times the probability that more than x of m + 1 draws from n are among the first
    R + 1.

    With replacement a tied item may be drawn several times, and its tie is broken anew each time.
    Then x is binomial with a θ that is uniform between above/(n-1) and (above + tied)/(n-1), which
    is a beta integral.
    """
    if design.replacement:
        return _binomial_over_ties(above, tied, candidates - 1, design.negatives)
    distribution = np.empty((len(above), design.negatives + 1))
    few = np.flatnonzero(tied <= FEW_TIES)
    distribution[few] = sparse_pmf(above[few], candidates[few] - 1, design)
    for further in range(1, int(tied[few].max(initial=0)) + 1):
        reached = few[tied[few] >= further]
        distribution[reached] += sparse_pmf(
            above[reached] + further, candidates[reached] - 1, design
        )
    distribution[few] /= (tied[few] + 1)[:, np.newaxis]
    many = np.flatnonzero(tied > FEW_TIES)
    if len(many):
        distribution[many] = _hypergeometric_over_ties(
            above[many], tied[many], candidates[many], design.negatives
        )
    return distribution


def _hypergeometric_over_ties(above: Ints, tied: Ints, candidates: Ints, negatives: int) -> Floats:
    # P(more than x) at the last rank + 1 minus at the first = CDF at the first minus CDF at the
    # last + 1, x = 0 … m
    one_more = SamplingDesign(negatives + 1)
    up_to_first = np.cumsum(sparse_pmf(above, candidates, one_more), axis=1)[:, :-1]
    up_to_last = np.cumsum(sparse_pmf(above + tied + 1, candidates, one_more), axis=1)[:, :-1]
    return (up_to_first - up_to_last) * (candidates / (negatives + 1) / (tied + 1))[:, np.newaxis]


def _binomial_over_ties(above: Ints, tied: Ints, pool: Ints, negatives: int) -> Floats:
    x = np.arange(negatives + 1)
    lowest = (above / pool)[:, np.newaxis]
    highest = ((above + tied) / pool)[:, np.newaxis]
    # ∫ C(m, x) p^x (1-p)^(m-x) dp = I_p(x + 1, m - x + 1) / (m + 1)
    up_to_highest = betainc(x + 1, negatives - x + 1, highest)
    up_to_lowest = betainc(x + 1, negatives - x + 1, lowest)
    return (up_to_highest - up_to_lowest) / ((negatives + 1) * (highest - lowest))


NEGLIGIBLE = 1e-18
"""Less likely numbers of tied negatives are ignored: their total is below the last digit."""


def counted(
    above: Ints,
    tied: Ints,
    candidates: Ints,
    design: SamplingDesign,
    outcomes: Callable[[Ints], Ints],
) -> Floats:
    """Return P(x) for any tie rule, summed over the number t of tied negatives in the sample.

    Every event has ties.

    Given t, the number a of negatives above is hypergeometric (or binomial) among the items that
    are not tied, and x is uniform on a … a + outcomes(t) - 1.
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
            above_probabilities = pmf(
                above[events], not_tied, SamplingDesign(design.negatives - t, design.replacement)
            )
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
