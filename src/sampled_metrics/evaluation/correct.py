"""Estimate true metrics from sampled ranks, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._defaults import ESTIMATORS, METRICS
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import TOLERANCE, Floats, Ints, counted
from sampled_metrics.estimators import (
    Estimate,
    Estimator,
    EstimatorsLike,
    estimator_name,
    estimators_by_label,
    linear_estimator,
)
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.estimators.shapes import ASSUMPTIONS
from sampled_metrics.estimators.strict_bounds import has_bounds
from sampled_metrics.evaluation.by_group import by_group
from sampled_metrics.evaluation.evaluate import about_users, equal_metrics, undefined
from sampled_metrics.evaluation.result import Result, by_recommender, with_clauses
from sampled_metrics.inference.intervals import IntervalOptions, evaluated, in_blocks, uncertainty
from sampled_metrics.inference.strict_intervals import (
    StrictInterval,
    contradictions,
    strict_interval,
    supported,
    tested,
    unexplained,
    unexplained_sentence,
)
from sampled_metrics.inference.users import Users, users_by_outcome
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric, metric_name, metrics_by_label
from sampled_metrics.ranks.given import tables_by_name
from sampled_metrics.ranks.groups import Groups
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.outcomes import Group, Outcomes

LARGE_WEIGHT = 10.0
"""A remark names estimators in which a user counts more than this."""

BIAS_RESAMPLES = 200
"""Bootstrap samples for the error of the bias."""

_COLUMNS = ["estimator", "metric", "value", "low", "high", "assumes", "standard_error", "bias", "bias_error"]


@on_one_thread
def correct(
    ranks: Any,
    *,
    estimators: EstimatorsLike = ESTIMATORS,
    metrics: MetricsLike = METRICS,
    groups: Groups = False,
    confidence_level: float = 0.95,
    method: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Estimate the true metrics from ranks among sampled negatives.

    If x of a user's m sampled negatives rank above the held-out item, the sampled rank is x + 1. Estimators that are
    linear in the sample give the user a weight w_x; the estimate is the mean weight (section 5 of the paper).

    Args:
        ranks: a `SampledRanks`, as `sampled_ranks` or `rank_among_negatives` returns it; or a mapping from the names of
            recommenders to them.
        estimators: labels such as uncorrected, bv-0.1, cls, mle (docs/which-estimator.md). The default is decreasing
            and free. An estimator of your own is an object with the method `fit`, as in
            `sampled_metrics.estimators.protocol`, in place of a label; str() gives its label.
        metrics: labels such as recall@10, ndcg@10, ap, auc.
        groups: True for rows by the groups that the reader kept, or a mapping from users to groups, as in `evaluate`.
        confidence_level: probability that the interval covers the true metric (free, decreasing, convex) or the mean of
            the estimator over users and samples (others).
        method: delta (likelihood ratio) or bootstrap (BCa). The default is delta, or bootstrap for estimators that are
            not linear in the sample. Users are the unit, so the interval includes the error of sampling.
        n_resamples: bootstrap samples, from 100 to 1,000,000.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high, assumes,
        standard_error, bias, bias_error, users, and with groups a column group. The interval holds the true metric if
        the assumption in `assumes` is right: none, decreasing, convex, or that the bias of the estimator is zero. The
        value of free, decreasing and convex is that of smooth, or the nearest end of the interval.

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
    wanted, options = metrics_by_label(metrics), IntervalOptions(confidence_level, method, n_resamples, seed)
    chosen = estimators_by_label(estimators)
    tables = tables_by_name(ranks, "correct")

    def of_recommender(name: str, table: SampledRanks) -> Result:
        def of_rows(part: SampledRanks) -> Result:
            return _correct(part, chosen, wanted, options, progress, explains=part is table)

        return by_group(table, name, groups, of_rows)

    return by_recommender({name: of_recommender(name, table) for name, table in tables.items()})


def _correct(
    ranks: SampledRanks,
    estimators: Mapping[str, Estimator],
    metrics: Mapping[str, Metric],
    options: IntervalOptions,
    progress: Progress,
    *,
    explains: bool,
) -> Result:
    """Return the result of `correct` of the ranks of a recommender; `explains` adds sentences on its intervals."""
    outcomes, outcome = Outcomes.observed(ranks)
    by_outcome = users_by_outcome((outcome, ranks.user_numbers, len(outcomes)))
    counts = np.asarray(by_outcome.counts @ by_outcome.shares[0])
    wanted = tuple(metrics.values())
    fitted = {label: estimator.fit(outcomes, wanted) for label, estimator in estimators.items()}
    p_values = {} if all(map(has_bounds, fitted.values())) else unexplained(outcomes, by_outcome, options.seed)
    cautions = [unexplained_sentence(p_value) for p_value in p_values.values()]
    cautions += _on_uncorrected(estimators, metrics)
    limits = np.zeros(len(wanted)), np.array([one.largest for one in wanted])
    bias = _biases(fitted, outcomes, by_outcome, wanted, options.seed)
    moments = _moments(fitted, counts)
    tests, parts = list[str](), list[pd.DataFrame]()
    for label, estimate in fitted.items():
        if has_bounds(estimate):
            value, variances = moments[estimate.estimator.replacement]
            support = supported(estimate, by_outcome, options, variances)
            strict = strict_interval([estimate], by_outcome, options, limits, [support], progress)
            columns = _of_bounds(value, strict)
            cautions += contradictions(support)
            tests += tested({"": support})
        else:
            columns = _of_estimate(estimate, by_outcome, options, limits, progress)
            columns |= bias.get(label, {})
            if p_values:
                columns |= {"low": np.nan, "high": np.nan}
        parts.append(pd.DataFrame({"estimator": label, "metric": list(metrics)} | columns))
    table = Result(pd.concat(parts, ignore_index=True).reindex(columns=_COLUMNS))
    table = Result(table.assign(users=int(by_outcome.counts.sum())))
    table.attrs = {"confidence_level": options.confidence_level, "parameters": ranks.description}
    unbiased = None
    if (outcomes.negatives > 0).all():
        unbiased = float(linear_estimator("uncorrected").fit(outcomes, [metric("auc")]).estimate(counts)[0])
    explanation = [*knowledge(table, estimators, options.confidence_level, outcomes.negatives), *tests]
    return table.with_remarks(
        [
            *(explanation if explains else []),
            *_remarks(table, estimators, metrics, unbiased),
            *_warnings(fitted),
            *undefined(table),
            *equal_metrics(ranks, metrics),
            *about_users(by_outcome),
            *ranks.notes,
        ]
    ).with_cautions([*cautions, *ranks.cautions])


def _moments(fitted: Mapping[str, Estimate], counts: Floats) -> dict[bool | None, tuple[Floats, Floats]]:
    """Return means and variances by `smooth`, by the replacement that strict bounds assume; all shapes share them."""
    bounds = {estimate.estimator.replacement: estimate for estimate in fitted.values() if has_bounds(estimate)}
    return {replacement: estimate.moments(counts) for replacement, estimate in bounds.items()}


def _of_bounds(value: Floats, strict: StrictInterval) -> dict[str, Any]:
    """Return the columns of strict bounds; the value is that of `smooth`, or the nearest end of the interval."""
    nearest = np.fmax(np.fmin(value, strict.high), strict.low)
    return {"value": nearest, "low": strict.low, "high": strict.high, "assumes": strict.assumes}


def _of_estimate(
    estimate: Estimate,
    by_outcome: Users,
    options: IntervalOptions,
    limits: tuple[Floats, Floats],
    progress: Progress,
) -> dict[str, Any]:
    """Return the columns of an estimator whose bias is taken to be zero."""
    weights = None if estimate.weights is None else by_outcome.weights(estimate.weights)
    statistic = by_outcome.statistic(in_blocks(estimate.estimate, by_outcome.shares[0].shape[1]))
    values = evaluated(statistic, by_outcome.counts, options, weights, progress)
    interval = uncertainty(values, by_outcome.counts, options, bounds=estimate.bounds or limits, weights=weights)
    return {
        "value": values.estimate,
        "low": interval.low,
        "high": interval.high,
        "assumes": "bias is zero",
        "standard_error": interval.standard_error,
    }


def _on_uncorrected(estimators: Mapping[str, Estimator], metrics: Mapping[str, Metric]) -> list[str]:
    """Return a caution on the rows that hold the metric of the sampled rank, if there are any."""
    has_bias = any(one.label != "auc" for one in metrics.values())
    if not (has_bias and any(estimator.is_uncorrected for estimator in estimators.values())):
        return []
    return [
        "The rows of uncorrected have the metric of the sampled rank, which is not that of the true rank (AUC "
        "excepted) and can order recommenders wrongly."
    ]


def knowledge(
    table: Result, estimators: Mapping[str, Estimator], confidence_level: float, negatives: Ints
) -> list[str]:
    """Return sentences on what the sample says about the true metrics, under each assumption."""
    remarks = []
    least, most = int(negatives.min()), int(negatives.max())
    allow = f"{counted(least, 'negative')} allow{'s' * (least == 1)}"
    if least < most:
        allow = f"{least} to {most} negatives allow"
    confidence = f"ith {100 * confidence_level:g} % confidence"
    bounds = [label for label, estimator in estimators.items() if estimator.assumed_shape is not None]
    for row in table[table["estimator"].isin(bounds)].to_dict("records"):
        name, assumption = metric_name(str(row["metric"])), ASSUMPTIONS.get(str(row["assumes"]), "")
        if np.isnan(row["low"]):
            continue
        low, high = rounded_outward(row["low"], row["high"])
        if assumption:
            sentence = f"W{confidence}, {{}}, if {assumption}."
            remarks.append((sentence, f"{name} is between {low} and {high}"))
        else:
            sentence = f"Without an assumption on the ranks, {allow} {{}}, w{confidence}."
            remarks.append((sentence, f"any {name} from {low} to {high}"))
    return with_clauses(remarks)


def rounded_outward(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval, rounded outward, with as many decimals as its width has, to two digits."""
    decimals = min(max(1 - int(np.floor(np.log10(high - low))), 2), 6) if high > low else 6
    scale = 10.0**decimals
    outward = np.floor(low * scale + 1e-9) / scale + 0.0, np.ceil(high * scale - 1e-9) / scale + 0.0  # 0.0, not -0.0
    low_text, high_text = (f"{end:.{decimals}f}" if 0 < end < 1 else f"{end:g}" for end in outward)
    return low_text, high_text


