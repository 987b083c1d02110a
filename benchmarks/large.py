"""Time what ranking all candidates costs in large catalogues, beside other tools.

Factors are random, and all items occur in training. Each way is a process of its own, which
prepares its data once. The ways then take turns, so that other load of the machine affects all of
them, and the page has the medians. Before that, the ranks of 100 users are compared with a
brute-force count at each size. A way that takes longer than 20 seconds has one turn, and is left
out at larger sizes.

    python benchmarks/large.py --peers .venv-peers/bin/python

prints the table, and writes docs/reproduction/large.csv and large.png, and the table into
docs/how-to/large.md.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import ranking

from sampled_metrics.ranking.split import Split, pair_matrix
from sampled_metrics_study.recommenders.models import FactorModel

ROOT = Path(__file__).resolve().parents[1]
SHOWN = ROOT / "docs/reproduction"
PAGE = ROOT / "docs/how-to/large.md"
PLACE = re.compile("(<!-- large -->\n).*?(<!-- end of large -->)", flags=re.DOTALL)
PRODUCT = "bare product"
"""A float32 product and one comparison of each score."""

THREADS = 2
K = 10
LONGEST = 20.0  # seconds; a way that takes longer has one turn, and none at larger sizes
PAUSE = 0.2  # seconds before a turn, as threads of linear algebra wait actively for a while
CHECKED = 100  # users whose ranks are counted by brute force
BLOCK = 2**24  # scores of the reference and of numpy at a time
Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """What is ranked: users and items, d factors of each, and the form of the scores."""

    users: int
    items: int
    d: int
    form: str = "factors"

    @property
    def title(self) -> str:
        """The case in the table."""
        factors = "" if self.form == "matrix" else f" × {self.d}"
        return f"{self.users:,} × {self.items:,}{factors}"


CASES = (
    *(Case(1000, items, 32) for items in (3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)),
    Case(2000, 30_000, 16),
    Case(2000, 100_000, 32),
    Case(2000, 100_000, 128),
    Case(10, 1_000_000, 32),
    Case(2000, 100_000, 32, "matrix"),
    Case(2000, 100_000, 32, "function"),
)
LINES = 6  # the first cases, in the figure


@dataclass(frozen=True)
class Data:
    """The data of a case: factors in double precision, training events, and a held-out item for
    each user.
    """

    case: Case
    factors: tuple[np.ndarray, np.ndarray]
    training: csr_array
    held_out: np.ndarray

    @classmethod
    def of(cls, case: Case) -> "Data":
        """Return seeded data in which each item is in an event, if there are 100 events of a user
        or more.
        """
        rng = np.random.default_rng(0)
        events = max(100, -(-case.items // case.users)) if case.users >= CHECKED else 100
        user = np.arange(case.users)
        first_item = user * case.items // case.users
        item = (first_item[:, np.newaxis] + np.arange(events)) % case.items
        training = pair_matrix(np.repeat(user, events), item.ravel(), (case.users, case.items))
        factors = rng.normal(size=(case.users, case.d)), rng.normal(size=(case.items, case.d))
        return cls(case, factors, training, (first_item + events) % case.items)

    @property
    def single(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors in single precision."""
        return self.factors[0].astype(np.float32), self.factors[1].astype(np.float32)

    def split(self) -> tuple[Split, FactorModel]:
        """Return what the ways of benchmarks/ranking.py take."""
        user = np.arange(self.case.users)
        held_out = pair_matrix(user, self.held_out, self.training.shape)
        split = Split(self.training, held_out, user, np.arange(self.case.items))
        return split, FactorModel(*self.factors)


def scores_of(data: Data) -> Any:
    """Return the scores as this project takes them, in the form of the case."""
    if data.case.form == "factors":
        return data.factors
    users, items = data.single
    columns = np.ascontiguousarray(items.T)
    return users @ columns if data.case.form == "matrix" else lambda block: users[block] @ columns


