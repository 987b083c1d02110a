"""A metric of a table has one value, inside of its interval, wherever it is printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_with_both_ends import laws_with_both_ends

import sampled_metrics as sm

METRICS = ["ndcg@3", "ap", "auc"]
ESTIMATORS = ["decreasing", "free", "uncorrected", "rank-estimate", "cls", "bv-0.1", "mle", "mes"]


@settings(max_examples=settings().max_examples // 5)
@given(tables=laws_with_both_ends(), estimator=st.sampled_from([*ESTIMATORS, "smooth"]))
def test_values_are_inside_of_intervals_and_alike_in_all_verbs(tables, estimator):
    rows = sm.correct(tables, estimators=estimator, metrics=METRICS)
    known = rows[rows["low"].notna()]
    assert (known["low"] <= known["value"] + 1e-12).all()
    assert (known["value"] <= known["high"] + 1e-12).all()

    compared = sm.compare(tables, estimator=estimator, metrics=METRICS)
    values = rows.pivot(index="metric", columns="recommender", values="value").loc[METRICS]
    np.testing.assert_array_equal(values["a"], compared["value_a"])
    np.testing.assert_array_equal(values["b"], compared["value_b"])
    decided = compared[compared["low"].notna()]
    assert (decided["low"] <= decided["difference"] + 1e-12).all()
    assert (decided["difference"] <= decided["high"] + 1e-12).all()
    includes_zero = (decided["low"] <= 0) & (decided["high"] >= 0)
    assert (decided["p_value"][includes_zero] > 0.05 - 1e-6).all()
    assert (decided["p_value"][~includes_zero] < 0.05 + 1e-6).all()


def test_the_interval_reaches_a_value_that_the_sample_contradicts():
    """Half of the users are at rank 1 and half at the last one, so that smooth is far off."""
    table = sm.sampled_ranks(np.repeat([1, 31], 500), negatives=30, candidates=500)
    [row] = sm.correct(table, estimators="free", metrics="ap").itertuples()
    smooth = sm.correct(table, estimators="smooth", metrics="ap")["value"][0]
    assert row.value == row.low == smooth
    assert row.low < 0.5 < row.high


@pytest.mark.parametrize(
    ("estimator", "negatives"), [("mle", 20), ("bv-0.1", np.array([100] * 49 + [99]))]
)
def test_different_numbers_of_negatives_are_not_comparable(estimator, negatives):
    ranks = np.arange(50) % 20 + 1
    many = sm.sampled_ranks(ranks, negatives=100, candidates=500)
    few = sm.sampled_ranks(ranks, negatives=negatives, candidates=500)
    with pytest.raises(sm.DataError, match="comparable"):
        sm.compare({"a": many, "b": few}, estimator=estimator, metrics=["auc", "ap"])
    sm.compare({"a": many, "b": few}, estimator=estimator, metrics="auc")
    sm.compare({"a": few, "b": few}, estimator=estimator, metrics="ap")
