"""Compare recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._defaults import METRICS
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats, Ints, check_names, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimate, Estimator, estimator_name, estimators_by_label
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.estimators.shapes import ASSUMPTIONS, SHAPES
from sampled_metrics.estimators.strict_bounds import ShapeEstimate
from sampled_metrics.estimators.uncorrected import Uncorrected
from sampled_metrics.evaluation.comparison import Comparison, Standings, listed
from sampled_metrics.evaluation.evaluate import (
    about_users,
    check_relevance,
    equal_metrics,
    exact_outcomes,
    largest_values,
    undefined,
)
from sampled_metrics.inference.differences import BONFERRONI, Differences, Recommender, differences
from sampled_metrics.inference.families import pairs_of
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.strict_intervals import Support, contradictions, tested, unexplained
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric, metric_name, metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.frames import Columns, PerUser, RanksLike
from sampled_metrics.ranks.judged_lists import Judgements, list_metrics
from sampled_metrics.ranks.pairing import pair_all
from sampled_metrics.ranks.read import Form, columns_or_table, exact_or_sampled, recommenders
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.sampling.outcomes import Outcomes

NO_VERDICT = "no verdict"
"""The conclusion where the sample contradicts every distribution of ranks, or an interval its own estimate."""

_NOTHING = "without an assumption on the ranks"

_Given = Columns | ExactRanks | SampledRanks
"""Ranks of a recommender, as they are read."""

_Side = tuple[Estimate, Ints, Ints]
"""Ranks of a recommender: an estimate, the (rows,) outcomes, and (outcomes,) numbers that tell outcomes apart."""


@on_one_thread
def compare(
    a: RanksLike | Mapping[str, RanksLike | Sequence[RanksLike]],
    b: RanksLike | None = None,
    *,
    metrics: MetricsLike | None = None,
    candidates: PerUser | None = None,
    negatives: PerUser | None = None,
    exact: bool = False,
    replacement: bool = False,
    by: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    relevance: Any = None,
    relevant_from: float | None = None,
    estimator: str | Estimator | None = None,
    names: tuple[str, str] | None = None,
    confidence_level: float = 0.95,
    method: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare two recommenders or more on the same users, by exact or sampled ranks, or by ranked lists.

    The difference of a metric is the mean over users of f(r_b) - f(r_a), where r_a and r_b are the ranks of the two
    recommenders. Users are paired by the column user if both have one, else by position; a remark says which.

    Of more than two recommenders, all pairs are compared. The intervals of a metric hold together for all of its pairs,
    by the max-t bootstrap or, for strict bounds and several seeds, Bonferroni's inequality. The p-values are adjusted
    for the pairs by the method of Holm. Several metrics are several families, and are not adjusted for one another.

    Args:
        a: ranks of the first recommender: exact ones as in `evaluate`, or sampled ones as in `correct`. Or, without b,
            a mapping from the names of two recommenders or more to their ranks, or a table of all of them with `by` or
            several of `rank_column`. A list of several ranks of a
            recommender are those of several seeds, of which the means are compared. The spread between the seeds
            counts as a part of the uncertainty. This is not possible with strict bounds. With `relevance`, lists in
            place of ranks, as in `evaluate`.
        b: ranks of the second recommender, of the same users.
        metrics: labels, as in `evaluate`.
        candidates: as in `correct`.
        negatives: (users,) or one number: m. If it is given, here or as a column, the ranks are sampled, else exact.
        exact: as in `evaluate`.
        replacement: as in `correct`.
        by: as in `evaluate`.
        rank_column: as in `evaluate`.
        zero_based: as in `evaluate`.
        relevance: the judged items of users, as in `evaluate`. All judged users are compared.
        relevant_from: as in `evaluate`.
        estimator: label of the estimator that corrects sampled ranks, or an estimator of your own, as in `correct`. The
            default is decreasing: the interval holds the
            true difference if better ranks are more frequent than worse ones in the better half of the ranks. The
            estimators free and convex assume less and more. All others compare the means of the estimator and assume
            that its bias is equal for both recommenders; bv-0.1 has a low variance.
        names: names of the two recommenders a and b; ("A", "B") if they are not given.
        confidence_level: probability that the interval covers the difference, or those of all pairs: 1 - the
            false-alarm rate of a metric.
        method: delta (likelihood ratio, as in `evaluate`) or bootstrap (BCa; resamples users with both of their ranks).
            The default is delta, or bootstrap for estimators that are not linear in the sample.
        n_resamples: as in `evaluate`.
        seed: as in `evaluate`.
        progress: as in `evaluate`.

    Returns:
        A row for each metric and pair, with the columns metric, a and b (names; only for more than two recommenders),
        value_a, value_b, difference (b - a), low, high, p_value (two-sided), conclusion (a name, undecided, or no
        verdict), users_needed (how many users would decide it; missing if it is decided, if no number would, or if it
        is not known), users. The remarks state the conclusions in sentences. The method standings() gives the
        recommenders by metric, with letters for the groups that cannot be told apart, and latex() a LaTeX table of
        them.

        The p-value is the interval inverted: the smallest α for which the interval at the level 1 - α excludes 0. So a
        p-value of a single pair is below 0.05 if the 95 % interval excludes 0. It is no probability that a recommender
        is better. With more than two recommenders it may disagree with the interval near the limit, because the two are
        adjusted by different methods; the conclusion is that of the interval. By the bootstrap it is never below
        1 / (n_resamples + 1), times the number of pairs. It is missing for strict bounds.

    Raises:
        DataError: the ranks are wrong, their users or a user's candidates differ, or the estimator is not valid for
            them.
        ConfigError: a metric, an estimator or an option does not exist, or a metric is repeated.

    Examples:
        >>> import sampled_metrics as sm
        >>> old = [5, 80, 3, 200, 9, 30, 14, 7] * 5
        >>> new = [2, 40, 1, 90, 4, 10, 6, 3] * 5
        >>> result = sm.compare(old, new, candidates=1000, exact=True, metrics="ap", names=("old", "new"))
        >>> print(result.remarks[0])
        AP: new is better than old. The difference (new - old) is +0.1846, with a 95 % interval of +0.0858 to +0.2642.

        >>> ranks = {"old": old, "new": new, "newer": [3, 38, 1, 95, 4, 11, 6, 3] * 5}
        >>> print(sm.compare(ranks, candidates=1000, exact=True, metrics="auc").remarks[0])
        AUC: new, newer and old cannot be told apart.

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
        P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley 1993.
        S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    """
    check_relevance(
        relevance,
        {"relevant_from": relevant_from},
        {
            "candidates": candidates,
            "negatives": negatives,
            "exact": exact,
            "replacement": replacement,
            "estimator": estimator,
        },
    )
    form = Form(candidates, negatives, exact, replacement, by, rank_column, zero_based)
    given = _recommenders(a, b, names, form)
    if relevance is not None:
        read = _read_lists(_seeds(given), Judgements.of(relevance, relevant_from), metrics)
    else:
        read = _read_ranks(exact_or_sampled(_seeds(given), form), metrics, estimator)
    sides, numbers = read.sides, read.numbers
    by_outcome = users_by_outcome(
        *((which, user, len(seen)) for (_, which, seen), user in zip(sides, numbers, strict=True))
    )
    recommenders, first = list[Recommender](), 0
    for name, seeds in given.items():
        places = tuple(range(first, first := first + len(seeds)))
        seen = np.mean([by_outcome.shares[place] @ sides[place][2] for place in places], axis=0)
        recommenders.append(Recommender(name, tuple(sides[place][0] for place in places), places, seen))
    if len(sides) > len(given) and isinstance(sides[0][0], ShapeEstimate):
        raise DataError(
            "strict bounds do not count the spread between seeds; several seeds need exact ranks, or an estimator such "
            "as bv-0.1"
        )
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    found = differences(recommenders, by_outcome, options, read.largest, progress)
    supports = _supports(found, recommenders, by_outcome, read.outcomes, seed)
    found = found.without_verdicts([at for at, support in enumerate(supports.values()) if not support.is_explained])
    users = int(by_outcome.counts.sum())
    table = _table(found, list(given), read.labels, users)
    notes = _assumed(found, list(given), supports)
    if read.estimator and not found.strict and not read.is_uncorrected:
        notes += _biased(read.estimator)
    assumption = next(iter(notes), "")
    table.attrs = {"confidence_level": confidence_level, "names": list(given), "assumption": assumption}
    table.attrs["parameters"] = read.parameters
    remarks = [*_conclusions(table, found, read, list(given), confidence_level), *_on_seeds(given), *notes]
    table = table.with_cautions([*read.cautions, *_cautions(supports, read)])
    return table.with_remarks([*remarks, *undefined(table, "difference"), *about_users(by_outcome), *read.remarks])


