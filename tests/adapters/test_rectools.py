"""RecTools: against the order in which it recommends, and its own metrics."""

import numpy as np
import pandas as pd
import pytest
from expected_ranks import ITEMS, agrees, has_candidates

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("rectools", reason="RecTools is not installed")


def fitted(training, name):
    """Return a fitted model of RecTools and its dataset."""
    from implicit.nearest_neighbours import CosineRecommender
    from rectools import models
    from rectools.dataset import Dataset

    dataset = Dataset.construct(training.assign(weight=1, datetime=pd.Timestamp("2020-01-01")))
    model = {
        "EASE": lambda: models.EASEModel(10),
        "cosine": lambda: models.ImplicitItemKNNWrapperModel(CosineRecommender(K=3)),
        "popularity": lambda: models.PopularModel(),
    }[name]()
    return model.fit(dataset), dataset


@pytest.mark.parametrize("name", ["EASE", "cosine", "popularity"])
def test_ranks(split, name):
    from rectools.metrics import MRR, Recall, calc_metrics

    training, test = split
    model, dataset = fitted(training, name)
    table = adapters.rectools.ranks(model, dataset, test)
    assert table.user.tolist() == test["user_id"].tolist()
    has_candidates(table, training)
    listed = model.recommend(test["user_id"], dataset, k=ITEMS, filter_viewed=True)
    positions = test.merge(listed, on=["user_id", "item_id"], how="left")["rank"].to_numpy(
        dtype=float
    )
    agrees(table, positions)
    lengths = listed.groupby("user_id").size().reindex(test["user_id"], fill_value=0).to_numpy()
    missing = np.isnan(positions)  # tied with all that are missing, below all that are listed
    np.testing.assert_array_equal(table.above[missing], lengths[missing])
    np.testing.assert_array_equal(
        (table.above + table.tied + 1)[missing], table.candidates[missing]
    )

    assert table.tied.any() == (name in ("cosine", "popularity"))
    if not table.tied.any():
        metrics = {"recall@5": Recall(k=5), "mrr@5": MRR(k=5)}
        theirs = calc_metrics(metrics, reco=listed, interactions=test)
        ours = sm.evaluate(table, metrics=["recall@5", "mrr@5"])["value"]
        np.testing.assert_allclose(ours, [theirs["recall@5"], theirs["mrr@5"]], rtol=1e-12)


@pytest.mark.parametrize("name", ["EASE", "cosine"])
def test_sampled_ranks(split, name):
    """With all candidates as negatives, the ranks are exact."""
    training, test = split
    model, dataset = fitted(training, name)
    exact = adapters.rectools.ranks(model, dataset, test)
    had = training.groupby("user_id")["item_id"].apply(set)
    rest = [
        (row.user_id, item)
        for row in test.itertuples()
        for item in sorted(set(training["item_id"]) - had[row.user_id] - {row.item_id})
    ]
    negatives = pd.DataFrame(rest, columns=["user_id", "item_id"])
    frame = adapters.rectools.sampled_ranks(model, dataset, test, negatives).to_frame()
    table = frame.set_index("user").loc[exact.user]
    np.testing.assert_array_equal(table["candidates"], exact.candidates)
    np.testing.assert_array_equal(table["negatives"], exact.candidates - 1)
    agrees(exact, table["rank"].to_numpy(dtype=float))
