"""Time exact ranks of factor models beside other tools and a lower bound.

The ways to evaluate take turns, so that other load of the machine affects all of them. A turn is a
process of its own, which prepares the data and is timed after a first call. RecBole needs numpy
below 2 and runs in an environment of its own, which `make bench` sets up. The model is X of
MovieLens 1M, from `make reproduce`. Catalogues of increasing size have random factors.

    python benchmarks/ranking.py --peers .venv-peers/bin/python --output results/bench/ranking
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, vstack

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from sampled_metrics.core.metrics import metric
from sampled_metrics.ranking.split import Split, pair_matrix, read_split
from sampled_metrics_study.recommenders.models import FactorModel, read_model
from sampled_metrics_study.recommenders.ranking import rank_by_model

ROOT = Path(__file__).resolve().parents[1]
STUDY = ROOT / "results/ml-1m"
CATALOGUES = (1000, 3000, 10_000, 30_000)
USERS = 2000  # of a catalogue; EVENTS is the number of training events of a user
FACTORS = 16
EVENTS = 100
K = 10
THREADS = 2
Call = Callable[[], Mapping[str, float]]
"""A call that is timed: the metrics by name."""


def matrices(split: Split) -> tuple[csr_matrix, csr_matrix]:
    """Return the (users, items) training events and held-out items, with the indices that the other
    tools need.
    """
    held_out = csr_array(
        (np.ones(len(split.item)), split.item, np.arange(len(split.item) + 1)), split.training.shape
    )
    pairs = csr_matrix(split.training), csr_matrix(held_out)
    for matrix in pairs:
        matrix.indices = matrix.indices.astype(np.int32)
        matrix.indptr = matrix.indptr.astype(np.int32)
    return pairs


def single(model: FactorModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the (users, factors) and (items, factors) factors in single precision."""
    return model.user_factors.astype(np.float32), model.item_factors.astype(np.float32)


def ours(split: Split, model: FactorModel, precision: str = "float64") -> Call:
    """Exact ranks by this project, and their metrics."""
    metrics = {label: metric(label) for label in (f"recall@{K}", f"ndcg@{K}", "ap", "auc")}

    def call() -> dict[str, float]:
        table = rank_by_model(model, split, precision=precision, threads=THREADS)
        return {label: float(table.values(metrics[label]).mean()) for label in metrics}

    return call


def reference(split: Split, model: FactorModel) -> Call:
    """The lower bound: scores in float32 and one comparison per score; no ties, no training items,
    no metrics.
    """
    users, items = single(model)
    target = np.einsum("ij,ij->i", users, items[split.item])[:, np.newaxis]
    columns = np.ascontiguousarray(items.T)
    return lambda: {"above": float((users @ columns > target).sum(axis=1).mean())}


