"""Models of the library implicit score as they do there, and refuse bad options."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.implicit_library import FIXED, ImplicitLibrary
from sampled_metrics.study.config import check_recommender

FACTORS = ("als", "bpr", "lmf")
OPTIONS = {name: {"factors": 6} for name in FACTORS} | {name: {"K": 5} for name in ("cosine", "tfidf", "bm25")}
USERS, ITEMS = 60, 40


@pytest.fixture(scope="module")
def training() -> csr_array:
    """Events of 60 users and 40 items of uneven popularity, so that similarities differ from their transpose."""
    rng = np.random.default_rng(2)
    return csr_array((rng.random((USERS, ITEMS)) < np.linspace(0.05, 0.5, ITEMS)).astype(float))


@pytest.mark.parametrize("model", OPTIONS)
def test_models_score_as_in_implicit(model: str, training: csr_array) -> None:
    """Factor models up to single precision, in which implicit multiplies; biases included.

    What implicit does not list has no neighbour among the user's items, and scores 0.
    """
    ours = ImplicitLibrary(model, OPTIONS[model])
    scores = ours.fit(training, np.random.default_rng(0)).scores(slice(None), training)
    theirs = ours._trained(training, int(np.random.default_rng(0).integers(2**31)))
    events, expected = csr_matrix(training, dtype=np.float32), np.zeros(scores.shape)
    for user in range(USERS):
        items, values = theirs.recommend(user, events[user], N=ITEMS, filter_already_liked_items=False)
        expected[user, items] = values
        assert model not in FACTORS or len(items) == ITEMS
    np.testing.assert_allclose(
        scores, expected, **({"rtol": 1e-4, "atol": 1e-5} if model in FACTORS else {"rtol": 1e-14})
    )


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"model": "svd"}, "recommenders.V.model: may be als, bpr, lmf, cosine, tfidf, bm25, not 'svd'"),
        (
            {"model": "bm25", "options": {"factors": 3}},
            "recommenders.V.options: unknown option 'factors' of impl",
        ),
        *[({"options": {name: 4}}, f"recommenders.V.options: {name} is fixed") for name in FIXED],
        # a segmentation fault in implicit
        (
            {"model": "cosine", "options": {"K": 0}},
            "recommenders.V.options.K: must be a whole number, 1 or more",
        ),
        ({"model": "als", "options": {"factors": 2.5}}, "recommenders.V.options.factors: must be a whole number"),
        ({"model": "als", "options": {"alpha": "x"}}, "recommenders.V.options.alpha: must be a finite number, 0 or"),
        ({"model": "als", "options": {"use_cg": 1}}, "recommenders.V.options.use_cg: must be true or false, not 1"),
        ({"model": "als", "options": 3}, "recommenders.V.options: must be of type object, not 3"),
    ],
)
def test_refuses_in_one_line(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_recommender({"type": "implicit"} | entry, "recommenders.V")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)
