"""Findings of epochs in English."""

import pytest
from sentences import of, require_sentence

from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.validation.words import KINDS

SENTENCES = [
    (of("epochs-together"), "The 90 % intervals hold together for all epochs.", Setting(0.9)),
    (
        of("best-of-epochs", "auc", epochs=7),
        "highest value of 7 epochs (AUC) … too high on average. Other users",
    ),
]


@pytest.mark.parametrize("row", SENTENCES, ids=[finding.kind for finding, *_ in SENTENCES])
def test_of_each_kind(row):
    require_sentence(*row)


def test_every_kind_has_a_sentence_here():
    assert {finding.kind for finding, *_ in SENTENCES} == {*KINDS}
