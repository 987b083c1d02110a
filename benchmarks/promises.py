r"""Simulate the promises of the library, which are intervals and verdicts with a level of
confidence.

A promise covers a class of laws of true ranks: all laws for exact ranks, those of the assumed shape
for strict bounds. With `--laws worst`, laws of the class are simulated with common random numbers,
the worst is changed step by step, and the worst of all is simulated anew. With `--laws usual`, laws
as they are met are simulated, of any shape, and the users of rank tables. With `--laws pilots`,
plans are made where hits are rare, and of equal recommenders. The same seed gives the same table.
docs/coverage.md names the command of each of its tables.

    python benchmarks/promises.py evaluate "compare decreasing" --search 20 \
        --simulations 400 --output worst.csv
    python benchmarks/promises.py "correct decreasing" --laws usual \
        --ranks ml-1m=published/ml-1m --output usual.csv
    python benchmarks/promises.py plan --laws usual --simulations 200 --output plans.csv
    python benchmarks/promises.py --laws pilots --simulations 200
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import laws
import numpy as np
import pandas as pd
import statements as say
from laws import Population
from scipy.special import ndtr
from statements import CHANCES, EXACT, REFUSED, Statement, Truths
from threadpoolctl import threadpool_limits

import sampled_metrics as sm

FINALISTS = (
    3  # laws that are searched from, and that are in the last choice, besides the known ones
)
STAGED_METRICS = ("recall@10", "recall@1", "ndcg@10")
LEAST_GAP = 0.01  # of the metrics of two recommenders whose evaluation is planned
# laws of seeds, with the mean 0
SPREADS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "lognormal": lambda rng, shape: (
        (np.exp(rng.standard_normal(shape)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    ),
}
Law = Population | laws.Users

# --- promises ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """A promise of the library, in a setting."""

    name: str
    # of the promise, (recommenders or seeds, users) ranks, truths and a seed
    say: Callable[..., dict[str, Statement]]
    users: int
    # each with its worst law; one where recommenders are equal by it
    metrics: tuple[str, ...] = ("recall@10",)
    m: int = 0  # number of negatives; 0 for exact ranks
    n: int = 1000  # number of candidates
    estimator: str = ""  # of sampled ranks and published values
    recommenders: int = 1
    # what recommenders have in common: their metric, up to the margin, their "law", or "no"
    equal: str = "metric"
    margin: float = 0.0  # the smallest difference that matters; 0 for none
    is_relative: bool = False  # whether it is relative to the worse metric
    groups: tuple[float, ...] = ()  # shares of the users by group, with the same laws in all groups
    # number of seeds of each recommender; the law of a seed is a mixture of two laws
    seeds: tuple[int, ...] = ()
    spread: float = (
        0.0  # scale of the deviations of the share of the first law in this mixture from one half
    )
    # law of these deviations, whose scale is the largest one, or else the standard deviation
    spreads: str = "uniform"
    ratio: float = (
        1.0  # of the spread of the seeds of the first recommender and that of the second one
    )
    depth: float = 0.0  # of staged ranks; 0 for others
    # of their candidates: those above are at quantiles u^order, above 1 early, below 1 late
    order: float = 1.0
    values: tuple[str, ...] = ()  # labels of published values
    # of negatives that all users share, where the items have one order; 0 for negatives by user
    draws: int = 0
    way: str = ""  # to evaluate, of a plan
    pilot: int = 0  # users of the pilot of a plan
    planned: str = "recall@10"  # the metric of a plan
    is_of_estimator: bool = False  # whether the truth is the mean of the estimator
    level: float = 0.95
    # first populations of the search that take part in the last choice, too
    known: tuple[Population, ...] = ()

    def __str__(self) -> str:
        sample = f", m = {self.m}" if self.m else f", depth = {self.depth:g}" if self.depth else ""
        is_usual = self.recommenders == 1 or self.equal == "metric"
        alike = "" if is_usual else {"law": ", same law", "no": ", unequal"}[self.equal]
        seeds = f", seeds within {self.spread:g}" if self.seeds else ""
        seeds += f", {self.spreads}" if self.spreads != "uniform" else ""
        seeds += f", {self.ratio:g} to 1" if self.ratio != 1 else ""
        sample += f", order {self.order:g}" if self.order != 1 else ""
        level = "" if self.level == 0.95 else f", {100 * self.level:g} %"
        name = (
            f"{self.name}: n = {self.n}{sample}, {self.users} users, {' and '.join(self.metrics)}"
        )
        return f"{name}{alike}{seeds}{level}"

    @property
    def shape(self) -> str:
        """The shape of the laws that the promise covers."""
        return "decreasing" if self.estimator == "decreasing" else "free"

    def truths(self, population: Law) -> Truths:
        """Return the true metrics of the recommenders; 0 for the mean of an estimator."""
        if self.way:
            return say.truths_of_evaluations(self, population)
        means = {label: population.means(sm.metric(label).values(self.n)) for label in self.metrics}
        if self.seeds:
            means = {label: [float(np.mean(law_means))] for label, law_means in means.items()}
        if self.is_of_estimator:
            means = {label: [0.0] for label in means}
        return {
            label: list(islice(cycle(law_means), self.recommenders))
            for label, law_means in means.items()
        }

    def fitted(self, population: Population) -> Population | None:
        """Return a population, changed so that recommenders are as equal as the promise says; None
        if not possible.
        """
        if self.recommenders == 1 or self.equal == "law":
            population = Population(population.sides[:1], population.coupled)
        elif self.equal == "metric" and not self.seeds:
            values = sm.metric(self.metrics[0]).values(self.n)
            ratio, margin = (1 + self.margin, 0.0) if self.is_relative else (1.0, self.margin)
            population = population.balanced(values, ratio, margin)
            metric_a, metric_b = population.means(values)
            if abs(metric_b - ratio * metric_a - margin) > EXACT:
                return None
        elif self.way:  # equal recommenders have no plan
            metric_a, metric_b = population.means(sm.metric(self.planned).values(self.n))
            if abs(metric_b - metric_a) < LEAST_GAP:
                return None
        return population if population.keeps(self.shape, self.n) else None

    def starts(self) -> list[Population]:
        """Return the first populations of a search, all different and of the class, the known ones
        first.
        """
        couplings = (0.0,) if self.recommenders == 1 else (0.0, 0.9)
        if self.recommenders == 1 or self.equal == "law":
            populations = [
                Population((side,), share)
                for side in laws.starts(self.n, self.users)
                for share in couplings
            ]
        else:
            populations = laws.pairs(self.n, self.users)
        fitted = map(self.fitted, (*self.known, *populations))
        return [*filter(None, dict.fromkeys(fitted))]

    def draw(self, population: Law, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders or seeds, users) ranks, exact or among sampled negatives."""
        if self.seeds:
            count = sum(self.seeds)
            law_ranks = population.draw(self.n, self.users, 2 * count, rng)
            scale = self.spread * np.repeat((self.ratio, 1.0), self.seeds)[:, np.newaxis]
            share = 0.5 + np.clip(scale * SPREADS[self.spreads](rng, (count, 1)), -0.5, 0.5)
            is_first_law = rng.random((count, self.users)) < share
            return np.where(is_first_law, law_ranks[::2], law_ranks[1::2])
        sides = population.draw(self.n, self.pilot or self.users, self.recommenders, rng)
        if self.draws:
            drawn = [
                1 + np.sort(rng.choice(self.n - 1, self.m, replace=False))
                for _ in range(self.draws)
            ]
            return np.array([np.searchsorted(items, side) + 1 for side in sides for items in drawn])
        if self.way:
            return sides
        return rng.hypergeometric(sides - 1, self.n - sides, self.m) + 1 if self.m else sides


