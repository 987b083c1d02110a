"""Repeated sampling of a rank table, and the two tables that the paper makes of it (section 6)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import LinearEstimate, estimator
from sampled_metrics.metrics import metric
from sampled_metrics.ranks import RankTable
from sampled_metrics.sampling import Design, Draws, distribution_over_ties, draw, thinned


@dataclass(frozen=True)
class Reading:
    """How a sample is turned into an estimate, where the paper's text and its printed numbers disagree.

    Attributes:
        tie_rule: how tied negatives in a sample count (`sampled_metrics.sampling.TIE_RULES`).
        stands_in: estimators that another one takes the place of, by label.
    """

    tie_rule: str = "random"
    stands_in: Mapping[str, str] = field(default_factory=dict)


READINGS = {
    "default": Reading(),
    "as-printed": Reading("beats-one", {"rank-estimate": "rank-estimate-as-printed"}),
}
"""`default` is correct; `as-printed` has the two slips without which the paper's printed numbers do not come out."""


EQUAL = 1e-12
"""Exact metrics that differ by no more are equal: sums in another order differ by rounding."""


def reading(name: str) -> Reading:
    """Return a reading by its name, or raise ConfigError."""
    if name not in READINGS:
        raise ConfigError(f"unknown reading {name!r}; it may be {', '.join(READINGS)}")
    return READINGS[name]


def fit_estimators(
    labels: Sequence[str], metrics: Sequence[str], design: Design, candidates: int, *, assume_replacement: bool
) -> dict[tuple[str, str], LinearEstimate]:
    """Fit every estimator for every metric, by (metric label, estimator label)."""
    return {
        (metric_label, label): estimator(label, assume_replacement=assume_replacement).fit(
            design, candidates, metric(metric_label)
        )
        for metric_label in metrics
        for label in labels
    }


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

    design: Design
    repetitions: int
    readings: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    assume_replacement: bool

    @classmethod
    def configured(
        cls,
        sampling: Mapping[str, Any],
        estimators: Sequence[str],
        metrics: Sequence[str],
        assume_replacement: bool,
    ) -> "Evaluation":
        """Build an evaluation from the config entries of those names."""
        design = Design(sampling["negatives"], sampling["replacement"])
        return cls(design, sampling["repetitions"], sampling["readings"], estimators, metrics, assume_replacement)


def repeat(
    table: RankTable,
    evaluation: Evaluation,
    rng: np.random.Generator,
    watch: Callable[[Iterable[int]], Iterable[int]] = lambda repetitions: repetitions,
) -> pd.DataFrame:
    """Run a sampled evaluation again and again, and estimate every metric from each run.

    Args:
        table: where the recommender ranks the held-out items.
        evaluation: what is run.
        rng: the random stream of the draws; a longer run begins with the numbers of a shorter one.
        watch: wraps the range of repetitions, for a progress bar.

    Returns:
        One row per reading, metric, estimator and repetition (from 0), with the column estimate.
    """
    design, repetitions = evaluation.design, evaluation.repetitions
    design.check(table.candidates)
    draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in watch(range(repetitions)))
    readings = {name: reading(name) for name in evaluation.readings}
    histograms = sampled_histograms(draws, sorted({each.tie_rule for each in readings.values()}), design.negatives)
    fitted = fit_estimators(
        sorted({each.stands_in.get(label, label) for each in readings.values() for label in evaluation.estimators}),
        evaluation.metrics,
        design,
        table.typical_candidates,
        assume_replacement=evaluation.assume_replacement,
    )
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "reading": name,
                    "metric": metric_label,
                    "estimator": label,
                    "repetition": np.arange(repetitions),
                    "estimate": fitted[metric_label, each.stands_in.get(label, label)].estimate(
                        histograms[each.tie_rule]
                    ),
                }
            )
            for name, each in readings.items()
            for metric_label in evaluation.metrics
            for label in evaluation.estimators
        ],
        ignore_index=True,
    )


