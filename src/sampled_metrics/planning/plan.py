"""Plan an evaluation: what each way to evaluate costs, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from sampled_metrics._defaults import PLANNED
from sampled_metrics.checks import (
    MOST,
    Floats,
    check_memory_limit,
    is_real,
    require_confidence_level,
    require_whole,
    shown,
)
from sampled_metrics.core.estimators import Estimator, EstimatorsLike, estimators_by_label
from sampled_metrics.core.estimators.strict_bounds import SIGNIFICANCE
from sampled_metrics.core.evaluation import phrases
from sampled_metrics.core.evaluation.evaluate import from_readers
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.evaluation.values import (
    NO_ASSUMPTION,
    NO_BIAS,
    UNIFORM,
    UserValues,
    assumption_of,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, metric_name, metrics_by_label
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.runs import read_runs, require_same_design
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import EQUAL
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.planning.pilot import (
    LAWS,
    Draw,
    Evaluation,
    Pilot,
    SampledPilot,
    gaps_of,
    widths_of,
)
from sampled_metrics.planning.words import way_in_words
from sampled_metrics.running import late_progress, on_one_thread
from sampled_metrics.stages.table import StagedRanks

FEWEST_DRAWS = 40
"""Least number of simulated evaluations of each way; of estimators that are not linear, the number.
"""

MOST_DRAWS = 100_000
"""Most simulated evaluations of each way."""

ENOUGH = 0.9
"""The share of evaluations that a way must decide, by the pilot's lower end, for `plan` to name it.
"""

MOSTLY = 0.5
"""The share of evaluations beyond which a way that decides most often is marked as such."""

_SIZES = (20, 100, 300)  # the defaults of negatives and depths
_DEPTHS = (30, 100, 300)
_SHARES = ("ordered", "decided", "wrong")
_LEVEL = 0.95  # of the intervals of the promises
# least number of simulated evaluations of each of `LAWS`, which are a fifth of those of the pilot
_FEWEST_OF_LAW = 10
_FEW_HITS = 400  # users with a metric above 0, below which a finding says how few there are


class Plan(Result):
    """The result of `plan`, which shows the interval of each promise beside it."""

    @property
    def _constructor(self) -> Callable[..., Plan]:
        return Plan

    def as_text(self) -> pd.DataFrame:
        """Return the table as text: each promise with its interval; what is missing is a dash."""
        text = super().as_text()
        names = {*self.columns}
        hidden = {"error", "chosen"}
        for name in ("width", *_SHARES):
            if {name, f"{name}_low", f"{name}_high"} <= names:
                form = phrases.number if name == "width" else "{:.2f}".format
                numbers = self[[name, f"{name}_low", f"{name}_high"]].to_numpy(dtype=np.float64)
                text[name] = [_promise(value, low, high, form) for value, low, high in numbers]
                hidden |= {f"{name}_low", f"{name}_high"}
        if "scores" in names:
            text["scores"] = self["scores"].map("{:,.0f}".format)
        if {"way", "negatives", "depth", "estimator"} <= names:
            text["way"] = [way_in_words(row) for row in self.to_dict("records")]
            hidden |= {"negatives", "depth", "estimator", "completed"}
        if "chosen" in names and self["chosen"].any():
            text.insert(0, "", ["*" if chosen else "" for chosen in self["chosen"]])
        return text.drop(columns=[name for name in text if name in hidden])


def _promise(value: float, low: float, high: float, form: Callable[[float], str]) -> str:
    """Return a promise with its interval as text."""
    return "-" if np.isnan(value) else f"{form(value)} ({form(low)} to {form(high)})"


@on_one_thread
def plan(
    pilot: Any,
    *,
    metric: str | Metric = "recall@10",
    negatives: Sequence[int] = _SIZES,
    depths: Sequence[float] = _DEPTHS,
    users: int | None = None,
    estimators: EstimatorsLike = PLANNED,
    replacement: bool = False,
    confidence_level: float = 0.95,
    draws: int = 100,
    width: float | None = None,
    scores: float | None = None,
) -> Plan:
    """Tell what each way to evaluate costs and what it tells, from a pilot.

    The users of the pilot stand for the population. For each way, evaluations of users drawn anew
    are simulated, and their intervals and verdicts are those of `evaluate`, `correct` and
    `compare`. All ways have the same users.

    Args:
        pilot: ranks of some users: `ExactRanks`, or `StagedRanks` by ``depth=None``; or a mapping
            from the names of recommenders to them. A list of the exact and the staged ranks of the
            same users gives rows of negatives and of stages.
        metric: one label, such as recall@10. For rows of stages it has a cut-off of k or below.
        negatives: the m of uniform negatives, drawn anew for each user: no promise is for negatives
            that all users share. One that a user cannot have is left out.
        depths: the depths of stages.
        users: how many users the evaluation has; as many as the pilot by default.
        estimators: labels of the estimators of sampled ranks.
        replacement: whether a negative may be drawn twice.
        confidence_level: of the intervals of the evaluations.
        draws: simulated evaluations of each way, 40 to 100,000; 40 for estimators that are not
            linear in the sample.
        width: a wanted width of the interval. The cheapest way whose interval is at most as wide is
            marked, out of those whose interval holds the true metric. The width is that at the
            upper end, ``width_high``.
        scores: a number of scores that can be spent on a recommender. The way with the largest
            ``decided_low`` is marked; of one recommender, or if no way surely decides in half of
            the evaluations, that with the smallest ``width_high``.

    Returns:
        A row for each way to evaluate, with the columns

        - way: all candidates; stop at k (the same metric for fewer scores); stages; negatives; or
          one of the first two for a part of the users, for as many scores as a depth or a number of
          negatives;
        - estimator, negatives, depth: what belongs to the way;
        - scores: for each of the users, on average;
        - users: who are scored;
        - assumes: what has to be right for the interval to hold the true metric, as in `correct`;
          "decreasing or none" where more than 5 % of the evaluations leave the assumption, for one
          recommender or more, and "none" where all do for all; a finding has the share;
        - width: mean width of the interval of the metric, of the recommender with the widest one;
        - ordered, decided, wrong (of two recommenders or more): the chance that the one that is
          better in the pilot has the higher value, that `compare` decides for it, and that
          `compare` decides for the other one. Their order is the pilot's: if it is the other way
          round in truth, decided is the chance of a wrong verdict. Of several pairs, it is the pair
          that is decided least often, in the column pair;
        - error: the largest standard error of these shares, as they are simulated.

        Each promise has an interval, in columns with the endings _low and _high. That of the width
        holds the width of an evaluation of other users, and those of the shares hold the chances,
        in about 95 % of plans: they count what the simulation and the pilot leave open.

    Raises:
        DataError: the ranks have not been read by a reader, or are sampled; staged ranks are not
            all known; the recommenders are of different users, or two are equal in the pilot.
        ConfigError: the metric or an estimator does not exist, an option is out of range, or is for
            rows that such a pilot has not.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {"X": [30, 25, 40, 12, 60, 33] * 50, "Y": [1, 300, 2, 500, 9, 700] * 50}
        >>> tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
        >>> result = sm.plan(tables, metric="ap", negatives=[20, 100], estimators="bv-0.1")
        >>> print(result[["way", "negatives", "scores", "decided", "wrong"]].to_string(index=False))
                                  way  negatives  scores  decided  wrong
                       all candidates        NaN  1000.0     1.00    0.0
                            negatives       20.0    21.0     0.24    0.0
        all candidates, part of users        NaN    20.0     0.00    0.0
                            negatives      100.0   101.0     1.00    0.0
        all candidates, part of users        NaN   100.0     0.96    0.0

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 6.3
        and Figure 6. C. J. Clopper and E. S. Pearson, The Use of Confidence or Fiducial Limits,
        Biometrika 26, 1934.
    """
    question = _Question.from_given(pilot, metric, users, confidence_level)
    chosen = estimators_by_label(estimators)
    _check(negatives, depths, draws, width, scores)
    designs = [SamplingDesign(m, replacement) for m in negatives]
    _require_effect(question.pilot, negatives, depths, list(chosen), replacement)
    ways, missing = _ways(question, chosen, designs, depths, draws)
    table = Plan([_row(way, question) for way in late_progress(ways)])
    if not table["completed"].notna().any():
        table = table.drop(columns="completed")
    marked, choice = _choice(table, width, scores)
    findings = [*question.findings, *choice, *missing, *_about(table, question)]
    table = table.drop(columns="left")
    setting = Setting(question.confidence_level, question.parameters, question.names)
    return Plan(table.assign(chosen=marked)).found(findings, setting)


class _Question(NamedTuple):
    """What is planned.

    Attributes:
        pilot: the ranks.
        pairs: the pairs of recommenders, the one that is better in the pilot last.
        users: number of users of an evaluation.
        confidence_level: of its intervals.
        names: of the recommenders.
        findings: on the pilot.
        parameters: what the numbers are of.
    """

    pilot: Pilot
    pairs: Sequence[tuple[str, str]]
    users: int
    confidence_level: float
    names: tuple[str, ...]
    findings: Sequence[Finding]
    parameters: str

    @property
    def alpha(self) -> float:
        """Return the error rate of an interval of a metric."""
        return 1 - self.confidence_level

    @property
    def rate(self) -> float:
        """Return the error rate of the interval of a pair.

        The intervals of all pairs hold together, by Bonferroni's inequality.
        """
        return self.alpha / max(1, len(self.pairs))

    @classmethod
    def from_given(
        cls, ranks: Any, metric: str | Metric, users: int | None, confidence_level: float
    ) -> _Question:
        """Check the pilot, the metric and the numbers, and return what is planned."""
        # --- the options
        level = require_confidence_level(confidence_level)
        by_label = metrics_by_label(metric, "metric")
        if len(by_label) > 1:
            raise ConfigError(f"metric: give one, not {', '.join(by_label)}")
        [(label, measure)] = by_label.items()
        if users is not None:
            require_whole(2, MOST, users=users)
            check_memory_limit((users,), "a value of each user", "plan for fewer users")
        # --- the pilot, whose users are paired
        tables_by_name = {runs.name: runs.tables for runs in read_runs(ranks, "plan")}
        first_tables = {name: tables[0] for name, tables in tables_by_name.items()}
        first_table, *others = first_tables.values()
        numbers_of_users, _ = first_table.pair(others, list(first_tables))
        if max(numbers.max() for numbers in numbers_of_users) < 1:
            raise DataError("pilot: has one user; a plan needs two or more")
        numbers_by_name = dict(zip(first_tables, numbers_of_users, strict=True))
        pilot = Pilot(*_exact_and_staged(tables_by_name, by_label), numbers_by_name, measure)
        pairs = _ordered_pairs(pilot)

        # --- the findings on it
        findings = from_readers(first_tables.items())
        for worse, better in pairs:
            difference, low, high = gaps_of(pilot.values, [(worse, better)], 0.05)[0]
            gap = {"difference": difference, "low": low, "high": high, "users": pilot.users}
            kind = "plan-pair" if low > 0 else "plan-pair-undecided"
            findings.append(Finding(kind, label, (better, worse), values=gap))
        hits = {name: int((values.low[0] > EQUAL).sum()) for name, values in pilot.values.items()}
        fewest = min(hits, key=hits.__getitem__)
        if hits[fewest] < _FEW_HITS:
            findings.append(
                Finding("plan-few-hits", label, (fewest,), values={"hits": hits[fewest]})
            )

        planned = "" if users is None else f"{users:,} users; pilot: "
        parameters = f"{metric_name(label)}, {planned}{first_table.description}"
        names = tuple(name for name in first_tables if name)
        return cls(pilot, pairs, users or pilot.users, level, names, findings, parameters)


def _exact_and_staged(
    tables_by_name: Mapping[str, Sequence[Any]], metrics: Mapping[str, Metric]
) -> tuple[dict[str, ExactRanks], dict[str, StagedRanks]]:
    """Return the exact and the staged ranks of recommenders, each for all of them or for none."""
    exact = dict[str, ExactRanks]()
    staged = dict[str, StagedRanks]()
    for name, tables in tables_by_name.items():
        if len({type(table) for table in tables}) < len(tables):
            raise DataError(
                f"{name or 'pilot'}: a pilot is exact ranks, staged ranks, or one of each"
            )
        for table in tables:
            table.check_metrics(metrics)
            if isinstance(table, StagedRanks) and not table.is_all_known:
                raise DataError(
                    f"{name or 'pilot'}: some ranks are not known; a pilot takes depth=None"
                )
            if isinstance(table, ExactRanks):
                exact[name] = table
            if isinstance(table, StagedRanks):
                staged[name] = table
    are_all_exact = len(exact) == len(tables_by_name)
    are_all_staged = len(staged) == len(tables_by_name)
    if not (are_all_exact or are_all_staged):
        raise DataError("pilot: all recommenders have exact ranks, or all have staged ranks")
    if are_all_staged:
        require_same_design(staged)
    for name in tables_by_name:
        if name in exact and name in staged and len(exact[name]) != len(staged[name]):
            raise DataError(
                f"{name or 'pilot'}: its exact and its staged ranks are of different rows"
            )
    return exact if are_all_exact else {}, staged if are_all_staged else {}


def _ordered_pairs(pilot: Pilot) -> list[tuple[str, str]]:
    """Return the pairs of recommenders, the better one last; raise DataError if two are equal."""
    means = {name: float(values.point[0]) for name, values in pilot.values.items()}
    for a, b in combinations(means, 2):
        if abs(means[a] - means[b]) <= EQUAL:
            raise DataError(
                f"pilot: {a} and {b} have the same {metric_name(pilot.metric.label)}, so no "
                "order is right"
            )
    return [(b, a) if means[b] < means[a] else (a, b) for a, b in combinations(means, 2)]


def _check(
    negatives: Sequence[int],
    depths: Sequence[float],
    draws: int,
    width: float | None,
    scores: float | None,
) -> None:
    """Raise ConfigError if an option of a plan is out of range."""
    for name, numbers in (("negatives", negatives), ("depths", depths)):
        if np.ndim(numbers) != 1:
            raise ConfigError(
                f"{name} must be a list of numbers, such as [100], not {shown(numbers)}"
            )
    for depth in depths:
        if not (is_real(depth) and (1 <= depth <= MOST or depth == np.inf)):
            raise ConfigError(f"depths must be numbers from 1 to 2^53, not {shown(depth)}")
    for m in negatives:
        require_whole(1, negatives=m)
    require_whole(FEWEST_DRAWS, MOST_DRAWS, draws=draws)
    for name, number in (("width", width), ("scores", scores)):
        if number is not None and not (is_real(number) and number > 0):
            raise ConfigError(f"{name} must be a number above 0, not {shown(number)}")
    if width is not None and scores is not None:
        raise ConfigError("width and scores: give one of them")


def _require_effect(
    pilot: Pilot,
    negatives: Sequence[int],
    depths: Sequence[float],
    estimators: list[str],
    replacement: bool,
) -> None:
    """Raise ConfigError if an option is for rows that the pilot does not give.

    An empty list of negatives or of depths leaves such rows out.
    """
    are_changed = {
        "negatives (--negatives)": tuple(negatives) != _SIZES,
        "estimators": tuple(estimators) != PLANNED,
        "replacement": replacement,
    }
    idle = [name for name, is_changed in are_changed.items() if is_changed]
    if idle and len(negatives) and not pilot.exact:
        raise ConfigError(
            f"{idle[0]}: is for rows of negatives, which need exact ranks in the pilot; leave it "
            "out"
        )
    if not pilot.staged and len(depths) and tuple(depths) != _DEPTHS:
        raise ConfigError(
            "depths: is for rows of stages, which need staged ranks by depth=None in the pilot; "
            "leave it out"
        )


# --- the ways -----------------------------------------------------------------------------------


_Evaluate = Callable[[Draw], Evaluation]


@dataclass(frozen=True)
class _Way:
    """A way to evaluate.

    Attributes:
        columns: of its row that are known beforehand.
        users: who are scored.
        draws: number of simulated evaluations.
        evaluate: evaluates users who are drawn.
    """

    columns: dict[str, Any]
    users: int
    draws: int
    evaluate: _Evaluate


def _ways(
    question: _Question,
    estimators: Mapping[str, Estimator],
    designs: Sequence[SamplingDesign],
    depths: Sequence[float],
    draws: int,
) -> tuple[list[_Way], list[Finding]]:
    """Return the ways to evaluate that a pilot can tell of, and findings on the others."""
    pilot = question.pilot
    n = float(next(iter(pilot.tables.values())).candidates.mean())
    users = question.users
    ways = list[_Way]()
    findings = list[Finding]()

    def add(
        way: str, evaluate: _Evaluate, part: int = users, draws_of_way: int = draws, **columns: Any
    ) -> None:
        columns = {"way": way, "assumes": NO_ASSUMPTION} | columns
        ways.append(_Way(columns, part, draws_of_way, evaluate))

    def add_whole(way: str, cost: float, budget: float | None = None) -> None:
        """Add a way that ranks the items of all users, or of a part of them.

        `cost` is the scores of a user whose items are ranked. A budget is the scores for each of
        all users that another way takes; the part of the users takes as many together.
        """
        part = users if budget is None else max(2, min(users, round(users * budget / cost)))
        name = way if budget is None else f"{way}, part of users"
        add(name, _of_known_cost(pilot.of_all_candidates), part, scores=cost * part / users)

    add_whole("all candidates", n)

    # --- stages, and what the same scores give without them
    if pilot.staged:
        stop = max(table.scores_per_user for table in pilot.staged.values())
        add_whole("stop at k", stop)
        for depth in late_progress(list(depths)):
            add("stages", partial(pilot.of_stages, depth), depth=float(depth))
            drawn = (pilot.drawn(number, users) for number in range(FEWEST_DRAWS))
            scores = float(np.mean([pilot.of_stages(depth, draw).scores for draw in drawn]))
            add_whole("stop at k", stop, scores)
            add_whole("all candidates", n, scores)
    else:
        findings.append(Finding("plan-no-stages"))

    # --- negatives, and what the same scores give without them
    if not pilot.exact:
        return ways, [*findings, Finding("plan-no-negatives")]
    fewest = min(int(table.candidates.min()) for table in pilot.exact.values()) - 1
    possible = [design for design in designs if design.replacement or design.negatives < fewest]
    if len(possible) < len(designs):
        left_out = [design.negatives for design in designs if design not in possible]
        findings.append(Finding("plan-too-many", values={"negatives": left_out, "fewest": fewest}))
    for design in possible:
        sampled = SampledPilot(pilot, design)
        m = design.negatives
        for label, estimator in estimators.items():
            columns: dict[str, Any] = {"estimator": label, "negatives": m, "scores": m + 1.0}
            columns["assumes"] = assumption_of(estimator.assumed_shape)
            evaluate = _of_known_cost(sampled.values(estimator, question.rate, users))
            draws_of_way = draws if estimator.is_linear else FEWEST_DRAWS
            add("negatives", evaluate, draws_of_way=draws_of_way, **columns)
        if not pilot.staged:
            add_whole("all candidates", n, m + 1)
    return ways, findings


def _of_known_cost(values: Callable[[Draw], dict[str, UserValues]]) -> _Evaluate:
    return lambda draw: Evaluation(values(draw), np.nan, np.nan)


# --- a row --------------------------------------------------------------------------------------


def _row(way: _Way, question: _Question) -> dict[str, Any]:
    """Return the row of a way, by simulated evaluations."""
    pilot = question.pilot
    evaluations = simulated(way, question)
    widths_of_laws = [widths_by_law(way, question, law) for law in LAWS]
    scores, completed = evaluations.costs
    # the order of the columns; a way has some of their values
    row: dict[str, Any] = {
        "way": "",
        "estimator": "",
        "negatives": np.nan,
        "depth": np.nan,
        "scores": scores,
        "users": way.users,
        "assumes": "",
    }
    row |= way.columns
    row |= _width(evaluations.widths, widths_of_laws, pilot.metric.largest)
    left = evaluations.left
    share_left = float(left.any(axis=1).mean())
    if share_left > SIGNIFICANCE:
        row["assumes"] = UNIFORM if left.all() else f"{row['assumes']} or {UNIFORM}"
    if question.pairs:
        row |= _shares(evaluations.gaps, question, way.users / pilot.users)
    return row | {"completed": completed, "left": share_left}


class Simulated(NamedTuple):
    """Simulated evaluations of a way.

    Attributes:
        widths: (draws, recommenders) widths of the intervals.
        gaps: (draws, pairs, 3) differences with their intervals, as in `gaps_of`.
        costs: the mean scores for each user and number of completed users.
        left: (draws, recommenders) whether an interval does not make the assumption of the way, as
            the sample contradicts it or it alone would decide.
    """

    widths: Floats
    gaps: Floats
    costs: Floats
    left: NDArray[np.bool_]


def simulated(way: _Way, question: _Question) -> Simulated:
    """Simulate evaluations.

    The first users of a draw are the same for all ways.
    """
    widths = list[Floats]()
    gaps = list[Floats]()
    costs = list[tuple[float, float]]()
    left = list[list[bool]]()
    for number in range(way.draws):
        draw = question.pilot.drawn(number, question.users).first(way.users)
        evaluation = way.evaluate(draw)
        widths.append(widths_of(evaluation.values, question.alpha))
        gaps.append(gaps_of(evaluation.values, question.pairs, question.rate))
        costs.append((evaluation.scores, evaluation.completed))
        left.append(
            [
                values.has_interval and values.assumes != way.columns["assumes"]
                for values in evaluation.values.values()
            ]
        )
    return Simulated(np.array(widths), np.array(gaps), np.mean(costs, axis=0), np.array(left))


def widths_by_law(way: _Way, question: _Question, law: str) -> Floats:
    """Return (draws, recommenders) widths of the intervals of users of one of `LAWS`."""
    widths = list[Floats]()
    for number in range(max(_FEWEST_OF_LAW, way.draws // 5)):
        draw = question.pilot.drawn_of(law, number, question.users).first(way.users)
        widths.append(widths_of(way.evaluate(draw).values, question.alpha))
    return np.array(widths)


def _width(widths: Floats, widths_of_laws: Sequence[Floats], most: float) -> dict[str, float]:
    """Return the mean width of the recommender with the widest interval, and an interval of it.

    The interval is that of the width of another evaluation. The (draws, recommenders) widths are
    NaN where an evaluation has no interval. Those of the laws of users who fit the pilot say what
    other users of a pilot would change, and those of a law how evaluations vary.
    """
    if (np.isfinite(widths).mean(axis=0) < 0.5).any():
        return dict.fromkeys(("width", "width_low", "width_high"), np.nan)
    ends = []
    for recommender, widths_of_recommender in enumerate(widths.T):
        by_law = [widths_of_law[:, recommender] for widths_of_law in widths_of_laws]
        ends.append(_ends(widths_of_recommender, by_law, most))
    low, high = np.max(ends, axis=0)
    width = np.nanmean(widths, axis=0).max()
    return {"width": width, "width_low": min(low, width), "width_high": max(high, width)}


def _ends(widths: Floats, widths_of_laws: Sequence[Floats], most: float) -> tuple[float, float]:
    """Return the interval of the width of an evaluation of other users, of one recommender.

    The pilot and the evaluation are independent. So the distance of an end is the root of the sum
    of two squares: the distance of the mean of a law, and how far the widths of its evaluations
    vary. It is in logarithms.

    References:
        G. Y. Zou and A. Donner, Construction of Confidence Limits About Effect Measures, Statistics
        in Medicine 27, 2008.
    """
    finite = [population[np.isfinite(population)] for population in (widths, *widths_of_laws)]
    # a width is 0 if no end of an interval can move
    has_logs = all(population.all() for population in finite)
    populations = [np.log(population) for population in finite] if has_logs else finite
    center = float(populations[0].mean())
    below = [0.0]
    above = [0.0]
    for population in populations:
        draws = len(population)
        if draws < 2:  # the users of a law have no interval
            below.append(np.inf)
            above.append(np.inf)
            continue
        moved = float(population.mean()) - center
        spread = stdtrit(draws - 1, (1 + _LEVEL) / 2) * population.std(ddof=1)
        distance = float(np.hypot(moved, spread))
        below.append(distance if moved <= 0 else 0.0)
        above.append(distance if moved >= 0 else 0.0)
    low = center - max(below)
    high = center + max(above)
    if has_logs:
        return float(np.exp(low)), min(float(np.exp(high)), most)
    return max(low, 0.0), min(high, most)


def _shares(gaps: Floats, question: _Question, ratio: float) -> dict[str, Any]:
    """Return the shares of the pair that is decided least often, with their intervals.

    Another pilot would have other differences. So the shares are also those with all differences,
    and all ends, smaller or larger by as much as they vary from one pilot to another, and by as
    much as the interval of the difference in the pilot leaves open. A pilot of few users may show
    no variation, and its interval is wide.
    """
    # --- the pair
    decided = (gaps[:, :, 1] > EQUAL).mean(axis=0)
    mean_gaps = np.nan_to_num(np.nanmean(gaps[:, :, 0], axis=0))
    hardest = int(np.lexsort((mean_gaps, decided))[0])  # by decided, then by the mean gap
    worse, better = question.pairs[hardest]
    row: dict[str, Any] = {"pair": f"{better} and {worse}"} if len(question.pairs) > 1 else {}

    # --- how far its difference may be from that of the pilot
    gap, low_gap, high_gap = gaps_of(question.pilot.values, [(worse, better)], 1 - _LEVEL)[0]
    smaller = gap - low_gap
    larger = high_gap - gap

    # --- the shares: of evaluations in which a number is above 0
    value, low, high = gaps[:, hardest].T
    shares = {
        "ordered": (value, smaller, larger),
        "decided": (low, smaller, larger),
        "wrong": (-high, larger, smaller),
    }
    deviations = -ndtri((1 - _LEVEL) / 2)
    errors = []
    for name, (numbers, open_below, open_above) in shares.items():
        finite = numbers[np.isfinite(numbers)]
        # an evaluation without an interval decides nothing
        draws = len(finite) if name == "ordered" else len(gaps)
        reach = float(deviations * finite.std() * np.sqrt(ratio)) if len(finite) else 0.0
        count = _count_above_0(numbers)
        fewest = _count_above_0(numbers - max(reach, open_below))
        most = _count_above_0(numbers + max(reach, open_above))
        share = count / draws if draws else np.nan
        row[name] = share
        row[f"{name}_low"] = _lower_end(fewest, draws)
        row[f"{name}_high"] = 1 - _lower_end(draws - most, draws)
        errors.append(float(np.sqrt(share * (1 - share) / draws)) if draws else 0.0)
    return row | {"error": max(errors)}


def _count_above_0(numbers: Floats) -> int:
    return int((numbers > EQUAL).sum())


def _lower_end(count: int, draws: int) -> float:
    """Return the lower end of the interval of a share by Clopper and Pearson."""
    return float(betaincinv(count, draws - count + 1, (1 - _LEVEL) / 2)) if count else 0.0


# --- findings -----------------------------------------------------------------------------------


def _choice(
    table: pd.DataFrame, width: float | None, scores: float | None
) -> tuple[list[bool], list[Finding]]:
    """Return the mark of each row, and the finding on what is marked.

    What is promised is promised by the end of an interval: the largest width that the pilot leaves
    open, or the smallest chance of a right verdict.
    """
    if width is None and scores is None:
        return [False] * len(table), []
    holds = (table["assumes"] != NO_BIAS) & table["width"].notna()
    kind = "plan-scores" if width is None else "plan-width"
    if width is not None:
        rows = table[holds & (table["width_high"] <= width)].sort_values("scores", kind="stable")
    else:
        rows = table[holds & (table["scores"] * table["users"].max() <= scores)]
        rows = rows.sort_values("width_high", kind="stable")
        if "decided" in table and (rows["decided_low"] > MOSTLY).any():
            rows = rows.sort_values("decided_low", ascending=False, kind="stable")
            kind = "plan-decides"
    if rows.empty and width is None:
        return [False] * len(table), [Finding("plan-no-scores", values={"scores": scores})]
    if rows.empty:
        return [False] * len(table), [Finding("plan-no-width", values={"width": width})]
    best = rows.iloc[0]
    values = _of_row(best, table) | {"wanted": scores if width is None else width}
    return [index == best.name for index in table.index], [Finding(kind, values=values)]


def _of_row(row: pd.Series[Any], table: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers of a row, with the scores of all users together."""
    numbers = {str(name): value for name, value in row.items()}
    total = row["scores"] * table["users"].max()
    return numbers | {"way_in_words": way_in_words(numbers), "total": total}


