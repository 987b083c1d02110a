"""Search for the laws of true ranks for which intervals and verdicts are wrong most often.

A promise is a kind of statement of the library with 95 % confidence. It covers a class of laws: all laws for exact
ranks, those of the assumed shape for sampled ranks and for published values of them. For each promise and each of a few
cells (n, m, users, metrics, level), laws of the class are simulated with common random numbers, the worst is changed
step by step, and the worst of all is simulated anew. Results depend on the seed only, not on the number of processes.

    python benchmarks/adversarial_coverage.py --processes 2 --output worst.csv --table worst.md
    python benchmarks/adversarial_coverage.py --again worst.csv --output now.csv

The second command simulates the laws of a table again, with the same users and the present code.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from multiprocessing import Pool
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from rank_laws import Part, Population, capped_pair, changed_population, law, pairs, ranks, rare_hits, starts
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

import sampled_metrics as sm
from sampled_metrics.ranks.stages import boundaries, last_boundary, shares

# --- statements of the library: the only place that calls it ----------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A statement of the library about a metric, or about the difference of two recommenders.

    Attributes:
        low: the lower end; NaN if there is no interval.
        high: the upper end.
        better: the recommender that is stated to be better: 1 for B, -1 for A, 0 for neither.
        contradicted: whether the statement is that the sample contradicts the assumption.
        above_margin: whether the difference is stated to be more than the margin; None if nothing is stated.
    """

    low: float
    high: float
    better: int = 0
    contradicted: bool = False
    above_margin: bool | None = None


REFUSED = Statement(np.nan, np.nan)
CONTRADICTIONS = ("contradicts", "No distribution of true ranks explains")
"""Words of the remarks on contradicted assumptions."""

Adapter = Callable[["Cell", tuple[np.ndarray, ...], int], dict[str, Statement]]
"""Function of a cell, the (users,) ranks of each recommender, and a seed. It returns a statement for each metric."""


