"""Bias, deviation and error of estimators by sample size.

The mean and the deviation of an estimator that is linear in the sample are exact, and nothing is drawn. Those of other
estimators are computed over repetitions. Estimates are means over users, and count as normal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import Estimate, estimator
from sampled_metrics.metrics.metric import Metric, metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import draw, linear_moments
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.study.repetitions import sampled_histograms


@dataclass(frozen=True)
class EstimatorStudy:
    """Estimators and samples to compare.

    Attributes:
        estimators: labels of estimators.
        negatives: m, the fixed sample sizes.
        repetitions: number of samples drawn for the estimators whose moments have no closed form.
        recall_up_to: K of the mean relative error over Recall@1 … K.
        metrics: labels of metrics.
        replacement: whether negatives are drawn with replacement.
        assume_replacement: whether estimators take P(x | r) as binomial.
    """

    estimators: Sequence[str]
    negatives: Sequence[int]
    repetitions: int
    recall_up_to: int
    metrics: Sequence[str]
    replacement: bool
    assume_replacement: bool

    def possible(self, table: ExactRanks) -> "EstimatorStudy":
        """Return the study without sample sizes larger than the number of other candidates of an event.

        Raises:
            DataError: no sample size is left.
        """
        fewest = int(table.candidates.min()) - 1
        kept = [m for m in self.negatives if self.replacement or m <= fewest]
        if not kept:
            raise DataError(
                f"estimator_study.negatives: each is above {fewest}, the fewest other candidates of an event; "
                "state smaller ones"
            )
        return replace(self, negatives=kept)


@on_one_thread
def study_estimators(
    table: ExactRanks,
    study: EstimatorStudy,
    stream: Callable[[str], np.random.Generator],
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Compare estimators on one recommender's ranks.

    Args:
        table: ranks of the held-out items by the recommender.
        study: estimators and samples to compare.
        stream: function from a name to the random stream of that name.
        progress: wraps the list of sample sizes, for a progress bar.

    Returns:
        Columns negatives (m), estimator, metric, exact, mean, bias, sd, rmse, and error, the mean of
        |estimate - exact| / exact. The metric recall@1-K has only an error, the mean over k = 1 … K. Numbers are
        missing if the estimator is not valid for such samples.
    """
    labels = [*study.metrics, *(f"recall@{k}" for k in range(1, study.recall_up_to + 1))]
    metrics = [metric(label) for label in labels]
    exact = np.array([table.mean(target) for target in metrics])
    parts: list[pd.DataFrame] = []
    for m in progress(study.negatives):
        by_label = _moments(table, study, metrics, exact, m, stream(f"m {m}"))
        parts += [_summary(study, m, label, exact, moments) for label, moments in by_label.items()]
    return pd.concat(parts, ignore_index=True)


def _moments(
    table: ExactRanks,
    study: EstimatorStudy,
    metrics: Sequence[Metric],
    exact: Floats,
    negatives: int,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Return the moments of every estimator on samples of a fixed size.

    Moments are (3, metrics): mean, standard deviation and mean relative error of an estimate. They are NaN for an
    estimator that is not valid for such samples.
    """
    design = SamplingDesign(negatives, study.replacement)
    design.check(table.candidates)
    outcomes = Outcomes.from_design(design, table.mean_candidates)
    fitted = {label: _fit_if_valid(label, study.assume_replacement, outcomes, metrics) for label in study.estimators}
    moments = {label: np.full((3, len(metrics)), np.nan) for label in study.estimators}
    weights = {label: one.weights for label, one in fitted.items() if one is not None and one.weights is not None}
    if weights:
        means, deviations = linear_moments(table, design, np.concatenate(list(weights.values())))
        shape = len(weights), len(metrics)
        for label, mean, sd in zip(weights, means.reshape(shape), deviations.reshape(shape), strict=True):
            moments[label] = np.stack([mean, sd, _folded(mean - exact, sd) / _or_missing(exact)])
    nonlinear = {label: estimate for label, estimate in fitted.items() if estimate is not None and label not in weights}
    if nonlinear:
        draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in range(study.repetitions))
        counts = sampled_histograms(draws, ["random"], negatives, table.weights)["random"]
        for label, estimate in nonlinear.items():
            moments[label] = _observed(estimate.estimate(counts), exact)
    return moments


def _fit_if_valid(
    label: str, assume_replacement: bool, outcomes: Outcomes, metrics: Sequence[Metric]
) -> Estimate | None:
    """Fit an estimator; return None if it is not valid for such samples."""
    try:
        return estimator(label, assume_replacement=assume_replacement).fit(outcomes, metrics)
    except DataError:
        return None


def _observed(estimates: Floats, exact: Floats) -> Floats:
    """Return the moments of (repetitions, metrics) estimates."""
    sd = estimates.std(axis=0, ddof=1) if len(estimates) > 1 else np.full(len(exact), np.nan)
    return np.stack([estimates.mean(axis=0), sd, np.abs(estimates - exact).mean(axis=0) / _or_missing(exact)])


def _folded(bias: Floats, sd: Floats) -> Floats:
    """Return E|N(bias, sd²)|, the mean of a folded normal distribution."""
    scale = np.where(sd > 0, sd, 1.0)
    mean = scale * np.sqrt(2 / np.pi) * np.exp(-0.5 * (bias / scale) ** 2) + bias * (1 - 2 * ndtr(-bias / scale))
    return np.where(sd > 0, mean, np.abs(bias))


def _or_missing(exact: Floats) -> Floats:
    return np.where(exact > 0, exact, np.nan)


def _summary(study: EstimatorStudy, negatives: int, label: str, exact: Floats, moments: Floats) -> pd.DataFrame:
    """Return rows for one estimator and sample size: the metrics, and the mean error over Recall@1 … K."""
    mean, sd, error = moments
    count, bias = len(study.metrics), mean - exact
    recall_error = error[count:][exact[count:] > 0]
    columns = {"exact": exact, "mean": mean, "bias": bias, "sd": sd, "rmse": np.hypot(bias, sd)}
    return pd.DataFrame(
        {
            "negatives": negatives,
            "estimator": label,
            "metric": [*study.metrics, f"recall@1-{study.recall_up_to}"],
            **{name: [*values[:count], np.nan] for name, values in columns.items()},
            "error": [*error[:count], recall_error.mean() if len(recall_error) else np.nan],
        }
    )
