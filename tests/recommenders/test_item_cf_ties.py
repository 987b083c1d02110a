"""Item-based collaborative filtering: scores are exact to 12 digits, and those that are equal tie, and no others do.

The exact scores follow eqs 27-30, from squares of cosines as fractions, with 60 digits from the first root on.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from ranked_by_argsort import rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.recommenders.item_cf import ItemCF

DIGITS = 60
EQUAL = Decimal("1e-45")
"""Larger than an error of 60 digits, and smaller than a difference of the scores of these cases."""

VALUES = {
    "exponent": [0.5, 1, 1.5, 2, 3],
    "neighbours": [None, 2, 5],
    "neighbours_prime": [None, 2, 5],
    "keep_self": [True, False],
    "row_norm": ["l2", "l1", "none"],
    "denominator": [True, False],
}


def exact_scores(training, exponent, neighbours, neighbours_prime, keep_self, row_norm, denominator):
    """Eqs 27-30 as loops: the scores of all items for each user."""
    items = range(training.shape[1])
    users_of = [set(np.flatnonzero(column).tolist()) for column in training.T]
    squares = [[_squared_cosine(users_of[i], users_of[j]) for j in items] for i in items]
    nearest = [sorted((j for j in items if j != i and squares[i][j]), key=lambda j: (-squares[i][j], j)) for i in items]

    def similarity(i, j):
        near = i in nearest[j][:neighbours] and j in nearest[i][:neighbours_prime]
        if not squares[i][j] or not (keep_self if i == j else near):
            return Decimal(0)
        power = squares[i][j] ** int(2 * exponent)
        return (Decimal(power.numerator) / power.denominator).sqrt().sqrt()

    norms = {"l2": lambda row: sum(each**2 for each in row).sqrt(), "l1": sum, "none": lambda row: Decimal(1)}
    similar = [[similarity(i, j) for j in items] for i in items]
    for row in similar:
        for norm in (norms[row_norm], *[sum] * denominator):
            divisor = norm(row) or 1
            row[:] = [each / divisor for each in row]
    return [[sum((row[j] for j in np.flatnonzero(has)), Decimal(0)) for row in similar] for has in training]


def _squared_cosine(one, other):
    return Fraction(len(one & other) ** 2, max(1, len(one) * len(other)))


def exact_counts(scores, training, held_out):
    """Above and tied of each user."""
    found = []
    for mine, has, held in zip(scores, training, held_out, strict=True):
        differences = [mine[item] - mine[held] for item in np.flatnonzero(~has)]
        found.append((sum(each > EQUAL for each in differences), sum(abs(each) <= EQUAL for each in differences) - 1))
    return found


def is_exact(training, parameters):
    """Whether all ranks are the exact ones, with each candidate of each user held out in turn."""
    model = ItemCF(**parameters).fit(csr_array(training.astype(float)), np.random.default_rng(0))
    with localcontext(prec=DIGITS):
        scores = exact_scores(training, **parameters)
        found = model.scores(slice(None), csr_array(training.astype(float)))
        np.testing.assert_allclose(found, np.array(scores, dtype=float), rtol=1e-12, atol=1e-14)
        for turn in range(training.shape[1]):
            held_out = [np.resize(np.flatnonzero(~has), turn + 1)[turn] for has in training]
            table = model.rank(split_of(training, held_out))
            if rows(table) != exact_counts(scores, training, held_out):
                return False
    return True


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 80), marks=pytest.mark.slow)])
def test_equal_scores_tie_and_no_others(seeds):
    wrong = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape = rng.integers((4, 8), (13, 19))
        # items of one or two sizes have many equal cosines
        training = rng.random(shape).argsort(axis=0) < rng.integers(1, shape[0], 2)[rng.integers(2, size=shape[1])]
        training[training.all(axis=1), 0] = False  # each user has a candidate
        parameters = {name: values[rng.integers(len(values))] for name, values in VALUES.items()}
        if not is_exact(training, parameters):
            wrong.append((seed, parameters))
    assert not wrong
