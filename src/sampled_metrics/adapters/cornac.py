"""Ranks of models of Cornac."""

from typing import Any

import numpy as np

from sampled_metrics.ranking.rank import rank
from sampled_metrics.ranks.exact import ExactRanks


def ranks(
    model: Any, train_set: Any, test_set: Any, val_set: Any = None, *, rating_threshold: float = 1.0
) -> ExactRanks:
    """Rank each user's item of the test set among the items that the user does not have in training or validation.

    Args:
        model: a fitted model.
        train_set: the training set of an evaluation method with exclude_unknowns=True; its items are the candidates.
        test_set: its test set, with one item of each user.
        val_set: its validation set, if it has one.
        rating_threshold: a rating counts from this on, as in Cornac's evaluation methods.

    Raises:
        DataError: a user has several test items; as in `sampled_metrics.ranking.rank.rank`.
    """
    users, held_out, ratings = test_set.uir_tuple
    users, held_out = users[ratings >= rating_threshold], held_out[ratings >= rating_threshold]
    items, shape = np.arange(train_set.num_items), (train_set.num_users, train_set.num_items)
    had = sum((data.csr_matrix >= rating_threshold)[: shape[0], : shape[1]] for data in (train_set, val_set) if data)
    return rank(
        lambda block: [model.rank(user, items)[1] for user in users[block]],
        had[users],
        held_out,
        user_ids=np.array(train_set.user_ids)[users],
    )
