"""Compare recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats, Ints, enumerated, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimate, Estimator, estimator_name, estimators_by_label
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.estimators.shapes import ASSUMPTIONS, SHAPES
from sampled_metrics.estimators.strict_bounds import has_bounds
from sampled_metrics.evaluation.by_group import compared_by_group
from sampled_metrics.evaluation.comparison import Comparison, Standings
from sampled_metrics.evaluation.evaluate import about_users, checked_metrics, equal_metrics, undefined
from sampled_metrics.evaluation.magnitude import (
    EQUIVALENT,
    against_margin_in_words,
    on_margin,
    on_users,
    relative_in_words,
    with_magnitudes,
)
from sampled_metrics.inference.differences import BONFERRONI, ComparedRecommender, Differences, differences
from sampled_metrics.inference.families import holm, pairs_of
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.margins import Margin
from sampled_metrics.inference.strict_intervals import Support, contradictions, tested, unexplained
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric, metric_name
from sampled_metrics.ranks.given import cautions_of, require_same_design, seeds_by_name
from sampled_metrics.ranks.groups import Groups, tables_by_group
from sampled_metrics.ranks.table import Table
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.sampling.outcomes import Outcomes

NO_VERDICT = "no verdict"
"""The conclusion where the sample contradicts every distribution of ranks, or an interval its own estimate."""

_NOTHING = "without an assumption on the ranks"


@on_one_thread
def compare(
    ranks: Mapping[str, Any],
    *,
    metrics: MetricsLike | None = None,
    estimator: str | Estimator | None = None,
    margin: float | str | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
    method: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare two recommenders or more on the same users, by exact or sampled ranks, or by ranked lists.

    The difference of a metric is the mean over users of f(r_b) - f(r_a), where r_a and r_b are the ranks of the first
    and the second recommender. Users are paired by the column user if both have one, else by position; a remark says
    which.

    Of more than two recommenders, all pairs are compared. The intervals of a metric hold together for all of its pairs,
    by the max-t bootstrap or, for strict bounds and several seeds, Bonferroni's inequality. The p-values are adjusted
    for the pairs by the method of Holm. Each metric is a family of its own; metrics are not adjusted for one another.

    Args:
        ranks: a mapping from the names of two recommenders or more to their tables, all of one kind: `ExactRanks`,
            `SampledRanks`, `StagedRanks` or `RankedLists`, as the readers, `rank` and `staged_ranks` return them.
            `ExactRanks` and `StagedRanks` may be compared with each other. A list of several tables holds the seeds of
            a recommender, and their means are compared. The spread between the seeds counts as a part of the
            uncertainty. This is not possible with strict bounds.
        metrics: labels such as recall@10, ndcg@10, ap, auc; the default is that of `evaluate`.
        estimator: label of the estimator that corrects sampled ranks, or an estimator of your own. The default is
            decreasing: the interval holds the true difference if better ranks are more frequent than worse ones in the
            better half of the ranks. The estimator free assumes less, and convex more. All others compare the means of
            the estimator, and assume that its bias is equal for both recommenders; bv-0.1 has a low variance.
        margin: the smallest difference that matters, as a number, or relative to the worse value, such as "2%". Then a
            column says by how much a recommender is better. Choose it before you look.
        groups: True for rows by the groups that the reader kept (its argument groups), or a mapping from users to
            groups, as in `evaluate`. The verdicts by group are adjusted for the groups: the intervals of a metric hold
            together for all groups and pairs, and Holm's method is over all of them. Those of all rows are as without
            groups.
        confidence_level: probability that the interval covers the difference, or those of all pairs: 1 - the
            false-alarm rate of a metric.
        method: delta (likelihood ratio) or bootstrap (BCa; resamples users with both of their ranks).
            The default is delta, or bootstrap for estimators that are not linear in the sample.
        n_resamples: bootstrap samples, from 100 to 1,000,000.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, or the pairs, for a progress bar.

    Returns:
        A row for each metric and pair, with the columns metric, a and b (names; only for more than two recommenders),
        value_a, value_b, difference (b - a), low, high, p_value (two-sided), conclusion (a name, undecided, or no
        verdict), users_needed (how many users would decide it; missing if it is decided, if no number would, or if it
        is not known), users. With a margin, the conclusion may be equivalent, which means that the interval is within ±
        the margin, and there are more columns: relative (the difference as a part of the worse value), higher_a and
        higher_b (shares of users for whom each ranks the held-out item higher, or whose list has the higher metric;
        missing for staged ranks), and size (more than the margin, less than the margin, or nothing if the interval does
        not say). With groups, there is a first column group, which is "all" for all rows. The remarks state the
        conclusions in sentences. The method standings() gives the recommenders by metric, with letters for the groups
        that cannot be told apart, and latex() a LaTeX table of them.

        The p-value is the interval inverted: the smallest α for which the interval at the level 1 - α excludes 0. So a
        p-value of a single pair is below 0.05 if the 95 % interval excludes 0. It is not the probability that a
        recommender is better. With more than two recommenders it may disagree with the interval near the limit, because
        the two are adjusted by different methods; the conclusion is that of the interval. By the bootstrap it is never
        below 1 / (n_resamples + 1), times the number of pairs. It is missing for strict bounds.

    Raises:
        DataError: the ranks have not been read by a reader, or are of several kinds; their users or a user's candidates
            differ; or the estimator is not valid for them.
        ConfigError: a metric, an estimator or an option does not exist, or a metric is repeated.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {
        ...     "old": [5, 80, 3, 200, 9, 30, 14, 7] * 5,
        ...     "new": [2, 40, 1, 90, 4, 10, 6, 3] * 5,
        ...     "newer": [3, 38, 1, 95, 4, 11, 6, 3] * 5,
        ... }
        >>> tables = sm.exact_ranks(ranks, candidates=1000, exact=True)
        >>> result = sm.compare({"old": tables["old"], "new": tables["new"]}, metrics="ap")
        >>> print(result.remarks[0])
        AP: new is better than old. The difference (new - old) is +0.1846, with a 95 % interval of +0.0858 to +0.2642.

        >>> print(sm.compare(tables, metrics="auc").remarks[0])
        AUC: new, newer and old cannot be told apart.

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        B. Efron, Better Bootstrap Confidence Intervals, Journal of the American Statistical Association 82, 1987.
        P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley 1993.
        S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    """
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    least = None if margin is None else Margin.from_given(margin)
    seeds = seeds_by_name(ranks, "compare")
    if len(seeds) < 2:
        raise DataError(f"compare takes two recommenders or more, not {shown(list(seeds))}")
    tables = _by_seed(seeds)
    require_same_design(tables)
    first, *further = tables.values()
    by_label = checked_metrics(first, metrics)
    for table in further:
        table.check_metrics(by_label)
    if least is not None:
        least.require_possible(by_label)
    question = _Question(by_label, *_one_estimator(estimator, first), least)
    parts, left_out = tables_by_group(tables, groups)
    whole = _answer(seeds, question, options, progress)
    result = _comparison(whole.adjusted(holm(whole.compared.p_value)), question, options)
    if not parts:
        return result
    narrower = replace(options, confidence_level=1 - (1 - confidence_level) / len(parts))
    answers = {group: _answer(_seeds_of(seeds, part), question, narrower, progress) for group, part in parts.items()}
    p_values = np.split(holm(np.concatenate([answer.compared.p_value for answer in answers.values()])), len(parts))
    by_group = {
        group: _comparison(answer.adjusted(of_group), question, narrower)
        for (group, answer), of_group in zip(answers.items(), p_values, strict=True)
    }
    together = (
        f"their intervals hold together at {100 * confidence_level:g} % (Bonferroni, each group at "
        f"{100 * narrower.confidence_level:.4g} %)"
    )
    p_values_too = "" if whole.compared.strict else ", and the p-values are adjusted by the method of Holm"
    named = partial(_compared_name, is_uncorrected=question.is_uncorrected)
    return compared_by_group(result, by_group, named, f"{together}{p_values_too}.").with_remarks(left_out)


