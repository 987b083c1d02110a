"""Measure how often strict bounds hold the true metric, and how often `compare` decides by them, rightly and wrongly.

Evaluations are simulated from distributions of true ranks. Some are those of recommenders of given rank tables, with
users drawn anew. Others are made up, and a few of these contradict the assumption. The same seed gives the same numbers
for any number of jobs.

    python benchmarks/strict_coverage.py --jobs 2 --ranks ml-1m=published/ml-1m --ranks ml-100k=results/ml-100k/ranks \
        --output docs/reproduction/strict-coverage.csv
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from sampled_metrics._running import terminal_progress
from sampled_metrics.estimators import estimator
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.strict_intervals import strict_interval, supported
from sampled_metrics.inference.users import users_by_outcome
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.sampling.outcomes import Outcomes

METRICS = ("recall@1", "recall@10", "ndcg@10", "ap")
SIZES, PAIR_SIZES = (20, 100, 500, 1000), (100, 300, 1000)


@dataclass(frozen=True)
class Population:
    """Users with some n, and their true ranks.

    Attributes:
        name: name in the table.
        candidates: the n.
        shares: shares of users by n.
        ranks: (n,) probabilities of the true ranks for each n; for several recommenders on the same users, the
            (users, recommenders) ranks themselves.
        has_shape: whether better ranks are more frequent.
    """

    name: str
    candidates: tuple[int, ...]
    shares: tuple[float, ...]
    ranks: tuple[np.ndarray, ...]
    has_shape: bool = True

    def draw(self, users: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return (users,) n and (users, recommenders) ranks."""
        which = rng.choice(len(self.candidates), users, p=self.shares)
        n = np.array(self.candidates)[which]
        if self.ranks[0].ndim == 2:
            return n, self.ranks[0][rng.integers(0, len(self.ranks[0]), users)]
        ranks = np.empty((users, 1), dtype=np.int64)
        for index, probabilities in enumerate(self.ranks):
            of_n = which == index
            ranks[of_n, 0] = rng.choice(len(probabilities), int(of_n.sum()), p=probabilities) + 1
        return n, ranks

    def keeps_shape(self, users: int) -> bool:
        """Return whether samples of so many users have the shape.

        Samples from a table of less than half as many users do not have it: they repeat the table's irregularities.
        """
        return self.has_shape and (self.ranks[0].ndim == 1 or 2 * len(self.ranks[0]) >= users)

    @cached_property
    def truth(self) -> np.ndarray:
        """(recommenders, metrics) true metrics."""
        n = self.candidates[0]
        if self.ranks[0].ndim == 2:
            values = [metric(label).of_rank(self.ranks[0], n).mean(axis=0) for label in METRICS]
            return np.stack(values, axis=1)
        parts = [
            share * np.array([metric(label).values(n) @ probabilities for label in METRICS])
            for n, share, probabilities in zip(self.candidates, self.shares, self.ranks, strict=True)
        ]
        return np.sum(parts, axis=0)[np.newaxis]

    def outcomes(self, negatives: int) -> Outcomes:
        """Return all possible outcomes, which are the same for all samples."""
        x = np.tile(np.arange(negatives + 1), len(self.candidates))
        n = np.repeat(np.array(self.candidates), negatives + 1)
        events = np.where(x == 0, np.round(1000 * np.repeat(self.shares, negatives + 1)), 0).astype(np.int64)
        return Outcomes(x, np.full_like(x, negatives), n, replacement=False, events=events)


def law(weights: np.ndarray) -> np.ndarray:
    """Return probabilities from weights."""
    return weights / weights.sum()


