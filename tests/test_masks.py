"""Masked arrays: whatever takes numbers refuses them, as it would NaN."""

import numpy as np
import pytest
from read_and import compare, correct, evaluate, expect, plan

from sampled_metrics import rank
from sampled_metrics.errors import DataError
from sampled_metrics.metrics.graded import mean_over_users, ndcg, padded
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks

RANKS = [1, 3, 2]
MASKED = np.ma.array([1, 3, 2], mask=[False, True, False])
SCORES = np.ma.array([[0.5, 0.9, 0.1]], mask=[[False, True, False]])
NOTHING, FIRST = np.zeros((1, 3)), [0]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: evaluate(MASKED, candidates=9), "ranks"),
        (lambda: evaluate(RANKS, candidates=MASKED), "ranks: candidates"),
        (lambda: evaluate(RANKS, candidates=np.ma.masked), "ranks: candidates"),
        (lambda: correct(MASKED, candidates=9, negatives=5), "ranks"),
        (lambda: correct(RANKS, candidates=9, negatives=MASKED), "ranks: negatives"),
        (lambda: compare(RANKS, MASKED, candidates=9), "B"),
        (lambda: expect({"X": MASKED}, negatives=5, candidates=9), "X"),
        (lambda: plan(MASKED, RANKS, candidates=9), "A"),
        (lambda: ExactRanks(np.arange(3), np.full(3, 9), MASKED, np.zeros(3, dtype=int)), "a column of exact ranks"),
        (lambda: rank(SCORES, NOTHING, FIRST), "scores"),
        (lambda: rank(lambda users: SCORES[users], NOTHING, FIRST), "scores"),
        (lambda: rank(list(SCORES), NOTHING, FIRST), "scores"),
        (lambda: rank(NOTHING, SCORES, FIRST), "training"),
        (lambda: rank(np.zeros((3, 4)), np.zeros((3, 4)), MASKED), "held_out"),
        (lambda: rank(np.zeros((3, 4)), np.zeros((3, 4)), RANKS, user_ids=MASKED), "user_ids"),
        (lambda: SampledRanks(MASKED, 5, 9), "x"),
        (lambda: ndcg(SCORES, 2), "relevance"),
        (lambda: padded([[1.0], MASKED]), "lists to fill up"),
        (lambda: mean_over_users(MASKED), "values"),
    ],
)
def test_is_refused_by_whatever_takes_numbers(call, what):
    with pytest.raises(DataError) as caught:
        call()
    assert str(caught.value).startswith(f"{what}: has 1 masked")