def promises() -> Iterator[Promise]:
    """Yield all promises."""
    evaluation = Promise("evaluate", say.evaluate, 100, ("ap",))
    comparison = Promise("compare", say.compare, 100, recommenders=2)
    for users in (30, 60, 200, 1000):
        yield replace(evaluation, users=users, metrics=("recall@10", "ap"))
    yield replace(evaluation, level=0.8)
    for users in (30, 60, 200, 400, 1500):
        yield replace(comparison, users=users, metrics=("ap",), known=laws.two(0.005, 0.005))
    yield comparison
    yield replace(comparison, metrics=("ap",), equal="no")
    yield replace(comparison, metrics=("ap",), level=0.8)
    yield replace(comparison, users=200, metrics=("ap",), level=0.99)
    yield from of_margins_groups_and_seeds(comparison)
    for count in (3, 10):
        for users in (100, 1000):
            family = replace(
                comparison, name=f"compare of {count}", users=users, recommenders=count
            )
            yield from (family, replace(family, equal="no", known=laws.two(0.1, 0.11)))
    for users, depth in ((500, 100.0), (2000, 100.0), (6000, 30.0)):
        yield replace(
            evaluation, name="evaluate staged", users=users, metrics=STAGED_METRICS, depth=depth
        )
        yield replace(comparison, name="compare staged", users=users, depth=depth)
    yield from of_few_completed(evaluation, comparison)
    yield from of_samples(comparison)
    yield from of_published_values()
    plan = Promise(
        "plan", say.plan, 600, ("width", *CHANCES), recommenders=2, equal="no", pilot=600
    )
    yield replace(plan, name="plan, all candidates", way="all candidates")
    for way in ("all candidates", "stop at k", "stages"):
        yield replace(
            plan,
            name=f"plan of stages, {way}",
            metrics=("width",),
            recommenders=1,
            way=way,
            depth=100.0,
        )
    for estimator, m in (("bv-0.1", 100), ("decreasing", 20), ("uncorrected", 50)):
        yield replace(plan, name=f"plan, {estimator}", way="negatives", m=m, estimator=estimator)