class _Read(NamedTuple):
    """What was read of the seeds of all recommenders.

    Attributes:
        labels: of the metrics.
        sides: one for each seed.
        numbers: for each seed, the (rows,) numbers of the users.
        largest: (metrics,) largest values.
        remarks: sentences on the tables.
        estimator: label of the estimator of sampled ranks; empty if there is none.
        of_samples: the estimator itself.
        parameters: numbers of users, candidates and negatives, in words.
        outcomes: of sampled ranks, one for each seed.
        cautions: sentences on what would make all results wrong.
    """

    labels: list[str]
    sides: list[_Side]
    numbers: list[Ints]
    largest: Floats
    remarks: list[str]
    estimator: str = ""
    of_samples: Estimator | None = None
    parameters: str = ""
    outcomes: Sequence[Outcomes] = ()
    cautions: tuple[str, ...] = ()

    @property
    def is_uncorrected(self) -> bool:
        """Return whether sampled metrics are compared."""
        return bool(self.estimator) and isinstance(self.of_samples, Uncorrected)

    def metric_name(self, label: str) -> str:
        """Return what is compared: a sampled metric, or the metric itself, as of AUC."""
        is_sampled = self.is_uncorrected and metric(label).label != "auc"
        return f"{'Sampled ' if is_sampled else ''}{metric_name(label)}"


