"""Repeated sampling of a rank table, and the two tables that the paper makes of it (section 6)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators import LinearEstimate, estimator
from sampled_metrics.metrics import Floats, metric
from sampled_metrics.ranks import RankTable
from sampled_metrics.sampling import Design, Draws, distribution_over_ties, draw


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


def sampled_histograms(
    draws: Iterator[Draws], tie_rules: Sequence[str], negatives: int
) -> dict[str, np.ndarray]:
    """Count, for each tie rule, how many events had x = 0 … m in each repetition, as (repetitions, m + 1)."""
    histograms: dict[str, list[np.ndarray]] = {rule: [] for rule in tie_rules}
    for repetition in draws:
        for rule, counted in histograms.items():
            counted.append(np.bincount(repetition.ranked_above(rule), minlength=negatives + 1))
    return {rule: np.array(counted) for rule, counted in histograms.items()}


def repeat(
    table: RankTable,
    design: Design,
    repetitions: int,
    rng: np.random.Generator,
    *,
    readings: Sequence[str],
    estimators: Sequence[str],
    metrics: Sequence[str],
    assume_replacement: bool,
    watch: Callable[[range], Iterator[int]] = iter,  # type: ignore[assignment]
) -> pd.DataFrame:
    """Run a sampled evaluation again and again, and estimate every metric from each run.

    Args:
        table: where the recommender ranks the held-out items.
        design: how negatives are drawn, from each event's own other candidates.
        repetitions: how often.
        rng: the random stream of the draws; a longer run begins with the numbers of a shorter one.
        readings: names of `READINGS`. They share the draws.
        estimators: labels of estimators, fitted for the table's typical number of candidates.
        metrics: labels of metrics.
        assume_replacement: whether estimators take P(x | r) as binomial.
        watch: wraps the range of repetitions, for a progress bar.

    Returns:
        One row per reading, metric, estimator and repetition (from 0), with the column estimate.
    """
    design.check(table.candidates)
    draws = (draw(table.above, table.tied, table.candidates, design, rng) for _ in watch(range(repetitions)))
    used = {name: reading(name) for name in readings}
    histograms = sampled_histograms(draws, sorted({each.tie_rule for each in used.values()}), design.negatives)
    labels = sorted({each.stands_in.get(label, label) for each in used.values() for label in estimators})
    fitted = fit_estimators(
        labels, metrics, design, table.typical_candidates, assume_replacement=assume_replacement
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
            for name, each in used.items()
            for metric_label in metrics
            for label in estimators
        ],
        ignore_index=True,
    )


def exact_metrics(table: RankTable, metrics: Sequence[str]) -> dict[str, float]:
    """Return the metrics over all candidates, expected over ties, by label."""
    return {label: float(table.values(metric(label)).mean()) for label in metrics}


def table_3(
    exact: Mapping[str, Mapping[str, float]], tie_deviation: Mapping[str, Mapping[str, float]],
    estimates: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Summarise the repetitions of each recommender: mean, and standard deviation of one repetition.

    Args:
        exact: exact metrics by recommender and metric label.
        tie_deviation: standard deviation of each exact metric over one random breaking of ties.
        estimates: what `repeat` returned, by recommender.

    Returns:
        Columns reading, recommender, metric, estimator, mean, sd; the first estimator of each metric is `exact`.
    """
    rows = []
    for recommender, runs in estimates.items():
        for (name, label), of_metric in runs.groupby(["reading", "metric"], sort=False):
            rows.append((name, recommender, label, "exact", exact[recommender][label], tie_deviation[recommender][label]))
            for estimator_label, of_estimator in of_metric.groupby("estimator", sort=False):
                values = of_estimator["estimate"].to_numpy()
                deviation = values.std(ddof=1) if len(values) > 1 else np.nan
                rows.append((name, recommender, label, estimator_label, values.mean(), deviation))
    columns = ["reading", "recommender", "metric", "estimator", "mean", "sd"]
    summary = pd.DataFrame(rows, columns=columns)
    order = {name: at for at, name in enumerate(dict.fromkeys(summary["reading"]))}
    return summary.sort_values("reading", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def table_4(exact: Mapping[str, Mapping[str, float]], estimates: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Count how often each pair of recommenders is ordered as by the exact metric.

    Args:
        exact: exact metrics by recommender and metric label.
        estimates: what `repeat` returned, by recommender, with the same repetitions.

    Returns:
        Columns reading, worse, better, metric, estimator, correct (fraction of the repetitions). A pair whose exact
        metrics are equal has no right order and no row. An estimate that ties the two is not correct.
    """
    rows = []
    for one, other in combinations(estimates, 2):
        runs = estimates[one].merge(
            estimates[other], on=["reading", "metric", "estimator", "repetition"], suffixes=("_one", "_other")
        )
        for (name, label, estimator_label), group in runs.groupby(["reading", "metric", "estimator"], sort=False):
            gap = exact[other][label] - exact[one][label]
            if gap == 0:
                continue
            correct = np.sign(group["estimate_other"] - group["estimate_one"]) == np.sign(gap)
            worse, better = (one, other) if gap > 0 else (other, one)
            rows.append((name, worse, better, label, estimator_label, correct.mean()))
    columns = ["reading", "worse", "better", "metric", "estimator", "correct"]
    summary = pd.DataFrame(rows, columns=columns)
    order = {name: at for at, name in enumerate(dict.fromkeys(summary["reading"]))}
    return summary.sort_values("reading", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def expected_estimates(table: RankTable, design: Design, weights: Floats, block: int = 4_000_000) -> Floats:
    """Expected value of linear estimates of a table under a design, ties broken at random: no draw is made.

    Args:
        table: where the recommender ranks the held-out items.
        design: how negatives are drawn.
        weights: (m + 1, estimates) weights, a column each.
        block: how many probabilities are held at once.

    Returns:
        (estimates,) expected values of the mean over events.
    """
    step = max(1, block // (design.negatives + 1))
    total = np.zeros(weights.shape[1])
    for first in range(0, len(table), step):
        events = slice(first, first + step)
        chances = distribution_over_ties(table.above[events], table.tied[events], table.candidates[events], design)
        total += chances.sum(axis=0) @ weights
    return total / len(table)
