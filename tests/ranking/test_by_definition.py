"""Ranks are those of the definition: by scores and factors in any form and of any library.

Scores are whole numbers, or sums of them, so many tie and none is rounded. Some users have several
held-out items, some none, some have no training item, and some candidates score -∞.
test_device_factors.py has near ties of factors, and
tests/study/recommenders/test_ranks_of_models.py the models of the study.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases_by_definition import DRAWN, Case, require_definition, small_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strict_device import on_device

import sampled_metrics as sm

LIBRARIES = {"numpy": np.asarray, "array-api-strict, on a device": on_device}
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
OF_NUMPY = {
    "factors of two types": lambda case, _: (
        (case.factors[0].astype(np.int16), case.factors[1].astype(np.float32)),
        case.products,
    ),
    "sparse": lambda case, _: (csr_array(case.products), case.products),
    "function that returns lists": lambda case, _: (
        lambda users: case.masked[users].tolist(),
        case.masked,
    ),
}


@pytest.mark.parametrize(
    ("library", "form"), [*product(LIBRARIES, FORMS), *product(["numpy"], OF_NUMPY)]
)
@settings(max_examples=settings().max_examples // 3)  # of each of 15 forms
@given(
    kind=st.sampled_from([list, pd.Series, lambda users: np.array(users, dtype=np.uint8)]), **DRAWN
)
def test_ranks_are_those_of_the_definition(
    library, form, kind, seed, users, items, size, threads, together, data
):
    case = Case(seed, users, items)
    scores, plain = (FORMS | OF_NUMPY)[form](case, LIBRARIES[library])
    options = {"user_ids": 100 + np.arange(users)}
    if not isinstance(scores, tuple):
        options["batch_size"] = size

    def ranked(users=None):
        return sm.rank(scores, case.training, case.held_out, users=users, **options)

    with small_blocks(size, together):
        require_definition(ranked, case, plain, data, kind)


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
    ranks = sm.rank(tuple(map(on_device, factors_of_host)), np.zeros((40, 90)), held_out)
    assert ranks.to_frame().equals(on_host.to_frame())
    assert on_host.tied.sum() > 10
