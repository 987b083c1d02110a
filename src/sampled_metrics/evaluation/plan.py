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
from sampled_metrics._validation import counted, is_real, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimator, EstimatorsLike, estimator_name, estimators_by_label
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.result import Result
from sampled_metrics.inference.expectation import Expectation, exact_chance, mean_of_rows, step_of_difference
from sampled_metrics.inference.verdicts import expected_gaps
from sampled_metrics.metrics.metric import Metric, metric_name, metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.given import cautions_of, tables_by_name
from sampled_metrics.ranks.pairing import Pairs, pair_users
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, probability_of_order

_EXACT_USERS = 100  # with up to so many users, chances near the given probability are exact
_EXACT_TERMS = 2500  # and also with up to so many rows times different weights
_NEAR = 0.1  # a difference of chances that is near
_FEW_USERS = 1000  # with up to so many users, larger m are tried in small steps
_MOST_USERS = 1000.0  # largest multiple of the users of the pilot that a plan names
_STEP = 1.02  # ratio of such a step
_CLOSE = 1.1  # ratio of two m between which the chance grows along a line, in log m


@on_one_thread
def plan(
    ranks: Mapping[str, ExactRanks],
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
            them. Users are paired as in `compare`.
        metric: a label, as in `evaluate`.
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

        Ten m a decade are tried, and then those between. With up to 1000 users, larger m are tried in steps of 2 %, as
        the probability may fall again; with more, five a decade are. The search ends after two m that leave less than a
        tenth of the allowed chance of a wrong order. A tie is no correct order. Probabilities near the given one are
        exact sums with up to 100 users, and with up to 1250 if the weights have two values, as those of the
        uncorrected recall have. Otherwise they are those of a normal distribution, with a correction for ties. Those of
        a conclusion are, too; they are too high where only a few users differ.

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
    one, other = tables.values()
    first, second = names = tuple(tables)
    chosen = {
        label if estimator.assumed_shape is None else str(estimator): estimator
        for label, estimator in estimators_by_label(estimators).items()
    }
    by_label = metrics_by_label(metric, "metric")
    if len(by_label) > 1:
        raise ConfigError(f"metric: give one, not {', '.join(by_label)}")
    [(label_of_metric, measure)] = by_label.items()
    if not is_real(probability):
        raise ConfigError(f"probability must be a number above 0.5 and below 1, not {shown(probability)}")
    if not 0.5 < probability < 1:
        raise ConfigError(f"probability must be above 0.5 and below 1, not {probability}")
    pairs = pair_users(one, other, (first, second))
    differences = mean_of_rows(other.values(measure), pairs.other) - mean_of_rows(one.values(measure), pairs.one)
    gap = float(differences.mean())
    if abs(gap) <= EQUAL:
        raise DataError(
            f"{names[0]} and {names[1]} have the same exact {metric_name(label_of_metric)}: no order is the right one"
        )
    if gap < 0:
        pairs = Pairs(pairs.other, pairs.one, pairs.sentence)
    search = _Search(*((other, one) if gap > 0 else (one, other)), pairs, measure, replacement, probability)
    sizes = _sizes(one, other, replacement, 10 if len(differences) <= _FEW_USERS else 5)
    strict = [label for label in chosen if label in SHAPES]
    known: dict[str, dict[int, _Chance]] = {label: {} for label in chosen if label not in SHAPES}
    smallest: dict[str, int | None] = {}
    verdicts: dict[str, dict[int, list[_Chance]]] = {}
    for step in progress([*(sizes if known else []), *strict]):
        if step in strict:
            if not verdicts:
                verdicts = {label: {sizes[-1]: each} for label, each in search.verdicts(sizes[-1], strict).items()}
            smallest[step] = search.decides(step, verdicts[step])
            continue
        m = int(step)
        left = [label for label, chances in known.items() if not search.settled(chances)]
        for label, chance in zip(
            left, search.chances(m, [chosen[label] for label in left]) if left else [], strict=True
        ):
            known[label][m] = chance
    rows = []
    for label in chosen:
        if label in strict:
            found = verdicts[label][smallest[label] or sizes[-1]]
        else:
            smallest[label] = search.smallest(chosen[label], known[label])
            found = [known[label][smallest[label] or sizes[-1]]]
        rows.append(_row(label, smallest[label], found, len(differences), probability))
    error = float(differences.std(ddof=1)) if len(differences) > 1 else np.nan
    rows.append(_row("exact", None, [_Chance(abs(gap), 0.0, error, 1.0)], len(differences), probability))
    table = Result(rows)
    table.attrs = {"probability": probability, "parameters": f"{metric_name(label_of_metric)}, {one.description}"}
    worse, better = order = names if gap > 0 else names[::-1]
    compared = None
    if len(differences) > 1:
        compared = compare({name: tables[name] for name in order}, metrics=measure)
    sentences = [
        _of_pilot(compared, metric_name(label_of_metric), worse, better, abs(gap)),
        *_sentences(table, probability, sizes[-1]),
        _words(list(chosen)),
    ]
    unused = dict.fromkeys([*one.notes, *other.notes])
    return table.with_remarks([*sentences, pairs.sentence, *unused]).with_cautions(cautions_of(tables))


class _Chance(NamedTuple):
    """An expected difference, better - worse."""

    gap: float  # its expectation
    deviation: float  # its standard deviation over samples of negatives, for these users
    user_deviation: float  # standard deviation of one user's difference, over users and negatives
    right: float  # probability of the correct order on these users

    def conclusive(self, users: float) -> float:
        """Return the chance that the 95 % interval of `compare` on that many new users is above 0."""
        if not self.user_deviation > 0:
            return float(self.gap > 0)
        t = stdtrit(max(users - 1, 1), 0.975)
        noncentral = self.gap / self.user_deviation * np.sqrt(users)
        return float(ndtr((noncentral - t) / np.sqrt(1 + t**2 / (2 * max(users - 1, 1)))))


@dataclass(frozen=True)
class _Search:
    """The search for the smallest m."""

    better: ExactRanks
    worse: ExactRanks
    pairs: Pairs  # the users of worse, then those of better
    metric: Metric
    replacement: bool
    probability: float

    def chances(self, negatives: int, estimators: Sequence[Estimator]) -> list[_Chance]:
        """Return the expected difference by linear estimator with m negatives."""
        design, metrics = SamplingDesign(negatives, self.replacement), (self.metric,)
        worse = Expectation.from_ranks(self.worse, self.pairs.one, design, estimators, metrics)
        better = Expectation.from_ranks(self.better, self.pairs.other, design, estimators, metrics)
        gaps, variances = better.means - worse.means, better.variances + worse.variances
        users = len(gaps)
        spread = gaps.var(axis=0, ddof=1) if users > 1 else np.full(gaps.shape[1], np.nan)
        user_deviation = np.sqrt(np.maximum(spread + variances.mean(axis=0), 0.0))
        deviation = np.sqrt(np.maximum(variances.sum(axis=0), 0.0)) / users
        found = []
        for number, values in enumerate(zip(gaps.mean(axis=0), deviation, user_deviation, strict=True)):
            gap, off, of_user = map(float, values)
            right = probability_of_order(gap, off, step_of_difference(better, worse, number))
            if _is_small(better, number) and abs(right - self.probability) < _NEAR:
                right = exact_chance(better, worse, number)
            found.append(_Chance(gap, off, of_user, right))
        return found

    def verdicts(self, negatives: int, shapes: Sequence[str]) -> dict[str, list[_Chance]]:
        """Return the expected lower bounds of the difference, for weights that are best for `FACTORS` of the users."""
        sides = (self.better, self.pairs.other), (self.worse, self.pairs.one)
        design, users = SamplingDesign(negatives, self.replacement), int(self.pairs.one.max()) + 1
        found = {}
        for shape, gaps in expected_gaps(*sides, design, shapes, self.metric).items():
            without = [_Chance(gap, np.nan, deviation, np.nan) for gap, deviation in gaps]
            found[shape] = [each._replace(right=each.conclusive(users)) for each in without]
        return found

    def settled(self, chances: dict[int, _Chance]) -> bool:
        """Return whether the last two m leave less than a tenth of the allowed chance of a wrong order."""
        last = [chances[m].right for m in sorted(chances)[-2:]]
        return len(last) == 2 and min(last) > 1 - (1 - self.probability) / 10

    def smallest(self, estimator: Estimator, chances: dict[int, _Chance]) -> int | None:
        """Return the smallest m from which on the chance is enough; adds the chances of further m."""

        def enough(m: int) -> bool:
            if m not in chances:
                (chances[m],) = self.chances(m, [estimator])
            return chances[m].right >= self.probability

        sizes = sorted(chances)
        failed = [m for m in sizes if not enough(m)]
        if failed and failed[-1] == sizes[-1]:
            return None
        low = failed[-1] if failed else 0
        high = last = self._bisect(enough, chances, low, next(m for m in sizes if m > low))
        low, later = 0, {high: chances[high]}
        while last < sizes[-1] and len(self.pairs.one) <= _FEW_USERS and not self.settled(later):
            last = min(max(last + 1, int(_STEP * last)), sizes[-1])
            if not enough(last):
                low = last
            elif low:
                high, low = self._bisect(enough, chances, low, last), 0
            later[last] = chances[last]
        return high

    def decides(self, shape: str, verdicts: dict[int, list[_Chance]]) -> int | None:
        """Return the m at which a verdict is likely enough, up to 3 %; adds the verdicts of all m that are tried.

        Args:
            shape: the assumption on the ranks.
            verdicts: that of the largest m.
        """
        [(most, largest)] = verdicts.items()
        chances = {most: largest[0]}

        def enough(m: int) -> bool:
            verdicts[m] = self.verdicts(m, [shape])[shape]
            chances[m] = verdicts[m][0]
            return chances[m].right >= self.probability

        return self._bisect(enough, chances, 1, most, 1.03) if largest[0].right >= self.probability else None

    def _bisect(
        self, enough: Callable[[int], bool], chances: dict[int, _Chance], low: int, high: int, ratio: float = 1.0
    ) -> int:
        """Return an m that is enough, next to one that is not or within the ratio of it, between two such m.

        With a ratio, m are tried a little above where the chance is expected to be enough, and the search ends once
        that place, between two close m, is within the ratio.
        """
        while high > ratio * low and high - low > 1:
            expected = self._between(chances, low, high)
            if high <= min(ratio * expected, _CLOSE * low):
                break
            middle = min(round(np.sqrt(ratio) * expected), high - 1)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _between(self, chances: dict[int, _Chance], low: int, high: int) -> int:
        """Return an m between two, by interpolation of the normal quantile of the chance in log m."""
        levels = [ndtri(chances[m].right) - ndtri(self.probability) if m in chances else np.nan for m in (low, high)]
        share = min(max(levels[0] / (levels[0] - levels[1]), 0.05), 0.95) if np.isfinite(levels).all() else 0.5
        middle = low * (high / low) ** share if low else high * share
        return int(min(max(round(middle), low + 1), high - 1))


def _is_small(side: Expectation, estimate: int) -> bool:
    """Return whether the exact chance of an order is computed fast."""
    if len(side.means) <= _EXACT_USERS:
        return True
    rows, kinds = len(side.user), len(np.unique(side.weights[0, estimate]))
    return rows * kinds <= _EXACT_TERMS


def _row(
    label: str, negatives: int | None, chances: Sequence[_Chance], users: int, probability: float
) -> dict[str, Any]:
    """Return a row of the result; further chances are those of other weights, which are better for more users."""
    chance = chances[0]
    needed = [_users_needed(each, probability) for each in chances if each.gap > 0 and np.isfinite(each.user_deviation)]
    enough = [number for number in needed if number <= _MOST_USERS * users or label not in SHAPES]
    return {
        "estimator": label,
        "negatives": pd.NA if negatives is None else negatives,
        "probability": chance.right,
        "gap": chance.gap,
        "conclusive": chance.conclusive(users) if np.isfinite(chance.user_deviation) else np.nan,
        "users": min(enough, default=pd.NA),
    }


def _users_needed(chance: _Chance, probability: float) -> int:
    """Return the smallest number of users for which a conclusion has a chance."""
    low, high = 5, 6  # fewer than six users cannot conclude
    while chance.conclusive(high) < probability:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance.conclusive(middle) >= probability else (middle, high)
    return high


def _sizes(one: ExactRanks, other: ExactRanks, replacement: bool, by_decade: int) -> list[int]:
    """Return the sample sizes to try first, up to all negatives that every user has."""
    candidates = np.concatenate((one.candidates, other.candidates))
    most = int(candidates.max() if replacement else candidates.min()) - 1
    if most < 1:
        raise DataError("a user has no candidates besides the held-out item, so that there is nothing to sample")
    return sorted({round(10 ** (step / by_decade)) for step in range(int(by_decade * np.log10(most)) + 1)} | {most})


def _of_pilot(compared: Result | None, what: str, worse: str, better: str, gap: float) -> str:
    """Return what the pilot says of the true order, by the comparison of its exact ranks, and what follows."""
    if compared is None:
        pilot = "one user shows no order of the population"
        found = f"{better} has the higher exact {what}, by {gap:.4f}"
    else:
        [row] = compared.to_dict("records")
        interval = f"with a 95 % interval of {row['low']:+.4f} to {row['high']:+.4f}"
        if row["conclusion"] != "undecided":
            return f"By the exact {what}, {better} is better than {worse}, by {gap:.4f}, {interval}."
        pilot = f"the pilot does not decide between {worse} and {better}"
        found = (
            f"The difference ({better} - {worse}) is {gap:+.4f}, {interval} that includes 0 (p = {row['p_value']:.2g})"
        )
    return (
        f"By the exact {what}, {pilot}. {found}. The plan takes {better} as the better one, by as much as in the pilot."
        " A smaller true difference takes more, and the true order may be the other one."
    )


def _words(labels: Sequence[str]) -> str:
    """Explain the columns gap and conclusive."""
    strict = " By strict bounds, it is the expected lower bound of the difference." if set(labels) & set(SHAPES) else ""
    return (
        "The column gap is the expected difference (better - worse) with these negatives, or with the most if none are "
        f"enough.{strict} The column conclusive is the chance that compare decides for the better one at 95 %, with as "
        "many new users."
    )


def _sentences(table: Result, probability: float, most: int) -> list[str]:
    """Return what each estimator takes as sentences."""
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


def _verdict(name: str, row: Mapping[str, Any], probability: float, most: int) -> str:
    """Return what it takes to decide by strict bounds as a sentence."""
    if not pd.isna(row["negatives"]):
        enough = counted(row["negatives"], "negative")
        return f"{name}: with {enough} or more, compare decides with a chance of {probability:g}."
    sentence = (
        f"{name}: with up to {counted(most, 'negative')}, compare decides with a chance of {row['probability']:.2f}"
    )
    if pd.isna(row["users"]):
        return f"{sentence}, and more users do not help."
    return f"{sentence}; for {probability:g} it needs {row['users']} users."
