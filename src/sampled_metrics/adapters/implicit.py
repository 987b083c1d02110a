"""Ranks of models of implicit."""

from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import rank


def ranks(
    model: Any,
    training: csr_array | csr_matrix,
    held_out: ArrayLike,
    *,
    user_ids: ArrayLike | None = None,
) -> ExactRanks:
    """Rank each user's held-out item among all items that the user does not have in training.

    Args:
        model: a fitted model of implicit, on the CPU: als, bpr, lmf, or nearest neighbours.
        training: (users, items) matrix on which the model was fitted.
        held_out: (users,) index of the held-out item.
        user_ids: (users,) ids for the table.

    Raises:
        DataError: as in `sampled_metrics.ranking.rank.rank`.
    """
    has_neighbours = hasattr(model, "similarity")
    if (model.similarity if has_neighbours else getattr(model, "user_factors", None)) is None:
        raise DataError("the model of implicit is not fitted; call its fit first")

    def scores(users: slice) -> Any:
        if has_neighbours:
            return (training[users] @ model.similarity).toarray()
        return model.user_factors[users] @ model.item_factors.T

    return rank(scores, training, held_out, user_ids=user_ids)
