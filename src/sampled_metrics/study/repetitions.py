"""Repeated sampled evaluations of a rank table, and their exact moments (section 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import Floats
from sampled_metrics.estimators import Estimate, estimator
from sampled_metrics.estimators.linear import LinearEstimate, LinearEstimator
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import Draws, draw
from sampled_metrics.sampling.moments import linear_moments
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.study.variants import variant


def sampled_histograms(
    draws: Iterator[Draws], tie_rules: Sequence[str], negatives: int, weights: Floats | None
) -> dict[str, np.ndarray]:
    """Count the events with x = 0 … m in each repetition, by their weights, (repetitions, m + 1), for each tie rule."""
    histograms: dict[str, list[np.ndarray]] = {rule: [] for rule in tie_rules}
    for repetition in draws:
        for rule, counted in histograms.items():
            counted.append(np.bincount(repetition.ranked_above(rule), weights, minlength=negatives + 1))
    return {rule: np.array(counted) for rule, counted in histograms.items()}


@dataclass(frozen=True)
class Evaluation:
    """A sampled evaluation and its estimates.

    Attributes:
        design: how negatives are drawn from each event's own other candidates.
        repetitions: number of repetitions.
        variants: names of `variants.VARIANTS`. They share the draws.
        estimators: labels of estimators, fitted for a table's mean number of candidates.
        metrics: labels of metrics.
        assume_replacement: whether estimators take P(x | r) as binomial.
    """

    design: SamplingDesign
    repetitions: int
    variants: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    assume_replacement: bool

    def fitted_labels(self) -> list[str]:
        """Return the labels of all estimators that the variants use."""
        variants = [variant(name) for name in self.variants]
        return sorted({each.substitutes.get(label, label) for each in variants for label in self.estimators})

    def fit(self, candidates: int) -> dict[str, Estimate]:
        """Fit the estimators that the variants use for all metrics, with n candidates; return them by label."""
        outcomes, metrics = Outcomes.from_design(self.design, candidates), [metric(label) for label in self.metrics]
        return {
            label: estimator(label, assume_replacement=self.assume_replacement).fit(outcomes, metrics)
            for label in self.fitted_labels()
        }

    @classmethod
    def configured(
        cls, sampling: Mapping[str, Any], estimators: Sequence[str], metrics: Sequence[str], assume_replacement: bool
    ) -> dict[int | None, "Evaluation"]:
        """Build evaluations from the config entries with these names, by m of a list; a single m has the key None."""
        given = sampling["negatives"]
        sizes: dict[int | None, int] = {m: m for m in given} if isinstance(given, list) else {None: given}
        options = sampling["repetitions"], sampling["readings"], estimators, metrics, assume_replacement
        return {key: cls(SamplingDesign(m, sampling["replacement"]), *options) for key, m in sizes.items()}


def by_size(parts: Mapping[int | None, pd.DataFrame]) -> pd.DataFrame:
    """Join tables by m, with a first column negatives; the table of the key None stays as it is."""
    if None in parts:
        return parts[None]
    return pd.concat(parts, names=["negatives"]).reset_index("negatives").reset_index(drop=True)


def of_size(table: pd.DataFrame, negatives: int | None) -> pd.DataFrame:
    """Return the part of a table of `by_size` with these negatives."""
    return table if negatives is None else table[table["negatives"] == negatives].drop(columns="negatives")


def sizes_of(table: pd.DataFrame) -> list[int | None]:
    """Return the keys of a table of `by_size`, in their order."""
    return list(table["negatives"].unique()) if "negatives" in table else [None]


@on_one_thread
def conditions(evaluation: Evaluation, candidates: int) -> pd.DataFrame:
    """Compute the condition numbers of the fits of an evaluation's linear estimators.

    Args:
        evaluation: the evaluation.
        candidates: n, the mean number of candidates.

    Returns:
        Columns estimator, candidates, negatives, condition_number, digits: the correct decimal digits of the worst
        weight, out of sixteen.
    """
    design, metrics = evaluation.design, tuple(metric(label) for label in evaluation.metrics)
    rows: list[tuple[object, ...]] = []
    for label in evaluation.fitted_labels():
        each = estimator(label, assume_replacement=evaluation.assume_replacement)
        if isinstance(each, LinearEstimator):
            number = each.condition_number(design, candidates, metrics)
            digits = max(0.0, -np.log10(number * np.finfo(np.float64).eps))
            rows.append((label, candidates, design.negatives, number, digits))
    return pd.DataFrame(rows, columns=["estimator", "candidates", "negatives", "condition_number", "digits"])


@on_one_thread
def repeat(
    table: ExactRanks,
    evaluation: Evaluation,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Repeat a sampled evaluation, and estimate every metric from each repetition.

    Args:
        table: ranks of the held-out items by the recommender.
        evaluation: the evaluation.
        rng: the random stream of the draws. The first repetitions do not depend on their number.
        progress: wraps the range of repetitions, for a progress bar.

    Returns:
        One row per reading, metric, estimator and repetition (from 0), with the column estimate.
    """
    design, repetitions = evaluation.design, evaluation.repetitions
    design.check(table.candidates)
    draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in progress(range(repetitions)))
    variants = [variant(name) for name in evaluation.variants]
    rules = sorted({each.tie_rule for each in variants})
    histograms = sampled_histograms(draws, rules, design.negatives, table.weights)
    fitted = evaluation.fit(table.mean_candidates)
    estimates = []
    for each in variants:
        labels = [each.substitutes.get(label, label) for label in evaluation.estimators]
        by_label = [fitted[label].estimate(histograms[each.tie_rule]) for label in labels]
        estimates.append(np.stack(by_label).transpose(2, 0, 1).ravel())  # metrics × estimators × repetitions
    keys = [evaluation.variants, evaluation.metrics, evaluation.estimators, range(repetitions)]
    index = pd.MultiIndex.from_product(keys, names=["reading", "metric", "estimator", "repetition"])
    return pd.DataFrame({"estimate": np.concatenate(estimates)}, index).reset_index()


