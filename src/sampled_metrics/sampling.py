"""Sampling negatives: what a sampled evaluation sees of a true rank (sections 4.3 and 4.4).

An event has n candidates, the held-out item and n - 1 negatives. m negatives are drawn, and x counts those that score
above the held-out item, so that the sampled rank is x + 1. Given the true rank r, x is Binomial(m, (r-1)/(n-1)) when
they are drawn with replacement and Hypergeometric(n-1, r-1, m) without.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln, xlog1py, xlogy

from sampled_metrics.arrays import Floats, Ints
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics import Metric


@dataclass(frozen=True)
class Design:
    """How negatives are drawn.

    Attributes:
        negatives: m, how many are drawn for an event.
        replacement: whether one may be drawn again.
    """

    negatives: int
    replacement: bool = False

    def __post_init__(self) -> None:
        if self.negatives < 1:
            raise ConfigError(f"the number of negatives must be 1 or more, not {self.negatives}")

    def check(self, candidates: ArrayLike) -> None:
        """Raise DataError if an event has fewer other candidates than must be drawn from."""
        others = int(np.min(candidates)) - 1
        if self.replacement and others < 1:
            raise DataError("an event has no candidates besides its held-out item, so no negative can be drawn")
        if not self.replacement and others < self.negatives:
            raise DataError(
                f"{self.negatives} negatives without replacement were asked for, but an event has only {others} "
                f"candidates besides its held-out item; draw at most {others}, or with replacement"
            )


# --- the distribution of x given the true rank ------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _log_factorials(largest: int) -> Floats:
    return np.asarray(gammaln(np.arange(largest + 1) + 1.0))


def _log_choose(table: Floats, n: Ints, k: Ints) -> Floats:
    """Logarithm of n choose k, -inf where k < 0 or k > n."""
    possible = (k >= 0) & (k <= n)
    inside = np.where(possible, k, 0)
    return np.where(possible, table[n] - table[inside] - table[n - inside], -np.inf)


def binomial_pmf(better: ArrayLike, pool: ArrayLike, draws: int) -> Floats:
    """P(x of `draws` negatives are better), drawn with replacement from a pool of which `better` are.

    Args:
        better: (events,) r - 1, negatives that score above the held-out item.
        pool: (events,) or one number: n - 1, all negatives.
        draws: m.

    Returns:
        (events, m + 1) probabilities of x = 0 … m.
    """
    theta = (np.atleast_1d(better) / np.asarray(pool, dtype=np.float64))[:, np.newaxis]
    x = np.arange(draws + 1)
    table = _log_factorials(draws)
    log_choose = table[draws] - table[x] - table[draws - x]
    return np.asarray(np.exp(log_choose + xlogy(x, theta) + xlog1py(draws - x, -theta)))


def hypergeometric_pmf(better: ArrayLike, pool: ArrayLike, draws: int) -> Floats:
    """P(x of `draws` negatives are better), drawn without replacement; arguments and result as in `binomial_pmf`."""
    better = np.atleast_1d(np.asarray(better, dtype=np.int64))[:, np.newaxis]
    pool = np.broadcast_to(np.asarray(pool, dtype=np.int64), better[:, 0].shape)[:, np.newaxis]
    x = np.arange(draws + 1)
    table = _log_factorials(int(pool.max(initial=0)))
    log_all = _log_choose(table, pool, np.full_like(pool, draws))
    return np.asarray(np.exp(_log_choose(table, better, x) + _log_choose(table, pool - better, draws - x) - log_all))


def pmf(better: ArrayLike, pool: ArrayLike, design: Design) -> Floats:
    """P(x | rank) under a design, as (events, m + 1) probabilities; arguments as in `binomial_pmf`."""
    return (binomial_pmf if design.replacement else hypergeometric_pmf)(better, pool, design.negatives)


@lru_cache(maxsize=8)
def rank_distribution(candidates: int, design: Design) -> Floats:
    """A of eq. 23 without its prior: P(x | r) for r = 1 … n in rows and x = 0 … m in columns, as (n, m + 1)."""
    design.check(candidates)
    distribution = pmf(np.arange(candidates), candidates - 1, design)
    distribution.flags.writeable = False
    return distribution


FEW_TIES = 64
"""Up to this many ties the mean over ranks is summed, beyond it taken as a difference that loses a few digits."""


def distribution_over_ties(above: ArrayLike, tied: ArrayLike, candidates: ArrayLike, design: Design) -> Floats:
    """P(x) of each event when the ties in its samples are broken at random.

    Without replacement this is the mean of P(x | r) over r - 1 = above … above + tied, which has a closed form: among
    (m+1)-subsets of n positions, those whose (x+1)-th smallest is at position K number C(K, x) C(n-1-K, m-x), which is
    also C(n-1, m) P(x | K better of n - 1). So the sum over K ≤ R is n / (m+1) times the chance that more than x of
    m + 1 draws from n are among the first R + 1.

    With replacement a tied item may be drawn several times, and each time its tie is broken anew. Then x is binomial
    with a chance that is uniform between θ = above/(n-1) and (above + tied)/(n-1), an integral of the beta kind.

    Args:
        above: (events,) candidates scored higher than the held-out item.
        tied: (events,) other candidates scored the same.
        candidates: (events,) n.
        design: how negatives are drawn.

    Returns:
        (events, m + 1) probabilities.
    """
    above, tied, candidates = (
        np.atleast_1d(np.asarray(column, dtype=np.int64)) for column in np.broadcast_arrays(above, tied, candidates)
    )
    design.check(candidates)
    distribution = pmf(above, candidates - 1, design)
    if design.replacement:
        ties = np.flatnonzero(tied)
        distribution[ties] = _binomial_over_ties(above[ties], tied[ties], candidates[ties] - 1, design.negatives)
        return distribution
    few = np.flatnonzero((tied > 0) & (tied <= FEW_TIES))
    for further in range(1, int(tied[few].max(initial=0)) + 1):
        reached = few[tied[few] >= further]
        distribution[reached] += hypergeometric_pmf(above[reached] + further, candidates[reached] - 1, design.negatives)
    distribution[few] /= (tied[few] + 1)[:, np.newaxis]
    many = np.flatnonzero(tied > FEW_TIES)
    if len(many):
        distribution[many] = _hypergeometric_over_ties(above[many], tied[many], candidates[many], design.negatives)
    return distribution


def _hypergeometric_over_ties(above: Ints, tied: Ints, candidates: Ints, negatives: int) -> Floats:
    # P(more than x) at the last rank + 1 minus at the first = CDF at the first minus CDF at the last + 1, x = 0 … m
    up_to_first = np.cumsum(hypergeometric_pmf(above, candidates, negatives + 1), axis=1)[:, :-1]
    up_to_last = np.cumsum(hypergeometric_pmf(above + tied + 1, candidates, negatives + 1), axis=1)[:, :-1]
    return (up_to_first - up_to_last) * (candidates / (negatives + 1) / (tied + 1))[:, np.newaxis]


def _binomial_over_ties(above: Ints, tied: Ints, pool: Ints, negatives: int) -> Floats:
    x = np.arange(negatives + 1)
    first, last = (above / pool)[:, np.newaxis], ((above + tied) / pool)[:, np.newaxis]
    # ∫ C(m, x) p^x (1-p)^(m-x) dp = I_p(x + 1, m - x + 1) / (m + 1)
    inside = betainc(x + 1, negatives - x + 1, last) - betainc(x + 1, negatives - x + 1, first)
    return inside / ((negatives + 1) * (last - first))


def thinned(distribution: ArrayLike, negatives: int) -> Floats:
    """P(x) of the samples that are left when a random `negatives` of each sample's m negatives are kept.

    A random part of a sample is a smaller sample of the same kind, with or without replacement.

    Args:
        distribution: (m + 1,) probabilities of x in samples of m.
        negatives: how many are kept, at most m.

    Returns:
        (negatives + 1,) probabilities.
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    drawn = len(distribution) - 1
    if negatives == drawn:
        return distribution
    return distribution @ hypergeometric_pmf(np.arange(drawn + 1), drawn, negatives)


