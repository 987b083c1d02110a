"""Ranks are those of the definition: by any model, and by scores and factors in any form and of any
library.

Scores are whole numbers, or sums of them, so many tie and none is rounded. Some users have several
held-out items, some none, some have no training item, and some candidates score -∞. Near ties of
factors are against scores that are added in order.
"""

import math
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import by_argsort, by_definition, rows, split_of
from scipy.sparse import csr_array, csr_matrix

import sampled_metrics as sm
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import factors, rank
from sampled_metrics_study.recommenders import ranking
from sampled_metrics_study.recommenders.models import (
    FactorModel,
    RandomModel,
    ScoreModel,
    SimilarityModel,
    SparseSimilarityModel,
)
from sampled_metrics_study.recommenders.ranking import rank_by_model


class Case:
    """Training and held-out items, (users, items), factors, a similarity, and the scores by each of
    them.
    """

    def __init__(self, seed: int, users: int, items: int) -> None:
        rng = np.random.default_rng(seed)
        chosen = rng.random((users, items)) < rng.choice([0.1, 0.4, 0.7], (users, 1))
        share = rng.choice(
            [0, 0.2, 1], (users, 1), p=[0.2, 0.6, 0.2]
        )  # of them, all, some or none are held out
        self.held_out = chosen & (rng.random((users, items)) < share)
        self.held_out[0] |= np.arange(items) == rng.integers(items)  # at least one
        self.training = chosen & ~self.held_out
        self.factors = (
            rng.integers(-2, 3, (users, 3)).astype(float),
            rng.integers(-2, 3, (items, 3)).astype(float),
        )
        self.products = self.factors[0] @ self.factors[1].T
        self.similarity = (
            rng.integers(-2, 3, (items, items)) * (rng.random((items, items)) < 0.5) / 4
        )
        self.sums = self.training @ self.similarity
        self.masked = np.where(rng.random((users, items)) < 0.3, -np.inf, self.products)
        self.masked[self.training & (rng.random((users, items)) < 0.5)] = (
            np.nan
        )  # what is in training may score so


MODELS: dict[str, Callable[[Case], tuple[Any, np.ndarray]]] = {
    "factors": lambda case: (FactorModel(*case.factors), case.products),
    "similarity": lambda case: (SimilarityModel(case.similarity), case.sums),
    "sparse similarity": lambda case: (
        SparseSimilarityModel(csr_array(case.similarity)),
        case.sums,
    ),
    "random": lambda case: (
        RandomModel(7),
        RandomModel(7).scores(slice(None), csr_array(case.training)),
    ),
    "scores": lambda case: (ScoreModel(case.masked), case.masked),
}


def _strict(array: np.ndarray) -> Any:
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(array, device=strict.Device("device1"))


LIBRARIES: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy": np.asarray,
    "array-api-strict, on a device": _strict,
}
"""tests/adapters/test_arrays.py has torch and JAX, where they are installed."""

FORMS: dict[str, Callable[[Case, Callable[[np.ndarray], Any]], tuple[Any, np.ndarray]]] = {
    "factors": lambda case, to: (tuple(map(to, case.factors)), case.products),
    "factors in float32": lambda case, to: (
        tuple(to(each.astype(np.float32)) for each in case.factors),
        case.products,
    ),
    "matrix in float32": lambda case, to: (to(case.masked.astype(np.float32)), case.masked),
    "matrix of whole numbers": lambda case, to: (to(case.products.astype(np.int64)), case.products),
    "matrix of true and false": lambda case, to: (to(case.products > 0), case.products > 0),
    "function": lambda case, to: (lambda users: to(case.masked[users]), case.masked),
}

NUMPY_ALONE: dict[str, Callable[[Case], tuple[Any, np.ndarray]]] = {
    "factors of two types": lambda case: (
        (case.factors[0].astype(np.int16), case.factors[1].astype(np.float32)),
        case.products,
    ),
    "sparse": lambda case: (csr_array(case.products), case.products),
    "sparse matrix": lambda case: (csr_matrix(case.products), case.products),
    "function that returns lists": lambda case: (
        lambda users: case.masked[users].tolist(),
        case.masked,
    ),
}

