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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

from recbole_evaluation import Case  # noqa: E402

from sampled_metrics.data.split import Split, pair_matrix, read_split  # noqa: E402
from sampled_metrics.recommenders.models import FactorModel, read_model  # noqa: E402

CATALOGUES = (1000, 3000, 10_000, 30_000)
USERS, FACTORS, EVENTS = 2000, 16, 100  # of a catalogue; EVENTS is the number of training events of a user
SAMPLED = ("repetition", "recbole, uni100")

K = 10
METRICS = (f"recall@{K}", f"ndcg@{K}", "ap", "auc")
Values = dict[str, float]
Call = Callable[[], Values]


@contextmanager
def ours(case: Case, threads: int, precision: str = "float64") -> Iterator[Call]:
    """Exact ranks by this project, and their metrics."""
    from sampled_metrics.metrics.metric import metric

    def call() -> Values:
        table = case.model.rank(case.split, precision=precision, threads=threads)
        return {label: float(table.values(metric(label)).mean()) for label in METRICS}

    yield call


@contextmanager
def reference(case: Case, threads: int) -> Iterator[Call]:
    """The lower bound: scores in float32 and one comparison per score; no ties, no training items, no metrics."""
    users = case.model.user_factors.astype(np.float32)
    items = np.ascontiguousarray(case.model.item_factors.T, dtype=np.float32)
    target = np.einsum("ij,ji->i", users, items[:, case.split.item])[:, np.newaxis]

    def call() -> Values:
        return {"above": float((users @ items > target).sum(axis=1).mean())}

    yield call


@contextmanager
def implicit(case: Case, threads: int) -> Iterator[Call]:
    """implicit.evaluation.ranking_metrics_at_k with K = all items, which AP and AUC need."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    factors = case.model.user_factors.shape[1]
    model = AlternatingLeastSquares(factors=factors, num_threads=threads, dtype=np.float32)
    model.user_factors = case.model.user_factors.astype(np.float32)
    model.item_factors = case.model.item_factors.astype(np.float32)
    training, test = case.training, case.test
    options = {"K": case.items, "show_progress": False, "num_threads": threads}
    yield lambda: {name: float(x) for name, x in ranking_metrics_at_k(model, training, test, **options).items()}


@contextmanager
def recometrics(case: Case, threads: int) -> Iterator[Call]:
    """recometrics.calc_reco_metrics: R@10, NDCG@10, AP@10, ROC AUC, in float32, without noise against ties."""
    from recometrics import calc_reco_metrics

    factors = (case.model.user_factors.astype(np.float32), case.model.item_factors.astype(np.float32))
    training, test = case.training.astype(np.float32), case.test.astype(np.float32)
    names = ("recall", "ndcg", "average_precision", "roc_auc")
    chosen = {"precision": False, **dict.fromkeys(names, True)}
    options = {"k": K, "break_ties_with_noise": False, "nthreads": threads, **chosen}
    yield lambda: calc_reco_metrics(training, test, *factors, **options).mean().to_dict()


@contextmanager
def recbole(case: Case, threads: int, mode: str = "full") -> Iterator[Call]:
    """RecBole's Trainer.evaluate: Recall@10, NDCG@10 and GAUC; AP (its MRR) would need whole lists."""
    import torch
    from recbole_evaluation import evaluations

    torch.set_num_threads(threads)
    with evaluations(case) as evaluation:
        yield evaluation(["Recall", "NDCG", "GAUC"], [K], mode)


@contextmanager
def repetition(case: Case, threads: int) -> Iterator[Call]:
    """One repetition of the evaluation among 100 negatives by this project, drawn from the ranks, all metrics."""
    from sampled_metrics.metrics.metric import metric
    from sampled_metrics.sampling.distributions import SamplingDesign
    from sampled_metrics.sampling.draws import draw

    table = case.model.rank(case.split, threads=threads)
    design, rng = SamplingDesign(100, replacement=False), np.random.default_rng(0)
    values = np.stack([metric(label).values(101) for label in METRICS], axis=1)

    def call() -> Values:
        x = draw(table.above, table.tied, table.candidates, design, rng).ranked_above("random")
        means = np.bincount(x, minlength=101) @ values / len(x)
        return dict(zip(METRICS, means.tolist(), strict=True))

    yield call


