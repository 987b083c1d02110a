"""Findings of plans in English."""

import pytest
from sentences import of, require_sentence

from sampled_metrics.planning.words import KINDS

PILOT = {"difference": 0.02, "users": 2000}
STAGES = {"way": "stages", "depth": 30.0}
NEGATIVES = {"way": "negatives", "negatives": 20, "estimator": "cls"}
DECIDED = {"decided": 0.95, "decided_low": 0.9, "decided_high": 0.99}
COST = {"scores": 31.0, "total": 3100, "width": 0.04, "width_low": 0.03, "width_high": 0.05}
SENTENCES = [
    (
        of("plan-pair", "ap", ("Y", "X"), **PILOT, low=0.01, high=0.03),
        "In the pilot, Y is better than X by AP. The difference in 2,000 users is 0.0200 (0.0100 "
        "to 0.0300). The column decided is for Y, and wrong for X.",
    ),
    (
        of("plan-pair", "ap", ("Y", "X"), **PILOT, low=-0.01, high=0.05),
        "does not decide whether Y is better … decided is for Y, and wrong for X, whichever is "
        "better in truth.",
    ),
    (
        of("plan-first", **STAGES, share=0.9, scores=1234.5, **DECIDED),
        "in 90 % of evaluations or more, with 95 % confidence in each: stages, depth 30, with "
        "1,234 scores for each user (95 %, 90 to 99 %).",
    ),
    (
        of(
            "plan-unsure",
            **STAGES,
            share=0.9,
            scores=31.0,
            **DECIDED | {"decided_low": 0.02},
            is_open=True,
        ),
        "cannot tell which way … in 90 % … By stages, depth 30, with 31 scores for each user, the "
        "chance is 2 to 99 %; it is 95 % if the true difference is that of the pilot.",
    ),
    (
        of("plan-unsure", **STAGES, share=0.9, scores=31.0, **DECIDED, is_open=False),
        "None of these ways decides rightly in 90 % … stages, depth 30, with 31 scores for each "
        "user (95 %, 90 to 99 %).",
    ),
    (
        of("plan-choice", **STAGES, **COST, by="width", wanted=0.05),
        "of at most 0.05, the cheapest way is stages, depth 30: 31 scores for each user, 3,100 in "
        "all, with a width of 0.0400 (0.0300 to 0.0500).",
    ),
    (
        of(
            "plan-choice",
            **NEGATIVES,
            **COST,
            **DECIDED,
            by="scores",
            wanted=4000,
            promise="decided",
        ),
        "With 4,000 scores, the best way is 20 negatives, cls: … It decides rightly in 95 % of "
        "evaluations (90 to 99 %).",
    ),
    (
        of(
            "plan-choice", **NEGATIVES, **COST, **DECIDED, by="scores", wanted=4000, promise="width"
        ),
        "With 4,000 scores, the narrowest interval is that of 20 negatives, cls: … cannot tell "
        "(95 %, 90 to 99 %).",
    ),
    (of("plan-none", width=0.05, scores=None), "a width of at most 0.05"),
    (of("plan-none", width=None, scores=4000), "at most 4,000 scores"),
    (
        of("plan-wrong", **NEGATIVES, wrong=0.9, wrong_low=0.2, wrong_high=1.0),
        "By the order of the pilot, … often wrong … 20 negatives, cls (90 %, 20 to 100 %).",
    ),
    (
        of("plan-left", **NEGATIVES, left=0.48),
        "In a part of the evaluations, … weaker … 20 negatives, cls (48 %).",
    ),
    (of("plan-no-interval", way="all candidates"), "no interval, by all candidates."),
    (
        of("plan-too-many", negatives=[20, 50], fewest=9),
        "only 9 other candidates, so that 20 and 50 negatives",
    ),
    (
        of("plan-few-hits", "recall@10", ("X",), hits=7),
        "Recall@10 of X is above 0 for only 7 users",
    ),
    (of("plan-no-stages"), "stages"),
    (of("plan-no-negatives"), "negatives"),
]


@pytest.mark.parametrize("row", SENTENCES, ids=[finding.kind for finding, *_ in SENTENCES])
def test_of_each_kind(row):
    require_sentence(*row)


def test_every_kind_has_a_sentence_here():
    assert {finding.kind for finding, *_ in SENTENCES} == {*KINDS}
