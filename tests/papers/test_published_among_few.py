"""Two questions of a published value: for other users among as many items, and among all."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import chi2

import sampled_metrics as sm
from sampled_metrics.core.metrics import metric

# HitRatio@1 of LLaRA's README of July 2024 on MovieLens (github.com/ljy0ustc/LLaRA): 38 and 43 of
# 95 users, 20 candidates
VALUES = {"GRU4Rec": {"hr@1": "0.4000"}, "SASRec": {"hr@1": "0.4526"}}
SHARES = {"GRU4Rec": 38 / 95, "SASRec": 43 / 95}
SIZE = {"negatives": 19, "users": 95}


def kinds(result):
    return {finding.kind for finding in result.findings}


def test_few_users_among_their_candidates_and_among_all():
    result = sm.published(VALUES, candidates=1682, **SIZE).set_index(["recommender", "estimator"])
    for name, share in SHARES.items():
        low, high = result.loc[(name, "uncorrected"), ["low", "high"]]
        limit = chi2.ppf(0.95, 1) / 2 / 95  # and a little more, as few users decide

        def excess(p, share=share, limit=limit):
            return rel_entr(share, p) + rel_entr(1 - share, 1 - p) - limit

        expected = [brentq(excess, 0.01, share), brentq(excess, share, 0.99)]
        assert [low, high] == pytest.approx(expected, abs=5e-3)
        assert result.loc[(name, "free"), "low"] == 0
        # no rank is better than its x
        assert result.loc[(name, "free"), "high"] == pytest.approx(high, abs=0.01)
    assert {"sampled-undecided", "published-undecided"} <= kinds(result)
    assert not {"sampled-order", "published-order"} & kinds(result)


def test_with_all_candidates_there_is_one_question():
    result = sm.published(VALUES, candidates=20, **SIZE)
    assert set(result["estimator"]) == {"uncorrected"}
    assert not {"interval-assumes", "published-undecided", "published-order"} & kinds(result)


def test_a_large_lead_holds_for_other_users_and_not_among_all():
    values = {"A": {"hr@10": "0.6000"}, "B": {"hr@10": "0.7000"}}
    result = sm.published(values, negatives=99, candidates=3706, users=6040)
    [order] = [finding for finding in result.findings if finding.kind == "sampled-order"]
    assert order.names == ("B", "A")
    assert 0.07 < order.values["smallest"] < 0.1 < order.values["largest"] < 0.13
    assert "published-undecided" in kinds(result)


def test_popularity_orders_nothing_and_bounds_from_above():
    """Petrov and Macdonald 2022 on MovieLens 20M: .2886 among all items, of 18,345 or 26,744."""
    values = {"A": {"hr@10": "0.1000"}, "BERT4Rec": {"hr@10": "0.7409"}}
    result = sm.published(
        values, negatives=100, candidates=(18345, 26744), users=138493, drawn="popularity"
    )
    [ends] = result.query("recommender == 'BERT4Rec' and estimator == 'free'").itertuples()
    assert ends.low <= 0.2886 <= ends.high
    assert ends.high == pytest.approx(0.7409, abs=1e-4)
    assert "drawn-by-popularity" in kinds(result)
    assert not {kind for kind in kinds(result) if kind.endswith(("order", "undecided"))}


N = 6
M = 3


def values_by_x(label, replacement):
    """The values at all true ranks that show each x: of each sample of other candidates."""
    values = metric(label).of_rank(np.arange(1, N + 1), N)
    by_x = [set() for _ in range(M + 1)]
    for rank in range(N):
        others = [item for item in range(N) if item != rank]
        with_repeats = itertools.product(others, repeat=M)
        for sample in with_repeats if replacement else itertools.permutations(others, M):
            by_x[sum(item < rank for item in sample)].add(values[rank])
    return by_x


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("label", ["hr@2", "ndcg@3", "auc"])
def test_bounds_by_popularity_hold_for_every_sample_and_are_reached(label, replacement):
    """As many users have each x: the bounds of `correct` hold the extremes of all popularities."""
    by_x = values_by_x(label, replacement)
    lows = [min(values) for values in by_x]
    highs = [max(values) for values in by_x]
    sizes = {"negatives": M, "candidates": N, "replacement": replacement, "drawn": "popularity"}
    ranks = sm.sampled_ranks(1 + np.arange(100) % (M + 1), **sizes)
    [row] = sm.correct(ranks, metrics=label, estimators="free").itertuples()
    assert row.low <= np.mean(lows) <= np.mean(highs) <= row.high  # the intervals of both means
    values = {"A": {"hr@1": "0.250000"}}
    options = {"users": 100, "metrics": label, "estimators": "free"}
    [bounds] = sm.published(values, **sizes, **options).itertuples()
    # one in four users has x = 0, and the others any x > 0
    expected = (lows[0] / 4 + min(lows[1:]) * 3 / 4, highs[0] / 4 + max(highs[1:]) * 3 / 4)
    assert (bounds.low, bounds.high) == pytest.approx(expected, abs=1e-6)


def test_compare_refuses_negatives_by_popularity():
    ranks = {
        name: sm.sampled_ranks([1, 5, 2], negatives=9, candidates=99, drawn="popularity")
        for name in "AB"
    }
    with pytest.raises(sm.DataError, match="popularity"):
        sm.compare(ranks, metrics="hr@1")
    with pytest.raises(sm.DataError, match="popularity"):
        sm.correct(ranks["A"], estimators="bv-0.1")
