"""WarpRec: against its own full evaluation."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up_events import has_candidates, of_page

import sampled_metrics as sm

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("warprec", reason="WarpRec is not installed; it needs Python 3.12")
warprec_ranks = of_page("warprec_ranks")

MODELS: dict[str, dict[str, Any]] = {
    "EASE": {"l2": 1.0},
    "ItemKNN": {"k": 10, "similarity": "cosine"},
    "Pop": {},
    "SASRec": {
        "embedding_size": 8, "n_layers": 1, "n_heads": 1, "inner_size": 8, "dropout_prob": 0.1,
        "attn_dropout_prob": 0.1, "reg_weight": 0.0, "weight_decay": 0.0, "batch_size": 16, "epochs": 1,
        "learning_rate": 0.01, "neg_samples": 1, "max_seq_len": 5,
    },
}  # fmt: skip


def dataset_of(training: pd.DataFrame, test: pd.DataFrame) -> Any:
    from warprec.data import Dataset

    return Dataset(training, test, timestamp_label="time")


def trained(name: str, dataset: Any) -> Any:
    from warprec.utils.registry import model_registry

    return model_registry.get(
        name=name, params=MODELS[name], info=dataset.info(), interactions=dataset.train_set,
        sessions=dataset.train_session, seed=0,
    )  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_ranks(split, name: str) -> None:
    from warprec.evaluation.evaluator import Evaluator

    training, test = split
    dataset = dataset_of(training, test)
    model = trained(name, dataset)
    table = warprec_ranks(model, dataset)
    assert sorted(table.user) == sorted(test["user_id"])
    has_candidates(table, training)
    evaluator = Evaluator(["HitRate", "nDCG", "MRR"], [5], dataset.train_set.get_sparse())
    evaluator.evaluate(model, dataset.get_evaluation_dataloader(), "full", dataset)
    theirs = {key: np.nanmean(np.asarray(value)) for key, value in evaluator.compute_results()[5].items()}
    ours = sm.evaluate(table, metrics=["hr@5", "ndcg@5", "mrr@5"])["value"]
    assert table.tied.any() == (name in ("ItemKNN", "Pop"))
    if not table.tied.any():
        np.testing.assert_allclose(ours, [theirs["HitRate"], theirs["nDCG"], theirs["MRR"]], rtol=1e-6)
