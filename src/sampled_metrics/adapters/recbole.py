"""Ranks of models of RecBole."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from sampled_metrics.adapters._among_negatives import among_negatives
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import rank
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks


def ranks(model: Any, test_data: Any) -> ExactRanks:
    """Rank each user's test item among all items that RecBole ranks.

    RecBole leaves out the padding and the items of training and validation, but for sequential models only the padding.
    The scores of a model on a GPU are counted there, as in `sampled_metrics.ranking.rank.rank`.

    Args:
        model: a trained model, general or sequential.
        test_data: the test data of `data_preparation`, with `mode: full` and one test item of each user, as with
            `split: {LS: valid_and_test}`.

    Raises:
        DataError: the evaluation is sampled, or a user has several test items; as in `sampled_metrics.ranking.rank`.
    """
    from recbole.data.dataloader import FullSortEvalDataLoader
    from recbole.utils.case_study import full_sort_scores

    if not isinstance(test_data, FullSortEvalDataLoader):
        raise DataError("test_data: is not of mode full; sampled_ranks takes a sampled evaluation")
    dataset = test_data.dataset
    if test_data.is_sequential:
        users, held_out = (dataset.inter_feat[field].numpy() for field in (dataset.uid_field, dataset.iid_field))
        hidden = [np.empty(0, dtype=np.int64)] * len(users)
    else:
        users = test_data.uid_list.numpy()
        hidden = [items.numpy() - 1 for items in test_data.uid2history_item[users]]
        if (test_data.uid2items_num[users] != 1).any():
            raise DataError("test_data: a user has several test items; expected one of each user")
        held_out = np.concatenate(list(test_data.uid2positive_item[users]))
    ends = np.cumsum([0, *map(len, hidden)])
    had = csr_array((np.ones(ends[-1]), np.concatenate(hidden), ends), shape=(len(users), dataset.item_num - 1))
    return rank(
        lambda block: full_sort_scores(users[block], model, test_data, model.device)[:, 1:],
        had,
        held_out - 1,
        user_ids=dataset.id2token(dataset.uid_field, users),
    )


def sampled_ranks(model: Any, test_data: Any, *, seed: int = 0) -> SampledRanks:
    """Rank each user's test item among the negatives that RecBole samples; ties are broken at random.

    RecBole draws with replacement and then ranks each item once. So the negatives are the distinct ones: their number
    differs by user, and `correct` takes them as drawn without replacement. RecBole itself breaks ties by the number of
    the item. Its sampler draws from numpy's global random numbers, anew on each call.

    Args:
        model: a trained model, general or sequential.
        test_data: the test data of `data_preparation`, with `mode: uni100` or the like and one test item of each user.
        seed: of the random order of ties.

    Returns:
        The ranks, for `correct`.

    Raises:
        DataError: the evaluation is not sampled, not uniformly, or a user has several test items.
    """
    import torch
    from recbole.sampler import RepeatableSampler

    drawn = getattr(test_data, "neg_sample_args", {"distribution": "none"})["distribution"]
    if drawn != "uniform":
        raise DataError(f"test_data: needs a mode such as uni100, with negatives drawn uniformly, not {drawn!r}")
    dataset, sampler = test_data.dataset, test_data._sampler
    model.train(False)
    parts = []
    for interaction, *_ in test_data:
        with torch.no_grad():
            scores = model.predict(interaction.to(model.device)).cpu().numpy()
        fields = {"user": dataset.uid_field, "item": dataset.iid_field, "held_out": test_data.label_field}
        columns = {name: interaction[field].cpu().numpy() for name, field in fields.items()}
        parts.append(pd.DataFrame(columns | {"score": scores}))
    pairs = pd.concat(parts).drop_duplicates(["user", "item"])
    users, row = np.unique(pairs["user"], return_inverse=True)
    if isinstance(sampler, RepeatableSampler):  # of sequential models; it may draw the user's own items
        candidates = np.full(len(users), dataset.item_num - 1)
    else:
        candidates = dataset.item_num - np.array([len(used) for used in sampler.used_ids[users]])
    held_out, ids = pairs["held_out"].to_numpy() == 1, dataset.id2token(dataset.uid_field, users)
    return among_negatives(row, held_out, pairs["score"].to_numpy(), ids, candidates, seed)
