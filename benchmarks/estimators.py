"""Time every estimator, each in a process of its own: fitting it for four metrics and estimating from one sample.

The sample is drawn from ranks that fall off as a power law. Memory is the largest resident set of the process, Python
and its libraries included.

    python benchmarks/estimators.py --candidates 3541 --negatives 100
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from sampled_metrics.estimators import estimator
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

LABELS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001", "mle", "mes"]
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]


def sample(n: int, m: int, events: int) -> np.ndarray:
    """Return the (m + 1,) counts of x in a sample without replacement."""
    rng = np.random.default_rng(1)
    better = np.floor((n - 1) * rng.random(events) ** 3).astype(int)
    return np.bincount(rng.hypergeometric(better, n - 1 - better, m), minlength=m + 1)


def timed(labels: Sequence[str], n: int, m: int, events: int) -> tuple[float, float]:
    """Return the seconds for fitting and estimating, and the peak memory in MiB."""
    counts, outcomes = sample(n, m, events), Outcomes.of(SamplingDesign(m), n)
    start = time.perf_counter()
    for label in labels:
        estimator(label).fit(outcomes, [metric(name) for name in METRICS]).estimate(counts)
    seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """Print a table of seconds and memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=3541, help="n (default %(default)s)")
    parser.add_argument("--negatives", type=int, default=100, help="m (default %(default)s)")
    parser.add_argument("--events", type=int, default=6040, help="events of the sample (default %(default)s)")
    parser.add_argument("--estimators", nargs="+", default=LABELS, help="default: all of them")
    given = parser.parse_args()
    size = (given.candidates, given.negatives, given.events)
    print("| estimator | seconds | MiB |\n|:---|---:|---:|")
    context = multiprocessing.get_context("spawn")  # a fork would start with the memory of its parent
    runs = [(label, [label]) for label in given.estimators] + [("all, one after another", given.estimators)]
    for name, labels in runs:
        with context.Pool(1) as pool:
            seconds, memory = pool.apply(timed, (labels, *size))
        print(f"| {name} | {seconds:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
