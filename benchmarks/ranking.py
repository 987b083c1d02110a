"""Time exact ranks and sampled evaluation of factor models, beside other tools and a lower bound.

Every way to evaluate has a process of its own, which prepares the data. The ways then take turns, so that other load of
the machine affects all of them. RecBole needs numpy below 2 and runs in an environment of its own, which `make bench`
sets up.

    python benchmarks/ranking.py --peers .venv-peers/bin/python --output results/bench/ranking

Besides MovieLens 1M, catalogues of increasing size are ranked, with random factors.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, vstack

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import recbole_data

from sampled_metrics.data.split import Split, pair_matrix, read_split
from sampled_metrics.metrics.metric import metric
from sampled_metrics.recommenders.models import FactorModel, read_model
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import draw

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = (1000, 3000, 10_000, 30_000)
USERS, FACTORS, EVENTS = 2000, 16, 100  # of a catalogue; EVENTS is the number of training events of a user
K = 10
METRICS = (f"recall@{K}", f"ndcg@{K}", "ap", "auc")
Call = Callable[[], dict[str, float]]


def matrices(split: Split) -> tuple[csr_matrix, csr_matrix]:
    """Return the (users, items) training events and held-out items, with the indices that the other tools need."""
    held_out = csr_array((np.ones(len(split.item)), split.item, np.arange(len(split.item) + 1)), split.training.shape)
    pairs = csr_matrix(split.training), csr_matrix(held_out)
    for matrix in pairs:
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return pairs


def single(model: FactorModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the (users, factors) and (items, factors) factors in single precision."""
    return model.user_factors.astype(np.float32), model.item_factors.astype(np.float32)


# --- ways to evaluate: each returns the call that is timed ------------------------------------------------------------


def ours(split: Split, model: FactorModel, threads: int, precision: str = "float64") -> Call:
    """Exact ranks by this project, and their metrics."""

    def call() -> dict[str, float]:
        table = model.rank(split, precision=precision, threads=threads)
        return {label: float(table.values(metric(label)).mean()) for label in METRICS}

    return call


def reference(split: Split, model: FactorModel, threads: int) -> Call:
    """The lower bound: scores in float32 and one comparison per score; no ties, no training items, no metrics."""
    users, items = single(model)
    target = np.einsum("ij,ij->i", users, items[split.item])[:, np.newaxis]
    columns = np.ascontiguousarray(items.T)
    return lambda: {"above": float((users @ columns > target).sum(axis=1).mean())}


