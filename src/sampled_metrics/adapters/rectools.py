"""Ranks of models of RecTools."""

from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.adapters._among_negatives import among_negatives
from sampled_metrics.adapters._unscored import tied_below
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.ranking.rank import rank


def ranks(model: Any, dataset: Any, test: pd.DataFrame) -> ExactRanks:
    """Rank each user's test item among all items of the dataset that the user does not have there.

    Items that the model does not recommend at all, as with nearest neighbours, tie below the
    others.

    Args:
        model: a fitted model.
        dataset: the dataset on which it was fitted; it has all users and items of `test`.
        test: columns user_id and item_id, with one row for each user.

    Raises:
        DataError: a user has several test items; as in `sampled_metrics.ranking.rank.rank`.
    """
    users = test["user_id"].to_numpy()
    items = dataset.item_id_map

    def scores(block: slice) -> Any:
        recommended = model.recommend(users[block], dataset, k=items.size, filter_viewed=False)
        table = recommended.pivot(index="user_id", columns="item_id", values="score").astype(float)
        return tied_below(table.reindex(index=users[block], columns=items.external_ids))

    training = dataset.get_user_item_matrix()[dataset.user_id_map.convert_to_internal(users)]
    return rank(scores, training, items.convert_to_internal(test["item_id"]), user_ids=users)


def sampled_ranks(
    model: Any,
    dataset: Any,
    test: pd.DataFrame,
    negatives: pd.DataFrame,
    *,
    replacement: bool = False,
    seed: int = 0,
) -> SampledRanks:
    """Rank each user's test item among the user's own negatives; ties are broken at random.

    Args:
        model: a fitted model.
        dataset: as in `ranks`.
        test: as in `ranks`.
        negatives: columns user_id and item_id; sampled uniformly from the candidates of `ranks`.
        replacement: whether a negative may be there twice for the same user.
        seed: of the random order of ties.

    Returns:
        The ranks, for `correct`.

    Raises:
        DataError: a user has several test items, or none.
    """
    pairs = pd.concat(
        [test.assign(held_out=True), negatives.assign(held_out=False)], ignore_index=True
    )
    items = pairs["item_id"].unique()
    users, row = np.unique(pairs["user_id"], return_inverse=True)
    recommended = model.recommend(
        users, dataset, k=len(items), filter_viewed=False, items_to_recommend=items
    )
    scores = pairs.merge(recommended, "left", on=["user_id", "item_id"])["score"].astype(float)
    training = dataset.get_user_item_matrix()[dataset.user_id_map.convert_to_internal(users)]
    candidates = dataset.item_id_map.size - np.diff(training.indptr)
    return among_negatives(
        row, pairs["held_out"].to_numpy(), tied_below(scores), users, candidates, seed, replacement
    )
