"""Two questions of a published value: for other users among as many items, and among all."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import chi2

import sampled_metrics as sm
from sampled_metrics.core.metrics import metric
from sampled_metrics.errors import ConfigError

# HitRatio@1 of LLaRA's README of July 2024 on MovieLens (github.com/ljy0ustc/LLaRA): 38, 40 and 43
# of 95 users, whose ValidRatio .9684 and .9789 are 92 and 93 of 95; 20 candidates
LLARA = {
    "GRU4Rec": {"hr@1": "0.4000"},
    "Caser": {"hr@1": "0.4211"},
    "SASRec": {"hr@1": "0.4526"},
}
HITS = {"GRU4Rec": 38, "Caser": 40, "SASRec": 43}
SIZE = {"negatives": 19, "users": 95, "metrics": "hr@1"}

# rows by popularity of published/evidence/pairs.csv: Petrov and Macdonald 2022 (bert4rec_repro)
POPULARITY = {
    "ml-1m": (6040, 3416, {"hr@10": ("0.6975", 0.2821), "ndcg@10": ("0.4751", 0.1516)}),
    "ml-20m": (
        138493,
        (18345, 26744),
        {"hr@10": ("0.7409", 0.2886), "ndcg@10": ("0.5259", 0.1732)},
    ),
}


def kinds(result):
    return {finding.kind for finding in result.findings}


def ends(result, estimator):
    rows = result[result["estimator"] == estimator]
    return {row.recommender: (row.low, row.high) for row in rows.itertuples()}


def test_the_shares_of_llara_are_those_of_95_users():
    for name, hits in HITS.items():
        assert f"{hits / 95:.4f}" == LLARA[name]["hr@1"]


def test_llara_among_its_candidates_and_among_all():
    result = sm.published(LLARA, candidates=1682, **SIZE)
    among_all = ends(result, "free")
    for name, (low, high) in ends(result, "uncorrected").items():
        share = HITS[name] / 95
        limit = chi2.ppf(0.95, 1) / 2 / 95  # and a little more, as few users decide

        def excess(p, share=share, limit=limit):
            return rel_entr(share, p) + rel_entr(1 - share, 1 - p) - limit

        expected = [brentq(excess, 0.01, share), brentq(excess, share, 0.99)]
        assert [low, high] == pytest.approx(expected, abs=5e-3)
        assert among_all[name][0] == 0
        assert among_all[name][1] == pytest.approx(high, abs=0.01)  # no rank is better than its x
    assert {"sampled-undecided", "published-undecided"} <= kinds(result)
    assert not {"sampled-order", "published-order"} & kinds(result)


def test_with_all_candidates_there_is_one_question():
    result = sm.published(LLARA, candidates=20, **SIZE)
    assert set(result["estimator"]) == {"uncorrected"}
    assert not {"interval-assumes", "published-undecided", "published-order"} & kinds(result)
    assert "better rank" not in " ".join(result.remarks)


def test_a_large_lead_holds_for_other_users_and_not_among_all():
    values = {"A": {"hr@10": "0.6000"}, "B": {"hr@10": "0.7000"}}
    result = sm.published(values, negatives=99, candidates=3706, users=6040)
    [order] = [finding for finding in result.findings if finding.kind == "sampled-order"]
    assert order.names == ("B", "A")
    assert 0.07 < order.values["smallest"] < 0.1 < order.values["largest"] < 0.13
    assert "published-undecided" in kinds(result)


@pytest.mark.parametrize("dataset", POPULARITY)
def test_popularity_bounds_the_metrics_of_bert4rec_from_above(dataset):
    users, candidates, metrics = POPULARITY[dataset]
    sampled = {label: written for label, (written, _) in metrics.items()}
    result = sm.published(
        {"BERT4Rec": sampled},
        negatives=100,
        candidates=candidates,
        users=users,
        drawn="popularity",
        estimators="free",
    )
    for row in result.itertuples():
        written, true = metrics[row.metric]
        assert row.low <= true <= row.high
        assert row.high == pytest.approx(float(written), abs=1e-4)
    assert "drawn-by-popularity" in kinds(result)


def test_popularity_orders_nothing():
    values = {"A": {"hr@10": "0.1000"}, "B": {"hr@10": "0.9000"}}
    result = sm.published(values, negatives=99, candidates=3706, users=6040, drawn="popularity")
    assert not {kind for kind in kinds(result) if kind.endswith(("order", "undecided"))}


N = 6
M = 3


def samples(replacement):
    """All (r, x) that some popularity may show: each sample of other candidates, at each rank."""
    for rank in range(1, N + 1):
        others = [item for item in range(1, N + 1) if item != rank]
        draw = itertools.product if replacement else itertools.permutations
        drawn = draw(others, repeat=M) if replacement else draw(others, M)
        for items in drawn:
            yield rank, sum(item < rank for item in items)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("label", ["hr@1", "hr@2", "ndcg@3", "mrr", "auc"])
def test_bounds_by_popularity_hold_for_every_sample_and_are_reached(label, replacement):
    """A user for each x: the bounds of `correct` are the extremes over all popularities."""
    values = metric(label).of_rank(np.arange(1, N + 1), N)
    extremes = {x: [] for x in range(M + 1)}
    for rank, x in samples(replacement):
        extremes[x].append(values[rank - 1])
    x = np.repeat(np.arange(M + 1), 25)
    ranks = sm.sampled_ranks(
        x + 1, negatives=M, candidates=N, replacement=replacement, drawn="popularity"
    )
    result = sm.correct(ranks, metrics=label, estimators="free")
    [row] = result.itertuples()
    low = np.mean([min(extremes[value]) for value in x])
    high = np.mean([max(extremes[value]) for value in x])
    assert row.low <= low <= high <= row.high  # the intervals of both means
    share_of_best = f"{np.mean(x < 1):.6f}"
    published = sm.published(
        {"A": {"hr@1": share_of_best}},
        negatives=M,
        candidates=N,
        users=100,
        replacement=replacement,
        drawn="popularity",
        estimators="free",
        metrics=label,
    )
    [bounds] = published.itertuples()
    # one in four users has x = 0, and the others any x > 0
    others = [value for x, values in extremes.items() if x for value in values]
    expected = [
        min(extremes[0]) / 4 + min(others) * 3 / 4,
        max(extremes[0]) / 4 + max(others) * 3 / 4,
    ]
    assert [bounds.low, bounds.high] == pytest.approx(expected, abs=1e-6)


def test_compare_refuses_negatives_by_popularity():
    ranks = {
        name: sm.sampled_ranks([1, 5, 2], negatives=9, candidates=99, drawn="popularity")
        for name in "AB"
    }
    with pytest.raises(sm.DataError, match="popularity"):
        sm.compare(ranks, metrics="hr@1")
    with pytest.raises(sm.DataError, match="popularity"):
        sm.correct(ranks["A"], estimators="bv-0.1")


@pytest.mark.parametrize("options", [{"drawn": "once"}, {"exact": {"A": {"hr@1": "0.5"}}}])
def test_wrong_options_of_popularity_are_refused(options):
    with pytest.raises(ConfigError):
        sm.published(
            {"A": {"hr@1": "0.5"}},
            negatives=9,
            candidates=99,
            users=10,
            **({"drawn": "popularity"} | options),
        )