def made_up() -> Iterator[Population]:
    """Yield the made-up populations."""
    k = np.arange(1, 3542)
    power, bottom = law(1 / (k + 2.0) ** 0.9), law(1.0 * (k > 1770))
    yield Population("power law", (3541,), (1.0,), (power,))
    yield Population("log-normal", (3541,), (1.0,), (law(np.exp(-((np.log(k) - 5) ** 2) / 12.5) / k),))
    top = law(np.where(k == 1, 0, 1 / (k + 10.0)))
    top[0] = top[1]
    yield Population("a third at the bottom", (3541,), (1.0,), (2 / 3 * law(top) + bottom / 3,))
    candidates, shares, offsets = (1400, 2200, 3000, 3690), (0.1, 0.2, 0.3, 0.4), (5, 10, 20, 40)
    laws = tuple(law(1 / (np.arange(1, n + 1) + offset)) for n, offset in zip(candidates, offsets, strict=True))
    yield Population("n from 1400 to 3690", candidates, shares, laws)
    yield Population(
        "n = 1200 and 5000", (1200, 5000), (0.5, 0.5), tuple(law(1 / np.arange(3.0, n + 3)) for n in (1200, 5000))
    )
    avoids = law(np.where(k <= 20, 0, 1 / (k + 2.0) ** 0.9))
    yield Population("avoids the first 20 ranks", (3541,), (1.0,), (avoids,), has_shape=False)
    humps = 0.1 * law(np.exp(-k / 3)) + 0.9 * law(np.exp(-((k - 400) ** 2) / 2e4))
    yield Population("two humps", (3541,), (1.0,), (humps,), has_shape=False)


def from_tables(folders: Iterable[str]) -> Iterator[Population]:
    """Yield the populations of the rank tables in folders, given as NAME=FOLDER, with the mean n."""
    for named_folder in folders:
        name, folder = named_folder.split("=", 1)
        tables = {path.name.split(".")[0]: exact_ranks(path) for path in sorted(Path(folder).glob("*.csv.gz"))}
        n = round(np.mean([table.mean_candidates for table in tables.values()]))
        ranks = {}
        for label, table in tables.items():
            order = np.argsort(table.users)
            share = (table.above + table.tied / 2) / (table.candidates - 1)
            ranks[label] = np.round(share * (n - 1)).astype(np.int64)[order] + 1
            yield Population(f"{name} {label}", (n,), (1.0,), (ranks[label][:, np.newaxis],))
        for one, other in combinations(ranks, 2) if n > 2000 else ():
            both = np.stack((ranks[one], ranks[other]), axis=1)
            yield Population(f"{name} {one}, {other}", (n,), (1.0,), (both,))


def equal_by_recall() -> Population:
    """Return two power laws with the same Recall@10. The bias of an estimator differs between them."""
    k = np.arange(1, 3542)
    steep = law((k + 40.0) ** -1.6)

    def gap(offset: float) -> float:
        return float(law((k + offset) ** -0.9)[:10].sum() - steep[:10].sum())

    laws = [steep, law((k + brentq(gap, 0.0, 1000.0)) ** -0.9)]
    ranks = []
    for seed, probabilities in enumerate(laws):
        quantiles = (np.random.default_rng(seed).permutation(100_000) + 0.5) / 100_000
        ranks.append(np.searchsorted(np.cumsum(probabilities), quantiles) + 1)
    return Population("equal by Recall@10", (3541,), (1.0,), (np.stack(ranks, axis=1),))


Cell = tuple[Population, int, int, str]
"""A population, the numbers of negatives and users, and the assumption."""


