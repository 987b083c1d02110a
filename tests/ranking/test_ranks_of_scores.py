"""Ranks from the scores of held-out items and negatives, by definition and by other evaluators."""

import numpy as np
import pytest
from strict_device import on_device

import sampled_metrics as sm
from sampled_metrics.errors import DataError

ROWS = 400
M = 30
N = 1000


def scores_without_ties(rng):
    """Distinct scores: (rows,) of held-out items, and (rows, m) of negatives."""
    scores = rng.permutation(ROWS * (M + 1)).reshape(ROWS, M + 1) / 7
    return scores[:, 0], scores[:, 1:]


def test_ties_are_broken_within_the_tie():
    ranks = sm.ranks_of_scores([1.0] * 2000, [[2.0, 1.0, 1.0, 0.0, 2.0]] * 2000, candidates=N)
    frequencies = np.bincount(ranks.x, minlength=6) / 2000
    np.testing.assert_allclose(frequencies, [0, 0, 1 / 3, 1 / 3, 1 / 3, 0], atol=0.06)


def test_padding_is_left_out():
    rng = np.random.default_rng(1)
    positive, negatives = scores_without_ties(rng)
    is_padding = rng.random(negatives.shape) < 0.3
    with_nan = np.where(is_padding, np.nan, negatives)
    by_nan = sm.ranks_of_scores(positive, with_nan, candidates=N)
    by_mask = sm.ranks_of_scores(positive, negatives, candidates=N, padding=is_padding)
    above = (with_nan > positive[:, np.newaxis]).sum(axis=1)
    for ranks in (by_nan, by_mask):
        np.testing.assert_array_equal(ranks.x, above)
        np.testing.assert_array_equal(ranks.negatives, (~is_padding).sum(axis=1))


def test_all_candidates_are_exact_ranks_with_counted_ties():
    ranks = sm.ranks_of_scores([5, 7], [[7, 1, 5], [7, 7, 1]], candidates=4, users=["a", "b"])
    assert isinstance(ranks, sm.ExactRanks)
    assert (ranks.above.tolist(), ranks.tied.tolist()) == ([1, 0], [1, 2])
    assert ranks.user.tolist() == ["a", "b"]
    drawn_again = sm.ranks_of_scores([5], [[7, 1, 4]], candidates=4, replacement=True)
    assert isinstance(drawn_again, sm.SampledRanks)


def test_rows_may_be_several_held_out_items_of_a_query():
    ranks = sm.ranks_of_scores([3, 1, 2], [[2, 0]] * 3, candidates=[9, 9, 8], users=["q", "q", "r"])
    assert repr(ranks) == "sampled ranks of 2 users in 3 rows, 2 of 8 to 9 candidates"


def test_scores_on_a_device_give_the_ranks_of_the_host():
    arrays = scores_without_ties(np.random.default_rng(2))
    expected = sm.ranks_of_scores(*arrays, candidates=N)
    moved = sm.ranks_of_scores(*map(on_device, arrays), candidates=N)
    np.testing.assert_array_equal(moved.x, expected.x)


@pytest.mark.parametrize(
    ("positive", "negatives", "options", "word"),
    [
        pytest.param([1, np.nan], [[1], [1]], {}, "row 2", id="NaN of a held-out item"),
        pytest.param([1, 1], [[1], [np.inf]], {}, "row 2", id="infinite"),
        pytest.param([1], [[1]], {"padding": [[0]]}, "padding", id="mask of numbers"),
        pytest.param([1, 1], [[1]], {}, "negatives", id="shapes"),
        pytest.param([1], [[1, 2]], {"candidates": 2}, "row 1", id="too many negatives"),
    ],
)
def test_wrong_scores_are_refused(positive, negatives, options, word):
    with pytest.raises(DataError, match=word):
        sm.ranks_of_scores(positive, negatives, **({"candidates": N} | options))
