"""Repeated sampling of a rank table, and the two tables that the paper makes of it (section 6)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import Estimate, LinearEstimate, LinearEstimator, estimator, linear_estimator
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import Draws, draw, thinned
from sampled_metrics.sampling.moments import expected_distribution, linear_moments, probability_of_order
from sampled_metrics.sampling.outcomes import Outcomes


@dataclass(frozen=True)
class Reading:
    """How a sample is turned into an estimate, where the paper's text and its printed numbers disagree.

    Attributes:
        tie_rule: how tied negatives in a sample count (`sampled_metrics.sampling.ties.TIE_RULES`).
        substitutes: estimators that another one takes the place of, by label.
    """

    tie_rule: str = "random"
    substitutes: Mapping[str, str] = field(default_factory=dict)


READINGS = {
    "default": Reading(),
    "as-printed": Reading("beats-one", {"rank-estimate": "rank-estimate-as-printed"}),
}
"""`default` is correct; `as-printed` has the two slips without which the paper's printed numbers do not come out."""


EPSILON = float(np.finfo(np.float64).eps)
"""The relative distance of neighbouring doubles."""

EQUAL = 1e-12
"""Exact metrics that differ by no more are equal: sums in another order differ by rounding."""


def reading(name: str) -> Reading:
    """Return a reading by its name, or raise ConfigError."""
    if name not in READINGS:
        raise ConfigError(f"unknown reading {name!r}; it may be {', '.join(READINGS)}")
    return READINGS[name]


def fit_estimators(
    labels: Sequence[str], metrics: Sequence[str], design: SamplingDesign, candidates: int, *, assume_replacement: bool
) -> dict[str, Estimate]:
    """Fit every estimator for all metrics, by estimator label."""
    outcomes = Outcomes.of(design, candidates)
    wanted = [metric(label) for label in metrics]
    return {label: estimator(label, assume_replacement=assume_replacement).fit(outcomes, wanted) for label in labels}


def sampled_histograms(draws: Iterator[Draws], tie_rules: Sequence[str], negatives: int) -> dict[str, np.ndarray]:
    """Count, for each tie rule, how many events had x = 0 … m in each repetition, as (repetitions, m + 1)."""
    histograms: dict[str, list[np.ndarray]] = {rule: [] for rule in tie_rules}
    for repetition in draws:
        for rule, counted in histograms.items():
            counted.append(np.bincount(repetition.ranked_above(rule), minlength=negatives + 1))
    return {rule: np.array(counted) for rule, counted in histograms.items()}


@dataclass(frozen=True)
class Evaluation:
    """A sampled evaluation, and what is made of it.

    Attributes:
        design: how negatives are drawn, from each event's own other candidates.
        repetitions: how often the evaluation is run.
        readings: names of `READINGS`. They share the draws.
        estimators: labels of estimators, fitted for a table's typical number of candidates.
        metrics: labels of metrics.
        assume_replacement: whether estimators take P(x | r) as binomial.
    """

    design: SamplingDesign
    repetitions: int
    readings: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    assume_replacement: bool

    def fitted_labels(self) -> list[str]:
        """Return the labels of all estimators that some reading uses."""
        readings = [reading(name) for name in self.readings]
        return sorted({each.substitutes.get(label, label) for each in readings for label in self.estimators})

    @classmethod
    def configured(
        cls,
        sampling: Mapping[str, Any],
        estimators: Sequence[str],
        metrics: Sequence[str],
        assume_replacement: bool,
    ) -> "Evaluation":
        """Build an evaluation from the config entries of those names."""
        design = SamplingDesign(sampling["negatives"], sampling["replacement"])
        return cls(design, sampling["repetitions"], sampling["readings"], estimators, metrics, assume_replacement)


