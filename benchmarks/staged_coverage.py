"""Measure staged ranks: bias, coverage, false verdicts, and widths beside other uses of as many scores.

A population is the users of a recommender, who are scored in an order until k candidates are above. In a simulation,
users are drawn from it anew, with replacement, and each draw has a number and a fold of its own. The truth is the mean
of all users. The equal pair has the two recommenders swapped for half of the users, by chance.

    python benchmarks/staged_coverage.py coverage --data results/ml-1m --data results/ml-100k --synthetic \
        --output docs/reproduction/staged-coverage.csv
    python benchmarks/staged_coverage.py widths --data results/ml-1m --output docs/reproduction/staged-widths.csv
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

import sampled_metrics as sm
from sampled_metrics._running import terminal_progress
from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.stages import FOLDS, shares
from sampled_metrics.recommenders.models import read_model

METRICS = ("recall@1", "recall@10", "ndcg@10", "mrr@10")
K = 10
USERS, DEPTHS = (500, 2000, 6040), (30.0, 100.0, 300.0, 1000.0)
ORDERS = ("popularity", "svd", "random")
BATCHES = (1, 32)


@dataclass(frozen=True)
class Population:
    """The users of a recommender.

    Attributes:
        name: names of the data, the recommender and the order.
        ranks: completed ranks, in batches of one.
        scored: (users,) numbers of scores, for each size of batches.
        exact: (users,) ranks among all candidates.
    """

    name: tuple[str, str, str]
    ranks: sm.StagedRanks
    scored: dict[int, np.ndarray]
    exact: np.ndarray

    def draw(self, users: np.ndarray, uniform: np.ndarray, fold: np.ndarray, depth: float) -> sm.StagedRanks:
        """Return the staged ranks of (draws,) users who have these numbers and folds, in batches of 32."""
        ranks = replace(self.ranks, scored=self.scored[32])
        return ranks.redrawn(users, np.arange(len(users)), uniform, fold, depth)

    @property
    def truth(self) -> np.ndarray:
        """The (metrics,) means of all users."""
        return sm.evaluate(self.ranks, metrics=METRICS)["value"].to_numpy()


def order_of(name: str, training: csr_array, seed: int = 0) -> object:
    """Return an order of the candidates, as `staged_ranks` takes it."""
    if name == "random":
        return np.random.default_rng(seed).random(training.shape[1])
    if name == "svd":
        left, values, right = svds(training.astype(np.float64), k=4, random_state=seed)
        return lambda user: (left[user] * values) @ right
    return name


def populations(folder: Path, orders: tuple[str, ...] = ORDERS) -> Iterator[Population]:
    """Yield the recommenders of a dataset of the workflow, by each order."""
    split = read_split(folder / "split.npz")
    for path in sorted((folder / "models").glob("*.npz")):
        scores = read_model(path).scores(slice(0, split.shape.users), split.training)
        for order in orders:
            yield population((folder.name, path.stem, order), scores, split.training, split.held_out)


def population(name: tuple[str, str, str], scores: np.ndarray, training: csr_array, held_out: csr_array) -> Population:
    """Return the population of a recommender with (users, items) scores."""
    given = {"order": order_of(name[2], training), "k": K, "depth": None, "pairs_per_call": 10**6}
    runs = {
        batch: sm.staged_ranks(lambda user, item: scores[user, item], training, held_out, batch_size=batch, **given)
        for batch in BATCHES
    }
    exact = 1 + sm.rank(scores, training, held_out).above
    return Population(name, runs[1], {batch: run.scored for batch, run in runs.items()}, exact)


def synthetic(orders: tuple[str, ...] = ORDERS) -> Iterator[Population]:
    """Yield two recommenders on 2,000 users and 100,000 items, whose popularity follows a Zipf law."""
    rng, users, items = np.random.default_rng(7), 2000, 100_000
    taste, item = rng.normal(size=(users, 8)).astype(np.float32), rng.normal(size=(items, 8)).astype(np.float32)
    appeal = -np.log(np.arange(1, items + 1)).astype(np.float32)
    rows, held = [], np.empty(users, dtype=np.int64)
    for user in range(users):
        utility = item @ taste[user] * 0.7 + appeal + rng.gumbel(size=items)
        chosen = np.argpartition(-utility, 51)[:51]
        held[user] = rng.choice(chosen)
        rows.append(np.setdiff1d(chosen, held[[user]]))
    indptr = np.cumsum([0, *map(len, rows)])
    training = csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), shape=(users, items))
    for name, noise in (("A", 0.2), ("B", 0.5)):
        other = item + noise * rng.normal(size=item.shape).astype(np.float32)
        for order in orders:
            given = {"order": order_of(order, training), "k": K, "depth": None, "pairs_per_call": 10**6}
            runs = {
                batch: sm.staged_ranks(
                    lambda user, i: (taste[user] * other[i]).sum(axis=1) * 0.7 + appeal[i],  # noqa: B023
                    training, held, batch_size=batch, **given,
                )
                for batch in BATCHES
            }  # fmt: skip
            scored = {batch: run.scored for batch, run in runs.items()}
            yield Population(("synthetic", name, order), runs[1], scored, np.empty(0))


def coverage(
    population: Population, other: Population, users: int, depth: float, simulations: int
) -> dict[str, object]:
    """Return what simulated evaluations show, and comparisons with another recommender and with an equal one."""
    cell = (*population.name, users, depth)
    rng = np.random.default_rng(crc32(repr(cell).encode()))
    truth, gap = population.truth, other.truth - population.truth
    values, misses, wrong, alarms, completed, scores = [], [], [], [], [], []
    for _ in range(simulations):
        drawn = rng.integers(0, len(population.ranks), users)
        numbers = rng.random(users), rng.integers(0, FOLDS, users)
        one, two = (side.draw(drawn, *numbers, depth) for side in (population, other))
        table = sm.evaluate(one, metrics=METRICS)
        values.append(table["value"])
        completed.append(one.completed_users)
        scores.append(one.scores_per_user)
        misses.append(_missed(table, one, truth))
        compared = sm.compare({"A": one, "B": two}, metrics=METRICS)
        wrong.append(((compared["low"] > gap) | (compared["high"] < gap)).to_numpy())
        swapped = rng.random(users) < 0.5
        equal = sm.compare({"A": _swapped(one, two, swapped), "B": _swapped(two, one, swapped)}, metrics=METRICS)
        alarms.append(equal["conclusion"].isin(["A", "B"]).to_numpy())
    error = np.std(values, axis=0, ddof=1) / np.sqrt(simulations)
    row: dict[str, object] = dict(zip(("data", "recommender", "order", "users", "depth"), cell, strict=True))
    row |= {"simulations": simulations, "completed": np.mean(completed), "scores": np.mean(scores)}
    for index, label in enumerate(METRICS):
        row |= {
            f"{label} bias in errors": (np.mean(values, axis=0) - truth)[index] / error[index] if error[index] else 0.0,
            f"{label} coverage": 1 - np.mean(misses, axis=0)[index],
            f"{label} coverage of differences": 1 - np.mean(wrong, axis=0)[index],
            f"{label} false verdicts": np.mean(alarms, axis=0)[index],
        }
    return row


def bias(population: Population, users: int, depth: float, simulations: int) -> Iterator[dict[str, object]]:
    """Yield the mean error of the values of each metric, and its standard error."""
    cell = (*population.name, users, depth)
    rng = np.random.default_rng(crc32(repr(("bias", *cell)).encode()))
    metrics = [sm.metric(label) for label in METRICS]
    values = []
    for _ in range(simulations):
        drawn = rng.integers(0, len(population.ranks), users)
        staged = population.draw(drawn, rng.random(users), rng.integers(0, FOLDS, users), depth)
        values.append(staged.outcome_values(metrics).values.mean(axis=1))
    errors = np.array(values) - population.truth
    for index, label in enumerate(METRICS):
        yield dict(zip(("data", "recommender", "order", "users", "depth"), cell, strict=True)) | {
            "metric": label, "truth": population.truth[index], "bias": errors[:, index].mean(),
            "standard error": errors[:, index].std(ddof=1) / np.sqrt(simulations), "simulations": simulations,
        }  # fmt: skip


def _missed(table: pd.DataFrame, ranks: sm.StagedRanks, truth: np.ndarray) -> np.ndarray:
    """Return for (metrics,) whether the interval, or the printed bound if there is none, misses the truth."""
    if ranks.without_interval():
        bound = float(ranks.without_interval().split("no metric is above ")[1].split(":")[0])
        return truth > bound + 5e-4  # it is printed with three digits
    return ((table["low"] > truth) | (table["high"] < truth)).to_numpy()


def _swapped(one: sm.StagedRanks, other: sm.StagedRanks, is_other: np.ndarray) -> sm.StagedRanks:
    """Return the rows of one, and those of another where `is_other`."""
    names = ("above_at", "above", "tied", "complete", "scored", "score", "item", "candidates")
    rows = {}
    for name in names:
        of_one, of_other = getattr(one, name), getattr(other, name)
        rows[name] = np.where(is_other.reshape(-1, *[1] * (of_one.ndim - 1)), of_other, of_one)
    return replace(one, **rows)


def widths(population: Population, simulations: int) -> Iterator[dict[str, object]]:
    """Yield the width of the interval of Recall@10, the error and the scores of ways to evaluate a population."""
    ranks, users = population.ranks, len(population.ranks)
    truth = float(population.truth[METRICS.index("recall@10")])
    stop_at_k, every = population.scored[32], ranks.candidates
    exact = population.exact
    rng = np.random.default_rng(crc32(repr(population.name).encode()))
    ways = {
        "all candidates": (users, every), "stop at k": (users, stop_at_k),
        "stop at k, a part of the users": (round(users * 100 / stop_at_k.mean()), stop_at_k),
        "all candidates, a part of the users": (round(users * 100 / every.mean()), every),
    }  # fmt: skip
    for name, (count, scores) in ways.items():
        results = []
        for _ in range(simulations):
            drawn = rng.integers(0, users, count)
            table = sm.evaluate(
                sm.exact_ranks(exact[drawn], candidates=int(every.max()), exact=True), metrics="recall@10"
            )
            results.append((*table[["value", "low", "high"]].to_numpy()[0], scores[drawn].sum() / users))
        yield _row(population, name, truth, np.array(results))
    for depth in (30.0, 100.0, 300.0):
        results = []
        for _ in range(simulations):
            drawn, fold = rng.integers(0, users, users), rng.integers(0, FOLDS, users)
            staged = population.draw(drawn, rng.random(users), fold, depth)
            table = sm.evaluate(staged, metrics="recall@10")
            results.append((*table[["value", "low", "high"]].to_numpy()[0], staged.scores_per_user))
        yield _row(population, f"stages, depth {depth:.0f}", truth, np.array(results))
    for estimator in ("decreasing", "free"):
        results = []
        for _ in range(max(10, simulations // 20)):
            drawn = rng.integers(0, users, users)
            sampled = 1 + rng.hypergeometric(exact[drawn] - 1, every[drawn] - exact[drawn], 100)
            sample = sm.sampled_ranks(sampled, negatives=100, candidates=int(np.median(every)))
            table = sm.correct(sample, metrics="recall@10", estimators=estimator)
            results.append((*table[["value", "low", "high"]].to_numpy()[0], 101.0))
        yield _row(population, f"100 negatives, {estimator}", truth, np.array(results))


def _row(population: Population, way: str, truth: float, results: np.ndarray) -> dict[str, object]:
    value, low, high, scores = results.T
    return dict(zip(("data", "recommender", "order"), population.name, strict=True)) | {
        "way": way, "scores": scores.mean(), "width": np.nanmean(high - low),
        "rmse": np.sqrt(((value - truth) ** 2).mean()), "without interval": np.isnan(low).mean(),
        "simulations": len(results),
    }  # fmt: skip


def main() -> None:
    """Write the table of the coverage or of the widths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["bias", "coverage", "widths"])
    parser.add_argument("--data", type=Path, action="append", default=[], help="a folder of results of a dataset")
    parser.add_argument("--synthetic", action="store_true", help="2,000 users and 100,000 items, too")
    parser.add_argument("--orders", default=",".join(ORDERS), help="with commas between them")
    parser.add_argument("--only", help="the recommenders whose coverage is measured, with commas; all by default")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    orders = tuple(options.orders.split(","))
    rows: list[dict[str, object]] = []
    with threadpool_limits(1):
        groups = [list(populations(folder, orders)) for folder in options.data]
        groups += [list(synthetic(orders))] if options.synthetic else []
        for group in groups:
            for one in terminal_progress(group, options.what):
                if options.only is None or one.name[1] in options.only.split(","):
                    for row in _rows(options.what, one, group, options.simulations):
                        rows.append(row)
                        pd.DataFrame(rows).round(6).to_csv(options.output, index=False)


def _rows(what: str, one: Population, group: list[Population], simulations: int) -> Iterator[dict[str, object]]:
    """Yield the rows of a population among those of the same data."""
    if what == "widths":
        yield from widths(one, simulations)
        return
    names = sorted({other.name[1] for other in group})
    following = names[(names.index(one.name[1]) + 1) % len(names)]
    beside = next(other for other in group if other.name[1:] == (following, one.name[2]))
    depths = [depth for depth in DEPTHS if (shares(depth, one.ranks.boundaries) < 1).any()]
    if what == "bias":
        yield from bias(one, len(one.ranks), 100.0, simulations)
        return
    for users in USERS:
        for depth in depths:
            yield coverage(one, beside, users, depth, simulations)


if __name__ == "__main__":
    main()
