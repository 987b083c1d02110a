"""What a sampled evaluation would show of exact ranks, and whether it would order recommenders wrongly."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._validation import labels_of
from sampled_metrics.estimators import estimator_labels, estimator_name, linear_estimator
from sampled_metrics.evaluation.evaluate import METRICS
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import metric, metric_name
from sampled_metrics.ranks.frames import recommenders
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, linear_moments, probability_of_order
from sampled_metrics.sampling.outcomes import Outcomes


def expect(
    ranks: Any,
    negatives: int,
    metrics: str | Sequence[str] = METRICS,
    *,
    replacement: bool = False,
    estimators: str | Sequence[str] = ("uncorrected",),
    candidates: ArrayLike | None = None,
) -> Result:
    """Compute what an evaluation on sampled negatives gives on average, without a draw (section 4 of the paper).

    Args:
        ranks: exact ranks, as of `evaluate`; or several recommenders' by name. Names are shown as text, so that two
            must differ as such.
        negatives: m, how many would be sampled for each user.
        metrics: labels, as of `evaluate`.
        replacement: whether a negative may be sampled twice for the same user.
        estimators: labels of estimators that are linear in the sample; uncorrected is the sampled metric itself.
        candidates: (users,) or one number: n, unless the ranks say it.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator, metric, exact,
        expected, deviation (standard deviation of one evaluation of these users). A remark says which recommenders
        would be ordered wrongly, even on average.

    Raises:
        DataError: the ranks are none, sampled, or of two recommenders of one name, or a user has too few candidates to
            sample from.
        ConfigError: there is no such metric or estimator, it is there twice, or is not linear in the sample; or
            negatives is no whole number from 1.
    """
    tables = recommenders(ranks, candidates)
    metrics, estimators = labels_of(metrics, "metrics"), estimator_labels(estimators)
    wanted, design = [metric(label) for label in metrics], SamplingDesign(negatives, replacement)
    rows = []
    for name, table in tables.items():
        design.check(table.candidates)
        outcomes = Outcomes.of(design, table.mean_candidates)
        exact = [float(table.values(each).mean()) for each in wanted]
        for label in estimators:
            weights = linear_estimator(label).fit(outcomes, wanted).weights
            expected, deviation = linear_moments(table, design, weights)
            rows += [(name, label, *row) for row in zip(metrics, exact, expected, deviation, strict=True)]
    columns = ["recommender", "estimator", "metric", "exact", "expected", "deviation"]
    table_of_all = Result(rows, columns=columns)
    return table_of_all.with_remarks(_wrong_orders(table_of_all, negatives))


def _wrong_orders(table: Result, negatives: int) -> list[str]:
    """Say which recommenders a sampled evaluation orders wrongly on average."""
    remarks = []
    for (label, of_metric), of_one in table.groupby(["estimator", "metric"], sort=False):
        for one, other in combinations(of_one.to_dict("records"), 2):
            better, worse = (one, other) if one["exact"] > other["exact"] else (other, one)
            gap = better["expected"] - worse["expected"]
            if better["exact"] - worse["exact"] > EQUAL and gap < -EQUAL:
                chance = probability_of_order(gap, float(np.hypot(better["deviation"], worse["deviation"])))
                remarks.append(
                    f"Wrong order: {better['recommender']} is better than {worse['recommender']} on "
                    f"{metric_name(str(of_metric))} ({better['exact']:.4f} against {worse['exact']:.4f}), but among "
                    f"{negatives} sampled negatives {estimator_name(str(label))} says {better['expected']:.4f} against "
                    f"{worse['expected']:.4f}, and is right with a chance of {chance:.2f}."
                )
    return remarks
