"""RecBole: against the order in which it lists the items, and its own evaluations."""

import functools

import numpy as np
import pandas as pd
import pytest
from expected_ranks import ITEMS, USERS, agrees

import sampled_metrics as sm
from sampled_metrics import adapters

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("recbole", reason="RecBole is not installed")

IN_TRAINING = ("BPR", "LightGCN", "NeuMF", "SASRec", "MultiVAE")
"""Models that are validated by exact metrics while they are trained."""

WITHOUT_SAMPLES = {"train_neg_sample_args": None}
SMALL = {"hidden_size": 8, "inner_size": 8, "n_heads": 1, "MAX_ITEM_LIST_LENGTH": 10}
MODELS = {
    "BPR": {},
    "MultiVAE": WITHOUT_SAMPLES,
    "Pop": {},
    "SASRec": SMALL | WITHOUT_SAMPLES,
}


@pytest.fixture
def trainer_of(events, tmp_path, monkeypatch):
    """A function from a model, a mode of evaluation and more settings.

    It returns the trainer, and the training, validation and test data.
    """
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    monkeypatch.chdir(tmp_path)  # it writes logs where it runs
    monkeypatch.setattr("sys.argv", ["recbole"])
    (tmp_path / "made-up").mkdir()
    columns = {"user_id": "user_id:token", "item_id": "item_id:token", "time": "timestamp:float"}
    events.rename(columns=columns).to_csv(tmp_path / "made-up/made-up.inter", sep="\t", index=False)

    def prepare(name, mode, split=None, **more):
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
        config = Config(
            model=name, dataset="made-up", config_dict=settings | MODELS.get(name, {}) | more
        )
        init_seed(1, True)
        training, validation, test = data_preparation(config, create_dataset(config))
        model = get_model(config["model"])(config, training.dataset).to(config["device"])
        trainers.append(get_trainer(config["MODEL_TYPE"], config["model"])(config, model))
        return trainers[-1], training, validation, test

    trainers = []
    yield prepare
    for trainer in trainers:
        trainer.tensorboard.close()  # its thread writes to a folder that pytest removes


@pytest.fixture
def trained(trainer_of):
    """A function from a model and a mode of evaluation to (model, test data, trainer)."""

    def train(*arguments):
        trainer, training, validation, test = trainer_of(*arguments)
        trainer.fit(training, validation, saved=False, show_progress=False)
        return trainer.model, test, trainer

    return train


def has_candidates(events, name, table):
    """All items but the user's other events are candidates; of a sequential model, all items."""
    assert sorted(table["user"]) == sorted(f"u{user}" for user in range(USERS))
    others = events.groupby("user_id").size()[table["user"]].to_numpy() - 1
    np.testing.assert_array_equal(table["candidates"], ITEMS - (others if name != "SASRec" else 0))


