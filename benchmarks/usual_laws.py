"""Measure how often intervals and verdicts from sampled ranks are right, for laws of true ranks as they are met.

Users are drawn anew, either from the rank tables of X, Y and Z on MovieLens or from made-up laws. Each sampled
evaluation goes through `correct`, `compare` or both. The same seed gives the same table.

    python benchmarks/usual_laws.py --ranks ml-1m=published/ml-1m --output docs/reproduction/usual-laws.csv
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import sampled_metrics as sm

N = 3541
METRICS = ("recall@1", "recall@10", "ndcg@10", "ap")


class Population(NamedTuple):
    """Recommenders of the same users.

    Attributes:
        name: name in the table.
        ranks: (users, recommenders) true ranks; users are drawn from them with replacement.
        candidates: the n.
        is_decreasing: whether better ranks are more frequent.
    """

    name: str
    ranks: np.ndarray
    candidates: int = N
    is_decreasing: bool = True

    def truth(self, label: str) -> np.ndarray:
        """Return the (recommenders,) true values of a metric."""
        return np.array([sm.metric(label).of_rank(ranks, self.candidates).mean() for ranks in self.ranks.T])


def of_law(weights: np.ndarray) -> np.ndarray:
    """Return 200,000 ranks at the quantiles of a law with these weights of ranks 1, 2, …, as one column."""
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    return np.searchsorted(np.cumsum(weights / weights.sum()), quantiles)[:, np.newaxis] + 1


def made_up() -> Iterator[Population]:
    """Yield decreasing laws, and laws that are not."""
    rank = np.arange(1.0, N + 1)
    logarithm = np.log(rank)
    zipf = (rank + 2) ** -0.9
    yield Population("power law", of_law(zipf))
    yield Population("log-normal", of_law(np.exp(-((logarithm - 5) ** 2) / 12.5) / rank))
    yield Population("a third at the bottom", of_law(1 / (rank + 10) / 5.7 + (rank > N // 2) * 0.5 / (N // 2)))
    yield Population("lognormal, median 55", of_law(np.exp(-((logarithm - 4) ** 2) / 2) / rank), is_decreasing=False)
    humps = 0.1 * np.exp(-rank / 3) / 2.5 + 0.9 * np.exp(-((rank - 400) ** 2) / 2e4) / 250
    yield Population("two humps", of_law(humps), is_decreasing=False)
    yield Population("no first 20 ranks", of_law(np.where(rank > 20, zipf, 0)), is_decreasing=False)
    half = np.vstack([np.full((200_000, 1), 15), of_law(zipf)])
    yield Population("half of the users at rank 15", half, is_decreasing=False)


def of_tables(folders: Sequence[str]) -> Iterator[Population]:
    """Yield each recommender of the rank tables in folders, given as NAME=FOLDER, and all of them together."""
    for named_folder in folders:
        name, folder = named_folder.split("=", 1)
        tables = {path.name.split(".")[0]: sm.exact_ranks(path) for path in sorted(Path(folder).glob("*.csv.gz"))}
        n = round(float(np.mean([table.candidates.mean() for table in tables.values()])))
        columns = {}
        for label, table in tables.items():
            share = (table.above + table.tied / 2) / (table.candidates - 1)
            columns[label] = np.round(share * (n - 1)).astype(int)[np.argsort(table.user)] + 1
            yield Population(f"{name} {label}", columns[label][:, np.newaxis], n)
        yield Population(f"{name} {', '.join(columns)}", np.column_stack([*columns.values()]), n)


def sampled(population: Population, users: int, m: int, rng: np.random.Generator) -> dict[str, sm.SampledRanks]:
    """Return sampled ranks of users drawn anew, by recommender."""
    n, chosen = population.candidates, rng.integers(len(population.ranks), size=users)
    above = population.ranks[chosen] - 1
    x = rng.hypergeometric(above, n - 1 - above, m)
    return {f"recommender {number}": sm.sampled_ranks(of_one + 1, negatives=m, candidates=n)
            for number, of_one in enumerate(x.T)}  # fmt: skip


def of_one(population: Population, users: int, m: int, evaluations: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric: how often the interval of `decreasing` holds the truth.

    Where the sample is noticed to contradict the assumption, this is the interval of the weaker one.
    """
    truths = {label: population.truth(label)[0] for label in METRICS}
    cells: dict[str, list[tuple[bool, float, bool]]] = {label: [] for label in METRICS}
    for number in range(evaluations):
        rng = np.random.default_rng([seed, users, m, number])
        (ranks,) = sampled(population, users, m, rng).values()
        result = sm.correct(ranks, metrics=[*METRICS], estimators="decreasing")
        for row in result.itertuples():
            misses = row.low > truths[row.metric] or row.high < truths[row.metric]
            cells[row.metric].append((misses, row.high - row.low, row.assumes != "decreasing"))
    for label, values in cells.items():
        misses, widths, noticed = np.array(values, dtype=float).T
        shares = {"covered": 1 - misses.mean(), "width": np.nanmean(widths), "noticed": noticed.mean()}
        yield {"metric": label, "truth": truths[label], **shares, "unnoticed_misses": (misses * (1 - noticed)).mean()}


def of_pairs(population: Population, users: int, m: int, evaluations: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield how often `compare` by `decreasing` decides a pair rightly and wrongly, by Recall@10."""
    outcomes = []
    for number in range(evaluations):
        rng = np.random.default_rng([seed, users, m, number])
        tables = sampled(population, users, m, rng)
        truth = dict(zip(tables, population.truth("recall@10"), strict=True))
        for row in sm.compare(tables, metrics="recall@10", estimator="decreasing").itertuples():
            difference = truth[row.b] - truth[row.a]
            better = row.b if difference > 0 else row.a
            covered = not (row.low > difference or row.high < difference)
            outcomes.append((covered, row.conclusion == better, row.conclusion in tables and row.conclusion != better))
    covered, right, wrong = np.mean(outcomes, axis=0)
    yield {"metric": "recall@10", "covered": covered, "right": right, "wrong": wrong}


def main() -> None:
    """Simulate, write the csv after each population, and say how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", action="append", default=[], help="NAME=FOLDER of rank tables; may be repeated")
    parser.add_argument("--evaluations", type=int, default=200, help="of each cell")
    parser.add_argument("--users", type=int, nargs="+", default=[200, 1000, 6040])
    parser.add_argument("--negatives", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, help="csv file")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for population in [*made_up(), *of_tables(options.ranks)]:
        for users in options.users:
            for m in options.negatives:
                start = time.perf_counter()
                simulated = of_one if population.ranks.shape[1] == 1 else of_pairs
                cell = {
                    "population": population.name,
                    "is_decreasing": population.is_decreasing,
                    "users": users,
                    "m": m,
                }
                with threadpool_limits(1):
                    of_cell = simulated(population, users, m, options.evaluations, options.seed)
                    rows += [{**cell, **row, "evaluations": options.evaluations} for row in of_cell]
                pd.DataFrame(rows).to_csv(options.output, index=False)
                print(f"{time.perf_counter() - start:.0f} s  {cell}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
