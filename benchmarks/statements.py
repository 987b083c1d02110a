"""What the library states about simulated ranks, by promise.

It is the only place of the search that calls the library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import sampled_metrics as sm
from sampled_metrics.core.evaluation.questions import THESE_RUNS
from sampled_metrics.core.evaluation.verdict import VERDICTS, Lead
from sampled_metrics.stages.stopping import boundaries, last_boundary, shares

EXACT = 1e-9  # ends of intervals and metrics that differ by less are equal
# kinds of findings that state that a sample contradicts an assumption
CONTRADICTIONS = (
    "contradicted",
    "unexplained",
    "published-contradicted",
    "published-unexplained",
)
CHANCES = ("decided", "wrong")
EVALUATIONS = 300  # of a law, for the truths of a plan
Promise = Any  # of promises.py, which imports this module
# the true metric of each recommender, by the label of the metric
Truths = Mapping[str, Sequence[float]]


class Statement(NamedTuple):
    """What the library states about a metric, or about the differences of recommenders."""

    # the lower end of the interval minus the truth, the highest one of several; NaN without
    # interval
    low: float
    high: float  # likewise the upper end, the lowest one of several
    is_false: bool = False  # whether a verdict is false
    is_contradicted: bool = False  # whether the sample is stated to contradict an assumption
    value: float = np.nan  # the estimate
    is_right: bool = False  # whether a verdict is right


REFUSED = Statement(np.nan, np.nan)

# --- promises: each returns the statements by metric ---------------------------------------------


def evaluate(
    promise: Promise, sides: np.ndarray, truths: Truths, seed: int
) -> dict[str, Statement]:
    """Of `evaluate` on exact or staged ranks."""
    table = staged(promise, sides, seed)["R0"] if promise.depth else tables(promise, sides)["R0"]
    result = sm.evaluate(table, metrics=promise.metrics, confidence_level=promise.level)
    return statements_of_rows(result, truths)


def correct(promise: Promise, sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Of `correct` on sampled ranks."""
    by_name = tables(promise, sides)
    result = sm.correct(
        by_name if promise.draws else by_name["R0"],
        estimators=promise.estimator,
        metrics=promise.metrics,
        confidence_level=promise.level,
    )
    return statements_of_rows(result, truths)


