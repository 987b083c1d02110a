"""Plan an evaluation: how many users it takes, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics._defaults import PLANNED
from sampled_metrics.checks import (
    MOST,
    Floats,
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
from sampled_metrics.planning.forecast import (
    DEVIATIONS,
    MOST_USERS,
    Forecast,
    Possible,
    WidthForecast,
    chance_above_0,
    forecast,
    has_gap,
    users_for,
    width_of,
)
from sampled_metrics.planning.pilot import Law, Pilot
from sampled_metrics.planning.samples import BoundedSamples, Samples
from sampled_metrics.planning.words import way_in_words
from sampled_metrics.running import late_progress, on_one_thread
from sampled_metrics.stages.table import StagedRanks

ENOUGH = 0.8
"""The share of evaluations that have to decide."""

_UNKNOWN = 0.9  # the pilot does not know a chance whose interval is at least as wide
_OFTEN_WRONG = 0.05
_OF_SHARES = 60  # simulated evaluations that show how often an assumption is contradicted
_OF_LIKELY = 15  # those that show whether it mostly is
_MOST_TIMES = 16  # times the users of the pilot
_SIZES = (100, 300, 1000)  # the defaults of negatives and depths
_DEPTHS = (30, 100, 300)
_SHOWN = {"users": "{:,.0f}".format, "width": phrases.number} | dict.fromkeys(
    ("decided", "wrong"), "{:.2f}".format
)
"""How a column that has an interval is shown."""


class Plan(Result):
    """The result of `plan`, which shows the interval of a number beside it."""

    @property
    def _constructor(self) -> Callable[..., Plan]:
        return Plan

    def as_text(self) -> pd.DataFrame:
        """Return the table as text: numbers with their intervals; what is missing is a dash."""
        text = super().as_text()
        hidden = set[str]()
        for name, form in _SHOWN.items():
            columns = [name, f"{name}_low", f"{name}_high"]
            if {*columns} <= {*self.columns}:
                numbers = self[columns].to_numpy(dtype=np.float64)
                text[name] = [_with_interval(values, form) for values in numbers]
                hidden |= {*columns[1:]}
        if "scores" in text:
            text["scores"] = self["scores"].map("{:,.0f}".format)
        if {"way", "negatives", "depth", "estimator"} <= {*self.columns}:
            text["way"] = [way_in_words(row) for row in self.to_dict("records")]
            hidden |= {"negatives", "depth", "estimator"}
        return text.drop(columns=[name for name in text if name in hidden])


def _with_interval(numbers: Floats, form: Callable[[float], str]) -> str:
    """Return a number with its interval as text; a number that is not finite is a dash."""
    value, low, high = numbers
    if not np.isfinite(value):
        return "-"
    ends = [form(end) if np.isfinite(end) else "-" for end in (low, high)]
    return f"{form(value)} ({' to '.join(ends)})"


@on_one_thread
def plan(
    pilot: Any,
    *,
    width: float | None = None,
    difference: float | None = None,
    metric: str | Metric = "recall@10",
    negatives: Sequence[int] = _SIZES,
    depths: Sequence[float] = _DEPTHS,
    estimators: EstimatorsLike = PLANNED,
    replacement: bool = False,
    confidence_level: float = 0.95,
) -> Plan:
    """Tell how many users an evaluation needs, or what one of the pilot's size would show.

    Three questions have an answer:

    - With `width`: how many users give an interval of this width?
    - With `difference`: how many users decide between two recommenders whose metrics differ by this
      much, in 80 % of evaluations?
    - With neither: how wide are the intervals of an evaluation of as many other users, and how
      often does it decide for the recommender that is better in the pilot?

    A pilot of one recommender answers the first and the third. The users of the pilot stand for the
    population.

    Args:
        pilot: ranks of some users: `ExactRanks`, or `StagedRanks` with ``depth=None``; or a mapping
            from the names of recommenders to them. A list of the exact and the staged ranks of the
            same users gives rows of negatives and of stages.
        width: the wanted width of the interval of the metric.
        difference: the difference of the metric that matters.
        metric: one label, such as recall@10. For rows of stages it has a cut-off of k or below.
        negatives: the m of uniform negatives, drawn anew for each user. A larger m than a user can
            have is left out.
        depths: the depths of stages.
        estimators: labels of the estimators of sampled ranks. A width or a difference is planned
            for those with strict bounds, decreasing and free, as the others may be biased.
        replacement: whether a negative may be drawn twice.
        confidence_level: of the intervals of the evaluations.

    Returns:
        A row for each way to evaluate, with the columns

        - way: all candidates; stop at k (the same metric for fewer scores); stages; negatives;
        - estimator, negatives, depth: what belongs to the way;
        - scores: for each user, on average;
        - users: how many users are needed; infinite if 10 million are not enough. Its upper end is
          infinite if the pilot leaves this open. Without a width or a difference, how many users
          are scored;
        - assumes: what has to be right for the interval to hold the true metric, as in `correct`;
        - limit (with a width or a difference): what any number of users leaves: the width of the
          interval, or the largest difference that stays undecided;
        - width (without them): the expected width, of the recommender with the widest interval;
        - decided, wrong (the same, of two recommenders or more): the chance that `compare` decides
          for the recommender that is better in the pilot, and that it decides for the other one;
          NaN if the pilot does not know it. Of several pairs, it is the pair that is decided least
          often, in the column pair.

        Without a width or a difference, there are also rows that rank the items of a part of the
        users among all candidates, for as many scores. Numbers of users, widths and chances have an
        interval, in columns with the endings _low and _high. It says what the pilot and the users
        of the evaluation leave open, at about 95 %. So with ``users_high`` users, an interval is
        wider than `width` in at most a few per cent of plans.

    Raises:
        DataError: the ranks have not been read by a reader, or are sampled; staged ranks are not
            all known; the recommenders are of different users, or two are equal in the pilot.
        ConfigError: the metric or an estimator does not exist, an option is out of range, or is for
            rows that such a pilot lacks; a difference needs two recommenders.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {"X": [30, 25, 40, 12, 60, 33] * 50, "Y": [1, 300, 2, 500, 9, 700] * 50}
        >>> tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
        >>> result = sm.plan(tables, width=0.05, metric="ap", negatives=[])
        >>> print(result[["scores", "users", "users_low", "users_high"]].to_string(index=False))
         scores  users  users_low  users_high
         1000.0  851.0      702.0       989.0

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 6.3
        and Figure 6. G. Y. Zou and A. Donner, Construction of Confidence Limits About Effect
        Measures, Statistics in Medicine 27, 2008.
    """
    question = _Question.from_given(pilot, metric, confidence_level)
    by_label = estimators_by_label(estimators)
    _check(negatives, depths, width, difference)
    designs = [SamplingDesign(m, replacement) for m in negatives]
    _require_effect(question.pilot, negatives, depths, list(by_label), replacement)
    if width is None and difference is None:
        question.require_order()
        ways, missing = _ways(question, by_label, designs, depths, has_parts=True)
        rows = [_row(way, question) for way in late_progress(ways)]
        findings = [*question.on_pairs(), *_about(rows, question)]
    else:
        by_label = {label: entry for label, entry in by_label.items() if entry.assumed_shape}
        if not by_label:
            raise ConfigError("estimators: a width or a difference needs decreasing or free")
        if difference is not None and not question.pairs:
            raise ConfigError("difference: needs the ranks of two recommenders in the pilot")
        ways, missing = _ways(question, by_label, designs, depths, has_parts=False)
        wanted = _Wanted(question, width, difference)
        rows = [wanted.row(way) for way in late_progress(ways)]
        rows = [_at_least_as_many_users(row, rows[0]) for row in rows]
        findings = [wanted.answer(rows)]
    table = Plan(rows).drop(columns="left", errors="ignore")
    setting = Setting(question.confidence_level, question.parameters, question.names)
    return table.found([*findings, *question.findings, *missing], setting)


class _Question(NamedTuple):
    """What is planned.

    Attributes:
        pilot: the ranks.
        pairs: the pairs of recommenders, the one that is better in the pilot last.
        confidence_level: of the intervals of the evaluations.
        names: of the recommenders.
        label: of the metric.
        findings: of the reader.
        parameters: what the numbers are of.
    """

    pilot: Pilot
    pairs: Sequence[tuple[str, str]]
    confidence_level: float
    names: tuple[str, ...]
    label: str
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
    def from_given(cls, ranks: Any, metric: str | Metric, confidence_level: float) -> _Question:
        """Check the pilot and the metric, and return what is planned."""
        level = require_confidence_level(confidence_level)
        by_label = metrics_by_label(metric, "metric")
        if len(by_label) > 1:
            raise ConfigError(f"metric: give one, not {', '.join(by_label)}")
        [(label, measure)] = by_label.items()
        # --- the pilot, whose users are paired
        tables_by_name = {runs.name: runs.tables for runs in read_runs(ranks, "plan")}
        first_tables = {name: tables[0] for name, tables in tables_by_name.items()}
        first_table, *others = first_tables.values()
        numbers_of_users, _ = first_table.pair(others, list(first_tables))
        if max(numbers.max() for numbers in numbers_of_users) < 1:
            raise DataError("pilot: has one user; a plan needs two or more")
        numbers_by_name = dict(zip(first_tables, numbers_of_users, strict=True))
        pilot = Pilot(*_exact_and_staged(tables_by_name, by_label), numbers_by_name, measure)
        means = {name: float(values.point[0]) for name, values in pilot.values.items()}
        pairs = [(b, a) if means[b] < means[a] else (a, b) for a, b in combinations(means, 2)]
        parameters = f"{metric_name(label)}, {first_table.description}"
        names = tuple(name for name in first_tables if name)
        findings = from_readers(first_tables.items())
        return cls(pilot, pairs, level, names, label, findings, parameters)

    def require_order(self) -> None:
        """Raise DataError if two recommenders are equal in the pilot."""
        for worse, better in self.pairs:
            difference = self.pilot.values[better].minus(self.pilot.values[worse])
            if abs(difference.point[0]) <= EQUAL:
                raise DataError(
                    f"pilot: {worse} and {better} have the same {metric_name(self.label)}, so no "
                    "order is right"
                )

    def on_pairs(self) -> Iterator[Finding]:
        """Yield a finding on the difference of each pair in the pilot."""
        for worse, better in self.pairs:
            difference, low, high = self.difference(worse, better)
            numbers = {"difference": difference, "low": low, "high": high}
            values = numbers | {"users": self.pilot.users}
            yield Finding("plan-pair", self.label, (better, worse), values=values)

    def difference(self, worse: str, better: str) -> tuple[float, float, float]:
        """Return the difference of a pair in the pilot, and its interval at 95 %."""
        values = self.pilot.values[better].minus(self.pilot.values[worse])
        ends = values.interval(0.05)
        return float(values.point[0]), float(ends.low[0]), float(ends.high[0])


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


def _check(
    negatives: Sequence[int],
    depths: Sequence[float],
    width: float | None,
    difference: float | None,
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
    for name, number in (("width", width), ("difference", difference)):
        if number is not None and not (is_real(number) and number > 0):
            raise ConfigError(f"{name} must be a number above 0, not {shown(number)}")
    if width is not None and difference is not None:
        raise ConfigError("width and difference: give one of them")


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
            "depths: is for rows of stages, which need staged ranks with depth=None in the pilot; "
            "leave it out"
        )


# --- the ways -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Way:
    """A way to evaluate.

    Attributes:
        columns: of its row that are known beforehand.
        users: who are scored, without a wanted width or difference.
        values: the values of the users by recommender, for a law and a number of users.
    """

    columns: dict[str, Any]
    users: int
    values: Callable[[Law, int], Mapping[str, Possible]]

    @property
    def is_unbiased(self) -> bool:
        """Return whether the mean of the values is the true metric."""
        return bool(self.columns["assumes"] == NO_ASSUMPTION)


def _ways(
    question: _Question,
    estimators: Mapping[str, Estimator],
    designs: Sequence[SamplingDesign],
    depths: Sequence[float],
    *,
    has_parts: bool,
) -> tuple[list[_Way], list[Finding]]:
    """Return the ways to evaluate that a pilot can tell of, and findings on the others."""
    pilot = question.pilot
    n = float(next(iter(pilot.tables.values())).candidates.mean())
    ways = list[_Way]()
    findings = list[Finding]()
    everyone_ranked = {name: [(1.0, values)] for name, values in pilot.everyone.values.items()}

    def add(way: str, values: Any, users: int = pilot.users, **columns: Any) -> None:
        columns = {"way": way, "assumes": NO_ASSUMPTION} | columns
        if not callable(values):
            values = partial(_of_any_law, values)
        ways.append(_Way(columns, users, values))

    def add_part(way: str, cost: float, budget: float) -> None:
        """Add a way that ranks the items of a part of the users, for the scores of another way.

        `cost` is the scores of a user whose items are ranked, and the budget is for each of all
        users.
        """
        if has_parts:
            part = max(2, min(pilot.users, round(pilot.users * budget / cost)))
            add(f"{way}, part of users", everyone_ranked, part, scores=cost * part / pilot.users)

    add("all candidates", everyone_ranked, scores=n)

    # --- stages, and what the same scores give without them
    if pilot.staged:
        stop = max(table.scores_per_user for table in pilot.staged.values())
        add("stop at k", everyone_ranked, scores=stop)
        for depth in late_progress(list(depths)):
            values, scores = pilot.of_stages(depth)
            by_recommender = {name: [(1.0, staged)] for name, staged in values.items()}
            add("stages", by_recommender, depth=float(depth), scores=scores)
            add_part("stop at k", stop, scores)
            add_part("all candidates", n, scores)
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
        samples = Samples(pilot, design)
        m = design.negatives
        for label, estimator in estimators.items():
            columns: dict[str, Any] = {"estimator": label, "negatives": m, "scores": m + 1.0}
            columns["assumes"] = assumption_of(estimator.assumed_shape)
            if estimator.assumed_shape:
                evaluations = _OF_SHARES if has_parts else _OF_LIKELY
                bounded = BoundedSamples(samples, estimator, question.rate, evaluations)
                add("negatives", bounded.values, **columns)
            else:
                add("negatives", samples.values(estimator), **columns)
        if not pilot.staged:
            add_part("all candidates", n, m + 1)
    return ways, findings


def _of_any_law(values: Mapping[str, Possible], law: Law, users: int) -> Mapping[str, Possible]:
    """Return the values of a way whose values depend on no law."""
    del law, users
    return values


def _columns(way: _Way) -> dict[str, Any]:
    """Return the columns of a way, in their order."""
    empty = {"way": "", "estimator": "", "negatives": np.nan, "depth": np.nan, "scores": np.nan}
    return empty | {"users": way.users, "assumes": ""} | way.columns


# --- how many users -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """A wanted width, or a difference that is to be decided.

    Attributes:
        question: what is planned.
        width: the width; None if a difference is wanted.
        difference: the difference; None if a width is wanted.
    """

    question: _Question
    width: float | None
    difference: float | None

    def row(self, way: _Way) -> dict[str, Any]:
        """Return the row of a way: how many users it takes, and what any number of users leaves.

        Of several recommenders or pairs, it is the one that takes the most users.
        """
        pilot = self.question.pilot
        if self.width is not None:
            needs = [self._for_width(way, name, self.width) for name in pilot.tables]
        else:
            wanted = self.difference or 0.0
            needs = [self._for_difference(way, pair, wanted) for pair in self.question.pairs]
        users, low, high, limit = np.max(needs, axis=0)
        row = _columns(way)
        likely = [
            _likely(possible) for possible in way.values(pilot.laws.pilot, pilot.users).values()
        ]
        if UNIFORM in {values.assumes for values in likely}:
            row["assumes"] = UNIFORM
        return row | {"users": users, "users_low": low, "users_high": high, "limit": limit}

    def _for_width(self, way: _Way, name: str, wanted: float) -> tuple[float, ...]:
        """Return how many users give a width, with an interval, and the width that is left."""

        @cache
        def expected(users: int) -> WidthForecast:
            return _width(way, name, self.question, users, is_likely=True)

        return (
            users_for(lambda users: expected(users).width <= wanted),
            users_for(lambda users: expected(users).low <= wanted),
            users_for(lambda users: expected(users).high <= wanted),
            expected(MOST_USERS).left,
        )

    def _for_difference(self, way: _Way, pair: tuple[str, str], wanted: float) -> tuple[float, ...]:
        """Return how many users decide a difference, with an interval, and the largest undecided.

        The differences of a law are moved so that their mean is the wanted one. The mean of the
        lower ends stays as far below it as in the pilot. What the pilot leaves open of this
        distance is in the interval.
        """
        laws = self.question.pilot.laws_of_pair(*pair)

        def decides(law: Law, side: int, users: int) -> bool:
            [gap] = _gaps(way, pair, law, self.question, users, is_likely=True)
            distance = min(gap.forecast.low_mean - gap.true + side * gap.reach, 0.0)
            end = gap.forecast.low - gap.forecast.low_mean + distance
            return chance_above_0(wanted + end, gap.forecast.low_error) >= ENOUGH

        def needed(law: Law, side: int) -> float:
            return users_for(partial(decides, law, side))

        all_laws = (laws.pilot, laws.least, laws.most)
        fewest = min(needed(law, 1) for law in all_laws)
        most = max(needed(law, -1) for law in all_laws)
        [gap] = _gaps(way, pair, laws.pilot, self.question, MOST_USERS, is_likely=True)
        limit = max(gap.true - gap.forecast.low_mean, 0.0)
        return needed(laws.pilot, 0), fewest, most, limit

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> Finding:
        """Return the finding on the way that takes the fewest scores in all."""
        if self.width is not None:
            kind = "plan-width"
            values: dict[str, Any] = {"wanted": self.width}
        else:
            kind = "plan-difference"
            values = {"wanted": self.difference, "share": ENOUGH}
        cheapest = min(rows, key=lambda row: row["users_high"] * row["scores"])
        if not np.isfinite(cheapest["users_high"]):
            return Finding(f"{kind}-none", self.question.label, values=values)
        values |= _on_way(cheapest) | {"total": cheapest["users_high"] * cheapest["scores"]}
        values |= {name: cheapest[name] for name in ("users", "users_low", "users_high", "scores")}
        return Finding(kind, self.question.label, values=values)


def _at_least_as_many_users(row: dict[str, Any], exact: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with at least as many users as that of all candidates.

    Estimates of the values of users vary more than the values.
    """
    return row | {
        name: max(row[name], exact[name]) for name in ("users", "users_low", "users_high")
    }


