"""Search for the laws of true ranks for which intervals and verdicts are wrong most often.

A promise is what the library says with 95 %. It covers a class of laws: of exact ranks all laws, of sampled ranks those
of the assumed shape. For each promise and each of a few cells (n, m, users, metrics, level), laws of the class are
simulated with common random numbers, the worst is changed step by step, and the worst of all is simulated anew. Results
depend on the seed alone, not on the number of processes.

    python benchmarks/adversarial_coverage.py --processes 2 --output worst.csv --table worst.md
    python benchmarks/adversarial_coverage.py --again worst.csv --output now.csv

The second simulates the laws of a table again, in the same users, by the code of today.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
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

# --- what the library says: the only place that calls it --------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """What the library says about a metric, or about the difference of two recommenders.

    Attributes:
        low: the lower end; NaN where there is no interval.
        high: the upper end.
        better: which of two recommenders is said to be better: 1 for B, -1 for A, 0 for neither.
        contradicted: whether it says that the sample contradicts the assumption.
    """

    low: float
    high: float
    better: int = 0
    contradicted: bool = False


REFUSED = Statement(np.nan, np.nan)
CONTRADICTIONS = ("contradicts", "No distribution of true ranks explains")
"""Words of the remarks on contradicted assumptions."""

Adapter = Callable[["Cell", tuple[np.ndarray, ...], int], dict[str, Statement]]
"""From a cell, the (users,) ranks of each recommender, and a seed to a statement for each metric."""


def say_evaluate(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return what `evaluate` says of exact ranks."""
    table = sm.evaluate(
        sides[0],
        candidates=cell.n,
        exact=True,
        metrics=list(cell.metrics),
        confidence_level=cell.level,
        seed=seed,
    )
    return {str(row.metric): Statement(row.low, row.high) for row in table.itertuples()}


