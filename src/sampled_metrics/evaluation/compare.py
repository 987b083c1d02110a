"""Compare recommenders, paired by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._running import late_progress, on_one_thread
from sampled_metrics._validation import Floats, require_confidence_level, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimator, estimators_by_label
from sampled_metrics.evaluation.comparison import Comparison
from sampled_metrics.evaluation.evaluate import about_metrics, checked_metrics, from_readers
from sampled_metrics.evaluation.standings import best_of
from sampled_metrics.evaluation.values import UserValues, mean_of_seeds, place_of_users, values_of
from sampled_metrics.evaluation.verdicts import (
    BONFERRONI,
    LARGEST_T,
    about_intervals,
    findings_of_groups,
    higher_findings,
    pair_rows,
    verdict_findings,
)
from sampled_metrics.inference.families import Margin, holm, max_t_rate, pairs_of
from sampled_metrics.inference.findings import Finding, Setting, about, notes
from sampled_metrics.metrics.metric import Metric, MetricsLike
from sampled_metrics.ranks.given import (
    ALL,
    Groups,
    by_seed,
    require_distinct_seeds,
    require_paired_draws,
    require_same_design,
    seeds_by_name,
    tables_by_group,
)
from sampled_metrics.ranks.table import Table


@on_one_thread
def compare(
    ranks: Mapping[str, Any],
    *,
    metrics: MetricsLike | None = None,
    estimator: str | Estimator | None = None,
    margin: float | str | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare two recommenders or more on the same users, by exact or sampled ranks, or by ranked lists.

    The difference of a metric is the mean over users of f(r_b) - f(r_a), where r_a and r_b are the ranks of the first
    and the second recommender. Users are paired by the column user if both have one, else by position; a remark says
    which.

    Of more than two recommenders, all pairs are compared. The intervals of a metric hold together for all of its pairs,
    by the largest of several t or, for strict bounds and several seeds, Bonferroni's inequality. The p-values are
    adjusted for the pairs by the method of Holm. Each metric is a family of its own; metrics are not adjusted for one
    another.

    Args:
        ranks: a mapping from the names of two recommenders or more to their tables, all of one kind: `ExactRanks`,
            `SampledRanks`, `StagedRanks` or `RankedLists`, as the readers, `rank` and `staged_ranks` return them.
            `ExactRanks` and `StagedRanks` may be compared with each other. A list of several tables holds the seeds of
            a recommender, and their means are compared. The spread between the seeds counts as a part of the
            uncertainty. This is not possible with strict bounds. Of sampled ranks that are drawn "once", a list holds
            independent draws of the negatives, as many for each recommender and in the same order, so that they are
            compared draw by draw. One draw alone gives no verdict.
        metrics: labels such as recall@10, ndcg@10, ap, auc; the default is that of `evaluate`.
        estimator: label of the estimator that corrects sampled ranks, or an estimator of your own. The default is
            decreasing: the interval holds the true difference if better ranks are more frequent than worse ones in the
            better half of the ranks. The estimator free assumes nothing. All others compare the means of the estimator,
            and assume that its bias is equal for both recommenders; bv-0.1 has a low variance.
        margin: the smallest difference that matters, as a number, or relative to the worse value, such as "2%". Then a
            column says by how much a recommender is better. Choose it before you look.
        groups: True for rows by the groups that the reader kept (its argument groups), or a mapping from users to
            groups, as in `evaluate`. The verdicts by group are adjusted for the groups: the intervals of a metric hold
            together for all groups and pairs, and Holm's method is over all of them. Those of all rows are as without
            groups.
        confidence_level: probability that the interval covers the difference, or those of all pairs: 1 - the
            false-alarm rate of a metric.

    Returns:
        A row for each metric and pair, with the columns metric, a and b (names; only for more than two recommenders),
        value_a, value_b, difference (b - a), low, high, p_value (two-sided), conclusion (a name, undecided, or no
        verdict), users. With a margin, the conclusion may be equivalent, which means that the interval is within ± the
        margin, and there are more columns: relative (the difference as a part of the worse value), higher_a and
        higher_b (shares of users for whom each ranks the held-out item higher, or whose list has the higher metric;
        missing for staged ranks), and size (more than the margin, less than the margin, or nothing if the interval does
        not say). With groups, there is a first column group, which is "all" for all rows. The findings have the
        conclusions as data, and the remarks as sentences. The method standings() gives the recommenders by metric, with
        letters for the groups that cannot be told apart, and to_latex() a LaTeX table of them.

        The p-value is the interval inverted: the smallest α for which the interval at the level 1 - α excludes 0. It is
        not the probability that a recommender is better. With more than two recommenders it may disagree with the
        interval near the limit, because the two are adjusted by different methods; the conclusion is that of the
        interval.

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
        T. Hothorn, F. Bretz and P. Westfall, Simultaneous Inference in General Parametric Models, Biometrical Journal
        50, 2008.
        S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    """
    options: dict[str, Any] = {"metrics": metrics, "estimator": estimator, "margin": margin}
    return compare_best(ranks, None, **options, groups=groups, confidence_level=confidence_level)