def of_pilots() -> Iterator[tuple[Promise, Population]]:
    """Yield promises of plans with laws of rare hits, and the advice of plans for recommenders that
    are equal.
    """
    plan = Promise(
        "plan, all candidates", say.plan, 2000, ("width",), equal="no", way="all candidates"
    )
    hit = replace(plan, planned="recall@1")
    for promise, share, pilot in (
        (hit, 0.02, 60),
        (hit, 0.01, 200),
        (hit, 0.2, 60),
        (hit, 0.01, 600),
        (hit, 0.05, 600),
    ):
        evaluated = replace(promise, users=pilot, pilot=pilot)
        yield evaluated, Population((laws.hits(share, promise.n),))
    rare = laws.law(laws.ranks(1, share=0.01), laws.ranks(501, 1000, share=0.99))
    yield replace(plan, planned="ap", users=150, pilot=150), Population((rare,))
    stages = replace(
        hit, name="plan of stages, stages", way="stages", depth=100.0, users=200, pilot=200
    )
    yield stages, Population((laws.hits(0.05, hit.n),))
    for estimator, m in (("uncorrected", 50), ("bv-0.1", 100), ("decreasing", 20)):
        way = replace(hit, name=f"plan, {estimator}", way="negatives", m=m, estimator=estimator)
        yield replace(way, users=60, pilot=60), Population((laws.hits(0.02, hit.n),))
    equal = Promise("advice of a plan", say.advice, 600, recommenders=2, equal="law", pilot=600)
    for pilot in (100, 600):
        yield replace(equal, users=pilot, pilot=pilot), Population((laws.usual(equal.n)[0],))
    yield replace(equal, planned="recall@1"), Population((laws.hits(0.01, equal.n),))


