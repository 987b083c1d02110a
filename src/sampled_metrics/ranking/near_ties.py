"""Near ties: the largest rounding error of scores from a matrix product, and reproducible scores of single pairs.

The score of a user and an item is the dot product of their factors. Its terms are added one by one in the order of the
factors, with rounding at each step. So it does not depend on a library, on threads, or on its position in a matrix.
"""

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import DataError

PAIRS = 2**11
"""Pairs that are scored at a time, so that their factors stay in the cache."""

SLACK = 1.0 + 2.0**-10
"""Factor that widens an error bound, for the rounding of the bound itself."""

Floats32 = NDArray[np.float32]
FactorMatrix = Floats32 | Floats


def pair_scores(users: FactorMatrix, items: FactorMatrix, user: Ints, item: Ints) -> FactorMatrix:
    """Return the scores, (pairs,), of pairs of user and item indices, (pairs,) each, by (users, d) and (items, d)."""
    scores = np.zeros(len(user), dtype=users.dtype)
    for first in range(0, len(user), PAIRS):
        sums, left, right = (array[first : first + PAIRS] for array in (scores, user, item))
        products = users.take(left, axis=0)
        products *= items.take(right, axis=0)
        for terms in products.T.copy():
            sums += terms
    return scores


def scale(factors: FactorMatrix, *, by_row: bool) -> tuple[Floats32, Ints]:
    """Return factors, (rows, d), in float32, scaled by powers of two so that the largest is in [1/2, 1).

    Also return the exponents of the scales: (rows,) if each row has its own scale, else ().
    """
    largest = np.abs(factors).max(axis=1 if by_row else None, initial=0.0)
    exponents = np.asarray(np.frexp(largest)[1])
    return np.ldexp(factors, -exponents[..., np.newaxis]).astype(np.float32), exponents


def error_bound(d: int, kind: str, exponents: Ints) -> Floats:
    """Return the largest difference between product and score, for scaled factors of length 1 at most.

    Both the float32 product, in any order, and the score differ from the exact dot product by at most γ ‖u‖ ‖v‖,
    γ_n = n ε / (1 - n ε), with n = d, or n = d + 2 if the factors are rounded to float32 first (Higham, Accuracy and
    Stability of Numerical Algorithms, 2nd edition, eq. 3.5, and Cauchy-Schwarz; ε is the unit roundoff). The bound adds
    the error of terms too small for normal numbers, multiplied by four because lengths are 1/2 or more.

    Args:
        d: number of factors.
        kind: precision of the scores, float64 or float32.
        exponents: of the scales of user and item together. The bound has their shape; it may be infinite.
    """
    roundings = (((d + 2), np.finfo(np.float32)), (d, np.finfo(kind)))
    gamma = sum(n * float(precision.eps) / 2 / (1 - n * float(precision.eps) / 2) for n, precision in roundings)
    with np.errstate(over="ignore"):
        lost = np.ldexp(float(np.finfo(kind).smallest_subnormal), -exponents)
    bound: Floats = SLACK * (gamma + 4 * d * (lost + float(np.finfo(np.float32).smallest_normal)))
    return bound


def thresholds(target: Floats, error: Floats) -> tuple[Floats32, Floats32]:
    """Return low and high, (users, 1) each: float32 scores from low to high are undecided.

    Args:
        target: (users,) scaled scores of the held-out items.
        error: (users,) largest difference between a float32 score and the score.
    """
    most = np.finfo(np.float32).max
    low = np.clip(target - error, -most, most).astype(np.float32)
    high = np.clip(target + error, -most, most).astype(np.float32)
    return np.nextafter(low, -most)[:, np.newaxis], np.nextafter(high, most)[:, np.newaxis]


def prefilter(
    factors: FactorMatrix, target: FactorMatrix, exponent: Ints, longest: float
) -> tuple[Floats32, Floats32, Floats32]:
    """Return users' factors, (users, d), scaled for the float32 product, and the thresholds low and high, (users, 1).

    A user whose factors are all 0 has no undecided scores, and infinite thresholds.

    Args:
        factors: (users, d).
        target: (users,) scores of the held-out items, of the type of the factors.
        exponent: of the scale of all items.
        longest: the largest length of an item's scaled factors.
    """
    scaled, exponents = scale(factors, by_row=True)
    exponents = exponents + exponent
    error = error_bound(scaled.shape[1], factors.dtype.name, exponents) * lengths(scaled) * longest
    low, high = thresholds(np.ldexp(target.astype(np.float64), -exponents), error)
    without_factors = ~factors.any(axis=1)
    low[without_factors], high[without_factors] = np.inf, np.inf
    return scaled, low, high


def lengths(factors: Floats32) -> Floats:
    """Return the length of each row of (rows, d) factors."""
    return np.sqrt(np.einsum("ij,ij->i", factors, factors, dtype=np.float64))


def require_finite_scores(d: int, largest: tuple[float, float], precision: str) -> None:
    """Raise DataError if scores may be infinite, from the number of factors and the largest ones of users and items."""
    if not d * largest[0] * largest[1] <= float(np.finfo(precision).max):  # False of NaN
        raise DataError(f"the recommender's factors are not finite, or too large for scores in {precision}")


def first_same(items: FactorMatrix) -> Ints:
    """Return for each item the first item with the same factors, as (items,), or the item itself if that is missed.

    Items with the same factors tie, so their scores need no comparison.
    """
    numbers = np.random.default_rng(0).integers(1, 2**62, items.shape[1], dtype=np.uint64)
    bits = np.ascontiguousarray(items, dtype=np.float64).view(np.uint64)
    _, first_of_group, group = np.unique((bits * numbers).sum(axis=1), return_index=True, return_inverse=True)
    same: Ints = first_of_group[group]
    return np.where((items[same] == items).all(axis=1), same, np.arange(len(items)))
