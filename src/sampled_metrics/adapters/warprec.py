"""Ranks of models of WarpRec."""

from typing import Any

import numpy as np

from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import rank
from sampled_metrics.ranks.exact import ExactRanks


def ranks(model: Any, dataset: Any, *, device: str = "cpu") -> ExactRanks:
    """Rank each user's item of the evaluation set among all items that the user does not have in training.

    These are the candidates of WarpRec's full evaluation with `mask_seen: pair`.

    Args:
        model: a trained model, of pairs of users and items, or sequential.
        dataset: the `Dataset` on which it was trained, with one item of each user in its evaluation set.
        device: of the model.

    Raises:
        DataError: the dataset has contexts, or a user has several items to evaluate; as in
            `sampled_metrics.ranking.rank.rank`.
    """
    import torch

    if dataset.train_transactions is not None:
        raise DataError("dataset: has columns of contexts, which are not supported")
    held_out, training = dataset.eval_set.get_sparse().tocsr(), dataset.train_set.get_sparse().tocsr()
    users = np.flatnonzero(np.diff(held_out.indptr))
    if held_out.nnz != len(users):
        raise DataError("dataset: a user has several items in the evaluation set; expected one of each user")
    names, _ = dataset.get_inverse_mappings()
    longest = getattr(model, "max_seq_len", None)
    model.eval()

    def scores(block: slice) -> Any:
        given = {"user_indices": torch.as_tensor(users[block], device=device)}
        if longest is not None:
            history = dataset.train_session.get_user_history_sequences(users[block].tolist(), longest)
            given |= {name: part.to(device) for name, part in zip(("user_seq", "seq_len"), history, strict=True)}
        with torch.inference_mode():
            return model.predict(**given).cpu().numpy()

    return rank(scores, training[users], held_out.indices, user_ids=np.array([names[user] for user in users]))
