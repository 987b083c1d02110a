"""Exact metrics with intervals: means by hand, ties in expectation."""

from fractions import Fraction
from math import log2

import numpy as np
import pandas as pd
import pytest
from read_and import evaluate

from sampled_metrics.errors import ConfigError, DataError

RANKS = [1, 3, 12, 2, 3]
N = 21


def by_metric(table):
    return dict(zip(table["metric"], table["value"], strict=True))


class TestValues:
    def test_are_means_by_hand(self):
        found = by_metric(
            evaluate(RANKS, metrics=["recall@2", "recall@10", "ndcg@3", "ap", "mrr@2", "auc"], candidates=N)
        )
        assert found["recall@2"] == pytest.approx(2 / 5)
        assert found["recall@10"] == pytest.approx(4 / 5)
        assert found["ndcg@3"] == pytest.approx((1 + 0.5 + 0 + 1 / log2(3) + 0.5) / 5)
        assert found["ap"] == pytest.approx(float(Fraction(1) + Fraction(2, 3) + Fraction(1, 12) + Fraction(1, 2)) / 5)
        assert found["mrr@2"] == pytest.approx(1.5 / 5)
        assert found["auc"] == pytest.approx((20 + 18 + 9 + 19 + 18) / 20 / 5)

    def test_ties_count_in_expectation(self):
        """Ranks 1 to 3, each as likely; and rank 2 alone."""
        ranks = pd.DataFrame({"above": [0, 1], "tied": [2, 0], "candidates": [11, 21]})
        found = by_metric(evaluate(ranks, metrics=["recall@2", "ap", "auc", "ndcg@2", "precision@2"]))
        assert found["recall@2"] == pytest.approx((2 / 3 + 1) / 2)
        assert found["precision@2"] == pytest.approx((2 / 3 + 1) / 4)
        assert found["ap"] == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 1 / 2) / 2)
        assert found["ndcg@2"] == pytest.approx(((1 + 1 / log2(3)) / 3 + 1 / log2(3)) / 2)
        assert found["auc"] == pytest.approx((9 / 10 + 19 / 20) / 2)

    def test_the_order_of_users_and_of_columns_is_nothing(self):
        ranks = pd.DataFrame({"rank": RANKS, "candidates": [21, 30, 12, 5, 9]})
        table = evaluate(ranks)
        for other in (ranks.iloc[::-1], ranks[["candidates", "rank"]], ranks.sample(frac=1, random_state=1)):
            pd.testing.assert_frame_equal(pd.DataFrame(evaluate(other)), pd.DataFrame(table))


class TestSeveralRows:
    """Users with several held-out items count once, with the mean over them."""

    FRAME = pd.DataFrame({"user": ["a", "b", "a", "c", "a", "b"], "rank": [1, 5, 30, 2, 7, 90], "candidates": 100})

    def test_value_and_error_are_those_of_the_means(self):
        table = evaluate(self.FRAME, metrics=["ap", "auc"])
        for row, values in zip(
            table.itertuples(), (1 / self.FRAME["rank"], 1 - (self.FRAME["rank"] - 1) / 99), strict=True
        ):
            means = [values[self.FRAME["user"] == user].mean() for user in "abc"]
            assert row.value == pytest.approx(np.mean(means))
            assert row.standard_error == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
            assert row.users == 3
        assert (table["low"] < table["value"]).all()
        found = [(finding.kind, finding.values) for finding in table.findings]
        assert found == [("several-rows", {}), ("few-users", {"users": 3})]


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ({"metrics": ["recall"]}, ConfigError, "metric 'recall' needs a cut-off, such as recall@10"),
            ({"metrics": ["recall@0"]}, ConfigError, "unknown metric"),
            ({"metrics": ["auc@5"]}, ConfigError, "unknown metric"),
            ({"metrics": ["auc", "auc"]}, ConfigError, "metrics: 'auc' is there twice; give each label once"),
            ({"metrics": [3]}, ConfigError, "metrics: a label is text, not 3"),
            ({"confidence_level": "a"}, ConfigError, "confidence_level must be a number above 0 and below 1, not 'a'"),
            ({"candidates": 11}, DataError, "row 3: rank 12 .ties included. is above"),
            ({"candidates": None}, DataError, "candidates"),
            ({"ranks": [1]}, DataError, "two users or more, not 1"),
            ({"ranks": pd.DataFrame({"rank": RANKS, "negatives": 9})}, DataError, "ranks: has a column negatives, so"),
        ],
    )
    def test_say_why(self, arguments, error, says):
        with pytest.raises(error, match=says):
            evaluate(**{"ranks": RANKS, "candidates": N, **arguments})


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.1, np.nan, np.inf, 1 - 1e-16, 95])
def test_a_confidence_level_out_of_range_is_refused(level):
    with pytest.raises(ConfigError, match="confidence_level must be above 0 and below 1"):
        evaluate(RANKS, candidates=N, confidence_level=level)


def test_an_auc_of_one_candidate_is_missing_and_the_rest_is_not():
    table = evaluate([1, 1, 1], candidates=1)
    assert table["value"].isna().tolist() == [False, False, False, True]
    assert table["low"].isna().tolist() == [False, False, False, True]
    assert [finding.metric for finding in table.findings if finding.kind == "undefined"] == ["auc"]
