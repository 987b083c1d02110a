"""Ranking by factors: near ties, against scores that are added in order."""

import numpy as np
import pytest
from ranked_by_argsort import by_argsort, one_each, rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import factors
from sampled_metrics.recommenders.models import FactorModel


def added_in_order(users, items):
    """The scores, term by term in the order of the factors, by Python's own floats."""
    kind = users.dtype.type
    scores = np.zeros((len(users), len(items)), dtype=users.dtype)
    for user, item in np.ndindex(*scores.shape):
        total = kind(0)
        for one, other in zip(users[user], items[item], strict=True):
            total = kind(total + kind(one * other))
        scores[user, item] = total
    return scores


def check_against_scores_in_order(user_factors, item_factors, precision, seed=0):
    users, items = len(user_factors), len(item_factors)
    rng = np.random.default_rng(seed)
    training = rng.random((users, items)) < 0.2
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    model = FactorModel(user_factors, item_factors)
    table = model.rank(split_of(training, held_out), precision=precision)
    scores = added_in_order(user_factors.astype(precision), item_factors.astype(precision))
    assert rows(table) == by_argsort(scores, training, held_out)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("factors", [1, 7, 64])
def test_items_with_the_same_factors_tie_wherever_they_stand(factors, precision):
    rng = np.random.default_rng(factors)
    items = np.repeat(rng.normal(size=(1, factors)), 4097, axis=0)  # by a matrix product many differ in a digit
    split = Split(csr_array((33, 4097)), one_each(rng.integers(0, 4097, 33), 4097), np.arange(33), np.arange(4097))
    model = FactorModel(rng.normal(size=(33, factors)), items)
    assert rows(model.rank(split, precision=precision)) == [(0, 4096)] * 33


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("factors", [1, 3, 40])
def test_a_last_digit_decides(factors, precision):
    rng = np.random.default_rng(factors)
    digit = np.finfo(precision).eps
    items = rng.normal(size=(1, factors)) * (1 + digit * rng.integers(-2, 3, (60, factors)))
    check_against_scores_in_order(rng.normal(size=(20, factors)), items, precision)


@pytest.mark.parametrize("users", [1e-300, 1e-30, 1e150])
@pytest.mark.parametrize("items", [1e-300, 1e-160, 1e150])
def test_of_any_size(users, items):
    rng = np.random.default_rng(1)
    check_against_scores_in_order(users * rng.normal(size=(5, 4)), items * rng.normal(size=(20, 4)), "float64")


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_users_and_items_without_factors(precision):
    rng = np.random.default_rng(3)
    users, items = rng.normal(size=(12, 5)), rng.normal(size=(40, 5))
    users[::3], items[::2] = 0.0, 0.0
    check_against_scores_in_order(users, items, precision)
    check_against_scores_in_order(users, np.zeros((40, 5)), precision)


def test_do_not_depend_on_the_product(monkeypatch):
    """Whatever a library makes of a product, within the bound, the counts are the same."""
    rng, product = np.random.default_rng(8), np.matmul
    model = FactorModel(rng.normal(size=(300, 24)), rng.normal(size=(500, 24))[rng.integers(500, size=700)])
    split = Split(csr_array((300, 700)), one_each(rng.integers(0, 700, 300), 700), np.arange(300), np.arange(700))
    wanted = rows(model.rank(split))

    def off(left, right, out):
        product(left, right, out=out)
        lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=0))
        out += (rng.choice([-1, 1], out.shape) * 24 * 2.0**-24 * lengths).astype(np.float32)
        return out

    monkeypatch.setattr(factors.np, "matmul", off)
    assert rows(model.rank(split)) == wanted


@pytest.mark.parametrize(
    ("user", "item", "precision"),
    [
        *((1.0, bad, "float64") for bad in (np.nan, -np.inf)),
        *((bad, 1.0, "float64") for bad in (np.nan, np.inf)),
        (1e20, 1e20, "float32"),
        (1e160, 1e160, "float64"),
    ],
)
def test_factors_that_are_not_finite_or_whose_products_could_overflow_are_refused(user, item, precision):
    split = Split(csr_array((5, 6)), one_each(np.arange(5), 6), np.arange(5), np.arange(6))
    model = FactorModel(np.ones((5, 2)), np.ones((6, 2)))
    model.user_factors[1, 1], model.item_factors[1, 1] = user, item
    with pytest.raises(DataError, match=f"too large for scores in {precision}$"):
        model.rank(split, precision=precision)