class _Question(NamedTuple):
    """What is asked of the tables.

    Attributes:
        metrics: by label.
        label: of the estimator; empty for exact ranks and lists.
        estimator: of sampled ranks.
        margin: the smallest difference that matters.
    """

    metrics: Mapping[str, Metric]
    label: str
    estimator: Estimator | None
    margin: Margin | None

    @property
    def is_uncorrected(self) -> bool:
        """Return whether the metrics of sampled ranks are compared as they are."""
        return self.estimator is not None and self.estimator.is_uncorrected


class _Answer(NamedTuple):
    """What is computed from the tables.

    Attributes:
        seeds: the tables of the seeds of each recommender.
        compared: differences; the p-values are not adjusted.
        recommenders: with their estimates.
        by_outcome: their users.
        supports: what the sample of each recommender supports, by name.
        paired: sentences on how users were paired.
    """

    seeds: Mapping[str, Sequence[Table]]
    compared: Differences
    recommenders: Sequence[ComparedRecommender]
    by_outcome: Users
    supports: Mapping[str, Support]
    paired: Sequence[str]

    def adjusted(self, p_values: Floats) -> _Answer:
        """Return the same with other p-values."""
        return self._replace(compared=replace(self.compared, p_value=p_values))


def _seeds_of(seeds: Mapping[str, Sequence[Table]], tables: Mapping[str, Table]) -> dict[str, list[Table]]:
    """Return tables, by the names and the numbers of seeds, as seeds of the recommenders."""
    parts = iter(tables.values())
    return {name: [next(parts) for _ in of_one] for name, of_one in seeds.items()}


