"""Estimate true metrics from sampled ranks, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sampled_metrics._defaults import ESTIMATORS, METRICS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import TOLERANCE, Floats, Ints, require_confidence_level
from sampled_metrics.core.estimators import (
    Estimate,
    Estimator,
    EstimatorsLike,
    estimators_by_label,
    linear_estimator,
)
from sampled_metrics.core.estimators.rank_distribution import MaximumLikelihood
from sampled_metrics.core.estimators.strict_bounds import has_bounds
from sampled_metrics.core.evaluation.evaluate import about_metrics, from_readers
from sampled_metrics.core.evaluation.questions import THESE_RUNS, about_seeds, answerable
from sampled_metrics.core.evaluation.result import Result, by_group, by_recommender
from sampled_metrics.core.evaluation.values import (
    UserValues,
    about_users,
    finding_of_bounds,
    mean_of_runs,
    sampled_values,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.inference.strict import Sample, unexplained
from sampled_metrics.core.metrics import Metric, MetricsLike, metric, metrics_by_label
from sampled_metrics.core.ranks.calls import says_what_to_write
from sampled_metrics.core.ranks.groups import Groups
from sampled_metrics.core.ranks.runs import Runs, read_runs, require_comparable
from sampled_metrics.core.ranks.sampled import impossible_with_replacement
from sampled_metrics.core.sampling.outcomes import Group

MOST_DIFFERENT = 0.1
"""A finding has the interval of draws with replacement, or without, if it moves by more than this
part of its width.
"""

LARGE_WEIGHT = 10.0
"""A remark names estimators in which a user counts more than this."""

BIAS_RESAMPLES = 200
"""Bootstrap samples for the error of the bias."""


@says_what_to_write
@on_one_thread
def correct(
    ranks: Any,
    *,
    estimators: EstimatorsLike = ESTIMATORS,
    metrics: MetricsLike = METRICS,
    groups: Groups = False,
    confidence_level: float = 0.95,
) -> Result:
    """Estimate the true metrics from ranks among sampled negatives.

    If x of a user's m sampled negatives rank above the held-out item, the sampled rank is x + 1.
    Estimators that are linear in the sample give the user a weight w_x; the estimate is the mean
    weight (section 5 of the paper).

    Args:
        ranks: a `SampledRanks`, as `sampled_ranks` or `rank_among_negatives` returns it; or a
            mapping from the names of recommenders to them. A list of them in place of one holds
            independent draws of negatives that all users share (``drawn="once"``), or the seeds of
            a recommender: the value is the mean. Several draws need an estimator other than strict
            bounds.
        estimators: labels such as uncorrected, bv-0.1, cls, mle (docs/how-to/correct.md). The
            default is decreasing and free. An estimator of your own is an object with the method
            `fit`, as in `sampled_metrics.core.estimators.protocol`, in place of a label; str()
            gives its label.
        metrics: labels such as recall@10, ndcg@10, ap, auc.
        groups: True for rows by the groups that the reader kept, or a mapping from users to groups,
            as in `evaluate`.
        confidence_level: probability that the interval covers the true metric (free, decreasing) or
            the mean of the estimator over users and samples (others). Users are the unit, so the
            interval includes the error of sampling. It is the likelihood ratio of a mean of values
            with bounds; that of mle, mes and smooth is Student's interval of their pseudo-values,
            and approximate.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high,
        assumes, standard_error, bias, bias_error, users, and with groups a column group. Of several
        seeds there are two rows for each metric, told apart by the column of: the interval of "new
        runs" counts the spread between the seeds, and that of "these runs" is of the mean over
        these seeds. Strict bounds have the second alone.

        The interval holds the true metric if the assumption in `assumes` is right: none,
        decreasing, or that the bias of the estimator is zero. The value of free and decreasing is
        that of smooth, or the nearest end of the interval.

        The bias is the mean error of the estimator under the distributions of true ranks that mle
        finds, and bias_error its standard error over users and samples. Intervals ignore the bias;
        a remark says where it matters. It is missing (NaN) for estimators that are not linear in
        the sample. Users whose n differ by a factor of at most 1.25 share a distribution of ranks;
        each n and m has weights of its own.

    Raises:
        DataError: the ranks are exact, or have not been read by a reader; an estimator is not valid
            for them, or needs an array of more than 4 GiB; the message says why.
        ConfigError: a metric, an estimator or an option does not exist, or a label is repeated.

    Examples:
        Six users with ranks among 100 sampled negatives, of a catalogue of 3541 candidates:

        >>> import sampled_metrics as sm
        >>> ranks = sm.sampled_ranks([1, 3, 1, 12, 40, 2], negatives=100, candidates=3541)
        >>> result = sm.correct(ranks, estimators=["uncorrected", "bv-0.1"], metrics="recall@10")
        >>> [(row.estimator, round(row.value, 4)) for row in result.itertuples()]
        [('uncorrected', 0.6667), ('bv-0.1', 0.1315)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        R. Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021.
    """
    # --- read and check
    setting = Setting(require_confidence_level(confidence_level))
    measures = metrics_by_label(metrics)
    chosen = estimators_by_label(estimators)
    recommenders = read_runs(ranks, "correct")
    for runs in recommenders:
        require_comparable([runs])

    has_seeds = any(runs.are_seeds for runs in recommenders)

    def result_of(runs: Runs) -> Result:
        return _correct(runs, chosen, measures, setting, has_seeds)

    return by_recommender({runs.name: by_group(runs, groups, result_of) for runs in recommenders})


@dataclass(frozen=True)
class _Estimates:
    """What estimators say of the sample of one run.

    Attributes:
        values: of users, by estimator.
        biases: (2, metrics) mean errors of linear estimators and their standard errors, by
            estimator.
        others: of users, by strict bounds as if negatives could be drawn twice, or as if they could
            not, where that may matter.
        auc: the AUC of the sample, which has no bias; NaN if a user has no negatives.
    """

    values: Mapping[str, UserValues]
    biases: Mapping[str, Floats]
    others: Mapping[str, UserValues]
    auc: float


def _correct(
    runs: Runs,
    estimators: Mapping[str, Estimator],
    metrics: Mapping[str, Metric],
    setting: Setting,
    has_seeds: bool,
) -> Result:
    """Return the result of `correct` of the paired runs of a recommender; `has_seeds` says whether
    any has several.
    """
    # --- values
    alpha = 1 - setting.confidence_level
    samples = [
        Sample.from_ranks(table, users)
        for table, users in zip(runs.tables, runs.users, strict=True)
    ]
    estimates = [_of_sample(sample, estimators, metrics, alpha) for sample in samples]
    values = {
        label: mean_of_runs([estimate.values[label] for estimate in estimates])
        for label in estimators
    }
    biases = {label: _mean_bias(label, estimates, len(metrics)) for label in estimators}
    auc = float(np.mean([estimate.auc for estimate in estimates]))
    negatives = np.concatenate([sample.outcomes.negatives for sample in samples])

    # --- questions
    questions_by_estimator = dict[str, list[str]]()
    not_answered = dict[str, list[Finding]]()
    for label in estimators:
        questions, not_answered[label] = answerable({runs.name: values[label]}, [runs])
        if has_seeds and questions == [""]:
            questions = [THESE_RUNS]
        questions_by_estimator[label] = questions

    # --- intervals
    rows_by_estimator = dict[str, list[dict[str, Any]]]()
    for label, questions in questions_by_estimator.items():
        rows_by_estimator[label] = []
        for question in questions:
            values_of_question = (
                values[label].of_these_runs() if question == THESE_RUNS else values[label]
            )
            rows_by_estimator[label] += _rows(
                label, question, metrics, values_of_question, biases[label], alpha
            )
    rows = [row for rows_of_estimator in rows_by_estimator.values() for row in rows_of_estimator]
    table = Result(rows).assign(users=len(samples[0]))
    if not any(row["of"] for row in rows):
        table = table.drop(columns="of")

    # --- findings
    on_intervals = list[Finding]()
    on_rows = list[Finding]()
    for label, estimator in estimators.items():
        on_intervals += values[label].findings
        for finding in not_answered[label]:
            on_intervals.append(replace(finding, values={**finding.values, "estimator": label}))
        for row in rows_by_estimator[label][-len(metrics) :]:
            on_rows += _on_row(row, estimator, metrics[row["metric"]], negatives, auc)
        on_rows += _on_estimator(label, values[label])
        if all(label in estimate.others for estimate in estimates):
            others = mean_of_runs([estimate.others[label] for estimate in estimates])
            on_intervals += _on_replacement(
                label, metrics, values[label], others, alpha, samples[0]
            )
    is_uncorrected = any(estimator.is_uncorrected for estimator in estimators.values())
    if is_uncorrected and any(metric.label != "auc" for metric in metrics.values()):
        on_intervals.insert(0, Finding("uncorrected-values"))
    all_questions = [
        question for questions in questions_by_estimator.values() for question in questions
    ]
    findings = [
        *on_intervals,
        *on_rows,
        *about_seeds(all_questions, [runs]),
        *about_metrics(runs.first, metrics, np.zeros(len(metrics))),
        *about_users(runs.users[0]),
        *from_readers(("", table_of_run) for table_of_run in runs.tables),
        *(Finding("undefined", row["metric"]) for row in rows if np.isnan(row["value"])),
    ]
    findings.sort(key=lambda finding: finding.kind != "bounds")  # bounds come first
    return table.found(findings, replace(setting, parameters=runs.first.description))


def _mean_bias(label: str, estimates: Sequence[_Estimates], metrics: int) -> Floats:
    """Return the (2, metrics) mean bias of an estimator over runs, and its standard error; NaN if
    it is not known.
    """
    if not all(label in estimate.biases for estimate in estimates):
        return np.full((2, metrics), np.nan)
    return np.asarray(np.mean([estimate.biases[label] for estimate in estimates], axis=0))


def _rows(
    label: str,
    question: str,
    metrics: Mapping[str, Metric],
    values: UserValues,
    bias: Floats,
    alpha: float,
) -> list[dict[str, Any]]:
    """Return the row of each metric by an estimator."""
    ends = values.interval(alpha)
    point = values.point
    if not values.one_value:  # the value is within the interval, where there is one
        point = np.fmax(np.fmin(values.point, ends.high), ends.low)
    return [
        {
            "of": question,
            "estimator": label,
            "metric": metric,
            "value": point[number],
            "low": ends.low[number],
            "high": ends.high[number],
            "assumes": values.assumes,
            "standard_error": ends.standard_error[number],
            "bias": bias[0, number],
            "bias_error": bias[1, number],
        }
        for number, metric in enumerate(metrics)
    ]


def _of_sample(
    sample: Sample, estimators: Mapping[str, Estimator], metrics: Mapping[str, Metric], alpha: float
) -> _Estimates:
    """Return what estimators say of a sample."""
    measures = tuple(metrics.values())
    fitted = {
        label: estimator.fit(sample.outcomes, measures) for label, estimator in estimators.items()
    }
    moments = _moments(sample, fitted.values())
    not_explained = [] if all(map(has_bounds, fitted.values())) else unexplained(sample)
    values = dict[str, UserValues]()
    others = dict[str, UserValues]()
    for label, estimate in fitted.items():
        known = moments.get(estimate.estimator.replacement) if has_bounds(estimate) else None
        user_values = sampled_values(sample, estimate, measures, alpha, known)
        further: Iterable[Finding] = [] if known is not None else not_explained
        if known is not None and _may_differ_by_replacement(sample):
            outcomes = replace(sample.outcomes, replacement=not sample.outcomes.replacement)
            fit = estimators[label].fit(outcomes, measures)
            others[label] = sampled_values(
                replace(sample, outcomes=outcomes), fit, measures, alpha, known
            )
        values[label] = replace(user_values, findings=(*user_values.findings, *further))
    auc = np.nan
    if (sample.outcomes.negatives > 0).all():
        fit = linear_estimator("uncorrected").fit(sample.outcomes, [metric("auc")])
        auc = float(fit.estimate(sample.counts)[0])
    return _Estimates(values, _biases(fitted, sample, measures), others, auc)


def _moments(
    sample: Sample, fitted: Iterable[Estimate]
) -> dict[bool | None, tuple[Floats, Floats]]:
    """Return the moments of strict bounds by the design of the sample; they are the same for all
    assumptions.
    """
    moments: dict[bool | None, tuple[Floats, Floats]] = {}
    for estimate in filter(has_bounds, fitted):
        if estimate.estimator.replacement not in moments:
            moments[estimate.estimator.replacement] = estimate.moments(sample.counts)
    return moments


def _on_row(
    row: Mapping[str, Any],
    estimator: Estimator,
    metric: Metric,
    negatives: Ints,
    unbiased_auc: float,
) -> Iterator[Finding]:
    """Yield findings on a row: what its interval shows, or why it may not cover the true value."""
    label = row["metric"]
    name = {"estimator": row["estimator"]}
    least = unbiased_auc - max(4 * row["standard_error"], 0.01)
    if estimator.underestimates_auc and metric.label == "auc" and row["value"] < least:
        yield Finding("auc-too-low", label, values=name | {"auc": unbiased_auc})
    if estimator.assumed_shape is not None:
        if not np.isnan(row["low"]):
            yield finding_of_bounds(row, negatives)
        return
    for what, end in {"the value": "value", "the low end": "low", "the high end": "high"}.items():
        if row[end] < -1e-9 or row[end] > 1 + 1e-9:
            yield Finding("out-of-range", label, values=name | {"what": what, "value": row[end]})
    if not estimator.is_uncorrected and abs(row["bias"]) > max(
        row["standard_error"] / 2, TOLERANCE
    ):
        has_interval = not np.isnan(row["low"])
        of_bias = {"bias": row["bias"], "error": row["bias_error"], "has_interval": has_interval}
        yield Finding("bias", label, values=name | of_bias)
    if np.isnan(row["bias"]):
        yield Finding("no-bias", values=name)


def _may_differ_by_replacement(sample: Sample) -> bool:
    """Return whether strict bounds may be others if a negative could be drawn twice, or could not.

    The variance of x differs between the two designs by a part of about m / n. Where this is far
    below the error of a variance, nothing is computed.
    """
    outcomes = sample.outcomes
    x = outcomes.x
    m = outcomes.negatives
    n = outcomes.candidates
    could_be = (
        m < n
        if outcomes.replacement
        else ((n > 1) | (m == 0)) & ~impossible_with_replacement(x, m, n)
    )
    differ = (m / np.maximum(n - 1, 1)).max() * np.sqrt(len(sample) / 2) > MOST_DIFFERENT
    return bool(not sample.is_shared and could_be.all() and differ)


def _on_replacement(
    label: str,
    metrics: Mapping[str, Metric],
    values: UserValues,
    others: UserValues,
    alpha: float,
    sample: Sample,
) -> Iterator[Finding]:
    """Yield a finding on each metric whose interval moves by the other design, from the values by
    both designs.
    """
    ends = values.of_these_runs().interval(alpha)
    other_ends = others.of_these_runs().interval(alpha)
    moved = np.maximum(np.abs(other_ends.low - ends.low), np.abs(other_ends.high - ends.high))
    for row in np.flatnonzero(moved > MOST_DIFFERENT * (ends.high - ends.low)):
        numbers = {
            "estimator": label,
            "replacement": sample.outcomes.replacement,
            "low": ends.low[row],
            "high": ends.high[row],
            "other_low": other_ends.low[row],
            "other_high": other_ends.high[row],
        }
        yield Finding("replacement", list(metrics)[row], values=numbers)


def _on_estimator(label: str, values: UserValues) -> Iterator[Finding]:
    """Yield findings on an estimator: an approximate interval, or weights that are too large."""
    if not values.one_value:
        return
    largest = float(np.abs(values.bounds).max())
    if np.isinf(largest) and values.has_interval:
        yield Finding("approximate", values={"estimator": label})
    elif np.isfinite(largest) and largest > LARGE_WEIGHT:
        yield Finding("large-weight", values={"estimator": label, "largest": largest})


def _biases(
    fitted: Mapping[str, Estimate], sample: Sample, metrics: tuple[Metric, ...]
) -> dict[str, Floats]:
    """Return the (2, metrics) mean errors of linear estimators and their standard errors, by label.

    The mean error is Σ_r π_r ((A w)_r - f(r)), averaged over users, with the π of mle. Its standard
    error is that over bootstrap samples of the users.
    """
    linear = {label: estimate.of_groups for label, estimate in fitted.items() if estimate.is_linear}
    if not linear:
        return {}
    rng = np.random.default_rng(0)
    users = len(sample)
    if sample.shares.nnz == users:  # users with the same outcome are alike
        drawn = rng.multinomial(users, sample.counts / users, BIAS_RESAMPLES).astype(np.float64)
    else:
        drawn = np.asarray(
            rng.multinomial(users, np.full(users, 1 / users), BIAS_RESAMPLES) @ sample.shares
        )
    samples = np.vstack((sample.counts, drawn))
    weights = [np.vstack(of_estimators) for of_estimators in zip(*linear.values(), strict=True)]
    of_group = {
        _key(group): of_one for group, of_one in zip(sample.outcomes.groups, weights, strict=True)
    }

    def errors(group: Group, ranks: Floats) -> Floats:
        truth = np.stack([one.of_rank(ranks, group.candidates) for one in metrics], axis=1)
        return group.pmf(ranks) @ of_group[_key(group)].T - np.tile(truth, len(linear))

    total = np.zeros((len(samples), len(linear) * len(metrics)))
    for of_class in MaximumLikelihood().fit(sample.outcomes, metrics).distributions(samples):
        mean_errors = of_class.probabilities @ of_class.users.mean(errors, of_class.ranks)
        total += of_class.events[:, np.newaxis] * mean_errors
    bias = total / samples.sum(axis=1, keepdims=True)
    error = bias[1:].std(axis=0, ddof=1)
    error[len(np.unique(drawn, axis=0)) == 1] = np.nan  # all users are alike
    by_estimator = np.split(np.stack((bias[0], error)), len(linear), axis=1)
    return dict(zip(linear, by_estimator, strict=True))


def _key(group: Group) -> tuple[int, int]:
    return group.candidates, group.negatives