@pytest.mark.parametrize("name", MODELS)
def test_ranks(events, trained, name):
    from recbole.utils.case_study import full_sort_topk

    model, test, trainer = trained(name, "full")
    table = adapters.recbole.ranks(model, test)
    has_candidates(events, name, table.to_frame())
    last = events.sort_values("time").groupby("user_id")["item_id"].last()
    held_out = test.dataset.token2id("item_id", last[table.user].to_numpy())
    _, listed = full_sort_topk(test.dataset.token2id("user_id", table.user), model, test, ITEMS)
    agrees(table, 1.0 + (listed.numpy() == held_out[:, np.newaxis]).argmax(axis=1))
    assert table.tied.any() == (name == "Pop")
    if not table.tied.any():
        theirs = trainer.evaluate(test, load_best_model=False, show_progress=False)
        ours = sm.evaluate(table, metrics=["recall@5", "mrr@20"])["value"]
        np.testing.assert_allclose(ours, [theirs["recall@5"], theirs["mrr@20"]], rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_sampled_ranks(events, trained, name):
    """With the same draws as RecBole's own evaluation.

    Its sampler uses numpy's global random numbers.
    """
    model, test, trainer = trained(name, "uni10")
    np.random.seed(3)  # noqa: NPY002
    theirs = trainer.evaluate(test, load_best_model=False, show_progress=False)
    np.random.seed(3)  # noqa: NPY002
    table = adapters.recbole.sampled_ranks(model, test).to_frame()
    has_candidates(events, name, table)
    if name == "Pop":
        several = []
        for seed in range(2):  # of the order of ties, with the same draws
            np.random.seed(3)  # noqa: NPY002
            several.append(adapters.recbole.sampled_ranks(model, test, seed=seed).x)
        np.testing.assert_array_equal(several[0] + 1, table["rank"])
        assert (several[0] != several[1]).any()
    else:
        ours = [
            (table["rank"] <= 5).mean(),
            np.where(table["rank"] <= 20, 1 / table["rank"], 0).mean(),
        ]
        np.testing.assert_allclose(ours, [theirs["recall@5"], theirs["mrr@20"]], rtol=1e-6)


def test_it_draws_with_replacement_and_ranks_each_item_once(trained):
    """Of 10 draws from n - 1 items, a share (1 - (1 - 1/(n-1))^10) of the items is there.

    It is so on average over the seeds.
    """
    model, test, _ = trained("BPR", "uni10")
    np.random.seed(4)  # noqa: NPY002
    tables = [adapters.recbole.sampled_ranks(model, test).to_frame() for _ in range(50)]
    negatives = np.mean([table["negatives"] for table in tables], axis=0)
    pool = tables[0]["candidates"] - 1
    expected = pool * (1 - (1 - 1 / pool) ** 10)
    # five standard errors; without replacement it would be 10
    assert np.abs(negatives - expected).max() < 0.7
    assert negatives.max() < 9.5
    assert (tables[0]["rank"] <= tables[0]["negatives"] + 1).all()


@pytest.mark.parametrize(
    ("arguments", "ranks", "message"),
    [
        (("BPR", "uni10"), adapters.recbole.ranks, "mode full"),
        (("BPR", "pop10"), adapters.recbole.sampled_ranks, "popularity"),
        (
            ("BPR", "full", {"RS": [0.6, 0.1, 0.3]}),
            adapters.recbole.ranks,
            "several held-out items",
        ),
    ],
)
def test_the_wrong_mode_is_refused(trainer_of, arguments, ranks, message):
    trainer, *_, test = trainer_of(*arguments)
    with pytest.raises(sm.DataError, match=message):
        ranks(trainer.model, test)


@pytest.mark.parametrize("name", IN_TRAINING)
def test_exact_validation(trainer_of, monkeypatch, name):
    """The numbers of RecBole's full mode after each epoch, the same best epoch and test result."""
    import torch
    from scipy.sparse import dok_matrix

    # RecBole 1.2.1 cannot read its own checkpoints by torch 2.6 and later,
    # and its LightGCN uses a method of SciPy that is gone since 1.13
    monkeypatch.setattr(
        dok_matrix, "_update", lambda matrix, pairs: matrix._dict.update(pairs), raising=False
    )
    monkeypatch.setattr(torch, "load", functools.partial(torch.load, weights_only=False))
    every_metric = {
        "metrics": ["Recall", "MRR", "NDCG", "Hit", "Precision", "MAP", "GAUC"],
        "valid_metric": "NDCG@5",
        "epochs": 6,
    }

    def fit(is_exact):
        trainer, training, validation, test = trainer_of(name, "full", **every_metric)
        if is_exact:
            adapters.recbole.exact_validation(trainer)
        validate = trainer._valid_epoch
        results = []

        def valid_epoch(*data, **options):
            results.append(validate(*data, **options))
            return results[-1]

        trainer._valid_epoch = valid_epoch
        best, _ = trainer.fit(training, validation, show_progress=False)
        values = pd.DataFrame([values for _, values in results])
        return best, values, trainer.evaluate(test, show_progress=False), trainer

    best, values, on_test, trainer = fit(is_exact=True)
    their_best, theirs, their_test, _ = fit(is_exact=False)
    assert len(theirs) == 6
    pd.testing.assert_frame_equal(
        values, theirs, check_like=True, check_dtype=False, rtol=0, atol=1e-6
    )
    assert best == pytest.approx(their_best, abs=1e-6)
    np.testing.assert_allclose([*on_test.values()], [*their_test.values()], atol=1e-6)
    history = trainer.validator.history.query("metric == 'ndcg@5'")
    np.testing.assert_allclose(history["value"], theirs["ndcg@5"], atol=1e-6)


def test_exact_validation_refuses_what_it_cannot_do(trainer_of):
    trainer, *_ = trainer_of("BPR", "full", metrics=["Recall", "ItemCoverage"])
    with pytest.raises(sm.ConfigError, match="itemcoverage"):
        adapters.recbole.exact_validation(trainer)
    for mode, split, message in (
        ("uni10", None, "valid_data: is not of mode full"),
        ("full", {"RS": [0.6, 0.3, 0.1]}, "valid_data: a user has several held-out items"),
    ):
        trainer, training, validation, _ = trainer_of("BPR", mode, split)
        adapters.recbole.exact_validation(trainer)
        with pytest.raises(sm.DataError, match=message):
            trainer.fit(training, validation, saved=False, show_progress=False)