def say_correct(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return what `correct` says of sampled ranks."""
    table = sm.correct(
        sides[0],
        negatives=np.full(cell.users, cell.m),
        candidates=cell.n,
        estimators=[cell.shape],
        metrics=list(cell.metrics),
        confidence_level=cell.level,
        seed=seed,
    )
    contradicted = is_contradicted(table.remarks)
    return {str(row.metric): Statement(row.low, row.high, 0, contradicted) for row in table.itertuples()}


def say_compare(cell: "Cell", sides: tuple[np.ndarray, ...], seed: int) -> dict[str, Statement]:
    """Return what `compare` says of exact or sampled ranks."""
    of_samples = {"negatives": np.full(cell.users, cell.m), "estimator": cell.shape} if cell.m else {"exact": True}
    table = sm.compare(
        *sides,
        candidates=cell.n,
        metrics=list(cell.metrics),
        confidence_level=cell.level,
        seed=seed,
        names=("A", "B"),
        **of_samples,
    )
    contradicted = is_contradicted(table.remarks)
    better = {"A": -1, "B": 1}
    return {
        str(row.metric): Statement(row.low, row.high, better.get(row.conclusion, 0), contradicted)
        for row in table.itertuples()
    }


def is_contradicted(remarks: Iterable[str]) -> bool:
    """Return whether a remark says that the sample contradicts the assumption."""
    return any(words in remark for remark in remarks for words in CONTRADICTIONS)


# --- promises and cells -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """A promise of the library.

    Attributes:
        say: asks the library.
        shape: the laws that it covers.
        recommenders: 1 or 2.
    """

    say: Adapter
    shape: str
    recommenders: int = 1


PROMISES = {
    "evaluate": Promise(say_evaluate, "free"),
    "compare": Promise(say_compare, "free", 2),
    "correct free": Promise(say_correct, "free"),
    "correct decreasing": Promise(say_correct, "decreasing"),
    "correct convex": Promise(say_correct, "convex"),
    "compare free": Promise(say_compare, "free", 2),
    "compare decreasing": Promise(say_compare, "decreasing", 2),
}


@dataclass(frozen=True)
class Cell:
    """Where a promise is tried.

    Attributes:
        promise: its name.
        n: candidates.
        m: negatives; 0 of exact ranks.
        users: of an evaluation.
        metrics: that are looked at together, each with its worst law; one if two recommenders have equal metrics.
        level: of confidence.
        equal: whether two recommenders have equal metrics.
        known: populations to begin with, besides the usual ones; they stay until the last choice.
    """

    promise: str
    n: int
    m: int
    users: int
    metrics: tuple[str, ...]
    level: float = 0.95
    equal: bool = True
    known: tuple[Population, ...] = ()

    @property
    def shape(self) -> str:
        """The laws that the promise covers."""
        return PROMISES[self.promise].shape

    @property
    def pair(self) -> bool:
        """Whether two recommenders are compared."""
        return PROMISES[self.promise].recommenders == 2

    def __str__(self) -> str:
        sample = f", m = {self.m}" if self.m else ""
        equal = ", unequal" if self.pair and not self.equal else ""
        metrics = " and ".join(self.metrics)
        return f"{self.promise}: n = {self.n}{sample}, {self.users} users, {metrics}, {100 * self.level:g} %{equal}"

    def values(self, metric: str) -> np.ndarray:
        """Return the (n,) values of a metric by rank."""
        return sm.metric(metric).values(self.n)

    def fitted(self, population: Population) -> Population:
        """Return two recommenders with equal metrics, if the cell is of such."""
        return population.balanced(self.values(self.metrics[0])) if self.pair and self.equal else population

    def starts(self) -> list[Population]:
        """Return different populations of the class to begin with, the known ones first."""
        if self.pair:
            more = [*rare_hits(self.n), *pairs(self.n, self.users)]
        else:
            more = [Population((each,)) for each in starts(self.n, self.users)]
        found = dict.fromkeys(self.fitted(each) for each in (*self.known, *more) if each.keeps(self.shape, self.n))
        return [each for each in found if each.keeps(self.shape, self.n)]


def one(*parts: Part) -> tuple[Population, ...]:
    """Return the population of a law."""
    return (Population((law(*parts),)),)


def cells() -> Iterator[Cell]:
    """Yield the cells of a full run; those that take longest first."""
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


def quick_cells() -> list[Cell]:
    """Return a cell or two of each promise, that are wrong often or fast."""
    return [
        Cell("compare decreasing", 1000, 100, 2000, ("recall@10",), known=(capped_pair(1000),)),
        Cell("correct decreasing", 900, 400, 3000, ("recall@10",)),
        Cell("correct convex", 1000, 100, 1000, ("recall@10",), known=one(ranks(1, 1000))),
        Cell("correct free", 1000, 100, 200, ("recall@10",), known=one(ranks(11))),
        Cell("compare free", 1000, 50, 100, ("recall@10",)),
        Cell("compare", 1000, 0, 60, ("ap",)),
        Cell("compare", 1000, 0, 400, ("ap",)),
        Cell("evaluate", 1000, 0, 60, ("ap",)),
    ]


# --- simulations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """What became of the simulations of a population, as shares; those from `covered` to `contradicted` sum to 1.

    Attributes:
        simulations: their number.
        covered: the interval holds the truth.
        missed_below: the interval is below the truth.
        missed_above: the interval is above the truth.
        refused: there is no interval.
        contradicted: the sample is said to contradict the assumption, whatever the interval.
        false_verdicts: a recommender is said to be better that is not.
        wrong: the interval misses the truth or the verdict is false, also of contradicted samples.
        width: the mean of the intervals that are neither refused nor of contradicted samples.
        smooth: the share that would miss if the ends had a normal distribution with the same means and deviations. It
            tells laws apart that few simulations cannot.
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
        """What the search maximizes: halfway from the wrong to the smooth share, of which noise explains one error."""
        error = np.sqrt(max(self.wrong, 1 / self.simulations) * (1 - self.wrong) / self.simulations)
        return float(self.wrong + min(self.smooth, self.wrong + error)) / 2

    @classmethod
    def of(cls, said: list[Statement], truth: float) -> "Tally":
        """Return the shares of statements about the same truth; it is 0 if up to rounding."""
        low, high = (np.array([getattr(each, end) for each in said], dtype=float) for end in ("low", "high"))
        better = np.array([each.better for each in said])
        contradicted = np.array([each.contradicted for each in said], dtype=bool)
        refused = ~contradicted & ~(np.isfinite(low) & np.isfinite(high))
        counted = ~contradicted & ~refused
        below, above = high < truth - EXACT, low > truth + EXACT
        false = (better != 0) & (better != (np.sign(truth) if abs(truth) > EXACT else 0))
        return cls(
            len(said),
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

    Gaps of 0 are left out: there the end is the largest or smallest value of all, and so is the truth.
    """
    apart = gaps[np.abs(gaps) > EXACT]
    if len(apart) < 2 or apart.std() < EXACT:
        return float((gaps > EXACT).mean()) if len(gaps) else 0.0
    return float(len(apart) / len(gaps) * ndtr(apart.mean() / apart.std()))


EXACT = 1e-9
"""Ends of intervals and metrics that differ by less are equal."""


def seeded(cell: Cell, stage: str, number: int) -> np.random.Generator:
    """Return the generator of a simulation; all laws of a stage of a cell have the same."""
    place = f"{cell.promise} {cell.n} {cell.m} {cell.users} {cell.level} {cell.equal or not cell.pair}"
    return np.random.default_rng(np.random.SeedSequence([crc32(place.encode()), crc32(stage.encode()), number]))


def simulate(cell: Cell, population: Population, stage: str, simulations: int) -> dict[str, Tally]:
    """Return a tally for each metric.

    The users of a simulation are at the same quantiles for all laws of a stage. What is said of exact ranks does not
    depend on the order of the users, so it is asked once for equal samples.
    """
    say, known = PROMISES[cell.promise].say, dict[bytes, dict[str, Statement]]()
    said: dict[str, list[Statement]] = {metric: [] for metric in cell.metrics}
    for number in range(simulations):
        rng = seeded(cell, stage, number)
        sides = population.draw(cell.n, cell.users, rng)
        key = str(number).encode()
        if cell.m:
            sides = tuple(rng.hypergeometric(side - 1, cell.n - side, cell.m) + 1 for side in sides)
        else:
            key = np.sort(sides[0] + (cell.n + 1) * (sides[-1] - 1)).tobytes()
        if key not in known:
            try:
                known[key] = say(cell, sides, number)
            except sm.DataError:
                known[key] = dict.fromkeys(cell.metrics, REFUSED)
        for metric, statement in known[key].items():
            said[metric].append(statement)
    return {metric: Tally.of(each, population.truth(cell.values(metric))) for metric, each in said.items()}


# --- search -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes:
        starts: most laws to begin with.
        screen: simulations of each.
        kept: how many of them are simulated again.
        again: simulations of those, and of each change.
        steps: changes of the worst.
        final: new simulations of the worst three and the known ones, of which the one wrong most often is taken.
        confirm: simulations of the worst of a cell.
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
"""Laws that the last choice is from, besides the known ones. It is by how often they are wrong alone."""


def effort_of(cell: Cell, efforts: dict[str, Effort]) -> Effort:
    """Return the effort for a cell."""
    return efforts["sampled" if cell.m else "exact"]


def worst(cell: Cell, metric: str, tried: dict[Population, dict[str, Tally]], effort: Effort) -> Population:
    """Return the population that is wrong most often, by hill-climbing from the worst of those that were tried."""
    known = [each for each in map(cell.fitted, cell.known) if each in tried]
    order = sorted(tried, key=lambda each: tried[each][metric].score, reverse=True)[: effort.kept]
    order = [*dict.fromkeys([*order, *known])]
    score = {each: simulate(cell, each, "search", effort.again)[metric].score for each in order}
    found = max(score, key=lambda each: score[each])
    rng = seeded(cell, f"changes, {metric}", 0)
    for _ in range(effort.steps):
        other = cell.fitted(changed_population(found, cell.shape, cell.n, order, rng))
        if other in score or not other.keeps(cell.shape, cell.n):
            continue
        score[other] = simulate(cell, other, "search", effort.again)[metric].score
        if score[other] >= score[found]:
            found = other
    last = dict.fromkeys([*sorted(score, key=lambda each: score[each], reverse=True)[:FINALISTS], *known])
    return max(last, key=lambda each: simulate(cell, each, "final", effort.final)[metric].wrong)


def search(cell: Cell, efforts: dict[str, Effort]) -> list[dict[str, object]]:
    """Return a row for each metric of a cell: its worst population, by new simulations."""
    effort = effort_of(cell, efforts)
    first = islice(cell.starts(), effort.starts)
    tried = {each: simulate(cell, each, "search", effort.screen) for each in first}
    found = {metric: worst(cell, metric, tried, effort) for metric in cell.metrics}
    confirmed = {each: simulate(cell, each, "confirm", effort.confirm) for each in dict.fromkeys(found.values())}
    return [row_of(cell, metric, each, confirmed[each][metric]) for metric, each in found.items()]


def quick_search(cell: Cell) -> list[dict[str, object]]:
    """Return the rows of a cell by a short search."""
    return search(cell, QUICK)


def row_of(cell: Cell, metric: str, population: Population, tally: Tally) -> dict[str, object]:
    """Return a line of the csv."""
    return {
        "promise": cell.promise,
        "n": cell.n,
        "m": cell.m,
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
    """Return a line of the csv for the same population, simulated by the code of today."""
    metric, equal = str(row["metric"]), abs(float(row["truth"])) < EXACT
    cell = Cell(row["promise"], row["n"], row["m"], row["users"], (metric,), row["level"], equal)
    population = Population.read(str(row["parameters"]))
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
        m = str(row["m"]) if row["m"] else "exact"
        cell = [row["promise"], f"{100 * row['level']:g}", str(row["n"]), m, str(row["users"]), row["metric"]]
        lines.append(f"| {' | '.join([*cell, row['law'], covered, *shares, format(row['width'], '.4f')])} |")
    return "\n".join(lines) + "\n"


def timed(task: tuple[int, object], work: Callable[[object], list[dict[str, object]]]) -> tuple[int, list, float]:
    """Return the number of a task, its rows, and the seconds that it took."""
    number, given = task
    begun = time.perf_counter()
    rows = work(given)
    return number, rows, time.perf_counter() - begun


def run(
    tasks: list, work: Callable[[object], list[dict[str, object]]], processes: int, output: Path | None = None
) -> pd.DataFrame:
    """Return the rows of all tasks in their order; say how each went, and write what is there after each."""
    found: dict[int, list[dict[str, object]]] = {}
    one_task = partial(timed, work=work)
    with threadpool_limits(1), Pool(processes, threadpool_limits, (1,)) if processes > 1 else _NoPool() as pool:
        for number, rows, seconds in pool.imap_unordered(one_task, enumerate(tasks)):
            found[number] = rows
            for row in rows:
                said = f"covered {100 * row['covered']:.1f}, wrong {100 * row['wrong']:.1f} %"
                place = (
                    f"{row['promise']} n {row['n']} m {row['m']} users {row['users']} {row['metric']} {row['level']}"
                )
                print(f"[{len(found)}/{len(tasks)}] {seconds:.0f} s  {place}: {said}: {row['law']}", file=sys.stderr)
            table = pd.DataFrame([row for at in sorted(found) for row in found[at]])
            if output is not None:
                table.to_csv(output, index=False)
    return table


class _NoPool:
    """This process, in place of several."""

    def __enter__(self) -> "_NoPool":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    imap_unordered = staticmethod(map)


def main() -> None:
    """Search, write the csv, and print the worst of each promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few cells and simulations: about two minutes")
    parser.add_argument("--promise", action="append", choices=list(PROMISES), help="only this one; may be repeated")
    parser.add_argument("--again", type=Path, help="csv whose laws are simulated again, in place of a search")
    parser.add_argument("--simulations", type=int, help="of the worst law of each cell (1000; 60 to 200 if quick)")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, help="csv")
    parser.add_argument("--table", type=Path, help="Markdown table of the worst of each promise, also printed")
    given = parser.parse_args()
    wanted = given.promise or list(PROMISES)
    if given.again:
        tasks = [row for row in pd.read_csv(given.again).to_dict("records") if row["promise"] in wanted]
        work = partial(again, simulations=given.simulations or 1000)
    else:
        efforts = QUICK if given.quick else FULL
        if given.simulations:
            efforts = {name: replace(each, confirm=given.simulations) for name, each in efforts.items()}
        tasks = [cell for cell in (quick_cells() if given.quick else cells()) if cell.promise in wanted]
        work = partial(search, efforts=efforts)
    shown = markdown(worst_of_promises(run(tasks, work, given.processes, given.output)))
    print(shown, end="")
    if given.table:
        given.table.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
