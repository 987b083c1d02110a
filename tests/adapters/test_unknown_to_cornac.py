"""Cornac with exclude_unknowns=False, by objects of its shape: what it cannot score is left out."""

from types import SimpleNamespace

import numpy as np
from expected_ranks import of_page
from scipy.sparse import csr_matrix


def test_users_and_items_that_are_not_in_training_are_left_out() -> None:
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    train = csr_matrix([[1, 0, 0], [0, 1, 0]])
    train_set = SimpleNamespace(num_users=2, num_items=3, csr_matrix=train, user_ids=["a", "b"])
    uir = np.array([0, 1, 2, 1]), np.array([2, 0, 1, 3]), np.ones(4)  # the third user and the fourth item are unknown
    model = SimpleNamespace(rank=lambda user, items: (None, scores[user]))
    ranks = of_page("cornac_ranks")(model, train_set, SimpleNamespace(uir_tuple=uir))
    assert list(zip(ranks.user, ranks.above, ranks.candidates, strict=True)) == [("a", 0, 2), ("b", 0, 2)]
