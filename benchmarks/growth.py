"""Time ranking as users, items and factors grow, and sampling as negatives and repetitions do, and draw both.

Ranking is of random factors, beside the limit: a float32 product and one comparison of each score, measured on a part
of the scores that is large enough not to fit the cache, and multiplied. The last shape is that of MovieLens 32M.

    OPENBLAS_NUM_THREADS=1 python benchmarks/growth.py --output docs/reproduction/growth
"""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

import machine  # noqa: E402

from sampled_metrics import _files  # noqa: E402
from sampled_metrics.data.split import Split  # noqa: E402
from sampled_metrics.ranking.ranking import rank_held_out  # noqa: E402
from sampled_metrics.ranks.table import RankTable  # noqa: E402
from sampled_metrics.recommenders.models import FactorModel  # noqa: E402
from sampled_metrics.sampling.design import SamplingDesign  # noqa: E402
from sampled_metrics.sampling.draws import draw  # noqa: E402

USERS, ITEMS, FACTORS = 6040, 3706, 16  # those of MovieLens 1M and recommender X
NEGATIVES, REPETITIONS = 100, 100
EVENTS = 159  # of a user in training, as in MovieLens 32M
PART = (2048, 8192)  # users and items whose scores the limit is measured on

SHAPES = {
    "users": [(n, ITEMS, FACTORS) for n in (1000, 3000, 10_000, 30_000, 100_000, 300_000)],
    "items": [(USERS, n, FACTORS) for n in (1000, 3000, 10_000, 30_000, 100_000)],
    "factors": [(USERS, ITEMS, d) for d in (4, 16, 64, 256, 1024)],
    "MovieLens 32M": [(200_948, 84_432, 64)],
}
SAMPLES = {
    "negatives": [(m, 1) for m in (10, 30, 100, 300, 1000, 3000)],
    "repetitions": [(NEGATIVES, n) for n in (1, 10, 100, 1000)],
}


def seconds(call: Callable[[], object], runs: int) -> float:
    """Return the median time of a call."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def case(users: int, items: int, factors: int) -> tuple[FactorModel, Split]:
    """Make random factors, and EVENTS training items of every user in a row, the held-out item after them."""
    rng = np.random.default_rng(0)
    events = min(EVENTS, items // 2)
    first = rng.integers(0, items - events, users)
    indices = (first[:, np.newaxis] + np.arange(events)).astype(np.int32).reshape(-1)
    shape = (np.ones(len(indices)), indices, np.arange(users + 1) * events)
    split = Split(csr_array(shape, shape=(users, items)), first + events, np.arange(users), np.arange(items))
    return FactorModel(rng.normal(size=(users, factors)), rng.normal(size=(items, factors))), split


def limit(model: FactorModel, threads: int) -> Callable[[], float]:
    """Return what measures how long a float32 product of a model's shape, and one comparison of it, take."""
    users, items = (np.ascontiguousarray(each.astype(np.float32)) for each in (model.user_factors, model.item_factors))
    whole = len(users) * len(items)
    users, items = users[: PART[0]], np.ascontiguousarray(items[: PART[1]].T)
    pieces = np.array_split(users, threads)

    def piece(some: np.ndarray) -> None:
        (some @ items > 0.5).sum(axis=1)

    def call() -> float:
        start = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(piece, pieces))
        return (time.perf_counter() - start) * whole / (len(users) * items.shape[1])

    return call


