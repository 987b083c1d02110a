"""LensKit: against the order in which it recommends, and its own metrics."""

import numpy as np
import pandas as pd
import pytest
from expected_ranks import ITEMS, agrees, has_candidates

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("lenskit", reason="LensKit is not installed")


@pytest.mark.parametrize("name", ["popularity", "ItemKNN", "iALS"])
def test_ranks(split, name):
    from lenskit import topn_pipeline
    from lenskit.als import ImplicitMFScorer
    from lenskit.basic import PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.metrics import Recall, RecipRank, RunAnalysis

    training, test = split
    data = from_interactions_df(training)
    scorer = {
        "popularity": lambda: PopScorer(score="count"),
        "ItemKNN": lambda: ItemKNNScorer(max_nbrs=3, feedback="implicit"),
        "iALS": lambda: ImplicitMFScorer(embedding_size=4),
    }[name]()
    pipeline = topn_pipeline(scorer)
    pipeline.train(data)
    held_out = ItemListCollection.from_df(test[["user_id", "item_id"]], ["user_id"])

    table = adapters.lenskit.ranks(pipeline, data, held_out)
    assert sorted(table.user) == sorted(test["user_id"])
    has_candidates(table, training)
    lists = recommend(pipeline, table.user.tolist(), n=ITEMS, n_jobs=1)
    item = test.set_index("user_id")["item_id"]
    positions = np.full(len(table), np.nan)
    for row, user in enumerate(table.user):
        listed = list(lists.lookup(user_id=user).ids())
        if item[user] in listed:
            positions[row] = 1 + listed.index(item[user])
    agrees(table, positions)

    if not table.tied.any():
        analysis = RunAnalysis()
        for metric in (Recall(5), RecipRank(5)):
            analysis.add_metric(metric)
        theirs = analysis.measure(lists, held_out).list_summary()["mean"]
        ours = sm.evaluate(table, metrics=["recall@5", "mrr@5"])["value"]
        np.testing.assert_allclose(ours, theirs[["Recall@5", "RecipRank@5"]], rtol=1e-6)
    assert table.tied.any() == (name != "iALS")


def test_bad_test_items(split):
    from lenskit import topn_pipeline
    from lenskit.basic import PopScorer
    from lenskit.data import ItemListCollection, from_interactions_df

    data = from_interactions_df(split[0])
    pipeline = topn_pipeline(PopScorer())
    pipeline.train(data)
    for rows, message in (
        ([("u1", "i1"), ("u1", "i2")], "a user has no item, or several"),
        ([("nobody", "i1")], "a user that is not in training, of user 'nobody'"),
        ([("u1", "nothing")], "an item that is not in training, of user 'u1'"),
    ):
        test = ItemListCollection.from_df(
            pd.DataFrame(rows, columns=["user_id", "item_id"]), ["user_id"]
        )
        with pytest.raises(sm.DataError, match=message):
            adapters.lenskit.ranks(pipeline, data, test)
