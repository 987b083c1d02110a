"""implicit: against the order in which it lists the items, and its own evaluation."""

import numpy as np
import pytest
from expected_ranks import agrees
from scipy.sparse import csr_matrix

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("implicit", reason="implicit is not installed")


@pytest.mark.parametrize(
    ("module", "name", "options"),
    [
        ("als", "AlternatingLeastSquares", {"factors": 4, "random_state": 0}),
        ("bpr", "BayesianPersonalizedRanking", {"factors": 4, "random_state": 0}),
        ("nearest_neighbours", "CosineRecommender", {"K": 4}),
    ],
)
def test_ranks(split, module, name, options):
    from implicit.evaluation import ranking_metrics_at_k

    events, test_events = split
    users = np.unique(test_events["user_id"])
    items = np.unique(events["item_id"])
    events = events[events["user_id"].isin(users)]
    row = np.searchsorted(users, events["user_id"])
    column = np.searchsorted(items, events["item_id"])
    shape = (len(users), len(items))
    training = csr_matrix((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape)
    held_out = np.searchsorted(items, test_events.set_index("user_id").loc[users, "item_id"])
    model = getattr(pytest.importorskip(f"implicit.{module}"), name)(**options, num_threads=1)
    model.fit(training, show_progress=False)
    table = adapters.implicit.ranks(model, training, held_out, user_ids=users)
    assert table.user.tolist() == users.tolist()
    positions = np.full(len(users), np.nan)
    for user, item in enumerate(held_out):
        listed, _ = model.recommend(user, training[user], N=len(items))
        if item in listed:
            positions[user] = 1 + list(listed).index(item)
    agrees(table, positions)
    np.testing.assert_array_equal(table.candidates, len(items) - np.diff(training.indptr))

    test = csr_matrix((np.ones(len(users)), (np.arange(len(users)), held_out)), shape=shape)
    theirs = ranking_metrics_at_k(model, training, test, K=5, show_progress=False, num_threads=1)
    ours = sm.evaluate(table, metrics=["recall@5", "ap@5", "ndcg@5"])["value"]
    assert table.tied.any() == (module == "nearest_neighbours")
    # its precision divides by min(K, relevant items), so with one item it is recall
    if not table.tied.any():
        np.testing.assert_allclose(
            ours, [theirs["precision"], theirs["map"], theirs["ndcg"]], rtol=1e-12
        )


def test_a_model_that_is_not_fitted_is_refused():
    from implicit.als import AlternatingLeastSquares

    with pytest.raises(sm.DataError, match="fitted"):
        adapters.implicit.ranks(AlternatingLeastSquares(), np.zeros((2, 5)), [1, 2])
