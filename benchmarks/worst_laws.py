"""Search for the laws of true ranks for which intervals and verdicts are wrong most often.

A promise is a kind of statement of the library with a level of confidence. It covers a class of laws: all laws for
exact ranks, those of the assumed shape for strict bounds. For each promise, laws of the class are simulated with common
random numbers, the worst is changed step by step, and the worst of all is simulated anew. The same seed gives the same
table.

    python benchmarks/worst_laws.py --only "compare decreasing" --search 20 --simulations 400 --output worst.csv
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from rank_laws import Population, capped_pair, changed_population, hits, law, pairs, ranks, starts, two
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

import sampled_metrics as sm
from sampled_metrics.evaluation.wording import LESS, MORE, VERDICTS
from sampled_metrics.ranks.staged import boundaries, last_boundary, shares

EXACT = 1e-9  # ends of intervals and metrics that differ by less are equal
CONTRADICTIONS = ("contradicted", "unexplained")  # kinds of findings that state that a sample contradicts an assumption
FINALISTS = 3  # laws that are searched from, and that are in the last choice, besides the known ones

# --- statements of the library: the only place that calls it ----------------------------------------------------------


class Statement(NamedTuple):
    """What the library states about a metric, or about the differences of recommenders.

    Attributes:
        low: the lower end of the interval minus the truth, the highest one of several intervals; NaN without interval.
        high: likewise the upper end, the lowest one of several.
        is_false: whether a verdict is false.
        is_contradicted: whether the sample is stated to contradict an assumption.
        value: the estimate.
    """

    low: float
    high: float
    is_false: bool = False
    is_contradicted: bool = False
    value: float = np.nan


REFUSED = Statement(np.nan, np.nan)

Truths = Mapping[str, Sequence[float]]  # the true metric of each recommender, by the label of the metric


def say_evaluate(promise: "Promise", sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Return the statements of `evaluate` on exact or staged ranks; an upper bound where there is no interval."""
    table = staged(promise, sides, seed)["R0"] if promise.depth else tables(promise, sides)["R0"]
    result = sm.evaluate(table, metrics=promise.metrics, confidence_level=promise.level)
    few = [finding.values["most"] for finding in result.findings if finding.kind == "few-completed"]
    ends = [(0.0, few[0])] * len(result) if few else zip(result["low"], result["high"], strict=True)
    by_metric = zip(promise.metrics, ends, strict=True)
    return {label: Statement(low - truths[label][0], high - truths[label][0]) for label, (low, high) in by_metric}