def of_margins_groups_and_seeds(comparison: Promise) -> Iterator[Promise]:
    """Yield the promises of a comparison of two on exact ranks, with more than two tables or one
    difference.
    """
    ap = replace(comparison, metrics=("ap",))
    double = laws.two(0.5, 1.0, 1.0)
    for users in (30, 100, 400):
        yield replace(
            ap, name="margin .01", users=users, margin=0.01, known=laws.two(0.495, 0.505, -1.0)
        )
        yield replace(comparison, name="margin .1", users=users, margin=0.1)
        yield replace(ap, name="margin 5 %", users=users, margin=0.05, is_relative=True)
        yield replace(
            comparison, name="margin 100 %", users=users, margin=1.0, is_relative=True, known=double
        )
    for users in (90, 600):
        yield replace(ap, name="groups of 1/3", users=users, groups=(1 / 3, 1 / 3, 1 / 3))
    unequal = replace(comparison, name="groups of .6, .3, .1", users=300, groups=(0.6, 0.3, 0.1))
    yield from (unequal, replace(unequal, metrics=("ap",), equal="no"))
    for counts, spread in (((3, 3), 0.5), ((3, 3), 0.05), ((2, 10), 0.5), ((2, 10), 0.1)):
        yield replace(
            comparison,
            name=f"seeds {counts[0]} and {counts[1]}",
            users=200,
            seeds=counts,
            spread=spread,
        )
    for counts, law, ratio in (
        ((2, 2), "normal", 3.0),
        ((3, 3), "normal", 3.0),
        ((3, 5), "normal", 3.0),
        ((2, 10), "normal", 3.0),
        ((2, 2), "uniform", 1.0),
        ((3, 20), "uniform", 1.0),
        ((5, 5), "t3", 3.0),
        ((3, 3), "lognormal", 3.0),
    ):
        worst_seeds = replace(
            comparison, name=f"worst seeds {counts[0]} and {counts[1]}", users=200, seeds=counts
        )
        yield replace(
            worst_seeds,
            spread=0.05 if ratio > 1 else 0.5,
            spreads=law,
            ratio=ratio,
            known=laws.two(0.9, 0.1),
        )


def of_few_completed(evaluation: Promise, comparison: Promise) -> Iterator[Promise]:
    """Yield the promises of staged ranks whose depth is small for their users, so that few are
    completed.
    """
    rare = laws.law(laws.ranks(1, 10, 0.02), laws.ranks(11, 1000, 0.98))
    for users, depth, order in (
        (2000, 130.0, 1.0),
        (2000, 160.0, 1.0),
        (400, 100.0, 1.0),
        (1000, 30.0, 3.0),
        (1000, 30.0, 0.4),
        (100, 10.0, 1.0),
    ):
        yield replace(
            evaluation,
            name="evaluate staged, few completed",
            users=users,
            metrics=STAGED_METRICS,
            depth=depth,
            order=order,
            known=(Population((rare,)),),
        )
    yield replace(comparison, name="compare staged, few completed", users=1000, depth=30.0)


def of_samples(comparison: Promise) -> Iterator[Promise]:
    """Yield the promises of sampled ranks."""
    correction = Promise("correct", say.correct, 200, ("recall@10", "ap"), m=100)
    flat = laws.law(laws.ranks(1, 500))
    for estimator in ("decreasing", "free"):
        bounds = replace(
            correction,
            name=f"correct {estimator}",
            estimator=estimator,
            known=(Population((flat,)),),
        )
        yield from (replace(bounds, users=users) for users in (30, 200, 1000, 6000))
        bounds_of_pair = replace(
            comparison,
            name=f"compare {estimator}",
            users=300,
            m=100,
            estimator=estimator,
            known=(laws.capped_pair(),),
        )
        for users, m in product((300, 1000, 6000), (20, 100)):
            yield replace(bounds_of_pair, users=users, m=m)
        yield replace(bounds_of_pair, equal="no")
        yield replace(bounds_of_pair, name=f"compare of 3 {estimator}", recommenders=3)
        yield replace(bounds_of_pair, name=f"groups of 1/2 {estimator}", groups=(0.5, 0.5))
    for estimator in ("bv-0.1", "mle", "mes", "smooth"):
        for users in (100, 1000):
            sample = {"users": users, "m": 50, "estimator": estimator}
            yield replace(correction, name=f"mean of {estimator}", is_of_estimator=True, **sample)
            yield replace(comparison, name=f"compare {estimator}", equal="law", **sample)
    for draws in (3, 10):
        sample = {
            "users": 200,
            "m": 100,
            "estimator": "uncorrected",
            "draws": draws,
            "is_of_estimator": True,
        }
        yield replace(correction, name=f"drawn once, {draws} times", **sample)
        yield replace(comparison, name=f"compare drawn once, {draws} times", equal="law", **sample)


