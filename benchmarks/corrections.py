"""Time `correct` and `compare` by the number of different n, the numbers of candidates of the users.

The ranks fall off as a power law, and 100 negatives of each user are drawn. Both functions keep what they computed for
a sample, so each turn has a sample of its own.

    OMP_NUM_THREADS=1 python benchmarks/corrections.py --output docs/reproduction/corrections.md
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

import machine  # noqa: E402

import sampled_metrics as sm  # noqa: E402

USERS, NEGATIVES = 6040, 100
DIFFERENT = (1, 10, 100, 1000)
ESTIMATORS = ("uncorrected", "cls", "bv-0.01", "mle", "decreasing", "free")


def sample(rng: np.random.Generator, different: int, power: float) -> pd.DataFrame:
    """Draw sampled ranks of users with so many different n, from 1700 to 3700."""
    candidates = np.linspace(3700, 1700, different).astype(np.int64)[np.arange(USERS) % different]
    better = np.floor(candidates * rng.random(USERS) ** power).astype(np.int64)
    x = rng.hypergeometric(better, candidates - 1 - better, NEGATIVES)
    return pd.DataFrame({"user": np.arange(USERS), "rank": x + 1, "negatives": NEGATIVES, "candidates": candidates})


def timed(way: str, different: int, runs: int) -> float:
    """Return the median seconds of a correction by an estimator, or of a comparison (compare), after a first one."""
    took = []
    for turn in range(runs + 1):
        rng = np.random.default_rng(turn)
        one, other = sample(rng, different, 3.0), sample(rng, different, 4.0)
        start = time.perf_counter()
        if way == "compare":
            sm.compare({"A": one, "B": other})
        else:
            sm.correct(one, estimators=way)
        took.append(time.perf_counter() - start)
    return statistics.median(took[1:])


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    rows = []
    for way in (*ESTIMATORS, "compare"):
        rows.append({"": way} | {f"{n:,} n": timed(way, n, given.runs) for n in DIFFERENT})
        print(rows[-1], file=sys.stderr)
    table = pd.DataFrame(rows).to_markdown(index=False, floatfmt=".2g")
    text = f"""**Seconds of `correct` by estimator, and of `compare` by its default estimator**

{USERS} users with {NEGATIVES} sampled negatives, four metrics with intervals. Columns: the number of different n
among the users. Medians of {given.runs} runs, each of a new sample, after a first one.

{table}

{machine.table(machine.describe())}
"""
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
