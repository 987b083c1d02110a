"""Exact metrics with intervals: means by hand, ties in expectation."""

from math import log2

import numpy as np
import pandas as pd
import pytest
from read_and import evaluate

from sampled_metrics.errors import ConfigError

RANKS = [1, 3, 12, 2, 3]
N = 21


def by_metric(table):
    return dict(zip(table["metric"], table["value"], strict=True))


def test_values_are_means_by_hand():
    metrics = ["recall@2", "recall@10", "ndcg@3", "ap", "mrr@2", "auc"]
    table = evaluate(RANKS, metrics=metrics, candidates=N)
    assert by_metric(table) == {
        "recall@2": pytest.approx(2 / 5),
        "recall@10": pytest.approx(4 / 5),
        "ndcg@3": pytest.approx((1 + 0.5 + 0 + 1 / log2(3) + 0.5) / 5),
        "ap": pytest.approx((1 + 2 / 3 + 1 / 12 + 1 / 2) / 5),
        "mrr@2": pytest.approx(1.5 / 5),
        "auc": pytest.approx((20 + 18 + 9 + 19 + 18) / 20 / 5),
    }


def test_ties_count_in_expectation():
    """Ranks 1 to 3, each as likely; and rank 2 alone."""
    ranks = pd.DataFrame({"above": [0, 1], "tied": [2, 0], "candidates": [11, 21]})
    table = evaluate(ranks, metrics=["recall@2", "ap", "auc", "ndcg@2"])
    assert by_metric(table) == {
        "recall@2": pytest.approx((2 / 3 + 1) / 2),
        "ap": pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 1 / 2) / 2),
        "ndcg@2": pytest.approx(((1 + 1 / log2(3)) / 3 + 1 / log2(3)) / 2),
        "auc": pytest.approx((9 / 10 + 19 / 20) / 2),
    }


def test_users_with_several_rows_count_once_with_their_mean():
    frame = pd.DataFrame(
        {"user": ["a", "b", "a", "c", "a", "b"], "rank": [1, 5, 30, 2, 7, 90], "candidates": 100}
    )
    table = evaluate(frame, metrics=["ap", "auc"])
    values_by_metric = {"ap": 1 / frame["rank"], "auc": 1 - (frame["rank"] - 1) / 99}
    for row in table.itertuples():
        values = values_by_metric[row.metric]
        means = [values[frame["user"] == user].mean() for user in "abc"]
        assert row.value == pytest.approx(np.mean(means))
        assert row.standard_error == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
        assert row.users == 3
    assert (table["low"] < table["value"]).all()
    findings = [(finding.kind, finding.values) for finding in table.findings]
    assert findings == [("several-rows", {}), ("few-users", {"users": 3})]


@pytest.mark.parametrize("level", [0, np.nan, 1 - 1e-16, 95])
def test_a_confidence_level_out_of_range_is_refused(level):
    with pytest.raises(ConfigError, match=r"confidence_level"):
        evaluate(RANKS, candidates=N, confidence_level=level)
