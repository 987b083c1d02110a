"""Estimate true metrics from sampled ranks, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sampled_metrics._defaults import ESTIMATORS, METRICS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import TOLERANCE, Floats, require_confidence_level
from sampled_metrics.estimators import Estimate, Estimator, EstimatorsLike, estimators_by_label, linear_estimator
from sampled_metrics.estimators.rank_distribution import MaximumLikelihood
from sampled_metrics.estimators.strict_bounds import has_bounds
from sampled_metrics.evaluation.evaluate import about_metrics, from_readers
from sampled_metrics.evaluation.result import Result, by_group, by_recommender
from sampled_metrics.evaluation.values import UserValues, about_users, finding_of_bounds, mean_of_seeds, sampled_values
from sampled_metrics.inference.findings import Finding, Setting
from sampled_metrics.inference.means import Intervals
from sampled_metrics.inference.strict import Sample, unexplained
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric, metrics_by_label
from sampled_metrics.ranks.given import Groups, by_seed, require_distinct_seeds, require_same_design, seeds_by_name
from sampled_metrics.ranks.reading import UNNAMED
from sampled_metrics.ranks.sampled import SampledRanks, impossible_with_replacement
from sampled_metrics.sampling.outcomes import Group

MOST_DIFFERENT = 0.1
"""A finding has the interval of draws with replacement, or without, if it moves by more than this part of its width."""

LARGE_WEIGHT = 10.0
"""A remark names estimators in which a user counts more than this."""

BIAS_RESAMPLES = 200
"""Bootstrap samples for the error of the bias."""


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

    If x of a user's m sampled negatives rank above the held-out item, the sampled rank is x + 1. Estimators that are
    linear in the sample give the user a weight w_x; the estimate is the mean weight (section 5 of the paper).

    Args:
        ranks: a `SampledRanks`, as `sampled_ranks` or `rank_among_negatives` returns it; or a mapping from the names of
            recommenders to them. A list of them in place of one holds independent draws of negatives that all users
            share (``drawn="once"``), or the seeds of a recommender: the value is the mean, and their spread a part of
            the interval. This is not possible with strict bounds.
        estimators: labels such as uncorrected, bv-0.1, cls, mle (docs/how-to/correct.md). The default is decreasing
            and free. An estimator of your own is an object with the method `fit`, as in
            `sampled_metrics.estimators.protocol`, in place of a label; str() gives its label.
        metrics: labels such as recall@10, ndcg@10, ap, auc.
        groups: True for rows by the groups that the reader kept, or a mapping from users to groups, as in `evaluate`.
        confidence_level: probability that the interval covers the true metric (free, decreasing) or the mean of the
            estimator over users and samples (others). Users are the unit, so the interval includes the error of
            sampling. It is the likelihood ratio of a mean of values with bounds; that of mle, mes and smooth is
            Student's interval of their pseudo-values, and approximate.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high, assumes,
        standard_error, bias, bias_error, users, and with groups a column group. The interval holds the true metric if
        the assumption in `assumes` is right: none, decreasing, or that the bias of the estimator is zero. The value of
        free and decreasing is that of smooth, or the nearest end of the interval.

        The bias is the mean error of the estimator under the distributions of true ranks that mle finds, and bias_error
        its standard error over users and samples. Intervals ignore the bias; a remark says where it matters. It is
        missing (NaN) for estimators that are not linear in the sample. Users whose n differ by a factor of at most 1.25
        share a distribution of ranks; each n and m has weights of its own.

    Raises:
        DataError: the ranks are exact, or have not been read by a reader; an estimator is not valid for them, or needs
            an array of more than 4 GiB; the message says why.
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
    wanted, setting = metrics_by_label(metrics), Setting(require_confidence_level(confidence_level))
    chosen = estimators_by_label(estimators)
    seeds = seeds_by_name(ranks if isinstance(ranks, Mapping) else {UNNAMED: ranks}, "correct")

    def of_recommender(name: str, tables: list[SampledRanks]) -> Result:
        named = by_seed({name: tables})
        require_same_design(named)
        require_distinct_seeds({name: tables})
        return by_group(named, groups, lambda *parts: _correct(parts, chosen, wanted, setting, parts[0] is tables[0]))

    return by_recommender({name: of_recommender(name, tables) for name, tables in seeds.items()})


def _correct(
    tables: Sequence[SampledRanks],
    estimators: Mapping[str, Estimator],
    metrics: Mapping[str, Metric],
    setting: Setting,
    explains: bool,
) -> Result:
    """Return the result of `correct` of the seeds of a recommender; `explains` adds findings on its intervals."""
    first, *further = tables
    users, _ = first.pair(further, [f"seed {number}" for number, _ in enumerate(tables, 1)])
    samples = [Sample.from_ranks(*one) for one in zip(tables, users, strict=True)]
    sample, wanted, alpha = samples[0], tuple(metrics.values()), 1 - setting.confidence_level
    of_samples = [_of_sample(one, estimators, metrics, alpha) for one in samples]
    unbiased, rows = np.nan, list[dict[str, Any]]()  # the AUC of samples; there is none if a user has no negatives
    if all((one.outcomes.negatives > 0).all() for one in samples):
        fits = [(one, linear_estimator("uncorrected").fit(one.outcomes, [metric("auc")])) for one in samples]
        unbiased = float(np.mean([fit.estimate(one.counts)[0] for one, fit in fits]))
    of_intervals, on_rows = list[Finding](), list[Finding]()
    for label in estimators:
        of_one, bias = mean_of_seeds([values[label] for values, _ in of_samples]), np.full((2, len(wanted)), np.nan)
        if all(label in biases for _, biases in of_samples):
            bias = np.mean([biases[label] for _, biases in of_samples], axis=0)
        ends = of_one.interval(alpha)
        of_intervals += of_one.findings
        point = of_one.point if of_one.have_one_value else np.fmax(np.fmin(of_one.point, ends.high), ends.low)
        columns = zip(metrics, point, ends.low, ends.high, ends.standard_error, *bias, strict=True)
        for of_metric, value, low, high, error, mean_error, bias_error in columns:
            row = {"estimator": label, "metric": of_metric, "value": value, "low": low, "high": high}
            row |= {"assumes": of_one.assumes, "standard_error": error, "bias": mean_error, "bias_error": bias_error}
            rows.append(row)
            on_rows += _on_row(row, estimators[label], metrics[of_metric], sample, unbiased)
        on_rows += _on_estimator(label, of_one)
    if any(estimator.is_uncorrected for estimator in estimators.values()) and any(m.label != "auc" for m in wanted):
        of_intervals.insert(0, Finding("uncorrected-values"))
    hidden = set() if explains else {"bounds", "supported"}
    findings = [*of_intervals, *on_rows, *about_metrics(first, metrics, np.zeros(len(wanted)))]
    findings += [*about_users(users[0]), *from_readers(("", one) for one in tables)]
    undefined = [Finding("undefined", row["metric"]) for row in rows if np.isnan(row["value"])]
    ordered = sorted([*findings, *undefined], key=lambda finding: finding.kind != "bounds")
    table = Result(rows).assign(users=len(sample))
    return table.found(
        [finding for finding in ordered if finding.kind not in hidden], replace(setting, parameters=first.description)
    )


def _of_sample(
    sample: Sample, estimators: Mapping[str, Estimator], metrics: Mapping[str, Metric], alpha: float
) -> tuple[dict[str, UserValues], dict[str, Floats]]:
    """Return the values of a sample by estimator, and the biases of linear estimators, as `_biases` does."""
    wanted = tuple(metrics.values())
    fitted = {label: estimator.fit(sample.outcomes, wanted) for label, estimator in estimators.items()}
    moments: dict[bool | None, tuple[Floats, Floats]] = {}
    for estimate in filter(has_bounds, fitted.values()):  # the same for all assumptions
        if estimate.estimator.replacement not in moments:
            moments[estimate.estimator.replacement] = estimate.moments(sample.counts)
    not_explained = [] if all(map(has_bounds, fitted.values())) else unexplained(sample)
    values = {}
    for label, one in fitted.items():
        known = moments.get(one.estimator.replacement) if has_bounds(one) else None
        of_one = sampled_values(sample, one, wanted, alpha, known)
        further: Iterable[Finding] = not_explained
        if known is not None:
            further = _on_replacement(sample, label, estimators[label], metrics, of_one.interval(alpha), known, alpha)
        values[label] = replace(of_one, findings=(*of_one.findings, *further))
    return values, _biases(fitted, sample, wanted)


def _on_row(
    row: Mapping[str, Any], estimator: Estimator, metric: Metric, sample: Sample, unbiased_auc: float
) -> Iterator[Finding]:
    """Yield findings on a row: what its interval shows, or why it may not cover the true value."""
    label, name = row["metric"], {"estimator": row["estimator"]}
    least = unbiased_auc - max(4 * row["standard_error"], 0.01)
    if estimator.underestimates_auc and metric.label == "auc" and row["value"] < least:
        yield Finding("auc-too-low", label, values=name | {"auc": unbiased_auc})
    if estimator.assumed_shape is not None:
        if not np.isnan(row["low"]):
            yield finding_of_bounds(row, sample.outcomes.negatives)
        return
    for what, end in {"the value": "value", "the low end": "low", "the high end": "high"}.items():
        if row[end] < -1e-9 or row[end] > 1 + 1e-9:
            yield Finding("out-of-range", label, values=name | {"what": what, "value": row[end]})
    if not estimator.is_uncorrected and abs(row["bias"]) > max(row["standard_error"] / 2, TOLERANCE):
        has_interval = not np.isnan(row["low"])
        of_bias = {"bias": row["bias"], "error": row["bias_error"], "has_interval": has_interval}
        yield Finding("bias", label, values=name | of_bias)
    if np.isnan(row["bias"]):
        yield Finding("no-bias", values=name)


def _on_replacement(
    sample: Sample,
    label: str,
    estimator: Estimator,
    metrics: Mapping[str, Metric],
    ends: Intervals,
    moments: tuple[Floats, Floats],
    alpha: float,
) -> Iterator[Finding]:
    """Yield a finding on each metric whose strict bounds are others if a negative could be drawn twice, or could not.

    The variance of x differs between the two designs by a part of about m / n. Where this is far below the error of a
    variance, nothing is computed.
    """
    outcomes, wanted = sample.outcomes, tuple(metrics.values())
    x, m, n = outcomes.x, outcomes.negatives, outcomes.candidates
    could_be = m < n if outcomes.replacement else ((n > 1) | (m == 0)) & ~impossible_with_replacement(x, m, n)
    differ = (m / np.maximum(n - 1, 1)).max() * np.sqrt(len(sample) / 2) > MOST_DIFFERENT
    if sample.is_shared or not (could_be.all() and differ):
        return
    other = replace(sample, outcomes=replace(outcomes, replacement=not outcomes.replacement))
    others = sampled_values(other, estimator.fit(other.outcomes, wanted), wanted, alpha, moments).interval(alpha)
    moved = np.maximum(np.abs(others.low - ends.low), np.abs(others.high - ends.high))
    for row in np.flatnonzero(moved > MOST_DIFFERENT * (ends.high - ends.low)):
        values = {"estimator": label, "replacement": outcomes.replacement, "low": ends.low[row], "high": ends.high[row]}
        values |= {"other_low": others.low[row], "other_high": others.high[row]}
        yield Finding("replacement", list(metrics)[row], values=values)


def _on_estimator(label: str, values: UserValues) -> Iterator[Finding]:
    """Yield findings on an estimator: an approximate interval, or weights that are too large."""
    if not values.have_one_value:
        return
    largest = float(np.abs(values.bounds).max())
    if np.isinf(largest) and values.has_interval:
        yield Finding("approximate", values={"estimator": label})
    elif np.isfinite(largest) and largest > LARGE_WEIGHT:
        yield Finding("large-weight", values={"estimator": label, "largest": largest})


def _biases(fitted: Mapping[str, Estimate], sample: Sample, metrics: tuple[Metric, ...]) -> dict[str, Floats]:
    """Return the (2, metrics) mean errors of linear estimators and their standard errors, by label.

    The mean error is Σ_r π_r ((A w)_r - f(r)), averaged over users, with the π of mle. Its standard error is that over
    bootstrap samples of the users.
    """
    linear = {label: estimate.of_groups for label, estimate in fitted.items() if estimate.is_linear}
    if not linear:
        return {}
    rng, users = np.random.default_rng(0), len(sample)
    if sample.shares.nnz == users:  # users with the same outcome are alike
        drawn = rng.multinomial(users, sample.counts / users, BIAS_RESAMPLES).astype(np.float64)
    else:
        drawn = np.asarray(rng.multinomial(users, np.full(users, 1 / users), BIAS_RESAMPLES) @ sample.shares)
    samples = np.vstack((sample.counts, drawn))
    weights = [np.vstack(of_estimators) for of_estimators in zip(*linear.values(), strict=True)]
    of_group = {_key(group): of_one for group, of_one in zip(sample.outcomes.groups, weights, strict=True)}

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
