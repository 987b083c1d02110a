"""Names of estimators in tables and figures, as the paper has them."""

import pytest

from sampled_metrics.estimators import estimator_name
from sampled_metrics.paper import reference


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


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("mle", "MLE"),
        ("mle-50", "MLE 50"),
        ("mes", "MES"),
        ("mes-0.1", "MES 0.1"),
        ("smooth", "Smooth"),
    ],
)
def test_estimators_beyond_the_paper(label, name):
    assert estimator_name(label) == name


def test_labels_that_differ_are_called_differently():
    labels = [
        *("exact", "uncorrected", "rank-estimate", "rank-estimate-as-printed", "cls", "bv-1", "bv-0.1", "bv-1e-8"),
        *("mle", "mle-1", "mes", "mes-0.1", "smooth", "free", "decreasing", "convex"),
    ]
    assert len({estimator_name(label) for label in labels}) == len(labels)
