"""Metrics and estimators of a user's own, as objects in place of labels."""

from dataclasses import dataclass

import numpy as np
import pytest
import read_and

import sampled_metrics as sm
from sampled_metrics.estimators.linear import LinearEstimator, Uncorrected
from sampled_metrics.metrics.metric import Metric

RANKS = [1, 3, 2, 1, 40, 7, 1, 101, 12, 1]
"""Among 100 sampled negatives."""

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


def test_a_metric() -> None:
    found = read_and.evaluate([1, 2, 11], candidates=100, metrics=[RBP, "recall@10"])
    assert found["metric"].tolist() == ["rbp", "recall@10"]
    np.testing.assert_allclose(found["value"], [0.2 * (1 + 0.8 + 0.8**10) / 3, 2 / 3])
    assert read_and.evaluate([1, 2, 11], candidates=100, metrics=RBP)["value"].tolist() == found["value"].tolist()[:1]
    assert read_and.correct(RANKS, candidates=3541, negatives=100, metrics=RBP)["value"].between(0, 0.2).all()
    compared = read_and.compare([1, 2, 11], [1, 1, 5], candidates=100, metrics=RBP)
    np.testing.assert_allclose(compared["difference"], [0.2 * (1 - 0.8 + 0.8**4 - 0.8**10) / 3])


def test_an_estimator() -> None:
    found = read_and.correct(RANKS, candidates=3541, negatives=100, estimators=["uncorrected", Scaled(0.5)])
    assert found["estimator"].unique().tolist() == ["uncorrected", "scaled-0.5"]
    plain, half = (found[found["estimator"] == label] for label in ("uncorrected", "scaled-0.5"))
    np.testing.assert_allclose(half["value"], plain["value"] / 2)
    np.testing.assert_allclose(half["standard_error"], plain["standard_error"] / 2)
    expected = read_and.expect([1, 500], candidates=1000, negatives=10, estimators=["uncorrected", Scaled(0.25)])
    means = expected.groupby("estimator")["expected"].apply(list)
    np.testing.assert_allclose(means["scaled-0.25"], np.array(means["uncorrected"]) / 4)
    paired = {"old": RANKS, "new": RANKS[::-1]}
    differences = [
        read_and.compare(paired, candidates=3541, negatives=100, estimator=each, metrics=["ap"])["value_a"].item()
        for each in ("uncorrected", Scaled(0.5))
    ]
    assert differences[1] == pytest.approx(differences[0] / 2)


def test_refuses_a_metric_of_one_rank_for_lists():
    with pytest.raises(sm.ConfigError, match="is not a metric of ranked lists"):
        read_and.evaluate({"a": {"x": 1}}, relevance={"a": {"x": 1}}, metrics=[RBP])