def of_published_values() -> Iterator[Promise]:
    """Yield the promises of published values."""
    metrics = ("recall@10", "ap")
    three_values = ("recall@10", "ndcg@10", "mrr")
    hit_rate = Promise(
        "published", say.published, 200, m=100, estimator="free", values=("recall@10",)
    )
    yield replace(hit_rate, users=30, n=100, m=99, known=laws.two(0.4155, 0.4155, n=100))
    for estimator in ("free", "decreasing"):
        name = f"published hit rate {estimator}"
        yield replace(hit_rate, name=name, metrics=metrics, estimator=estimator)
        name = f"published hit rates {estimator}"
        yield replace(hit_rate, name=name, estimator=estimator, recommenders=2)
    yield replace(
        hit_rate,
        name="published MRR",
        m=10,
        metrics=metrics,
        values=("mrr",),
        known=laws.two(0.0104, 0.0104),
    )
    yield replace(hit_rate, name="published three", values=three_values)
    yield replace(hit_rate, name="published three of two", values=three_values, recommenders=2)


# --- simulations --------------------------------------------------------------------------------


class Tally(NamedTuple):
    """Shares of the simulations of a population."""

    # the interval misses the truth, or a verdict is false; contradicted samples count too
    wrong: float
    missed: float  # the interval misses the truth
    false_verdicts: (
        float  # a recommender is stated to be better and is not, or by more or less than the margin
    )
    refused: float  # there is no interval
    contradicted: float  # the sample is stated to contradict an assumption
    # the interval misses the truth, and the sample is not stated to contradict an assumption
    unnoticed: float
    right_verdicts: float
    width: float  # mean width of the intervals
    score: float  # what the search maximizes


def tally(statements: Sequence[Statement], *, is_of_estimator: bool = False) -> Tally:
    """Return the shares of statements about the same truth, which may be the mean of their values.

    The score is the mean of the share that is wrong and of the share that would miss if the ends
    had a normal distribution with the same means and deviations, which distinguishes laws that few
    simulations do not. The latter counts up to one standard error above the former, which noise may
    explain.
    """
    low, high, is_false, contradicted, value, is_right = np.array(statements, dtype=float).T
    if is_of_estimator and not np.isnan(value).all():
        low = low - np.nanmean(value)
        high = high - np.nanmean(value)
    has_interval = np.isfinite(low) & np.isfinite(high)
    missed = (high < -EXACT) | (low > EXACT)
    wrong = float((missed | (is_false > 0)).mean())
    error = np.sqrt(max(wrong, 1 / len(low)) * (1 - wrong) / len(low))
    smooth = _share_beyond(low[has_interval]) + _share_beyond(-high[has_interval])
    columns = (
        missed,
        is_false,
        ~has_interval,
        contradicted,
        missed & (contradicted == 0),
        is_right,
    )
    width = float((high - low)[has_interval].mean()) if has_interval.any() else np.nan
    score = float(wrong + min(smooth, wrong + error)) / 2
    return Tally(wrong, *(float(column.mean()) for column in columns), width, score)


def _share_beyond(gaps: np.ndarray) -> float:
    """Return the share above 0 of a normal distribution with the mean and the deviation of some
    gaps.

    Gaps of 0 are left out: both the end and the truth are the largest or smallest possible value
    then.
    """
    nonzero = gaps[np.abs(gaps) > EXACT]
    if len(nonzero) < 2 or nonzero.std() < EXACT:
        return float((gaps > EXACT).mean()) if len(gaps) else 0.0
    return float(len(nonzero) / len(gaps) * ndtr(nonzero.mean() / nonzero.std()))