def _answer(
    seeds: Mapping[str, Sequence[Table]], question: _Question, options: IntervalOptions, progress: Progress
) -> _Answer:
    """Compute the differences of all pairs of recommenders."""
    tables, wanted = _by_seed(seeds), list(question.metrics.values())
    first, *further = tables.values()
    fitted = [_fitted(table, wanted, question.estimator) for table in tables.values()]
    numbers, paired = first.pair(further, list(tables))
    by_outcome = users_by_outcome(
        *((side.outcome, user, side.seen.shape[1]) for side, user in zip(fitted, numbers, strict=True))
    )
    recommenders = _recommenders(seeds, fitted, by_outcome)
    largest = np.array([one.largest for one in wanted])
    compared = differences(recommenders, by_outcome, options, largest, progress, question.margin)
    supports = _supports(compared, recommenders, by_outcome, fitted, options.seed)
    unsure = [
        number
        for number, (name, of_one) in enumerate(seeds.items())
        if any(table.without_interval() for table in of_one) or not supports.get(name, _EXPLAINED).is_explained
    ]
    return _Answer(seeds, compared.without_verdicts(unsure), recommenders, by_outcome, supports, paired)


def _comparison(answer: _Answer, question: _Question, options: IntervalOptions) -> Comparison:
    """Return the rows and the sentences of an answer."""
    seeds, compared, recommenders, by_outcome, supports, paired = answer
    names, tables, margin = list(seeds), _by_seed(seeds), question.margin
    first, level = next(iter(tables.values())), options.confidence_level
    table = _table(compared, names, list(question.metrics), int(by_outcome.counts.sum()))
    if margin is not None:
        table = with_magnitudes(table, compared, margin, recommenders, by_outcome.counts)
    notes = _assumed(compared, names, supports)
    if first.is_sampled and not compared.strict and not question.is_uncorrected:
        notes += _biased(question.label)
    table.attrs = {"confidence_level": level, "names": names, "assumption": next(iter(notes), "")}
    table.attrs |= {"parameters": first.description, "about": about_users(by_outcome)}
    if margin is not None and not margin.is_relative:
        table.attrs["margin"] = margin.size
    cautions = [*cautions_of(tables), *_without_intervals(tables), *_cautions(supports, question.is_uncorrected)]
    table = table.with_cautions(cautions)
    remarks = [*_conclusions(table, compared, question.is_uncorrected, level, margin), *_on_seeds(seeds), *notes]
    if margin is not None and first.has_one_relevant_item:
        remarks += on_users(table, names, first.is_sampled)
    about = [*paired, *equal_metrics(first, question.metrics), *(note for one in tables.values() for note in one.notes)]
    return table.with_remarks([*remarks, *undefined(table, "difference"), *table.attrs["about"], *about])