def _likely(possible: Possible) -> UserValues:
    """Return the values that an evaluation most probably has."""
    return max(possible, key=lambda chance_and_values: chance_and_values[0])[1]


def _users_of_weights(users: int, pilot_users: int) -> int:
    """Return the number of users for which the weights of strict bounds are chosen.

    Weights are valid for any number of users. A search asks for many numbers, and chooses weights
    for the nearest power of four. For more than 16 times the users of the pilot, the noise of the
    pilot would choose them, and the bounds would look narrower than they are.
    """
    return int(4 ** round(np.log2(min(users, _MOST_TIMES * pilot_users)) / 2))


def _width(
    way: _Way, name: str, question: _Question, users: int, *, is_likely: bool = False
) -> WidthForecast:
    """Return the width of the interval of a recommender, and its interval."""
    pilot = question.pilot
    laws = pilot.laws
    at_users = _users_of_weights(users, pilot.users) if is_likely else users
    widths = []
    for law in (laws.pilot, laws.least, laws.most):
        possible: Possible = way.values(law, at_users)[name]
        if is_likely:
            possible = [(1.0, _likely(possible))]
        shares = pilot.shares_of_values(law, name, possible[0][1].users)
        widths.append(width_of(possible, shares, users, question.alpha, pilot.users))
    return WidthForecast.from_laws(widths, pilot.metric.largest)


