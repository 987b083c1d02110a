"""Captions of figures: what is said of marks and intervals."""

import math

import pytest

from sampled_metrics.core.evaluation.verdict import Conclusion, Size, Verdict
from sampled_metrics.core.evaluation.words import captions
from sampled_metrics.core.inference.setting import Setting


def verdict(conclusion, size=Size.UNKNOWN):
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
        size=size,
        users=50,
    )


DIFFERENCE = {"difference": 0.1, "low": 0.058, "high": 0.142}

CASES = {
    "better": (verdict(Conclusion.BETTER), "+0.1: undecided is better"),
    "by more": (
        verdict(Conclusion.BETTER, Size.MORE),
        "+0.1: undecided is better by more than the margin",
    ),
    "undecided": (verdict(Conclusion.UNDECIDED), "+0.1: undecided"),
    "no verdict": (verdict(Conclusion.NO_VERDICT), "+0.1: no verdict"),
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
    names_by_assumption = {"none": ["Free", "Decreasing of b"], "bias is zero": ["BV 1"]}
    assert captions.assumed_by_estimators(names_by_assumption, interval) == (
        "Free, Decreasing of b: the 90 % interval holds the true metric without an assumption on "
        "the ranks. BV 1: the 90 % interval holds the true metric only if the bias of the "
        "estimator is zero (hollow)."
    )
