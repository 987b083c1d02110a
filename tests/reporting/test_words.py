"""The words of a report: each sentence from the data that it is on."""

import math

import pytest

from sampled_metrics.core.evaluation.verdict import Conclusion, Verdict
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.reporting import words

SETTING = Setting(names=("undecided", "X"), negatives=100)


def verdict(conclusion, low=0.1):
    """On X against a recommender that is called undecided.

    This one is better if the interval is above 0.
    """
    return Verdict(
        metric="recall@10",
        a="X",
        b="undecided",
        value_a=0.5,
        value_b=0.6,
        difference=0.1,
        low=low,
        high=0.3,
        p_value=math.nan,
        conclusion=conclusion,
        users=50,
    )


BETTER = verdict(Conclusion.BETTER)
UNDECIDED = verdict(Conclusion.UNDECIDED)
EQUIVALENT = verdict(Conclusion.EQUIVALENT)
WRONG = Finding(
    "wrong-order",
    "recall@10",
    ("undecided", "X"),
    values={
        "estimator": "uncorrected",
        "negatives": 100,
        "chance": 0.1,
        "exact_better": 0.6,
        "exact_worse": 0.5,
        "expected_better": 0.8,
        "expected_worse": 0.9,
    },
)
CASES = {
    "all right": (
        [BETTER],
        [],
        [],
        [],
        ["With 100 sampled negatives, all recommenders are ordered rightly"],
    ),
    "of the decided ones": (
        [BETTER, UNDECIDED],
        [],
        [],
        [],
        [
            "With 100 sampled negatives, all decided pairs are ordered",
            "Undecided by the exact ranks: 1 of 2",
        ],
    ),
    "equivalent": (
        [EQUIVALENT, UNDECIDED],
        [],
        [],
        [],
        ["Undecided or equivalent by the exact ranks: 2 of 2"],
    ),
    "wrong": ([BETTER], [WRONG], [], [], ["by the exact Recall@10, undecided is ahead of X"]),
    "alike": (
        [BETTER],
        [],
        [BETTER],
        [],
        ["By the exact Recall@10, undecided is better than X. Among 100 sampled"],
    ),
    "unchanged": ([], [], [], ["auc"], ["AUC is left out here"]),
}


@pytest.mark.parametrize(
    ("verdicts", "wrong", "alike", "unchanged", "said"), CASES.values(), ids=CASES
)
def test_orders_are_said_from_verdicts_whatever_a_recommender_is_called(
    verdicts, wrong, alike, unchanged, said
):
    orders = words.Orders(100, verdicts, wrong, alike, unchanged)
    sentences = words.orders_in_words(orders, SETTING)
    assert len(sentences) == len(said)
    for sentence, part in zip(sentences, said, strict=True):
        assert part in sentence


def test_a_sentence_of_all_recommenders_has_no_names():
    sentences = {"A": ["both", "of A"], "B": ["both"]}
    assert words.by_recommender_in_words(sentences) == ["both", "A: of A"]