@on_one_thread
def exact_moments(table: ExactRanks, evaluation: Evaluation) -> pd.DataFrame:
    """Compute the exact mean and standard deviation of a sampled evaluation; nothing is drawn.

    Args:
        table: ranks of the held-out items by the recommender.
        evaluation: the evaluation.

    Returns:
        One row per reading, metric and estimator, with the columns mean_exact and sd_exact: mean and standard deviation
        of the estimate of one repetition. They are missing for estimators that are not linear in the sample.

    Raises:
        DataError: an event has fewer other candidates than negatives.
    """
    evaluation.design.check(table.candidates)
    fitted = evaluation.fit(table.mean_candidates)
    linear = {label: each.weights for label, each in fitted.items() if isinstance(each, LinearEstimate)}
    stacked = np.vstack([np.empty((0, evaluation.design.negatives + 1)), *linear.values()])
    missing, columns = np.full((len(evaluation.metrics), 2), np.nan), ["mean_exact", "sd_exact"]
    rows = []
    for each in map(variant, evaluation.variants):
        both = np.stack(linear_moments(table, evaluation.design, stacked, each.tie_rule), axis=1)
        moments = dict(zip(linear, both.reshape(len(linear), *missing.shape), strict=True))
        labels = [each.substitutes.get(label, label) for label in evaluation.estimators]
        rows.append(np.stack([moments.get(label, missing) for label in labels], axis=1).reshape(-1, 2))
    keys = [evaluation.variants, evaluation.metrics, evaluation.estimators]
    index = pd.MultiIndex.from_product(keys, names=["reading", "metric", "estimator"])
    return pd.DataFrame(np.concatenate(rows), index, columns).reset_index()
