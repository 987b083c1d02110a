"""P(x | rank): the binomial and the hypergeometric distribution, to about 12 digits for any size.

Sums of log-factorials lose digits as they grow (half of them at a pool of 10⁷). Here a log-factorial has two parts.
The first is a multiple of a power of two, so its sums and differences are exact.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import check_memory_limit, require_sum_of_one
from sampled_metrics.sampling.design import SamplingDesign


def binomial_pmf(better: ArrayLike, pool: ArrayLike, draws: int, x: Ints | None = None) -> Floats:
    """Return P(x of m = `draws` negatives are better), drawn with replacement from a pool with `better` better items.

    `better` is r - 1, (events,). `pool` is n - 1, (events,) or one number. `x` is (columns,) numbers from 0 to m, by
    default all of them. Returns (events, columns) probabilities.
    """
    return _in_blocks(_binomial, better, pool, draws, x)


def hypergeometric_pmf(better: ArrayLike, pool: ArrayLike, draws: int, x: Ints | None = None) -> Floats:
    """Return P(x of `draws` negatives are better), drawn without replacement; as `binomial_pmf` otherwise."""
    return _in_blocks(_hypergeometric, better, pool, draws, x)


def impossible_with_replacement(x: Ints, negatives: Ints, candidates: Ints) -> NDArray[np.bool_]:
    """Return whether x has probability 0, in double precision, at every true rank, as (events,).

    The probability of x is largest where (r - 1) / (n - 1) is closest to x / m. If there is only one other item, x is 0
    or m. Without replacement every x from 0 to m is possible. All arguments are (events,).
    """
    pool = candidates - 1
    below = np.floor(x / np.maximum(negatives, 1) * pool)
    log_choose = gammaln(negatives + 1) - gammaln(x + 1) - gammaln(negatives - x + 1)
    logs = []
    for better in (below, np.minimum(below + 1, pool)):
        theta, rest = better / np.maximum(pool, 1), (pool - better) / np.maximum(pool, 1)
        logs.append(log_choose + xlogy(x, theta) + xlogy(negatives - x, rest))
    likeliest = np.maximum(*logs)
    return (negatives > 0) & (likeliest < np.log(np.finfo(np.float64).tiny))


def why_impossible(negatives: int, candidates: int) -> str:
    """Return the message for events that `impossible_with_replacement` finds."""
    if candidates == 2:
        return (
            f"with 2 candidates all {negatives} negatives are the same item, so that the rank is 1 or {negatives + 1}"
        )
    return (
        f"the chance of that, of {negatives} negatives drawn from {candidates - 1}, is below 1e-307 whatever the rank"
    )


_BLOCK = 32_768  # probabilities at a time; intermediate results stay in the cache


def _in_blocks(
    block: Callable[[Ints, Ints, int, Ints], Floats], better: ArrayLike, pool: ArrayLike, draws: int, x: Ints | None
) -> Floats:
    better = np.atleast_1d(np.asarray(better, dtype=np.int64))
    pool = np.broadcast_to(np.asarray(pool, dtype=np.int64), better.shape)
    x = np.arange(draws + 1) if x is None else x
    probabilities = np.empty((len(better), len(x)))
    step = max(1, _BLOCK // len(x))
    for first in range(0, len(better), step):
        events = slice(first, first + step)
        probabilities[events] = block(better[events], pool[events], draws, x)
    return probabilities


def _binomial(better: Ints, pool: Ints, draws: int, x: Ints) -> Floats:
    """Return exp(log C(m, x) + x log θ + (m - x) log(1 - θ))."""
    log_choose = sum(table[draws] - table[x] - table[draws - x] for table in _log_factorials(_rounded_up(draws)))
    theta, rest = (better / pool)[:, np.newaxis], ((pool - better) / pool)[:, np.newaxis]
    return np.asarray(np.exp(log_choose + xlogy(x, theta) + xlogy(draws - x, rest)))


def _hypergeometric(better: Ints, pool: Ints, draws: int, x: Ints) -> Floats:
    """Return exp(log(C(better, x) C(rest, m - x) / C(pool, m))); terms of the event or of x alone are added first."""
    rest = pool - better
    above_left, rest_left = better[:, np.newaxis] - x, (rest - draws)[:, np.newaxis] + x
    impossible = (above_left < 0) | (rest_left < 0)
    above_left[impossible], rest_left[impossible] = 0, 0
    logs = np.zeros(impossible.shape)
    for table in _log_factorials(_rounded_up(max(int(pool.max()), draws))):
        event_logs = table[better] + table[rest] + table[draws] + table[np.maximum(pool - draws, 0)] - table[pool]
        logs += event_logs[:, np.newaxis] - (table[x] + table[draws - x])
        logs -= table.take(above_left) + table.take(rest_left)
    logs[impossible] = -np.inf
    return np.asarray(np.exp(logs, out=logs))


def _rounded_up(largest: int) -> int:
    """Return the next power of two; a few tables then serve all sizes."""
    return 1 << max(10, largest.bit_length())


@lru_cache(maxsize=4)
def _log_factorials(largest: int) -> tuple[Floats, Floats]:
    """Return two (largest + 1,) tables whose sum is log n!; sums of a few dozen entries of the first are exact."""
    check_memory_limit(
        (6, largest + 1), f"sampling without replacement from up to {largest} items", "take fewer candidates"
    )
    log = np.log(np.maximum(np.arange(largest + 1), 1))
    quantum = 2.0 ** (np.ceil(np.log2(max(log.sum(), 1.0))) - 46)
    coarse = np.round(log / quantum) * quantum
    return np.cumsum(coarse), np.cumsum(log - coarse)


def pmf(better: ArrayLike, pool: ArrayLike, design: SamplingDesign, x: Ints | None = None) -> Floats:
    """Return P(x | rank) under a design, (events, m + 1) or (events, columns); arguments as in `binomial_pmf`."""
    return (binomial_pmf if design.replacement else hypergeometric_pmf)(better, pool, design.negatives, x)


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
