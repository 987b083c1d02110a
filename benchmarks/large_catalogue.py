"""Time `rank_to_parquet` on random factors in files, a million users and items, and its memory, on some of the parts.

All users, items and training events are written to files first (about a gigabyte). Then some parts are ranked by each
number of processes, and the time of all parts is projected from them.

    OMP_NUM_THREADS=1 python benchmarks/large_catalogue.py --output docs/reproduction/large.md
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

import machine  # noqa: E402

import sampled_metrics as sm  # noqa: E402

CHUNK = 50_000
NAMES = ("u.npy", "i.npy", "train.parquet", "test.parquet")


def write(folder: Path, users: int, items: int, factors: int, events: int) -> None:
    """Write random factors and, sorted by user, distinct random items of each user, the last of them held out."""
    rng = np.random.default_rng(0)
    for name, rows in (("u.npy", users), ("i.npy", items)):
        with open(folder / name, "wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (rows, factors)}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, rows, CHUNK):
                rng.standard_normal((min(CHUNK, rows - first), factors), dtype=np.float32).tofile(file)
    schema = pa.schema({"user": pa.int32(), "item": pa.int32()})
    with (
        parquet.ParquetWriter(folder / "train.parquet", schema) as train,
        parquet.ParquetWriter(folder / "test.parquet", schema) as test,
    ):
        for first in range(0, users, CHUNK):
            user = np.arange(first, min(first + CHUNK, users), dtype=np.int32)
            start = rng.integers(items, size=(len(user), 1))
            item = (
                (start + np.cumsum(rng.integers(1, items // events, (len(user), events + 1)), axis=1)) % items
            ).astype(np.int32)
            for file, columns in ((train, item[:, :-1]), (test, item[:, -1:])):
                pairs = {"user": np.repeat(user, columns.shape[1]), "item": columns.ravel()}
                file.write_table(pa.table(pairs, schema), row_group_size=2**20)


@contextmanager
def engine(name: str, workers: int) -> Iterator[Callable[..., Iterable[Path | None]]]:
    """Yield the map of an engine with so many processes that have started."""
    if name == "dask":
        from distributed import Client, LocalCluster

        local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        with local as cluster, Client(cluster) as client:
            client.gather(client.map(abs, range(workers)))
            yield client.get_executor().map
    elif workers == 1:
        yield map
    else:
        with ProcessPoolExecutor(workers) as pool:
            yield pool.map


def measure(folder: Path, name: str, workers: int, parts: int) -> None:
    """Rank the first parts and print how long it takes, and the largest resident set of a process."""
    users, items, training, held_out = (folder / name for name in NAMES)
    with engine(name, workers) as its_map:

        def some(function: Callable[[int], Path | None], numbers: Iterable[int]) -> list[Path | None]:
            first, rest = list(numbers)[:parts], list(numbers)[parts:]
            return [*its_map(function, first), *(None for _ in rest)]

        start = time.perf_counter()
        found = sm.rank_to_parquet((users, items), training, held_out, folder / f"ranks-{name}-{workers}", map=some)
        took = time.perf_counter() - start
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    rows = sum(len(sm.read_ranks(part)) for part in found)
    print(json.dumps({"seconds": took, "megabytes": peak / 1024, "users": rows}))


def main() -> None:
    """Write the files, measure each number of processes in a process of its own, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("users", 10**6), ("items", 10**6), ("factors", 32), ("events", 100), ("parts", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--engines", nargs="+", choices=["processes", "dask"], default=["processes", "dask"])
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.engines[0], given.workers[0], given.parts)
        return
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, given.users, given.items, given.factors, given.events)
        size = sum((folder / each).stat().st_size for each in NAMES) / 2**20
        for how, workers in product(given.engines, given.workers):
            command = [sys.executable, __file__, "--measure", name, "--engines", how, "--workers", str(workers)]
            output = subprocess.run([*command, "--parts", str(given.parts)], stdout=subprocess.PIPE, check=True).stdout
            row = json.loads(output)
            projected = row["seconds"] * given.users / row["users"] / 60
            speed = row["users"] * given.items / row["seconds"] / 1e6
            lines.append(
                f"| {how} | {workers} | {row['users']:,} | {row['seconds']:.0f} | {speed:.0f} | {projected:.0f} | "
                f"{row['megabytes']:.0f} |"
            )
            print(lines[-1], flush=True)
    text = f"""# A large catalogue

{given.users:,} users and {given.items:,} items have random float32 factors with d = {given.factors}. Each user has
{given.events} training items. The files have {size:,.0f} MB. `make bench-large` ranked the first {given.parts} parts
and projected the time of all users from them. The memory is the largest resident set of a process.

| by | processes | users ranked | seconds | million scores a second | minutes for all users, projected | MB of each |
|:--|--:|--:|--:|--:|--:|--:|
{chr(10).join(lines)}

{machine.table(machine.describe())}
"""
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
