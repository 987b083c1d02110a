"""Measure how often intervals hold the truth, how often `compare` raises a false alarm, and the bias of a correction.

Evaluations are simulated from known distributions of true ranks, in settings that differ in the users, the candidates,
the negatives and the ties. The function behind `evaluate` and `compare` computes the intervals, and `correct` the
biases. The same seed gives the same numbers for any number of jobs.

    python benchmarks/coverage.py --jobs 2 --output docs/reproduction/coverage.csv
"""

import argparse
import sys
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sampled_metrics import correct, sampled_ranks
from sampled_metrics._running import terminal_progress
from sampled_metrics.estimators import linear_estimator
from sampled_metrics.inference.intervals import IntervalOptions, evaluated, linear, uncertainty
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf

METRICS = ("recall@10", "ndcg@10", "ap", "auc")
ESTIMATOR = "bv-0.1"
ALARMS = {"alarms": "own", "alarms_correlated": "same", "alarms_bv": "bv", "alarms_bv_correlated": "bv same"}
"""Columns of the csv, and the kinds of comparisons that they count."""

SAME = 0.7
"""Share of users for whom correlated recommenders have the same rank; the others' ranks are independent."""

OFFSETS = (10, 60)
"""Offsets of P(r) ∝ 1 / (r + offset): for n up to 1000, and for larger n."""


