"""Item-based collaborative filtering: scores are exact to 12 digits, and those that are equal tie,
and no others do.

The exact scores follow eqs 27-30, from squares of cosines as fractions, with 60 digits from the
first root on.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from ranked_by_argsort import rows, split_of
from scipy.sparse import csr_array

from sampled_metrics_study.recommenders.item_cf import Interactions, ItemCF, near_items
from sampled_metrics_study.recommenders.ranking import rank_by_model

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


def exact_scores(
    training, exponent, neighbours, neighbours_prime, keep_self, row_norm, denominator
):
    """Eqs 27-30 as loops: the scores of all items for each user."""
    items = range(training.shape[1])
    users_of = [set(np.flatnonzero(column).tolist()) for column in training.T]
    squares = [[_squared_cosine(users_of[i], users_of[j]) for j in items] for i in items]
    nearest = [
        sorted((j for j in items if j != i and squares[i][j]), key=lambda j: (-squares[i][j], j))
        for i in items
    ]

    def similarity(i, j):
        near = i in nearest[j][:neighbours] and j in nearest[i][:neighbours_prime]
        if not squares[i][j] or not (keep_self if i == j else near):
            return Decimal(0)
        power = squares[i][j] ** int(2 * exponent)
        return (Decimal(power.numerator) / power.denominator).sqrt().sqrt()

    norms = {
        "l2": lambda row: sum(each**2 for each in row).sqrt(),
        "l1": sum,
        "none": lambda row: Decimal(1),
    }
    similar = [[similarity(i, j) for j in items] for i in items]
    for row in similar:
        for norm in (norms[row_norm], *[sum] * denominator):
            divisor = norm(row) or 1
            row[:] = [each / divisor for each in row]
    return [
        [sum((row[j] for j in np.flatnonzero(has)), Decimal(0)) for row in similar]
        for has in training
    ]


def _squared_cosine(one, other):
    return Fraction(len(one & other) ** 2, max(1, len(one) * len(other)))


def exact_counts(scores, training, held_out):
    """Above and tied of each user."""
    found = []
    for mine, has, held in zip(scores, training, held_out, strict=True):
        differences = [mine[item] - mine[held] for item in np.flatnonzero(~has)]
        found.append(
            (
                sum(each > EQUAL for each in differences),
                sum(abs(each) <= EQUAL for each in differences) - 1,
            )
        )
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
            table = rank_by_model(model, split_of(training, held_out))
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
        training = (
            rng.random(shape).argsort(axis=0)
            < rng.integers(1, shape[0], 2)[rng.integers(2, size=shape[1])]
        )
        training[training.all(axis=1), 0] = False  # each user has a candidate
        parameters = {name: values[rng.integers(len(values))] for name, values in VALUES.items()}
        if not is_exact(training, parameters):
            wrong.append((seed, parameters))
    assert not wrong


def test_the_nearest_items_by_hand():
    """Item 0 has users 0-3, item 1 has 0, item 2 has 0 and 1, item 3 has nobody, item 4 has 3."""
    training = csr_array(
        np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1]], dtype=float)
    )
    r = 1 / sqrt(2)
    h = 1 / 2
    # the nearest one of each column
    wanted = [
        [0, 0, r, 0, h],
        [0] * 5,
        [r, r, 0, 0, 0],
        [0] * 5,
        [0] * 5,
    ]
    np.testing.assert_allclose(
        near_items(Interactions(training), 1, None).toarray(), wanted, atol=1e-15
    )
    np.testing.assert_allclose(
        near_items(Interactions(training), None, 1).toarray(), np.transpose(wanted), atol=1e-15
    )
    for parameters in ({}, {"denominator": True}, {"neighbours": 2}, {"row_norm": "l1"}):
        model = ItemCF(**{"exponent": 1} | parameters).fit(training, np.random.default_rng(0))
        scores = model.scores(slice(None), training)
        assert (scores[:, 3] == 0).all()
        assert (scores[:, 0] > 0).all()


@pytest.mark.parametrize(("users", "count", "of"), [(3, 1, 2), (12, 3, 12)])
def test_items_of_equal_cosine_are_equally_near_whatever_their_counts(users, count, of):
    # item 0 has `users` users; `count` of them are among the `of` users of one other item, and
    # three times as many among the 9 × `of` users of another: both have the cosine count / √(users
    # · of)
    first, small, large = np.zeros((3, users + 9 * of))
    first[:users] = small[:count] = large[: 3 * count] = 1
    small[users : users + of - count] = large[users : users + 9 * of - 3 * count] = 1
    for columns in ([first, small, large], [first, large, small]):
        training = csr_array(np.array(columns).T)
        assert Interactions(training).cosines(slice(3)).toarray()[0, 1] == pytest.approx(
            count / sqrt(users * of)
        )
        assert (near_items(Interactions(training), 1, None).toarray()[:, 0] > 0).tolist() == [
            False,
            True,
            False,
        ]