def _about(table: pd.DataFrame, question: _Question) -> Iterator[Finding]:
    """Yield findings on the rows: the cheapest way that decides, and what rows do not promise."""
    if "decided" in table:
        rows = table[table["assumes"] != NO_BIAS].sort_values("scores", kind="stable")
        yield _cheapest(rows, table, question)
        misleading = table[table["wrong"] > np.maximum(table["error"] * 3, 0.05)]
        for row in misleading.to_dict("records"):
            yield _on_way("plan-wrong", row, _OF_WRONG)
    for row in table[table["left"] > SIGNIFICANCE].to_dict("records"):
        yield _on_way("plan-left", row, ("left",))
    for row in table[table["width"].isna()].to_dict("records"):
        yield _on_way("plan-no-interval", row)


def _on_way(kind: str, row: Mapping[str, Any], names: Sequence[str] = ()) -> Finding:
    """Return a finding on the way of a row, with some of its columns."""
    values = {name: row[name] for name in (*_OF_WAY, *names)}
    return Finding(kind, values=values | {"way_in_words": way_in_words(row)})


_OF_WAY = ("way", "estimator", "depth", "negatives")
_OF_WRONG = ("wrong", "wrong_low", "wrong_high")


def _cheapest(rows: pd.DataFrame, table: pd.DataFrame, question: _Question) -> Finding:
    """Return the finding on the cheapest way that surely decides, out of rows by their scores.

    If the pilot does not show that there is one, the finding is on the cheapest way that decides by
    the pilot, or on the one that decides most often.
    """
    sure = rows[rows["decided_low"] >= ENOUGH]
    if len(sure):
        values = _of_row(sure.iloc[0], table) | {"share": ENOUGH}
        return Finding("plan-first", names=question.names, values=values)
    likely = rows[rows["decided"] >= ENOUGH]
    row = likely.iloc[0] if len(likely) else rows.loc[rows["decided"].idxmax()]
    kind = "plan-unsure" if (rows["decided_high"] >= ENOUGH).any() else "plan-none-decides"
    values = _of_row(row, table) | {"share": ENOUGH}
    return Finding(kind, names=question.names, values=values)
