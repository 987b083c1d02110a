"""Exact metrics with intervals: means by hand, of users and of their rows."""

from math import log2

import numpy as np
import pytest
from read_and import evaluate

from sampled_metrics.errors import ConfigError

RANKS = [1, 3, 12, 2, 3]
N = 21


def test_values_are_means_by_hand():
    metrics = ["recall@2", "recall@10", "ndcg@3", "ap", "mrr@2", "auc"]
    table = evaluate(RANKS, metrics=metrics, candidates=N)
    assert table.set_index("metric")["value"].to_dict() == {
        "recall@2": pytest.approx(2 / 5),
        "recall@10": pytest.approx(4 / 5),
        "ndcg@3": pytest.approx((1 + 0.5 + 0 + 1 / log2(3) + 0.5) / 5),
        "ap": pytest.approx((1 + 2 / 3 + 1 / 12 + 1 / 2) / 5),
        "mrr@2": pytest.approx(1.5 / 5),
        "auc": pytest.approx((20 + 18 + 9 + 19 + 18) / 20 / 5),
    }


def test_users_with_several_rows_count_once_with_their_mean():
    users = np.array(["a", "b", "a", "c", "a", "b"])
    ranks = np.array([1, 5, 30, 2, 7, 90])
    table = evaluate({"user": users, "rank": ranks}, candidates=100, metrics="ap")
    means = [(1 / ranks[users == user]).mean() for user in "abc"]
    [row] = table.to_dict("records")
    assert row["value"] == pytest.approx(np.mean(means))
    assert row["standard_error"] == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
    assert row["low"] < row["value"] < row["high"]
    assert [finding.kind for finding in table.findings] == ["several-rows", "few-users"]
    assert table.findings[1].values == {"users": 3}


@pytest.mark.parametrize("level", [0, np.nan, 95])
def test_a_confidence_level_out_of_range_is_refused(level):
    with pytest.raises(ConfigError, match=r"confidence_level"):
        evaluate(RANKS, candidates=N, confidence_level=level)
