"""What labels are called in tables and figures, as the paper calls them."""

import pytest

from sampled_metrics import reference
from sampled_metrics.names import estimator_name, metric_name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("auc", "AUC"),
        ("ap", "AP"),
        ("ap@5", "AP@5"),
        ("ndcg@10", "NDCG@10"),
        ("recall@10", "Recall@10"),
        ("mrr", "MRR"),
        ("hit-rate@3", "Hit rate@3"),
        ("precision@3", "Precision@3"),
    ],
)
def test_metric(label, name):
    assert metric_name(label) == name


def test_estimators_are_called_as_in_the_papers_table():
    assert {estimator_name(label) for label in reference.ESTIMATORS} == {
        "Sampled (uncorrected)",
        "Rank Estimate",
        "CLS",
        "BV 1",
        "BV 0.1",
        "BV 0.01",
        "BV 0.001",
    }
    assert estimator_name("exact") == "Exact"
    assert estimator_name("bv-1e-8") == "BV 1e-8"
