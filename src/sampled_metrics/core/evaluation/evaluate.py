"""Compute exact metrics of exact ranks or ranked lists, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.checks import Floats, require_confidence_level
from sampled_metrics.core.evaluation.questions import THESE_RUNS, about_seeds, answerable
from sampled_metrics.core.evaluation.result import Result, results_of_runs
from sampled_metrics.core.evaluation.values import UserValues, values_of_runs
from sampled_metrics.core.findings import Finding, about
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.groups import Groups
from sampled_metrics.core.ranks.runs import Runs, read_runs
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.running import on_one_thread


@on_one_thread
def evaluate(
    ranks: Any,
    *,
    metrics: MetricsLike | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
) -> Result:
    """Compute the exact metrics of ranks or ranked lists, with intervals over users.

    The ranks are among all candidates.

    The value of a metric is its mean over users, sum_u f(r_u) / U, where r_u is the rank of user
    u's held-out item. A user with several rows counts once, with the mean over the rows. The metric
    of ranked lists is that of a user's whole list.

    Args:
        ranks: an `ExactRanks`, as `exact_ranks` or `rank` returns it, a `StagedRanks`, as
            `staged_ranks` does, or a `RankedLists`, as `ranked_lists` does; or a mapping from the
            names of recommenders to them. A list of several tables in place of one holds the seeds
            of a recommender: the value is their mean.
        metrics: labels such as recall@10, ndcg@10, ap, mrr, auc, precision@5, hit-rate@10, f1@10.
            Of lists also ndcg-exp@10, with the gain 2^grade - 1, and dcg@10 and dcg-exp@10, but not
            auc. The default is recall@10, ndcg@10, ap, and auc, or mrr of lists. Labels are
            returned as written. A metric of your own is a `Metric` in place of a label; lists have
            none.
        groups: True for rows by the groups that the reader kept (its argument groups), or a mapping
            from users to the names of their groups. A user with held-out items of several groups
            counts in each, by the rows of it.
        confidence_level: probability that the interval covers the mean over the population of
            users. The interval is the likelihood ratio of a mean of values with bounds;
            docs/coverage.md shows how often it holds the truth.

    Returns:
        A row for each metric, with the columns metric, value (a fraction), low and high (the ends
        of the interval), standard_error, users. The result of a mapping has a first column
        recommender. Of several seeds there are two rows for each metric: the column
        inference is new_runs for the interval that counts the spread between the seeds, and
        these_runs for the interval of the mean over these seeds. With groups there is a column
        group, which is "all" for all rows together; groups of fewer than two users are left out,
        and a remark names them.

    Raises:
        DataError: the ranks are sampled, or have not been read by a reader, or there are too few
            for an interval.
        ConfigError: a metric or an option does not exist, or a metric is repeated.

    Examples:
        The held-out items of five users are at the ranks 1, 4, 20, 3 and 50 of 100 candidates:

        >>> import sampled_metrics as sm
        >>> ranks = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
        >>> result = sm.evaluate(ranks, metrics=["recall@10", "auc"])
        >>> [(row.metric, row.value) for row in result.itertuples()]
        [('recall@10', 0.6), ('auc', 0.8525252525252525)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        J. Honda and A. Takemura, An Asymptotically Optimal Bandit Algorithm for Bounded Support
        Models, COLT 2010.
    """
    # --- read and check
    setting = Setting(require_confidence_level(confidence_level))
    recommenders = read_runs(ranks, "evaluate")
    has_seeds = any(runs.are_seeds for runs in recommenders)

    # --- evaluate each recommender, and its groups
    def result_of(runs: Runs) -> Result:
        return _evaluate(runs, checked_metrics(runs.first_table, metrics), setting, has_seeds)

    return results_of_runs(recommenders, groups, result_of)


def _evaluate(
    runs: Runs, metrics: Mapping[str, Metric], setting: Setting, has_seeds: bool
) -> Result:
    """Return the result of `evaluate` for the paired runs of a recommender.

    `has_seeds` says whether any recommender of the call has several runs.
    """
    values = values_of_runs(runs, list(metrics.values()))
    questions, not_answered = answerable({runs.name: values}, [runs])
    if has_seeds and questions == [""]:
        questions = [THESE_RUNS]

    on_seeds = about_seeds(questions, [runs]) if values.has_interval else []
    return result_of_values(
        runs.tables,
        metrics,
        values,
        setting,
        1 - setting.confidence_level,
        questions=questions,
        findings=[*not_answered, *on_seeds],
    )


def result_of_values(
    tables: Sequence[Table],
    metrics: Mapping[str, Metric],
    values: UserValues,
    setting: Setting,
    rate: float,
    *,
    questions: Sequence[str] = ("",),
    findings: Sequence[Finding] = (),
) -> Result:
    """Return the values of metrics with their intervals, and what is to be said of them.

    Args:
        tables: of the runs of a recommender, for what their readers found.
        metrics: the metrics by label.
        values: of the users.
        setting: of the result.
        rate: error rate of an interval.
        questions: the questions that have rows.
        findings: on the questions.
    """
    rows = list[pd.DataFrame]()
    for question in questions:
        answer = values.of_these_runs() if question == THESE_RUNS else values
        rows.append(_rows(metrics, answer, question, rate))
    all_findings = [
        *undefined_metrics(metrics, values.point),
        *findings,
        *values.findings,
        *from_readers(("", table) for table in tables),
    ]
    setting = replace(setting, parameters=tables[0].description)
    return Result(pd.concat(rows, ignore_index=True)).found(all_findings, setting)


def _rows(
    metrics: Mapping[str, Metric], values: UserValues, question: str, rate: float
) -> pd.DataFrame:
    """Return a row for each metric, with the answer to a question.

    An interval has the error rate `rate`.
    """
    ends = values.interval(rate)
    columns: dict[str, Any] = {"inference": question} if question else {}
    columns |= {
        "metric": list(metrics),
        "value": values.point,
        "low": ends.low,
        "high": ends.high,
        "standard_error": ends.standard_error,
        "users": values.users,
    }
    return pd.DataFrame(columns)


def checked_metrics(table: Table, metrics: MetricsLike | None) -> dict[str, Metric]:
    """Return metrics by their labels as written; the default ones of a table if there are none.

    Raises:
        ConfigError: a metric does not exist, or the table has no such metric.
    """
    by_label = metrics_by_label(table.default_metrics if metrics is None else metrics)
    table.check_metrics(by_label)
    return by_label


def undefined_metrics(metrics: Iterable[str], values: Floats) -> list[Finding]:
    """Return findings on metrics, by label, that are not defined: their values are NaN."""
    return [
        Finding("undefined", label)
        for label, value in zip(metrics, values, strict=True)
        if np.isnan(value)
    ]


def about_several_metrics(labels: Iterable[str]) -> list[Finding]:
    """Return the finding that verdicts are on several metrics; none if there is one metric."""
    metrics = list(dict.fromkeys(labels))
    if len(metrics) < 2:
        return []
    return [Finding("several-metrics", metrics[0], values={"metrics": len(metrics)})]


def from_readers(tables: Iterable[tuple[str, Table]]) -> list[Finding]:
    """Return what the readers of tables found, with the names of the recommenders.

    If no table has users, each row counts as a user. Otherwise the rows of all tables belong to
    these users.
    """
    findings = list[Finding]()
    tables = list(tables)
    if all(table.user is None for _, table in tables):
        findings.append(Finding("rows-as-users"))
    for name, table in tables:
        findings += about(table.findings, name)
        if completion := table.completion():
            findings += about([Finding("completed", values=completion)], name)
            if completion["is_without_hits"]:
                findings += about([Finding("no-hits", values={"k": completion["k"]})], name)
    return findings