def say_correct(promise: "Promise", sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Return the statements of `correct` on sampled ranks."""
    asked = {"estimators": promise.estimator, "metrics": promise.metrics, "confidence_level": promise.level}
    result = sm.correct(tables(promise, sides)["R0"], **asked)
    contradicted = any(finding.kind in CONTRADICTIONS for finding in result.findings)
    statements = {}
    for row in result.itertuples():
        truth = truths[row.metric][0]
        statements[row.metric] = Statement(row.low - truth, row.high - truth, False, contradicted, row.value)
    return statements


def say_compare(promise: "Promise", sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Return the statements of `compare`.

    With a margin, the verdicts are the statement, and with groups, it is that on all groups together.
    """
    groups = np.searchsorted(np.cumsum(promise.groups), (np.arange(promise.users) + 0.5) / promise.users)
    result = sm.compare(
        staged(promise, sides, seed) if promise.depth else tables(promise, sides),
        metrics=promise.metrics,
        estimator=promise.estimator or None,
        margin=f"{100 * promise.margin}%" if promise.is_relative else promise.margin or None,
        groups=dict(enumerate(groups)) if promise.groups else False,
        confidence_level=promise.level,
    )
    contradicted = any(finding.kind in CONTRADICTIONS for finding in result.findings)
    statements = {}
    for label in promise.metrics:
        of_metric = [finding for finding in result.findings if finding.kind in VERDICTS and finding.metric == label]
        verdicts = [verdict for verdict in of_metric if bool(verdict.group) == bool(promise.groups)]
        gaps = [_gap(verdict.values["a"], verdict.values["b"], truths[label]) for verdict in verdicts]
        low = max(verdict.values["low"] - gap for verdict, gap in zip(verdicts, gaps, strict=True))
        high = min(verdict.values["high"] - gap for verdict, gap in zip(verdicts, gaps, strict=True))
        is_false = any(_is_false(promise, verdict, truths[label]) for verdict in verdicts)
        statements[label] = Statement(*((-1.0, 1.0) if promise.margin else (low, high)), is_false, contradicted)
    return statements


def _gap(a: str, b: str, truths: Sequence[float]) -> float:
    """Return the true difference of two recommenders, by their names; differences up to `EXACT` are none."""
    gap = truths[int(b[1:])] - truths[int(a[1:])]
    return gap if abs(gap) > EXACT else 0.0


def _is_false(promise: "Promise", verdict: Any, truths: Sequence[float]) -> bool:
    """Return whether a verdict is false. At the margin, a difference is neither more nor less than it."""
    winner, loser = verdict.names
    gap, size = _gap(loser, winner, truths), verdict.values.get("size")
    margin = promise.margin * (min(truths) if promise.is_relative else 1.0)
    is_less = size == LESS or verdict.kind == "equivalent"
    return (
        (verdict.kind == "better" and gap <= 0)
        or (size == MORE and abs(gap) < margin + EXACT)
        or (is_less and abs(gap) > margin - EXACT)
    )


def say_published(promise: "Promise", sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Return the statements of `published` on the sampled metrics of a sample, of two recommenders on their order."""
    metrics = [sm.metric(label) for label in promise.values]
    printed = tuple(tuple(f"{one.of_rank(side, promise.m + 1).mean():.3f}" for one in metrics) for side in sides)
    result, statements = _published(promise, printed), dict.fromkeys(promise.metrics, REFUSED)
    contradicted = any(finding.kind in CONTRADICTIONS for finding in result.findings)
    if len(sides) == 1:
        for row in result.itertuples():
            gap = truths[row.metric][0]
            statements[row.metric] = Statement(row.low - gap, row.high - gap, False, contradicted)
    for order in result.findings:
        if order.kind == "published-order":
            ends = (order.values[end] - _gap("R0", "R1", truths[order.metric]) for end in ("low", "high"))
            is_false = order.values["is_decided"] and _gap(*order.names[::-1], truths[order.metric]) <= 0
            statements[order.metric] = Statement(*ends, is_false, contradicted)
    return statements


@lru_cache(maxsize=10_000)
def _published(promise: "Promise", printed: tuple[tuple[str, ...], ...]) -> pd.DataFrame:
    """Return what `published` says of printed values."""
    values = {f"R{number}": dict(zip(promise.values, of_one, strict=True)) for number, of_one in enumerate(printed)}
    asked = {"estimators": promise.estimator, "metrics": promise.metrics, "confidence_level": promise.level}
    return sm.published(values, negatives=promise.m, candidates=promise.n, users=promise.users, **asked)


def tables(promise: "Promise", sides: np.ndarray) -> dict[str, Any]:
    """Return exact or sampled ranks by recommender, with a list of the seeds where there are several."""
    design = {"candidates": promise.n} | ({"negatives": promise.m} if promise.m else {"exact": True})
    read, users = sm.sampled_ranks if promise.m else sm.exact_ranks, np.arange(promise.users)
    seeds = read({f"{row}": pd.DataFrame({"user": users, "rank": side}) for row, side in enumerate(sides)}, **design)
    rows = iter(seeds.values())
    if not promise.seeds:
        return {f"R{number}": table for number, table in enumerate(rows)}
    return {f"R{number}": list(islice(rows, count)) for number, count in enumerate(promise.seeds)}


def staged(promise: "Promise", sides: np.ndarray, seed: int) -> dict[str, sm.StagedRanks]:
    """Return the staged ranks of users with these ranks, whose candidates are in random order."""
    rng, n, users, k = np.random.default_rng([seed, 1]), promise.n, promise.users, 10
    steps, uniform, fold = boundaries(n), rng.random(users), rng.integers(0, 5, users)
    share, last, by_name = shares(promise.depth, steps), last_boundary(steps, np.array([n]))[0], {}
    for number, side in enumerate(sides):
        above_at, above = np.full((users, len(steps)), -1), np.zeros(users, dtype=np.int64)
        goes_on = np.ones(users, dtype=bool)
        for stage in range(last + 1):
            if stage:
                left, better = n - 1 - steps[stage - 1], (side - 1 - above)[goes_on]
                above[goes_on] += rng.hypergeometric(better, left - better, steps[stage] - steps[stage - 1])
            above_at[goes_on, stage] = np.minimum(above[goes_on], k)
            goes_on &= (above < k) & (uniform < share[stage])
        above, nothing = np.minimum(np.where(goes_on, side - 1, above), k), np.zeros(users, dtype=np.int64)
        by_name[f"R{number}"] = sm.StagedRanks(
            user=np.arange(users), item=np.arange(users), score=np.zeros(users), candidates=np.full(users, n), k=k,
            depth=promise.depth, seed=0, boundaries=steps, above_at=above_at, above=above, tied=nothing,
            complete=goes_on & (above < k), uniform=uniform, fold=fold, scored=nothing + 1, digests={},
        )  # fmt: skip
    return by_name


# --- promises ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """A promise of the library, in a setting."""

    name: str
    say: Callable[..., dict[str, Statement]]  # of the promise, (recommenders or seeds, users) ranks, truths and a seed
    users: int
    metrics: tuple[str, ...] = ("recall@10",)  # each with its worst law; one where recommenders are equal by it
    m: int = 0  # number of negatives; 0 for exact ranks
    n: int = 1000  # number of candidates
    estimator: str = ""  # of sampled ranks and published values
    recommenders: int = 1
    equal: str = "metric"  # what recommenders have in common: their metric, up to the margin, their "law", or "no"
    margin: float = 0.0  # the smallest difference that matters; 0 for none
    is_relative: bool = False  # whether it is relative to the worse metric
    groups: tuple[float, ...] = ()  # shares of the users by group, with the same laws in all groups
    seeds: tuple[int, ...] = ()  # number of seeds of each recommender; the law of a seed is a mixture of two laws
    spread: float = 0.0  # largest deviation of the share of the first law in this mixture from one half
    depth: float = 0.0  # of staged ranks; 0 for others
    values: tuple[str, ...] = ()  # labels of published values
    is_of_estimator: bool = False  # whether the truth is the mean of the estimator
    level: float = 0.95
    known: tuple[Population, ...] = ()  # first populations of the search that take part in the last choice, too

    def __str__(self) -> str:
        sample = f", m = {self.m}" if self.m else f", depth = {self.depth:g}" if self.depth else ""
        alike = "" if self.recommenders == 1 or self.equal == "metric" else {"law": ", same law", "no": ", unequal"}
        seeds = f", seeds within {self.spread:g}" if self.seeds else ""
        level = "" if self.level == 0.95 else f", {100 * self.level:g} %"
        name = f"{self.name}: n = {self.n}{sample}, {self.users} users, {' and '.join(self.metrics)}"
        return f"{name}{alike[self.equal] if alike else ''}{seeds}{level}"

    @property
    def shape(self) -> str:
        """The shape of the laws that the promise covers."""
        return "decreasing" if self.estimator == "decreasing" else "free"

    def truths(self, population: Population) -> Truths:
        """Return the true metrics of the recommenders; 0 for the mean of an estimator."""
        means = {label: population.means(sm.metric(label).values(self.n)) for label in self.metrics}
        if self.seeds:
            means = {label: [float(np.mean(of_laws))] for label, of_laws in means.items()}
        if self.is_of_estimator:
            means = {label: [0.0] for label in means}
        return {label: list(islice(cycle(of_laws), self.recommenders)) for label, of_laws in means.items()}

    def fitted(self, population: Population) -> Population | None:
        """Return a population, changed so that recommenders are as equal as the promise says; None if not possible."""
        if self.recommenders == 1 or self.equal == "law":
            population = Population(population.sides[:1], population.coupled)
        elif self.equal == "metric" and not self.seeds:
            values = sm.metric(self.metrics[0]).values(self.n)
            ratio, margin = (1 + self.margin, 0.0) if self.is_relative else (1.0, self.margin)
            population = population.balanced(values, ratio, margin)
            first, second = population.means(values)
            if abs(second - ratio * first - margin) > EXACT:
                return None
        return population if population.keeps(self.shape, self.n) else None

    def starts(self) -> list[Population]:
        """Return the first populations of a search, all different and of the class, the known ones first."""
        couplings = (0.0,) if self.recommenders == 1 else (0.0, 0.9)
        alike = (Population((side,), each) for side in starts(self.n, self.users) for each in couplings)
        usual = alike if self.recommenders == 1 or self.equal == "law" else pairs(self.n, self.users)
        return [*filter(None, dict.fromkeys(map(self.fitted, (*self.known, *usual))))]

    def draw(self, population: Population, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders or seeds, users) ranks, exact or among sampled negatives."""
        if self.seeds:
            count = sum(self.seeds)
            of_laws = population.draw(self.n, self.users, 2 * count, rng)
            share = 0.5 + self.spread * rng.uniform(-1, 1, (count, 1))
            return np.where(rng.random((count, self.users)) < share, of_laws[::2], of_laws[1::2])
        sides = population.draw(self.n, self.users, self.recommenders, rng)
        return rng.hypergeometric(sides - 1, self.n - sides, self.m) + 1 if self.m else sides


def promises() -> Iterator[Promise]:
    """Yield all promises."""
    ap, both, flat = ("ap",), ("recall@10", "ap"), (Population((law(ranks(1, 500)),)),)
    for users in (30, 60, 200, 1000):
        yield Promise("evaluate", say_evaluate, users, both)
    yield Promise("evaluate", say_evaluate, 100, ap, level=0.8)
    exact = Promise("compare", say_compare, 100, recommenders=2)
    for users in (30, 60, 200, 400, 1500):
        yield replace(exact, users=users, metrics=ap, known=two(0.005, 0.005))
    yield from (exact, replace(exact, metrics=ap, equal="no"), replace(exact, metrics=ap, level=0.8))
    yield replace(exact, users=200, metrics=ap, level=0.99)
    for users in (30, 100, 400):
        yield replace(exact, name="margin .01", users=users, metrics=ap, margin=0.01, known=two(0.495, 0.505, -1.0))
        yield replace(exact, name="margin .1", users=users, margin=0.1)
        yield replace(exact, name="margin 5 %", users=users, metrics=ap, margin=0.05, is_relative=True)
        of_double = {"margin": 1.0, "is_relative": True, "known": two(0.5, 1.0, 1.0)}
        yield replace(exact, name="margin 100 %", users=users, **of_double)
    thirds, unequal = (1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1)
    for users in (90, 600):
        yield replace(exact, name="groups of 1/3", users=users, metrics=ap, groups=thirds)
    yield replace(exact, name="groups of .6, .3, .1", users=300, groups=unequal)
    yield replace(exact, name="groups of .6, .3, .1", users=300, metrics=ap, groups=unequal, equal="no")
    for counts, spread in (((3, 3), 0.5), ((3, 3), 0.05), ((2, 10), 0.5), ((2, 10), 0.1)):
        yield replace(exact, name=f"seeds {counts[0]} and {counts[1]}", users=200, seeds=counts, spread=spread)
    for count in (3, 10, 40):
        for users in (100, 1000):
            family = replace(exact, name=f"compare of {count}", users=users, recommenders=count)
            yield from (family, replace(family, equal="no", known=two(0.1, 0.11)))
    for users, depth in ((500, 100.0), (2000, 100.0), (6000, 30.0)):
        yield Promise("evaluate staged", say_evaluate, users, ("recall@10", "recall@1", "ndcg@10"), depth=depth)
        yield replace(exact, name="compare staged", users=users, depth=depth)
    for estimator in ("decreasing", "free"):
        of_one = Promise(f"correct {estimator}", say_correct, 200, m=100, estimator=estimator, known=flat)
        yield from (replace(of_one, users=users, metrics=both) for users in (30, 200, 1000, 6000))
        of_two = replace(exact, name=f"compare {estimator}", m=100, estimator=estimator, known=(capped_pair(1000),))
        yield from (replace(of_two, users=users, m=m) for users in (300, 1000, 6000) for m in (20, 100))
        yield replace(of_two, users=300, equal="no")
        yield replace(of_two, name=f"compare of 3 {estimator}", users=300, recommenders=3)
        yield replace(of_two, name=f"groups of 1/2 {estimator}", users=300, groups=(0.5, 0.5))
    for estimator in ("bv-0.1", "mle", "mes", "smooth"):
        for users in (100, 1000):
            own = {"m": 50, "estimator": estimator, "is_of_estimator": True}
            yield Promise(f"mean of {estimator}", say_correct, users, both, **own)
            yield replace(exact, name=f"compare {estimator}", users=users, m=50, estimator=estimator, equal="law")
    three, told = ("recall@10", "ndcg@10", "mrr"), Promise("published", say_published, 200, m=100, estimator="free")
    yield replace(told, users=30, n=100, m=99, values=("recall@10",), known=(hits(0.4155, 100),))
    for estimator in ("free", "decreasing"):
        of_rate = replace(told, estimator=estimator, metrics=both, values=("recall@10",))
        yield replace(of_rate, name=f"published hit rate {estimator}")
        yield replace(of_rate, name=f"published hit rates {estimator}", metrics=("recall@10",), recommenders=2)
    yield replace(told, name="published MRR", m=10, metrics=both, values=("mrr",), known=(hits(0.0104),))
    yield replace(told, name="published three", values=three)
    yield replace(told, name="published three of two", values=three, recommenders=2)


# --- simulations ------------------------------------------------------------------------------------------------------


class Tally(NamedTuple):
    """Shares of the simulations of a population."""

    wrong: float  # the interval misses the truth, or a verdict is false; contradicted samples count too
    missed_below: float  # the interval is below the truth
    missed_above: float
    false_verdicts: float  # a recommender is stated to be better and is not, or by more or less than the margin
    refused: float  # there is no interval
    contradicted: float  # the sample is stated to contradict an assumption
    width: float  # mean width of the intervals
    score: float  # what the search maximizes


def tally(statements: Sequence[Statement], *, is_of_estimator: bool = False) -> Tally:
    """Return the shares of statements about the same truth, which may be the mean of their values.

    The score is the mean of the share that is wrong and of the share that would miss if the ends had a normal
    distribution with the same means and deviations, which distinguishes laws that few simulations do not. The latter
    counts up to one standard error above the former, which noise may explain.
    """
    low, high, is_false, contradicted, value = np.array(statements, dtype=float).T
    if is_of_estimator and not np.isnan(value).all():
        low, high = low - np.nanmean(value), high - np.nanmean(value)
    has_interval, below, above = np.isfinite(low) & np.isfinite(high), high < -EXACT, low > EXACT
    wrong = float((below | above | (is_false > 0)).mean())
    error = np.sqrt(max(wrong, 1 / len(low)) * (1 - wrong) / len(low))
    smooth = _share_beyond(low[has_interval]) + _share_beyond(-high[has_interval])
    columns = (below, above, is_false, ~has_interval, contradicted)
    width = float((high - low)[has_interval].mean()) if has_interval.any() else np.nan
    score = float(wrong + min(smooth, wrong + error)) / 2
    return Tally(wrong, *(float(column.mean()) for column in columns), width, score)


def _share_beyond(gaps: np.ndarray) -> float:
    """Return the share above 0 of a normal distribution with the mean and the deviation of some gaps.

    Gaps of 0 are left out: both the end and the truth are the largest or smallest possible value then.
    """
    nonzero = gaps[np.abs(gaps) > EXACT]
    if len(nonzero) < 2 or nonzero.std() < EXACT:
        return float((gaps > EXACT).mean()) if len(gaps) else 0.0
    return float(len(nonzero) / len(gaps) * ndtr(nonzero.mean() / nonzero.std()))


def generator(promise: Promise, stage: str, *numbers: int) -> np.random.Generator:
    """Return the generator of a simulation, which is the same for all laws in a stage of a promise."""
    return np.random.default_rng([crc32(str(promise).encode()), crc32(stage.encode()), *numbers])


def simulate(promise: Promise, population: Population, stage: str, simulations: int, seed: int) -> dict[str, Tally]:
    """Return a tally for each metric.

    Users are at the same quantiles for all laws of a stage. The library is asked once for samples that are equal up to
    the order of the users, where this order does not matter.
    """
    truths, known = promise.truths(population), dict[bytes, dict[str, Statement]]()
    statements: dict[str, list[Statement]] = {label: [] for label in promise.metrics}
    is_ordered = promise.m or promise.groups or promise.depth or promise.seeds or promise.recommenders > 2
    for number in range(simulations):
        sides = promise.draw(population, generator(promise, stage, seed, number))
        key = str(number).encode() if is_ordered else np.sort(sides[0] + (promise.n + 1) * (sides[-1] - 1)).tobytes()
        if key not in known:
            try:
                known[key] = promise.say(promise, sides, truths, number)
            except sm.DataError:
                known[key] = dict.fromkeys(promise.metrics, REFUSED)
        for label, statement in known[key].items():
            statements[label].append(statement)
    own = promise.is_of_estimator
    return {label: tally(of_one, is_of_estimator=own) for label, of_one in statements.items()}


# --- search -----------------------------------------------------------------------------------------------------------


def worst(promise: Promise, label: str, tried: Mapping[Population, Any], search: int, seed: int) -> Population:
    """Return the population that is wrong most often, by hill climbing from the worst of those that were tried."""

    def simulated(population: Population, stage: str, simulations: int) -> Tally:
        return simulate(promise, population, stage, simulations, seed)[label]

    known = [population for population in map(promise.fitted, promise.known) if population in tried]
    kept = sorted(tried, key=lambda population: tried[population][label].score, reverse=True)[:FINALISTS]
    kept = [*dict.fromkeys([*kept, *known])]
    scores = {population: simulated(population, "search", search).score for population in kept}
    best, rng = max(scores, key=scores.__getitem__), generator(promise, f"changes, {label}", seed)
    for _ in range(max(3, search // 8)):
        other = promise.fitted(changed_population(best, promise.shape, promise.n, kept, rng))
        if other is not None and other not in scores:
            scores[other] = simulated(other, "search", search).score
            best = other if scores[other] >= scores[best] else best
    finalists = dict.fromkeys([*sorted(scores, key=scores.__getitem__, reverse=True)[:FINALISTS], *known])
    return max(finalists, key=lambda population: simulated(population, "final", 2 * search).wrong)


def rows_of(promise: Promise, search: int, simulations: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric of a promise: its worst law, with new simulations."""
    first = promise.starts()[:search]
    tried = {start: simulate(promise, start, "search", max(5, search // 3), seed) for start in first}
    worst_by_metric = {label: worst(promise, label, tried, search, seed) for label in promise.metrics}
    fresh = {one: simulate(promise, one, "fresh", simulations, seed) for one in {*worst_by_metric.values()}}
    kept = ("n", "m", "depth", "users", "level", "equal", "spread")
    allowed = 1 - promise.level + 2 * np.sqrt(promise.level * (1 - promise.level) / simulations)
    for label, population in worst_by_metric.items():
        found = fresh[population][label]
        row = {"promise": promise.name, "metric": label} | {name: getattr(promise, name) for name in kept}
        row |= {"law": population.words(), "simulations": simulations} | found._asdict()
        error = np.sqrt(found.wrong * (1 - found.wrong) / simulations)
        yield row | {"standard_error": error, "allowed": allowed, "is_broken": found.wrong > allowed}


def markdown(table: pd.DataFrame) -> str:
    """Return rows as a table, shares in per cent. Shares above the allowed one are bold."""
    columns = ("promise", "level", "n", "m", "users", "metric", "the worst law", "wrong", "allowed", "contradicted")
    lines = [columns, ("---",) * len(columns)]
    for row in table.to_dict("records"):
        wrong = f"{100 * row['wrong']:.1f} ± {100 * row['standard_error']:.1f}"
        m = row["m"] or (f"depth {row['depth']:g}" if row["depth"] else "exact")
        setting = (row["promise"], f"{100 * row['level']:g}", row["n"], m, row["users"], row["metric"], row["law"])
        shares_of_row = (f"{100 * row[name]:.1f}" for name in ("allowed", "contradicted"))
        lines.append((*setting, f"**{wrong}**" if row["is_broken"] else wrong, *shares_of_row))
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def main() -> None:
    """Search, write the csv after each promise, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="promises whose name starts so; may be repeated")
    parser.add_argument("--simulations", type=int, default=1000, help="of the worst law of each promise")
    parser.add_argument("--search", type=int, default=40, help="simulations of each law in the search")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="csv file")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for promise in [one for one in promises() if str(one).startswith(tuple(options.only or [""]))]:
        start = time.perf_counter()
        with threadpool_limits(1):
            rows += rows_of(promise, options.search, options.simulations, options.seed)
        wrong = max(row["wrong"] for row in rows[-len(promise.metrics) :])
        print(f"{time.perf_counter() - start:.0f} s  {promise}: wrong {100 * wrong:.1f} %", file=sys.stderr, flush=True)
        if options.output:
            pd.DataFrame(rows).to_csv(options.output, index=False)
    print(markdown(pd.DataFrame(rows)), end="")


if __name__ == "__main__":
    main()