ALL: dict[str, Callable[[Case], tuple[Any, np.ndarray]]] = {
    **{f"model: {name}": make for name, make in MODELS.items()},
    **{
        f"{library}: {form}": lambda case, make=make, to=to: make(case, to)
        for library, to in LIBRARIES.items()
        for form, make in FORMS.items()
    },
    **{f"numpy: {name}": make for name, make in NUMPY_ALONE.items()},
}


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=settings().max_examples // 3)  # of each of 21 forms
@given(
    seed=st.integers(0, 2**32 - 1),
    users=st.integers(1, 12),
    items=st.integers(1, 15),
    size=st.integers(1, 5),
    threads=st.integers(1, 2),
    together=st.sampled_from([1, 20, 2**16]),
    kind=st.sampled_from([list, pd.Series, lambda users: np.array(users, dtype=np.uint8)]),
    data=st.data(),
)
def test_ranks_are_those_of_the_definition(
    name, seed, users, items, size, threads, together, kind, data
) -> None:
    case = Case(seed, users, items)
    scores, plain = ALL[name](case)
    expected = by_definition(plain, case.training, case.held_out)
    first, last = sorted(data.draw(st.lists(st.integers(0, users), min_size=2, max_size=2)))
    chosen = data.draw(st.lists(st.integers(0, users - 1), unique=True, min_size=1))
    if name.startswith("model"):
        split = split_of(case.training, case.held_out)

        def ranked(users: Any = slice(None)) -> sm.ExactRanks:
            return rank_by_model(scores, split, users, threads=threads)
    else:
        options = {"user_ids": 100 + np.arange(users)} | (
            {} if isinstance(scores, tuple) else {"batch_size": size}
        )

        def ranked(users: Any = None) -> sm.ExactRanks:
            return sm.rank(scores, case.training, case.held_out, users=users, **options)

    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of users without a held-out item
        patched.setattr(factors, "ROWS", 3 * size)
        patched.setattr(factors, "ITEMS", 2 * size)
        patched.setattr(factors, "SCORES", size * size)
        patched.setattr(factors, "UNDECIDED", size)
        patched.setattr(factors, "NUMBERS", size)
        patched.setattr(factors, "_FEW_ROWS", size)
        patched.setattr(rank, "_MUCH_WORK", 0)
        patched.setattr(rank, "threads_of_linear_algebra", lambda: threads)
        patched.setattr(ranking, "BLOCK_BYTES", 8 * items * size)
        patched.setattr(rank, "_TOGETHER", together)
        patched.setattr(rank, "_TOGETHER_ON_DEVICE", together)
        assert _rows(ranked()) == expected
        if first < last:
            assert _rows(ranked(slice(first, last))) == [
                row for row in expected if first <= row[0] < last
            ]
        users_given = np.sort(chosen) if name.startswith("model") else kind(chosen)
        assert _rows(ranked(users_given)) == [row for row in expected if row[0] in chosen]


def _rows(table: sm.ExactRanks) -> list[tuple[int, int, int, int]]:
    columns = (table.user - 100, table.candidates, table.above, table.tied)
    return list(zip(*(each.tolist() for each in columns), strict=True))


def test_of_a_device_without_float64_the_factors_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case(3, 12, 15)
    monkeypatch.setattr(rank.Device, "has_float64", lambda device: False)
    monkeypatch.setattr(rank, "_count_scores", None)  # nothing is counted there
    tensors = tuple(_strict(each.astype(np.float32)) for each in case.factors)
    with pytest.warns(UserWarning, match="have no held-out item"):
        table = sm.rank(tensors, case.training, case.held_out, user_ids=100 + np.arange(12))
    assert _rows(table) == by_definition(case.products, case.training, case.held_out)


@pytest.mark.parametrize(
    ("users", "items"), [(1e-200, 1e-100), (1e-200, 1e140), (1.0, 1.0), (1e150, 1e140)]
)
def test_factors_of_any_size_on_a_device_have_the_ranks_of_numpy(
    users: float, items: float
) -> None:
    """Equal factors tie, and the others differ by more than rounding."""
    rng = np.random.default_rng(2)
    given_factors = (
        users * rng.normal(size=(40, 24)),
        (items * rng.normal(size=(60, 24)))[rng.integers(60, size=90)],
    )
    held_out = rng.integers(90, size=40)
    wanted = sm.rank(given_factors, np.zeros((40, 90)), held_out)
    found = sm.rank(tuple(map(_strict, given_factors)), np.zeros((40, 90)), held_out)
    assert found.to_frame().equals(wanted.to_frame())
    assert wanted.tied.sum() > 10


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


def check_against_scores_in_order(user_factors, item_factors, precision="float64"):
    users = len(user_factors)
    items = len(item_factors)
    rng = np.random.default_rng(0)
    training = rng.random((users, items)) < 0.2
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    table = rank_by_model(
        FactorModel(user_factors, item_factors), split_of(training, held_out), precision=precision
    )
    scores = added_in_order(user_factors.astype(precision), item_factors.astype(precision))
    assert rows(table) == by_argsort(scores, training, held_out)


precisions = pytest.mark.parametrize("precision", ["float64", "float32"])


@precisions
def test_items_with_the_same_factors_tie_wherever_they_stand(precision):
    for d in (1, 7, 64):
        rng = np.random.default_rng(d)
        items = np.repeat(
            rng.normal(size=(1, d)), 4097, axis=0
        )  # by a matrix product many differ in a digit
        model = FactorModel(rng.normal(size=(33, d)), items)
        split = split_of(np.zeros((33, 4097)), rng.integers(0, 4097, 33))
        assert rows(rank_by_model(model, split, precision=precision)) == [(0, 4096)] * 33