# --- expected metrics -------------------------------------------------------------------------------------------------


def expected_auc(rank: ArrayLike, candidates: ArrayLike) -> Floats:
    """E[AUC] of the sampled rank, with or without replacement and for any m: the exact AUC (section 4.4.1)."""
    rank, n = np.asarray(rank, dtype=np.float64), np.asarray(candidates, dtype=np.float64)
    return (n - rank) / (n - 1)


def expected_recall(rank: ArrayLike, candidates: ArrayLike, design: Design, k: int) -> Floats:
    """E[Recall@k] of the sampled rank, eq. 18: the chance that fewer than k of the drawn negatives are better."""
    better = np.atleast_1d(np.asarray(rank, dtype=np.int64)) - 1
    return np.asarray(pmf(better, np.asarray(candidates) - 1, design)[:, :k].sum(axis=1))


def expected_average_precision(rank: ArrayLike, candidates: ArrayLike, negatives: int) -> Floats:
    """E[AP] of the sampled rank with replacement, eq. 19: (1 - (1-θ)^(m+1)) / ((m+1) θ), and 1 at rank 1."""
    theta = (np.atleast_1d(np.asarray(rank, dtype=np.float64)) - 1) / (np.asarray(candidates, dtype=np.float64) - 1)
    safe = np.where(theta > 0, theta, 1.0)
    with np.errstate(divide="ignore"):  # log1p(-1) at the last rank: nothing is below
        missed = -np.expm1((negatives + 1) * np.log1p(-safe))
    return np.where(theta > 0, missed / ((negatives + 1) * safe), 1.0)


