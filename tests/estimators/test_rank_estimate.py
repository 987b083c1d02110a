"""The rank estimate, by hand: n = 11, m = 4."""

import numpy as np
import pytest

from sampled_metrics.estimators import estimator, estimators_by_label
from sampled_metrics.estimators.linear import RankEstimate
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

# 1 + floor(10 x / 4), and 1 + floor(10 x / 5)
AS_WRITTEN, AS_PRINTED = [1, 3, 6, 8, 11], [1, 3, 5, 7, 9]


@pytest.mark.parametrize(("extra", "ranks"), [(0, AS_WRITTEN), (1, AS_PRINTED)], ids=["eq. 20", "as printed"])
@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("ap", lambda rank: 1 / rank),
        ("auc", lambda rank: (11 - rank) / 10),
        ("recall@5", lambda rank: rank <= 5),
        ("ndcg@6", lambda rank: (rank <= 6) / np.log2(rank + 1)),
    ],
)
def test_is_the_metric_of_the_scaled_rank(extra, ranks, label, value):
    weights = RankEstimate(extra).fit(Outcomes.from_design(SamplingDesign(4), 11), [metric(label)]).weights[0]
    assert weights.tolist() == pytest.approx([float(value(rank)) for rank in ranks])


def test_both_readings_have_the_labels_that_find_them():
    both = [RankEstimate(), RankEstimate(1)]
    assert estimators_by_label(both) == dict(zip(["rank-estimate", "rank-estimate-as-printed"], both, strict=True))
    assert [estimator(str(each)) for each in both] == both
    assert str(RankEstimate(3)) == "RankEstimate(extra_divisor=3)"  # no label finds it


def test_recall_and_ndcg_at_10_are_the_same_at_the_papers_size():
    # one better negative of 100 already stands for rank 36 of 3541
    recall, ndcg = (
        RankEstimate().fit(Outcomes.from_design(SamplingDesign(100), 3541), [metric(label)]).weights[0]
        for label in ("recall@10", "ndcg@10")
    )
    assert recall.tolist() == ndcg.tolist() == [1] + [0] * 100


@pytest.mark.parametrize(("n", "m"), [(50, 49), (99, 7), (3541, 100)])
def test_the_floor_is_exact_where_the_division_is(n, m):
    # where (n - 1) x / m is whole, rounding must not lose 1: AUC tells ranks apart
    weights = RankEstimate().fit(Outcomes.from_design(SamplingDesign(m), n), [metric("auc")]).weights[0]
    x = np.arange(m + 1)
    whole = ((n - 1) * x) % m == 0
    assert whole.sum() >= 2
    np.testing.assert_allclose(weights[whole], 1 - x[whole] / m, atol=1e-12)