def simulated(cell: Cell, evaluations: int) -> list[dict[str, object]]:
    """Return a row for each metric of a cell, by simulation."""
    population, negatives, users, shape = cell
    outcomes = population.outcomes(negatives)
    estimate = estimator(shape).fit(outcomes, [metric(label) for label in METRICS])
    sides = len(population.truth)
    truth = population.truth[-1] - (population.truth[0] if sides == 2 else 0)
    first = np.searchsorted(np.array(population.candidates), outcomes.candidates[:: negatives + 1]) * (negatives + 1)
    rng = np.random.default_rng([1, negatives, users, *map(ord, population.name + shape)])
    missed, width, kept = np.zeros((2, len(METRICS))), np.zeros(len(METRICS)), 0
    right, wrong = np.zeros(len(METRICS)), np.zeros(len(METRICS))
    ones = np.ones(len(METRICS))
    for number in range(evaluations):
        n, ranks = population.draw(users, rng)
        x = rng.hypergeometric(ranks - 1, (n[:, np.newaxis] - ranks), negatives)
        start = first[np.searchsorted(np.array(population.candidates), n)]
        by_outcome = users_by_outcome(*((start + side, np.arange(users), len(outcomes)) for side in x.T))
        limits = -ones * (sides - 1), ones
        options = IntervalOptions(seed=number)
        of_sides = [by_outcome.of(side) for side in range(sides)]
        variances = [estimate.moments(side.counts @ side.shares[0])[1] for side in of_sides]
        supports = [
            supported(estimate, side, options, of_side) for side, of_side in zip(of_sides, variances, strict=True)
        ]
        interval = strict_interval([estimate] * sides, by_outcome, options, limits, supports)
        low, high = interval.low, interval.high
        kept += interval.shape == shape
        missed += [low > truth + 1e-12, high < truth - 1e-12]
        width += high - low
        right += np.where(truth > 0, low > 0, (high < 0) & (truth < 0))
        wrong += np.where(truth > 0, high < 0, low > 0) + np.where(truth == 0, high < 0, 0)
    return [
        {
            "population": population.name,
            "sides": sides,
            "shape": shape,
            "has_shape": population.keeps_shape(users),
            "negatives": negatives,
            "users": users,
            "metric": label,
            "truth": truth[i],
            "covered": 1 - missed[:, i].sum() / evaluations,
            "above": missed[0, i] / evaluations,
            "below": missed[1, i] / evaluations,
            "width": width[i] / evaluations,
            "contradicted": 1 - kept / evaluations,
            "right": right[i] / evaluations,
            "wrong": wrong[i] / evaluations,
            "evaluations": evaluations,
        }
        for i, label in enumerate(METRICS)
    ]


def all_cells(folders: list[str]) -> list[Cell]:
    """Return the cells, the most informative ones first."""
    alone, pairs = [*made_up()], [equal_by_recall()]
    for population in from_tables(folders):
        (alone if len(population.truth) == 1 else pairs).append(population)

    def cells(populations: list[Population], sizes: tuple[int, ...], users: int, shape: str) -> list[Cell]:
        return [(population, m, users, shape) for m in sizes for population in populations]

    return [
        *cells(pairs, PAIR_SIZES, 6040, "decreasing"),
        *cells(alone, SIZES, 1000, "decreasing"),
        *cells(alone, SIZES, 6040, "decreasing"),
        *cells(alone, SIZES, 200, "decreasing"),
        *cells(pairs, PAIR_SIZES, 6040, "convex"),
        *cells(pairs, PAIR_SIZES, 1000, "decreasing"),
        *cells([population for population in alone if population.has_shape], SIZES, 1000, "convex"),
    ]


def main() -> None:
    """Simulate the cells that the csv lacks, and add their rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ranks", action="append", default=[], help="NAME=FOLDER of rank tables")
    parser.add_argument("--output", type=Path, required=True, help="csv file; a run adds the cells that it lacks")
    arguments = parser.parse_args()
    done = set()
    if arguments.output.exists():
        rows = pd.read_csv(arguments.output)[["population", "negatives", "users", "shape"]]
        done = set(map(tuple, rows.to_numpy()))
    todo = [cell for cell in all_cells(arguments.ranks) if (cell[0].name, *cell[1:]) not in done]
    with threadpool_limits(1), Pool(arguments.jobs) as pool:
        rows_of_cells = pool.imap_unordered(partial(simulated, evaluations=arguments.evaluations), todo)
        for rows, _ in zip(rows_of_cells, terminal_progress(todo), strict=True):
            is_new = not arguments.output.exists()
            pd.DataFrame(rows).to_csv(arguments.output, mode="a", header=is_new, index=False)


if __name__ == "__main__":
    main()