class _Gap(NamedTuple):
    """A difference of two recommenders.

    Attributes:
        chance: of these values.
        forecast: of the interval of the difference.
        true: the difference with exact ranks.
        reach: what the pilot leaves open of the distance of the mean lower end from it, at 95 %.
    """

    chance: float
    forecast: Forecast
    true: float
    reach: float


def _gaps(
    way: _Way,
    pair: tuple[str, str],
    law: Law,
    question: _Question,
    users: int,
    *,
    is_likely: bool = False,
) -> list[_Gap]:
    """Return what the values may show of the better recommender of a pair less the worse one."""
    worse, better = pair
    pilot = question.pilot
    exact = pilot.difference(pilot.everyone.values[better], pilot.everyone.values[worse])
    true = float(law.shares[better] @ exact.low[0])
    at_users = _users_of_weights(users, pilot.users) if is_likely else users
    possible = way.values(law, at_users)
    if is_likely:
        possible = {name: [(1.0, _likely(values))] for name, values in possible.items()}
    gaps = []
    for (chance, values), (other_chance, other_values) in product(
        possible[better], possible[worse]
    ):
        difference = pilot.difference(values, other_values)
        shares = pilot.shares_of_values(law, better, difference.users)
        expected = forecast(difference, shares, users, question.rate)
        is_bounded = has_gap(difference)
        # without a bias, the mean of simulated values differs from the true one by chance
        is_unbiased = way.is_unbiased or not (is_bounded or difference.one_value)
        true_of_values = expected.low_mean if is_unbiased else true
        error = expected.low_error * np.sqrt(users / pilot.users)
        reach = DEVIATIONS * float(error) if is_bounded else 0.0
        gaps.append(_Gap(chance * other_chance, expected, true_of_values, reach))
    return gaps


