"""Labels and names: what is taken, and that nothing is there twice or is no text."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics._validation import check_label, check_labels, check_names
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import estimators_by_label


@pytest.mark.parametrize("given", ["auc", ["auc"], ("auc",), np.array(["auc"]), pd.Series(["auc"]), {"auc": 1}])
def test_one_label_in_any_form(given):
    assert check_labels(given, "metrics") == ["auc"]


def test_several_keep_their_order():
    assert check_labels(("b", "a"), "metrics") == ["b", "a"]
    assert list(estimators_by_label(["mle", "bv-0.1", "bv-0.01", "mes"])) == ["mle", "bv-0.1", "bv-0.01", "mes"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "metrics: give one label or a list of them, not None"),
        (3, "metrics: give one label or a list of them, not 3"),
        ([], "metrics: give one label or more"),
        ([3], "metrics: a label is text, not 3"),
        ([np.int64(3)], "metrics: a label is text, not 3"),
        ([None], "metrics: a label is text, not None"),
        ([["auc"]], r"metrics: a label is text, not \['auc'\]"),
        (b"auc", "metrics: a label is text, not 97"),
        (["ap", "auc", "ap"], "metrics: 'ap' is there twice; give each label once"),
    ],
)
def test_refuses_and_says_why(given, says):
    with pytest.raises(ConfigError, match=rf"^{says}$"):
        check_labels(given, "metrics")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("bv-0.1", "bv-0.10"),
        ("bv-0.1", "bv-1e-1"),
        ("mle", "mle-100"),
        ("mes", "mes-0.01"),
    ],
)
def test_refuses_two_labels_of_the_same_estimator(first, second):
    with pytest.raises(ConfigError, match=rf"^estimators: '{first}' and '{second}' are the same one; give it once$"):
        estimators_by_label(["cls", first, second])


def test_refuses_an_estimator_that_is_none():
    with pytest.raises(ConfigError, match="unknown estimator 'bv'"):
        estimators_by_label(["bv"])


def test_a_single_label():
    assert check_label("auc", "metric") == "auc"
    with pytest.raises(ConfigError, match=r"^metric: a label is text, not \['auc'\]$"):
        check_label(["auc"], "metric")


def test_two_names():
    assert check_names(["old", "new"]) == ("old", "new")
    for wrong in (None, "AB", ("A",), ("A", "B", "C"), (1, 2), ({}, "B")):
        with pytest.raises(DataError, match=r"^names must be two texts, one for each recommender, not "):
            check_names(wrong)
    with pytest.raises(DataError, match=r"^the two recommenders must have different names, not 'A' twice$"):
        check_names(("A", "A"))