_EXPLAINED = Support(SHAPES[0], 1.0, {})
"""What a sample supports of which nothing is known."""


class _Fitted(NamedTuple):
    """What is estimated from the table of a seed.

    Attributes:
        estimate: the metrics as a function of the numbers of rows by outcome.
        outcome: (rows,) outcomes.
        seen: (1 or metrics, outcomes) numbers that tell outcomes apart, as in `ComparedRecommender`.
        outcomes: of sampled ranks.
    """

    estimate: Estimate
    outcome: Ints
    seen: Floats
    outcomes: Outcomes | None = None


def _without_intervals(tables: Mapping[str, Table]) -> list[str]:
    """Return why tables have no intervals, with the names of the recommenders."""
    reasons = {name: table.without_interval() for name, table in tables.items()}
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason]


def _by_seed(seeds: Mapping[str, Sequence[Table]]) -> dict[str, Table]:
    """Return the table of each seed, by the name of the recommender, with the number of the seed."""
    return {
        name if len(tables) == 1 else f"{name}, seed {number}": table
        for name, tables in seeds.items()
        for number, table in enumerate(tables, 1)
    }


def _one_estimator(given: str | Estimator | None, table: Table) -> tuple[str, Estimator | None]:
    """Return the label and the estimator of sampled ranks, or an empty label and none for other tables."""
    if not table.is_sampled:
        if given is not None:
            raise DataError(
                f"an estimator corrects sampled ranks, and these are read as {table.kind}: say how many negatives were "
                "sampled, too"
            )
        return "", None
    chosen = estimators_by_label("decreasing" if given is None else given, "estimator")
    if len(chosen) > 1:
        raise ConfigError(f"estimator: give one, not {', '.join(chosen)}")
    [(label, corrects)] = chosen.items()
    return label, corrects


def _fitted(table: Any, metrics: Sequence[Metric], estimator: Estimator | None) -> _Fitted:
    """Return what is estimated from a table: for exact ranks and lists, the mean of the values."""
    if estimator is not None:
        outcomes, outcome = Outcomes.observed(table)
        return _Fitted(estimator.fit(outcomes, metrics), outcome, outcomes.x[np.newaxis].astype(np.float64), outcomes)
    values, outcome, least, most, _ = table.outcome_values(metrics)
    possible = np.stack((least, most), axis=1)
    places = table.places
    if places is None:
        seen = -values if table.has_exact_values else np.full_like(values, np.nan)
    else:
        seen = np.zeros((1, values.shape[1]))
        seen[0, outcome] = places
    return _Fitted(LinearEstimate(values, (possible,)), outcome, seen)


def _recommenders(
    seeds: Mapping[str, Sequence[Table]], fitted: Sequence[_Fitted], by_outcome: Users
) -> list[ComparedRecommender]:
    """Return the recommenders, each with the estimates of its seeds.

    Raises:
        DataError: a recommender has several seeds, and the estimator is a strict bound.
    """
    if len(fitted) > len(seeds) and has_bounds(fitted[0].estimate):
        raise DataError(
            "strict bounds do not count the spread between seeds; several seeds need exact ranks, or an estimator such "
            "as bv-0.1"
        )
    recommenders, first = list[ComparedRecommender](), 0
    for name, tables in seeds.items():
        places = tuple(range(first, first := first + len(tables)))
        seen = np.mean([by_outcome.weights(fitted[place].seen, place) for place in places], axis=0)
        recommenders.append(ComparedRecommender(name, tuple(fitted[place].estimate for place in places), places, seen))
    return recommenders


