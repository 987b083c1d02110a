"""The split as tables, for programs in other languages."""

import numpy as np
import pandas as pd

from sampled_metrics.data.split import Split


def split_tables(split: Split) -> dict[str, pd.DataFrame]:
    """Return the tables of a split, with the ids of the file, by name.

    Returns:
        train: user, item and, if known, timestamp of the training events, in the order of users and then items.
        held_out: user and item, a row for each held-out item.
        users, items: the ids, in the order of the rows and columns of a (users, items) matrix.
    """
    training = split.training
    train = {
        "user": np.repeat(split.user_ids, np.diff(training.indptr)),
        "item": split.item_ids[training.indices],
        **({} if split.timestamps is None else {"timestamp": split.timestamps}),
    }
    return {
        "train": pd.DataFrame(train),
        "held_out": pd.DataFrame({"user": split.user_ids[split.user], "item": split.item_ids[split.item]}),
        "users": pd.DataFrame({"user": split.user_ids}),
        "items": pd.DataFrame({"item": split.item_ids}),
    }