def table_3(ranks: Mapping[str, RankTable], estimates: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Summarise the repetitions of each recommender: mean, and standard deviation of one repetition.

    Args:
        ranks: rank tables by recommender.
        estimates: what `repeat` returned, by recommender.

    Returns:
        Columns reading, recommender, metric, estimator, mean, sd. The first estimator of each metric is `exact`, whose
        standard deviation is that of breaking ties at random once.
    """
    rows: list[tuple[object, ...]] = []
    for name in _readings(estimates):
        for recommender, runs in estimates.items():
            for label, of_metric in runs[runs["reading"] == name].groupby("metric", sort=False):
                of_label, table = metric(str(label)), ranks[recommender]
                values = float(table.values(of_label).mean()), table.tie_deviation(of_label)
                rows.append((name, recommender, label, "exact", *values))
                for estimator_label, of_estimator in of_metric.groupby("estimator", sort=False):
                    values = _mean_and_deviation(of_estimator["estimate"].to_numpy())
                    rows.append((name, recommender, label, estimator_label, *values))
    return pd.DataFrame(rows, columns=["reading", "recommender", "metric", "estimator", "mean", "sd"])


def table_4(ranks: Mapping[str, RankTable], estimates: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Count how often each pair of recommenders is ordered as by the exact metric.

    Args:
        ranks: rank tables by recommender.
        estimates: what `repeat` returned, by recommender, with the same repetitions.

    Returns:
        Columns reading, worse, better, metric, estimator, correct (fraction of the repetitions). A pair whose exact
        metrics are equal has no right order and no row. An estimate that ties the two is not correct.
    """
    keys = ["reading", "metric", "estimator"]
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
                    rows.append((name, worse, better, label, estimator_label, correct.mean()))
    return pd.DataFrame(rows, columns=["reading", "worse", "better", "metric", "estimator", "correct"])


def _readings(estimates: Mapping[str, pd.DataFrame]) -> list[str]:
    return list(dict.fromkeys(name for runs in estimates.values() for name in runs["reading"].unique()))


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else np.nan


def expected_distribution(table: RankTable, design: Design, block: int = 2_000_000) -> Floats:
    """P(x) of an event picked at random from a table: what a histogram of samples shows on average.

    A linear estimate with weights w has the expected value P @ w. No draw is made; ties are broken at random.

    Args:
        table: where the recommender ranks the held-out items.
        design: how negatives are drawn.
        block: how many probabilities are held at once.

    Returns:
        (m + 1,) probabilities of x = 0 … m.
    """
    step = max(1, block // (design.negatives + 1))
    total = np.zeros(design.negatives + 1)
    for first in range(0, len(table), step):
        events = slice(first, first + step)
        chances = distribution_over_ties(table.above[events], table.tied[events], table.candidates[events], design)
        total += chances.sum(axis=0)
    return total / len(table)


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
    watch: Callable[[Iterable[int]], Iterable[int]] = lambda sizes: sizes,
) -> pd.DataFrame:
    """Expected estimates of a metric by sample size, ties broken at random; nothing is drawn.

    Args:
        tables: rank tables by recommender.
        metric_label: the metric.
        estimators: labels of estimators.
        negatives: m, the sample sizes. Those that an event has too few candidates for are left out.
        replacement: whether negatives are drawn with replacement.
        assume_replacement: whether estimators take P(x | r) as binomial.
        watch: wraps the sample sizes, for a progress bar.

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
    chances = {name: expected_distribution(table, Design(sizes[0], replacement)) for name, table in tables.items()}
    expected: dict[tuple[str, str, int], float] = {}
    for m in watch(sizes):
        fitted = {
            n: fit_estimators(
                estimators, [metric_label], Design(m, replacement), n, assume_replacement=assume_replacement
            )
            for n in {table.typical_candidates for table in tables.values()}
        }
        for name, table in tables.items():
            chances[name] = thinned(chances[name], m)
            for label in estimators:
                weights = fitted[table.typical_candidates][metric_label, label].weights
                expected[name, label, m] = float(chances[name] @ weights)
    rows = [
        (metric_label, name, label, m, expected[name, label, m], exact[name])
        for label in estimators
        for name in tables
        for m in reversed(sizes)
    ]
    return pd.DataFrame(rows, columns=["metric", "recommender", "estimator", "negatives", "expected", "exact"])
