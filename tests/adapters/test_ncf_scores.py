"""Scores as NCF's evaluation has them; needs no library."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics import adapters


def test_ranks_by_hand() -> None:
    scores = [[0.5, 0.9, 0.1, 0.2], [3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0]]
    table = adapters.ncf.sampled_ranks(scores, candidates=[20, 21, 22], user_ids=["ann", "bob", "cat"])
    assert table.x.tolist() == [1, 0, 3]
    assert table.negatives.tolist() == [3, 3, 3]
    assert table.candidates.tolist() == [20, 21, 22]
    assert table.user.tolist() == ["ann", "bob", "cat"]
    assert sm.correct(table, estimators="uncorrected", metrics="recall@1")["value"].tolist() == [1 / 3]


def test_ties_are_broken_at_random_by_seed() -> None:
    """The held-out item ties with two of three negatives, below the other one: ranks 2, 3 and 4 are equally likely."""
    scores = np.tile([0.5, 0.5, 0.9, 0.5], (30_000, 1))
    first, again, other = (adapters.ncf.sampled_ranks(scores, candidates=50, seed=seed).x + 1 for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    counts = np.bincount(first, minlength=5)
    assert counts[:2].tolist() == [0, 0]
    assert np.abs(counts[2:] - 10_000).max() < 5 * np.sqrt(30_000 * 2 / 9)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], r"scores must have shape \(users, 1 \+ m\), not \(2,\)"),
        ([["a", "b"]], "scores must be numbers"),
        ([[1.0, 2.0], [3.0]], "scores must be numbers"),
        ([[1.0, 2.0], [np.nan, 0.0]], "user 1 has a score that is not a number"),
    ],
)
def test_bad_scores(scores, message: str) -> None:
    with pytest.raises(sm.DataError, match=message):
        adapters.ncf.sampled_ranks(scores, candidates=10)
