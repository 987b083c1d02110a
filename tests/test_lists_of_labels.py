"""Labels and names: what is taken, and that nothing is repeated and everything is text."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics._validation import check_labels
from sampled_metrics.errors import ConfigError


@pytest.mark.parametrize("given", ["auc", ["auc"], ("auc",), np.array(["auc"]), pd.Series(["auc"]), {"auc": 1}])
def test_one_label_in_any_form(given):
    assert check_labels(given, "metrics") == ["auc"]


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
