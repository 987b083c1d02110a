"""implicit: against the order in which it lists the items, and its own evaluation."""

from typing import Any

import numpy as np
import pytest
from made_up_events import agrees, matrix

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("implicit", reason="implicit is not installed")


@pytest.mark.parametrize(
    ("module", "name", "options"),
    [
        ("als", "AlternatingLeastSquares", {"factors": 4, "random_state": 0}),
        ("bpr", "BayesianPersonalizedRanking", {"factors": 4, "random_state": 0}),
        ("lmf", "LogisticMatrixFactorization", {"factors": 4, "random_state": 0}),
        ("nearest_neighbours", "CosineRecommender", {"K": 4}),
        ("nearest_neighbours", "BM25Recommender", {"K": 20}),
    ],
)
def test_ranks(split, module: str, name: str, options: dict[str, Any]) -> None:
    from scipy.sparse import csr_matrix

    training, held_out = matrix(*split)
    model = getattr(pytest.importorskip(f"implicit.{module}"), name)(**options, num_threads=1)
    model.fit(training, show_progress=False)
    table = adapters.implicit.ranks(model, training, held_out)
    users, items = training.shape
    positions = np.full(users, np.nan)
    for user, item in enumerate(held_out):
        listed, _ = model.recommend(user, training[user], N=items)
        if item in listed:
            positions[user] = 1 + list(listed).index(item)
    agrees(table, positions)
    np.testing.assert_array_equal(table.candidates, items - np.diff(training.indptr))

    from implicit.evaluation import ranking_metrics_at_k

    test = csr_matrix((np.ones(users), (np.arange(users), held_out)), shape=training.shape)
    theirs = ranking_metrics_at_k(model, training, test, K=5, show_progress=False, num_threads=1)
    ours = sm.evaluate(table, metrics=["recall@5", "ap@5", "ndcg@5"])["value"]
    if not table.tied.any():  # its precision divides by min(K, relevant items), so with one item it is recall
        np.testing.assert_allclose(ours, [theirs["precision"], theirs["map"], theirs["ndcg"]], rtol=1e-12)
    else:
        assert module == "nearest_neighbours"


def test_user_ids(split) -> None:
    from implicit.als import AlternatingLeastSquares

    training, held_out = matrix(*split)
    model = AlternatingLeastSquares(factors=2, random_state=0, num_threads=1)
    model.fit(training, show_progress=False)
    users = np.sort(split[1]["user_id"].to_numpy())
    assert adapters.implicit.ranks(model, training, held_out, user_ids=users).user.tolist() == users.tolist()


def test_a_model_that_is_not_fitted_is_refused():
    from implicit.als import AlternatingLeastSquares

    with pytest.raises(sm.DataError, match="the model of implicit is not fitted"):
        adapters.implicit.ranks(AlternatingLeastSquares(), np.zeros((2, 5)), [1, 2])
