"""Time RecBole's validation: by exact metrics, and by its own modes full and uni100.

    .venv-peers/bin/python benchmarks/validation.py --events NAME.inter --output results/bench/validation-NAME.csv
    .venv/bin/python benchmarks/validation.py --table docs/reproduction/validation.csv --figure docs/validation.svg

The file of events is one of RecBole, with the columns user_id, item_id and timestamp. `ratings.dat` of MovieLens 1M is
taken, too. Each model is trained once for each way to validate, from the same seed, for the chosen epochs and the share
of the training time; and the last model is validated by all ways in turn, for the medians. With `--epochs 0` nothing is
trained, and a model of random weights is validated, which takes as long.
"""

import argparse
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import recbole_data

from sampled_metrics import adapters

WAYS = ("exact", "full", "uni100")
MODELS: dict[str, dict[str, Any]] = {
    "BPR": {},
    "LightGCN": {},
    "NeuMF": {},
    "SASRec": {"train_neg_sample_args": None},
    "MultiVAE": {"train_neg_sample_args": None},
}
TURNS, SEED = 5, 1


def prepared(name: str, way: str, events: pd.DataFrame, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return a trainer, and the data of training and validation."""
    from recbole.utils import get_model, get_trainer, init_seed

    init_seed(SEED, True)
    mode = "uni100" if way == "uni100" else "full"
    config, data = recbole_data.prepared(events, name, "valid_and_test", mode, **settings, **MODELS[name])
    init_seed(SEED, True)
    model = get_model(config["model"])(config, data[0].dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    if way == "exact":
        adapters.recbole.exact_validation(trainer)
    return trainer, *data[:2]


def timed(validate: Callable[..., Any], calls: list[tuple[float, float]], data: Any, **options: Any) -> Any:
    """Validate, and note the value and the seconds."""
    start = time.perf_counter()
    score, result = validate(data, **options)
    calls.append((score, time.perf_counter() - start))
    return score, result


def measured(name: str, events: pd.DataFrame, epochs: int, batch: int) -> pd.DataFrame:
    """Return a row for each way to validate a model."""
    settings = {
        "epochs": max(epochs, 1),
        "eval_batch_size": batch,
        "metrics": ["Recall", "NDCG", "MRR"],
        "topk": [10],
        "valid_metric": "NDCG@10",
        "metric_decimal_place": 8,
    }
    rows, trainers = {}, {}
    for way in WAYS:
        trainer, training, validation = prepared(name, way, events, settings)
        trainers[way], rows[way], calls = (trainer, validation, trainer._valid_epoch), {"model": name, "way": way}, []
        trainer._valid_epoch = functools.partial(timed, trainer._valid_epoch, calls)
        if epochs:
            start = time.perf_counter()
            trainer.fit(training, validation, saved=False, show_progress=False)
            whole, (values, seconds) = time.perf_counter() - start, np.transpose(calls)
            times = {"training": whole - seconds.sum(), "validation": seconds.sum()}
            rows[way] |= {"best_epoch": int(values.argmax()) + 1} | times
    last = trainers["full"][0].model.state_dict()
    for trainer, *_ in trainers.values():
        trainer.model.load_state_dict(last)
    calls = {way: [] for way in WAYS}
    for way in WAYS * TURNS:
        _, validation, validate = trainers[way]
        timed(validate, calls[way], validation)
    for way, row in rows.items():
        (*_, score), seconds = np.transpose(calls[way])
        row |= {"ndcg@10": score, "difference": abs(score - calls["full"][-1][0])}
        row |= {"seconds": np.median(seconds), "least": seconds.min(), "most": seconds.max()}
    return pd.DataFrame(rows.values())


def read(path: Path) -> pd.DataFrame:
    """Return the events of a file of RecBole or of MovieLens 1M."""
    if path.suffix == ".dat":
        return pd.read_csv(path, sep="::", engine="python", names=["user_id", "item_id", "rating", "timestamp"])
    return pd.read_csv(path, sep="\t").rename(columns=lambda column: column.partition(":")[0])


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw the seconds of training and of validation for each way to validate, with validation's share."""
    from sampled_metrics.rendering import drawing

    figure = drawing.styled(drawing.new_figure)()
    figure.set_size_inches(6.2, 1.9)
    axes = figure.subplots()
    whole = table["training"] + table["validation"]
    axes.barh(table["way"], table["training"], color="0.8", label="training")
    bars = axes.barh(table["way"], table["validation"], left=table["training"], color="0.25", label="validation")
    axes.bar_label(bars, [f" validation {100 * share:.0f} %" for share in table["validation"] / whole])
    axes.set(xlim=(0, 1.35 * whole.max()), xlabel="seconds")
    axes.invert_yaxis()
    axes.legend(loc="upper right", frameon=False)
    drawing.write(figure, path)


def main() -> None:
    """Measure, print and write a table, or draw one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=Path)
    parser.add_argument("--table", type=Path, help="of an earlier run with epochs, for --figure")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--eval-batch-size", type=int, default=4096, help="RecBole's default is 4096")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.table:
        draw(pd.read_csv(given.table), given.figure)
        return
    import torch
    from scipy.sparse import dok_matrix

    dok_matrix._update = lambda matrix, pairs: matrix._dict.update(pairs)  # RecBole 1.2.1 with SciPy 1.13 and later
    torch.load = functools.partial(torch.load, weights_only=False)
    events, output, tables = read(given.events), given.output and given.output.resolve(), []
    with recbole_data.new_folder():
        for name in given.models:
            tables.append(measured(name, events, given.epochs, given.eval_batch_size))
            print(tables[-1].to_string(index=False), flush=True)
            if output:
                pd.concat(tables).to_csv(output, index=False)


if __name__ == "__main__":
    main()