def _compared_name(label: str, is_uncorrected: bool) -> str:
    """Return the name of what is compared: a sampled metric, or the metric itself, as for AUC."""
    is_sampled = is_uncorrected and metric(label).label != "auc"
    return f"{'Sampled ' if is_sampled else ''}{metric_name(label)}"


def _table(compared: Differences, names: Sequence[str], labels: Sequence[str], users: int) -> Comparison:
    """Return the rows, by metric and pair, and the standings by metric."""
    pairs, standings = pairs_of(len(names)), dict[str, Standings]()
    rows = []
    for column, label in enumerate(labels):
        undecided = compared.undecided[:, column]
        rising = compared.low[:, column] > EQUAL
        if not np.isnan(compared.difference[:, column]).any():
            decided = [
                (other, one) if rises else (one, other)
                for (one, other), rises, open_ in zip(pairs, rising, undecided, strict=True)
                if not open_
            ]
            standings[label] = Standings.from_values(names, compared.values[:, column].tolist(), decided)
        for number, (one, other) in enumerate(pairs):
            better = names[other] if rising[number] else names[one]
            rows.append(
                {
                    "metric": label,
                    "a": names[one],
                    "b": names[other],
                    "value_a": compared.values[one, column],
                    "value_b": compared.values[other, column],
                    "difference": compared.difference[number, column],
                    "low": compared.low[number, column],
                    "high": compared.high[number, column],
                    "p_value": compared.p_value[number, column],
                    "conclusion": _conclusion(compared, number, column) or better,
                    "users_needed": compared.users_needed[number, column],
                    "users": users,
                }
            )
    table = Comparison(rows).with_standings(standings)
    return table if len(names) > 2 else table.drop(columns=["a", "b"])


def _conclusion(compared: Differences, pair: int, metric: int) -> str:
    """Return undecided or no verdict, or nothing if the pair is decided."""
    if not compared.undecided[pair, metric]:
        return ""
    is_defined = not np.isnan(compared.difference[pair, metric])
    if is_defined and np.isnan(compared.low[pair, metric]):
        return NO_VERDICT
    excludes_zero = compared.low[pair, metric] > EQUAL or compared.high[pair, metric] < -EQUAL
    return NO_VERDICT if compared.apart[pair, metric] and excludes_zero else "undecided"


def _conclusions(
    table: Comparison, compared: Differences, is_uncorrected: bool, level: float, margin: Margin | None
) -> list[str]:
    """Return the conclusion for each metric as a sentence, and how the pairs are adjusted for one another."""
    names = table.attrs["names"]
    if len(names) == 2:
        rows = [row for row in table.to_dict("records") if not np.isnan(row["difference"])]
        sentences = [
            f"{_compared_name(row['metric'], is_uncorrected)}: {_of_pair(row, names, level, margin)}" for row in rows
        ]
        return [*sentences, *(on_margin(table, margin, level) if margin else [])]
    remarks: list[str] = [
        f"{_compared_name(label, is_uncorrected)}: {standings.sentence}" for label, standings in table.by_metric.items()
    ]
    pairs, by = len(pairs_of(len(names))), compared.family
    if by == BONFERRONI:
        by += f", each at {100 * (1 - float(compared.rates[0])):.4g} %"
    p_values = "" if compared.strict else " The p-values are adjusted for these pairs by the method of Holm."
    return [
        *remarks,
        *(on_margin(table, margin, level) if margin else []),
        *_without_users(table, compared),
        f"The intervals of a metric hold together at {100 * level:g} % for its {pairs} pairs ({by}).{p_values} "
        "Metrics are not adjusted for one another.",
    ]


