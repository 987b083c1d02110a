"""Captions of figures: which assumption the intervals of an estimator need, by recommender."""

import pandas as pd

from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.inference.setting import Setting


def test_intervals_and_assumptions():
    interval = captions.interval_in_words(Setting(confidence_level=0.9))
    assert interval == "90 % interval"
    rows = [
        ("a", "free", "uniform negatives"),
        ("b", "free", "uniform negatives"),
        ("a", "decreasing", "decreasing"),
        ("b", "decreasing", "uniform negatives"),
        ("a", "bv-1", "bias is zero"),
        ("b", "bv-1", "bias is zero"),
    ]
    table = pd.DataFrame(rows, columns=["recommender", "estimator", "assumes"])
    assert captions.assumed_by_estimators(table, interval) == (
        "Free, Decreasing of b: the 90 % interval holds the true metric if negatives are drawn "
        "uniformly, whatever the ranks are. Decreasing of a: the 90 % interval holds the true "
        "metric if a better rank is at least as common as a worse one (up to rank n/2). BV 1: the "
        "90 % interval holds the true metric only if the bias of the estimator is zero."
    )
