"""Compare recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import (
    Floats,
    enumerated,
    require_confidence_level,
    require_whole,
    shown,
)
from sampled_metrics.core.estimators import (
    BOUNDS,
    Estimator,
    estimator_name,
    estimators_by_label,
)
from sampled_metrics.core.estimators.shapes import DECREASING, FREE
from sampled_metrics.core.evaluation.comparison import Comparison, ValuesOfUsers
from sampled_metrics.core.evaluation.evaluate import (
    about_several_metrics,
    checked_metrics,
    from_readers,
    undefined_metrics,
)
from sampled_metrics.core.evaluation.kinds import cautions_of
from sampled_metrics.core.evaluation.phrases import condition
from sampled_metrics.core.evaluation.questions import NEW_RUNS, THESE_RUNS, about_seeds, answerable
from sampled_metrics.core.evaluation.standings import Standings, best_of
from sampled_metrics.core.evaluation.values import (
    NO_BIAS,
    UserValues,
    ranks_of_runs,
    values_of_runs,
)
from sampled_metrics.core.evaluation.verdict import (
    Conclusion,
    Lead,
    Verdict,
    adjusted,
    conclusion_of,
)
from sampled_metrics.core.evaluation.words.order import by_margin, of_runs, standing
from sampled_metrics.core.findings import Finding, about, grouped
from sampled_metrics.core.inference.families import Margin, max_t_rate
from sampled_metrics.core.inference.seeds import pooled
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, MetricsLike
from sampled_metrics.core.ranks.groups import Groups, runs_by_group
from sampled_metrics.core.ranks.runs import (
    Runs,
    ids_of_users,
    paired,
    read_runs,
    require_comparable,
)
from sampled_metrics.core.ranks.sampled import POPULARITY
from sampled_metrics.core.ranks.table import Table, span
from sampled_metrics.core.sampling.draws import EQUAL
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.running import late_progress, on_one_thread

LARGEST_T = "the largest of several t"
BONFERRONI = "Bonferroni"
"""How the intervals of all pairs hold together."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of `compare`, whose parameters they are."""

    metrics: MetricsLike | None = None
    estimator: str | Estimator | None = None
    margin: float | str | None = None
    groups: Groups = False
    confidence_level: float = 0.95
    best: int | None = None

    def __post_init__(self) -> None:
        """Raise ConfigError if an option is out of its range."""
        require_confidence_level(self.confidence_level)
        if self.best is not None:
            require_whole(2, None, best=self.best)
        if self.margin is not None:
            Margin.from_given(self.margin)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> CompareOptions:
        """Return the options that are keys of a config; its other keys are left out."""
        names = [option.name for option in fields(cls)]
        return cls(**{name: config[name] for name in names if name in config})

    @property
    def smallest_difference(self) -> Margin | None:
        """The margin; None without one."""
        return None if self.margin is None else Margin.from_given(self.margin)

    @property
    def on_pairs(self) -> list[str]:
        """The names of the options that were given, and that are for pairs of recommenders."""
        return [
            option.name
            for option in fields(self)
            if option.name not in _OF_EVALUATE and getattr(self, option.name) != option.default
        ]

    def require_possible(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if the margin is too large for one of the metrics, by label."""
        if self.smallest_difference is not None:
            self.smallest_difference.require_possible(metrics)


_OF_EVALUATE = ("metrics", "groups", "confidence_level", "best")
"""Options that have a meaning for a single recommender, too."""


@on_one_thread
def compare(
    ranks: Mapping[str, Any],
    *,
    metrics: MetricsLike | None = None,
    estimator: str | Estimator | None = None,
    margin: float | str | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
    best: int | None = None,
) -> Comparison:
    """Compare two recommenders or more on the same users.

    The ranks are exact, staged or sampled ones, or ranked lists.

    The difference of a metric is the mean over users of f(r_b) - f(r_a), where r_a and r_b are the
    ranks of the first and the second recommender. Users are paired by the column user if both have
    one, else by position, which a remark says.

    Of more than two recommenders, all pairs are compared. The intervals of a metric hold together
    for all of its pairs, by the largest of several t or, for strict bounds and several seeds,
    Bonferroni's inequality. The p-values are adjusted for the pairs by the method of Holm. Each
    metric is a family of its own; metrics are not adjusted for one another. A remark says so if
    there are several: decide by the first one.

    A list of several tables in place of one holds the seeds of a recommender. Two questions have an
    answer each, in rows of their own. *New runs*: would recommenders that are trained anew differ
    in the mean? Users and seeds are both chance. *These runs*: do the recommenders that were
    trained differ in the mean over their seeds? Users are the only chance. The first question needs
    several seeds of every recommender, and ranks whose metric of a user is known or estimated;
    strict bounds answer the second one alone. Of three recommenders or more, each pair uses the
    seeds of all to estimate how much seeds vary. Give the table of a recommender without a random
    start as often as another recommender has seeds.

    Args:
        ranks: a mapping from the names of two recommenders or more to their tables, all of one
            kind: `ExactRanks`, `SampledRanks`, `StagedRanks` or `RankedLists`, as the readers,
            `rank` and `staged_ranks` return them. `ExactRanks` and `StagedRanks` may be compared
            with each other. A list of several tables holds the seeds of a recommender. Of sampled
            ranks that are drawn "once", a list holds independent draws of the negatives, as many
            for each recommender and in the same order, so that they are compared draw by draw. One
            draw alone gives no verdict.
        metrics: labels such as recall@10, ndcg@10, ap, auc; by default as in `evaluate`.
        estimator: label of the estimator that corrects sampled ranks, or an estimator of your own.
            The default is decreasing: the interval holds the true difference if a better rank is at
            least as common as a worse one, up to rank n/2. The estimator free assumes nothing of
            the ranks. All others compare the means of the estimator, and assume that its bias is
            equal for both recommenders, so a user needs as many negatives for each; bv-0.1 has a
            low variance.
        margin: the smallest difference that matters, as a number, or relative to the worse value,
            such as "2%". Then a column says by how much a recommender is better. Choose it before
            you look.
        groups: True for rows by the groups that the reader kept (its argument groups), or a mapping
            from users to groups, as in `evaluate`. The verdicts by group are adjusted for the
            groups: the intervals of a metric hold together for all groups and pairs, and Holm's
            method is over all of them. Verdicts of all rows are the same as without groups.
        confidence_level: probability that the interval covers the difference, or that the intervals
            cover the differences of all pairs: 1 - the false-alarm rate of a metric.
        best: how many recommenders to compare, the best by the first metric. Their intervals are
            the same as with all pairs. There are no p-values, because Holm's method needs the
            p-values of all pairs. The default is all pairs.

    Returns:
        A row for each metric and pair, with the columns metric, a and b (names; only for more than
        two recommenders), value_a, value_b, difference (b - a), low, high, p_value (two-sided),
        conclusion (a name, undecided, or no verdict; a recommender with one of these names is in
        quotation marks), users. With a margin, the conclusion may be equivalent, which means that
        the interval is within ± the margin, and there are more columns: relative (the difference as
        a part of the worse value), higher_a and higher_b (shares of users for whom each ranks the
        held-out item higher, or whose list has the higher metric; missing for staged ranks), and
        size (more than the margin, less than the margin, or nothing if the interval does not say).
        With several seeds there is a column inference: new_runs or these_runs. With groups, there
        is a first column group, which is "all" for all rows. The attribute verdicts has the rows as
        `Verdict` objects, and the findings have them and all other conclusions as data, and the
        remarks as sentences. The method standings() gives the recommenders by metric, with letters
        for undecided groups, and to_latex() a LaTeX table of them. The attribute by_user has the
        values of the users.

        The p-value is the interval inverted: the smallest α for which the interval at the level 1 -
        α excludes 0. A p-value is not the probability that a recommender is better. With more than
        two recommenders it may disagree with the interval near the limit, because the two are
        adjusted by different methods; the conclusion then follows the interval.

    Raises:
        DataError: the ranks have not been read by a reader, or are of several kinds; their users or
            a user's candidates differ; or the estimator is not valid for them.
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
        >>> print(result.sentence())
        AP: new is better than old; the difference (new - old) is +0.1846, with a 95 % interval of
        +0.08579 to +0.2642.

        >>> print(sm.compare(tables, metrics="auc").sentence())
        AUC: new, newer and old cannot be distinguished.

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        T. Hothorn, F. Bretz and P. Westfall, Simultaneous Inference in General Parametric Models,
        Biometrical Journal 50, 2008. S. Holm, A Simple Sequentially Rejective Multiple Test
        Procedure, Scandinavian Journal of Statistics 6, 1979.
    """
    return compare_with(
        ranks,
        CompareOptions(
            metrics=metrics,
            estimator=estimator,
            margin=margin,
            groups=groups,
            confidence_level=confidence_level,
            best=best,
        ),
    )


def compare_with(ranks: Mapping[str, Any], options: CompareOptions) -> Comparison:
    """Compare recommenders as `compare` does, with its options as one object."""
    # --- read and check
    recommenders = read_runs(ranks, "compare", needs_names=True)
    for runs in recommenders:
        if runs.first_table.design.get("drawn") == POPULARITY:
            raise DataError(
                f"{runs.name}: ranks among negatives that are drawn by popularity order no "
                "recommenders; draw negatives uniformly, or rank all candidates"
            )
    if len(recommenders) < 2:
        raise DataError(
            "compare takes two recommenders or more, not "
            f"{shown([runs.name for runs in recommenders])}"
        )
    require_comparable(recommenders)
    first_table = recommenders[0].first_table
    measures = checked_metrics(first_table, options.metrics)
    for runs in recommenders:
        for table in runs.tables:
            table.check_metrics(measures)
    options.require_possible(measures)
    label, corrector = _single_estimator(options.estimator, first_table)
    setting = Setting(
        confidence_level=float(options.confidence_level),
        parameters=first_table.description,
        names=tuple(runs.name for runs in recommenders),
        margin=options.smallest_difference,
        estimator=label,
        is_uncorrected=corrector is not None and corrector.is_uncorrected,
    )
    recommenders_by_group, left_out = runs_by_group(recommenders, options.groups)

    # --- values
    all_users = _users_of_group("", recommenders, measures, corrector, setting)
    # the error rate is divided among the groups, by Bonferroni's inequality
    level_of_group = 1 - (1 - setting.confidence_level) / max(len(recommenders_by_group), 1)
    setting_of_group = replace(setting, confidence_level=level_of_group)
    samples = [all_users]
    for group, recommenders_of_group in recommenders_by_group.items():
        samples.append(
            _users_of_group(group, recommenders_of_group, measures, corrector, setting_of_group)
        )

    # --- families
    names = list(setting.names)
    if options.best is not None and options.best < len(names):
        by_first_metric = {
            name: float(values.point[0]) for name, values in all_users.values.items()
        }
        names = best_of(by_first_metric, options.best)
    questions, not_answered = answerable(all_users.values, recommenders)
    families = [_family(sample, question) for sample in samples for question in questions]

    # --- verdicts
    verdicts = list[Verdict]()
    for family in families:
        verdicts += verdicts_of(family, names, options)
    verdicts = adjusted(verdicts, has_all_pairs=len(names) == len(setting.names))
    overall = [verdict for verdict in verdicts if not verdict.group]
    by_group = [verdict for verdict in verdicts if verdict.group]

    # --- findings
    # the first verdict is of two recommenders if there are no more
    findings: list[Any] = [verdict for verdict in overall if verdict.is_defined]
    findings += _on_order(findings, len(names) < len(setting.names))
    if by_group:
        findings += orders_of_groups(overall, by_group, questions[0])
    findings += not_answered
    findings += about_several_metrics(verdict.metric for verdict in overall if verdict.has_interval)
    findings += _about_users(all_users, families, names, recommenders, corrector)
    if by_group:
        findings += [verdict for verdict in by_group if verdict.is_defined]
        for sample in samples[1:]:
            findings_of_group = _about_users(sample, families, names, recommenders, corrector)
            findings += about(cautions_of(findings_of_group), group=sample.group)
        adjustment = {"groups": len(recommenders_by_group), "level": level_of_group}
        findings.append(Finding("groups-adjusted", values=adjustment))
        findings += left_out
    result = Comparison.from_verdicts(verdicts, findings, setting)
    result.values_of_users = ValuesOfUsers(all_users.ids, list(measures), all_users.values)
    return result


# --- read and check ---


def _single_estimator(
    estimator: str | Estimator | None, table: Table
) -> tuple[str, Estimator | None]:
    """Return the label of the estimator of sampled ranks, and the estimator.

    Tables of other kinds have none: an empty label, and None.
    """
    if not table.is_sampled:
        if estimator is not None:
            raise DataError(
                f"an estimator corrects sampled ranks, and these are read as {table.kind}: say how "
                "many negatives were sampled, too"
            )
        return "", None
    chosen = estimators_by_label("decreasing" if estimator is None else estimator, "estimator")
    if len(chosen) > 1:
        raise ConfigError(f"estimator: give one, not {', '.join(chosen)}")
    [label_and_estimator] = chosen.items()
    return label_and_estimator


def _require_equal_negatives(
    recommenders: Sequence[Runs], metrics: Mapping[str, Metric], estimator: str
) -> None:
    """Raise DataError if a user has different numbers of negatives in two paired tables.

    The bias of an estimator depends on the number, except for metrics that are linear in the rank.
    Strict bounds have no bias.
    """
    if all(metric.linear_in_rank for metric in metrics.values()):
        return
    leading = recommenders[0]
    order = np.lexsort((leading.first_table.negatives, leading.users[0]))
    expected = leading.first_table.negatives[order]
    for runs in recommenders:
        for table, users in zip(runs.tables, runs.users, strict=True):
            if not np.array_equal(table.negatives[np.lexsort((table.negatives, users))], expected):
                raise DataError(
                    f"{leading.name} has {span(expected, 'd')} negatives and {runs.name} "
                    f"{span(table.negatives, 'd')}; sampled metrics with different numbers of "
                    f"negatives are not comparable with {estimator}: use {enumerated(BOUNDS, 'or')}"
                )


# --- values ---


@dataclass(frozen=True)
class Users:
    """All users, or those of a group, with their values.

    Attributes:
        group: the group; empty for all users.
        setting: with the probability that the intervals of all pairs hold together.
        metrics: the metrics by label.
        values: by recommender.
        ranks: by recommender, as `ranks_of_runs` returns them; empty without a margin.
        ids: (users,) the users, or their numbers from 1.
        findings: on how users were paired, and on what was read.
    """

    group: str
    setting: Setting
    metrics: Mapping[str, Metric]
    values: Mapping[str, UserValues]
    ranks: Mapping[str, Floats]
    ids: NDArray[Any]
    findings: Sequence[Finding]


@dataclass(frozen=True)
class Family:
    """The pairs of all recommenders, whose intervals of a metric hold together.

    Attributes:
        sample: the users.
        question: new runs or these runs; empty without several seeds.
        values: by recommender.
        rates: (metrics,) error rate of the interval of each pair.
        finding: how the intervals hold together.
    """

    sample: Users
    question: str
    values: Mapping[str, UserValues]
    rates: Floats
    finding: Finding


def _users_of_group(
    group: str,
    recommenders: Sequence[Runs],
    metrics: Mapping[str, Metric],
    estimator: Estimator | None,
    setting: Setting,
) -> Users:
    """Return the users of a group, who are paired, with their values by all recommenders."""
    numbered, on_pairing = paired(recommenders)
    if estimator is not None and estimator.assumed_shape is None:
        _require_equal_negatives(numbered, metrics, setting.estimator)
    rate = (1 - setting.confidence_level) / comb(len(numbered), 2)
    values = dict[str, UserValues]()
    ranks = dict[str, Floats]()
    for runs in late_progress(numbered):
        values[runs.name] = values_of_runs(runs, list(metrics.values()), estimator, rate)
        if setting.margin is not None:
            ranks[runs.name] = ranks_of_runs(runs, values[runs.name])
    # NaN, as a metric that is not defined is, if the value of any recommender is NaN
    points = np.sum([user_values.point for user_values in values.values()], axis=0)
    tables = [(runs.name, table) for runs in numbered for table in runs.tables]
    return Users(
        group=group,
        setting=setting,
        metrics=metrics,
        values=values,
        ranks=ranks,
        ids=ids_of_users(numbered),
        findings=[
            *undefined_metrics(metrics, points),
            *on_pairing,
            *from_readers(tables),
        ],
    )


# --- families ---


def _family(sample: Users, question: str) -> Family:
    """Return the family of all pairs, with the error rates at which their intervals hold together.

    The rates are by the largest of several t if each user has one value and only the users are
    random, else by Bonferroni's inequality.
    """
    values = dict(sample.values)
    if question == THESE_RUNS:
        for name, user_values in sample.values.items():
            values[name] = user_values.of_these_runs()
    alpha = 1 - sample.setting.confidence_level
    pairs = comb(len(values), 2)
    if question == NEW_RUNS and pairs > 1:
        own = [spread for user_values in values.values() for spread in user_values.spreads]
        for name, spread in zip(values, pooled(own), strict=True):
            values[name] = replace(values[name], spreads=(spread,))
    have_one_value = all(user_values.one_value for user_values in values.values())
    have_spreads = any(user_values.spreads for user_values in values.values())
    if pairs == 1:
        method = ""
    elif have_one_value and not have_spreads:
        method = LARGEST_T
    else:
        method = BONFERRONI

    rates = np.full(len(sample.metrics), alpha / pairs)
    if method == LARGEST_T:
        for index in range(len(sample.metrics)):
            by_recommender = np.stack([user_values.low[index] for user_values in values.values()])
            rates[index] = max_t_rate(by_recommender, alpha)

    facts: dict[str, Any] = {"pairs": pairs, "method": method}
    facts["rate"] = alpha / pairs if method == BONFERRONI else 0.0
    if question:
        facts["inference"] = question
    facts["metric_of"] = of_runs("a metric", question)
    return Family(sample, question, values, rates, Finding("family", values=facts))


# --- verdicts ---


def verdicts_of(family: Family, names: Sequence[str], options: CompareOptions) -> list[Verdict]:
    """Return the verdicts on all pairs of the named recommenders, by metric.

    Their p-values are not adjusted yet.
    """
    margin = options.smallest_difference
    by_pair = list[list[Verdict]]()
    for name_a, name_b in late_progress(list(combinations(names, 2))):
        a = family.values[name_a]
        b = family.values[name_b]
        gap = b.minus(a)
        ends = gap.interval(family.rates, test=True)
        clause = _clause({name_a: a, name_b: b}, family.sample.setting)
        verdicts = [
            Verdict(
                metric=label,
                a=name_a,
                b=name_b,
                value_a=float(a.point[index]),
                value_b=float(b.point[index]),
                difference=float(gap.point[index]),
                low=float(ends.low[index]),
                high=float(ends.high[index]),
                p_value=float(ends.p_value[index]),
                conclusion=conclusion_of(gap.point[index], ends.low[index], ends.high[index]),
                users=gap.users,
                is_bounded=not gap.one_value,
                assumes="" if np.isnan(ends.low[index]) else clause,
                group=family.sample.group,
                inference=family.question,
            )
            for index, label in enumerate(family.sample.metrics)
        ]
        by_pair.append(verdicts if margin is None else _with_margin(verdicts, family, margin))
    # the rows of a metric are together
    return [
        verdict
        for verdicts_on_metric in zip(*by_pair, strict=True)
        for verdict in verdicts_on_metric
    ]


def _with_margin(verdicts: Sequence[Verdict], family: Family, margin: Margin) -> list[Verdict]:
    """Return the verdicts on a pair, by metric, with what a margin says of them."""
    name_a = verdicts[0].a
    name_b = verdicts[0].b
    a = family.values[name_a]
    b = family.values[name_b]

    # (2, metrics) ends of the intervals of b - a - margin and of a - b - margin; if the margin is
    # relative, those of b - (1 + margin) a and of a - (1 + margin) b. Below 0, the lead of b over
    # a, or of a over b, is less than the margin.
    if margin.is_relative:
        interval_b = b.minus(a, 1 + margin.size).interval(family.rates)
        interval_a = a.minus(b, 1 + margin.size).interval(family.rates)
        excess_b = np.array([interval_b.low, interval_b.high])
        excess_a = np.array([interval_a.low, interval_a.high])
    else:
        ends = np.array([(verdict.low, verdict.high) for verdict in verdicts]).T
        excess_b = ends - margin.size
        excess_a = -ends[::-1] - margin.size  # the upper end of a - b is minus the lower of b - a
    are_within = (excess_b[1] < -EQUAL) & (excess_a[1] < -EQUAL)

    # ranks are the same for all metrics
    higher_a, higher_b = (
        np.broadcast_to(shares, len(verdicts))
        for shares in _shares_ranked_higher(
            family.sample.ranks[name_a], family.sample.ranks[name_b]
        )
    )

    with_margin = []
    for index, verdict in enumerate(verdicts):
        conclusion = verdict.conclusion
        if conclusion is Conclusion.UNDECIDED and are_within[index]:
            conclusion = Conclusion.EQUIVALENT
        size = Lead.UNKNOWN
        if verdict.better is not None:
            low, high = (excess_b if verdict.better == name_b else excess_a)[:, index]
            if low > EQUAL:
                size = Lead.MORE
            elif high < -EQUAL:
                size = Lead.LESS
        worse = min(verdict.value_a, verdict.value_b)
        with_margin.append(
            replace(
                verdict,
                conclusion=conclusion,
                relative=verdict.difference / worse if worse > 0 else np.nan,
                higher_a=float(higher_a[index]),
                higher_b=float(higher_b[index]),
                size=size,
            )
        )
    return with_margin


def _shares_ranked_higher(ranks_a: Floats, ranks_b: Floats) -> tuple[Floats, Floats]:
    """Return the shares of the users for whom a ranks higher, and of those for whom b does.

    Parameters are (1 or metrics, users) ranks. The shares are (1 or metrics,), and NaN where some
    ranks are not known.
    """
    are_known = np.isfinite(ranks_a - ranks_b).all(axis=1)
    higher_a = np.where(are_known, (ranks_b - ranks_a > EQUAL).mean(axis=1), np.nan)
    higher_b = np.where(are_known, (ranks_a - ranks_b > EQUAL).mean(axis=1), np.nan)
    return higher_a, higher_b


# --- findings ---


def _about_users(
    sample: Users,
    families: Sequence[Family],
    names: Sequence[str],
    recommenders: Sequence[Runs],
    estimator: Estimator | None,
) -> list[Finding]:
    """Return findings on the intervals of some users: their subject, family and assumptions."""
    setting = sample.setting
    families_of_sample = [family for family in families if family.sample is sample]
    findings = list[Finding]()
    have_intervals = any(values.has_interval for values in sample.values.values())
    if setting.margin is not None and have_intervals:
        findings.append(_on_margin(setting.margin, setting.confidence_level))
    if len(names) < len(sample.values):
        findings.append(_on_best_pairs(sample, families_of_sample, names))
    elif have_intervals and len(names) > 2:
        findings += [family.finding for family in families_of_sample]
    # the AUC of a sample has no bias, so that there is nothing to assume
    is_auc_alone = all(metric.linear_in_rank for metric in sample.metrics.values())
    if not (setting.is_uncorrected and is_auc_alone):
        values_of_names = {name: sample.values[name] for name in names}
        findings += _about_intervals(values_of_names, estimator, setting)
    if have_intervals:
        questions = [family.question for family in families_of_sample]
        findings += about_seeds(questions, recommenders)
    for name, values in sample.values.items():
        findings += about(values.findings, name)
    return [*findings, *sample.findings]


def _on_best_pairs(sample: Users, families: Sequence[Family], names: Sequence[str]) -> Finding:
    """Return the finding that only pairs of the best recommenders are in the rows.

    Their intervals hold together by a method, or by one for each question.
    """
    methods = dict.fromkeys(family.finding.values["method"] for family in families)
    facts = {
        "most": len(names),
        "recommenders": len(sample.values),
        "pairs": families[0].finding.values["pairs"],
        "method": " and ".join(methods),
    }
    return Finding("best-pairs", next(iter(sample.metrics)), values=facts)


def _about_intervals(
    values: Mapping[str, UserValues], estimator: Estimator | None, setting: Setting
) -> list[Finding]:
    """Return findings on the assumptions of the intervals of pairs."""
    if estimator is None:
        return []
    if setting.is_uncorrected:
        return [Finding("uncorrected-verdicts")]
    pairs = list(combinations(values, 2))
    with_interval = [(a, b) for a, b in pairs if values[a].has_interval and values[b].has_interval]
    findings: list[Finding] = []
    if estimator.assumed_shape is None:
        findings.append(Finding("equal-bias", values={"estimator": setting.estimator}))
        # without a smallest and a largest value of a user, intervals are Student's; the values of
        # all recommenders have the bounds of the estimator
        values_of_some = next(iter(values.values()))
        is_approximate = bool(np.isinf(values_of_some.bounds).any())
        if is_approximate and with_interval:
            findings.append(Finding("approximate", values={"estimator": setting.estimator}))
        return findings
    pairs_by_assumption = grouped(
        with_interval, lambda pair: _assumed({name: values[name] for name in pair})
    )
    for (assumed, clause), pairs_of_assumption in pairs_by_assumption.items():
        pairs_in_words = ", ".join(f"{a} and {b}" for a, b in pairs_of_assumption)
        whose = f" of {pairs_in_words}" if len(pairs_by_assumption) > 1 else ""
        facts = {"assumption": assumed, "condition": clause, "whose": whose}
        findings.append(Finding("assumes", values=facts))
    return findings


def _assumed(values: Mapping[str, UserValues]) -> tuple[str, str]:
    """Return what the interval of a pair assumes by strict bounds: its label, and as a clause.

    If the interval of one recommender has fallen back to free, the clause names the other one.
    """
    decreasing = [name for name, user_values in values.items() if user_values.assumes == DECREASING]
    assumption = DECREASING if decreasing else FREE
    only = f" for {decreasing[0]}" if len(decreasing) == 1 else ""
    return assumption, condition(assumption) + only


def _clause(values: Mapping[str, UserValues], setting: Setting) -> str:
    """Return what the interval of a pair assumes, as a clause; exact ranks assume nothing."""
    if not setting.estimator or setting.is_uncorrected:
        return ""
    if all(user_values.assumes == NO_BIAS for user_values in values.values()):
        return f", if the bias of {estimator_name(setting.estimator)} is equal for both"
    assumption, clause = _assumed(values)
    return "" if assumption == FREE else f", {clause}"


def _on_order(verdicts: Sequence[Verdict], are_best: bool) -> list[Finding]:
    """Return the order of three recommenders or more by each metric, and what helps.

    `are_best` says whether the verdicts are on the pairs of the best recommenders alone.
    """
    findings = list[Finding]()
    others = "all others of these" if are_best else "all others"
    for inference, answers in grouped(verdicts, lambda verdict: verdict.inference).items():
        for label, on_metric in grouped(answers, lambda verdict: verdict.metric).items():
            if len(on_metric) == 1:
                continue
            order = "no verdict."
            if any(verdict.conclusion is not Conclusion.NO_VERDICT for verdict in on_metric):
                order = " ".join(standing(Standings.from_verdicts(on_metric), others))
                assumed = {verdict.assumes for verdict in on_metric}
                order = order.removesuffix(".") + (assumed.pop() if len(assumed) == 1 else "") + "."
            values = {"order": order} | ({"inference": inference} if inference else {})
            findings.append(Finding("order", label, values=values))
            for pairs in by_margin(on_metric).values():
                values = {"pairs": pairs} | ({"inference": inference} if inference else {})
                findings.append(Finding("by-margin", label, values=values))
    if any(
        verdict.conclusion is Conclusion.UNDECIDED and verdict.is_bounded for verdict in verdicts
    ):
        findings.append(Finding("use-plan"))
    return findings


def _on_margin(margin: Margin, confidence_level: float) -> Finding:
    facts = {"margin": margin.text, "tests": 1 - confidence_level}
    if margin.is_relative:
        return Finding("relative-margin", values=facts | {"ratio": 1 + margin.size})
    return Finding("margin", values=facts)


def orders_of_groups(
    overall: Sequence[Verdict], by_group: Sequence[Verdict], question: str
) -> list[Finding]:
    """Return the pairs that groups order in different ways, or otherwise than all users together.

    `overall` are the verdicts on all users. Verdicts on other questions are left out.
    """
    decided = [verdict for verdict in by_group if verdict.inference == question and verdict.better]
    by_pair = grouped(decided, lambda verdict: (verdict.metric, verdict.a, verdict.b))
    findings = list[Finding]()
    for verdict in overall:
        if verdict.inference != question:
            continue
        verdicts_of_groups = by_pair.get((verdict.metric, verdict.a, verdict.b), [])
        groups_a = [
            group_verdict.group
            for group_verdict in verdicts_of_groups
            if group_verdict.better == verdict.a
        ]
        groups_b = [
            group_verdict.group
            for group_verdict in verdicts_of_groups
            if group_verdict.better == verdict.b
        ]
        groups_of_worse = groups_a if verdict.worse == verdict.a else groups_b
        if groups_a and groups_b:
            groups = {"groups_a": groups_a, "groups_b": groups_b}
            pair = (verdict.a, verdict.b)
            findings.append(Finding("order-differs", verdict.metric, pair, values=groups))
        elif verdict.worse and groups_of_worse:
            groups = {"groups": groups_of_worse}
            findings.append(Finding("order-reversed", verdict.metric, verdict.names, values=groups))
    return findings
