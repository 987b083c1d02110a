"""Ranks of pipelines of LensKit."""

from typing import Any

import numpy as np

from sampled_metrics.adapters._unscored import tied_below
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import rank


def ranks(pipeline: Any, training: Any, test: Any) -> ExactRanks:
    """Rank each user's test item among all items of training that the user does not have there.

    Items that the scorer does not score tie below the others.

    Args:
        pipeline: a trained pipeline.
        training: the Dataset on which it was trained; it has all users and items of `test`.
        test: ItemListCollection by user, with one item of each user, such as the test part of a
            split.

    Raises:
        DataError: a user or item is not in training, or a user has several test items; as in
            `sampled_metrics.ranking.rank.rank`.
    """
    from lenskit import score
    from lenskit.data import ItemList

    users, lists = zip(*((key.user_id, items.ids()) for key, items in test), strict=True)
    if any(len(items) != 1 for items in lists):
        raise DataError("test: a user has no item, or several; expected one of each user")
    rows = training.users.numbers(users, missing="negative")
    held_out = training.items.numbers(np.concatenate(lists), missing="negative")
    for numbers, kind in ((rows, "a user"), (held_out, "an item")):
        if (numbers < 0).any():
            user = users[int(np.argmin(numbers))]
            raise DataError(f"test: has {kind} that is not in training, of user {user!r}")
    catalogue = ItemList.from_vocabulary(training.items)

    def scores(block: slice) -> Any:
        return [tied_below(score(pipeline, user, catalogue).scores()) for user in users[block]]

    interactions = training.interaction_matrix(format="scipy", layout="csr")[rows]
    return rank(scores, interactions, held_out, user_ids=users)
