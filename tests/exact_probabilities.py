"""P(x | rank) in fractions, from its definition: what estimators are tested against."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np


def exact(n, m, replacement):
    """P(x | r), rows r = 1 … n, columns x = 0 … m."""
    pool = n - 1
    if replacement:
        return [
            [comb(m, x) * Fraction(b, pool) ** x * Fraction(pool - b, pool) ** (m - x) for x in range(m + 1)]
            for b in range(n)
        ]
    return [[Fraction(comb(b, x) * comb(pool - b, m - x), comb(pool, m)) for x in range(m + 1)] for b in range(n)]


def chances(n, m, replacement=False):
    """The same as an array; of an event without negatives x = 0 is certain."""
    return np.array(exact(n, m, replacement), dtype=float) if m else np.ones((n, 1))


def enumerated(better, pool, draws, replacement):
    """P(x) by listing every sample: all m-tuples, or all m-subsets, of the numbers 0 … pool - 1."""
    ways = product(range(pool), repeat=draws) if replacement else combinations(range(pool), draws)
    counts = [0] * (draws + 1)
    for sample in ways:
        counts[sum(item < better for item in sample)] += 1
    return [float(Fraction(count, sum(counts))) for count in counts]
