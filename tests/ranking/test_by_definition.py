"""Ranks are those of the definition: by scores and factors in any form and of any library.

Scores are whole numbers, or sums of them, so many tie and none is rounded. Some users have several
held-out items, some none, some have no training item, and some candidates score -∞. Near ties of
factors are against scores that are added in order. tests/study/recommenders/test_ranks_of_models.py
has the models of the study.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases_by_definition import DRAWN, Case, require_definition, rows_of_users, small_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import by_argsort, by_definition, rows
from scipy.sparse import csr_array, csr_matrix

import sampled_metrics as sm
from sampled_metrics.ranking import factors, rank


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
        tuple(to(array.astype(np.float32)) for array in case.factors),
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
    **{
        f"{library}: {form}": lambda case, make=make, to=to: make(case, to)
        for library, to in LIBRARIES.items()
        for form, make in FORMS.items()
    },
    **{f"numpy: {name}": make for name, make in NUMPY_ALONE.items()},
}


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=settings().max_examples // 3)  # of each of 16 forms
@given(
    kind=st.sampled_from([list, pd.Series, lambda users: np.array(users, dtype=np.uint8)]), **DRAWN
)
def test_ranks_are_those_of_the_definition(
    name, kind, seed, users, items, size, threads, together, data
) -> None:
    case = Case(seed, users, items)
    scores, plain = ALL[name](case)
    options: dict[str, Any] = {"user_ids": 100 + np.arange(users)}
    if not isinstance(scores, tuple):
        options["batch_size"] = size

    def ranked(users: Any = None) -> sm.ExactRanks:
        return sm.rank(scores, case.training, case.held_out, users=users, **options)

    with small_blocks(size, together):
        require_definition(ranked, case, plain, data, kind)


def added_in_order(users, items):
    """The scores, term by term in the order of the factors, by Python's own floats."""
    scores = np.zeros((len(users), len(items)))
    for user, item in np.ndindex(*scores.shape):
        terms = (left * right for left, right in zip(users[user], items[item], strict=True))
        scores[user, item] = sum(terms, 0.0)
    return scores


@pytest.mark.parametrize("d", [1, 3, 40])
def test_a_last_digit_of_factors_decides(d) -> None:
    rng = np.random.default_rng(d)
    items = rng.normal(size=(1, d)) * (1 + np.finfo(float).eps * rng.integers(-2, 3, (60, d)))
    users = rng.normal(size=(20, d))
    training = rng.random((20, 60)) < 0.2
    held_out = rng.integers(0, 60, 20)
    training[np.arange(20), held_out] = False
    table = sm.rank((users, items), training, held_out)
    assert rows(table) == by_argsort(added_in_order(users, items), training, held_out)


def test_of_a_device_without_float64_the_factors_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case(3, 12, 15)
    monkeypatch.setattr(rank.Device, "has_float64", lambda device: False)
    monkeypatch.setattr(rank, "_count_scores", None)  # nothing is counted there
    tensors = tuple(_strict(array.astype(np.float32)) for array in case.factors)
    with pytest.warns(UserWarning, match="held-out"):
        table = sm.rank(tensors, case.training, case.held_out, user_ids=100 + np.arange(12))
    assert rows_of_users(table) == by_definition(case.products, case.training, case.held_out)


@pytest.mark.parametrize(
    ("users", "items"), [(1e-200, 1e-100), (1e-200, 1e140), (1.0, 1.0), (1e150, 1e140)]
)
def test_factors_of_any_size_on_a_device_have_the_ranks_of_numpy(
    users: float, items: float
) -> None:
    """Equal factors tie, and the others differ by more than rounding."""
    rng = np.random.default_rng(2)
    factors_of_host = (
        users * rng.normal(size=(40, 24)),
        (items * rng.normal(size=(60, 24)))[rng.integers(60, size=90)],
    )
    held_out = rng.integers(90, size=40)
    on_host = sm.rank(factors_of_host, np.zeros((40, 90)), held_out)
    on_device = sm.rank(tuple(map(_strict, factors_of_host)), np.zeros((40, 90)), held_out)
    assert on_device.to_frame().equals(on_host.to_frame())
    assert on_host.tied.sum() > 10


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
    scale = math.frexp(largest)[1]
    scaled, longest = factors.scaled_by(matrix, scale)
    for line, scaled_line in zip(matrix.tolist(), scaled.tolist(), strict=True):
        assert scaled_line == [np.float32(math.ldexp(number, -scale)) for number in line]
    assert longest == pytest.approx(max(math.hypot(*line) for line in scaled.tolist()), rel=1e-12)


def test_scores_between_the_thresholds_are_found():
    rng = np.random.default_rng(6)
    for height, width in ((1, 1), (3, 8), (5, 13), (2, 2100)):
        scores = rng.integers(0, 9, (height, width)).astype(np.float32)
        low = rng.integers(0, 6, (height, 1)).astype(np.float32)
        high = low + rng.integers(0, 3, (height, 1)).astype(np.float32)
        bits = np.ones((2, height + 1, -(-width // 8) * 8 + 8), dtype=bool)
        certain, row, column = factors.compared(scores, low, high, bits)
        above = [
            sum(score > threshold for score in line)
            for line, threshold in zip(scores, high, strict=True)
        ]
        between = [
            (line, place)
            for line, place in np.ndindex(height, width)
            if low[line] <= scores[line, place] <= high[line]
        ]
        assert certain.tolist() == above
        assert list(zip(row.tolist(), column.tolist(), strict=True)) == between
