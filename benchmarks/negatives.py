"""Time `rank_among_negatives` for many users: 60 negatives of the 500 most popular items, and 40 of the others.

The factors are random, as time and memory do not depend on them. Each user has up to 20 training items, drawn by a
popularity like that of a catalogue. The peak memory is that of the process, and includes the data.

    OMP_NUM_THREADS=1 python benchmarks/negatives.py --users 1000000
"""

import argparse
import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_array

import sampled_metrics as sm

WANTED = {"top500": 60, "rest": 40}


def training_of(held_out: np.ndarray, chances: np.ndarray, items: int, rng: np.random.Generator) -> csr_array:
    """Return (users, items) training items without the (users,) held-out ones."""
    drawn = np.empty((len(held_out), items), dtype=np.int32)
    for rows in np.array_split(drawn, 1 + len(drawn) // 2**15):
        rows[:] = np.sort(np.searchsorted(chances, rng.random(rows.shape)), axis=1)
    kept = drawn != held_out[:, np.newaxis]
    kept[:, 1:] &= drawn[:, 1:] != drawn[:, :-1]
    ends = np.append(0, np.cumsum(kept.sum(axis=1))).astype(np.int32)
    return csr_array((np.ones(ends[-1], np.int8), drawn[kept], ends), shape=(len(held_out), len(chances)))


def main() -> None:
    """Draw the data, rank, and print the seconds and the peak memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in {"users": 1_000_000, "items": 20_000, "factors": 32, "training": 20}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--uniform", action="store_true", help="100 negatives of all items, in place of the strata")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    chances = np.cumsum(1 / (np.arange(given.items) + 20))
    chances /= chances[-1]
    held_out = np.searchsorted(chances, rng.random(given.users))
    training = training_of(held_out, chances, given.training, rng)
    factors = tuple(rng.standard_normal((rows, given.factors), np.float32) for rows in (given.users, given.items))
    strata = None if given.uniform else sm.popularity_strata(training, [500])
    start = time.perf_counter(), time.process_time()
    sm.rank_among_negatives(factors, training, held_out, negatives=100 if given.uniform else WANTED, strata=strata)
    seconds, processor = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"{given.users} users: {seconds:.1f} s, {processor:.1f} s of processor, peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
