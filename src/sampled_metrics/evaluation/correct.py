"""Estimate true metrics from sampled ranks, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import TOLERANCE, check_labels
from sampled_metrics.estimators import (
    Estimate,
    LinearEstimate,
    estimator,
    estimator_labels,
    estimator_name,
    linear_estimator,
)
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.estimators.rank_prior import distribution_of_ranks
from sampled_metrics.evaluation.evaluate import METRICS
from sampled_metrics.evaluation.intervals import IntervalOptions, Progress, in_blocks, no_progress, uncertainty
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import Metric, metric, metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import sampled_ranks

ESTIMATORS = ("bv-0.1", "bv-0.01", "mle")
"""The default estimators: one with the best order, one with a small error, and one without γ."""

MOST_GROUPS = 20
"""The bias is estimated for at most this many different (candidates, negatives)."""

MOST_PROBABILITIES = 2**27
"""The bias is estimated for at most this many P(x | rank), which take 1 GiB."""


def correct(
    ranks: RanksLike,
    *,
    candidates: PerUser | None = None,
    negatives: PerUser | None = None,
    replacement: bool = False,
    adaptive: bool = False,
    estimators: str | Sequence[str] = ESTIMATORS,
    metrics: str | Sequence[str] = METRICS,
    confidence_level: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Estimate the true metrics from ranks among sampled negatives.

    If x of a user's m sampled negatives rank above the held-out item, the sampled rank is x + 1. Estimators that are
    linear in the sample give the user a weight w_x; the estimate is the mean weight (section 5 of the paper).

    Args:
        ranks: (users,) ranks of the held-out items among themselves and m sampled negatives, from 1 to m + 1; or a
            DataFrame with the column rank and optionally user, candidates and negatives.
        candidates: (users,) or one number: n, the number of items in an exact evaluation, including the held-out item.
            Leave it out if the ranks have this column. An array is in the order of the ranks.
        negatives: (users,) or one number: m, the number of sampled negatives; likewise.
        replacement: whether a negative could be sampled twice for the same user.
        adaptive: whether m depends on the sample; then only mle is valid.
        estimators: labels such as uncorrected, bv-0.1, cls, mle (docs/which-estimator.md).
        metrics: labels, as in `evaluate`.
        confidence_level: probability that the interval covers the mean of the estimator over users and samples.
        method: as in `evaluate`. Users are the unit, so the interval includes the error of sampling.
        n_resamples: as in `evaluate`.
        seed: as in `evaluate`.
        progress: as in `evaluate`.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high, standard_error, bias,
        users. The bias is the mean error of the estimator under the distribution of true ranks that mle finds.
        Intervals ignore it; a remark says where it matters. It is missing (NaN) for estimators that are not linear in
        the sample, for more than 20 different (candidates, negatives), and if candidates times (negatives + 1), the
        size of P(x | rank), exceeds 2²⁷.

    Raises:
        DataError: the ranks are not sampled ranks, an estimator is not valid for them, or it needs an array of more
            than 4 GiB; the message says why.
        ConfigError: a metric, an estimator or an option does not exist, or a label is repeated.

    Examples:
        Six users with ranks among 100 sampled negatives, of a catalogue of 3541 candidates:

        >>> import sampled_metrics as sm
        >>> result = sm.correct(
        ...     [1, 3, 1, 12, 40, 2],
        ...     candidates=3541,
        ...     negatives=100,
        ...     estimators=["uncorrected", "bv-0.1"],
        ...     metrics="recall@10",
        ... )
        >>> [(row.estimator, round(row.value, 4)) for row in result.itertuples()]
        [('uncorrected', 0.6667), ('bv-0.1', 0.1315)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
        R. Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021.
    """
    sampled = sampled_ranks(ranks, candidates, negatives, replacement=replacement, adaptive=adaptive)
    labels, estimators = check_labels(metrics, "metrics"), estimator_labels(estimators)
    wanted = [metric(label) for label in labels]
    options = IntervalOptions(confidence_level, method, n_resamples, seed)
    outcomes, which = Outcomes.observed(sampled)
    counts = np.bincount(which, minlength=len(outcomes))
    fitted = {label: estimator(label).fit(outcomes, wanted) for label in estimators}
    truth = _estimated_distribution(outcomes, counts) if not adaptive else None
    rows = []
    for label, estimate in fitted.items():
        weights = estimate.weights if isinstance(estimate, LinearEstimate) else None
        held = outcomes.most_candidates if weights is None else len(outcomes)
        interval = uncertainty(in_blocks(estimate.estimate, held), counts, options, weights=weights, progress=progress)
        bias = _bias(label, estimate, outcomes, counts, wanted, truth)
        columns = estimate.estimate(counts), interval.low, interval.high, interval.standard_error, bias
        rows += [(label, *row, len(which)) for row in zip(labels, *columns, strict=True)]
    table = Result(rows, columns=["estimator", "metric", "value", "low", "high", "standard_error", "bias", "users"])
    return table.with_remarks(_remarks(table))


def _estimated_distribution(outcomes: Outcomes, counts: Ints) -> Floats | None:
    """Return the (largest n,) distribution of true ranks found by mle; None if that takes too much work."""
    sizes = [group.candidates * (group.negatives + 1) for group in outcomes.groups]
    largest = max(*sizes, outcomes.most_candidates * len(outcomes))
    if len(sizes) > MOST_GROUPS or largest > MOST_PROBABILITIES:
        return None
    return distribution_of_ranks(MaximumLikelihood(), outcomes, counts[np.newaxis])[0]


def _bias(
    label: str, estimate: Estimate, outcomes: Outcomes, counts: Ints, metrics: Sequence[Metric], truth: Floats | None
) -> Floats:
    """Return the mean error of a linear estimator, Σ_r π_r ((A w)_r - f(r)), with π found by mle; NaN for others."""
    if not isinstance(estimate, LinearEstimate) or truth is None:
        return np.full(len(metrics), np.nan)
    bias = np.zeros(len(metrics))
    for group in outcomes.groups:
        design = SamplingDesign(group.negatives, group.replacement)
        weights = linear_estimator(label).fit(Outcomes.of(design, group.candidates), metrics).weights
        prior = truth[: group.candidates] / truth[: group.candidates].sum()
        expected = (prior @ group.distribution()) @ weights.T
        true = np.array([prior @ each.values(group.candidates) for each in metrics])
        bias += (expected - true) * counts[group.outcomes].sum()
    return bias / counts.sum()


def _remarks(table: Result) -> list[str]:
    """Return sentences on the intervals that may not cover the true value."""
    remarks = []
    if "uncorrected" in set(table["estimator"]) and any(label != "auc" for label in table["metric"]):
        remarks.append(
            "Uncorrected: the metric of the sampled rank is not that of the true rank (AUC excepted), and can order "
            "recommenders wrongly."
        )
    if "auc" in set(table["metric"]) and any(label.startswith("mes") for label in table["estimator"]):
        remarks.append("MES: its AUC is far too low, as the flattest distribution of ranks has too many bad ones.")
    for label, rows in table.groupby("estimator", sort=False):
        large = rows[rows["bias"].abs() > np.maximum(rows["standard_error"] / 2, TOLERANCE)]
        if label == "uncorrected" or not len(large):
            continue
        off = ", ".join(
            f"{metric_name(str(row.metric))} {abs(row.bias):.2g} too {'low' if row.bias < 0 else 'high'}"
            for row in large.itertuples()
        )
        remarks.append(f"{estimator_name(str(label))}: the interval ignores the bias. The estimated bias: {off}.")
    return remarks
