"""RecBole: against the order in which it lists the items, and its own evaluation, full and sampled."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up_events import ITEMS, USERS, agrees

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("recbole", reason="RecBole is not installed")

MODELS: dict[str, dict[str, Any]] = {
    "BPR": {},
    "EASE": {},
    "MultiVAE": {"train_neg_sample_args": None},
    "Pop": {},
    "SASRec": {
        "train_neg_sample_args": None,
        "hidden_size": 8,
        "inner_size": 8,
        "n_heads": 1,
        "MAX_ITEM_LIST_LENGTH": 10,
    },
}


@pytest.fixture
def trained(events: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function from the name of a model and a mode of evaluation to (model, test data, trainer)."""
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    monkeypatch.chdir(tmp_path)  # it writes logs where it runs
    monkeypatch.setattr("sys.argv", ["recbole"])
    (tmp_path / "made-up").mkdir()
    columns = {"user_id": "user_id:token", "item_id": "item_id:token", "time": "timestamp:float"}
    events.rename(columns=columns).to_csv(tmp_path / "made-up/made-up.inter", sep="\t", index=False)

    def train(name: str, mode: str, split: dict[str, Any] | None = None):
        split = split or {"LS": "valid_and_test"}
        settings = {
            "data_path": str(tmp_path),
            "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
            "eval_args": {"split": split, "group_by": "user", "order": "TO", "mode": mode},
            "epochs": 3,
            "embedding_size": 8,
            "metrics": ["Recall", "MRR"],
            "topk": [5, 20],
            "valid_metric": "Recall@5",
            "metric_decimal_place": 12,
            "state": "ERROR",
            "use_gpu": False,
        }
        config = Config(model=name, dataset="made-up", config_dict=settings | MODELS[name])
        init_seed(1, True)
        training, validation, test = data_preparation(config, create_dataset(config))
        model = get_model(config["model"])(config, training.dataset).to(config["device"])
        trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
        trainer.fit(training, validation, saved=False, show_progress=False)
        return model, test, trainer

    return train


def candidates(events: pd.DataFrame, users: np.ndarray) -> np.ndarray:
    """All items but the user's events, and the held-out item."""
    return ITEMS - events.groupby("user_id").size()[users].to_numpy() + 1


@pytest.mark.parametrize("name", MODELS)
def test_ranks(events: pd.DataFrame, trained, name: str) -> None:
    from recbole.utils.case_study import full_sort_topk

    model, test, trainer = trained(name, "full")
    table = adapters.recbole.ranks(model, test)
    dataset = test.dataset
    assert sorted(table.user) == sorted(f"u{user}" for user in range(USERS))
    expected = np.full(USERS, ITEMS) if name == "SASRec" else candidates(events, table.user)
    np.testing.assert_array_equal(table.candidates, expected)
    users = dataset.token2id("user_id", table.user)
    last = events.sort_values("time").groupby("user_id")["item_id"].last()
    held_out = dataset.token2id("item_id", last[table.user].to_numpy())
    _, listed = full_sort_topk(users, model, test, ITEMS)
    agrees(table, 1.0 + (listed.numpy() == held_out[:, np.newaxis]).argmax(axis=1))
    assert table.tied.any() == (name == "Pop")
    if not table.tied.any():
        theirs = trainer.evaluate(test, load_best_model=False, show_progress=False)
        ours = sm.evaluate(table, metrics=["recall@5", "mrr@20"])["value"]
        np.testing.assert_allclose(ours, [theirs["recall@5"], theirs["mrr@20"]], rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_sampled_ranks(events: pd.DataFrame, trained, name: str) -> None:
    """With the same draws as RecBole's own evaluation: its sampler uses numpy's global random numbers."""
    model, test, trainer = trained(name, "uni10")
    np.random.seed(3)  # noqa: NPY002
    theirs = trainer.evaluate(test, load_best_model=False, show_progress=False)
    np.random.seed(3)  # noqa: NPY002
    ranks = adapters.recbole.sampled_ranks(model, test)
    table = ranks.to_frame()
    assert sorted(table["user"]) == sorted(f"u{user}" for user in range(USERS))
    expected = np.full(USERS, ITEMS) if name == "SASRec" else candidates(events, table["user"].to_numpy())
    np.testing.assert_array_equal(table["candidates"], expected)
    assert sm.correct(ranks, metrics="recall@5", estimators="uncorrected")["value"].between(0, 1).all()
    if name == "Pop":
        several = []
        for seed in range(2):  # of the order of ties, with the same draws
            np.random.seed(3)  # noqa: NPY002
            several.append(adapters.recbole.sampled_ranks(model, test, seed=seed).x)
        np.testing.assert_array_equal(several[0] + 1, table["rank"])
        assert (several[0] != several[1]).any()
    else:
        ours = [(table["rank"] <= 5).mean(), np.where(table["rank"] <= 20, 1 / table["rank"], 0).mean()]
        np.testing.assert_allclose(ours, [theirs["recall@5"], theirs["mrr@20"]], rtol=1e-6)


def test_it_draws_with_replacement_and_ranks_each_item_once(trained) -> None:
    """Of 10 draws from n - 1 items, a share (1 - (1 - 1/(n-1))^10) of the items is there, on average over the seeds."""
    model, test, _ = trained("BPR", "uni10")
    np.random.seed(4)  # noqa: NPY002
    tables = [adapters.recbole.sampled_ranks(model, test).to_frame() for _ in range(100)]
    negatives = np.mean([table["negatives"] for table in tables], axis=0)
    pool = tables[0]["candidates"] - 1
    expected = pool * (1 - (1 - 1 / pool) ** 10)
    assert np.abs(negatives - expected).max() < 0.5  # five standard errors; without replacement it would be 10
    assert negatives.max() < 9.5
    assert (tables[0]["rank"] <= tables[0]["negatives"] + 1).all()


def test_popularity_ties_are_broken_fairly(trained) -> None:
    """On average over samples, the metric is that of the exact ranks with ties, sampled without a correction."""
    model, test, _ = trained("Pop", "uni10")
    np.random.seed(5)  # noqa: NPY002
    tables = [adapters.recbole.sampled_ranks(model, test, seed=seed).to_frame() for seed in range(300)]
    exact = adapters.recbole.ranks(*trained("Pop", "full")[:2])
    assert (exact.tied > 0).mean() > 0.3
    # AUC is unbiased: the probability that the held-out item is above a random negative, ties counting half
    wins = 1 - (exact.above + exact.tied / 2) / (exact.candidates - 1)
    found = [(1 - (table["rank"] - 1) / table["negatives"]).mean() for table in tables]
    assert np.mean(found) == pytest.approx(wins.mean(), abs=5 * np.std(found) / np.sqrt(300))


def test_the_wrong_mode_is_refused(trained) -> None:
    full, sampled = trained("BPR", "full")[:2], trained("BPR", "uni10")[:2]
    with pytest.raises(sm.DataError, match="is not of mode full"):
        adapters.recbole.ranks(*sampled)
    with pytest.raises(sm.DataError, match="needs a mode such as uni100"):
        adapters.recbole.sampled_ranks(*full)
    with pytest.raises(sm.DataError, match="not 'popularity'"):
        adapters.recbole.sampled_ranks(*trained("BPR", "pop10")[:2])
    with pytest.raises(sm.DataError, match="several test items"):
        adapters.recbole.ranks(*trained("BPR", "full", {"RS": [0.6, 0.1, 0.3]})[:2])