# --- as many users again ------------------------------------------------------------------------


def _row(way: _Way, question: _Question) -> dict[str, Any]:
    """Return the row of a way for as many users as the pilot has."""
    pilot = question.pilot
    widths = [_width(way, name, question, way.users) for name in pilot.tables]
    row = _columns(way)
    for end in ("width", "low", "high"):
        column = "width" if end == "width" else f"width_{end}"
        row[column] = max(getattr(width, end) for width in widths)
    possible = way.values(pilot.laws.pilot, way.users)
    kept = [
        sum(chance for chance, values in values_of_name if values.assumes == row["assumes"])
        for values_of_name in possible.values()
    ]
    row["left"] = 1 - float(np.prod(kept))
    if row["left"] > SIGNIFICANCE:
        row["assumes"] = f"{row['assumes']} or {UNIFORM}" if any(kept) else UNIFORM
    return row | _chances(way, question)


def _chances(way: _Way, question: _Question) -> dict[str, Any]:
    """Return the chances of the pair that is decided least often, with their intervals.

    Another pilot would have another difference. So the ends of a chance are those with a difference
    that is smaller or larger by what the pilot leaves open: the interval of the difference, or how
    far the ends of intervals vary over pilots.
    """
    pilot = question.pilot
    rows = []
    for worse, better in question.pairs:
        gaps = _gaps(way, (worse, better), pilot.laws.pilot, question, way.users)
        gap, low, high = question.difference(worse, better)
        reach = DEVIATIONS * float(np.sqrt(way.users / pilot.users))
        below = max(gap - low, reach * max(part.forecast.low_error for part in gaps))
        above = max(high - gap, reach * max(part.forecast.high_error for part in gaps))
        moves = {"": 0.0, "_low": -below, "_high": above}
        row: dict[str, Any] = {}
        if len(question.pairs) > 1:
            row["pair"] = f"{better} and {worse}"
        row |= _chance("decided", moves, partial(_chance_of_better, gaps, gap))
        row |= _chance("wrong", moves, partial(_chance_of_worse, gaps, gap))
        rows.append((_chance_of_better(gaps, gap, 0.0), gap, row))
    return min(rows, key=lambda entry: entry[:2])[2] if rows else {}


