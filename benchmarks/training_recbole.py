"""Train models of RecBole on MovieLens 100K, which is in its package, and print what the validator
says of the epochs.

    .venv-peers/bin/python benchmarks/training_recbole.py [MODEL:EPOCHS ...]

It needs the environment of `make .venv-peers/ready`. The metric is NDCG@10, and the settings are
RecBole's own, but for a loss over all items of SASRec.
"""

import argparse
import functools
import logging
import sys
import tempfile
from time import perf_counter
from typing import Any

import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.utils import get_model, get_trainer, init_seed
from scipy.sparse import dok_matrix

from sampled_metrics import adapters

MODELS = ("BPR:50", "LightGCN:30", "SASRec:20")
OF_MODEL: dict[str, dict[str, Any]] = {"SASRec": {"train_neg_sample_args": None}}


def history_of(model: str, epochs: int, folder: str) -> None:
    """Train a model, and print its history and the contenders."""
    settings = {
        "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "mode": "full"},
        "metrics": ["NDCG"],
        "topk": [10],
        "valid_metric": "NDCG@10",
        "epochs": epochs,
        "stopping_step": epochs,
        "checkpoint_dir": folder,
        "use_gpu": False,
        "state": "ERROR",
    }
    config = Config(model=model, dataset="ml-100k", config_dict=settings | OF_MODEL.get(model, {}))
    init_seed(1, True)
    training, validation, _ = data_preparation(config, create_dataset(config))
    network = get_model(config["model"])(config, training.dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, network)
    adapters.recbole.exact_validation(trainer)
    start = perf_counter()
    trainer.fit(training, validation, saved=False, show_progress=False)
    history = trainer.validator.history
    by_answer = {
        answer: history["epoch"][history["better"] == answer].tolist() for answer in ("yes", "no")
    }
    seconds = perf_counter() - start
    print(
        f"{model}, {epochs} epochs, {seconds:.0f} s, of which {history['seconds'].sum():.1f} s "
        "are validation"
    )
    print("NDCG@10:", *(f"{value:.3f}" for value in history["value"]))
    print("yes:", *by_answer["yes"], "no:", *by_answer["no"], "best:", history["best"].iloc[-1])
    print("contenders:", *trainer.validator.contenders, flush=True)


def main() -> None:
    """Train the models of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models", nargs="*", default=MODELS, help="the name of a model, and its number of epochs"
    )
    models = parser.parse_args().models
    sys.argv = sys.argv[:1]  # RecBole reads it, too
    logging.disable()
    # RecBole 1.2.1 cannot read its own checkpoints by torch 2.6 and later,
    # and its LightGCN uses a method of SciPy that is gone since 1.13
    dok_matrix._update = lambda matrix, pairs: matrix._dict.update(pairs)
    torch.load = functools.partial(torch.load, weights_only=False)
    with tempfile.TemporaryDirectory() as folder:
        for model, epochs in (argument.split(":") for argument in models):
            history_of(model, int(epochs), folder)


if __name__ == "__main__":
    main()
