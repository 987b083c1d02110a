"""Item-based collaborative filtering: scores are exact to 12 digits, and only equal ones tie.

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
    nearest = []
    for i in items:
        partners = [j for j in items if j != i and squares[i][j]]
        nearest.append(sorted(partners, key=lambda j, row=squares[i]: (-row[j], j)))

    def similarity(i, j):
        near = i in nearest[j][:neighbours] and j in nearest[i][:neighbours_prime]
        if not squares[i][j] or not (keep_self if i == j else near):
            return Decimal(0)
        power = squares[i][j] ** int(2 * exponent)
        return (Decimal(power.numerator) / power.denominator).sqrt().sqrt()

    norms = {
        "l2": lambda row: sum(value**2 for value in row).sqrt(),
        "l1": sum,
        "none": lambda row: Decimal(1),
    }
    similar = [[similarity(i, j) for j in items] for i in items]
    for row in similar:
        for norm in (norms[row_norm], *[sum] * denominator):
            divisor = norm(row) or 1
            row[:] = [value / divisor for value in row]
    scores = []
    for has in training:
        history = np.flatnonzero(has)
        scores.append([sum((row[j] for j in history), Decimal(0)) for row in similar])
    return scores


def _squared_cosine(users, other_users):
    both = len(users & other_users)
    return Fraction(both**2, max(1, len(users) * len(other_users)))


def exact_counts(scores, training, held_out):
    """Above and tied of each user."""
    counts = []
    for user_scores, has, held_out_item in zip(scores, training, held_out, strict=True):
        target = user_scores[held_out_item]
        differences = [user_scores[item] - target for item in np.flatnonzero(~has)]
        above = sum(difference > EQUAL for difference in differences)
        tied = sum(abs(difference) <= EQUAL for difference in differences) - 1
        counts.append((above, tied))
    return counts


def is_exact(training, parameters):
    """Whether all ranks are the exact ones, with each candidate of each user held out in turn."""
    model = ItemCF(**parameters).fit(csr_array(training.astype(float)), np.random.default_rng(0))
    with localcontext(prec=DIGITS):
        exact = exact_scores(training, **parameters)
        scores = model.scores(slice(None), csr_array(training.astype(float)))
        np.testing.assert_allclose(scores, np.array(exact, dtype=float), rtol=1e-12, atol=1e-14)
        for turn in range(training.shape[1]):
            held_out = [np.resize(np.flatnonzero(~has), turn + 1)[turn] for has in training]
            table = rank_by_model(model, split_of(training, held_out))
            if rows(table) != exact_counts(exact, training, held_out):
                return False
    return True


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(20), id="20 seeds"),
        pytest.param(range(20, 80), marks=pytest.mark.slow, id="60 seeds"),
    ],
)
def test_equal_scores_tie_and_no_others(seeds):
    wrong = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape = rng.integers((4, 8), (13, 19))
        # items of one or two sizes have many equal cosines
        order = rng.random(shape).argsort(axis=0)
        sizes = rng.integers(1, shape[0], 2)[rng.integers(2, size=shape[1])]
        training = order < sizes
        training[training.all(axis=1), 0] = False  # each user has a candidate
        parameters = {name: values[rng.integers(len(values))] for name, values in VALUES.items()}
        training[:, 1] &= rng.random() < 0.7  # nobody may have an item
        if not is_exact(training, parameters):
            wrong.append((seed, parameters))
    assert not wrong


@pytest.mark.parametrize(("users", "shared", "size"), [(3, 1, 2), (12, 3, 12)])
def test_items_of_equal_cosine_are_equally_near_whatever_their_counts(users, shared, size):
    # the target has `users` users; `shared` of them are among the `size` users of a small item, and
    # three times as many among the 9 × `size` users of a large one: both have the cosine
    # shared / √(users · size)
    target, small, large = np.zeros((3, users + 9 * size))
    target[:users] = small[:shared] = large[: 3 * shared] = 1
    small[users : users + size - shared] = large[users : users + 9 * size - 3 * shared] = 1
    for columns in ([target, small, large], [target, large, small]):
        interactions = Interactions(csr_array(np.array(columns).T))
        cosines = interactions.cosines(slice(3)).toarray()
        assert cosines[0, 1] == pytest.approx(shared / sqrt(users * size))
        is_near = near_items(interactions, 1, None).toarray()[:, 0] > 0
        assert is_near.tolist() == [False, True, False]
