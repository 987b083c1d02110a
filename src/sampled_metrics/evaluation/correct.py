"""True metrics behind sampled ranks, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import TOLERANCE, labels_of
from sampled_metrics.estimators import Estimate, LinearEstimate, estimator, estimator_labels, estimator_name
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.estimators.rank_prior import distribution_of_ranks
from sampled_metrics.evaluation.evaluate import METRICS
from sampled_metrics.evaluation.intervals import IntervalOptions, Progress, in_blocks, uncertainty
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import Metric, metric, metric_name
from sampled_metrics.ranks.frames import sampled_ranks as as_sampled
from sampled_metrics.sampling.outcomes import Outcomes

ESTIMATORS = ("bv-0.1", "bv-0.01", "mle")
"""Estimators unless others are stated: one that orders well, one that is close, and one without a γ."""

MOST_GROUPS = 20
"""Up to this many different (candidates, negatives) the bias is estimated."""

MOST_PROBABILITIES = 2**27
"""Up to this many P(x | rank), 1 GiB of them, the bias is estimated."""


def correct(
    sampled_ranks: Any,
    candidates: ArrayLike | None = None,
    negatives: ArrayLike | None = None,
    replacement: bool = False,
    estimators: str | Sequence[str] = ESTIMATORS,
    metrics: str | Sequence[str] = METRICS,
    *,
    adaptive: bool = False,
    confidence: float = 0.95,
    interval: str = "bootstrap",
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = lambda blocks: blocks,
) -> Result:
    """Estimate the true metrics behind ranks among sampled negatives (section 5 of the paper, and later estimators).

    Args:
        sampled_ranks: (users,) ranks of the held-out items among themselves and m sampled negatives, from 1 to m + 1;
            or a Series whose index is the user; or a DataFrame with the column rank, and user, candidates and negatives
            where they are not given here.
        candidates: (users,) or one number: n, the items that an exact evaluation would rank, the held-out one included.
        negatives: (users,) or one number: m, how many were sampled. This and candidates may be a Series, which is
            matched by its index, as of `evaluate`.
        replacement: whether a negative could be sampled twice for the same user.
        estimators: labels such as uncorrected, bv-0.1, cls, mle (docs/which-estimator.md).
        metrics: labels, as of `evaluate`.
        adaptive: whether m depends on what was seen; then only mle is valid.
        confidence: how often the interval is to cover what the estimator gives on average over users and samples.
        interval: bootstrap (BCa) or delta (normal). Users are the unit, so that the error of sampling is included.
        resamples: bootstrap samples, from 100 to 1,000,000.
        seed: of the bootstrap.
        progress: wraps the blocks of bootstrap samples, for a progress bar.

    Returns:
        A row for each estimator and metric, with the columns estimator, metric, value, low, high, standard_error, bias,
        users. The bias is what the estimator would be off on average if the true ranks were distributed as mle finds
        them; an interval does not include it, and a remark says where it matters. It is missing (NaN) for estimators
        that are not linear in the sample, for more than 20 different (candidates, negatives), and where P(x | rank),
        candidates times negatives + 1, are more than 2²⁷ numbers.

    Raises:
        DataError: the ranks are none, or an estimator is not valid for them, or would need an array of more than 4 GiB;
            the message says why.
        ConfigError: there is no such metric, estimator or interval, or a metric or an estimator is there twice.
    """
    ranks = as_sampled(sampled_ranks, candidates, negatives)
    metrics, estimators = labels_of(metrics, "metrics"), estimator_labels(estimators)
    wanted = [metric(label) for label in metrics]
    options = IntervalOptions(confidence, interval, resamples, seed)
    outcomes, which = Outcomes.observed(
        ranks.x, ranks.negatives, ranks.candidates, replacement=replacement, adaptive=adaptive
    )
    counts = np.bincount(which, minlength=len(outcomes))
    fitted = {label: estimator(label).fit(outcomes, wanted) for label in estimators}
    truth = _estimated_distribution(outcomes, counts) if not adaptive else None
    parts = []
    for label, estimate in fitted.items():
        weights = estimate.weights if isinstance(estimate, LinearEstimate) else None
        held = outcomes.most_candidates if weights is None else len(outcomes)
        statistic = in_blocks(estimate.estimate, held)
        sure = uncertainty(statistic, counts, options, weights=weights, progress=progress)
        parts.append(
            Result(
                {
                    "estimator": label,
                    "metric": list(metrics),
                    "value": estimate.estimate(counts),
                    "low": sure.low,
                    "high": sure.high,
                    "standard_error": sure.standard_error,
                    "bias": estimated_bias(label, estimate, outcomes, counts, wanted, truth),
                    "users": len(which),
                }
            )
        )
    table = _stacked(parts)
    return table.with_remarks(_remarks(table))


def _stacked(parts: list[Result]) -> Result:
    columns = {name: np.concatenate([part[name].to_numpy() for part in parts]) for name in parts[0].columns}
    return Result(columns)


def _estimated_distribution(outcomes: Outcomes, counts: Ints) -> Floats | None:
    """The (largest n,) distribution of true ranks as mle finds it; None if that would be too much work."""
    of_groups = [group.candidates * (group.negatives + 1) for group in outcomes.groups]
    largest = max(*of_groups, outcomes.most_candidates * len(outcomes))
    if len(of_groups) > MOST_GROUPS or largest > MOST_PROBABILITIES:
        return None
    return distribution_of_ranks(MaximumLikelihood(), outcomes, counts[np.newaxis])[0]


def estimated_bias(
    label: str,
    estimate: Estimate,
    outcomes: Outcomes,
    counts: Ints,
    metrics: Sequence[Metric],
    distribution: Floats | None,
) -> Floats:
    """What a linear estimator is off on average: Σ_r π_r ((A w)_r - f(r)), with π as mle finds it; NaN for others."""
    if not isinstance(estimate, LinearEstimate) or distribution is None:
        return np.full(len(metrics), np.nan)
    bias = np.zeros(len(metrics))
    for group in outcomes.groups:
        whole = Outcomes.of_group(group, outcomes.replacement)
        fitted = estimator(label).fit(whole, metrics)
        assert isinstance(fitted, LinearEstimate)
        prior = distribution[: group.candidates] / distribution[: group.candidates].sum()
        expected = (prior @ group.distribution(outcomes.replacement)) @ fitted.weights.T
        true = np.array([prior @ each.values(group.candidates) for each in metrics])
        bias += (expected - true) * counts[group.outcomes].sum()
    return bias / counts.sum()


def _remarks(table: Result) -> list[str]:
    """Say in words where an interval does not cover the truth."""
    remarks = []
    if "uncorrected" in set(table["estimator"]) and any(label != "auc" for label in table["metric"]):
        remarks.append(
            "Uncorrected: the metric of the sampled rank is not that of the true rank (AUC excepted), and can order "
            "recommenders wrongly."
        )
    if "auc" in set(table["metric"]) and any(label.startswith("mes") for label in table["estimator"]):
        remarks.append("MES: its AUC is far too low, as the flattest distribution of ranks has too many bad ones.")
    for label, of_one in table.groupby("estimator", sort=False):
        large = of_one[of_one["bias"].abs() > np.maximum(of_one["standard_error"] / 2, TOLERANCE)]
        if label == "uncorrected" or not len(large):
            continue
        off = ", ".join(
            f"{metric_name(str(row.metric))} {abs(row.bias):.2g} too {'low' if row.bias < 0 else 'high'}"
            for row in large.itertuples()
        )
        remarks.append(
            f"{estimator_name(str(label))}: its interval is around what it gives on average, not around the truth, "
            f"from which that is an estimated {off}."
        )
    return remarks