def ours(data: Data) -> Call:
    """Exact ranks by this project, after they are compared with a brute-force count for some
    users.
    """
    import sampled_metrics as sm

    scores = scores_of(data)
    check(data, scores, sm.rank(scores, data.training, data.held_out, users=slice(CHECKED)))
    return lambda: sm.rank(scores, data.training, data.held_out)


def check(data: Data, scores: Any, table: Any) -> None:
    """Assert that the ranks of the first users are those of a brute-force count of their scores.

    Of factors, these are added term by term in the order of the factors, as `rank` says.
    """
    users = len(table.above)
    items = data.case.items
    held_out = data.held_out[:users]
    if data.case.form == "function":
        scores = scores(slice(users))

    def block(part: Any) -> np.ndarray:
        """Return the (users, items) scores of some items."""
        if data.case.form != "factors":
            return scores[:users, part]
        sums = np.zeros((users, len(data.factors[1][part])))
        for left, right in zip(data.factors[0][:users].T, data.factors[1][part].T, strict=True):
            sums += left[:, np.newaxis] * right
        return sums

    target = block(held_out)[np.arange(users), np.arange(users), np.newaxis]
    above = np.zeros(users, dtype=np.int64)
    tied = np.zeros(users, dtype=np.int64)
    for start in range(0, items, 2**13):
        part = slice(start, start + 2**13)
        is_candidate = data.training[:users, part].toarray() == 0
        is_candidate &= np.arange(items)[part] != held_out[:, np.newaxis]
        scores_of_part = block(part)
        above += ((scores_of_part > target) & is_candidate).sum(axis=1)
        tied += ((scores_of_part == target) & is_candidate).sum(axis=1)
    if not (np.array_equal(above, table.above) and np.array_equal(tied, table.tied)):
        sys.exit(f"error: {data.case}: the ranks are not those that were counted")


