"""Ranks by the study's models are those of the definition, and near ties those of ordered sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases_by_definition import DRAWN, Case, require_definition, small_blocks
from hypothesis import given, settings
from ranked_by_argsort import by_argsort, rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.errors import DataError
from sampled_metrics_study.recommenders import ranking
from sampled_metrics_study.recommenders.models import (
    FactorModel,
    RandomModel,
    ScoreModel,
    SimilarityModel,
    SparseSimilarityModel,
)
from sampled_metrics_study.recommenders.ranking import rank_by_model

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


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=settings().max_examples // 3)
@given(**DRAWN)
def test_ranks_are_those_of_the_definition(name, seed, users, items, size, threads, together, data):
    case = Case(seed, users, items)
    model, plain = MODELS[name](case)
    split = split_of(case.training, case.held_out)

    def ranked(users=slice(None)):
        return rank_by_model(model, split, users, threads=threads)

    with small_blocks(size, together) as patched:
        patched.setattr(ranking, "BLOCK_BYTES", 8 * items * size)
        require_definition(ranked, case, plain, data, np.sort)


def added_in_order(users, items):
    """The scores, term by term in the order of the factors."""
    scores = np.zeros((len(users), len(items)), dtype=users.dtype)
    for factor in range(users.shape[1]):
        scores += users[:, [factor]] * items[:, factor]
    return scores


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_last_digit_decides(precision):
    for d in (1, 3, 40):
        rng = np.random.default_rng(d)
        digit = np.finfo(precision).eps
        users = rng.normal(size=(20, d))
        items = rng.normal(size=(1, d)) * (1 + digit * rng.integers(-2, 3, (60, d)))
        training = rng.random((20, 60)) < 0.2
        held_out = rng.integers(0, 60, 20)
        training[np.arange(20), held_out] = False
        split = split_of(training, held_out)
        table = rank_by_model(FactorModel(users, items), split, precision=precision)
        scores = added_in_order(users.astype(precision), items.astype(precision))
        assert rows(table) == by_argsort(scores, training, held_out)


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
    with pytest.raises(DataError, match=precision):
        rank_by_model(model, split_of(np.zeros((5, 6)), np.arange(5)), precision=precision)