def compare_best(
    ranks: Mapping[str, Any],
    most: int | None,
    *,
    metrics: MetricsLike | None = None,
    estimator: str | Estimator | None = None,
    margin: float | str | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
) -> Comparison:
    """As `compare`, with the pairs of the `most` best by the first metric alone, if there are more recommenders.

    Their intervals are those of `compare`: they hold together for the pairs of all recommenders. There are no p-values
    then, as the method of Holm needs those of all pairs.
    """
    level, least = require_confidence_level(confidence_level), None if margin is None else Margin.from_given(margin)
    seeds = seeds_by_name(ranks, "compare")
    if len(seeds) < 2:
        raise DataError(f"compare takes two recommenders or more, not {shown(list(seeds))}")
    tables = by_seed(seeds)
    require_same_design(tables)
    require_paired_draws(seeds)
    require_distinct_seeds(seeds)
    first, *further = tables.values()
    by_label = checked_metrics(first, metrics)
    for table in further:
        table.check_metrics(by_label)
    if least is not None:
        least.require_possible(by_label)
    label, corrects = _one_estimator(estimator, first)
    is_uncorrected = corrects is not None and corrects.is_uncorrected
    setting = Setting(level, first.description, tuple(seeds), least, label, is_uncorrected)
    parts, left_out = tables_by_group(tables, groups)
    most = None if most is None or most >= len(seeds) else most

    def with_p_values(rows: pd.DataFrame) -> pd.DataFrame:
        if most is not None:
            return rows.drop(columns="p_value")
        p_values = rows.groupby("metric", sort=False)["p_value"]
        return rows.assign(p_value=p_values.transform(lambda of_metric: holm(of_metric.to_numpy())))

    names, rows, of_all = _compared(tables, seeds, by_label, corrects, setting, most)
    table = with_p_values(rows)
    verdicts = verdict_findings(table, setting)
    findings = [*verdicts, *higher_findings(table, tables.values(), setting), *of_all]
    if parts:
        narrower = replace(setting, confidence_level=1 - (1 - level) / len(parts))
        rows_of, findings_of = dict[str, pd.DataFrame](), dict[str, list[Finding]]()
        for group, part in parts.items():
            _, rows, findings_of[group] = _compared(part, seeds, by_label, corrects, narrower, most, names)
            rows_of[group] = rows.assign(group=group)
        rows = with_p_values(pd.concat(rows_of.values()))
        rows_of = {group: rows[rows["group"] == group] for group in parts}
        findings += [*findings_of_groups(rows_of, findings_of, narrower, verdicts), *notes(left_out)]
        table = pd.concat([table.assign(group=ALL), rows], ignore_index=True)
        table = table[["group", *table.columns.drop("group")]]
    if len(seeds) == 2:
        table = table.drop(columns=["a", "b"])
    return Comparison(table.drop(columns=["kind", "is_bounded"])).found(findings, setting)


def _compared(
    tables: Mapping[str, Table],
    seeds: Mapping[str, Sequence[Table]],
    metrics: Mapping[str, Metric],
    estimator: Estimator | None,
    setting: Setting,
    most: int | None,
    chosen: Sequence[str] = (),
) -> tuple[Sequence[str], pd.DataFrame, list[Finding]]:
    """Compare all pairs of recommenders, or of those chosen or best, from the table of each seed of each.

    Returns:
        The names of the recommenders; rows by metric and pair, with p-values that are not adjusted; and findings.
    """
    (first, *further), wanted = tables.values(), list(metrics.values())
    users, paired = first.pair(further, list(tables))
    alpha = 1 - setting.confidence_level
    of_pair = alpha / len(pairs_of(len(seeds)))
    given = iter(zip(tables.values(), users, strict=True))
    values, places = dict[str, UserValues](), dict[str, Floats]()
    for name in late_progress(list(seeds)):
        of_seeds = [next(given) for _ in seeds[name]]
        values[name] = mean_of_seeds([values_of(*one, wanted, estimator, of_pair) for one in of_seeds])
        if setting.margin is not None:
            places[name] = np.mean([place_of_users(*one, values[name]) for one in of_seeds], axis=0)
    rates, family = _rates(list(values.values()), alpha)
    have_intervals = any(of_one.has_interval for of_one in values.values())
    findings = [Finding("margin")] if setting.margin is not None and have_intervals else []
    names = list(chosen or seeds)
    if most is not None:
        names = list(chosen) or best_of({name: float(of_one.point[0]) for name, of_one in values.items()}, most)
        pairs = len(pairs_of(len(seeds)))
        numbers = {"most": most, "recommenders": len(seeds), "pairs": pairs, "method": family}
        findings.append(Finding("best-pairs", next(iter(metrics)), values=numbers))
    by_pair = [
        pair_rows((name, other), values, list(metrics), rates, setting.margin, places)
        for name, other in late_progress(list(combinations(names, 2)))
    ]
    table = pd.DataFrame([row for of_metric in zip(*by_pair, strict=True) for row in of_metric])
    findings += about_intervals(
        {name: values[name] for name in names}, seeds, "" if most is not None else family, estimator, setting
    )
    findings += [finding for name, of_one in values.items() for finding in about(of_one.findings, name)]
    findings += about_metrics(first, metrics, np.sum([of_one.point for of_one in values.values()], axis=0))
    owners = [name for name, of_one in seeds.items() for _ in of_one]
    return names, table, [*findings, *notes(paired), *from_readers(zip(owners, tables.values(), strict=True))]


def _rates(values: Sequence[UserValues], alpha: float) -> tuple[Floats, str]:
    """Return the (metrics,) error rates with which the intervals of all pairs hold together, and their method."""
    pairs, metrics = len(pairs_of(len(values))), len(values[0].point)
    if pairs == 1:
        return np.full(metrics, alpha), ""
    if not all(of_one.have_one_value and not of_one.spreads for of_one in values):
        return np.full(metrics, alpha / pairs), BONFERRONI
    lows = [np.stack([of_one.low[metric] for of_one in values]) for metric in range(metrics)]
    return np.array([max_t_rate(of_metric, alpha) for of_metric in lows]), LARGEST_T


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