def compare(promise: Promise, sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Of `compare`: with a margin the verdicts, and with groups what it says of all groups
    together.
    """
    groups = np.searchsorted(
        np.cumsum(promise.groups), (np.arange(promise.users) + 0.5) / promise.users
    )
    result = sm.compare(
        staged(promise, sides, seed) if promise.depth else tables(promise, sides),
        metrics=promise.metrics,
        estimator=promise.estimator or None,
        margin=f"{100 * promise.margin}%" if promise.is_relative else promise.margin or None,
        groups=dict(enumerate(groups)) if promise.groups else False,
        confidence_level=promise.level,
    )
    statements = {}
    for label in promise.metrics:
        verdicts = [
            finding
            for finding in result.findings
            if finding.kind in VERDICTS
            and finding.metric == label
            and bool(finding.group) == bool(promise.groups)
            and finding.inference != THESE_RUNS  # the truth is that of the population of seeds
        ]
        lows = []
        highs = []
        for verdict in verdicts:
            gap = _gap(verdict.values["a"], verdict.values["b"], truths[label])
            lows.append(verdict.values["low"] - gap)
            highs.append(verdict.values["high"] - gap)
        is_false = any(_is_false(promise, verdict, truths[label]) for verdict in verdicts)
        is_right = not is_false and any(verdict.kind == "better" for verdict in verdicts)
        ends = (-1.0, 1.0) if promise.margin else (max(lows), min(highs))
        statements[label] = Statement(*ends, is_false, _is_contradicted(result), is_right=is_right)
    return statements


def published(
    promise: Promise, sides: np.ndarray, truths: Truths, seed: int
) -> dict[str, Statement]:
    """Of `published` on the sampled metrics of a sample, of two recommenders on their order."""
    metrics = [sm.metric(label) for label in promise.values]
    printed = tuple(
        tuple(f"{metric.of_rank(side, promise.m + 1).mean():.3f}" for metric in metrics)
        for side in sides
    )
    result = _published(promise, printed)
    statements = dict.fromkeys(promise.metrics, REFUSED)
    if len(sides) == 1:
        statements |= statements_of_rows(result, truths)
    for order in result.findings:
        if order.kind in ("published-order", "published-undecided"):
            truths_of_metric = truths[order.metric]
            gap = _gap("R0", "R1", truths_of_metric)
            winner, loser = order.names
            is_decided = order.kind == "published-order"
            is_false = is_decided and _gap(loser, winner, truths_of_metric) <= 0
            statements[order.metric] = Statement(
                order.values["low"] - gap,
                order.values["high"] - gap,
                is_false,
                _is_contradicted(result),
            )
    return statements


def plan(promise: Promise, sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Of `plan` on a way to evaluate: on the width of an evaluation, and on its chances."""
    design = {
        "negatives": [promise.m] if promise.m else [],
        "estimators": [promise.estimator or "bv-0.1"],
    }
    design["depths"] = [promise.depth] if promise.depth else []
    # by chance, the recommenders have the same metric in the pilot, which is a DataError
    pilot = pilot_of(promise, sides, seed)
    result = sm.plan(pilot, metric=promise.planned, **design)
    [row] = result[(result["way"] == promise.way)].head(1).to_dict("records")
    statements = {}
    for label, truths_of_label in truths.items():
        truth = truths_of_label[seed % len(truths_of_label)]
        low = row[f"{label}_low"]
        high = row[f"{label}_high"]
        if np.isnan(low):  # the plan says that the pilot does not know it
            statements[label] = Statement(-np.inf, np.inf)
        else:
            # a chance is known up to one evaluation
            slack = 1 / EVALUATIONS if label in CHANCES else 0.0
            statements[label] = Statement(low - slack - truth, high + slack - truth)
    return statements


def advice(promise: Promise, sides: np.ndarray, truths: Truths, seed: int) -> dict[str, Statement]:
    """Of the first sentence of `plan`: a way that decides rightly between equal recommenders is
    false advice.
    """
    pilot = pilot_of(promise, sides, seed)
    result = sm.plan(pilot, metric=promise.planned, negatives=[])
    is_false = any(finding.kind == "plan-first" for finding in result.findings)
    return {label: Statement(-1.0, 1.0, is_false) for label in promise.metrics}


# --- what promises share ------------------------------------------------------------------------


def statements_of_rows(result: pd.DataFrame, truths: Truths) -> dict[str, Statement]:
    """Return the statements of the rows of a result of one recommender."""
    contradicted = _is_contradicted(result)
    return {
        row.metric: Statement(
            row.low - truths[row.metric][0],
            row.high - truths[row.metric][0],
            False,
            contradicted,
            row.value,
        )
        for row in result.itertuples()
    }


def _is_contradicted(result: Any) -> bool:
    return any(finding.kind in CONTRADICTIONS for finding in result.findings)


def _gap(a: str, b: str, truths: Sequence[float]) -> float:
    """Return the true difference of two recommenders, by their names; differences up to `EXACT` are
    none.
    """
    gap = truths[int(b[1:])] - truths[int(a[1:])]
    return gap if abs(gap) > EXACT else 0.0


def _is_false(promise: Promise, verdict: Any, truths: Sequence[float]) -> bool:
    """Return whether a verdict is false.

    At the margin, a difference is neither more nor less than it.
    """
    winner, loser = verdict.names
    gap = _gap(loser, winner, truths)
    size = verdict.values.get("size")
    margin = promise.margin * (min(truths) if promise.is_relative else 1.0)
    is_less = size == Lead.LESS.value or verdict.kind == "equivalent"
    return (
        (verdict.kind == "better" and gap <= 0)
        or (size == Lead.MORE.value and abs(gap) < margin + EXACT)
        or (is_less and abs(gap) > margin - EXACT)
    )


@lru_cache(maxsize=10_000)
def _published(promise: Promise, printed: tuple[tuple[str, ...], ...]) -> pd.DataFrame:
    """Return what `published` says of printed values."""
    values = {
        f"R{number}": dict(zip(promise.values, texts, strict=True))
        for number, texts in enumerate(printed)
    }
    return sm.published(
        values,
        negatives=promise.m,
        candidates=promise.n,
        users=promise.users,
        estimators=promise.estimator,
        metrics=promise.metrics,
        confidence_level=promise.level,
    )


@lru_cache(maxsize=100)
def truths_of_evaluations(promise: Promise, population: Any) -> Truths:
    """Return the widths of evaluations of a law, and the chances of their verdicts.

    The evaluations have as many users as the pilot.
    """
    rows = []
    for seed in range(EVALUATIONS):
        rng = np.random.default_rng([0, seed])
        sides = population.draw(promise.n, promise.pilot, promise.recommenders, rng)
        evaluated = replace(promise, users=promise.pilot, m=0)
        options = {"metrics": promise.planned}
        compared = {}
        if promise.way == "stages":
            ranks = staged(evaluated, sides, seed)
        elif promise.way == "negatives":
            sides = 1 + rng.hypergeometric(sides - 1, promise.n - sides, promise.m)
            ranks = tables(replace(evaluated, m=promise.m), sides)
            options["estimators"] = promise.estimator
            compared = {"estimator": promise.estimator}
        else:
            ranks = tables(evaluated, sides)
        result = sm.correct(ranks, **options) if compared else sm.evaluate(ranks, **options)
        row = {"width": (result["high"] - result["low"]).tolist()}
        if promise.recommenders > 1:
            [conclusion] = sm.compare(ranks, metrics=promise.planned, **compared)["conclusion"]
            row["conclusion"] = conclusion
        rows.append(row)
    widths = np.array([row["width"] for row in rows])
    truths = {"width": widths[:, np.nanmean(widths, axis=0).argmax()].tolist()}
    if promise.recommenders > 1:
        metric = sm.metric(promise.planned).values(promise.n)
        means = population.means(metric)
        better, worse = ("R0", "R1") if means[0] > means[1] else ("R1", "R0")
        for label, name in zip(CHANCES, (better, worse), strict=True):
            truths[label] = [float(np.mean([row["conclusion"] == name for row in rows]))]
    return truths


def pilot_of(promise: Promise, sides: np.ndarray, seed: int) -> dict[str, Any]:
    """Return exact ranks by recommender, or staged ranks of all candidates."""
    pilot = replace(promise, users=sides.shape[1], depth=None, m=0)
    return staged(pilot, sides, seed) if promise.depth else tables(pilot, sides)


def tables(promise: Promise, sides: np.ndarray) -> dict[str, Any]:
    """Return exact or sampled ranks by recommender, with a list of the seeds or draws where there
    are several.
    """
    sample = {"negatives": promise.m, "drawn": "once" if promise.draws else "by user"}
    design = {"candidates": promise.n} | (sample if promise.m else {"exact": True})
    read = sm.sampled_ranks if promise.m else sm.exact_ranks
    users = np.arange(promise.users)
    frames = {
        f"{row}": pd.DataFrame({"user": users, "rank": side}) for row, side in enumerate(sides)
    }
    rows = iter(read(frames, **design).values())
    counts = promise.seeds or (promise.draws,) * promise.recommenders
    if not any(counts):
        return {f"R{number}": table for number, table in enumerate(rows)}
    return {f"R{number}": list(islice(rows, count)) for number, count in enumerate(counts)}


def staged(promise: Promise, sides: np.ndarray, seed: int) -> dict[str, sm.StagedRanks]:
    """Return the staged ranks of users with these ranks, by the order of the promise."""
    rng = np.random.default_rng([seed, 1])
    n = promise.n
    users = promise.users
    k = 10
    steps = boundaries(n)
    uniform = rng.random(users)
    fold = rng.integers(0, 5, users)
    share = shares(promise.depth, steps)
    last = last_boundary(steps, np.array([n]))[0]
    by_name = {}
    for number, side in enumerate(sides):
        counts = _above_at(side, steps, n, promise.order, rng)
        above_at = np.full((users, len(steps)), -1)
        above = np.zeros(users, dtype=np.int64)
        goes_on = np.ones(users, dtype=bool)
        for stage in range(last + 1):
            above[goes_on] = counts[goes_on, stage]
            above_at[goes_on, stage] = np.minimum(above[goes_on], k)
            goes_on &= (above < k) & (uniform < share[stage])
        above = np.minimum(np.where(goes_on, side - 1, above), k)
        nothing = np.zeros(users, dtype=np.int64)
        by_name[f"R{number}"] = sm.StagedRanks(
            user=np.arange(users),
            item=np.arange(users),
            score=np.zeros(users),
            candidates=np.full(users, n),
            k=k,
            depth=promise.depth,
            seed=0,
            boundaries=steps,
            above_at=above_at,
            tied_at=np.minimum(above_at, 0),
            above=above,
            tied=nothing,
            complete=goes_on & (above < k),
            uniform=uniform,
            fold=fold,
            scored=nothing + 1,
            digests={},
        )
    return by_name


def _above_at(
    side: np.ndarray, steps: np.ndarray, n: int, order: float, rng: np.random.Generator
) -> np.ndarray:
    """Return (users, boundaries) numbers of candidates above among the first ones up to each
    boundary.

    In random order they are hypergeometric. In another order, the candidates above are at the
    quantiles u^order of all, with u uniform, and only ten of them are counted.
    """
    counts = np.zeros((len(side), len(steps)), dtype=np.int64)
    if order == 1:
        for stage in range(1, len(steps)):
            left = n - 1 - steps[stage - 1]
            before = counts[:, stage - 1]
            drawn = rng.hypergeometric(
                side - 1 - before, left - (side - 1 - before), steps[stage] - steps[stage - 1]
            )
            counts[:, stage] = before + drawn
        return counts
    above = side - 1
    smallest = np.zeros(len(side))
    # the smallest of the uniform numbers that are larger than the last one
    for number in range(10):
        smallest = 1 - (1 - smallest) * rng.random(len(side)) ** (1 / np.maximum(above - number, 1))
        is_before = smallest[:, np.newaxis] ** order <= steps / (n - 1)
        is_there = (above > number)[:, np.newaxis]
        counts += is_before & is_there & (steps > 0)
    return counts