def ranking(threads: int, runs: int) -> Iterator[dict[str, object]]:
    """Yield seconds of ranking and of the limit, measured alternately, by shape."""
    for grows, shapes in SHAPES.items():
        for users, items, factors in shapes:
            model, split = case(users, items, factors)
            least = limit(model, threads)
            turns = runs if users * items < 1e9 else max(1, runs // 3)
            took, bound = [], []
            for _ in range(turns + 1):
                start = time.perf_counter()
                rank_held_out(model, split, threads=threads)
                took.append(time.perf_counter() - start)
                bound.append(statistics.median(least() for _ in range(5)))
            row = {"grows": grows, "users": users, "items": items, "factors": factors, "turns": turns}
            yield row | {"seconds": statistics.median(took[1:]), "limit": statistics.median(bound[1:])}


def sampling(runs: int) -> Iterator[dict[str, object]]:
    """Yield seconds of drawing, by negatives and repetitions, with replacement and without."""
    rng = np.random.default_rng(0)
    candidates = np.full(USERS, ITEMS)
    above = (candidates * rng.random(USERS) ** 3).astype(np.int64)
    table = RankTable(np.arange(USERS), candidates, above, np.zeros(USERS, dtype=np.int64))
    for grows, pairs in SAMPLES.items():
        for negatives, repetitions in pairs:
            row: dict[str, object] = {"grows": grows, "negatives": negatives, "repetitions": repetitions}
            for replacement, name in ((True, "with replacement"), (False, "without")):
                design = SamplingDesign(negatives, replacement)

                def call(design: SamplingDesign = design, repetitions: int = repetitions) -> None:
                    for _ in range(repetitions):
                        draw(table.above, table.tied, table.candidates, design, rng)

                row[name] = seconds(call, runs if repetitions < 1000 else 3)
            yield row


def chart(ranks: pd.DataFrame, samples: pd.DataFrame, *paths: Path) -> None:
    """Draw five panels, time by size."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from sampled_metrics import _drawing

    columns = {
        "ranking": [("seconds", "this project", "o", "-"), ("limit", "limit", "s", "--")],
        "sampling": [("with replacement", "with replacement", "o", "-"), ("without", "without", "s", "--")],
    }
    panels = [("ranking", ranks, each) for each in ("users", "items", "factors")]
    panels += [("sampling", samples, each) for each in ("negatives", "repetitions")]
    with mpl.rc_context(_drawing.SETTINGS):
        figure = Figure(figsize=(9.5, 5.6))
        grid = figure.subplots(2, 3)
        for axes, (kind, table, grows) in zip(grid.flat, panels, strict=False):
            rows = table[table["grows"] == grows]
            for (column, label, marker, dash), colour in zip(columns[kind], _drawing.COLOURS, strict=False):
                axes.plot(rows[grows], rows[column], dash, marker=marker, color=colour, label=label)
            axes.set(xscale="log", yscale="log", xlabel=grows, ylabel="seconds", title=f"{kind}, by {grows}")
            low, high = axes.get_ylim()
            axes.set_ylim(low / 2, max(2 * high, 50 * low))  # so that what hardly grows looks flat
            axes.legend()
        grid.flat[-1].set_axis_off()
        _drawing.write(figure, *paths)


def report(ranks: pd.DataFrame, samples: pd.DataFrame, threads: int, runs: int, peak: float) -> str:
    """Write the page."""

    def table(rows: pd.DataFrame) -> str:
        counts = {"users", "items", "factors", "negatives", "repetitions"}
        shown = {name: rows[name].map("{:,.0f}".format if name in counts else "{:.3g}".format) for name in rows}
        return pd.DataFrame(shown).to_markdown(index=False, disable_numparse=True, stralign="right")

    ranks = ranks.assign(ratio=ranks["seconds"] / ranks["limit"])
    shapes = ranks.drop(columns=["grows", "turns"]).rename(columns={"ratio": "times the limit"})
    shapes = shapes.drop_duplicates(["users", "items", "factors"])
    drawn = samples.drop(columns="grows").drop_duplicates(["negatives", "repetitions"])
    return "\n".join(
        [
            "**How time grows**\n",
            "![Seconds of ranking and of sampling by size](growth.png)\n",
            f"Exact ranks of random factors, {threads} threads, medians of {runs} runs ({ranks['turns'].min()} of the "
            "largest). The limit is a product in single precision and one comparison of each score, measured on "
            f"{PART[0]} users and {PART[1]} items, or all that there are, and multiplied.\n",
            table(shapes),
            f"\nThe process took {peak:.0f} MiB at most, the made-up events included.\n",
            f"Drawing the sampled ranks of {USERS} users, seconds:\n",
            table(drawn),
            "\n" + machine.table(machine.describe()) + "\n",
        ]
    )


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, help="of the page and the figure, without the ending")
    given = parser.parse_args()

    def watched(rows: Iterator[dict[str, object]]) -> pd.DataFrame:
        kept = []
        for row in rows:
            print(row, file=sys.stderr)
            kept.append(row)
        return pd.DataFrame(kept)

    samples = watched(sampling(given.runs))
    ranks = watched(ranking(given.threads, given.runs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    text = report(ranks, samples, given.threads, given.runs, peak)
    print(text)
    if given.output:
        _files.write_text(given.output.with_suffix(".md"), text)
        chart(ranks, samples, given.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