def implicit(split: Split, model: FactorModel, threads: int) -> Call:
    """implicit.evaluation.ranking_metrics_at_k with K = all items, which AP and AUC need."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    als = AlternatingLeastSquares(model.user_factors.shape[1], num_threads=threads, dtype=np.float32)
    als.user_factors, als.item_factors = single(model)
    options = {"K": split.training.shape[1], "show_progress": False, "num_threads": threads}
    return partial(ranking_metrics_at_k, als, *matrices(split), **options)


def recometrics(split: Split, model: FactorModel, threads: int) -> Call:
    """recometrics.calc_reco_metrics: R@10, NDCG@10, AP@10, ROC AUC, in float32, without noise against ties."""
    from recometrics import calc_reco_metrics

    training, test = (matrix.astype(np.float32) for matrix in matrices(split))
    options = {"k": K, "break_ties_with_noise": False, "nthreads": threads, "precision": False}
    options |= dict.fromkeys(("recall", "ndcg", "average_precision", "roc_auc"), True)
    return lambda: calc_reco_metrics(training, test, *single(model), **options).mean().to_dict()


def recbole(split: Split, model: FactorModel, threads: int, mode: str = "full") -> Call:
    """RecBole's Trainer.evaluate: Recall@10, NDCG@10 and GAUC; AP (its MRR) would need whole lists.

    A user of RecBole repeats only that call. Data are read and split before it.
    """
    import torch
    from recbole.model.abstract_recommender import GeneralRecommender
    from recbole.trainer import Trainer
    from recbole.utils import InputType, ModelType

    class Factors(GeneralRecommender):
        type, input_type = ModelType.GENERAL, InputType.PAIRWISE

        def __init__(self, config: Any, dataset: Any) -> None:
            super().__init__(config, dataset)
            self.unused = torch.nn.Parameter(torch.zeros(1))  # the trainer needs a parameter
            users = dataset.id2token("user_id", np.arange(1, dataset.user_num)).astype(int)
            items = dataset.id2token("item_id", np.arange(1, dataset.item_num)).astype(int)
            self.users = torch.from_numpy(np.insert(model.user_factors[users], 0, 0.0, axis=0))  # 0 is padding
            self.items = torch.from_numpy(np.insert(model.item_factors[items], 0, 0.0, axis=0))

        def full_sort_predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            return self.users[interaction["user_id"]] @ self.items.T

        def predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            return (self.users[interaction["user_id"]] * self.items[interaction["item_id"]]).sum(axis=1).float()

    torch.set_num_threads(threads)
    training, test = matrices(split)
    events = vstack([training, 2 * test]).tocoo()  # the held-out item has the later of two made-up times
    columns = {"user_id": events.row % training.shape[0], "item_id": events.col, "timestamp": events.data}
    config, (data, _, test_data) = recbole_data.prepared(
        pd.DataFrame(columns),
        Factors,
        "test_only",
        mode,
        metrics=["Recall", "NDCG", "GAUC"],
        topk=[K],
        valid_metric=f"Recall@{K}",
        metric_decimal_place=12,
        train_neg_sample_args=None,
        eval_batch_size=500 * (training.shape[1] + 1),  # scores of 500 users
    )
    trainer = Trainer(config, Factors(config, data.dataset))
    return partial(trainer.evaluate, test_data, load_best_model=False, show_progress=False)


def repetition(split: Split, model: FactorModel, threads: int) -> Call:
    """One repetition of the evaluation among 100 negatives by this project, drawn from the ranks, all metrics."""
    table = model.rank(split, threads=threads)
    design, rng = SamplingDesign(100, replacement=False), np.random.default_rng(0)
    values = np.stack([metric(label).values(101) for label in METRICS], axis=1)

    def call() -> dict[str, float]:
        x = draw(table.above, table.tied, table.candidates, design, rng).ranked_above("random")
        return dict(zip(METRICS, np.bincount(x, minlength=101) @ values / len(x), strict=True))

    return call


class Way(NamedTuple):
    """A way to evaluate the model."""

    title: str  # in the table
    prepare: Callable[[Split, FactorModel, int], Call]  # of a number of threads
    is_peer: bool = False  # it runs in the environment of the other tools
    is_sampled: bool = False  # it is one repetition of a sampled evaluation
    times: int = 1  # number of calls in a row; a short call is repeated more often
    has_threads: bool = False  # it starts threads of its own


IN_SINGLE, UNI100 = partial(ours, precision="float32"), partial(recbole, mode="uni100")
WAYS = {
    "reference": Way("reference: a float32 product, one comparison of it", reference, times=5),
    "this project": Way("**this project**, float64: all four metrics", ours, times=5, has_threads=True),
    "this project, float32": Way("this project, float32: all four metrics", IN_SINGLE, times=5, has_threads=True),
    "recometrics": Way("recometrics, float32: Recall, NDCG, AP@10, AUC", recometrics, is_peer=True),
    "implicit": Way("implicit, float32: precision, NDCG, MAP, AUC of whole lists", implicit, has_threads=True),
    "RecBole": Way("RecBole: Recall, NDCG, AUC; no AP", recbole, is_peer=True),
    "repetition": Way("**this project**, from the ranks: all four metrics", repetition, is_sampled=True, times=200),
    "uni100": Way("RecBole, `uni100`: Recall, NDCG, AUC", UNI100, is_peer=True, is_sampled=True),
}


def random_case(items: int) -> tuple[Split, FactorModel]:
    """Return training events in which every item occurs, a held-out item of each user, and random factors."""
    rng, user, shape = np.random.default_rng(0), np.arange(USERS), (USERS, items)
    first = user * items // USERS
    training = ((first[:, np.newaxis] + np.arange(EVENTS)) % items).ravel()
    held_out = pair_matrix(user, (first + EVENTS) % items, shape)
    split = Split(pair_matrix(np.repeat(user, EVENTS), training, shape), held_out, user, np.arange(items))
    return split, FactorModel(rng.normal(size=(USERS, FACTORS)), rng.normal(size=(items, FACTORS)))


# --- turns ------------------------------------------------------------------------------------------------------------


def work(way: Way, split: Split, model: FactorModel, threads: int) -> None:
    """Prepare a way, and answer every line of standard input with a line: the milliseconds and the AUC of a call."""
    out, sys.stdout = sys.stdout, sys.stderr  # the tools print
    with recbole_data.new_folder():
        call = way.prepare(split, model, threads)
        call()  # the first call may be slower, and is not measured
        for _ in sys.stdin:
            start = time.perf_counter()
            for _ in range(way.times):
                values = call()
            milliseconds = 1e3 * (time.perf_counter() - start) / way.times
            auc = next((float(value) for name, value in values.items() if "auc" in name.lower()), None)
            print(json.dumps({"milliseconds": milliseconds, "auc": auc}), file=out, flush=True)


@contextmanager
def worker(name: str, arguments: argparse.Namespace, items: int) -> Iterator[Callable[[], dict[str, float]]]:
    """Start a process for a way, and yield a function that makes it take a turn."""
    way, threads = WAYS[name], str(arguments.threads)
    command = [arguments.peers if way.is_peer else sys.executable, __file__, "--work", name, "--threads", threads]
    command += ["--split", str(arguments.split), "--model", str(arguments.model), "--items", str(items)]
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    variables |= {"OPENBLAS_NUM_THREADS": "1"} if way.has_threads else {}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, env=os.environ | variables, text=True, **pipes) as process:

        def turn() -> dict[str, float]:
            try:
                process.stdin.write("\n")
                process.stdin.flush()
                return json.loads(process.stdout.readline())
            except (BrokenPipeError, ValueError):
                sys.exit(f"error: {name} failed:\n{process.communicate()[1][-2000:]}")

        yield turn
        process.stdin.close()


def measure(arguments: argparse.Namespace, items: int = 0) -> pd.DataFrame:
    """Return the turns of the ways, with the columns way, milliseconds and auc; of random factors, all exact ones."""
    rows, chosen = [], [name for name, way in WAYS.items() if arguments.peers or not way.is_peer]
    names = [name for name in chosen if not (items and WAYS[name].is_sampled)]
    with ExitStack() as stack:
        turns = {name: stack.enter_context(worker(name, arguments, items)) for name in names}
        for number in range(arguments.runs + 1):  # during the first turn, other ways still prepare
            print(f"turn {number} of {arguments.runs}", file=sys.stderr)
            rows += [{"turn": number, "way": name} | turn() for name, turn in turns.items()]
    return pd.DataFrame(rows).query("turn > 0")


def by_catalogue(arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the median milliseconds of the ways to exact ranks, by number of items."""
    rows = []
    for items in CATALOGUES:
        medians = measure(arguments, items).groupby("way", sort=False)["milliseconds"].median()
        rows.append({"items": items} | medians.to_dict())
        print(rows[-1], file=sys.stderr)
    return pd.DataFrame(rows)


