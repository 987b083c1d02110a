"""Families of comparisons: all pairs of several recommenders, by one metric.

Among twenty pairs without a difference, one is expected to differ at 95 %. So the intervals of a family hold together:
each one is computed at a higher level, 1 - α', such that all of them hold the truth in 95 % of evaluations.

The max-t bootstrap finds α'. It draws users with replacement, for all recommenders together, and takes the largest
|d* - d| / se* over the pairs, where d is the difference, and se its standard error. The 95 % quantile of these maxima
is the critical value c, and α' = 2 P(t > c) by Student's distribution. Pairs that share a recommender have differences
that go together, so α' is larger than α / pairs, which is Bonferroni's. It is never taken to be smaller, because
Bonferroni's is enough for any pairs.

References:
    S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley 1993.
    H.-P. Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of Computational
    and Graphical Statistics 13, 2004.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from scipy.special import ndtr, stdtr

from sampled_metrics._validation import Floats, Ints

Pair = tuple[int, int]
"""Numbers of two recommenders."""


def pairs_of(recommenders: int) -> list[Pair]:
    """Return all pairs of recommenders, the earlier one first."""
    return list(combinations(range(recommenders), 2))


def holm(p_values: Floats) -> Floats:
    """Return p-values that are adjusted by the method of Holm, over the first axis.

    The k-th smallest of P p-values is multiplied by P - k + 1, and is at least as large as the one before it.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, axis=0)
    factors = np.arange(len(p_values), 0, -1).reshape(-1, *[1] * (p_values.ndim - 1))
    rising = np.maximum.accumulate(np.take_along_axis(p_values, order, 0) * factors, axis=0)
    adjusted = np.empty_like(rising)
    np.put_along_axis(adjusted, order, np.minimum(rising, 1.0), 0)
    return adjusted


def max_t_rates(weights: Floats, counts: Ints, alpha: float, samples: Iterable[Ints]) -> Floats:
    """Return the error rates α' of the pairs of a family by the max-t bootstrap, for means of the values of users.

    Args:
        weights: (recommenders, metrics, groups) values of the users of a group.
        counts: (groups,) numbers of users.
        alpha: error rate of the family of a metric.
        samples: blocks of (samples, groups) counts of users that are drawn with replacement.

    Returns:
        (metrics,) error rates, from alpha / pairs to alpha.
    """
    users, pairs = counts.sum(), pairs_of(len(weights))
    largest, of_metrics = [], weights.swapaxes(0, 1)
    for drawn in samples:
        shares = drawn / users
        largest.append(np.stack([_largest_t(values, counts / users, shares, pairs) for values in of_metrics]))
    critical = np.sqrt(users - 1) * _quantile(np.concatenate(largest, axis=1).T, alpha)
    return np.clip(2 * stdtr(users - 1, -critical), alpha / len(pairs), alpha)


def _largest_t(values: Floats, counts: Floats, shares: Floats, pairs: Sequence[Pair]) -> Floats:
    """Return the (samples,) largest |d* - d| / s* of (recommenders, groups) values; s is the standard deviation."""
    first, second = np.transpose(pairs)
    differences = (values[second] - values[first]).T
    moved = shares @ differences
    distance = np.abs(moved - counts @ differences)
    spread = np.sqrt(np.maximum(shares @ differences**2 - moved**2, 0.0))
    rounding = 1e-12 * np.abs(differences).max(axis=0)
    t = np.divide(distance, spread, out=np.where(distance > rounding, np.inf, 0.0), where=spread > rounding)
    return np.asarray(t.max(axis=1))


def replicate_rates(estimates: Floats, replicates: Floats, alpha: float) -> Floats:
    """Return the error rates α' by the max-t bootstrap, for statistics without a standard error in each sample.

    The standard error of a difference is that of its replicates, for all samples.

    Args:
        estimates: (recommenders, metrics) estimates.
        replicates: (samples, recommenders, metrics) estimates from users that are drawn with replacement.
        alpha: error rate of the family of a metric.

    Returns:
        (metrics,) error rates, from alpha / pairs to alpha.
    """
    pairs, largest = pairs_of(len(estimates)), np.zeros((len(replicates), estimates.shape[1]))
    for one, other in pairs:
        moved = replicates[:, other] - replicates[:, one] - (estimates[other] - estimates[one])
        error = moved.std(axis=0, ddof=1)
        np.maximum(largest, np.divide(np.abs(moved), error, out=np.zeros_like(moved), where=error > 0), out=largest)
    return np.clip(2 * ndtr(-_quantile(largest, alpha)), alpha / len(pairs), alpha)


def _quantile(largest: Floats, alpha: float) -> Floats:
    """Return the (metrics,) upper quantiles of (samples, metrics) statistics; the observed sample counts as one."""
    samples = len(largest)
    place = min(int(np.ceil((1 - alpha) * (samples + 1))), samples) - 1
    return np.asarray(np.sort(largest, axis=0)[place])


def groups(undecided: Sequence[Pair], recommenders: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the largest groups of recommenders of which all pairs are undecided; each is in at least one group.

    They are those of a compact letter display, by the method of Bron and Kerbosch for maximal cliques.

    Args:
        undecided: pairs that cannot be told apart.
        recommenders: their numbers, best first.

    Returns:
        Groups in the order of their best members, each one best first.

    Examples:
        Of three recommenders the middle one cannot be told from the others:

        >>> groups([(0, 1), (1, 2)], [0, 1, 2])
        [(0, 1), (1, 2)]
    """
    alike = {one: {other for pair in undecided if one in pair for other in pair} - {one} for one in recommenders}
    largest: list[set[int]] = []

    def extend(group: set[int], more: set[int], left: set[int]) -> None:
        if not more and not left:
            largest.append(group)
            return
        pivot = max(more | left, key=lambda one: len(alike[one] & more))
        for one in more - alike[pivot]:
            extend(group | {one}, more & alike[one], left & alike[one])
            more, left = more - {one}, left | {one}

    extend(set(), set(recommenders), set())
    place = {one: number for number, one in enumerate(recommenders)}
    ordered = [tuple(sorted(group, key=place.__getitem__)) for group in largest]
    return sorted(ordered, key=lambda group: [place[one] for one in group])
