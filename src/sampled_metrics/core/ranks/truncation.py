"""Detect ranks that end far below the last possible one, as ranks among a few sampled negatives do.

Take the k ranks from a threshold t on, and their excesses y = rank - t + 1 with the sum S. If ranks
fall off geometrically from t on, all ways to write S as k positive whole numbers are equally
likely. So the chance that no excess is above M is

    the number of ways in which no part is above M / C(S - 1, k - 1).

If ranks fall off more slowly, as those of real recommenders do, the chance is smaller still. Ranks
among m sampled negatives have about as many users at m as at m - 1, and none above m + 1, which is
improbable for exact ranks.
"""

from math import lgamma
from typing import NamedTuple

import numpy as np

from sampled_metrics.checks import Ints

FEWEST = 8
MOST = 500
"""Fewest and most ranks from a threshold on.

More ranks would notice that those of a table with very many users fall off a little faster than
geometrically. The last 500 of them hardly show it. There are more if more than 500 users have one
of the ranks R - 2 to R, with R the largest.
"""

_FLAT = 1e-3  # below this, over the whole range, a slope has its linear effect only

SURE = 1e-4
USUAL = 0.02
"""The chance below which ranks are taken to end at the largest one.

It is `USUAL` where the largest one is a usual number, and `SURE` elsewhere.
"""


def seems_truncated(ranks: Ints, most: float) -> bool:
    """Return whether (rows,) ranks end at the largest one, R, while ranks up to `most` may be.

    The chance is the smallest over the thresholds that leave a quarter of the ranks, or 500 if that
    is less, half as many and so on, times the number of these thresholds. R must be at most half of
    `most`, and the chance be below 0.0001, or below 0.02 if R - 1 or R is 1, 2 or 5 times a power
    of ten, from 20 on, as numbers of negatives are. Docs: docs/how-to/tables.md.

    Examples:
        Ranks of 300 users among 100 sampled negatives, and exact ranks that fall off as a power
        law:

        >>> rng = np.random.default_rng(0)
        >>> seems_truncated(rng.integers(1, 102, 300), most=3541)
        True
        >>> seems_truncated((1 / rng.random(300)).astype(int), most=3541)
        False
    """
    last = int(ranks.max())
    if last > most / 2:
        return False
    values, counts = np.unique(ranks, return_counts=True)
    ranks_from = np.cumsum(counts[::-1])[::-1]  # how many ranks there are from each value on
    ranks_near_last = int(ranks_from[np.searchsorted(values, last - 2)])
    kept = min(len(ranks) // 4, max(MOST, ranks_near_last))
    thresholds = set[int]()  # places among the values
    while kept >= FEWEST:
        thresholds.add(int(np.searchsorted(-ranks_from, -kept)))
        kept //= 2
    probabilities = []
    for threshold in thresholds:
        if threshold < len(values) and ranks_from[threshold] >= FEWEST:
            excesses = values[threshold:] - values[threshold] + 1
            total = int(counts[threshold:] @ excesses)
            parts = int(ranks_from[threshold])
            probabilities.append(
                np.exp(log_share_of_compositions(parts, total, largest=int(excesses[-1])))
            )
    if not probabilities:
        return False
    limit = USUAL if _is_usual(last) else SURE
    return bool(len(probabilities) * min(probabilities) < limit)


def log_share_of_compositions(parts: int, total: int, largest: int) -> float:
    """Return the log of the share of the compositions of a number with no part above the largest.

    A composition writes `total` as a sum of `parts` positive whole numbers, in an order. The number
    of those with small parts is [z^total] (z + z² + … + z^largest)^parts, computed by a saddlepoint
    approximation. Its relative error is a few per cent with eight parts, and smaller with more.
    """
    if total in (parts, parts * largest):
        return 0.0 if total == parts else -_log_compositions(parts, total)
    from scipy.optimize import brentq  # slow to import, and used only here

    slope = brentq(lambda tilt: _tilted(tilt, largest).mean - total / parts, -50.0, 50.0)
    law = _tilted(slope, largest)
    ways = parts * law.log_sum - slope * total - np.log(2 * np.pi * parts * law.variance) / 2
    return float(min(ways - _log_compositions(parts, total), 0.0))


class _Tilted(NamedTuple):
    """The law of k = 1 ... largest with the weights e^(slope k).

    Attributes:
        log_sum: the logarithm of the sum of the weights.
        mean: the mean of k.
        variance: its variance.
    """

    log_sum: float
    mean: float
    variance: float


def _tilted(slope: float, largest: int) -> _Tilted:
    """Return the law of k = 1 ... largest with the weights e^(slope k)."""
    if slope > 0:  # k and largest + 1 - k change places
        law = _tilted(-slope, largest)
        log_sum = law.log_sum + slope * (largest + 1)
        return _Tilted(log_sum, largest + 1 - law.mean, law.variance)
    if -slope * largest < _FLAT:
        mean = (largest + 1) / 2
        variance = (largest**2 - 1) / 12
        return _Tilted(float(np.log(largest)) + slope * mean, mean + slope * variance, variance)
    ratio = np.exp(slope)  # of neighbouring weights
    power = np.exp(slope * largest)
    rest = -np.expm1(slope)  # 1 - ratio, with all digits
    beyond = -np.expm1(slope * largest)
    log_sum = slope + np.log(beyond) - np.log(rest)
    mean = 1 / rest - largest * power / beyond
    variance = ratio / rest**2 - largest**2 * power / beyond**2
    return _Tilted(float(log_sum), float(mean), float(variance))


def _log_compositions(parts: int, total: int) -> float:
    """Return log C(total - 1, parts - 1)."""
    return lgamma(total) - lgamma(parts) - lgamma(total - parts + 1)


def _is_usual(last: int) -> bool:
    """Return whether the largest rank is as of a usual number of negatives, such as 99 or 100."""
    return any(
        number >= 20 and str(number).rstrip("0") in ("1", "2", "5") for number in (last - 1, last)
    )