def implicit(split: Split, model: FactorModel) -> Call:
    """implicit.evaluation.ranking_metrics_at_k with K = all items, which AP and AUC need."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    als = AlternatingLeastSquares(
        model.user_factors.shape[1], num_threads=THREADS, dtype=np.float32
    )
    als.user_factors, als.item_factors = single(model)
    options = {"K": split.training.shape[1], "show_progress": False, "num_threads": THREADS}
    return partial(ranking_metrics_at_k, als, *matrices(split), **options)


def recometrics(split: Split, model: FactorModel) -> Call:
    """recometrics.calc_reco_metrics: R@10, NDCG@10, AP@10, ROC AUC, in float32, without noise
    against ties.
    """
    from recometrics import calc_reco_metrics

    training, test = (matrix.astype(np.float32) for matrix in matrices(split))
    options = {"k": K, "break_ties_with_noise": False, "nthreads": THREADS, "precision": False}
    options |= dict.fromkeys(("recall", "ndcg", "average_precision", "roc_auc"), True)
    return lambda: calc_reco_metrics(training, test, *single(model), **options).mean().to_dict()


def recbole(split: Split, model: FactorModel) -> Call:
    """RecBole's Trainer.evaluate: Recall@10, NDCG@10 and GAUC; AP (its MRR) would need whole lists.

    A user of RecBole repeats only that call. Data are read and split before it, in the working
    directory.
    """
    import torch
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.model.abstract_recommender import GeneralRecommender
    from recbole.trainer import Trainer
    from recbole.utils import InputType, ModelType

    class Factors(GeneralRecommender):
        type = ModelType.GENERAL
        input_type = InputType.PAIRWISE

        def __init__(self, config: Any, dataset: Any) -> None:
            super().__init__(config, dataset)
            self.unused = torch.nn.Parameter(torch.zeros(1))  # the trainer needs a parameter
            users = dataset.id2token("user_id", np.arange(1, dataset.user_num)).astype(int)
            items = dataset.id2token("item_id", np.arange(1, dataset.item_num)).astype(int)
            # 0 is padding
            self.users = torch.from_numpy(np.insert(model.user_factors[users], 0, 0.0, axis=0))
            self.items = torch.from_numpy(np.insert(model.item_factors[items], 0, 0.0, axis=0))

        def full_sort_predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            return self.users[interaction["user_id"]] @ self.items.T

    torch.set_num_threads(THREADS)
    training, test = matrices(split)
    # the held-out item has the later of two made-up times
    events = vstack([training, 2 * test]).tocoo()
    names = ("user_id:token", "item_id:token", "timestamp:float")
    columns = (events.row % training.shape[0], events.col, events.data)
    Path("events").mkdir()
    pd.DataFrame(dict(zip(names, columns, strict=True))).to_csv(
        "events/events.inter", sep="\t", index=False
    )
    settings = {
        "data_path": str(Path.cwd()),
        "load_col": {"inter": [name.partition(":")[0] for name in names]},
        "eval_args": {
            "split": {"LS": "test_only"},
            "group_by": "user",
            "order": "TO",
            "mode": "full",
        },
        "metrics": ["Recall", "NDCG", "GAUC"],
        "topk": [K],
        "valid_metric": f"Recall@{K}",
        "metric_decimal_place": 12,
        "train_neg_sample_args": None,
        "eval_batch_size": 500 * (training.shape[1] + 1),  # scores of 500 users
        "state": "ERROR",
        "use_gpu": False,
    }
    config = Config(model=Factors, dataset="events", config_dict=settings)
    data, _, test_data = data_preparation(config, create_dataset(config))
    trainer = Trainer(config, Factors(config, data.dataset))
    return partial(trainer.evaluate, test_data, load_best_model=False, show_progress=False)


class Way(NamedTuple):
    """A way to evaluate the model."""

    title: str  # in the table
    prepare: Callable[[Split, FactorModel], Call]
    is_peer: bool = False  # it runs in the environment of the other tools
    times: int = 1  # number of calls in a row; a short call is repeated more often
    has_threads: bool = False  # it starts threads of its own


IN_SINGLE = partial(ours, precision="float32")
WAYS = {
    "reference": Way("reference: a float32 product, one comparison of it", reference, times=5),
    "this project": Way(
        "**this project**, float64: all four metrics", ours, times=5, has_threads=True
    ),
    "this project, float32": Way(
        "this project, float32: all four metrics", IN_SINGLE, times=5, has_threads=True
    ),
    "recometrics": Way("recometrics, float32: Recall, NDCG, AP@10, AUC", recometrics, is_peer=True),
    "implicit": Way(
        "implicit, float32: precision, NDCG, MAP, AUC of whole lists", implicit, has_threads=True
    ),
    "RecBole": Way("RecBole: Recall, NDCG, AUC; no AP", recbole, is_peer=True),
}


def case(items: int) -> tuple[Split, FactorModel]:
    """Return the split and the model of the study, or, of some items, a split in which all occur
    and random factors.
    """
    if not items:
        return read_split(STUDY / "split.npz"), read_model(STUDY / "models/X.npz")
    rng = np.random.default_rng(0)
    user = np.arange(USERS)
    shape = (USERS, items)
    first_item = user * items // USERS
    training = ((first_item[:, np.newaxis] + np.arange(EVENTS)) % items).ravel()
    held_out = pair_matrix(user, (first_item + EVENTS) % items, shape)
    split = Split(
        pair_matrix(np.repeat(user, EVENTS), training, shape), held_out, user, np.arange(items)
    )
    return split, FactorModel(rng.normal(size=(USERS, FACTORS)), rng.normal(size=(items, FACTORS)))


def work(way: Way, items: int) -> None:
    """Prepare a way, and print the milliseconds and the AUC of a call."""
    # the tools print, and RecBole reads arguments
    out = sys.stdout
    sys.stdout = sys.stderr
    sys.argv = sys.argv[:1]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        call = way.prepare(*case(items))
        call()  # the first call may be slower, and is not measured
        start = time.perf_counter()
        for _ in range(way.times):
            values = call()
    milliseconds = 1e3 * (time.perf_counter() - start) / way.times
    auc = next((float(value) for name, value in values.items() if "auc" in name.lower()), np.nan)
    print(milliseconds, auc, file=out)


def turn(name: str, peers: str | None, items: int) -> tuple[float, ...]:
    """Return the milliseconds and the AUC of a way, from a process of its own."""
    way = WAYS[name]
    command = [
        peers if way.is_peer else sys.executable,
        __file__,
        "--work",
        name,
        "--items",
        str(items),
    ]
    variables = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(THREADS)
    )
    variables |= {"OPENBLAS_NUM_THREADS": "1"} if way.has_threads else {}
    process = subprocess.run(
        command, env=os.environ | variables, text=True, capture_output=True, check=False
    )
    if process.returncode:
        sys.exit(f"error: {name} failed:\n{process.stderr[-2000:]}")
    return tuple(map(float, process.stdout.split()))


def measure(peers: str | None, runs: int, items: int = 0) -> pd.DataFrame:
    """Return the turns of all ways, with the columns way, milliseconds and auc."""
    rows = []
    names = [name for name, way in WAYS.items() if peers or not way.is_peer]
    for number in range(runs):
        print(f"{items or 'all'} items: turn {number + 1} of {runs}", file=sys.stderr)
        rows += [(name, *turn(name, peers, items)) for name in names]
    return pd.DataFrame(rows, columns=["way", "milliseconds", "auc"])


def report(turns: pd.DataFrame, catalogues: pd.DataFrame, runs: int) -> str:
    """Return the page as Markdown."""
    by_way = turns.groupby("way", sort=False)
    rows = by_way["milliseconds"].agg(milliseconds="median", least="min", most="max")
    rows = rows.assign(AUC=by_way["auc"].last())
    rows.index = pd.Index([WAYS[name].title for name in rows.index], name="")
    return f"""**Exact ranks beside other tools**