def _seeds(given: Mapping[str, Sequence[_Given]]) -> dict[str, _Given]:
    """Return what is given for each seed, by the name of the recommender, with the number of the seed."""
    return {
        name if len(seeds) == 1 else f"{name}, seed {at}": each
        for name, seeds in given.items()
        for at, each in enumerate(seeds, 1)
    }


def _read_lists(given: Mapping[str, _Given], judged: Judgements, metrics: MetricsLike | None) -> _Read:
    """Return what is read of ranked lists; parameters as in `compare`."""
    of_lists, remarks = list_metrics(metrics), list[str](judged.remarks)
    largest, users, sides = judged.largest(of_lists.values()), np.arange(len(judged.users)), list[_Side]()
    for name, each in given.items():
        lists, about = judged.lists(each, name)
        sides.append(_linear_side(judged.values(lists, of_lists.values()), users, largest))
        remarks += about
    return _Read(list(of_lists), sides, [users] * len(sides), largest, remarks)


def _read_ranks(
    tables: Mapping[str, ExactRanks] | Mapping[str, SampledRanks],
    metrics: MetricsLike | None,
    estimator: str | Estimator | None,
) -> _Read:
    """Return what is read of exact or sampled ranks; parameters as in `compare`."""
    by_label = metrics_by_label(METRICS if metrics is None else metrics)
    labels, wanted = list(by_label), list(by_label.values())
    ranked: list[ExactRanks | SampledRanks] = [*tables.values()]
    is_sampled = isinstance(ranked[0], SampledRanks)
    if not is_sampled and estimator is not None:
        raise DataError("an estimator corrects sampled ranks: say how many negatives were sampled, too")
    chosen = estimators_by_label("decreasing" if estimator is None else estimator, "estimator")
    if len(chosen) > 1:
        raise ConfigError(f"estimator: give one, not {', '.join(chosen)}")
    [(label, of_samples)] = chosen.items()
    sides = [
        _sampled_side(each, wanted, of_samples)
        if isinstance(each, SampledRanks)
        else _linear_side(*exact_outcomes(each, wanted), largest_values(wanted))
        for each in ranked
    ]
    numbers, paired = pair_all(ranked, list(tables))
    notes = dict.fromkeys(note for each in ranked for note in each.notes)
    parameters = ranked[0].description
    remarks: list[str] = [*paired, *equal_metrics(by_label), *notes]
    largest, used = largest_values(wanted), label if is_sampled else ""
    cautions = tuple(caution for each in ranked for caution in each.cautions)
    outcomes = [Outcomes.observed(each)[0] for each in ranked if isinstance(each, SampledRanks)]
    return _Read(labels, sides, numbers, largest, remarks, used, of_samples, parameters, outcomes, cautions)


