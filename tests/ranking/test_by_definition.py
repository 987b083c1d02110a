"""Ranks are those of the definition: by scores and factors in any form and of any library.

Scores are whole numbers, or sums of them, so many tie and none is rounded. Some users have several
held-out items, some none, some have no training item, and some candidates score -∞. Near ties of
factors are against scores that are added in order. tests/study/recommenders/test_ranks_of_models.py
has the models of the study.
"""

import numpy as np
import pandas as pd
import pytest
from cases_by_definition import DRAWN, Case, require_definition, small_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import added_in_order, by_argsort, rows
from scipy.sparse import csr_array, csr_matrix

import sampled_metrics as sm


def _strict(array):
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(array, device=strict.Device("device1"))


LIBRARIES = {
    "numpy": np.asarray,
    "array-api-strict, on a device": _strict,
}
"""tests/adapters/test_arrays.py has torch and JAX, where they are installed."""

FORMS = {
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

NUMPY_ALONE = {
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

ALL = {
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
):
    case = Case(seed, users, items)
    scores, plain = ALL[name](case)
    options = {"user_ids": 100 + np.arange(users)}
    if not isinstance(scores, tuple):
        options["batch_size"] = size

    def ranked(users=None):
        return sm.rank(scores, case.training, case.held_out, users=users, **options)

    with small_blocks(size, together):
        require_definition(ranked, case, plain, data, kind)


@pytest.mark.parametrize("d", [1, 3, 40])
def test_a_last_digit_of_factors_decides(d):
    rng = np.random.default_rng(d)
    items = rng.normal(size=(1, d)) * (1 + np.finfo(float).eps * rng.integers(-2, 3, (60, d)))
    users = rng.normal(size=(20, d))
    training = rng.random((20, 60)) < 0.2
    held_out = rng.integers(0, 60, 20)
    training[np.arange(20), held_out] = False
    table = sm.rank((users, items), training, held_out)
    assert rows(table) == by_argsort(added_in_order(users, items), training, held_out)


@pytest.mark.parametrize(
    ("users", "items"), [(1e-200, 1e-100), (1e-200, 1e140), (1.0, 1.0), (1e150, 1e140)]
)
def test_factors_of_any_size_on_a_device_have_the_ranks_of_numpy(users, items):
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
