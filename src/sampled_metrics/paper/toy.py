"""The running example: three recommenders, five instances, and what sampling makes of them (sections 3.2 to 5.4).

What is drawn in Figures 2-4 are expectations under binomial ranks, as in section 4.3.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from sampled_metrics._arrays import Ints
from sampled_metrics.estimators import linear_estimator
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import rank_distribution
from sampled_metrics.sampling.draws import draw, expected_metric
from sampled_metrics.sampling.outcomes import Outcomes


def table_1(ranks: Mapping[str, Sequence[int]], candidates: int, metrics: Sequence[str]) -> pd.DataFrame:
    """Evaluate each recommender exactly; columns recommender, metric, value.

    Args:
        ranks: by recommender, the rank of the relevant item in each instance.
        candidates: n.
        metrics: metric labels.
    """
    return pd.DataFrame(
        [
            (name, label, metric(label).of_rank(np.array(of_one), candidates).mean())
            for name, of_one in ranks.items()
            for label in metrics
        ],
        columns=["recommender", "metric", "value"],
    )


def table_2(
    ranks: Mapping[str, Sequence[int]],
    candidates: int,
    metrics: Sequence[str],
    design: SamplingDesign,
    repetitions: int,
    stream_of: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Evaluate each recommender on samples; columns recommender, metric, mean, sd.

    The standard deviation is that of one repetition's mean over the instances.

    Args:
        ranks: by recommender, the rank of the relevant item in each instance.
        candidates: n.
        metrics: metric labels.
        design: how negatives are drawn.
        repetitions: how often.
        stream_of: recommender → its random stream.
    """
    design.check(candidates)
    rows = []
    for name, of_one in ranks.items():
        above = np.tile(np.array(of_one) - 1, repetitions)
        draws = draw(above, np.zeros_like(above), np.full_like(above, candidates), design, stream_of(name))
        sampled_rank = 1 + draws.above.reshape(repetitions, len(of_one))
        for label in metrics:
            values = metric(label).of_rank(sampled_rank, design.negatives + 1).mean(axis=1)
            rows.append((name, label, values.mean(), values.std(ddof=1) if repetitions > 1 else np.nan))
    return pd.DataFrame(rows, columns=["recommender", "metric", "mean", "sd"])


def figure_1(candidates: int, metrics: Sequence[str], zoom: int) -> pd.DataFrame:
    """Metrics by rank; columns panel (all, or first for the ranks to `zoom`), metric, rank, value."""
    panels = {"all": _ranks_to_draw(candidates, zoom), "first": np.arange(1, min(zoom, candidates) + 1)}
    return pd.concat(
        [
            pd.DataFrame(
                {"panel": panel, "metric": label, "rank": rank, "value": metric(label).of_rank(rank, candidates)}
            )
            for panel, rank in panels.items()
            for label in metrics
        ],
        ignore_index=True,
    )


def figure_2(
    ranks: Mapping[str, Sequence[int]], candidates: int, metrics: Sequence[str], negatives: Sequence[int]
) -> pd.DataFrame:
    """Expected metrics of the example by sample size; columns metric, recommender, negatives, expected."""
    return pd.DataFrame(
        [
            (
                label,
                name,
                m,
                expected_metric(of_one, candidates, SamplingDesign(m, replacement=True), metric(label)).mean(),
            )
            for label in metrics
            for name, of_one in ranks.items()
            for m in negatives
        ],
        columns=["metric", "recommender", "negatives", "expected"],
    )


def figure_3(candidates: int, metrics: Sequence[str], negatives: Sequence[int], zoom: int) -> pd.DataFrame:
    """Expected metrics by true rank; columns metric, negatives, rank, expected. Exact ones have negatives n - 1."""
    rank = _ranks_to_draw(min(candidates, zoom), 100)
    curves = []
    for label in metrics:
        for m in negatives:
            expected = expected_metric(rank, candidates, SamplingDesign(m, replacement=True), metric(label))
            curves.append(pd.DataFrame({"metric": label, "negatives": m, "rank": rank, "expected": expected}))
        exact = metric(label).of_rank(rank, candidates)
        curves.append(pd.DataFrame({"metric": label, "negatives": candidates - 1, "rank": rank, "expected": exact}))
    return pd.concat(curves, ignore_index=True)


def figure_4(candidates: int, metric_label: str, negatives: int, estimators: Sequence[str]) -> pd.DataFrame:
    """Corrected metrics; columns panel, estimator, rank, value.

    In the panel `sampled` the rank is the one in the sample, and the value what an event with it counts; in the panel
    `expected` it is the true rank, and the value what is counted on average. There the estimator `exact` is the metric.
    """
    design = SamplingDesign(negatives, replacement=True)
    sampled_rank = np.arange(1, negatives + 2)
    rank = np.unique(np.geomspace(1, candidates, 300).round().astype(np.int64))
    chances = rank_distribution(candidates, design)[rank - 1]
    exact = metric(metric_label).of_rank(rank, candidates)
    curves = []
    for label in estimators:
        [weights] = linear_estimator(label).fit(Outcomes.of(design, candidates), [metric(metric_label)]).weights
        curves.append(pd.DataFrame({"panel": "sampled", "estimator": label, "rank": sampled_rank, "value": weights}))
        curves.append(pd.DataFrame({"panel": "expected", "estimator": label, "rank": rank, "value": chances @ weights}))
    curves.append(pd.DataFrame({"panel": "expected", "estimator": "exact", "rank": rank, "value": exact}))
    return pd.concat(curves, ignore_index=True)


def _ranks_to_draw(last: int, dense: int) -> Ints:
    """Every rank to `dense`, then 400 evenly spread ones to `last`."""
    spread = np.linspace(min(dense, last), last, 400).round().astype(np.int64)
    return np.unique(np.concatenate((np.arange(1, min(dense, last) + 1), spread)))