def _chance_of_better(gaps: Sequence[_Gap], true: float, move: float) -> float:
    """Return the chance of a verdict for the better one, if the difference is larger by a move."""
    return sum(
        gap.chance
        * chance_above_0(gap.forecast.low + true - gap.true + move, gap.forecast.low_error)
        for gap in gaps
    )


def _chance_of_worse(gaps: Sequence[_Gap], true: float, move: float) -> float:
    """Return the chance of a verdict for the worse one, if the difference is larger by a move."""
    return sum(
        gap.chance
        * chance_above_0(-(gap.forecast.high + true - gap.true + move), gap.forecast.high_error)
        for gap in gaps
    )


def _chance(
    name: str, moves: Mapping[str, float], chance_of: Callable[[float], float]
) -> dict[str, float]:
    """Return the columns of a chance, which are NaN if the pilot does not know it."""
    chances = sorted(chance_of(moves[end]) for end in ("_low", "_high"))
    if chances[1] - chances[0] >= _UNKNOWN:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
    return {name: chance_of(moves[""]), f"{name}_low": chances[0], f"{name}_high": chances[1]}


def _about(rows: Sequence[Mapping[str, Any]], question: _Question) -> Iterator[Finding]:
    """Yield the finding that answers the question, and findings on what ways do not promise."""
    yield _answer(rows, question)
    for row in rows:
        if row.get("wrong", 0.0) > _OFTEN_WRONG:
            values = {name: row[name] for name in ("wrong", "wrong_low", "wrong_high")}
            yield Finding("plan-wrong", values=_on_way(row) | values)
        if row["left"] > SIGNIFICANCE:
            yield Finding("plan-left", values=_on_way(row) | {"left": row["left"]})


