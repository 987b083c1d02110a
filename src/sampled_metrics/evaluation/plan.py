"""Find the number of negatives, or of users, that orders two recommenders correctly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from sampled_metrics._defaults import PLANNED
from sampled_metrics._running import Progress, late_progress, on_one_thread
from sampled_metrics._validation import Floats, counted, is_real, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimator, EstimatorsLike, estimator_name, estimators_by_label
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.evaluate import from_reader
from sampled_metrics.evaluation.pilot_samples import pilots_that_fit
from sampled_metrics.evaluation.result import Result
from sampled_metrics.evaluation.simulated_comparisons import Contender, Simulated, simulated_comparisons
from sampled_metrics.inference.expectation import (
    DesignWeights,
    Expectation,
    exact_probability,
    mean_of_rows,
    step_of_difference,
)
from sampled_metrics.inference.findings import Setting, notes
from sampled_metrics.inference.verdicts import expected_gaps, shape_taken
from sampled_metrics.metrics.metric import Metric, metric_name, metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.given import tables_by_name
from sampled_metrics.ranks.pairing import Pairs, pair_users
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, probability_of_order

_EXACT_USERS = 100  # up to this number of users, probabilities near the given one are exact
_EXACT_TERMS = 2500  # as they are up to this number of rows times different weights
_NEAR = 0.1  # probabilities are near if they differ by less
_FEW_USERS = 1000  # up to this number of users, larger m are tried in small steps
_MOST_USERS = 1000.0  # largest multiple of the users of the pilot that a plan names
_STEP = 1.02  # ratio of such a step
_SUPPORTED_FROM = 0.1  # chance of a verdict from which the plan looks up whether samples support its assumption
_COMPARISONS = (5, 20)  # least and largest number of comparisons that are simulated with a number of negatives
_NEGATIVES = 6000  # of a user in all of them, if their number is between the two
_SIMULATED_TO = 1000  # largest m for which comparisons are simulated, as they take long
_MORE = 1.5  # ratio of the next m, if too few of them decide
_STAGES = (
    "Where the ranker can be called, staged_ranks needs no negatives and no assumption on the ranks; plan_stages says "
    "what it costs."
)
_CLOSE = 1.1  # ratio of two m between which the chance grows along a line, in log m


@on_one_thread
def plan(
    ranks: Mapping[str, ExactRanks | SampledRanks],
    *,
    metric: str | Metric = "recall@10",
    probability: float = 0.95,
    estimators: EstimatorsLike = PLANNED,
    replacement: bool = False,
    progress: Progress = late_progress,
) -> Result:
    """Find the smallest sample that orders two recommenders correctly with a given probability.

    Args:
        ranks: a mapping from the names of two recommenders to their `ExactRanks`, as `exact_ranks` or `rank` returns
            them, or to their `SampledRanks`. Users are paired as in `compare`.
        metric: one label, such as recall@10.
        probability: the required probability of the correct order, above one half and below 1.
        estimators: labels of estimators that are linear in the sample.
        replacement: whether a negative may be sampled twice for the same user.
        progress: wraps the sample sizes that are tried, and then the strict bounds, for a progress bar. By default, a
            terminal shows one after two seconds.

    Returns:
        A row for each estimator, with the columns estimator, negatives (the smallest m from which on these users reach
        the probability, or NA), probability (at that m, or at the largest m), gap (the expected difference at that m,
        better - worse; it is negative if the order is wrong on average), conclusive (the chance that `compare`
        concludes for the better one at 95 %, with as many users drawn anew), users (the number of users for which that
        chance is the given probability, or NA). The last row, `exact`, ranks all candidates.

        The search tries ten m per decade, and then the m between two of them. With up to 1000 users, it also tries
        larger m in steps of 2 %, because the probability may fall again. With more users, it tries five m per decade.
        The search ends after two m that leave less than a tenth of the allowed chance of a wrong order. A tie is not a
        correct order. Probabilities near the given one are exact sums with up to 100 users, and with up to 1250 if the
        weights have two values, as those of the uncorrected recall have. Otherwise they are normal approximations, with
        a correction for ties. Probabilities of a conclusion are normal approximations; they are too high where only a
        few users differ. Those of strict bounds are not above the share of up to 20 simulated comparisons that decide,
        and m grows by half until enough of them do. With more than 1000 negatives, nothing is simulated.

        Of `SampledRanks` the true ranks are not known. So there are rows for each of three pilots that fit the samples,
        named in the column pilot: with the smooth ranks, and with the smallest and the largest difference that
        decreasing allows, closest and farthest. In each, the users have ranks that are drawn given their samples. The
        remarks say the range that follows.

        The first remark says whether the exact ranks decide which recommender is better, by `compare`. If they do not,
        the plan holds for a true difference as large as the one in these ranks, and of the same sign.

    Raises:
        DataError: the ranks are wrong, of different users or candidates, or equal by the exact metric.
        ConfigError: a metric or an estimator does not exist, an estimator is repeated, or probability is out of range.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {"X": [30, 25, 40, 12, 60, 33] * 50, "Y": [1, 300, 2, 500, 9, 700] * 50}
        >>> tables = sm.exact_ranks(ranks, candidates=1000)
        >>> result = sm.plan(tables, metric="ap", estimators=["uncorrected", "bv-0.1"])
        >>> [(row.estimator, row.negatives) for row in result.itertuples()]
        [('uncorrected', 64), ('bv-0.1', 21), ('exact', <NA>)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 6.3 and Figure 6.
    """
    tables = tables_by_name(ranks, "plan") if isinstance(ranks, Mapping) else {}
    if len(tables) != 2:
        raise DataError(
            'plan takes a mapping from the names of two recommenders to their tables: sm.plan({"A": a, "B": b})'
        )
    chosen = {
        label if estimator.assumed_shape is None else str(estimator): estimator
        for label, estimator in estimators_by_label(estimators).items()
    }
    by_label = metrics_by_label(metric, "metric")
    if len(by_label) > 1:
        raise ConfigError(f"metric: give one, not {', '.join(by_label)}")
    if not is_real(probability):
        raise ConfigError(f"probability must be a number above 0.5 and below 1, not {shown(probability)}")
    if not 0.5 < probability < 1:
        raise ConfigError(f"probability must be above 0.5 and below 1, not {probability}")
    [(label_of_metric, measure)] = by_label.items()
    what = metric_name(label_of_metric)

    def of_pilot(tables: Mapping[str, ExactRanks]) -> Result:
        return _of_exact_ranks(tables, measure, what, chosen, probability, replacement, progress)

    if not any(table.is_sampled for table in tables.values()):
        return of_pilot(tables)
    pilots, contradicted = pilots_that_fit(tables, measure)
    results = {pilot: of_pilot(of_one) for pilot, of_one in pilots.items()}
    rows = [pd.DataFrame(result[:-1]).assign(pilot=pilot) for pilot, result in results.items()]
    table = Result(pd.concat(rows, ignore_index=True))
    table = table[["pilot", *table.columns.drop("pilot")]]
    differences = {pilot: _difference(of_one, measure) for pilot, of_one in pilots.items()}
    remarks = [_of_sample(differences, tuple(tables), what), *_ranges(results, differences, list(chosen)), _STAGES]
    remarks.append(_words(list(chosen)))
    cautions = [finding for name, one in tables.items() for finding in from_reader(one, name)]
    return table.found([*contradicted, *notes(remarks), *cautions], results["smooth"].setting)


def _of_exact_ranks(
    tables: Mapping[str, ExactRanks],
    metric: Metric,
    what: str,
    estimators: Mapping[str, Estimator],
    probability: float,
    replacement: bool,
    progress: Progress,
) -> Result:
    """Return the plan from the exact ranks of a pilot; `what` names the metric."""
    pilot = _Pilot.from_tables(tables, metric, what)
    sizes = _sizes(pilot, replacement)
    smallest = _Search(pilot, replacement, probability).smallest(estimators, sizes, progress)
    rows = [_row(label, *smallest[label][:2], pilot.users, probability) for label in estimators]
    exact = _ExpectedDifference(pilot.gap, 0.0, pilot.user_deviation, 1.0)
    rows.append(_row("exact", None, [exact], pilot.users, probability))
    table = Result(rows)
    remarks = [
        _of_pilot(pilot, what),
        *_sentences(table, probability, sizes[-1]),
        *_of_bounds(smallest, sizes[-1]),
        _words(list(estimators)),
        pilot.pairs.sentence,
    ]
    cautions = [finding for name, one in tables.items() for finding in from_reader(one, name)]
    setting = Setting(parameters=f"{what}, {pilot.worse.description}", names=tuple(tables))
    return table.found([*notes(remarks), *cautions], setting)


@dataclass(frozen=True)
class _Pilot:
    """Exact ranks of two recommenders, which stand for the population.

    Attributes:
        better: the ranks of the better recommender by the metric.
        worse: the ranks of the other one.
        names: of the worse recommender, and of the better one.
        pairs: the users of `worse`, and then those of `better`.
        metric: the metric.
        differences: (users,) differences of the metric, better - worse.
    """

    better: ExactRanks
    worse: ExactRanks
    names: tuple[str, str]
    pairs: Pairs
    metric: Metric
    differences: Floats

    @classmethod
    def from_tables(cls, tables: Mapping[str, ExactRanks], metric: Metric, what: str) -> _Pilot:
        """Pair the users of two recommenders; `what` names the metric.

        Raises:
            DataError: the users or candidates differ, or the recommenders are equal by the metric.
        """
        (first, one), (second, other) = tables.items()
        pairs = pair_users(one, other, (first, second))
        differences = mean_of_rows(other.values(metric), pairs.other) - mean_of_rows(one.values(metric), pairs.one)
        if abs(differences.mean()) <= EQUAL:
            raise DataError(f"{first} and {second} have the same exact {what}: no order is the right one")
        if differences.mean() > 0:
            return cls(other, one, (first, second), pairs, metric, differences)
        return cls(one, other, (second, first), Pairs(pairs.other, pairs.one, pairs.sentence), metric, -differences)

    @property
    def users(self) -> int:
        """The number of users."""
        return len(self.differences)

    @property
    def gap(self) -> float:
        """The difference of the exact metric, better - worse."""
        return float(self.differences.mean())

    @property
    def user_deviation(self) -> float:
        """The standard deviation of the difference over users; NaN for one user."""
        return float(self.differences.std(ddof=1)) if self.users > 1 else np.nan


class _ExpectedDifference(NamedTuple):
    """An expected difference, better - worse."""

    gap: float  # its expectation
    deviation: float  # its standard deviation over samples of negatives, for these users
    user_deviation: float  # standard deviation of one user's difference, over users and negatives
    right: float  # probability of the correct order on these users
    shape: str = ""  # the assumption of strict bounds, if it is one

    def conclusive(self, users: float) -> float:
        """Return the chance that the 95 % interval of `compare` on that many new users is above 0."""
        if not self.user_deviation > 0:
            return float(self.gap > 0)
        t = stdtrit(max(users - 1, 1), 0.975)
        noncentral = self.gap / self.user_deviation * np.sqrt(users)
        return float(ndtr((noncentral - t) / np.sqrt(1 + t**2 / (2 * max(users - 1, 1)))))


class _Smallest(NamedTuple):
    """The smallest m that is enough for an estimator.

    Attributes:
        negatives: the m; None if no m is enough.
        differences: the expected differences at this m, or at the largest: one of a linear estimator, and one for each
            of `FACTORS` of strict bounds.
        simulated: simulated comparisons by strict bounds, for each m for which they were made.
    """

    negatives: int | None
    differences: list[_ExpectedDifference]
    simulated: list[Simulated]


@dataclass(frozen=True)
class _Search:
    """The search for the smallest m."""

    pilot: _Pilot
    replacement: bool
    probability: float

    def smallest(
        self, estimators: Mapping[str, Estimator], sizes: Sequence[int], progress: Progress
    ) -> dict[str, _Smallest]:
        """Return the smallest m of each estimator, by label.

        Args:
            estimators: linear ones, and strict bounds, by label.
            sizes: the m to try first, ascending.
            progress: wraps these m, and then the strict bounds.
        """
        strict = [label for label in estimators if label in SHAPES]
        by_label: dict[str, dict[int, _ExpectedDifference]] = {label: {} for label in estimators if label not in SHAPES}
        verdicts: dict[str, list[_ExpectedDifference]] = {}  # of the largest m
        smallest: dict[str, _Smallest] = {}
        for step in progress([*(sizes if by_label else []), *strict]):
            if step in strict:
                verdicts = verdicts or self.verdicts(sizes[-1], strict)
                smallest[step] = self._smallest_of_bounds(step, sizes[-1], verdicts[step])
            elif left := [label for label, by_size in by_label.items() if not self._is_settled(by_size)]:
                of_size = self.expected(step, [estimators[label] for label in left])
                for label, difference in zip(left, of_size, strict=True):
                    by_label[label][step] = difference
        for label, by_size in by_label.items():
            m = self._smallest_of_linear(estimators[label], by_size)
            smallest[label] = _Smallest(m, [by_size[m or sizes[-1]]], [])
        return smallest

    def expected(self, negatives: int, estimators: Sequence[Estimator]) -> list[_ExpectedDifference]:
        """Return the expected difference by each linear estimator, with m negatives."""
        pilot, design = self.pilot, SamplingDesign(negatives, self.replacement)
        weights = DesignWeights.from_tables([pilot.worse], design, estimators, (pilot.metric,))
        worse = Expectation.from_ranks(pilot.worse, pilot.pairs.one, weights)
        better = Expectation.from_ranks(pilot.better, pilot.pairs.other, weights)
        gaps, variances = better.means - worse.means, better.variances + worse.variances
        users = len(gaps)
        spread = gaps.var(axis=0, ddof=1) if users > 1 else np.full(gaps.shape[1], np.nan)
        user_deviations = np.sqrt(np.maximum(spread + variances.mean(axis=0), 0.0))
        deviations = np.sqrt(np.maximum(variances.sum(axis=0), 0.0)) / users
        expected = []
        for number, values in enumerate(zip(gaps.mean(axis=0), deviations, user_deviations, strict=True)):
            gap, deviation, user_deviation = map(float, values)
            right = probability_of_order(gap, deviation, step_of_difference(better, worse, number))
            if _is_small(better, number) and abs(right - self.probability) < _NEAR:
                right = exact_probability(better, worse, number)
            expected.append(_ExpectedDifference(gap, deviation, user_deviation, right))
        return expected

    def verdicts(self, negatives: int, shapes: Sequence[str]) -> dict[str, list[_ExpectedDifference]]:
        """Return the expected lower bounds of the difference, for weights that are best for `FACTORS` of the users.

        The bounds of a shape are those that `compare` takes for a sample of the pilot: those of a weaker shape if the
        sample does not support it. This takes long to see, so it is only looked up where a verdict is not unlikely. No
        bound proves more than exact ranks.
        """
        pilot, design = self.pilot, SamplingDesign(negatives, self.replacement)
        verdicts = self._bounds(design, shapes)
        for shape in shapes:
            if verdicts[shape][0].right >= _SUPPORTED_FROM:
                taken = shape_taken((pilot.worse, pilot.better), design, shape, pilot.metric)
                if taken != shape:
                    verdicts |= {shape: self._bounds(design, [taken])[taken]}
        return verdicts

    def _bounds(self, design: SamplingDesign, shapes: Sequence[str]) -> dict[str, list[_ExpectedDifference]]:
        """Return the expected lower bounds of the difference by shape, whether or not a sample supports the shape."""
        pilot = self.pilot
        sides = (pilot.better, pilot.pairs.other), (pilot.worse, pilot.pairs.one)
        verdicts = {}
        for shape, bounds in expected_gaps(*sides, design, shapes, pilot.metric).items():
            kept = [(min(gap, pilot.gap), max(deviation, pilot.user_deviation)) for gap, deviation in bounds]
            expected = [_ExpectedDifference(gap, np.nan, deviation, np.nan, shape) for gap, deviation in kept]
            verdicts[shape] = [difference._replace(right=difference.conclusive(pilot.users)) for difference in expected]
        return verdicts

    def _is_settled(self, by_size: dict[int, _ExpectedDifference]) -> bool:
        """Return whether the last two m leave less than a tenth of the allowed chance of a wrong order."""
        last = [by_size[m].right for m in sorted(by_size)[-2:]]
        return len(last) == 2 and min(last) > 1 - (1 - self.probability) / 10

    def _smallest_of_linear(self, estimator: Estimator, by_size: dict[int, _ExpectedDifference]) -> int | None:
        """Return the smallest m from which on the probability is enough; adds further m to `by_size`."""

        def enough(m: int) -> bool:
            if m not in by_size:
                (by_size[m],) = self.expected(m, [estimator])
            return by_size[m].right >= self.probability

        sizes = sorted(by_size)
        failed = [m for m in sizes if not enough(m)]
        if failed and failed[-1] == sizes[-1]:
            return None
        low = failed[-1] if failed else 0
        high = last = self._bisect(enough, by_size, low, next(m for m in sizes if m > low))
        low, later = 0, {high: by_size[high]}
        while last < sizes[-1] and self.pilot.users <= _FEW_USERS and not self._is_settled(later):
            last = min(max(last + 1, int(_STEP * last)), sizes[-1])
            if not enough(last):
                low = last
            elif low:
                high, low = self._bisect(enough, by_size, low, last), 0
            later[last] = by_size[last]
        return high

    def _smallest_of_bounds(self, shape: str, most: int, verdict: list[_ExpectedDifference]) -> _Smallest:
        """Return the m at which a verdict is likely enough.

        The expected bounds give an m, up to 3 %. It is too small where some samples do not support the assumption, or
        where the users are few. So m grows until enough simulated comparisons decide. If too few decide with a thousand
        negatives, the m is that of `free`, which all samples support.

        Args:
            shape: the assumption on the ranks.
            most: the largest m.
            verdict: that of the largest m, which is returned if no m is enough.
        """
        verdicts, by_size = {most: verdict}, {most: verdict[0]}
        if verdict[0].right < self.probability:
            return _Smallest(None, verdict, [])

        def enough(m: int) -> bool:
            verdicts[m] = self.verdicts(m, [shape])[shape]
            by_size[m] = verdicts[m][0]
            return by_size[m].right >= self.probability

        m = self._bisect(enough, by_size, 1, most, 1.03)
        simulated: list[Simulated] = []
        while m <= _SIMULATED_TO:
            simulated.append(self._simulated(m, shape))
            if self._is_enough(simulated[-1]) or m == most:
                break
            m = min(int(np.ceil(_MORE * m)), most)
        if simulated and m > _SIMULATED_TO and shape != SHAPES[0]:
            by_free = self._smallest_of_bounds(SHAPES[0], most, self.verdicts(most, SHAPES[:1])[SHAPES[0]])
            return by_free._replace(simulated=[*simulated, *by_free.simulated])
        verdict = verdicts[m] if m in verdicts else self.verdicts(m, [shape])[shape]
        if not simulated or simulated[-1].negatives < m:
            return _Smallest(m, verdict, simulated)
        right = min(verdict[0].right, simulated[-1].share)
        verdict = [difference._replace(right=right) for difference in verdict]
        return _Smallest(m if self._is_enough(simulated[-1]) else None, verdict, simulated)

    def _simulated(self, negatives: int, shape: str) -> Simulated:
        """Return simulated comparisons by strict bounds; fewer with more negatives, which take longer."""
        pilot = self.pilot
        sides = Contender(pilot.worse, pilot.pairs.one), Contender(pilot.better, pilot.pairs.other)
        number = int(np.clip(_NEGATIVES // negatives, *_COMPARISONS))
        return simulated_comparisons(*sides, SamplingDesign(negatives, self.replacement), shape, pilot.metric, number)

    def _is_enough(self, simulated: Simulated) -> bool:
        """Return whether the number that decides is the expected one at the probability, to the nearest, or larger."""
        return simulated.decided >= round(self.probability * simulated.comparisons)

    def _bisect(
        self,
        enough: Callable[[int], bool],
        by_size: dict[int, _ExpectedDifference],
        low: int,
        high: int,
        ratio: float = 1.0,
    ) -> int:
        """Return an m that is enough, between one that is not enough and one that is.

        The search ends at two neighbours. With a ratio above 1, it tries m a little above the expected solution, and it
        ends once two close m hold the expected solution and the larger one is within the ratio of it.
        """
        while high > ratio * low and high - low > 1:
            expected = self._between(by_size, low, high)
            if high <= min(ratio * expected, _CLOSE * low):
                break
            middle = min(round(np.sqrt(ratio) * expected), high - 1)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _between(self, by_size: dict[int, _ExpectedDifference], low: int, high: int) -> int:
        """Return an m between two, by interpolation of the normal quantile of the chance in log m."""
        levels = [ndtri(by_size[m].right) - ndtri(self.probability) if m in by_size else np.nan for m in (low, high)]
        share = min(max(levels[0] / (levels[0] - levels[1]), 0.05), 0.95) if np.isfinite(levels).all() else 0.5
        middle = low * (high / low) ** share if low else high * share
        return int(min(max(round(middle), low + 1), high - 1))


def _is_small(side: Expectation, estimate: int) -> bool:
    """Return whether the exact probability of an order is computed fast."""
    if len(side.means) <= _EXACT_USERS:
        return True
    rows, kinds = len(side.user), len(np.unique(side.weights[0, estimate]))
    return rows * kinds <= _EXACT_TERMS


def _row(
    label: str, negatives: int | None, differences: Sequence[_ExpectedDifference], users: int, probability: float
) -> dict[str, Any]:
    """Return a row of the result; further differences are by weights that are better for more users."""
    difference = differences[0]
    possible = [one for one in differences if one.gap > 0 and np.isfinite(one.user_deviation)]
    needed = [_users_needed(one, probability) for one in possible]
    enough = [number for number in needed if number <= _MOST_USERS * users or label not in SHAPES]
    return {
        "estimator": label,
        "negatives": pd.NA if negatives is None else negatives,
        "probability": difference.right,
        "gap": difference.gap,
        "conclusive": _conclusive(difference, users),
        "users": min(enough, default=pd.NA),
    }


def _conclusive(difference: _ExpectedDifference, users: int) -> float:
    """Return the chance of a verdict with as many new users; NaN if one user does not tell it."""
    if not np.isfinite(difference.user_deviation):
        return np.nan
    return difference.right if difference.shape else difference.conclusive(users)


def _users_needed(difference: _ExpectedDifference, probability: float) -> int:
    """Return the smallest number of users for which a conclusion has the probability."""
    low, high = 5, 6  # fewer than six users cannot conclude
    while difference.conclusive(high) < probability:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if difference.conclusive(middle) >= probability else (middle, high)
    return high


def _sizes(pilot: _Pilot, replacement: bool) -> list[int]:
    """Return the sample sizes to try first, up to all negatives that every user has."""
    candidates = pilot.worse.candidates  # those of the other recommender are the same
    most = int(candidates.max() if replacement else candidates.min()) - 1
    if most < 1:
        raise DataError("a user has no candidates besides the held-out item, so that there is nothing to sample")
    by_decade = 10 if pilot.users <= _FEW_USERS else 5
    return sorted({round(10 ** (step / by_decade)) for step in range(int(by_decade * np.log10(most)) + 1)} | {most})


def _of_pilot(pilot: _Pilot, what: str) -> str:
    """Return sentences on what the exact ranks of the pilot show of the true order, and what the plan assumes."""
    worse, better = pilot.names
    if pilot.users == 1:
        verdict = "one user shows no order of the population"
        difference = f"{better} has the higher exact {what}, by {pilot.gap:.4f}"
    else:
        compared = compare({worse: pilot.worse, better: pilot.better}, metrics=pilot.metric)
        [row] = compared.to_dict("records")
        interval = f"with a 95 % interval of {row['low']:+.4f} to {row['high']:+.4f}"
        if row["conclusion"] != "undecided":
            return f"By the exact {what}, {better} is better than {worse}, by {pilot.gap:.4f}, {interval}."
        verdict = f"the pilot does not decide between {worse} and {better}"
        difference = (
            f"The difference ({better} - {worse}) is {pilot.gap:+.4f}, {interval} that includes 0 "
            f"(p = {row['p_value']:.2g})"
        )
    return (
        f"By the exact {what}, {verdict}. {difference}. The plan takes {better} as the better one, by as much as in "
        "the pilot. A smaller true difference takes more, and the true order may be the other one."
    )


def _difference(tables: Mapping[str, ExactRanks], metric: Metric) -> float:
    """Return the metric of the second recommender minus that of the first."""
    first, second = (float(table.values(metric).mean()) for table in tables.values())
    return second - first


def _of_sample(differences: Mapping[str, float], names: tuple[str, ...], what: str) -> str:
    """Return sentences on the differences that the sample allows, by pilot."""
    low, high = sorted((differences["closest"], differences["farthest"]))
    first, second = names
    sentence = (
        f"By smooth ranks, {what} differs by {differences['smooth']:+.4f} ({second} - {first}); by ranks that do not "
        f"contradict the samples, by {low:+.4f} to {high:+.4f}."
    )
    if low * high < 0:
        sentence += " The samples allow both orders, and differences near 0, so no number of negatives is sure to do."
    return sentence


def _ranges(results: Mapping[str, Result], differences: Mapping[str, float], labels: Sequence[str]) -> list[str]:
    """Return a sentence for each estimator on the numbers of negatives by the pilots that fit the samples."""
    sentences = []
    for label in labels:
        needed = []
        for pilot, result in results.items():
            [negatives] = result.loc[result["estimator"] == label, "negatives"]
            enough = "no number is enough" if pd.isna(negatives) else counted(negatives, "negative")
            needed.append(f"{enough} for {differences[pilot]:+.4f} ({pilot})")
        sentences.append(f"{estimator_name(label)}: {', '.join(needed)}.")
    return sentences


def _words(labels: Sequence[str]) -> str:
    """Explain the columns gap and conclusive."""
    strict = " By strict bounds, it is the expected lower bound of the difference." if set(labels) & set(SHAPES) else ""
    return (
        "The column gap is the expected difference (better - worse) with these negatives, or with the most if none are "
        f"enough.{strict} The column conclusive is the chance that compare decides for the better one at 95 %, with as "
        "many new users."
    )


def _sentences(table: Result, probability: float, most: int) -> list[str]:
    """Return a sentence for each estimator on what it needs."""
    sentences: list[str] = []
    for row in table.iloc[:-1].to_dict("records"):
        name = estimator_name(str(row["estimator"]))
        if row["estimator"] in SHAPES:
            sentences.append(_verdict(name, row, probability, most))
            continue
        concludes = ""
        if not pd.isna(row["conclusive"]):
            concludes = f" With new users, compare then concludes with a chance of {row['conclusive']:.2f}"
            concludes += "." if pd.isna(row["users"]) else f"; for {probability:g} it needs {row['users']} users."
        if not pd.isna(row["negatives"]):
            sentence = (
                f"{name}: {counted(row['negatives'], 'negative')} or more order the two rightly with a chance of "
                f"{probability:g} or more.{concludes}"
            )
        elif row["gap"] > 0:
            sentence = (
                f"{name}: no sample of up to {counted(most, 'negative')} is enough for these users; with {most} the "
                f"chance is {row['probability']:.2f}.{concludes}"
            )
        else:
            with_most = counted(most, "negative")
            sentence = f"{name}: orders the two wrongly on average even with {with_most}; more users do not help."
        sentences.append(sentence)
    return sentences


def _of_bounds(smallest: Mapping[str, _Smallest], most: int) -> list[str]:
    """Return sentences on strict bounds: simulated comparisons, and assumptions that samples do not support.

    Args:
        smallest: the smallest m by label.
        most: the largest m.
    """
    sentences = []
    for label, (m, differences, simulated) in smallest.items():
        name = estimator_name(label)
        if simulated:
            decided = [
                f"{one.decided} of {one.comparisons} with {counted(one.negatives, 'negative')}" for one in simulated
            ]
            sentences.append(
                f"{name}: of simulated comparisons of new users, {' and '.join(decided)} decide for the better one."
            )
        if differences[0].shape not in ("", label):
            sentences.append(
                f"{name}: with {counted(m or most, 'negative')}, compare takes the weaker assumption "
                f"{differences[0].shape}, as samples like these contradict {label}, or its intervals are too narrow."
            )
    return sentences


def _verdict(name: str, row: Mapping[str, Any], probability: float, most: int) -> str:
    """Return a sentence on what strict bounds need to decide."""
    if not pd.isna(row["negatives"]):
        enough = counted(row["negatives"], "negative")
        return f"{name}: with {enough}, compare decides with a chance of about {probability:g}."
    sentence = (
        f"{name}: with up to {counted(most, 'negative')}, compare decides with a chance of {row['probability']:.2f}"
    )
    if pd.isna(row["users"]):
        return f"{sentence}, and more users do not help."
    return f"{sentence}; for {probability:g} it needs {row['users']} users."