def _without_users(table: Comparison, compared: Differences) -> list[str]:
    """Return a sentence on the pairs that no number of users would decide; the table has a dash for them.

    Decided pairs have a dash, too.
    """
    never = table[(table["conclusion"] == "undecided") & table["users_needed"].isna() & table["low"].notna()]
    if not compared.strict or table["users_needed"].isna().all() or never.empty:
        return []
    rows = [f"{row['a']} and {row['b']} by {metric_name(row['metric'])}" for row in never.to_dict("records")]
    return [f"No number of users would decide {enumerated(rows)}; more negatives for each user would."]


def _of_pair(row: Mapping[str, Any], names: Sequence[str], level: float, margin: Margin | None) -> str:
    """Return the conclusion for a metric of two recommenders."""
    first, second = names
    if np.isnan(row["low"]):
        return "no verdict."
    conclusion, rest = "undecided", f" that includes 0 (p = {row['p_value']:.2g})"
    if row["conclusion"] == NO_VERDICT:
        conclusion, rest = NO_VERDICT, ", which excludes the difference itself"
    elif row["conclusion"] == EQUIVALENT:
        conclusion, rest = f"{first} and {second} are equivalent", ""
    elif row["conclusion"] != "undecided":
        worse = first if row["conclusion"] == second else second
        conclusion, rest = f"{row['conclusion']} is better than {worse}", ""
        if margin is not None:
            conclusion += against_margin_in_words(row["size"], margin)
    elif np.isnan(row["p_value"]):
        conclusion, rest = f"undecided; {_what_decides(row)}", ""
    return (
        f"{conclusion}. The difference ({second} - {first}) is "
        f"{row['difference']:+.4f}{'' if margin is None else relative_in_words(row['relative'])}, with a "
        f"{100 * level:g} % interval of {row['low']:+.4f} to {row['high']:+.4f}{rest}."
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
    rest = f"; that of {enumerated(single)}, of one seed, is taken to be 0" if single else ""
    return [f"The intervals include the spread between the seeds of {enumerated(several)}{rest}."]


def _supports(
    compared: Differences,
    recommenders: Sequence[ComparedRecommender],
    by_outcome: Users,
    fitted: Sequence[_Fitted],
    seed: int,
) -> dict[str, Support]:
    """Return what the sample of each recommender supports; without strict bounds, whether any ranks explain it."""
    supports: dict[str, Support] = {}
    for pair, strict in zip(pairs_of(len(recommenders)), compared.strict, strict=False):
        supports |= {recommenders[number].name: support for number, support in zip(pair, strict.supports, strict=True)}
    if fitted[0].outcomes is not None and not compared.strict:
        for recommender in recommenders:
            p_values: dict[str, float] = {}
            for side in recommender.sides:
                if (outcomes := fitted[side].outcomes) is not None:
                    p_values |= unexplained(outcomes, by_outcome.of(side), seed)
            supports[recommender.name] = Support(SHAPES[0], 1.0, p_values)
    return supports


def _assumed(compared: Differences, names: Sequence[str], supports: Mapping[str, Support]) -> list[str]:
    """Return sentences on what intervals of the truth assume, with the p-values of the assumptions."""
    remarks: list[str] = []
    shapes = {strict.shape for strict in compared.strict}
    for (one, other), strict in zip(pairs_of(len(names)), compared.strict, strict=False):
        if not all(support.is_explained for support in strict.supports):
            continue
        given = f"if {ASSUMPTIONS[strict.shape]}" if ASSUMPTIONS[strict.shape] else _NOTHING
        about = f" of {names[one]} and {names[other]}" if len(shapes) > 1 else ""
        remarks.append(f"The intervals{about} are of the true difference, {given}.")
    if shapes - {SHAPES[0]}:
        remarks += tested(supports)
    return remarks


def _cautions(supports: Mapping[str, Support], is_uncorrected: bool) -> list[str]:
    """Return what the samples contradict, and what uncorrected metrics do not show."""
    cautions = [f"{name}: {text}" for name, support in supports.items() for text in contradictions(support)]
    if is_uncorrected:
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