def generator(promise: Promise, stage: str, *numbers: int) -> np.random.Generator:
    """Return the generator of a simulation, which is the same for all laws in a stage of a
    promise.
    """
    return np.random.default_rng([crc32(str(promise).encode()), crc32(stage.encode()), *numbers])


def simulate(
    promise: Promise, population: Law, stage: str, simulations: int, seed: int
) -> dict[str, Tally]:
    """Return a tally for each metric. Users are at the same quantiles for all laws of a stage."""
    truths = promise.truths(population)
    statements = []
    for number in range(simulations):
        sides = promise.draw(population, generator(promise, stage, seed, number))
        try:
            statements.append(promise.say(promise, sides, truths, number))
        except sm.DataError:
            statements.append(dict.fromkeys(promise.metrics, REFUSED))
    tallies = {}
    for label in promise.metrics:
        statements_of_metric = [by_metric[label] for by_metric in statements]
        tallies[label] = tally(statements_of_metric, is_of_estimator=promise.is_of_estimator)
    return tallies


# --- search -------------------------------------------------------------------------------------


def worst(
    promise: Promise, label: str, tried: Mapping[Population, Any], search: int, seed: int
) -> Population:
    """Return the population that is wrong most often, by hill climbing from the worst of those that
    were tried.
    """

    def simulated(population: Population, stage: str, simulations: int) -> Tally:
        return simulate(promise, population, stage, simulations, seed)[label]

    known = [population for population in map(promise.fitted, promise.known) if population in tried]
    by_score = sorted(tried, key=lambda population: tried[population][label].score, reverse=True)
    kept = [*dict.fromkeys([*by_score[:FINALISTS], *known])]
    scores = {population: simulated(population, "search", search).score for population in kept}
    best = max(scores, key=scores.__getitem__)
    rng = generator(promise, f"changes, {label}", seed)
    for _ in range(max(3, search // 8)):
        changed = laws.changed_population(best, promise.shape, promise.n, kept, rng)
        neighbour = promise.fitted(changed)
        if neighbour is not None and neighbour not in scores:
            scores[neighbour] = simulated(neighbour, "search", search).score
            best = neighbour if scores[neighbour] >= scores[best] else best
    by_score = sorted(scores, key=scores.__getitem__, reverse=True)
    finalists = dict.fromkeys([*by_score[:FINALISTS], *known])
    return max(finalists, key=lambda population: simulated(population, "final", 2 * search).wrong)


def searched(
    promise: Promise, search: int, simulations: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric of a promise: its worst law, with new simulations."""
    starts = promise.starts()[:search]
    tried = {
        start: simulate(promise, start, "search", max(5, search // 3), seed) for start in starts
    }
    worst_by_metric = {
        label: worst(promise, label, tried, search, seed) for label in promise.metrics
    }
    fresh = {
        population: simulate(promise, population, "fresh", simulations, seed)
        for population in {*worst_by_metric.values()}
    }
    for label, population in worst_by_metric.items():
        yield row_of(promise, label, population, simulations, fresh[population][label])


def met(
    promise: Promise, folders: Sequence[str], simulations: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric and each usual law, of one recommender or of a pair, or users of
    rank tables.
    """
    usual = laws.usual()
    recommenders = min(2, promise.recommenders)
    populations: list[Law] = [Population((side, usual[0])[:recommenders]) for side in usual]
    for text in folders:
        name, _, folder = text.partition("=")
        tables = laws.users_of_tables(folder, name)
        populations += [users for users in tables if min(2, len(users.ranks)) == recommenders]
    for population in populations:
        setting = replace(promise, n=getattr(population, "n", 3541))
        for label, shares in simulate(setting, population, "usual", simulations, seed).items():
            yield row_of(setting, label, population, simulations, shares)


def piloted(simulations: int, seed: int, beginnings: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each promise of `of_pilots` that begins so."""
    for promise, population in of_pilots():
        if str(promise).startswith(tuple(beginnings)):
            tallies = simulate(promise, population, "pilots", simulations, seed)
            for label, shares in tallies.items():
                yield row_of(promise, label, population, simulations, shares)


def row_of(
    promise: Promise, label: str, population: Any, simulations: int, shares: Tally
) -> dict[str, Any]:
    """Return what was simulated, and how often it was wrong."""
    kept = (
        "n",
        "m",
        "depth",
        "users",
        "pilot",
        "planned",
        "level",
        "equal",
        "spread",
        "spreads",
        "ratio",
    )
    allowed = 1 - promise.level + 2 * np.sqrt(promise.level * (1 - promise.level) / simulations)
    row = {"promise": promise.name, "metric": label} | {
        name: getattr(promise, name) for name in kept
    }
    row |= {"law": population.words(), "simulations": simulations} | shares._asdict()
    error = np.sqrt(shares.wrong * (1 - shares.wrong) / simulations)
    return row | {"standard_error": error, "allowed": allowed, "is_broken": shares.wrong > allowed}


def markdown(rows: pd.DataFrame) -> str:
    """Return rows as a table of shares."""
    columns = [
        "promise",
        "n",
        "m",
        "pilot",
        "users",
        "metric",
        "law",
        "wrong",
        "standard_error",
        "allowed",
        "contradicted",
    ]
    return str(rows[[*columns, "is_broken"]].to_markdown(index=False, floatfmt=".3f"))


def settings(promise: Promise, options: argparse.Namespace) -> Iterator[Promise]:
    """Yield a promise with each number of users and of negatives, and the metrics, that are asked
    for.
    """
    metrics = tuple(options.metrics or promise.metrics)
    equal = "no" if promise.recommenders > 1 else "metric"
    for users in options.users or (promise.users,):
        for m in (options.negatives or (promise.m,)) if promise.m else (0,):
            yield replace(promise, users=users, m=m, metrics=metrics, equal=equal)


def main() -> None:
    """Simulate, write the csv after each promise, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "promises", nargs="*", default=[""], help="promises whose name starts so; without one, all"
    )
    parser.add_argument("--laws", choices=("worst", "usual", "pilots"), default="worst")
    parser.add_argument(
        "--ranks", action="append", default=[], help="NAME=FOLDER of rank tables, beside usual laws"
    )
    parser.add_argument(
        "--users", type=int, nargs="+", help="in place of those of the promises; of usual laws"
    )
    parser.add_argument("--negatives", type=int, nargs="+", help="likewise")
    parser.add_argument("--metrics", nargs="+", help="likewise")
    parser.add_argument(
        "--simulations", type=int, default=1000, help="of each law, or of the worst"
    )
    parser.add_argument(
        "--search", type=int, default=40, help="simulations of each law in the search"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="csv file")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.laws == "pilots":
        with threadpool_limits(1):
            table = pd.DataFrame(piloted(options.simulations, options.seed, options.promises))
        if options.output:
            table.to_csv(options.output, index=False)
        print(markdown(table))
        return
    chosen = [promise for promise in promises() if str(promise).startswith(tuple(options.promises))]
    if options.laws == "usual":
        chosen = list(
            dict.fromkeys(setting for promise in chosen for setting in settings(promise, options))
        )
    for promise in chosen:
        start = time.perf_counter()
        before = len(rows)
        with threadpool_limits(1):
            if options.laws == "worst":
                rows += searched(promise, options.search, options.simulations, options.seed)
            else:
                rows += met(promise, options.ranks, options.simulations, options.seed)
        wrong = max((row["wrong"] for row in rows[before:]), default=np.nan)
        print(
            f"{time.perf_counter() - start:.0f} s  {promise}: wrong {100 * wrong:.1f} %",
            file=sys.stderr,
            flush=True,
        )
        if options.output:
            pd.DataFrame(rows).to_csv(options.output, index=False)
    print(markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
