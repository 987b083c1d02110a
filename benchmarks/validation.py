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
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from sampled_metrics import adapters  # noqa: E402

WAYS = ("exact", "full", "uni100")
MODELS: dict[str, dict[str, Any]] = {
    "BPR": {},
    "LightGCN": {},
    "NeuMF": {},
    "SASRec": {"train_neg_sample_args": None},
    "MultiVAE": {"train_neg_sample_args": None},
}


def prepared(name: str, way: str, events: Path, epochs: int, seed: int, batch: int) -> tuple[Any, Any, Any]:
    """Return a trainer, and the data of training and validation."""
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    settings = {
        "data_path": str(events.parent.parent),
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "eval_args": {
            "split": {"LS": "valid_and_test"},
            "group_by": "user",
            "order": "TO",
            "mode": "uni100" if way == "uni100" else "full",
        },
        "epochs": max(epochs, 1),
        "eval_batch_size": batch,
        "metrics": ["Recall", "NDCG", "MRR"],
        "topk": [10],
        "valid_metric": "NDCG@10",
        "metric_decimal_place": 8,
        "state": "ERROR",
        "use_gpu": False,
    }
    config = Config(model=name, dataset=events.stem, config_dict=settings | MODELS[name])
    init_seed(seed, True)
    training, validation, _ = data_preparation(config, create_dataset(config))
    init_seed(seed, True)
    model = get_model(config["model"])(config, training.dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    if way == "exact":
        adapters.recbole.exact_validation(trainer)
    return trainer, training, validation


def timed(validate: Any, values: list[float], seconds: list[float], data: Any, **options: Any) -> Any:
    """Validate, and note the value and the seconds."""
    start = time.perf_counter()
    score, result = validate(data, **options)
    seconds.append(time.perf_counter() - start)
    values.append(score)
    return score, result


def measured(name: str, events: Path, epochs: int, turns: int, seed: int, batch: int) -> list[dict[str, Any]]:
    """Return a row for each way to validate a model."""
    rows, trainers = {}, {}
    for way in WAYS:
        trainer, training, validation = prepared(name, way, events, epochs, seed, batch)
        own, values, seconds = trainer._valid_epoch, [], []

        trainer._valid_epoch = functools.partial(timed, own, values, seconds)
        rows[way] = {"model": name, "way": way}
        if epochs:
            start = time.perf_counter()
            trainer.fit(training, validation, saved=False, show_progress=False)
            whole = time.perf_counter() - start
            rows[way] |= {
                "best_epoch": int(np.argmax(values)) + 1,
                "training": whole - sum(seconds),
                "validation": sum(seconds),
            }
        trainers[way] = own, validation, trainer
    last = trainers["full"][2].model.state_dict()
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for way in WAYS:
        trainers[way][2].model.load_state_dict(last)
    scores: dict[str, float] = {}
    for _ in range(turns):
        for way, (validate, data, _) in trainers.items():
            start = time.perf_counter()
            scores[way] = validate(data)[0]
            times[way].append(time.perf_counter() - start)
    for way, row in rows.items():
        of_way = times[way]
        row |= {"ndcg@10": scores[way], "difference": abs(scores[way] - scores["full"])}
        row |= {"seconds": statistics.median(of_way), "least": min(of_way), "most": max(of_way)}
    return list(rows.values())


def inter(events: Path, folder: Path) -> Path:
    """Return a file of events as RecBole reads it, in a folder of its name."""
    name = events.stem
    (folder / name).mkdir()
    if events.suffix == ".dat":
        table = pd.read_csv(events, sep="::", engine="python", names=["user_id", "item_id", "rating", "timestamp"])
    else:
        table = pd.read_csv(events, sep="\t").rename(columns=lambda column: column.partition(":")[0])
    columns = {"user_id": "user_id:token", "item_id": "item_id:token", "timestamp": "timestamp:float"}
    path = folder / name / f"{name}.inter"
    table[[*columns]].rename(columns=columns).to_csv(path, sep="\t", index=False)
    return path


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw the seconds of training and of validation for each way to validate, with validation's share."""
    from sampled_metrics.rendering import drawing

    figure = drawing.styled(drawing.new_figure)()
    figure.set_size_inches(6.2, 1.9)
    [[axes]] = figure.subplots(squeeze=False)
    whole = table["training"] + table["validation"]
    axes.barh(table["way"], table["training"], color="0.8", label="training")
    axes.barh(table["way"], table["validation"], left=table["training"], color="0.25", label="validation")
    for place, (seconds, part) in enumerate(zip(whole, table["validation"] / whole, strict=True)):
        axes.text(seconds, place, f" validation {100 * part:.0f} %", va="center")
    axes.set_xlim(0, 1.35 * whole.max())
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
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
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eval-batch-size", type=int, default=4096, help="RecBole's default is 4096")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.table:
        draw(pd.read_csv(given.table), given.figure)
        return
    output, sys.argv = given.output and given.output.resolve(), sys.argv[:1]  # RecBole reads the arguments
    import os

    import torch
    from scipy.sparse import dok_matrix

    dok_matrix._update = lambda matrix, pairs: matrix._dict.update(pairs)  # RecBole 1.2.1 with SciPy 1.13 and later
    torch.load = functools.partial(torch.load, weights_only=False)
    with tempfile.TemporaryDirectory() as folder:
        events = inter(given.events.resolve(), Path(folder))
        os.chdir(folder)  # RecBole writes logs where it runs
        rows: list[dict[str, Any]] = []
        for name in given.models:
            rows += measured(name, events, given.epochs, given.turns, given.seed, given.eval_batch_size)
            print(pd.DataFrame(rows[-len(WAYS) :]).to_string(index=False), flush=True)
            if output:
                pd.DataFrame(rows).to_csv(output, index=False)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
