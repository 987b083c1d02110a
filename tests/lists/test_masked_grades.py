"""Masked numbers among grades and values: refused, as NaN is."""

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.lists.graded import mean_over_users, ndcg, padded

MASKED = np.ma.array([1, 3, 2], mask=[False, True, False])


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: ndcg(np.ma.array([[0.5, 0.9, 0.1]], mask=[[False, True, False]]), 2), "relevance"),
        (lambda: padded([[1.0], MASKED]), "lists to fill up"),
        (lambda: mean_over_users(MASKED), "values"),
    ],
)
def test_masked_numbers_are_refused(call, what):
    with pytest.raises(DataError, match=f"^{what}: has 1 masked"):
        call()