@dataclass(frozen=True)
class Way:
    """A way to evaluate the model.

    Attributes:
        title: title in the table.
        prepare: context manager of a case and a number of threads that yields the timed call.
        peer: whether it runs in the environment of the other tools.
        times: number of calls in a row; a short call is repeated more often.
    """

    title: str
    prepare: Callable[[Case, int], Any]
    peer: bool = False
    times: int = 1


WAYS = {
    "reference": Way("reference: a float32 product, one comparison of it", reference, times=5),
    "ours": Way("**this project**, float64: all four metrics", ours, times=5),
    "ours, float32": Way("this project, float32: all four metrics", partial(ours, precision="float32"), times=5),
    "recometrics": Way("recometrics, float32: Recall, NDCG, AP@10, AUC", recometrics, peer=True),
    "implicit": Way("implicit, float32: precision, NDCG, MAP, AUC of whole lists", implicit),
    "recbole": Way("RecBole: Recall, NDCG, AUC; no AP", recbole, peer=True),
    "repetition": Way("**this project**, from the ranks: all four metrics", repetition, times=200),
    "recbole, uni100": Way("RecBole, `uni100`: Recall, NDCG, AUC", partial(recbole, mode="uni100"), peer=True),
}


def work(way: Way, case: Case, threads: int) -> None:
    """Prepare a way, and answer every line of standard input with a line: the seconds and the values of a call."""
    out, sys.stdout = sys.stdout, sys.stderr  # the tools print
    with way.prepare(case, threads) as call:
        values = call()  # the first call may be slower, and is not measured
        for _ in sys.stdin:
            start = time.perf_counter()
            for _ in range(way.times):
                values = call()
            seconds = (time.perf_counter() - start) / way.times
            print(json.dumps([seconds, {name: float(value) for name, value in values.items()}]), file=out, flush=True)


@contextmanager
def worker(name: str, python: str, arguments: argparse.Namespace) -> Iterator[Callable[[], tuple[float, Values]]]:
    """Start a process for a way, and yield a function that makes it take a turn."""
    command = [python, __file__, "--work", name, "--split", arguments.split, "--model", arguments.model]
    command += ["--threads", str(arguments.threads)]
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(arguments.threads))
    if name.startswith("ours") or name == "implicit":  # these start threads of their own
        variables["OPENBLAS_NUM_THREADS"] = "1"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(list(map(str, command)), env=os.environ | variables, **pipes) as process:

        def turn() -> tuple[float, Values]:
            try:
                process.stdin.write("\n")
                process.stdin.flush()
                seconds, values = json.loads(process.stdout.readline())
            except (BrokenPipeError, ValueError):
                sys.exit(f"error: {name} failed:\n{process.communicate()[1][-2000:]}")
            return seconds, values

        yield turn
        process.stdin.close()


def measure(arguments: argparse.Namespace, left_out: Sequence[str] = ()) -> dict[str, tuple[list[float], Values]]:
    """Return the seconds of all turns and the last values, by way. The ways take turns."""
    names = [name for name, way in WAYS.items() if (arguments.peers or not way.peer) and name not in left_out]
    measured: dict[str, tuple[list[float], Values]] = {name: ([], {}) for name in names}
    with ExitStack() as stack:
        python = {True: arguments.peers, False: sys.executable}
        turns = {name: stack.enter_context(worker(name, python[WAYS[name].peer], arguments)) for name in names}
        for number in range(arguments.runs + 1):
            print(f"turn {number} of {arguments.runs}", file=sys.stderr)
            for name, turn in turns.items():
                seconds, values = turn()
                if number:  # during the first turn, other ways still prepare
                    measured[name] = ([*measured[name][0], seconds], values)
    return measured


def random_case(items: int) -> Case:
    """Return a case of random factors, with events in which every item occurs."""
    rng = np.random.default_rng(0)
    first = np.arange(USERS) * items // USERS
    training = np.sort((first[:, np.newaxis] + np.arange(EVENTS)) % items, axis=1).ravel()
    pairs = (np.ones(len(training)), training, np.arange(USERS + 1) * EVENTS)
    split = Split(
        csr_array(pairs, shape=(USERS, items)),
        pair_matrix(np.arange(USERS), (first + EVENTS) % items, (USERS, items)),
        np.arange(USERS),
        np.arange(items),
    )
    return Case(split, FactorModel(rng.normal(size=(USERS, FACTORS)), rng.normal(size=(items, FACTORS))))


