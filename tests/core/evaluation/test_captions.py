"""Captions of figures: what is said of marks and intervals."""

import math

import pytest

from sampled_metrics.core.evaluation.verdict import AgainstMargin, Conclusion, Size, Verdict
from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.inference.setting import Setting


def verdict(conclusion, size=Size.UNKNOWN):
    """On A against a recommender that is called undecided, the second one."""
    margin = AgainstMargin(0.2, 0.3, 0.6, size)
    return Verdict(
        "auc", "A", "undecided", 0.5, 0.6, 0.1, 0.05, 0.15, 0.01, conclusion, 50, margin=margin
    )


DIFFERENCE = {"difference": 0.1, "low": 0.058, "high": 0.142}
"""With half the width .042, so that it has three decimals."""

CASES = {
    "better": (verdict(Conclusion.BETTER), "+0.100: undecided is better"),
    "by more": (
        verdict(Conclusion.BETTER, Size.MORE),
        "+0.100: undecided is better by more than the margin",
    ),
    "undecided": (verdict(Conclusion.UNDECIDED), "+0.100: undecided"),
    "no verdict": (verdict(Conclusion.NO_VERDICT), "+0.100: no verdict"),
    "not defined": (None, "not defined"),
}


@pytest.mark.parametrize(("verdict", "text"), CASES.values(), ids=CASES)
def test_a_difference_has_its_verdict(verdict, text):
    assert captions.difference_in_words(DIFFERENCE, verdict) == text


def test_hollow_marks_are_named_by_their_conclusions_and_not_at_all_if_there_are_none():
    verdicts = [
        verdict(Conclusion.EQUIVALENT),
        verdict(Conclusion.UNDECIDED),
        verdict(Conclusion.UNDECIDED),
    ]
    assert captions.hollow(verdicts) == "Hollow: undecided or equivalent, the interval includes 0."
    assert captions.hollow([]) == ""


def test_values_and_intervals():
    assert (captions.value_in_words(0.123456), captions.value_in_words(math.nan)) == (
        "0.1235",
        "not defined",
    )
    assert (captions.width_in_words(0.5), captions.width_in_words(math.nan)) == (
        "0.5",
        "no interval",
    )
    interval = captions.interval_in_words(Setting(confidence_level=0.9))
    assert interval == "90 % interval"
    names_by_assumption = {
        "uniform negatives": ["Free", "Decreasing of b"],
        "bias is zero": ["BV 1"],
    }
    assert captions.assumed_by_estimators(names_by_assumption, interval) == (
        "Free, Decreasing of b: the 90 % interval holds the true metric if negatives are drawn "
        "uniformly, whatever the ranks are. BV 1: the 90 % interval holds the true metric only if "
        "the bias of the estimator is zero (hollow)."
    )