def conditions(evaluation: Evaluation, candidates: int) -> pd.DataFrame:
    """Return how well determined the fits of an evaluation's linear estimators are.

    Args:
        evaluation: what is run.
        candidates: n, the typical number of candidates.

    Returns:
        Columns estimator, candidates, negatives, condition_number, digits: the decimal digits that are left of the
        sixteen of a double in the worst weight.
    """
    design, metrics = evaluation.design, tuple(metric(label) for label in evaluation.metrics)
    outcomes = Outcomes.of(design, candidates)
    targets = tuple(outcomes.groups[0].target(each) for each in metrics)
    rows: list[tuple[object, ...]] = []
    for label in evaluation.fitted_labels():
        each = estimator(label, assume_replacement=evaluation.assume_replacement)
        if isinstance(each, LinearEstimator):
            number = each.condition_number(design, candidates, targets)
            rows.append((label, candidates, design.negatives, number, max(0.0, -np.log10(number * EPSILON))))
    return pd.DataFrame(rows, columns=["estimator", "candidates", "negatives", "condition_number", "digits"])


def repeat(
    table: RankTable,
    evaluation: Evaluation,
    rng: np.random.Generator,
    progress: Callable[[Iterable[int]], Iterable[int]] = lambda repetitions: repetitions,
) -> pd.DataFrame:
    """Run a sampled evaluation again and again, and estimate every metric from each run.

    Args:
        table: where the recommender ranks the held-out items.
        evaluation: what is run.
        rng: the random stream of the draws; a longer run begins with the numbers of a shorter one.
        progress: wraps the range of repetitions, for a progress bar.

    Returns:
        One row per reading, metric, estimator and repetition (from 0), with the column estimate.
    """
    design, repetitions = evaluation.design, evaluation.repetitions
    design.check(table.candidates)
    draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in progress(range(repetitions)))
    readings = {name: reading(name) for name in evaluation.readings}
    histograms = sampled_histograms(draws, sorted({each.tie_rule for each in readings.values()}), design.negatives)
    fitted = fit_estimators(
        evaluation.fitted_labels(),
        evaluation.metrics,
        design,
        table.mean_candidates,
        assume_replacement=evaluation.assume_replacement,
    )
    parts = []
    for name, each in readings.items():
        of_reading = {
            label: fitted[each.substitutes.get(label, label)].estimate(histograms[each.tie_rule])
            for label in evaluation.estimators
        }
        parts += [
            pd.DataFrame(
                {
                    "reading": name,
                    "metric": metric_label,
                    "estimator": label,
                    "repetition": np.arange(repetitions),
                    "estimate": of_reading[label][:, column],
                }
            )
            for column, metric_label in enumerate(evaluation.metrics)
            for label in evaluation.estimators
        ]
    return pd.concat(parts, ignore_index=True)


def exact_moments(table: RankTable, evaluation: Evaluation) -> pd.DataFrame:
    """Compute what a sampled evaluation gives on average and how much it varies, without a draw.

    Args:
        table: where the recommender ranks the held-out items.
        evaluation: what would be run.

    Returns:
        One row per reading, metric and estimator, with the columns mean_exact and sd_exact: expectation and standard
        deviation of the estimate of one repetition. They are missing for estimators that are not linear in the sample.

    Raises:
        DataError: an event has fewer other candidates than the negatives that are drawn from them.
    """
    evaluation.design.check(table.candidates)
    fitted = fit_estimators(
        evaluation.fitted_labels(),
        evaluation.metrics,
        evaluation.design,
        table.mean_candidates,
        assume_replacement=evaluation.assume_replacement,
    )
    linear = {label: each.weights for label, each in fitted.items() if isinstance(each, LinearEstimate)}
    rows: list[tuple[object, ...]] = []
    for name in evaluation.readings:
        each = reading(name)
        stacked = np.vstack([np.empty((0, evaluation.design.negatives + 1)), *linear.values()])
        means, deviations = linear_moments(table, evaluation.design, stacked, each.tie_rule)
        for column, metric_label in enumerate(evaluation.metrics):
            for label in evaluation.estimators:
                stand_in = each.substitutes.get(label, label)
                moments = (np.nan, np.nan)
                if stand_in in linear:
                    at = list(linear).index(stand_in) * len(evaluation.metrics) + column
                    moments = float(means[at]), float(deviations[at])
                rows.append((name, metric_label, label, *moments))
    return pd.DataFrame(rows, columns=["reading", "metric", "estimator", "mean_exact", "sd_exact"])


