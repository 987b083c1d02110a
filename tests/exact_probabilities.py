"""P(x | rank), from its definition: what estimators are tested against."""

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
from scipy import stats
from scipy.special import gammaln


def exact(n, m, replacement):
    """P(x | r), rows r = 1 … n, columns x = 0 … m."""
    pool = n - 1
    if replacement:
        return [
            [
                comb(m, x) * Fraction(b, pool) ** x * Fraction(pool - b, pool) ** (m - x)
                for x in range(m + 1)
            ]
            for b in range(n)
        ]
    return [
        [Fraction(comb(b, x) * comb(pool - b, m - x), comb(pool, m)) for x in range(m + 1)]
        for b in range(n)
    ]


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


def log_comb(n, k):
    """The logarithm of n choose k, which is 0 for k beyond 0 … n."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


@cache
def dense(n, m, replacement=False):
    """P(x | r) of thousands of ranks, (n, m + 1), to about 10 digits; read-only."""
    x = np.arange(m + 1)
    better = np.arange(n)[:, np.newaxis]
    if replacement:
        chances = stats.binom.pmf(x, m, better / (n - 1))
    else:
        ways = log_comb(better, x) + log_comb(n - 1 - better, m - x)
        chances = np.exp(ways - log_comb(n - 1, m))
    chances.flags.writeable = False
    return chances


def over_ties(above, tied, candidates, m, replacement, rule):
    """P(x) by listing every sample of items, and for each the orders of its tied copies and the
    held-out item.
    """
    items = ["above"] * above + ["tied"] * tied + ["below"] * (candidates - 1 - above - tied)
    samples = list(product(items, repeat=m) if replacement else combinations(items, m))
    law = [Fraction(0)] * (m + 1)
    for sample in samples:
        # one of them is below
        rivals = sample.count("tied") - (rule == "beats-one" and "tied" in sample)
        for order in permutations(range(rivals + 1)):
            law[sample.count("above") + order.index(0)] += Fraction(
                1, len(samples) * factorial(rivals + 1)
            )
    return law
