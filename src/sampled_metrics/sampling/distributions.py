"""P(x | rank): the binomial and the hypergeometric distribution, to about 12 digits for any size.

Neighbouring probabilities have a simple ratio: P(x+1) / P(x) = (m-x)(b-x) / ((x+1)(N-b-m+x+1)) without replacement and
(m-x) b / ((x+1)(N-b)) with it, where b of N negatives are better. The probabilities are the products of these ratios
from the most likely x on, divided by their sum. Unlike logarithms of factorials, they lose no digits as N grows.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._validation import Floats, Ints, check_memory_limit, require_sum_of_one
from sampled_metrics.sampling.design import SamplingDesign

_BLOCK = 32_768  # probabilities at a time; intermediate results stay in the cache
_FEWEST = 16  # events at a time
_MANY = 300  # negatives from which on it saves time to leave out what is negligible


def pmf(better: ArrayLike, pool: ArrayLike, design: SamplingDesign, x: Ints | None = None) -> Floats:
    """Return P(x of m negatives are better) under a design.

    Args:
        better: (events,) b = r - 1, the better items of the pool. Without replacement, a number that is not whole is
            allowed if the pool is at least 10 m: the probability is then that of the polynomial in b, or 0 if x > b.
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
    for first in range(0, len(better), step):
        events = slice(first, first + step)
        block = _products(better[events], pool[events], design, np.zeros(1), draws + 1)
        probabilities[events] = block if x is None else block[:, x]
    return probabilities


def sparse_pmf(better: ArrayLike, pool: ArrayLike, design: SamplingDesign, x: Ints | None = None) -> Floats:
    """Return P(x) as `pmf` does, where negligible probabilities may be 0: their sum is below 10⁻²⁰ for an event.

    This is faster for large m, where x is likely in a small part of 0 … m only.
    """
    if design.negatives < _MANY:
        return pmf(better, pool, design, x)
    better, pool = _events(better, pool)
    draws, share = design.negatives, better / pool
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
        first = np.clip(np.round(draws * share[events]) - width // 2, 0, draws + 1 - width)
        block = _products(better[events], pool[events], design, first, width)
        lowest = first.astype(np.int64)[:, np.newaxis]
        if x is None:
            probabilities[events[:, np.newaxis], lowest + np.arange(width)] = block
        else:
            row, column = np.nonzero((x >= lowest) & (x < lowest + width))
            probabilities[events[row], column] = block[row, x[column] - lowest[row, 0]]
        start += len(events)
    return probabilities


def _events(better: ArrayLike, pool: ArrayLike) -> tuple[Floats, Floats]:
    better = np.atleast_1d(np.asarray(better, dtype=np.float64))
    return better, np.broadcast_to(np.asarray(pool, dtype=np.float64), better.shape)


def _products(better: Floats, pool: Floats, design: SamplingDesign, first: Floats, width: int) -> Floats:
    """Return P(first) … P(first + width - 1), (events, width), relative to their sum; `first` is (events,) or (1,)."""
    draws, x = design.negatives, first[:, np.newaxis] + np.arange(width - 1)
    b, rest = better[:, np.newaxis], (pool - better)[:, np.newaxis]
    if design.replacement:
        up, down = (draws - x) * b, (x + 1) * rest
        likely = np.floor((draws + 1) * (better / pool))
    else:
        up, down = (draws - x) * np.maximum(b - x, 0), (x + 1) * np.maximum(rest - draws + 1 + x, 0)
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
    """Return A of eq. 23 without the prior: P(x | r), (n, m + 1), for r = 1 … n in rows and x = 0 … m in columns."""
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
