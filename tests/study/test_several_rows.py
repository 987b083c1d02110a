"""Users with several rows count once, in exact metrics, repetitions and expectations."""

import numpy as np
import pandas as pd
import pytest
from read_and import expect
from scipy.stats import hypergeom

from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.study.repetitions import Evaluation, exact_moments, repeat

METRICS = ["recall@10", "ap"]
USER = np.array([3, 1, 1, 2, 1, 2, 4, 3, 1])
TABLE = ExactRanks(
    USER, np.full(9, 60), np.array([0, 4, 30, 9, 12, 2, 20, 7, 50]), np.array([0, 2, 0, 1, 0, 3, 0, 0, 5])
)


def evaluation(negatives: int = 8, repetitions: int = 4) -> Evaluation:
    return Evaluation(SamplingDesign(negatives), repetitions, ["default"], ["uncorrected", "cls"], METRICS, False)


def chances(m: int) -> np.ndarray:
    """P(x) of each row, (rows, m + 1), from the definition."""
    return np.array(
        [
            np.mean([hypergeom(59, above + tie, m).pmf(np.arange(m + 1)) for tie in range(tied + 1)], axis=0)
            for above, tied in zip(TABLE.above, TABLE.tied, strict=True)
        ]
    )


def test_exact_moments_are_those_of_expect_and_of_the_definition() -> None:
    found = exact_moments(TABLE, evaluation()).set_index(["estimator", "metric"])
    theirs = expect(TABLE, negatives=8, estimators=["uncorrected", "cls"], metrics=METRICS)
    for row in theirs.itertuples():
        assert found.loc[(row.estimator, row.metric), "mean_exact"] == pytest.approx(row.expected, rel=1e-9)
    values = metric("ap").values(9)
    means, squares = chances(8) @ values, chances(8) @ values**2
    per_user = pd.DataFrame({"user": USER, "variance": squares - means**2}).groupby("user")["variance"]
    sd = np.sqrt((per_user.sum() / per_user.count() ** 2).sum()) / 4
    assert found.loc[("uncorrected", "ap"), "sd_exact"] == pytest.approx(sd, rel=1e-9)


def test_repetitions_have_these_moments() -> None:
    runs = repeat(TABLE, evaluation(repetitions=6000), np.random.default_rng(2))
    exact = exact_moments(TABLE, evaluation()).set_index(["estimator", "metric"])
    for keys, drawn in runs.groupby(["estimator", "metric"])["estimate"]:
        mean, sd = exact.loc[keys, ["mean_exact", "sd_exact"]]
        assert abs(drawn.mean() - mean) <= 4 * sd / np.sqrt(6000) + 1e-12
        assert drawn.std() == pytest.approx(sd, rel=0.05, abs=1e-8)  # one is 0 up to rounding
