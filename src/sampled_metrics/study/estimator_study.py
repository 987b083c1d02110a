"""Bias, deviation and error of estimators by sample size.

Mean and deviation of an estimate that is linear in the sample are exact, without a draw; for other estimators they are
over repetitions. Estimates, being means over users, are taken as normal.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import Estimate, LinearEstimate, estimator
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.metrics.held_out import Metric, metric
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.adaptive import AdaptiveDesign, draw_adaptive
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import draw
from sampled_metrics.sampling.moments import linear_moments
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks
from sampled_metrics.study.repetitions import sampled_histograms

ADAPTIVE = "adaptive"
"""Label of the estimator of an adaptive sample: EM with each event's own m."""


@dataclass(frozen=True)
class EstimatorStudy:
    """Estimators and samples to compare.

    Attributes:
        estimators: labels of estimators.
        metrics: labels of metrics.
        negatives: m, the fixed sample sizes.
        replacement: whether negatives are drawn with replacement.
        assume_replacement: whether estimators take P(x | r) as binomial.
        repetitions: how often a sample is drawn for the estimators whose moments have no closed form.
        recall_up_to: K of the mean relative error over Recall@1 … K.
        adaptive: the steps of an adaptive sample; without any there is no such sample.
        adaptive_iterations: iterations of EM on it.
    """

    estimators: Sequence[str]
    metrics: Sequence[str]
    negatives: Sequence[int]
    replacement: bool
    assume_replacement: bool
    repetitions: int
    recall_up_to: int
    adaptive: Sequence[int]
    adaptive_iterations: int

    @classmethod
    def configured(
        cls, entry: Mapping[str, Any], metrics: Sequence[str], replacement: bool, assume_replacement: bool
    ) -> "EstimatorStudy":
        """Build a study from its config entry and the entries of the whole study."""
        return cls(
            entry["estimators"],
            metrics,
            entry["negatives"],
            replacement,
            assume_replacement,
            entry["repetitions"],
            entry["recall_up_to"],
            entry["adaptive"]["steps"],
            entry["adaptive"]["iterations"],
        )

    def possible(self, table: RankTable) -> "EstimatorStudy":
        """Return the study without the sample sizes that exceed the other candidates of some event.

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

    @property
    def recall(self) -> str:
        """Label of the mean over Recall@1 … K."""
        return f"recall@1-{self.recall_up_to}"


def study_estimators(
    table: RankTable,
    study: EstimatorStudy,
    stream: Callable[[str], np.random.Generator],
    progress: Callable[[Iterable[Any]], Iterable[Any]] = lambda sizes: sizes,
) -> pd.DataFrame:
    """Compare estimators on one recommender's ranks.

    Args:
        table: where the recommender ranks the held-out items.
        study: what is compared.
        stream: from a name to the random stream of that name.
        progress: wraps the list of samples, for a progress bar.

    Returns:
        Columns sample (fixed, adaptive, or equal-cost: fixed, of as many negatives as the adaptive one has on average,
        left out where an event has fewer), negatives (mean m of an event: the cost), estimator, metric, exact, mean,
        bias, sd, rmse, and error, the mean of |estimate - exact| / exact. The metric recall@1-K has only an error, the
        mean over k = 1 … K. Numbers are missing where the estimator is not valid for the metric with such a sample.
    """
    labels = [*study.metrics, *(f"recall@{k}" for k in range(1, study.recall_up_to + 1))]
    metrics = [metric(label) for label in labels]
    exact = np.array([table.values(each).mean() for each in metrics])
    samples: list[tuple[str, int]] = [("fixed", m) for m in study.negatives]
    parts: list[pd.DataFrame] = []
    if study.adaptive:
        cost, moments = _adaptive(table, study, metrics, exact, stream(ADAPTIVE))
        parts.append(_summary(study, ADAPTIVE, cost, ADAPTIVE, exact, moments))
        if study.replacement or round(cost) < table.candidates.min():
            samples.append(("equal-cost", round(cost)))
    for sample, m in progress(samples):
        of_size = _fixed(table, study, metrics, exact, m, stream(f"m {m}"))
        parts += [_summary(study, sample, m, label, exact, moments) for label, moments in of_size.items()]
    return pd.concat(parts, ignore_index=True)


Moments = tuple[Floats, Floats, Floats]
"""Mean, standard deviation and mean relative error of an estimate, each (metrics,); missing where it is not valid."""


def _fixed(
    table: RankTable,
    study: EstimatorStudy,
    metrics: Sequence[Metric],
    exact: Floats,
    negatives: int,
    rng: np.random.Generator,
) -> dict[str, Moments]:
    """Moments of every estimator on samples of a fixed size."""
    design = SamplingDesign(negatives, study.replacement)
    design.check(table.candidates)
    outcomes = Outcomes.of(design, table.mean_candidates)
    valid, fitted = {}, {}
    for label in study.estimators:
        valid[label], fitted[label] = _fit_what_is_valid(label, study.assume_replacement, outcomes, metrics)
    linear = {label: each for label, each in fitted.items() if isinstance(each, LinearEstimate)}
    moments: dict[str, Moments] = {}
    if linear:
        weights = np.vstack([each.weights for each in linear.values()])
        means, deviations = linear_moments(table, design, weights)
        ends = np.cumsum([len(each.weights) for each in linear.values()])[:-1]
        for label, mean, sd in zip(linear, np.split(means, ends), np.split(deviations, ends), strict=True):
            error = _folded(mean - exact[valid[label]], sd)
            moments[label] = _spread(valid[label], mean, sd, error / _or_missing(exact[valid[label]]))
    others = {label: each for label, each in fitted.items() if label not in linear and each is not None}
    if others:
        draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in range(study.repetitions))
        counts = sampled_histograms(draws, ["random"], negatives)["random"]
        for label, each in others.items():
            moments[label] = _spread(valid[label], *_observed(each.estimate(counts), exact[valid[label]]))
    nothing = np.full(len(metrics), np.nan)
    return {label: moments.get(label, (nothing, nothing, nothing)) for label in study.estimators}


def _fit_what_is_valid(
    label: str, assume_replacement: bool, outcomes: Outcomes, metrics: Sequence[Metric]
) -> tuple[np.ndarray, Estimate | None]:
    """Fit an estimator for the metrics that it is valid for; (metrics,) which these are."""
    found = estimator(label, assume_replacement=assume_replacement)

    def is_valid(one: Metric) -> bool:
        try:
            found.fit(outcomes, [one])
        except DataError:
            return False
        return True

    try:
        return np.ones(len(metrics), dtype=bool), found.fit(outcomes, metrics)
    except DataError:
        valid = np.array([is_valid(one) for one in metrics])
        kept = [one for one, is_one in zip(metrics, valid, strict=True) if is_one]
        return valid, found.fit(outcomes, kept) if kept else None


def _adaptive(
    table: RankTable, study: EstimatorStudy, metrics: Sequence[Metric], exact: Floats, rng: np.random.Generator
) -> tuple[float, Moments]:
    """Mean sample size and moments of EM on adaptive samples, over repetitions."""
    design = AdaptiveDesign(tuple(study.adaptive), study.replacement)
    em = MaximumLikelihood(study.adaptive_iterations, study.assume_replacement)
    costs, estimates = [], []
    for _ in range(study.repetitions):
        x, negatives = draw_adaptive(table, design, rng)
        # as elsewhere in a study, events share the typical n, but for those that drew more than it has
        n = np.maximum(table.mean_candidates, 0 if study.replacement else negatives + 1)
        outcomes, which = Outcomes.observed(SampledRanks(x, negatives, n, study.replacement, adaptive=True))
        costs.append(negatives.mean())
        estimates.append(em.fit(outcomes, metrics).estimate(np.bincount(which, minlength=len(outcomes))))
    return float(np.mean(costs)), _observed(np.array(estimates), exact)


def _observed(estimates: Floats, exact: Floats) -> Moments:
    """Moments of (repetitions, metrics) estimates."""
    sd = estimates.std(axis=0, ddof=1) if len(estimates) > 1 else np.full(len(exact), np.nan)
    return estimates.mean(axis=0), sd, np.abs(estimates - exact).mean(axis=0) / _or_missing(exact)


def _folded(bias: Floats, sd: Floats) -> Floats:
    """E|N(bias, sd²)|."""
    safe = np.where(sd > 0, sd, 1.0)
    spread = safe * np.sqrt(2 / np.pi) * np.exp(-0.5 * (bias / safe) ** 2) + bias * (1 - 2 * ndtr(-bias / safe))
    return np.where(sd > 0, spread, np.abs(bias))


def _or_missing(exact: Floats) -> Floats:
    return np.where(exact > 0, exact, np.nan)


def _spread(valid: np.ndarray, *moments: Floats) -> Any:
    """Put moments of the valid metrics into their places."""
    spread = []
    for each in moments:
        whole = np.full(len(valid), np.nan)
        whole[valid] = each
        spread.append(whole)
    return tuple(spread)


def _summary(
    study: EstimatorStudy, sample: str, negatives: float, label: str, exact: Floats, moments: Moments
) -> pd.DataFrame:
    """Rows of one estimator on one kind of sample: the metrics, and the mean error over Recall@1 … K."""
    mean, sd, error = moments
    own = len(study.metrics)
    of_recall = error[own:][exact[own:] > 0]
    bias = mean - exact
    return pd.DataFrame(
        {
            "sample": sample,
            "negatives": float(negatives),
            "estimator": label,
            "metric": [*study.metrics, study.recall],
            "exact": [*exact[:own], np.nan],
            "mean": [*mean[:own], np.nan],
            "bias": [*bias[:own], np.nan],
            "sd": [*sd[:own], np.nan],
            "rmse": [*np.hypot(bias, sd)[:own], np.nan],
            "error": [*error[:own], of_recall.mean() if len(of_recall) else np.nan],
        }
    )
