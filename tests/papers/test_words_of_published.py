"""Findings on published numbers in English."""

import pytest
from sentences import SHAPE, of, require_sentence, said

from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.papers.words import KINDS

SENTENCES = [
    (
        of("read-with-decimals", "hr@10", label="HR@10", value="0.7", read="0.700"),
        'HR@10 is read as 0.700, with the decimals of the others. Text keeps its own: "0.7".',
    ),
    (
        of("no-share", "hr@10", value="0.69863", users=6040, below=0.69850993, above=0.6986754),
        "of 6,040 users has the Hit rate@10 0.69863; the nearest are 0.69851 and 0.698675.",
    ),
    (
        of(
            "exact-contradicted",
            "hr@5",
            value="0.534",
            low=0.55,
            high=0.82,
            assumption="free",
            values={"hr@1": "0.644"},
        ),
        "The exact Hit rate@5 0.534 contradicts Hit rate@1 0.644 of the sample, which allows "
        "0.55 to 0.82, whatever",
    ),
    (
        of(
            "exact-contradicted",
            "hr@5",
            value="0.53",
            low=0.5,
            high=0.8,
            assumption="decreasing",
            values={"hr@1": "0.6", "mrr": "0.7"},
        ),
        f"which allow 0.50 to 0.80, if {SHAPE}.",
    ),
    (
        of(
            "published-order",
            "ap",
            ("Y", "X"),
            low=0.011,
            high=0.025,
            assumption="decreasing",
            is_decided=True,
        ),
        f"with 95 % confidence and if {SHAPE}, Y is better than X by AP (0.011 to 0.025).",
    ),
    (
        of(
            "published-order",
            "ap",
            ("X", "Y"),
            low=-0.2,
            high=0.5,
            assumption="free",
            is_decided=False,
        ),
        "do not order X and Y by AP (X may be better by up to 0.20, Y by up to 0.50), with 95 % "
        "confidence.",
    ),
]


@pytest.mark.parametrize("row", SENTENCES, ids=[finding.kind for finding, *_ in SENTENCES])
def test_of_each_kind(row):
    require_sentence(*row)


def test_every_kind_has_a_sentence_here():
    assert {finding.kind for finding, *_ in SENTENCES} == {*KINDS}


@pytest.mark.parametrize("name", ["CLS", "{0}", "%s"])
def test_names_that_look_like_other_words_are_kept(name):
    order = {"low": 0.1, "high": 0.2, "assumption": "free", "is_decided": True}
    findings = [of("published-order", metric, (name, "Y"), **order) for metric in ("ap", "auc")]
    [sentence] = said(*findings, setting=Setting(names=(name, "Y")))
    assert sentence.endswith(f", {name} is better than Y by AUC (0.10 to 0.20).")
