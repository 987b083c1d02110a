"""Captions of figures: what is said of marks and intervals."""

import math

import pandas as pd

from sampled_metrics.core.evaluation.verdict import Conclusion, Verdict
from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.inference.setting import Setting


def verdict(conclusion):
    """On A against a recommender that is called undecided, the second one."""
    return Verdict(
        metric="auc",
        a="A",
        b="undecided",
        value_a=0.5,
        value_b=0.6,
        difference=0.1,
        low=0.05,
        high=0.15,
        p_value=0.01,
        conclusion=conclusion,
        users=50,
    )


def test_hollow_marks_are_named_by_their_conclusions_and_not_at_all_if_there_are_none():
    verdicts = [
        verdict(Conclusion.EQUIVALENT),
        verdict(Conclusion.UNDECIDED),
        verdict(Conclusion.UNDECIDED),
    ]
    assert captions.hollow(verdicts) == "Hollow: undecided or equivalent, the interval includes 0."
    assert captions.hollow([]) == ""


def test_a_value_has_a_minus_sign_and_a_missing_one_is_not_defined():
    texts = [captions.value_in_words(value) for value in (0.123456, -0.5, math.nan)]
    assert texts == ["0.1235", "−0.5", "not defined"]
    assert captions.value_in_words(0.5, sign="+") == "+0.5"


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
