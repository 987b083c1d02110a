"""Ranking by factors against an argsort of the plain score matrix; ties, threads."""

import numpy as np
import pytest
from ranked_by_argsort import by_argsort, one_each, rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import factors
from sampled_metrics.recommenders.models import FactorModel


def case(seed, users, items, factors, *, whole=False, dense=0.3):
    """Factors, a split, and the plain scores; whole numbers make scores exact, so that many tie."""
    rng = np.random.default_rng(seed)
    if whole:
        user_factors, item_factors = (rng.integers(-2, 3, (n, factors)).astype(float) for n in (users, items))
    else:
        user_factors, item_factors = (rng.normal(size=(n, factors)) for n in (users, items))
        item_factors[rng.integers(0, items, items // 4)] = item_factors[0]  # the same factors are a tie
    training = rng.random((users, items)) < dense
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    return FactorModel(user_factors, item_factors), split_of(training, held_out), training


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


class TestNearTies:
    @pytest.mark.parametrize("precision", ["float64", "float32"])
    @pytest.mark.parametrize("factors", [1, 2, 7, 16, 33, 64, 200])
    def test_items_with_the_same_factors_tie_wherever_they_stand(self, factors, precision):
        rng = np.random.default_rng(factors)
        items = np.repeat(rng.normal(size=(1, factors)), 4097, axis=0)  # by a matrix product many differ in a digit
        split = Split(csr_array((33, 4097)), one_each(rng.integers(0, 4097, 33), 4097), np.arange(33), np.arange(4097))
        model = FactorModel(rng.normal(size=(33, factors)), items)
        assert rows(model.rank(split, precision=precision)) == [(0, 4096)] * 33

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    @pytest.mark.parametrize("factors", [1, 3, 8, 40])
    def test_a_last_digit_decides(self, factors, precision):
        rng = np.random.default_rng(factors)
        digit = np.finfo(precision).eps
        items = rng.normal(size=(1, factors)) * (1 + digit * rng.integers(-2, 3, (60, factors)))
        check_against_scores_in_order(rng.normal(size=(20, factors)), items, precision)

    @pytest.mark.parametrize("users", [1e-300, 1e-160, 1e-30, 1e30, 1e150])
    @pytest.mark.parametrize("items", [1e-300, 1e-160, 1e-30, 1e30, 1e150])
    def test_of_any_size(self, users, items):
        rng = np.random.default_rng(1)
        check_against_scores_in_order(users * rng.normal(size=(5, 4)), items * rng.normal(size=(20, 4)), "float64")

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    def test_users_and_items_without_factors(self, precision):
        rng = np.random.default_rng(3)
        users, items = rng.normal(size=(12, 5)), rng.normal(size=(40, 5))
        users[::3], items[::2] = 0.0, 0.0
        check_against_scores_in_order(users, items, precision)
        check_against_scores_in_order(users, np.zeros((40, 5)), precision)

    def test_do_not_depend_on_the_product(self, monkeypatch):
        """Whatever a library makes of a product, within the bound, the counts are the same."""
        model, split, _ = case(8, 300, 700, 24)
        wanted = rows(model.rank(split))
        rng, product = np.random.default_rng(4), np.matmul

        def off(left, right, out):
            product(left, right, out=out)
            lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=0))
            out += (rng.choice([-1, 1], out.shape) * 24 * 2.0**-24 * lengths).astype(np.float32)
            return out

        monkeypatch.setattr(factors.np, "matmul", off)
        assert rows(model.rank(split)) == wanted


class TestRefusals:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("whose", ["user", "item"])
    def test_factors_that_are_not_finite(self, whose, bad):
        model, split, _ = case(6, 5, 6, 2)
        getattr(model, f"{whose}_factors")[1, 1] = bad
        with pytest.raises(DataError, match="factors are not finite, or too large for scores in float64"):
            model.rank(split)

    @pytest.mark.parametrize(("precision", "size"), [("float32", 1e20), ("float64", 1e160)])
    def test_factors_whose_products_could_overflow(self, precision, size):
        model, split, _ = case(7, 5, 6, 2)
        model.user_factors[0, 0] = model.item_factors[0, 0] = size
        with pytest.raises(DataError, match=f"too large for scores in {precision}$"):
            model.rank(split, precision=precision)
