"""Estimate true metrics from sampled ranks, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sampled_metrics._defaults import DEFAULT_ESTIMATORS, DEFAULT_METRICS
from sampled_metrics.checks import TOLERANCE, Floats, require_confidence_level
from sampled_metrics.core.estimators import (
    Estimate,
    Estimator,
    EstimatorsLike,
    estimators_by_label,
)
from sampled_metrics.core.estimators.rank_distribution import MaximumLikelihood
from sampled_metrics.core.estimators.strict_bounds import has_bounds
from sampled_metrics.core.evaluation.evaluate import from_readers
from sampled_metrics.core.evaluation.questions import THESE_RUNS, about_seeds, answerable
from sampled_metrics.core.evaluation.result import Result, results_of_runs
from sampled_metrics.core.evaluation.values import (
    UserValues,
    about_users,
    are_unbiased,
    finding_of_assumption,
    mean_of_runs,
    sampled_values,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.inference.strict import Sample, unexplained
from sampled_metrics.core.metrics import Metric, MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.groups import Groups
from sampled_metrics.core.ranks.runs import Runs, read_runs
from sampled_metrics.core.ranks.sampled import impossible_with_replacement
from sampled_metrics.core.sampling.outcomes import Group
from sampled_metrics.running import on_one_thread

MOST_DIFFERENT = 0.1
"""The part of its width by which an interval moves, with replacement or without, for a finding."""

BIAS_RESAMPLES = 200
"""Bootstrap samples for the error of the bias."""


@on_one_thread
def correct(
    ranks: Any,
    *,
    estimators: EstimatorsLike = DEFAULT_ESTIMATORS,
    metrics: MetricsLike = DEFAULT_METRICS,
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
            interval includes the error of sampling. Estimates that are means of values with bounds
            have an interval by the likelihood ratio; mle, mes and smooth have Student's interval of
            their pseudo-values, which is approximate.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high,
        assumes, standard_error, bias, bias_error, users, and with groups a column group. Of several
        seeds there are two rows for each metric: the column inference is new_runs for the interval
        that counts the spread between the seeds, and these_runs for the interval of the mean over
        these seeds. Strict bounds have the second alone.

        Of negatives that are drawn by popularity (``drawn="popularity"``) there is no value. The
        bounds of free and decreasing are the same, and assume nothing.

        The interval holds the true metric if negatives are drawn uniformly among n candidates, and
        the assumption in `assumes` is right: uniform negatives (nothing else), decreasing, or that
        the bias of the estimator is zero. The value of free and decreasing is the estimate of
        smooth, and their interval includes it. Their AUC, and that of mle, mes and smooth, is the
        AUC of the sample, which has no bias.

        The bias is the mean error of the estimator under the distributions of true ranks that mle
        finds, and bias_error its standard error over users and samples. The error of mle is not in
        it. Intervals ignore the bias; a remark says where it matters. Estimators that are not
        linear in the sample have no bias (NaN). Users whose n differ by a factor of at most 1.25
        share a distribution of ranks; each n and m has weights of its own.

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
    has_seeds = any(runs.are_seeds for runs in recommenders)

    # --- correct each recommender, and its groups
    def result_of(runs: Runs) -> Result:
        return _correct(runs, chosen, measures, setting, has_seeds)

    return results_of_runs(recommenders, groups, result_of)


@dataclass(frozen=True)
class _Answer:
    """What an estimator says of the sample of a run, or, as means, of all runs of a recommender.

    Attributes:
        values: of users.
        bias: (2, metrics) mean errors of the estimator, and their standard errors; NaN if they are
            not known.
        values_by_other_design: of users, by strict bounds as if negatives could be drawn twice, or
            as if they could not; None where the design can hardly matter.
    """

    values: UserValues
    bias: Floats
    values_by_other_design: UserValues | None = None


def _correct(
    runs: Runs,
    estimators: Mapping[str, Estimator],
    metrics: Mapping[str, Metric],
    setting: Setting,
    has_seeds: bool,
) -> Result:
    """Return the result of `correct` for the paired runs of a recommender.

    `has_seeds` says whether any recommender of the call has several runs.
    """
    # --- what the estimators say of each run
    alpha = 1 - setting.confidence_level
    samples = [
        Sample.from_ranks(table, users)
        for table, users in zip(runs.tables, runs.users, strict=True)
    ]
    answers_of_runs = [
        _answers(sample, estimators, tuple(metrics.values()), alpha) for sample in samples
    ]

    # --- rows and findings of each estimator
    rows = list[dict[str, Any]]()
    questions = list[str]()
    on_intervals = list[Finding]()
    on_rows = list[Finding]()
    on_assumptions = list[Finding]()
    for label, estimator in estimators.items():
        answer = _mean_answer([answers[label] for answers in answers_of_runs])
        values = answer.values
        answered, not_answered = answerable({runs.name: values}, [runs])
        if has_seeds and answered == [""]:
            answered = [THESE_RUNS]
        questions += answered
        for question in answered:
            rows += _rows(label, question, metrics, answer, alpha)

        on_intervals += values.findings
        for finding in not_answered:
            on_intervals.append(replace(finding, values={**finding.values, "estimator": label}))
        on_intervals += _on_replacement(label, metrics, answer, alpha, samples[0])
        for row in rows[-len(metrics) :]:  # those of the last question
            on_rows += _on_row(row, estimator)
        # without a smallest and a largest value of a user, intervals are Student's
        if values.one_value and values.has_interval and np.isinf(values.bounds).any():
            on_rows.append(Finding("approximate", values={"estimator": label}))
        if values.has_interval:
            on_assumptions += finding_of_assumption(values.assumes)

    # --- findings in order
    is_uncorrected = any(estimator.is_uncorrected for estimator in estimators.values())
    if is_uncorrected and any(metric.label != "auc" for metric in metrics.values()):
        on_intervals.insert(0, Finding("uncorrected-values"))
    findings = [
        *on_assumptions,
        *on_intervals,
        *on_rows,
        *about_seeds(questions, [runs]),
        *about_users(runs.users[0]),
        *from_readers(("", table) for table in runs.tables),
        *(
            Finding("undefined", row["metric"])
            for row in rows
            if np.isnan(row["value"]) and not samples[0].is_popular
        ),
    ]

    # --- result
    result = Result(rows).assign(users=len(samples[0]))
    if not any(questions):
        result = result.drop(columns="inference")
    return result.found(findings, replace(setting, parameters=runs.first_table.description))


# --- what an estimator says of a sample ---


def _answers(
    sample: Sample, estimators: Mapping[str, Estimator], metrics: tuple[Metric, ...], alpha: float
) -> dict[str, _Answer]:
    """Return what each estimator says of a sample, by its label."""
    fitted = {
        label: estimator.fit(sample.outcomes, metrics) for label, estimator in estimators.items()
    }
    not_known = np.full((2, len(metrics)), np.nan)
    if sample.is_popular:
        return {
            label: _Answer(sampled_values(sample, estimate, metrics, alpha), not_known)
            for label, estimate in fitted.items()
        }
    biases = _biases(fitted, sample, metrics)
    moments = _moments(sample, fitted.values())
    not_explained = [] if all(map(has_bounds, fitted.values())) else unexplained(sample)
    answers = dict[str, _Answer]()
    for label, estimate in fitted.items():
        if has_bounds(estimate):
            moments_of_design = moments[estimate.estimator.replacement]
            values = sampled_values(sample, estimate, metrics, alpha, moments_of_design)
            by_other_design = None
            if _may_differ_by_replacement(sample):
                other_sample = _by_other_design(sample)
                other_estimate = estimators[label].fit(other_sample.outcomes, metrics)
                by_other_design = sampled_values(
                    other_sample, other_estimate, metrics, alpha, moments_of_design
                )
            answers[label] = _Answer(values, not_known, by_other_design)
        else:
            values = sampled_values(sample, estimate, metrics, alpha).tested(not_explained)
            is_zero = are_unbiased(metrics, sample.outcomes.negatives) & (not estimate.is_linear)
            bias = np.where(is_zero, 0.0, biases.get(label, not_known))
            answers[label] = _Answer(values, bias)
    return answers


def _mean_answer(answers: Sequence[_Answer]) -> _Answer:
    """Return what an estimator says of a recommender, from what it says of each run."""
    by_other_design = [
        answer.values_by_other_design
        for answer in answers
        if answer.values_by_other_design is not None
    ]
    return _Answer(
        mean_of_runs([answer.values for answer in answers]),
        np.asarray(np.mean([answer.bias for answer in answers], axis=0)),
        mean_of_runs(by_other_design) if len(by_other_design) == len(answers) else None,
    )


def _moments(
    sample: Sample, fitted: Iterable[Estimate]
) -> dict[bool | None, tuple[Floats, Floats]]:
    """Return the moments of strict bounds by design, which are the same for all assumptions."""
    moments: dict[bool | None, tuple[Floats, Floats]] = {}
    for estimate in filter(has_bounds, fitted):
        if estimate.estimator.replacement not in moments:
            moments[estimate.estimator.replacement] = estimate.moments(sample.counts)
    return moments


def _may_differ_by_replacement(sample: Sample) -> bool:
    """Return whether strict bounds may differ between draws with replacement and without it.

    The variance of x differs between the two designs by a part of about m / n. Where this is far
    below the error of a variance, nothing is computed.
    """
    outcomes = sample.outcomes
    x = outcomes.x
    m = outcomes.negatives
    n = outcomes.candidates
    if outcomes.replacement:
        other_is_possible = m < n
    else:
        has_candidates = (n > 1) | (m == 0)
        other_is_possible = has_candidates & ~impossible_with_replacement(x, m, n)
    largest_part = (m / np.maximum(n - 1, 1)).max()
    is_large = largest_part * np.sqrt(len(sample) / 2) > MOST_DIFFERENT
    return bool(not sample.is_shared and other_is_possible.all() and is_large)


def _by_other_design(sample: Sample) -> Sample:
    """Return the same outcomes, as if they were drawn with replacement, or without it."""
    outcomes = sample.outcomes
    return replace(sample, outcomes=replace(outcomes, replacement=not outcomes.replacement))


# --- biases ---


def _biases(
    fitted: Mapping[str, Estimate], sample: Sample, metrics: tuple[Metric, ...]
) -> dict[str, Floats]:
    """Return the (2, metrics) mean errors of linear estimators and their standard errors, by label.

    The mean error is Σ_r π_r ((A w)_r - f(r)), averaged over users, with the π of mle. The standard
    error is over bootstrap samples of the users.
    """
    linear = {label: estimate.of_groups for label, estimate in fitted.items() if estimate.is_linear}
    if not linear:
        return {}

    # weights w of users with the same n and m, (estimators x metrics, outcomes)
    weights = dict[tuple[int, int], Floats]()
    for group, *weights_by_estimator in zip(sample.outcomes.groups, *linear.values(), strict=True):
        weights[_key(group)] = np.vstack(weights_by_estimator)

    def errors(group: Group, ranks: Floats) -> Floats:
        """Return the (ranks, estimators x metrics) errors (A w)_r - f(r)."""
        expected = group.pmf(ranks) @ weights[_key(group)].T
        true = np.stack([metric.of_rank(ranks, group.candidates) for metric in metrics], axis=1)
        return expected - np.tile(true, len(linear))

    # mean errors of the sample, and of bootstrap samples, (1 + resamples, estimators x metrics)
    resamples = _resamples(sample)
    samples = np.vstack((sample.counts, resamples))
    total_errors = np.zeros((len(samples), len(linear) * len(metrics)))
    for rank_class in MaximumLikelihood().fit(sample.outcomes, metrics).distributions(samples):
        mean_errors = rank_class.probabilities @ rank_class.users.mean(errors, rank_class.ranks)
        total_errors += rank_class.events[:, np.newaxis] * mean_errors
    biases = total_errors / samples.sum(axis=1, keepdims=True)

    standard_errors = biases[1:].std(axis=0, ddof=1)
    are_all_alike = len(np.unique(resamples, axis=0)) == 1
    if are_all_alike:
        standard_errors[:] = np.nan
    with_errors = np.stack((biases[0], standard_errors))
    return dict(zip(linear, np.split(with_errors, len(linear), axis=1), strict=True))


def _resamples(sample: Sample) -> Floats:
    """Return the (resamples, outcomes) numbers of users in bootstrap samples of the users."""
    rng = np.random.default_rng(0)
    users = len(sample)
    has_one_row_each = sample.shares.nnz == users
    if has_one_row_each:  # users with the same outcome are alike
        drawn = rng.multinomial(users, sample.counts / users, BIAS_RESAMPLES)
        return drawn.astype(np.float64)
    times_drawn = rng.multinomial(users, np.full(users, 1 / users), BIAS_RESAMPLES)
    return np.asarray(times_drawn @ sample.shares)


def _key(group: Group) -> tuple[int, int]:
    return group.candidates, group.negatives


# --- rows ---


def _rows(
    label: str, question: str, metrics: Mapping[str, Metric], answer: _Answer, alpha: float
) -> list[dict[str, Any]]:
    """Return the row of each metric by an estimator, with the answer to a question."""
    values = answer.values.of_these_runs() if question == THESE_RUNS else answer.values
    ends = values.interval(alpha)
    return [
        {
            "inference": question,
            "estimator": label,
            "metric": metric,
            "value": values.point[index],
            "low": ends.low[index],
            "high": ends.high[index],
            "assumes": values.assumes,
            "standard_error": ends.standard_error[index],
            "bias": answer.bias[0, index],
            "bias_error": answer.bias[1, index],
        }
        for index, metric in enumerate(metrics)
    ]


# --- findings ---


def _on_row(row: Mapping[str, Any], estimator: Estimator) -> Iterator[Finding]:
    """Yield findings on a row: what its interval shows, or why it may not cover the true value."""
    label = row["metric"]
    name = {"estimator": row["estimator"]}

    if estimator.assumed_shape is not None:
        return

    for what, end in {"the value": "value", "the low end": "low", "the high end": "high"}.items():
        if row[end] < -1e-9 or row[end] > 1 + 1e-9:
            yield Finding("out-of-range", label, values=name | {"what": what, "value": row[end]})

    largest_bias = max(row["standard_error"] / 2, TOLERANCE)
    if not estimator.is_uncorrected and abs(row["bias"]) > largest_bias:
        bias = {"bias": row["bias"], "error": row["bias_error"]}
        yield Finding("bias", label, values=name | bias)
    if np.isnan(row["bias"]):
        yield Finding("no-bias", values=name)


def _on_replacement(
    label: str, metrics: Mapping[str, Metric], answer: _Answer, alpha: float, sample: Sample
) -> Iterator[Finding]:
    """Yield a finding on each metric whose interval is another one by the other design."""
    if answer.values_by_other_design is None:
        return
    ends = answer.values.of_these_runs().interval(alpha)
    other_ends = answer.values_by_other_design.of_these_runs().interval(alpha)
    moved = np.maximum(np.abs(other_ends.low - ends.low), np.abs(other_ends.high - ends.high))
    for index in np.flatnonzero(moved > MOST_DIFFERENT * (ends.high - ends.low)):
        facts = {
            "estimator": label,
            "replacement": sample.outcomes.replacement,
            "other_design": "without" if sample.outcomes.replacement else "with",
            "low": ends.low[index],
            "high": ends.high[index],
            "other_low": other_ends.low[index],
            "other_high": other_ends.high[index],
        }
        yield Finding("replacement", list(metrics)[index], values=facts)
