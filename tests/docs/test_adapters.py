"""The adapters of docs/adapters.md on made-up events, against the order in which each library itself lists the items.

A library breaks ties as it likes; so the held-out item's position in its list must be one of above + 1 …
above + tied + 1.
Only implicit is a dependency of this project; the others' tests run where they are installed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from docs_blocks import blocks
from scipy.sparse import csr_matrix

from sampled_metrics.ranks.table import RankTable

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' own

USERS, ITEMS = 40, 25


def adapter(name: str) -> Callable[..., RankTable]:
    """A function of the page, by its name."""
    namespace: dict[str, Any] = {}
    for block in blocks("adapters.md", "python"):
        exec(block, namespace)
    return namespace[name]


@pytest.fixture(scope="module")
def events() -> pd.DataFrame:
    """Users u0 … u39 with 5 to 11 of the items i0 … i24 each, later items more popular; time counts a user's events."""
    rng = np.random.default_rng(0)
    popularity = np.arange(1, ITEMS + 1) / np.arange(1, ITEMS + 1).sum()
    rows = [
        (f"u{user}", f"i{item}", time)
        for user in range(USERS)
        for time, item in enumerate(rng.choice(ITEMS, size=rng.integers(5, 12), replace=False, p=popularity))
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "time"])


@pytest.fixture(scope="module")
def split(events: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training events, and each user's last event where its item is known from training."""
    last = events["time"] == events.groupby("user_id")["time"].transform("max")
    training, test = events[~last], events[last]
    return training, test[test["item_id"].isin(training["item_id"])]


def has_candidates(table: RankTable, training: pd.DataFrame) -> None:
    """Each user's candidates are the items of training that the user does not have there."""
    had = training.groupby("user_id").size()
    expected = training["item_id"].nunique() - had[table.user].to_numpy()
    np.testing.assert_array_equal(table.candidates, expected)


def agrees(table: RankTable, positions: np.ndarray) -> None:
    """Positions, (users,) from 1, of the held-out items in the library's own lists; NaN where not listed."""
    listed = ~np.isnan(positions)
    assert listed.mean() > 0.4
    above, tied, positions = table.above[listed], table.tied[listed], positions[listed]
    assert (positions > above).all()
    assert (positions <= above + tied + 1).all()


@pytest.fixture(scope="module")
def matrix(split: tuple[pd.DataFrame, pd.DataFrame]) -> tuple[csr_matrix, np.ndarray]:
    """Training events of the users who have a held-out item, (users, items), and that item."""
    training, test = split
    items = np.unique(training["item_id"])
    training = training[training["user_id"].isin(test["user_id"])]
    users, row = np.unique(training["user_id"], return_inverse=True)
    pairs = (np.ones(len(row), dtype=np.float32), (row, np.searchsorted(items, training["item_id"])))
    held_out = np.searchsorted(items, test.set_index("user_id").loc[users, "item_id"])
    return csr_matrix(pairs, shape=(len(users), len(items))), held_out


@pytest.mark.parametrize(
    ("module", "name", "options", "function"),
    [
        ("als", "AlternatingLeastSquares", {"factors": 4, "random_state": 0}, "ranks_of_implicit_factors"),
        ("bpr", "BayesianPersonalizedRanking", {"factors": 4, "random_state": 0}, "ranks_of_implicit_factors"),
        ("lmf", "LogisticMatrixFactorization", {"factors": 4, "random_state": 0}, "ranks_of_implicit_factors"),
        ("nearest_neighbours", "CosineRecommender", {"K": 4}, "ranks_of_implicit_neighbours"),
        ("nearest_neighbours", "BM25Recommender", {"K": 20}, "ranks_of_implicit_neighbours"),
    ],
)
def test_implicit(matrix, module: str, name: str, options: dict[str, Any], function: str) -> None:
    implicit = pytest.importorskip(f"implicit.{module}")
    training, held_out = matrix
    model = getattr(implicit, name)(**options, num_threads=1)
    model.fit(training, show_progress=False)
    table = adapter(function)(model, training, held_out)
    positions = np.full(len(held_out), np.nan)
    for user, item in enumerate(held_out):
        listed, _ = model.recommend(user, training[user], N=training.shape[1])
        if item in listed:
            positions[user] = 1 + list(listed).index(item)
    agrees(table, positions)
    np.testing.assert_array_equal(table.candidates, training.shape[1] - np.diff(training.indptr))


@pytest.mark.parametrize("name", ["BPR", "EASE", "MultiVAE"])
def test_recbole(events: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pytest.importorskip("recbole", reason="RecBole is not installed")
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed
    from recbole.utils.case_study import full_sort_topk

    monkeypatch.chdir(tmp_path)  # it writes logs where it runs
    monkeypatch.setattr("sys.argv", ["recbole"])
    (tmp_path / "made-up").mkdir()
    columns = {"user_id": "user_id:token", "item_id": "item_id:token", "time": "timestamp:float"}
    events.rename(columns=columns).to_csv(tmp_path / "made-up/made-up.inter", sep="\t", index=False)
    settings = {
        "data_path": str(tmp_path),
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "eval_args": {"split": {"LS": "valid_and_test"}, "group_by": "user", "order": "TO", "mode": "full"},
        "epochs": 3,
        "embedding_size": 8,
        "metrics": ["Recall"],
        "topk": [5, 20],
        "valid_metric": "Recall@5",
        "state": "ERROR",
        "use_gpu": False,
    }
    if name == "MultiVAE":
        settings["train_neg_sample_args"] = None
    config = Config(model=name, dataset="made-up", config_dict=settings)
    init_seed(1, True)
    dataset = create_dataset(config)
    training, validation, test = data_preparation(config, dataset)
    model = get_model(name)(config, training.dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], name)(config, model)
    trainer.fit(training, validation, saved=False, show_progress=False)

    table = adapter("ranks_of_recbole")(model, test)
    users = test.uid_list.numpy()
    assert table.user.tolist() == [f"u{user}" for user in range(USERS)]
    np.testing.assert_array_equal(table.candidates, ITEMS - events.groupby("user_id").size()[table.user] + 1)
    held_out = np.array([each.item() for each in test.uid2positive_item[users]])
    _, listed = full_sort_topk(users, model, test, ITEMS)
    agrees(table, 1.0 + (listed.numpy() == held_out[:, np.newaxis]).argmax(axis=1))
    theirs = trainer.evaluate(test, load_best_model=False, show_progress=False)
    assert theirs["recall@5"] == pytest.approx((table.above < 5).mean(), abs=5e-5)  # it rounds; nothing ties


@pytest.mark.parametrize("name", ["EASE", "cosine", "popularity", "iALS"])
def test_rectools(split: tuple[pd.DataFrame, pd.DataFrame], name: str) -> None:
    pytest.importorskip("rectools", reason="RecTools is not installed")
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import CosineRecommender
    from rectools import models
    from rectools.dataset import Dataset

    training, test = split
    dataset = Dataset.construct(training.assign(weight=1, datetime=pd.Timestamp("2020-01-01")))
    model = {
        "EASE": lambda: models.EASEModel(10),
        "cosine": lambda: models.ImplicitItemKNNWrapperModel(CosineRecommender(K=3)),
        "popularity": lambda: models.PopularModel(),
        "iALS": lambda: models.ImplicitALSWrapperModel(AlternatingLeastSquares(4, num_threads=1, random_state=0)),
    }[name]()
    model.fit(dataset)

    table = adapter("ranks_of_rectools")(model, dataset, test)
    assert table.user.tolist() == test["user_id"].tolist()
    has_candidates(table, training)
    listed = model.recommend(test["user_id"], dataset, k=ITEMS, filter_viewed=True)
    positions = test.merge(listed, on=["user_id", "item_id"], how="left")["rank"].to_numpy(dtype=float)
    agrees(table, positions)
    lengths = listed.groupby("user_id").size().reindex(test["user_id"], fill_value=0).to_numpy()
    missing = np.isnan(positions)  # tied with all that are missing, below all that are listed
    np.testing.assert_array_equal(table.above[missing], lengths[missing])
    np.testing.assert_array_equal((table.above + table.tied + 1)[missing], table.candidates[missing])


@pytest.mark.parametrize("name", ["MostPop", "BPR", "ItemKNN", "MF"])
def test_cornac(split: tuple[pd.DataFrame, pd.DataFrame], name: str) -> None:
    cornac = pytest.importorskip("cornac", reason="Cornac is not installed")
    from cornac.eval_methods import BaseMethod, ranking_eval

    training, test = split
    data = [[(row.user_id, row.item_id, 1.0) for row in part.itertuples()] for part in (training, test)]
    method = BaseMethod.from_splits(*data, exclude_unknowns=True, verbose=False)
    options = {"BPR": {"k": 4, "seed": 1}, "ItemKNN": {"k": 3, "verbose": False}, "MF": {"k": 4, "seed": 1}}
    model = getattr(cornac.models, name)(**options.get(name, {}))
    model.fit(method.train_set)

    table = adapter("ranks_of_cornac")(model, method.train_set, method.test_set)
    assert sorted(table.user) == sorted(test["user_id"])
    has_candidates(table, training)
    of_user = training.groupby("user_id")["item_id"].apply(set)
    held_out = test.set_index("user_id")["item_id"]
    positions = []
    for user in table.user:
        index, names = method.train_set.uid_map[user], method.train_set.item_ids
        listed = [names[item] for item in model.rank(index)[0] if names[item] not in of_user[user]]
        positions.append(1.0 + listed.index(held_out[user]))
    agrees(table, np.array(positions))
    (theirs,), _ = ranking_eval(model, [cornac.metrics.AUC()], method.train_set, method.test_set)
    losses = (table.above + table.tied) / (table.candidates - 1)  # Cornac counts a tie as a loss
    assert theirs == pytest.approx((1 - losses).mean())