def reference(data: Data) -> Call:
    """The bare product: a float32 product and a comparison of each score.

    It knows no ties and no training items. Of a matrix, it is the comparison; of a function, what
    it returns and a comparison.
    """
    users, items = data.single
    columns = np.ascontiguousarray(items.T)
    target = np.einsum("ij,ij->i", users, items[data.held_out])[:, np.newaxis]
    height = max(1, (2**18 if data.case.form == "matrix" else BLOCK) // data.case.items)
    memory = np.empty((height, data.case.items), dtype=np.float32)
    matrix = users @ columns if data.case.form == "matrix" else None

    def call() -> int:
        above = 0
        for start in range(0, len(users), height):
            part = slice(start, start + height)
            if matrix is None:
                factors = users[part]
                scores = np.matmul(factors, columns, out=memory[: len(factors)])
            else:
                scores = matrix[part]
            above += int((scores > target[part]).sum())
        return above

    return call


def numpy_top(data: Data) -> Call:
    """What is often written: product, mask of training items, and the ten best; Recall@10 and
    NDCG@10 alone.
    """
    users, items = data.single
    columns = np.ascontiguousarray(items.T)
    training = data.training
    height = max(1, BLOCK // data.case.items)

    def call() -> tuple[float, float]:
        places = []
        for start in range(0, len(users), height):
            part = slice(start, start + height)
            scores = users[part] @ columns
            scores[training[part].nonzero()] = -np.inf
            best = np.argpartition(-scores, K, axis=1)[:, :K]
            order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
            is_hit = np.take_along_axis(best, order, axis=1) == data.held_out[part, np.newaxis]
            places.append(np.where(is_hit.any(axis=1), is_hit.argmax(axis=1), np.inf))
        place = np.concatenate(places)
        return float((place < K).mean()), float((1 / np.log2(place + 2)).mean())

    return call


def implicit_top(data: Data) -> Call:
    """implicit.evaluation.ranking_metrics_at_k at 10: precision, NDCG and MAP."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    als = AlternatingLeastSquares(data.case.d, num_threads=THREADS, dtype=np.float32)
    als.user_factors, als.item_factors = data.single
    options = {"K": K, "show_progress": False, "num_threads": THREADS}
    return partial(ranking_metrics_at_k, als, *ranking.matrices(data.split()[0]), **options)


@dataclass(frozen=True)
class Way:
    """A way to evaluate."""

    prepare: Callable[[Data], Call]
    needs: str = ""  # a package
    is_peer: bool = False  # it runs in the environment of the other tools
    has_threads: bool = False  # it starts threads of its own


WAYS = {
    PRODUCT: Way(reference),
    "this project": Way(ours),
    "numpy, top 10": Way(numpy_top),
    "implicit, top 10": Way(implicit_top, needs="implicit", has_threads=True),
    "recometrics": Way(
        lambda data: ranking.recometrics(*data.split()), needs="recometrics", is_peer=True
    ),
    "RecBole": Way(lambda data: ranking.recbole(*data.split()), needs="recbole", is_peer=True),
}
OURS = (PRODUCT, "this project")


def work(way: Way, case: Case) -> None:
    """Prepare a way, then time a call for each line of the standard input, and print its seconds
    and the megabytes.
    """
    # the tools print, and RecBole reads arguments
    out = sys.stdout
    sys.stdout = sys.stderr
    sys.argv = sys.argv[:1]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        call = way.prepare(Data.of(case))
        print("ready", file=out, flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            call()
            seconds = time.perf_counter() - start
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(seconds, megabytes, file=out, flush=True)


class Worker:
    """The process of a way."""

    def __init__(self, name: str, case: Case, python: str) -> None:
        threads = "1" if WAYS[name].has_threads else str(THREADS)
        variables = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(THREADS))
        variables |= {"OPENBLAS_NUM_THREADS": threads, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [python, __file__, "--work", name, "--case", json.dumps(asdict(case))]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # `close` closes it
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        self._process = subprocess.Popen(command, env=os.environ | variables, text=True, **pipes)
        self._name = name
        self._answer()

    def _answer(self) -> str:
        answer = self._process.stdout.readline()
        if not answer:
            self._errors.seek(0)
            sys.exit(f"error: {self._name} failed:\n{self._errors.read()[-2000:]}")
        return answer

    def turn(self) -> tuple[float, ...]:
        """Return the seconds of a call, and the most megabytes of the process so far."""
        time.sleep(PAUSE)
        print(file=self._process.stdin, flush=True)
        return tuple(map(float, self._answer().split()))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
        self._errors.close()


def measure(case: Case, pythons: dict[str, str], runs: int) -> list[dict[str, Any]]:
    """Return the turns of the ways at a size; the first, which may be slower, is not measured if it
    is short.
    """
    workers = {name: Worker(name, case, python) for name, python in pythons.items()}
    rows = []
    for number in range(-1, runs):
        for name, worker in [*workers.items()]:
            seconds, megabytes = worker.turn()
            row = {"way": name, "run": number, "seconds": seconds, "megabytes": megabytes}
            rows.append(asdict(case) | row)
            print(f"{case.title}, {case.form}: {name} {seconds:.3f} s", file=sys.stderr)
            if seconds > LONGEST and name not in OURS:
                workers.pop(name).close()
                pythons.pop(name)
    for worker in workers.values():
        worker.close()
    return rows


def pythons(peers: str | None) -> dict[str, str]:
    """Return the Python of each way whose package is installed."""
    by_way = {}
    for name, way in WAYS.items():
        python = peers if way.is_peer else sys.executable
        if python and (not way.needs or has_package(python, way.needs)):
            by_way[name] = python
    return by_way


def has_package(python: str, name: str) -> bool:
    """Return whether a Python has a package."""
    process = subprocess.run([python, "-c", f"import {name}"], capture_output=True)
    return process.returncode == 0


def medians(turns: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of the measured turns: a row for each case, with the seconds of the ways
    and `megabytes`.
    """
    keys = ["users", "items", "d", "form"]
    is_measured = (turns["run"] >= 0) | (turns.groupby([*keys, "way"])["run"].transform("max") < 0)
    chosen = turns[is_measured]
    seconds = chosen.pivot_table(
        index=keys, columns="way", values="seconds", aggfunc="median", sort=False
    )
    our_turns = chosen[chosen["way"] == "this project"]
    seconds = seconds.assign(megabytes=our_turns.groupby(keys)["megabytes"].max())
    return seconds.loc[turns.drop_duplicates(keys).set_index(keys).index]


def table(seconds: pd.DataFrame) -> str:
    """Return the table of the page in Markdown."""
    peers = [way for way in WAYS if way in seconds and way not in OURS]
    head = [
        "users × items × factors",
        PRODUCT,
        "**this project**",
        "ratio",
        "memory, MB",
        *peers,
    ]
    lines = [f"| {' | '.join(head)} |", f"|:---|{'---:|' * (len(head) - 1)}"]
    for (users, items, d, form), row in seconds.iterrows():
        name = {"factors": "", "matrix": ", a matrix", "function": ", a function of users"}[form]
        ratio = row["this project"] / row[PRODUCT]
        cells = [
            f"{row[PRODUCT]:.3g}",
            f"**{row['this project']:.3g}**",
            f"{ratio:.2f}",
            f"{row['megabytes']:,.0f}",
        ]
        cells += ["" if np.isnan(row[way]) else f"{row[way]:.3g}" for way in peers]
        lines.append(f"| {Case(users, items, d, form).title}{name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def chart(seconds: pd.DataFrame, path: Path) -> None:
    """Draw the seconds by the number of items, and write the figure."""
    import matplotlib as mpl

    from sampled_metrics.reporting import drawing

    case = CASES[0]
    lines = seconds.xs((case.users, case.d, "factors"), level=("users", "d", "form")).sort_index()
    with mpl.rc_context(drawing.SETTINGS):
        figure = drawing.new_figure()
        figure.set_size_inches(drawing.WIDTH, 3.4)
        axes = figure.subplots()
        for number, name in enumerate(name for name in WAYS if name in lines):
            axes.plot(lines.index, lines[name], label=name, **drawing.style(number))
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="items",
            ylabel=f"seconds for {case.users:,} users, d = {case.d}",
        )
        figure.legend(loc="outside upper left", ncols=3)
        drawing.write(figure, path)


def show(turns: pd.DataFrame, is_published: bool) -> None:
    """Print the table, and write it into the page, with its figure and its numbers."""
    seconds = medians(turns)
    text = table(seconds)
    print(text)
    if not is_published:
        return
    seconds.reset_index().to_csv(
        SHOWN / "large.csv", index=False, float_format="%.4g", lineterminator="\n"
    )
    chart(seconds, SHOWN / "large.png")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda match: match[1] + text + match[2], page), encoding="utf-8")


def main() -> None:
    """Measure all ways at all sizes, or work as the process of one way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peers", help="a Python that has recbole and recometrics; without it, they are left out"
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=int, default=10**9, help="the largest number of items")
    parser.add_argument(
        "--only-print", action="store_true", help="leave the page and the figure as they are"
    )
    parser.add_argument("--work", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--case", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(WAYS[arguments.work], Case(**arguments.case))
        return
    print(f"{os.cpu_count()} cores, {platform.platform()}, NumPy {np.__version__}", file=sys.stderr)
    by_size = pythons(arguments.peers)
    rows = []
    for number, case in enumerate(case for case in CASES if case.items <= arguments.most):
        ways = by_size if number < LINES else dict.fromkeys(OURS, sys.executable)
        rows += measure(case, ways, arguments.runs)
    show(pd.DataFrame(rows), not arguments.only_print)


if __name__ == "__main__":
    main()