@dataclass(frozen=True)
class Setting:
    """A setting of simulated evaluations.

    Attributes:
        name: name in the table.
        users: number of users of an evaluation.
        candidates: the n of the users, in turn.
        negatives: m.
        ties: number of neighbouring ranks with the same score.
        seed: seed of all random numbers.
    """

    name: str
    users: int
    candidates: tuple[int, ...]
    negatives: int
    ties: int = 1
    seed: int = 1

    @cached_property
    def n(self) -> np.ndarray:
        """(users,) numbers of candidates."""
        return np.resize(np.array(self.candidates), self.users)

    @cached_property
    def ranks(self) -> dict[int, np.ndarray]:
        """(n,) probabilities of the true ranks, by n."""
        probabilities = {}
        for n in np.unique(self.n):
            weights = 1.0 / (np.arange(1, n + 1) + OFFSETS[int(n > 1000)])
            probabilities[int(n)] = weights / weights.sum()
        return probabilities

    @cached_property
    def values(self) -> dict[int, np.ndarray]:
        """(n, metrics) exact metrics by rank, by n. Tied ranks have the mean of their metrics."""
        values = {}
        for n in self.ranks:
            above = np.arange(n) // self.ties * self.ties
            tied = np.minimum(above + self.ties, n) - above - 1
            values[n] = np.stack([metric(label).over_ties(above, tied, n) for label in METRICS], axis=1)
        return values

    @cached_property
    def weights(self) -> dict[int, np.ndarray]:
        """(m + 1, metrics) weights of the estimator, by n."""
        design, metrics = SamplingDesign(self.negatives), tuple(metric(label) for label in METRICS)
        candidates = np.array(list(self.ranks))
        by_n = linear_estimator(ESTIMATOR).weights(design, candidates, metrics)
        return {int(n): weights.T for n, weights in zip(candidates, by_n, strict=True)}

    def mean_over_users(self, by_n: dict[int, float | np.ndarray]) -> np.ndarray:
        """Return the mean over users of values by n."""
        numbers, counts = np.unique(self.n, return_counts=True)
        return np.asarray(sum(count * by_n[int(n)] for n, count in zip(numbers, counts, strict=True)) / self.users)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return (users,) true ranks."""
        drawn, uniform = np.empty(self.users, dtype=np.int64), rng.random(self.users)
        for n, probabilities in self.ranks.items():
            users = self.n == n
            drawn[users] = np.searchsorted(np.cumsum(probabilities), uniform[users])
        return np.minimum(drawn, self.n - 1) + 1

    def sample(self, rng: np.random.Generator, rank: np.ndarray) -> np.ndarray:
        """Return (users,) numbers of sampled negatives above the held-out item. A rank among ties is drawn anew."""
        first = (rank - 1) // self.ties * self.ties
        last = np.minimum(first + self.ties, self.n)
        better = first + np.floor(rng.random(self.users) * (last - first)).astype(np.int64)
        return rng.hypergeometric(better, self.n - 1 - better, self.negatives)

    def exact(self, rank: np.ndarray) -> np.ndarray:
        """Return (users, metrics) exact metrics."""
        return self._looked_up(self.values, rank - 1)

    def corrected(self, x: np.ndarray) -> np.ndarray:
        """Return (users, metrics) weights of the sampled ranks."""
        return self._looked_up(self.weights, x)

    def _looked_up(self, tables: dict[int, np.ndarray], rows: np.ndarray) -> np.ndarray:
        lengths = [len(table) for table in tables.values()]
        starts = np.cumsum(lengths) - lengths
        of_user = starts[np.searchsorted(np.array(list(tables)), self.n)]
        return np.concatenate(list(tables.values()))[of_user + rows]


MANY = tuple(range(1400, 3690, 10))
CANDIDATES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "n = 3541, m = 100": ((3541,), 100, 1),
    "n by user, 1400 to 3690, m = 100": (MANY, 100, 1),
    "n = 100 and 5000, m = 50": ((100, 5000), 50, 1),
    "n = 500 and 5000, m = 50": ((500, 5000), 50, 1),
    "n = 3541, m = 5": ((3541,), 5, 1),
    "n = 3541, m = 1000": ((3541,), 1000, 1),
    "n = 3541, m = 100, ties of 20": ((3541,), 100, 20),
}
USERS = (5, 10, 30, 200, 6040)


def simulated(evaluations: int, biases: int, setting: Setting) -> dict[str, object]:
    """Simulate a setting; return a row of the table, with lists by metric."""
    truth = setting.mean_over_users({n: setting.ranks[n] @ setting.values[n] for n in setting.ranks})
    covered = np.zeros(len(METRICS))
    alarms = {kind: np.zeros(len(METRICS)) for kind in ALARMS.values()}
    options, counts = IntervalOptions(), np.ones(setting.users, dtype=np.int64)
    ones = np.ones(len(METRICS))
    low, high = (np.array([end(weights) for weights in setting.weights.values()]) for end in (np.min, np.max))
    largest_gap = float(high.max() - low.min())

    def ends(values: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        of_users = evaluated(linear(values.T), counts, options, weights=values.T)
        interval = uncertainty(of_users, counts, options, bounds=bounds, weights=values.T)
        return interval.low, interval.high

    for number in range(evaluations):
        rng = np.random.default_rng([setting.seed, number])
        one, independent = setting.draw(rng), setting.draw(rng)
        correlated = np.where(rng.random(setting.users) < SAME, one, independent)
        exact = setting.exact(one)
        low, high = ends(exact, (0 * ones, ones))
        covered += (low <= truth) & (truth <= high)
        for kind, other in (("own", independent), ("same", correlated)):
            low, high = ends(setting.exact(other) - exact, (-ones, ones))
            alarms[kind] += (low > 0) | (high < 0)
        corrected = setting.corrected(setting.sample(rng, one))
        for kind, other in (("bv", independent), ("bv same", correlated)):
            difference = setting.corrected(setting.sample(rng, other)) - corrected
            low, high = ends(difference, (-largest_gap * ones, largest_gap * ones))
            alarms[kind] += (low > 0) | (high < 0)
    expected = setting.mean_over_users({n: _expected(setting, n) for n in setting.ranks})
    reported = []
    for number in range(biases):
        rng = np.random.default_rng([setting.seed, 10**6 + number])
        x = setting.sample(rng, setting.draw(rng))
        ranks = sampled_ranks(x + 1, negatives=setting.negatives, candidates=setting.n)
        result = correct(ranks, estimators=ESTIMATOR, metrics=METRICS)
        reported.append(result[["bias", "bias_error"]].to_numpy(dtype=float))
    return {
        "setting": setting.name,
        "users": setting.users,
        "covered": covered / evaluations,
        "alarms": {kind: count / evaluations for kind, count in alarms.items()},
        "bias": expected - truth,
        "reported": np.nanmean(reported, axis=0),
    }


def _expected(setting: Setting, n: int) -> np.ndarray:
    """Return the (metrics,) means of the estimator over users with n candidates and their samples."""
    x_given_rank = pmf(np.arange(n), n - 1, SamplingDesign(setting.negatives))
    probabilities = setting.ranks[n]
    if setting.ties > 1:
        group = np.arange(n) // setting.ties
        probabilities = (np.bincount(group, weights=probabilities) / np.bincount(group))[group]
    return np.asarray(probabilities @ x_given_rank @ setting.weights[n])


def settings(users: tuple[int, ...], seed: int) -> list[Setting]:
    """Return the settings, the largest first, so that jobs end at about the same time."""
    return [
        Setting(name, count, candidates, negatives, ties, seed)
        for count in sorted(users, reverse=True)
        for name, (candidates, negatives, ties) in CANDIDATES.items()
    ]


def table(rows: list[dict[str, object]]) -> pd.DataFrame:
    """Return a line for each setting and metric; the biases are of Recall@10."""
    order = list(CANDIDATES)
    lines = []
    for row in sorted(rows, key=lambda row: (order.index(str(row["setting"])), row["users"])):
        for i, label in enumerate(METRICS):
            line = {"setting": row["setting"], "users": row["users"], "metric": label, "coverage": row["covered"][i]}
            line |= {column: row["alarms"][kind][i] for column, kind in ALARMS.items()}
            if label == "recall@10":
                bias, error = row["reported"][i]
                line |= {"bias": row["bias"][i], "reported_bias": bias, "reported_error": error}
            lines.append(line)
    return pd.DataFrame(lines).round(4)


def main() -> None:
    """Simulate, and write or print the csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=2000, help="number for each setting (2000)")
    parser.add_argument("--biases", type=int, default=10, help="evaluations for the bias (10)")
    parser.add_argument("--users", type=int, nargs="+", default=USERS, help="numbers of users")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers (1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--output", type=Path, help="csv file; default: standard output")
    arguments = parser.parse_args()
    simulate = partial(simulated, arguments.evaluations, arguments.biases)
    todo = settings(tuple(arguments.users), arguments.seed)
    if arguments.jobs == 1:
        rows = [simulate(setting) for setting in terminal_progress(todo)]
    else:
        with Pool(arguments.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
            results = pool.imap_unordered(simulate, todo)
            rows = [next(results) for _ in terminal_progress(todo)]
    table(rows).to_csv(arguments.output or sys.stdout, index=False)


if __name__ == "__main__":
    main()