def table_3(
    ranks: Mapping[str, RankTable], estimates: Mapping[str, pd.DataFrame], expected: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Summarise the repetitions of each recommender: mean, and standard deviation of one repetition.

    Args:
        ranks: rank tables by recommender.
        estimates: what `repeat` returned, by recommender.
        expected: what `exact_moments` returned, by recommender.

    Returns:
        Columns reading, recommender, metric, estimator, mean, sd, mean_exact, sd_exact: the last two without any
        repetition. The first estimator of each metric is `exact`, whose standard deviation is that of breaking ties at
        random once.
    """
    rows: list[tuple[object, ...]] = []
    for name in _readings(estimates):
        for recommender, runs in estimates.items():
            exact = expected[recommender].set_index(["reading", "metric", "estimator"])
            for label, of_metric in runs[runs["reading"] == name].groupby("metric", sort=False):
                of_label, table = metric(str(label)), ranks[recommender]
                values = float(table.values(of_label).mean()), table.tie_deviation(of_label)
                rows.append((name, recommender, label, "exact", *values, *values))
                for estimator_label, of_estimator in of_metric.groupby("estimator", sort=False):
                    values = _mean_and_deviation(of_estimator["estimate"].to_numpy())
                    without = exact.loc[(name, label, estimator_label), ["mean_exact", "sd_exact"]]
                    rows.append((name, recommender, label, estimator_label, *values, *without))
    columns = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]
    return pd.DataFrame(rows, columns=columns)


def table_4(
    ranks: Mapping[str, RankTable], estimates: Mapping[str, pd.DataFrame], expected: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Count how often each pair of recommenders is ordered as by the exact metric.

    Args:
        ranks: rank tables by recommender.
        estimates: what `repeat` returned, by recommender, with the same repetitions.
        expected: what `exact_moments` returned, by recommender.

    Returns:
        Columns reading, worse, better, metric, estimator, correct (fraction of the repetitions), correct_exact (its
        expectation without any repetition, by the normal approximation). A pair whose exact metrics are equal has no
        right order and no row. An estimate that ties the two is not correct.
    """
    keys = ["reading", "metric", "estimator"]
    moments = {name: each.set_index(keys) for name, each in expected.items()}
    rows: list[tuple[object, ...]] = []
    for name in _readings(estimates):
        for one, other in combinations(estimates, 2):
            of_one, of_other = (each[each["reading"] == name] for each in (estimates[one], estimates[other]))
            runs = of_one.merge(of_other, on=[*keys, "repetition"], suffixes=("_one", "_other"))
            for (label, estimator_label), group in runs.groupby(keys[1:], sort=False):
                gap = float(ranks[other].values(metric(label)).mean() - ranks[one].values(metric(label)).mean())
                if abs(gap) > EQUAL:
                    correct = np.sign(group["estimate_other"] - group["estimate_one"]) == np.sign(gap)
                    worse, better = (one, other) if gap > 0 else (other, one)
                    chance = right_order(
                        *(moments[each].loc[(name, label, estimator_label)] for each in (worse, better))
                    )
                    rows.append((name, worse, better, label, estimator_label, correct.mean(), chance))
    columns = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
    return pd.DataFrame(rows, columns=columns)


def right_order(worse: pd.Series, better: pd.Series) -> float:
    """Chance that the better recommender gets the larger estimate, by the normal approximation.

    Args:
        worse: mean_exact and sd_exact of its estimate.
        better: those of the other's, from samples of its own.
    """
    return probability_of_order(
        better["mean_exact"] - worse["mean_exact"], float(np.hypot(worse["sd_exact"], better["sd_exact"]))
    )


def _readings(estimates: Mapping[str, pd.DataFrame]) -> list[str]:
    return list(dict.fromkeys(name for runs in estimates.values() for name in runs["reading"].unique()))


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else np.nan


def figure_5(tables: Mapping[str, RankTable], edges: Sequence[int]) -> pd.DataFrame:
    """Count the events of each recommender by rank; ties count in expectation, so a count may be fractional.

    Args:
        tables: rank tables by recommender.
        edges: last rank of each bucket, ascending. The worse half of each user's candidates is a bucket of its own,
            however many candidates the user has.

    Returns:
        Columns recommender, bucket, events.
    """
    half_of_any = max(int(table.candidates.max(initial=0)) // 2 for table in tables.values())
    used = [edge for edge in edges if edge < half_of_any]
    rows = []
    for name, table in tables.items():
        half = table.candidates // 2
        first = np.ones_like(half)
        for number, edge in enumerate(used):
            last = np.minimum(edge, half)
            label = f"{used[number - 1] + 1 if number else 1}–{edge}"
            rows.append((name, label, table.expected_between(first, last)))
            first = last + 1
        rest = f"{used[-1] + 1 if used else 1} to half"
        rows.append((name, rest, table.expected_between(first, half)))
        rows.append((name, "worse half", table.expected_between(half + 1, table.candidates)))
    return pd.DataFrame(rows, columns=["recommender", "bucket", "events"])


def figure_6(
    tables: Mapping[str, RankTable],
    metric_label: str,
    estimators: Sequence[str],
    negatives: Sequence[int],
    *,
    replacement: bool,
    assume_replacement: bool,
    progress: Callable[[Iterable[int]], Iterable[int]] = lambda sizes: sizes,
) -> pd.DataFrame:
    """Expected estimates of a metric by sample size, ties broken at random; nothing is drawn.

    Args:
        tables: rank tables by recommender.
        metric_label: the metric.
        estimators: labels of estimators.
        negatives: m, the sample sizes. Those that an event has too few candidates for are left out.
        replacement: whether negatives are drawn with replacement.
        assume_replacement: whether estimators take P(x | r) as binomial.
        progress: wraps the sample sizes, for a progress bar.

    Returns:
        Columns metric, recommender, estimator, negatives, expected, exact.
    """
    exact = {name: float(table.values(metric(metric_label)).mean()) for name, table in tables.items()}
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    if not replacement and min(negatives) > fewest:
        raise DataError(
            f"figure 6: each of its sample sizes is above {fewest}, the candidates that one event has at most"
        )
    sizes = sorted((m for m in negatives if replacement or m <= fewest), reverse=True)
    chances = {
        name: expected_distribution(table, SamplingDesign(sizes[0], replacement)) for name, table in tables.items()
    }
    expected: dict[tuple[str, str, int], float] = {}
    for m in progress(sizes):
        weights = {
            n: _weights(estimators, metric_label, SamplingDesign(m, replacement), n, assume_replacement)
            for n in {table.mean_candidates for table in tables.values()}
        }
        for name, table in tables.items():
            chances[name] = thinned(chances[name], m)
            for label in estimators:
                expected[name, label, m] = float(chances[name] @ weights[table.mean_candidates][label])
    rows = [
        (metric_label, name, label, m, expected[name, label, m], exact[name])
        for label in estimators
        for name in tables
        for m in reversed(sizes)
    ]
    return pd.DataFrame(rows, columns=["metric", "recommender", "estimator", "negatives", "expected", "exact"])


def _weights(
    labels: Sequence[str], metric_label: str, design: SamplingDesign, candidates: int, assume_replacement: bool
) -> dict[str, Floats]:
    outcomes, wanted = Outcomes.of(design, candidates), [metric(metric_label)]
    return {
        label: linear_estimator(label, assume_replacement=assume_replacement).fit(outcomes, wanted).weights[0]
        for label in labels
    }