def expected_metric(rank: ArrayLike, candidates: ArrayLike, design: Design, metric: Metric) -> Floats:
    """E[metric of the sampled rank], eq. 16, summed over x; (events,) values for (events,) true ranks."""
    better = np.atleast_1d(np.asarray(rank, dtype=np.int64)) - 1
    return pmf(better, np.asarray(candidates) - 1, design) @ metric.values(design.negatives + 1)


# --- drawing ----------------------------------------------------------------------------------------------------------

TIE_RULES: dict[str, Callable[[Ints, Floats], Ints]] = {
    # 0 … t of t tied negatives end up above the held-out item, each equally likely
    "random": lambda tied, uniform: np.floor(uniform * (tied + 1)).astype(np.int64),
    # 0 … t - 1: the held-out item always beats one of them, as in the paper's printed numbers
    "beats-one": lambda tied, uniform: np.floor(uniform * np.maximum(tied, 1)).astype(np.int64),
}
"""How many of t tied negatives in a sample count as above: a rule from (t, a uniform number in [0, 1)) to a count."""


@dataclass(frozen=True)
class Draws:
    """One repetition's samples, before ties are broken.

    Attributes:
        above: (events,) drawn negatives that score above the held-out item.
        tied: (events,) drawn negatives that score the same.
        uniform: (events,) numbers in [0, 1) that break the ties, shared by all tie rules.
    """

    above: Ints
    tied: Ints
    uniform: Floats

    def ranked_above(self, tie_rule: str) -> Ints:
        """Return x, (events,) drawn negatives ranked above the held-out item; its sampled rank is x + 1."""
        return self.above + TIE_RULES[tie_rule](self.tied, self.uniform)


def draw(above: Ints, tied: Ints, candidates: Ints, design: Design, rng: np.random.Generator) -> Draws:
    """Draw m negatives for every event, straight from its counts: no item is looked at.

    Args:
        above: (events,) candidates scored higher than the held-out item.
        tied: (events,) other candidates scored the same.
        candidates: (events,) n.
        design: how negatives are drawn.
        rng: the random stream.
    """
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