def _biases(
    fitted: Mapping[str, Estimate], outcomes: Outcomes, by_outcome: Users, metrics: tuple[Metric, ...], seed: int
) -> dict[str, dict[str, Floats]]:
    """Return the (metrics,) mean errors of linear estimators and their standard errors, as columns by label.

    The mean error is Σ_r π_r ((A w)_r - f(r)), averaged over users, with the π of mle. Its standard error is that over
    bootstrap samples of the users.
    """
    linear = {label: estimate.of_groups for label, estimate in fitted.items() if estimate.is_linear}
    if not linear:
        return {}
    users = by_outcome.counts.sum()
    drawn = np.random.default_rng(seed).multinomial(users, by_outcome.counts / users, size=BIAS_RESAMPLES)
    samples = np.asarray(np.vstack((by_outcome.counts, drawn)) @ by_outcome.shares[0])
    weights = [np.vstack(of_estimators) for of_estimators in zip(*linear.values(), strict=True)]
    of_group = {_key(group): of_one for group, of_one in zip(outcomes.groups, weights, strict=True)}

    def errors(group: Group, ranks: Floats) -> Floats:
        truth = np.stack([one.of_rank(ranks, group.candidates) for one in metrics], axis=1)
        return group.pmf(ranks) @ of_group[_key(group)].T - np.tile(truth, len(linear))

    total = np.zeros((len(samples), len(linear) * len(metrics)))
    for of_class in MaximumLikelihood().fit(outcomes, metrics).distributions(samples):
        mean_errors = of_class.probabilities @ of_class.users.mean(errors, of_class.ranks)
        total += of_class.events[:, np.newaxis] * mean_errors
    bias = total / samples.sum(axis=1, keepdims=True)
    error = bias[1:].std(axis=0, ddof=1)
    error[len(np.unique(drawn, axis=0)) == 1] = np.nan  # all users are alike
    by_estimator = np.split(np.stack((bias[0], error)), len(linear), axis=1)
    return {
        label: {"bias": of_one[0], "bias_error": of_one[1]} for label, of_one in zip(linear, by_estimator, strict=True)
    }