def _recommenders(a: Any, b: Any, names: Any, form: Form) -> dict[str, list[_Given]]:
    """Return the ranks or lists of the seeds of each recommender, by name."""
    if b is not None:
        if form.splits:
            raise DataError("by, and several of rank_column, are for one table that has the ranks of all recommenders")
        if not form.is_of_columns(a):
            raise DataError("a mapping has all recommenders and their names, so b and names must not be given too")
        of_two = zip(check_names(("A", "B") if names is None else names), (a, b), strict=True)
        return {name: [columns_or_table(each, name, form)] for name, each in of_two}
    if names is not None:
        raise DataError("names are those of a and b; the recommenders of a mapping or a table have their own")
    if form.is_of_columns(a):
        if not form.splits:
            raise DataError("B has no ranks; give those of two recommenders, a mapping from names to ranks, or by")
        found = {name: [each] for name, each in recommenders(a, form).items()}
    else:
        if form.splits:
            raise DataError("by, and several of rank_column, are for one table that has the ranks of all recommenders")
        found = {
            name: [columns_or_table(each, str(name), form) for each in (ranks if _has_seeds(ranks) else [ranks])]
            for name, ranks in a.items()
        }
    if len(found) < 2 or not all(isinstance(name, str) for name in found):
        raise DataError(f"compare takes two recommenders or more, by names that are text, not {shown(list(found))}")
    return found


def _has_seeds(ranks: Any) -> bool:
    """Return whether these are the ranks of several seeds: a list of tables, lists or paths, not of numbers."""
    seeds = isinstance(ranks, list | tuple) and len(ranks) > 0
    return seeds and all(isinstance(each, str) or not np.isscalar(each) for each in ranks)


def _table(found: Differences, names: Sequence[str], labels: Sequence[str], users: int) -> Comparison:
    """Return the rows, by metric and pair, and the standings by metric."""
    pairs, standings = pairs_of(len(names)), dict[str, Standings]()
    rows = []
    for column, label in enumerate(labels):
        undecided = found.undecided[:, column]
        rising = found.low[:, column] > EQUAL
        if not np.isnan(found.difference[:, column]).any():
            decided = [
                (other, one) if rises else (one, other)
                for (one, other), rises, open_ in zip(pairs, rising, undecided, strict=True)
                if not open_
            ]
            standings[label] = Standings.of(names, found.values[:, column].tolist(), decided)
        for at, (one, other) in enumerate(pairs):
            better = names[other] if rising[at] else names[one]
            rows.append(
                {
                    "metric": label,
                    "a": names[one],
                    "b": names[other],
                    "value_a": found.values[one, column],
                    "value_b": found.values[other, column],
                    "difference": found.difference[at, column],
                    "low": found.low[at, column],
                    "high": found.high[at, column],
                    "p_value": found.p_value[at, column],
                    "conclusion": _conclusion(found, at, column) or better,
                    "users_needed": found.users_needed[at, column],
                    "users": users,
                }
            )
    table = Comparison(rows).with_standings(standings)
    return table if len(names) > 2 else table.drop(columns=["a", "b"])


def _conclusion(found: Differences, pair: int, metric: int) -> str:
    """Return undecided or no verdict, or nothing if the pair is decided."""
    if not found.undecided[pair, metric]:
        return ""
    is_defined = not np.isnan(found.difference[pair, metric])
    if is_defined and np.isnan(found.low[pair, metric]):
        return NO_VERDICT
    excludes_zero = found.low[pair, metric] > EQUAL or found.high[pair, metric] < -EQUAL
    return NO_VERDICT if found.apart[pair, metric] and excludes_zero else "undecided"


def _linear_side(values: Floats, which: Ints, largest: Floats) -> _Side:
    """Return a side from the (metrics, outcomes) values of metrics and the (rows,) outcomes."""
    possible = np.stack((np.zeros_like(largest), largest), axis=1)
    return LinearEstimate(values, (possible,)), which, np.arange(values.shape[1])


def _sampled_side(ranks: SampledRanks, metrics: Sequence[Metric], estimator: Estimator) -> _Side:
    outcomes, which = Outcomes.observed(ranks)
    return estimator.fit(outcomes, metrics), which, outcomes.x


def _conclusions(table: Comparison, found: Differences, read: _Read, names: Sequence[str], level: float) -> list[str]:
    """Return the conclusion for each metric as a sentence, and how the pairs are adjusted for one another."""
    if len(names) == 2:
        rows = [row for row in table.to_dict("records") if not np.isnan(row["difference"])]
        return [f"{read.metric_name(row['metric'])}: {_of_pair(row, names, level)}" for row in rows]
    remarks: list[str] = [f"{read.metric_name(label)}: {each.sentence}" for label, each in table.by_metric.items()]
    pairs, by = len(pairs_of(len(names))), found.family
    if by == BONFERRONI:
        by += f", each at {100 * (1 - float(found.rates[0])):.4g} %"
    p_values = "" if found.strict else " The p-values are adjusted for these pairs by the method of Holm."
    return [
        *remarks,
        *_without_users(table, found),
        f"The intervals of a metric hold together at {100 * level:g} % for its {pairs} pairs ({by}).{p_values} "
        "Metrics are not adjusted for one another.",
    ]


