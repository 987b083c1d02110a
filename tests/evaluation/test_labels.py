"""Metrics and estimators: labels come back as they are written, and objects of a user's own take their place."""

from dataclasses import dataclass

import numpy as np
import pytest
import read_and

import sampled_metrics as sm
from sampled_metrics.estimators.linear import LinearEstimator, Uncorrected
from sampled_metrics.metrics.metric import Metric

SAMPLED = [1, 3, 1, 12, 21, 2, 1, 7, 5, 1, 2, 4, 1, 1, 9]
OF_20 = {"candidates": 500, "negatives": 20}
EXACT = [4, 61, 2, 300, 480, 17, 1, 150, 88, 3, 40, 77, 6, 9, 201]
METRICS = ["hr@10", "MAP", "AUC", "Recall@5"], ["hit-rate@10", "ap", "auc", "recall@5"]
"""As they are written, and as they are usual."""
LISTS = ["hr@10", "MAP", "Recall@5", "DCG@2"], ["hit-rate@10", "ap", "recall@5", "dcg@2"]
ESTIMATORS = ["Decreasing", "sampled", "BV 0.1", "MES", "EM"], ["decreasing", "uncorrected", "bv-0.1", "mes", "mle"]
RUN = {"ann": {"film": 0.9, "song": 0.4}, "bob": {"film": 0.2, "book": 0.8, "song": 0.5}}
GRADES = {"ann": {"song": 3}, "bob": {"book": 1, "film": 2}}

RBP = Metric("rbp", lambda rank, candidates: 0.2 * 0.8 ** (np.asarray(rank) - 1.0), linear_in_rank=False, cutoff=None)
"""Rank-biased precision with p = 0.8."""


@dataclass(frozen=True)
class Scaled(LinearEstimator):
    """The uncorrected metric, times a factor."""

    factor: float

    def __str__(self) -> str:
        return f"scaled-{self.factor:g}"

    def weights(self, design, candidates, metrics):
        return self.factor * Uncorrected().weights(design, candidates, metrics)


@pytest.mark.parametrize(
    ("call", "metrics", "estimators"),
    [
        (lambda m, e: read_and.correct(SAMPLED, **OF_20, metrics=m, estimators=e), METRICS, slice(5)),
        (lambda m, e: read_and.expect(EXACT, **OF_20, metrics=m, estimators=e), METRICS, slice(1, 3)),
        (
            lambda m, e: read_and.compare(SAMPLED, SAMPLED[::-1], **OF_20, metrics=m, estimator=e[0]),
            METRICS,
            slice(1, 2),
        ),
        (lambda m, _: read_and.evaluate(RUN, relevance=GRADES, metrics=m), LISTS, slice(0)),
    ],
    ids=["correct", "expect", "compare", "lists"],
)
def test_labels_come_back_as_they_are_written(call, metrics, estimators):
    written, usual = (
        call(labels, of_estimators[estimators]) for labels, of_estimators in zip(metrics, ESTIMATORS, strict=True)
    )
    assert written["metric"].unique().tolist() == metrics[0]
    if "estimator" in written:
        assert written["estimator"].unique().tolist() == ESTIMATORS[0][estimators]
    columns = [each for each in written.columns if each not in ("metric", "estimator")]
    assert written[columns].equals(usual[columns])
    assert written.remarks == usual.remarks


def test_a_metric_of_ones_own() -> None:
    found = read_and.evaluate([1, 2, 11], candidates=100, metrics=[RBP, "recall@10"])
    assert found["metric"].tolist() == ["rbp", "recall@10"]
    np.testing.assert_allclose(found["value"], [0.2 * (1 + 0.8 + 0.8**10) / 3, 2 / 3])
    assert read_and.correct(SAMPLED, **OF_20, metrics=RBP)["value"].between(0, 0.2).all()
    compared = read_and.compare([1, 2, 11], [1, 1, 5], candidates=100, metrics=RBP)
    np.testing.assert_allclose(compared["difference"], [0.2 * (1 - 0.8 + 0.8**4 - 0.8**10) / 3])
    with pytest.raises(sm.ConfigError, match="is not a metric of ranked lists"):
        read_and.evaluate(RUN, relevance=GRADES, metrics=[RBP])


def test_an_estimator_of_ones_own() -> None:
    found = read_and.correct(SAMPLED, **OF_20, estimators=["uncorrected", Scaled(0.5)])
    assert found["estimator"].unique().tolist() == ["uncorrected", "scaled-0.5"]
    plain, half = (found[found["estimator"] == label] for label in ("uncorrected", "scaled-0.5"))
    for column in ("value", "standard_error"):
        np.testing.assert_allclose(half[column], plain[column] / 2)
    expected = read_and.expect(EXACT, **OF_20, estimators=["uncorrected", Scaled(0.25)])
    means = expected.groupby("estimator")["expected"].apply(list)
    np.testing.assert_allclose(means["scaled-0.25"], np.array(means["uncorrected"]) / 4)