Model X of MovieLens 1M; medians of {runs} turns, {THREADS} threads. The reference is one matrix \
product in single precision, and one look at each score. The AUC of implicit counts training items \
as beaten (docs/adapters.md).

{rows.to_markdown(floatfmt=("", *[".3g"] * 3, ".4f"))}

**By the size of the catalogue**: {USERS} users, d = {FACTORS}, random factors, \
{EVENTS} training items of each user; milliseconds, medians of {runs} turns

![Milliseconds of exact ranks by the number of items](ranking.png)

{catalogues.to_markdown(floatfmt=",.0f", intfmt=",")}

Measured on {os.cpu_count()} cores ({platform.platform()}), Python {platform.python_version()}, \
NumPy {np.__version__}.
"""


def chart(catalogues: pd.DataFrame, path: Path) -> None:
    """Draw the milliseconds by the number of items, and write the figure."""
    import matplotlib as mpl

    from sampled_metrics.reporting import drawing

    with mpl.rc_context(drawing.SETTINGS):
        figure = drawing.new_figure()
        figure.set_size_inches(drawing.WIDTH, 3.4)
        axes = figure.subplots()
        for number, name in enumerate(catalogues):
            axes.plot(catalogues.index, catalogues[name], label=name, **drawing.style(number))
        axes.set(
            xscale="log", yscale="log", xlabel="items", ylabel=f"milliseconds for {USERS} users"
        )
        figure.legend(loc="outside upper left", ncols=3)
        drawing.write(figure, path)


def main() -> None:
    """Measure all ways, or work as the process of one way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peers", help="a Python that has recbole and recometrics; without it, they are left out"
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "results/bench/ranking",
        help="of the page and the figure, without the ending",
    )
    parser.add_argument("--work", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(WAYS[arguments.work], arguments.items)
        return
    turns = measure(arguments.peers, arguments.runs)
    sizes = [
        measure(arguments.peers, arguments.runs, items).assign(items=items) for items in CATALOGUES
    ]
    columns = {"index": "items", "columns": "way", "values": "milliseconds"}
    catalogues = pd.concat(sizes).pivot_table(**columns, aggfunc="median", sort=False)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.with_suffix(".md").write_text(
        report(turns, catalogues, arguments.runs), encoding="utf-8"
    )
    chart(catalogues, arguments.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