def _on_way(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a finding that say which way a row is for."""
    columns = {name: row[name] for name in ("way", "estimator", "depth", "negatives")}
    return columns | {"way_in_words": way_in_words(row)}


def _answer(rows: Sequence[Mapping[str, Any]], question: _Question) -> Finding:
    """Return the finding on the way with the fewest scores that surely decides.

    If the pilot does not show that there is one, the finding says so. Without pairs, it is on the
    width.
    """
    if not question.pairs:
        narrowest = min(rows, key=lambda row: row["width_high"])
        values = {name: narrowest[name] for name in ("users", "width", "width_low", "width_high")}
        return Finding("plan-again", question.label, values=_on_way(narrowest) | values)
    without_bias = [row for row in rows if row["assumes"] != NO_BIAS]
    sure = [row for row in without_bias if row["decided_low"] >= ENOUGH]
    values = {"share": ENOUGH}
    if sure:
        cheapest = min(sure, key=lambda row: row["scores"])
        columns = ("scores", "decided", "decided_low", "decided_high")
        values |= _on_way(cheapest) | {name: cheapest[name] for name in columns}
        return Finding("plan-first", question.label, values=values)
    # a chance that is not known may be enough
    is_hopeless = all(row["decided_high"] < ENOUGH for row in without_bias)
    kind = "plan-none-decides" if is_hopeless else "plan-unsure"
    return Finding(kind, question.label, values=values)