def state_evaluate(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `evaluate` on exact ranks."""
    table = sm.evaluate(
        sm.exact_ranks(sides[0], candidates=cell.n, exact=True),
        metrics=list(cell.metrics),
        confidence_level=cell.level,
        seed=seed,
    )
    return {str(row.metric): Statement(row.low, row.high) for row in table.itertuples()}


def state_correct(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `correct` on sampled ranks."""
    table = sm.correct(
        sm.sampled_ranks(sides[0], negatives=np.full(cell.users, cell.m), candidates=cell.n),
        estimators=[cell.shape],
        metrics=list(cell.metrics),
        confidence_level=cell.level,
        seed=seed,
    )
    contradicted = is_contradicted(table.remarks)
    return {str(row.metric): Statement(row.low, row.high, 0, contradicted) for row in table.itertuples()}


def state_compare(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `compare` on exact or sampled ranks.

    With a margin, the conclusions are the statement, and the interval is that of all differences. With groups, the
    statement is that of all groups together: the common part of their intervals, and a recommender that is better in
    one.
    """
    users, asked = np.arange(cell.users), cell.asked
    groups = np.searchsorted(np.cumsum(asked.groups), (users + 0.5) / cell.users)
    ranks = {name: pd.DataFrame({"user": users, "rank": side}) for name, side in zip("AB", sides, strict=True)}
    if cell.m:
        tables = sm.sampled_ranks(ranks, negatives=cell.m, candidates=cell.n)
    else:
        tables = sm.exact_ranks(ranks, candidates=cell.n, exact=True)
    table = sm.compare(
        tables,
        metrics=list(cell.metrics),
        estimator=cell.shape if cell.m else None,
        margin=f"{100 * asked.margin}%" if asked.is_relative else asked.margin or None,
        groups=dict(zip(users, groups, strict=True)) if asked.groups else False,
        confidence_level=cell.level,
        seed=seed,
    )
    contradicted = is_contradicted(table.remarks)
    if asked.groups:
        table = table[table["group"] != "all"]
    statements = {}
    for metric, rows in table.groupby("metric", sort=False):
        low, high = (-1.0, 1.0) if asked.margin else (rows["low"].max(), rows["high"].min())
        better = [{"A": -1, "B": 1}.get(conclusion, 0) for conclusion in rows["conclusion"]]
        statements[str(metric)] = Statement(
            low, high, max(better, key=abs), contradicted, said_of_margin(rows.iloc[0]) if asked.margin else None
        )
    return statements


def said_of_margin(row: pd.Series) -> bool | None:
    """Return whether a difference is stated to be more than the margin; None if nothing is stated."""
    is_less = row["size"] == "less than the margin" or row["conclusion"] == "equivalent"
    return True if row["size"] == "more than the margin" else False if is_less else None


def state_published(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `published` on the sampled metrics of a sample, of two recommenders on their order."""
    del seed
    metrics = {label: sm.metric(label) for label in cell.asked.values}
    values = [{label: metric.of_rank(side, cell.m + 1).mean() for label, metric in metrics.items()} for side in sides]
    return said_of_values(cell, tuple(tuple(f"{value:.3f}" for value in of_side.values()) for of_side in values))


@cache
def said_of_values(cell: "Cell", values: tuple[tuple[str, ...], ...]) -> dict[str, Statement]:
    """Return the statements of `published` on the printed values of each recommender."""
    given = [dict(zip(cell.asked.values, of_side, strict=True)) for of_side in values]
    table = sm.published(
        dict(zip("AB", given, strict=False)),
        negatives=cell.m,
        candidates=cell.n,
        users=cell.users,
        estimators=cell.shape,
        metrics=list(cell.metrics),
        confidence_level=cell.level,
    )
    contradicted = is_contradicted(table.remarks)
    if not cell.pair:
        return {str(row.metric): Statement(row.low, row.high, 0, contradicted) for row in table.itertuples()}
    [metric], text = cell.metrics, " ".join(table.remarks)
    if order := re.search(r"(A|B) is better than [AB] by [^(]+ \((\S+) to (\S+)\)", text):
        better, ends = 1 if order[1] == "B" else -1, sorted((float(order[2]), float(order[3])))
        low, high = sorted(better * end for end in ends)
        return {metric: Statement(low, high, better, contradicted)}
    if neither := re.search(r"A may be better by up to (\S+), B by up to ([\d.]+)", text):
        return {metric: Statement(-float(neither[1]), float(neither[2]), 0, contradicted)}
    return {metric: replace(REFUSED, contradicted=contradicted)}


def state_evaluate_staged(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `evaluate` on staged ranks; the printed upper bound where there is no interval."""
    ranks = staged(cell, sides, seed)[0]
    table = sm.evaluate(ranks, metrics=list(cell.metrics), confidence_level=cell.level, seed=seed)
    if without := ranks.without_interval():
        bound = float(without.split("no metric is above ")[1].split(":")[0]) + 5e-4  # it is printed with three digits
        return dict.fromkeys(cell.metrics, Statement(0.0, bound))
    return {str(row.metric): Statement(row.low, row.high) for row in table.itertuples()}


def state_compare_staged(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return the statements of `compare` on staged ranks of the same users."""
    tables = dict(zip("AB", staged(cell, sides, seed), strict=True))
    table = sm.compare(tables, metrics=list(cell.metrics), confidence_level=cell.level, seed=seed)
    better = {"A": -1, "B": 1}
    return {str(row.metric): Statement(row.low, row.high, better.get(row.conclusion, 0)) for row in table.itertuples()}


def staged(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> list[sm.StagedRanks]:
    """Return the staged ranks of users with these ranks, whose candidates are in random order."""
    rng = np.random.default_rng([seed, 1])
    steps, n, k = boundaries(cell.n), cell.n, 10
    uniform, fold = rng.random(cell.users), rng.integers(0, 5, cell.users)
    last = last_boundary(steps, np.array([n]))[0]
    tables = []
    for side in sides:
        above_at = np.full((cell.users, len(steps)), -1)
        above, goes_on = np.zeros(cell.users, dtype=np.int64), np.ones(cell.users, dtype=bool)
        for stage in range(last + 1):
            if stage:
                left, better = n - 1 - steps[stage - 1], (side - 1 - above)[goes_on]
                above[goes_on] += rng.hypergeometric(better, left - better, steps[stage] - steps[stage - 1])
            above_at[goes_on, stage] = np.minimum(above[goes_on], k)
            goes_on &= (above < k) & (uniform < shares(cell.depth, steps)[stage])
        above = np.minimum(np.where(goes_on, side - 1, above), k)
        tables.append(
            sm.StagedRanks(
                user=np.arange(cell.users), item=np.arange(cell.users), score=np.zeros(cell.users),
                candidates=np.full(cell.users, n), k=k, depth=cell.depth, seed=0, boundaries=steps, above_at=above_at,
                above=above, tied=np.zeros(cell.users, dtype=np.int64), complete=goes_on & (above < k),
                uniform=uniform, fold=fold, scored=np.ones(cell.users, dtype=np.int64), digests={},
            )
        )  # fmt: skip
    return tables


def is_contradicted(remarks: Iterable[str]) -> bool:
    """Return whether a remark states that the sample contradicts the assumption."""
    return any(words in remark for remark in remarks for words in CONTRADICTIONS)


# --- promises and cells -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """A promise of the library.

    Attributes:
        state: function that asks the library.
        shape: shape of the laws that the promise covers.
        recommenders: number of recommenders, 1 or 2.
        margin: the smallest difference that matters; 0 for none.
        is_relative: whether the margin is relative to the worse value.
        groups: shares of the users by group. The laws are the same in all groups.
        values: labels of the sampled metrics that are published.
    """

    state: Adapter
    shape: str
    recommenders: int = 1
    margin: float = 0.0
    is_relative: bool = False
    groups: tuple[float, ...] = ()
    values: tuple[str, ...] = ()


HIT_RATE, THREE = ("recall@10",), ("recall@10", "ndcg@10", "mrr")
"""Published metrics."""

PROMISES = {
    "evaluate": Promise(state_evaluate, "free"),
    "compare": Promise(state_compare, "free", 2),
    "correct free": Promise(state_correct, "free"),
    "correct decreasing": Promise(state_correct, "decreasing"),
    "correct convex": Promise(state_correct, "convex"),
    "compare free": Promise(state_compare, "free", 2),
    "compare decreasing": Promise(state_compare, "decreasing", 2),
    "evaluate staged": Promise(state_evaluate_staged, "free"),
    "compare staged": Promise(state_compare_staged, "free", 2),
    "margin .01": Promise(state_compare, "free", 2, margin=0.01),
    "margin .1": Promise(state_compare, "free", 2, margin=0.1),
    "margin 5 %": Promise(state_compare, "free", 2, margin=0.05, is_relative=True),
    "margin 100 %": Promise(state_compare, "free", 2, margin=1.0, is_relative=True),
    "margin .1 free": Promise(state_compare, "free", 2, margin=0.1),
    "groups of 1/3": Promise(state_compare, "free", 2, groups=(1 / 3, 1 / 3, 1 / 3)),
    "groups of .6, .3, .1": Promise(state_compare, "free", 2, groups=(0.6, 0.3, 0.1)),
    "groups of 1/2 decreasing": Promise(state_compare, "decreasing", 2, groups=(0.5, 0.5)),
    "published hit rate free": Promise(state_published, "free", values=HIT_RATE),
    "published hit rate decreasing": Promise(state_published, "decreasing", values=HIT_RATE),
    "published hit rate free pair": Promise(state_published, "free", 2, values=HIT_RATE),
    "published hit rate decreasing pair": Promise(state_published, "decreasing", 2, values=HIT_RATE),
    "published MRR free": Promise(state_published, "free", values=("mrr",)),
    "published MRR free pair": Promise(state_published, "free", 2, values=("mrr",)),
    "published three free": Promise(state_published, "free", values=THREE),
    "published three decreasing pair": Promise(state_published, "decreasing", 2, values=THREE),
}


@dataclass(frozen=True)
class Cell:
    """A setting in which a promise is tested.

    Attributes:
        promise: name of the promise.
        n: number of candidates.
        m: number of negatives; 0 for exact ranks.
        users: number of users of an evaluation.
        metrics: metrics that are computed together, each with its worst law. It is one metric if two recommenders have
            equal metrics.
        level: confidence level.
        equal: whether two recommenders have equal metrics, or differ by the margin.
        known: further populations at the start of a search. They take part in the last choice.
        depth: depth of staged ranks; 0 for others.
    """

    promise: str
    n: int
    m: int
    users: int
    metrics: tuple[str, ...]
    level: float = 0.95
    equal: bool = True
    known: tuple[Population, ...] = ()
    depth: float = 0.0

    @property
    def asked(self) -> Promise:
        """The promise."""
        return PROMISES[self.promise]

    @property
    def shape(self) -> str:
        """The shape of the laws that the promise covers."""
        return self.asked.shape

    @property
    def pair(self) -> bool:
        """Whether two recommenders are compared."""
        return self.asked.recommenders == 2

    def __str__(self) -> str:
        sample = f", m = {self.m}" if self.m else f", depth = {self.depth:g}" if self.depth else ""
        equal = ", unequal" if self.pair and not self.equal else ""
        metrics = " and ".join(self.metrics)
        return f"{self.promise}: n = {self.n}{sample}, {self.users} users, {metrics}, {100 * self.level:g} %{equal}"

    def values(self, metric: str) -> np.ndarray:
        """Return the (n,) values of a metric by rank."""
        return sm.metric(metric).values(self.n)

    def fitted(self, population: Population) -> Population:
        """Return a population, changed so that two recommenders are equal, or at the margin, if the cell needs it."""
        if not self.pair or not self.equal:
            return population
        ratio, margin = (1 + self.asked.margin, 0.0) if self.asked.is_relative else (1.0, self.asked.margin)
        return population.balanced(self.values(self.metrics[0]), ratio, margin)

    def margin(self, population: Population, metric: str) -> float:
        """Return the margin of a metric as a difference."""
        return self.asked.margin * (population.worse(self.values(metric)) if self.asked.is_relative else 1.0)

    def starts(self) -> list[Population]:
        """Return the first populations of a search, all different and of the class, the known ones first."""
        if self.pair:
            usual = [*rare_hits(self.n), *pairs(self.n, self.users)]
        else:
            usual = [Population((side,)) for side in starts(self.n, self.users)]
        populations = [start for start in (*self.known, *usual) if start.keeps(self.shape, self.n)]
        return [*filter(self.covers, dict.fromkeys(map(self.fitted, populations)))]

    def covers(self, population: Population) -> bool:
        """Return whether a population is of the class, and two recommenders are equal, or at the margin, if required.

        A metric may be too high for another one to be above it by the margin.
        """
        metric = self.metrics[0]
        apart = population.truth(self.values(metric)) - self.margin(population, metric)
        return population.keeps(self.shape, self.n) and not (self.pair and self.equal and abs(apart) > EXACT)


def one(*parts: Part) -> tuple[Population, ...]:
    """Return the population of a law."""
    return (Population((law(*parts),)),)


def hits(n: int, share: float) -> tuple[Population, ...]:
    """Return the population with a share of the users at rank 1, and the others last."""
    return one(ranks(1, share=share), ranks(n, share=1 - share))


def pair_of_hits(n: int, first: float, second: float, coupled: float) -> tuple[Population, ...]:
    """Return a pair with shares of the users at rank 1, and the others last."""
    return (Population(tuple(hits(n, share)[0].sides[0] for share in (first, second)), coupled),)


def cells() -> Iterator[Cell]:
    """Yield the cells of a full run, the longest ones first."""
    both, zipf = ("recall@10", "ap"), one(Part(1.0, "power", (1.0, 0.0)))
    half, flat, capped = one(ranks(1, 500)), one(ranks(1, 1000)), (capped_pair(1000),)
    yield Cell("compare decreasing", 1000, 500, 6040, ("recall@10",), known=capped)
    yield Cell("correct decreasing", 1000, 500, 6040, both, known=half)
    yield Cell("correct decreasing", 900, 400, 3000, ("recall@10",), known=one(ranks(1, 300)))
    yield Cell("compare decreasing", 1000, 100, 6040, ("recall@10",), known=capped)
    yield Cell("correct decreasing", 1000, 100, 6040, both, known=half)
    yield Cell("correct decreasing", 1000, 500, 1000, ("recall@10",), known=flat)
    yield Cell("correct decreasing", 1000, 500, 1000, ("recall@10",), 0.8, known=flat)
    yield Cell("correct convex", 1000, 500, 1000, ("recall@10",), known=flat)
    yield Cell("correct convex", 1000, 100, 6040, ("recall@10",))
    yield Cell("compare decreasing", 1000, 100, 400, ("recall@10",), equal=False)
    yield Cell("compare free", 1000, 100, 400, ("recall@10",))
    yield Cell("correct decreasing", 1000, 100, 200, ("recall@10",), known=flat)
    yield Cell("correct free", 1000, 100, 200, ("recall@10",), known=one(ranks(11)))
    top = one(ranks(1, share=0.05), ranks(501, 1000, share=0.95))
    yield Cell("correct free", 1000, 100, 30, ("recall@1",), known=top)
    yield Cell("correct free", 1000, 100, 30, ("recall@1",), 0.99, known=top)
    yield Cell("correct free", 1000, 100, 6040, ("ap",))
    for users in (6040, 60):
        for shape in ("decreasing", "free"):
            yield Cell(f"correct {shape}", 3500, 100, users, ("recall@10",), known=zipf)
    for users in (1500, 800, 400, 200, 60, 30):
        yield Cell("compare", 1000, 0, users, ("ap",))
    yield Cell("compare", 1000, 0, 100, ("recall@10",))
    yield Cell("compare", 1000, 0, 100, ("ap",), 0.8)
    yield Cell("compare", 1000, 0, 200, ("ap",), 0.99)
    yield Cell("compare", 1000, 0, 200, ("ap",), equal=False)
    for users in (1000, 200, 60, 30):
        yield Cell("evaluate", 1000, 0, users, ("ap",))
    yield Cell("evaluate", 1000, 0, 100, ("recall@10",))
    yield Cell("evaluate", 1000, 0, 100, ("ap",), 0.8)
    for users, depth in ((6040, 30), (2000, 100), (500, 100)):
        yield Cell("evaluate staged", 1000, 0, users, ("recall@10", "recall@1", "ndcg@10"), depth=depth)
        yield Cell("compare staged", 1000, 0, users, ("recall@10",), depth=depth)
        yield Cell("compare staged", 1000, 0, users, ("ndcg@10",), depth=depth)
    for users in (30, 100, 400):
        yield Cell("margin .01", 1000, 0, users, ("ap",), known=pair_of_hits(1000, 0.495, 0.505, -1.0))
        yield Cell("margin .1", 1000, 0, users, ("recall@10",))
        yield Cell("margin 5 %", 1000, 0, users, ("ap",))
        yield Cell("margin 100 %", 1000, 0, users, ("recall@10",), known=pair_of_hits(1000, 0.5, 1.0, 1.0))
    yield Cell("margin .1", 1000, 0, 100, ("recall@10",), equal=False)
    yield Cell("margin .1 free", 1000, 500, 200, ("recall@10",))
    for users in (90, 600):
        yield Cell("groups of 1/3", 1000, 0, users, ("ap",))
    yield Cell("groups of .6, .3, .1", 1000, 0, 300, ("recall@10",))
    yield Cell("groups of .6, .3, .1", 1000, 0, 300, ("ap",), equal=False)
    yield Cell("groups of 1/2 decreasing", 1000, 100, 200, ("recall@10",))
    yield Cell("published hit rate free", 100, 99, 30, ("recall@10",), known=hits(100, 0.4155))
    for shape in ("free", "decreasing"):
        for users in (30, 1000):
            yield Cell(f"published hit rate {shape}", 1000, 100, users, both)
        yield Cell(f"published hit rate {shape} pair", 1000, 100, 200, ("recall@10",))
    yield Cell("published MRR free", 1000, 10, 200, ("ap", "recall@10"), known=hits(1000, 0.0104))
    yield Cell("published MRR free", 1000, 99, 1000, ("ap",), known=hits(1000, 0.0023))
    yield Cell("published MRR free pair", 1000, 10, 200, ("ap",))
    for n, m, users in ((1000, 100, 200), (100, 99, 30)):
        yield Cell("published three free", n, m, users, ("recall@10",))
    yield Cell("published three decreasing pair", 1000, 100, 200, ("recall@10",))
    yield Cell("evaluate staged", 20000, 0, 6040, ("recall@10", "ndcg@10"), depth=100)
    yield Cell("compare staged", 20000, 0, 6040, ("recall@10",), depth=100)


def quick_cells() -> list[Cell]:
    """Return one or two cells of each promise that are wrong often, or are fast."""
    return [
        Cell("compare decreasing", 1000, 100, 2000, ("recall@10",), known=(capped_pair(1000),)),
        Cell("correct decreasing", 900, 400, 3000, ("recall@10",)),
        Cell("correct convex", 1000, 100, 1000, ("recall@10",), known=one(ranks(1, 1000))),
        Cell("correct free", 1000, 100, 200, ("recall@10",), known=one(ranks(11))),
        Cell("compare free", 1000, 50, 100, ("recall@10",)),
        Cell("compare", 1000, 0, 60, ("ap",)),
        Cell("compare", 1000, 0, 400, ("ap",)),
        Cell("evaluate", 1000, 0, 60, ("ap",)),
        Cell("margin .01", 1000, 0, 60, ("ap",)),
        Cell("margin .1", 1000, 0, 100, ("recall@10",)),
        Cell("margin 5 %", 1000, 0, 60, ("ap",)),
        Cell("margin 100 %", 1000, 0, 60, ("recall@10",)),
        Cell("margin .1 free", 1000, 50, 100, ("recall@10",)),
        Cell("groups of 1/3", 1000, 0, 90, ("ap",)),
        Cell("groups of .6, .3, .1", 1000, 0, 300, ("recall@10",)),
        Cell("groups of 1/2 decreasing", 1000, 100, 200, ("recall@10",)),
        *(
            Cell(name, 1000, 10, 60, ("ap",), known=() if promise.recommenders == 2 else hits(1000, 0.03))
            for name, promise in PROMISES.items()
            if promise.state is state_published
        ),
        Cell("evaluate staged", 1000, 0, 1000, ("recall@10",), depth=100),
        Cell("compare staged", 1000, 0, 1000, ("recall@10",), depth=100),
    ]


# --- simulations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """Shares of the simulations of a population by their outcome; `covered` to `contradicted` sum to 1.

    Attributes:
        simulations: number of simulations.
        covered: the interval holds the truth.
        missed_below: the interval is below the truth.
        missed_above: the interval is above the truth.
        refused: there is no interval.
        contradicted: the sample is stated to contradict the assumption, whatever the interval.
        false_verdicts: a recommender is stated to be better, and is not, or by more or less than the margin.
        wrong: the interval misses the truth or a verdict is false; contradicted samples count too.
        width: mean width of the intervals that are neither refused nor of contradicted samples.
        smooth: share that would miss if the ends had a normal distribution with the same means and deviations. It
            distinguishes laws that few simulations do not distinguish.
    """

    simulations: int
    covered: float
    missed_below: float
    missed_above: float
    refused: float
    contradicted: float
    false_verdicts: float
    wrong: float
    width: float
    smooth: float

    @property
    def score(self) -> float:
        """The value that the search maximizes: the mean of `wrong` and `smooth`.

        `smooth` counts up to one standard error above `wrong`, which noise may explain.
        """
        error = np.sqrt(max(self.wrong, 1 / self.simulations) * (1 - self.wrong) / self.simulations)
        return float(self.wrong + min(self.smooth, self.wrong + error)) / 2

    @classmethod
    def from_statements(cls, statements: list[Statement], truth: float, margin: float = 0.0) -> "Tally":
        """Return the shares of statements about the same truth. A truth within `EXACT` of 0 counts as 0.

        A truth within `EXACT` of the margin is neither more nor less.
        """
        low = np.array([statement.low for statement in statements], dtype=float)
        high = np.array([statement.high for statement in statements], dtype=float)
        better = np.array([statement.better for statement in statements])
        contradicted = np.array([statement.contradicted for statement in statements], dtype=bool)
        refused = ~contradicted & ~(np.isfinite(low) & np.isfinite(high))
        counted = ~contradicted & ~refused
        below, above = high < truth - EXACT, low > truth + EXACT
        more, less = (np.array([one.above_margin is side for one in statements]) for side in (True, False))
        false = (better != 0) & (better != (np.sign(truth) if abs(truth) > EXACT else 0))
        false |= (more & (abs(truth) < margin + EXACT)) | (less & (abs(truth) > margin - EXACT))
        return cls(
            len(statements),
            float((counted & ~below & ~above).mean()),
            float((counted & below).mean()),
            float((counted & above).mean()),
            float(refused.mean()),
            float(contradicted.mean()),
            float(false.mean()),
            float((below | above | false).mean()),
            float((high - low)[counted].mean()) if counted.any() else np.nan,
            _share_beyond(low[counted] - truth) + _share_beyond(truth - high[counted]),
        )


def _share_beyond(gaps: np.ndarray) -> float:
    """Return the share above 0 of a normal distribution with the mean and the deviation of some gaps.

    Gaps of 0 are left out: both the end and the truth are the largest or smallest possible value then.
    """
    nonzero = gaps[np.abs(gaps) > EXACT]
    if len(nonzero) < 2 or nonzero.std() < EXACT:
        return float((gaps > EXACT).mean()) if len(gaps) else 0.0
    return float(len(nonzero) / len(gaps) * ndtr(nonzero.mean() / nonzero.std()))


EXACT = 1e-9
"""Ends of intervals and metrics that differ by less are equal."""


def seeded(cell: Cell, stage: str, number: int) -> np.random.Generator:
    """Return the generator of a simulation, which is the same for all laws in a stage of a cell."""
    place = f"{cell.promise} {cell.n} {cell.m} {cell.users} {cell.level} {cell.equal or not cell.pair}"
    place += f" {cell.depth}" if cell.depth else ""
    return np.random.default_rng(np.random.SeedSequence([crc32(place.encode()), crc32(stage.encode()), number]))


def simulate(cell: Cell, population: Population, stage: str, simulations: int) -> dict[str, Tally]:
    """Return a tally for each metric.

    The users of a simulation are at the same quantiles for all laws of a stage. A statement about exact ranks does not
    depend on the order of the users, unless they are in groups, so the library is asked once for equal samples.
    """
    state, known = cell.asked.state, dict[bytes, dict[str, Statement]]()
    statements: dict[str, list[Statement]] = {metric: [] for metric in cell.metrics}
    for number in range(simulations):
        rng = seeded(cell, stage, number)
        sides = population.draw(cell.n, cell.users, rng)
        key = str(number).encode()
        if cell.m:
            sides = tuple(rng.hypergeometric(side - 1, cell.n - side, cell.m) + 1 for side in sides)
        elif not cell.asked.groups:
            key = np.sort(sides[0] + (cell.n + 1) * (sides[-1] - 1)).tobytes()
        if key not in known:
            try:
                known[key] = state(cell, sides, number)
            except sm.DataError:
                known[key] = dict.fromkeys(cell.metrics, REFUSED)
        for metric, statement in known[key].items():
            statements[metric].append(statement)
    truths = {metric: population.truth(cell.values(metric)) for metric in statements}
    return {
        metric: Tally.from_statements(statements[metric], truth, cell.margin(population, metric))
        for metric, truth in truths.items()
    }


# --- search -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """The effort of a search.

    Attributes:
        starts: largest number of first laws.
        screen: simulations of each first law.
        kept: number of first laws that are simulated again.
        again: simulations of each of those, and of each change.
        steps: number of changes of the worst law.
        final: new simulations of each of the worst three laws and the known ones. The search returns the one that is
            wrong most often.
        confirm: simulations of the worst law of a cell.
    """

    starts: int
    screen: int
    kept: int
    again: int
    steps: int
    final: int
    confirm: int


FULL = {"exact": Effort(40, 60, 4, 120, 16, 200, 1000), "sampled": Effort(16, 14, 3, 40, 5, 100, 1000)}
QUICK = {"exact": Effort(8, 40, 2, 60, 3, 40, 120), "sampled": Effort(3, 10, 2, 15, 1, 15, 60)}


FINALISTS = 3
"""Number of laws in the last choice, besides the known ones. It takes the law that is wrong most often."""


def effort_of(cell: Cell, efforts: dict[str, Effort]) -> Effort:
    """Return the effort for a cell."""
    return efforts["sampled" if cell.m else "exact"]


def worst(cell: Cell, metric: str, tried: dict[Population, dict[str, Tally]], effort: Effort) -> Population:
    """Return the population that is wrong most often, by hill climbing from the worst of those that were tried."""

    def simulated(population: Population, stage: str, simulations: int) -> Tally:
        return simulate(cell, population, stage, simulations)[metric]

    known = [population for population in map(cell.fitted, cell.known) if population in tried]
    kept = sorted(tried, key=lambda population: tried[population][metric].score, reverse=True)[: effort.kept]
    kept = [*dict.fromkeys([*kept, *known])]
    scores = {population: simulated(population, "search", effort.again).score for population in kept}
    best = max(scores, key=scores.__getitem__)
    rng = seeded(cell, f"changes, {metric}", 0)
    for _ in range(effort.steps):
        other = cell.fitted(changed_population(best, cell.shape, cell.n, kept, rng))
        if other in scores or not cell.covers(other):
            continue
        scores[other] = simulated(other, "search", effort.again).score
        if scores[other] >= scores[best]:
            best = other
    finalists = dict.fromkeys([*sorted(scores, key=scores.__getitem__, reverse=True)[:FINALISTS], *known])
    return max(finalists, key=lambda population: simulated(population, "final", effort.final).wrong)


def search(cell: Cell, efforts: dict[str, Effort]) -> list[dict[str, object]]:
    """Return a row for each metric of a cell: its worst population, with new simulations."""
    effort = effort_of(cell, efforts)
    first = islice(cell.starts(), effort.starts)
    tried = {population: simulate(cell, population, "search", effort.screen) for population in first}
    worst_by_metric = {metric: worst(cell, metric, tried, effort) for metric in cell.metrics}
    populations = dict.fromkeys(worst_by_metric.values())
    confirmed = {population: simulate(cell, population, "confirm", effort.confirm) for population in populations}
    return [
        row_of(cell, metric, population, confirmed[population][metric])
        for metric, population in worst_by_metric.items()
    ]


def quick_search(cell: Cell) -> list[dict[str, object]]:
    """Return the rows of a cell by a short search."""
    return search(cell, QUICK)


def row_of(cell: Cell, metric: str, population: Population, tally: Tally) -> dict[str, object]:
    """Return a line of the csv."""
    return {
        "promise": cell.promise,
        "n": cell.n,
        "m": cell.m,
        "depth": cell.depth,
        "users": cell.users,
        "metric": metric,
        "level": cell.level,
        "truth": population.truth(cell.values(metric)),
        "law": population.words(),
        "parameters": population.text(),
        "simulations": tally.simulations,
        "covered": tally.covered,
        "standard_error": np.sqrt(tally.covered * (1 - tally.covered) / tally.simulations),
        "missed_below": tally.missed_below,
        "missed_above": tally.missed_above,
        "width": tally.width,
        "refused": tally.refused,
        "contradicted": tally.contradicted,
        "false_verdicts": tally.false_verdicts,
        "wrong": tally.wrong,
    }


def again(row: dict[str, object], simulations: int) -> list[dict[str, object]]:
    """Return the line of the csv of a population, simulated by the present code."""
    metric, population = str(row["metric"]), Population.from_text(str(row["parameters"]))
    cell = Cell(row["promise"], row["n"], row["m"], row["users"], (metric,), row["level"], depth=row.get("depth", 0.0))
    equal = abs(float(row["truth"]) - cell.margin(population, metric)) < EXACT
    cell = replace(cell, equal=equal)
    return [row_of(cell, metric, population, simulate(cell, population, "confirm", simulations)[metric])]


# --- tables -----------------------------------------------------------------------------------------------------------


def worst_of_promises(table: pd.DataFrame) -> pd.DataFrame:
    """Return the row with the most wrong statements of each promise and level."""
    order = table.sort_values("wrong", ascending=False, kind="stable")
    return order.drop_duplicates(["promise", "level"]).sort_values(["promise", "level"], ascending=[True, False])


def markdown(table: pd.DataFrame) -> str:
    """Return rows of the csv as a table, shares in per cent."""
    first = ["promise", "level", "n", "m", "users", "metric", "law", "covered"]
    columns = [*first, "below", "above", "refused", "contradicted", "wrong", "width"]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for row in table.to_dict("records"):
        covered = f"{100 * row['covered']:.1f} ± {100 * row['standard_error']:.1f}"
        names = ("missed_below", "missed_above", "refused", "contradicted", "wrong")
        shares = [f"{100 * row[name]:.1f}" for name in names]
        m = str(row["m"]) if row["m"] else f"depth {row['depth']:g}" if row.get("depth") else "exact"
        cell = [row["promise"], f"{100 * row['level']:g}", str(row["n"]), m, str(row["users"]), row["metric"]]
        lines.append(f"| {' | '.join([*cell, row['law'], covered, *shares, format(row['width'], '.4f')])} |")
    return "\n".join(lines) + "\n"


def timed(task: tuple[int, object], work: Callable[[object], list[dict[str, object]]]) -> tuple[int, list, float]:
    """Return the number of a task, its rows, and its seconds."""
    number, content = task
    start = time.perf_counter()
    rows = work(content)
    return number, rows, time.perf_counter() - start


def run(
    tasks: list, work: Callable[[object], list[dict[str, object]]], processes: int, output: Path | None = None
) -> pd.DataFrame:
    """Return the rows of all tasks in their order. Print the result of each task, and write all rows after each."""
    rows_of_task: dict[int, list[dict[str, object]]] = {}
    one_task = partial(timed, work=work)
    with threadpool_limits(1), Pool(processes, threadpool_limits, (1,)) if processes > 1 else _NoPool() as pool:
        for number, rows, seconds in pool.imap_unordered(one_task, enumerate(tasks)):
            rows_of_task[number] = rows
            done = f"[{len(rows_of_task)}/{len(tasks)}] {seconds:.0f} s"
            for row in rows:
                cell = f"{row['promise']} n {row['n']} m {row['m']} users {row['users']} {row['metric']} {row['level']}"
                shares = f"covered {100 * row['covered']:.1f}, wrong {100 * row['wrong']:.1f} %"
                print(f"{done}  {cell}: {shares}: {row['law']}", file=sys.stderr)
            table = pd.DataFrame([row for task in sorted(rows_of_task) for row in rows_of_task[task]])
            if output is not None:
                table.to_csv(output, index=False)
    return table


class _NoPool:
    """A pool of one process, which is this one."""

    def __enter__(self) -> "_NoPool":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    imap_unordered = staticmethod(map)


def main() -> None:
    """Search, write the csv, and print the worst law of each promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few cells and simulations: some minutes")
    parser.add_argument("--promise", action="append", choices=list(PROMISES), help="only this one; may be repeated")
    parser.add_argument("--again", type=Path, help="csv file whose laws are simulated again, instead of a search")
    parser.add_argument("--simulations", type=int, help="number for the worst law of a cell (1000; 60 to 200 if quick)")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, help="csv file")
    parser.add_argument("--table", type=Path, help="Markdown table of the worst law of each promise, also printed")
    arguments = parser.parse_args()
    wanted, confirm = arguments.promise or list(PROMISES), arguments.simulations
    if arguments.again:
        tasks = [row for row in pd.read_csv(arguments.again).to_dict("records") if row["promise"] in wanted]
        work = partial(again, simulations=confirm or 1000)
    else:
        efforts = QUICK if arguments.quick else FULL
        if confirm:
            efforts = {name: replace(effort, confirm=confirm) for name, effort in efforts.items()}
        tasks = [cell for cell in (quick_cells() if arguments.quick else cells()) if cell.promise in wanted]
        work = partial(search, efforts=efforts)
    text = markdown(worst_of_promises(run(tasks, work, arguments.processes, arguments.output)))
    print(text, end="")
    if arguments.table:
        arguments.table.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