# --- report -----------------------------------------------------------------------------------------------------------


def table(turns: pd.DataFrame, own: str) -> str:
    """Return the medians of turns as a table in Markdown, with the ratio to one of the ways."""
    of_way = turns.groupby("way", sort=False)
    rows = of_way["milliseconds"].agg(milliseconds="median", least="min", most="max")
    rows["times this project's"] = rows["milliseconds"] / rows.loc[own, "milliseconds"]
    rows["AUC"] = of_way["auc"].last().map("{:.4f}".format).replace("nan", "-")
    rows.index = pd.Index([WAYS[name].title for name in rows.index], name="")
    return str(rows.to_markdown(floatfmt=("", *[".3g"] * 4, ".4f")))


def report(arguments: argparse.Namespace, turns: pd.DataFrame, catalogues: pd.DataFrame) -> str:
    """Return the page as Markdown."""
    users, factors = read_model(arguments.model).user_factors.shape
    is_sampled = turns["way"].map(lambda name: WAYS[name].is_sampled)
    return f"""**Exact ranks, and a sampled evaluation, beside other tools**

{users} users, d = {factors}; medians of {arguments.runs} turns, {arguments.threads} threads. The reference is one \
matrix product in single precision, and one look at each score. The AUC of implicit counts training items as beaten \
(docs/adapters.md).

{table(turns[~is_sampled], "this project")}

One repetition of the evaluation among 100 sampled negatives:

{table(turns[is_sampled], "repetition")}

**By the size of the catalogue**: {USERS} users, d = {FACTORS}, random factors, {EVENTS} training items of each user; \
milliseconds, medians of {arguments.runs} turns

![Milliseconds of exact ranks by the number of items](ranking.png)

{catalogues.to_markdown(index=False, floatfmt=",.0f", intfmt=",")}

Measured on {os.cpu_count()} cores ({platform.platform()}), Python {platform.python_version()}, NumPy {np.__version__}.
"""


def chart(catalogues: pd.DataFrame, path: Path) -> None:
    """Draw the milliseconds by the number of items, and write the figure."""
    import matplotlib as mpl

    from sampled_metrics.rendering import drawing

    with mpl.rc_context(drawing.SETTINGS):
        figure = drawing.new_figure()
        figure.set_size_inches(drawing.WIDTH, 3.4)
        axes = figure.subplots()
        for number, name in enumerate(catalogues.columns.drop("items")):
            axes.plot(catalogues["items"], catalogues[name], label=name, **drawing.style(number))
        axes.set(xscale="log", yscale="log", xlabel="items", ylabel=f"milliseconds for {USERS} users")
        figure.legend(loc="outside upper left", ncols=3)
        drawing.write(figure, path)


def main() -> None:
    """Measure all ways, or work as the process of one way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", type=Path, default=ROOT / "results/ml-1m/split.npz")
    parser.add_argument("--model", type=Path, default=ROOT / "results/ml-1m/models/X.npz", help="a factor model")
    parser.add_argument("--peers", help="a Python that has recbole and recometrics; without it, they are left out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output", type=Path, help="path of the page and the figure, without the ending")
    parser.add_argument("--work", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        is_random = arguments.items > 0
        case = random_case(arguments.items) if is_random else (read_split(arguments.split), read_model(arguments.model))
        work(WAYS[arguments.work], *case, arguments.threads)
        return
    turns, catalogues = measure(arguments), by_catalogue(arguments)
    text = report(arguments, turns, catalogues)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
        chart(catalogues, arguments.output.with_suffix(".png"))
    print(text)


if __name__ == "__main__":
    main()