def _without_users(table: Comparison, found: Differences) -> list[str]:
    """Return a sentence on the pairs that no number of users would decide: those that are decided have a dash too."""
    never = table[(table["conclusion"] == "undecided") & table["users_needed"].isna() & table["low"].notna()]
    if not found.strict or table["users_needed"].isna().all() or never.empty:
        return []
    rows = [f"{row['a']} and {row['b']} by {metric_name(row['metric'])}" for row in never.to_dict("records")]
    return [f"No number of users would decide {listed(rows)}; more negatives for each user would."]


def _of_pair(row: Mapping[str, Any], names: Sequence[str], level: float) -> str:
    """Return the conclusion for a metric of two recommenders."""
    first, second = names
    if np.isnan(row["low"]):
        return "no verdict."
    conclusion, rest = "undecided", f" that includes 0 (p = {row['p_value']:.2g})"
    if row["conclusion"] == NO_VERDICT:
        conclusion, rest = NO_VERDICT, ", which excludes the difference itself"
    elif row["conclusion"] != "undecided":
        worse = first if row["conclusion"] == second else second
        conclusion, rest = f"{row['conclusion']} is better than {worse}", ""
    elif np.isnan(row["p_value"]):
        conclusion, rest = f"undecided; {_what_decides(row)}", ""
    return (
        f"{conclusion}. The difference ({second} - {first}) is "
        f"{row['difference']:+.4f}, with a {100 * level:g} % interval of {row['low']:+.4f} to {row['high']:+.4f}{rest}."
    )


def _what_decides(row: Mapping[str, Any]) -> str:
    if not np.isnan(row["users_needed"]):
        return f"about {row['users_needed']:.0f} users would decide if the difference is as found"
    return "more users would hardly help, but more negatives for each user would"


def _on_seeds(given: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a sentence on the seeds, if a recommender has several."""
    several = [f"{name} ({len(seeds)} seeds)" for name, seeds in given.items() if len(seeds) > 1]
    if not several:
        return []
    single = [name for name, seeds in given.items() if len(seeds) == 1]
    rest = f"; that of {listed(single)}, of one seed, is taken to be 0" if single else ""
    return [f"The intervals include the spread between the seeds of {listed(several)}{rest}."]


def _supports(
    found: Differences, recommenders: Sequence[Recommender], by_outcome: Users, outcomes: Sequence[Outcomes], seed: int
) -> dict[str, Support]:
    """Return what the sample of each recommender supports; without strict bounds, whether any ranks explain it."""
    supports: dict[str, Support] = {}
    for pair, strict in zip(pairs_of(len(recommenders)), found.strict, strict=False):
        supports |= {recommenders[at].name: support for at, support in zip(pair, strict.supports, strict=True)}
    if outcomes and not found.strict:
        for recommender in recommenders:
            p_values: dict[str, float] = {}
            for side in recommender.sides:
                p_values |= unexplained(outcomes[side], by_outcome.of(side), seed)
            supports[recommender.name] = Support(SHAPES[0], 1.0, p_values)
    return supports


def _assumed(found: Differences, names: Sequence[str], supports: Mapping[str, Support]) -> list[str]:
    """Return sentences on what intervals of the truth assume, with the p-values of the assumptions."""
    remarks: list[str] = []
    shapes = {strict.shape for strict in found.strict}
    for (one, other), strict in zip(pairs_of(len(names)), found.strict, strict=False):
        if not all(support.is_explained for support in strict.supports):
            continue
        given = f"if {ASSUMPTIONS[strict.shape]}" if ASSUMPTIONS[strict.shape] else _NOTHING
        about = f" of {names[one]} and {names[other]}" if len(shapes) > 1 else ""
        remarks.append(f"The intervals{about} are of the true difference, {given}.")
    if shapes - {SHAPES[0]}:
        remarks += tested(supports)
    return remarks


def _cautions(supports: Mapping[str, Support], read: _Read) -> list[str]:
    """Return what the samples contradict, and what uncorrected metrics do not show."""
    cautions = [f"{name}: {said}" for name, support in supports.items() for said in contradictions(support)]
    if read.is_uncorrected:
        cautions.append(
            "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by "
            "the true metric."
        )
    return cautions


def _biased(label: str) -> list[str]:
    """Return a sentence on what an interval of the mean of an estimator ignores."""
    return [
        f"The comparison is between the means of {estimator_name(label)}, and assumes that its bias is equal for both. "
        "If its bias differs between them, so does the true difference. The estimator decreasing does not assume that."
    ]