@precisions
def test_a_last_digit_decides_and_users_and_items_may_have_no_factors(precision):
    for d in (1, 3, 40):
        rng = np.random.default_rng(d)
        digit = np.finfo(precision).eps
        items = rng.normal(size=(1, d)) * (1 + digit * rng.integers(-2, 3, (60, d)))
        check_against_scores_in_order(rng.normal(size=(20, d)), items, precision)
    users = rng.normal(size=(12, 5))
    items = rng.normal(size=(40, 5))
    users[::3] = 0.0
    items[::2] = 0.0
    check_against_scores_in_order(users, items, precision)
    check_against_scores_in_order(users, np.zeros((40, 5)), precision)


def test_of_any_size():
    for users, items in product([1e-300, 1e-30, 1e150], [1e-300, 1e-160, 1e150]):
        rng = np.random.default_rng(1)
        check_against_scores_in_order(
            users * rng.normal(size=(5, 4)), items * rng.normal(size=(20, 4))
        )


def test_do_not_depend_on_the_product(monkeypatch):
    """Whatever a library makes of a product, within the bound, the counts are the same."""
    rng = np.random.default_rng(8)
    product = np.matmul
    model = FactorModel(
        rng.normal(size=(300, 24)), rng.normal(size=(500, 24))[rng.integers(500, size=700)]
    )
    split = split_of(np.zeros((300, 700)), rng.integers(0, 700, 300))
    wanted = rows(rank_by_model(model, split))

    def off(left, right, out):
        product(left, right, out=out)
        lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=0))
        out += (rng.choice([-1, 1], out.shape) * 24 * 2.0**-24 * lengths).astype(np.float32)
        return out

    monkeypatch.setattr(factors.np, "matmul", off)
    assert rows(rank_by_model(model, split)) == wanted


def test_many_items_with_the_factors_of_held_out_ones_tie(monkeypatch):
    """More pairs than items are undecided, so items with the same factors are looked up and not
    compared.
    """
    monkeypatch.setattr(factors, "UNDECIDED", 50)
    rng = np.random.default_rng(4)
    kinds = np.arange(90) % 3
    model = FactorModel(rng.normal(size=(40, 6)), rng.normal(size=(3, 6))[kinds])
    held_out = rng.integers(90, size=40)
    table = rank_by_model(model, split_of(np.zeros((40, 90)), held_out))
    scores = model.user_factors @ model.item_factors[:3].T
    target = scores[np.arange(40), kinds[held_out]]
    above = 30 * (scores > target[:, np.newaxis]).sum(axis=1)
    assert rows(table) == [(number, 29) for number in above]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-1070, -140, -3, 0, 60, 1000])
def test_factors_are_scaled_as_by_ldexp(kind, exponent):
    """The largest is in [1/2, 1), and each number is rounded to float32 once."""
    numbers = np.random.default_rng(3).uniform(-0.7, 0.7, (50, 7)).tolist()
    with np.errstate(over="ignore", under="ignore"):
        matrix = np.array(
            [[math.ldexp(number, exponent) for number in line] for line in numbers]
        ).astype(kind)
    if not np.isfinite(matrix).all() or not matrix.any():
        pytest.skip("the type has no such numbers")
    largest = float(np.abs(matrix).max())
    assert factors.largest_number(matrix) == largest
    scaled, longest = factors.scaled_by(matrix, math.frexp(largest)[1])
    wanted = [
        [np.float32(math.ldexp(float(number), -math.frexp(largest)[1])) for number in line]
        for line in matrix
    ]
    assert scaled.tolist() == np.array(wanted).tolist()
    assert longest == pytest.approx(max(math.hypot(*line) for line in scaled.tolist()), rel=1e-12)


def test_scores_between_the_thresholds_are_found():
    rng = np.random.default_rng(6)
    for height, width in ((1, 1), (3, 8), (5, 13), (2, 2100)):
        scores = rng.integers(0, 9, (height, width)).astype(np.float32)
        low = rng.integers(0, 6, (height, 1)).astype(np.float32)
        high = low + rng.integers(0, 3, (height, 1)).astype(np.float32)
        bits = np.ones((2, height + 1, -(-width // 8) * 8 + 8), dtype=bool)
        certain, row, column = factors.compared(scores, low, high, bits)
        assert certain.tolist() == [
            sum(score > most for score in line) for line, most in zip(scores, high, strict=True)
        ]
        between = [
            place
            for place in np.ndindex(height, width)
            if low[place[0]] <= scores[place] <= high[place[0]]
        ]
        assert list(zip(row.tolist(), column.tolist(), strict=True)) == between


@pytest.mark.parametrize(
    ("user", "item", "precision"),
    [
        (1.0, np.nan, "float64"),
        (-np.inf, 1.0, "float64"),
        (1e20, 1e20, "float32"),
        (1e160, 1e160, "float64"),
    ],
)
def test_factors_that_are_not_finite_or_whose_products_could_overflow_are_refused(
    user, item, precision
):
    model = FactorModel(np.ones((5, 2)), np.ones((6, 2)))
    model.user_factors[1, 1] = user
    model.item_factors[1, 1] = item
    with pytest.raises(DataError, match=f"too large for scores in {precision}$"):
        rank_by_model(model, split_of(np.zeros((5, 6)), np.arange(5)), precision=precision)