def _key(group: Group) -> tuple[int, int]:
    return group.candidates, group.negatives


def _remarks(
    table: Result, estimators: Mapping[str, Estimator], metrics: Mapping[str, Metric], unbiased_auc: float | None
) -> list[str]:
    """Return sentences on the rows whose intervals may not cover the true value."""
    remarks: list[tuple[str, str]] = []
    for row in table.to_dict("records"):
        label, of_metric = str(row["estimator"]), str(row["metric"])
        name, what = estimator_name(label), metric_name(of_metric)
        estimator, is_auc = estimators[label], metrics[of_metric].label == "auc"
        least = -1.0 if unbiased_auc is None else unbiased_auc - max(4 * row["standard_error"], 0.01)
        if estimator.underestimates_auc and is_auc and row["value"] < least:
            sentence = f"{name}: its AUC is too low. The AUC of the sample, which has no bias, is {unbiased_auc:.3f}."
            remarks.append((sentence, ""))
        if estimator.assumed_shape is not None:
            continue
        ends = {"the value": row["value"], "the low end": row["low"], "the high end": row["high"]}
        out = [f"{end} of {what} ({at:.4g})" for end, at in ends.items() if at < -1e-9 or at > 1 + 1e-9]
        if out:
            sentence = (
                f"{name}: a metric is from 0 to 1, but not {{}}. Its weights vary too much for this sample; take "
                "an estimator with a larger γ, or more negatives or users."
            )
            remarks.append((sentence, ", ".join(out)))
        if not estimator.is_uncorrected and abs(row["bias"]) > max(row["standard_error"] / 2, TOLERANCE):
            sentence = f"{name}: the interval ignores the bias. The estimated bias, with its standard error: {{}}."
            remarks.append((sentence, f"{what} {_with_error(row['bias'], row['bias_error'])}"))
        if np.isnan(row["bias"]):
            sentence = "No bias is estimated for {}: it is known of estimators that are linear in a uniform sample."
            remarks.append((sentence, name))
    return with_clauses(remarks)


def _with_error(value: float, error: float) -> str:
    """Return a value with its standard error, both with as many decimals as the first digit of the error needs."""
    if not error > 0:
        return f"{value:+.1g} (its standard error is not known, as all users are alike)"
    decimals = max(0, -int(np.floor(np.log10(error))))
    return f"{value:+.{decimals}f} ± {error:.{decimals}f}"


def _warnings(fitted: Mapping[str, Estimate]) -> list[str]:
    """Return sentences on estimators whose equations are badly conditioned."""
    remarks = []
    for label, estimate in fitted.items():
        if estimate.bounds is None:
            continue
        least, most = estimate.bounds
        largest = max(-least.min(), most.max())
        if largest > LARGE_WEIGHT:
            remarks.append(
                f"{estimator_name(label)}: a single user counts up to {largest:.2g}, where a metric is at most 1, "
                "because its equations are badly conditioned. Take a larger γ."
            )
    return remarks
