"""Whole lists of users from sampled ranks: against the lists themselves, which `evaluate` takes."""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm

USERS, ITEMS = 250, 90
LABELS = ["recall@10", "ndcg@10", "map", "mrr", "hr@5", "f1@5", "dcg@10"]
RNG = np.random.default_rng(4)
FACTORS = RNG.normal(size=(USERS, 4)), RNG.normal(size=(ITEMS, 4))
SCORES = FACTORS[0] @ FACTORS[1].T
GUMBEL = SCORES + RNG.gumbel(scale=2, size=SCORES.shape)
COUNTS = np.clip(RNG.poisson(1.5, size=USERS), 1, 5)
HELD_OUT = np.argsort(np.argsort(-GUMBEL, axis=1), axis=1) < COUNTS[:, np.newaxis]
NOTHING = np.zeros_like(SCORES)


def exact():
    """The metrics of the lists of all items."""
    run = {user: dict(enumerate(row)) for user, row in enumerate(SCORES.tolist())}
    grades = {user: dict.fromkeys(np.flatnonzero(row).tolist(), 1) for user, row in enumerate(HELD_OUT)}
    return sm.evaluate(run, relevance=grades, metrics=LABELS)["value"].to_numpy()


def sample(m, seed=0):
    return sm.rank_among_negatives(FACTORS, NOTHING, HELD_OUT, negatives=m, seed=seed)


def test_all_negatives_show_the_lists():
    everything = [np.flatnonzero(~row) for row in HELD_OUT]
    table = sm.rank_among_negatives(SCORES, NOTHING, HELD_OUT, negatives=everything)
    shuffled = table.sample(frac=1, random_state=1)
    for rows in (table, shuffled):
        found = sm.correct(rows, together=True, metrics=LABELS, estimators=["uncorrected", "mle-1"])
        assert found["value"].to_numpy() == pytest.approx(np.tile(exact(), 2), rel=1e-9)
    assert (found["users"] == USERS).all()


def test_a_users_items_have_the_same_negatives():
    """Recall of the lists is the mean over rows, and the best item has the smallest rank."""
    table = sample(30)
    best = pd.Series(np.where(HELD_OUT, SCORES, -np.inf).argmax(axis=1))
    item = np.concatenate([np.flatnonzero(row) for row in HELD_OUT])
    smallest = table.groupby("user")["rank"].transform("min")
    assert (table["rank"] == smallest)[item == best.loc[table["user"]].to_numpy()].all()


def test_one_row_per_user_is_as_without():
    table = sample(30).drop_duplicates("user")
    options = {"estimators": ["bv-0.1", "uncorrected"], "metrics": ["recall@10", "map"]}
    one, other = sm.correct(table, **options), sm.correct(table, together=True, **options)
    assert one["value"].to_numpy() == pytest.approx(other["value"].to_numpy(), rel=1e-12)


def test_is_right_on_average_and_covers():
    truth, found, covered = exact(), [], []
    for seed in range(40):
        result = sm.correct(
            sample(60, seed), together=True, estimators="bv-0.001", metrics=LABELS, n_resamples=200, seed=seed
        )
        found.append(result["value"])
        covered.append((result["low"] <= truth) & (truth <= result["high"]))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
    assert np.mean(found, axis=0) == pytest.approx(truth, abs=float(4 * error.max()) + 0.005)
    # the same users each time, so intervals over users and samples cover more often than they say
    assert np.mean(covered, axis=0).min() >= 0.9


def test_estimators_that_are_not_linear_have_intervals():
    result = sm.correct(sample(20), together=True, estimators="mle-5", metrics="recall@10", n_resamples=100)
    assert 0 <= result["low"].item() < result["value"].item() < result["high"].item() <= 1


@pytest.mark.parametrize(
    ("table", "options", "says"),
    [
        ({"user": ["a", "a"], "rank": [1, 2], "negatives": [5, 6]}, {}, "user 'a' has rows with different candidates"),
        ({"rank": [1, 2], "negatives": [5, 5]}, {}, "so the ranks need a column user"),
        (
            {"user": ["a", "a"], "rank": [1, 2], "negatives": [5, 5]},
            {"estimators": "free"},
            "free is for one relevant item; together, take",
        ),
    ],
)
def test_refuses(table, options, says):
    with pytest.raises(sm.DataError, match=says):
        sm.correct(table, candidates=50, together=True, **options)


def test_uncorrected_has_its_caveat():
    found = sm.correct(sample(20), together=True, estimators=["uncorrected", "bv-0.1"], metrics="ap")
    assert any(remark.startswith("Uncorrected: the metric of the sampled rank") for remark in found.remarks)
