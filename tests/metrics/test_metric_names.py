"""Names of metrics in tables and figures, as the paper has them."""

import pytest

from sampled_metrics.metrics.metric import METRICS, Family, metric_name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("auc", "AUC"),
        ("ap@5", "AP@5"),
        ("hit-rate@3", "Hit rate@3"),
        ("recall@1-50", "Recall@1-50"),  # the mean over the cut-offs
        ("unknown@3", "unknown@3"),
    ],
)
def test_metric(label, name):
    assert metric_name(label) == name


def test_formulas_have_different_names():
    names = [formula.name for formula in METRICS.values() if not isinstance(formula, Family)]
    assert len(set(names)) == len(names) > 5
