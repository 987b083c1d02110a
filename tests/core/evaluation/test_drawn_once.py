"""Negatives that are drawn once for all users: no interval of one draw, and those of several.

benchmarks/promises.py counts how often the intervals of several draws hold.
"""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import SHARED

USERS = 300
N = 1000
M = 100


def tables(seed, draws, drawn="once", users=USERS):
    """Draws of the negatives of users of whom half have one order of the items."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(1, N + 1, users)
    x = rng.hypergeometric(ranks - 1, N - ranks, M, (draws, users))
    half = users // 2
    for x_of_draw in x:
        negatives = np.sort(rng.permutation(N - 1)[:M]) + 1
        x_of_draw[:half] = np.searchsorted(negatives, ranks[:half])
    return [
        sm.sampled_ranks(1 + x_of_draw, negatives=M, candidates=N, drawn=drawn) for x_of_draw in x
    ]


def kinds(result):
    return {finding.kind for finding in result.findings}


@pytest.mark.parametrize("estimator", ["decreasing", "mle"])
def test_one_draw_has_the_value_and_no_interval_and_no_verdict(estimator):
    [once] = tables(1, 1, users=60)
    [by_user] = tables(1, 1, drawn="by user", users=60)
    corrected, corrected_by_user = (
        sm.correct(table, estimators=estimator, metrics=["recall@10", "auc"])
        for table in (once, by_user)
    )
    assert corrected[["low", "high", "standard_error"]].isna().all(axis=None)
    assert np.isfinite(corrected["value"]).all()
    if estimator != "decreasing":  # its value is the nearest end of the interval
        assert corrected["value"].tolist() == corrected_by_user["value"].tolist()
    assert SHARED in kinds(corrected)
    assert not kinds(corrected) & {"bounds", "supported", "unexplained", "drawn-by-user"}
    assert "drawn-by-user" in kinds(corrected_by_user)
    best = sm.sampled_ranks(np.ones(60, dtype=int), negatives=M, candidates=N, drawn="once")
    compared = sm.compare(
        {"a": once, "best": best}, estimator=estimator, metrics="auc", margin=0.01
    )
    assert set(compared["conclusion"]) == {"no verdict"}
    assert compared[["low", "high", "p_value"]].isna().all(axis=None)
    assert not kinds(compared) & {"assumes", "better", "equivalent"}


def test_several_draws_are_compared_draw_by_draw():
    """The interval of Student's t over draws and the normal one over users, drawn here a million
    times.
    """
    rng = np.random.default_rng(3)
    draws = 5
    a = tables(5, draws)
    b = tables(6, draws)
    gap = np.array([(draw_a.x - draw_b.x) / M for draw_a, draw_b in zip(a, b, strict=True)])
    variance_of_draws = gap.mean(axis=1).var(ddof=1) / draws
    rest = gap - gap.mean(axis=0) - gap.mean(axis=1, keepdims=True) + gap.mean()
    variance_of_both = (rest**2).sum() / ((draws - 1) * (USERS - 1)) / (draws * USERS)
    variance_of_users = gap.mean(axis=0).var(ddof=1) / USERS - variance_of_both
    errors_by_users = np.sqrt(variance_of_users) * rng.standard_normal(10**6)
    errors_by_draws = np.sqrt(variance_of_draws) * rng.standard_t(draws - 1, 10**6)
    reach = np.quantile(np.abs(errors_by_users + errors_by_draws), 0.95)
    result = sm.compare({"a": a, "b": b}, estimator="uncorrected", metrics="auc")
    row = result.iloc[0]
    assert row["difference"] == pytest.approx(gap.mean())
    assert row["high"] - row["difference"] == pytest.approx(reach, rel=0.01)
    assert row["difference"] - row["low"] == pytest.approx(reach, rel=0.01)
    assert {"draws"} < kinds(result)
    assert not kinds(result) & {SHARED, "seeds"}


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        pytest.param(tables(1, 3), tables(2, 2), "1, 2 and 3", id="numbers of draws"),
        pytest.param(tables(1, 1), tables(2, 1, drawn="by user"), "drawn", id="once and by user"),
        pytest.param(tables(1, 1) + tables(2, 1, users=9), tables(2, 2), "users", id="users"),
    ],
)
def test_refuses_draws(a, b, word):
    with pytest.raises(sm.DataError, match=word):
        sm.compare({"a": a, "b": b}, estimator="bv-0.1")


def test_draws_whose_values_are_alike_by_chance_are_several_draws():
    """Recall@1 of each user is the same in both draws, and the sampled ranks of a third of the
    users are not.
    """
    user = np.arange(USERS)
    sampled_ranks = [np.where(user % 3, 1, rank) for rank in (20 + user % 7, 40 + user % 5)]
    draws = [
        sm.sampled_ranks(ranks, negatives=M, candidates=N, drawn="once") for ranks in sampled_ranks
    ]
    result = sm.correct({"a": draws}, estimators="uncorrected", metrics="recall@1")
    assert result["value"].tolist() == [pytest.approx(2 / 3)]
    assert "draws" in kinds(result)
    assert "equal-draws" not in kinds(result)
    copies = {"a": [draws[0], draws[1], draws[0]]}
    with_copy = sm.correct(copies, estimators="uncorrected", metrics="recall@1")
    [finding] = [finding for finding in with_copy.findings if finding.kind == "equal-draws"]
    assert finding.values == {"seeds": ["1", "3"]}