def by_catalogue(arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the median milliseconds of the ways to exact ranks, by number of items."""
    rows = []
    for items in CATALOGUES:
        case = random_case(items)
        with tempfile.TemporaryDirectory() as folder:
            files = {"split": Path(folder, "split.npz"), "model": Path(folder, "model.npz")}
            case.split.write(files["split"])
            case.model.write(files["model"])
            measured = measure(argparse.Namespace(**(vars(arguments) | files)), SAMPLED)
        medians = {name: 1e3 * statistics.median(seconds) for name, (seconds, _) in measured.items()}
        rows.append({"items": items} | medians)
        print(rows[-1], file=sys.stderr)
    return pd.DataFrame(rows)


def chart(catalogues: pd.DataFrame, path: Path) -> None:
    """Draw the milliseconds by the number of items, and write the figure."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from sampled_metrics.rendering import drawing

    names = {"ours": "this project", "ours, float32": "this project, float32", "recbole": "RecBole"}
    with mpl.rc_context(drawing.SETTINGS):
        figure = Figure(figsize=(drawing.WIDTH, 3.4))
        axes = figure.subplots()
        for number, name in enumerate(catalogues.columns.drop("items")):
            axes.plot(catalogues["items"], catalogues[name], label=names.get(name, name), **drawing.style(number))
        axes.set(xscale="log", yscale="log", xlabel="items", ylabel=f"milliseconds for {USERS} users")
        figure.legend(loc="outside upper left", ncols=3)
        drawing.write(figure, path)


def report(
    arguments: argparse.Namespace, measured: dict[str, tuple[list[float], Values]], catalogues: pd.DataFrame
) -> str:
    """Return the page as Markdown."""
    import machine

    case = read_case(arguments)
    median = {name: statistics.median(seconds) for name, (seconds, _) in measured.items()}

    def rows(names: list[str], own: str) -> Iterator[str]:
        yield "| | milliseconds | least to most | times this project's | AUC |\n|:---|---:|---:|---:|---:|"
        for name in names:
            seconds, values = measured[name]
            spread = f"{min(seconds) * 1e3:.3g} to {max(seconds) * 1e3:.3g}"
            ratio = median[name] / median[own]
            auc = next((f"{value:.4f}" for key, value in values.items() if "auc" in key.lower()), "-")
            yield f"| {WAYS[name].title} | {median[name] * 1e3:.3g} | {spread} | {ratio:.3g} | {auc} |"

    users, factors = case.model.user_factors.shape
    return "\n".join(
        [
            "**Exact ranks, and a sampled evaluation, beside other tools**\n",
            f"{users} users, {case.items} items, d = {factors}; medians of {arguments.runs} turns, "
            f"{arguments.threads} threads. The reference is one matrix product in single precision, and one look at "
            "each score. The AUC of implicit counts training items as beaten (docs/adapters.md).\n",
            *rows([name for name in measured if name not in SAMPLED], "ours"),
            "\nOne repetition of the evaluation among 100 sampled negatives:\n",
            *rows([name for name in measured if name in SAMPLED], "repetition"),
            f"\n**By the size of the catalogue**: {USERS} users, d = {FACTORS}, random factors, {EVENTS} training "
            f"items of each user; milliseconds, medians of {arguments.runs} turns\n",
            "![Milliseconds of exact ranks by the number of items](ranking.png)\n",
            str(catalogues.to_markdown(index=False, floatfmt=",.0f", intfmt=",")),
            "\n" + machine.table(),
            "",
        ]
    )


def read_case(arguments: argparse.Namespace) -> Case:
    """Return the case of the split and the model that the arguments name."""
    return Case(read_split(arguments.split), read_model(arguments.model))


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
    arguments = parser.parse_args()
    if arguments.work:
        work(WAYS[arguments.work], read_case(arguments), arguments.threads)
        return
    measured, catalogues = measure(arguments), by_catalogue(arguments)
    text = report(arguments, measured, catalogues)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
        chart(catalogues, arguments.output.with_suffix(".png"))
    print(text)


if __name__ == "__main__":
    main()
