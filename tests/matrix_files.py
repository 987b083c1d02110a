"""Scores and factors in files of any form, with a line of names of columns, or a column of an
index.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

USERS = 30
ITEMS = 20
D = 8
RNG = np.random.default_rng(7)
USER_FACTORS = RNG.normal(size=(USERS, D))
ITEM_FACTORS = RNG.normal(size=(ITEMS, D))
SCORES = USER_FACTORS @ ITEM_FACTORS.T
HELD_OUT = RNG.permutation(np.arange(USERS) % ITEMS)
TRAINED = (HELD_OUT + 1) % ITEMS  # the training item of each user
USER_IDS = RNG.permutation(500)[:USERS] + 7
ITEM_IDS = RNG.permutation(900)[:ITEMS] + 7

ABOVE = [
    sum(
        SCORES[user, item] > SCORES[user, HELD_OUT[user]]
        for item in range(ITEMS)
        if item != TRAINED[user]
    )
    for user in range(USERS)
]
"""How many candidates score above the held-out item of each user, by hand."""


def write(folder: Path, name: str, array: Any, form: str, index: Any, header: Any) -> str:
    """Write a matrix with names of rows and columns, and return the path."""
    frame = pd.DataFrame(array, index=index, columns=header)
    path = str(folder / f"{name}{'.parquet' if 'parquet' in form else '.csv'}")
    if form == ".csv":
        frame.to_csv(path, index=index is not None, header=header is not None)
    elif form == "named index.csv":
        frame.to_csv(path, index_label="user" if len(frame) == USERS else "item")
    elif form == "reset_index.csv":
        frame.reset_index().to_csv(path, index=False, header=header is not None)
    elif form == ".parquet":
        frame.rename(columns=str).to_parquet(path)
    else:
        frame.reset_index().rename(columns=str).to_parquet(path)
    return path


FORMS = (".csv", "named index.csv", "reset_index.csv", ".parquet", "reset_index.parquet")
NAMES = ("none", "from 0", "from 1", "ids")


def names(which: str, ids: Any) -> Any:
    return {
        "none": None,
        "from 0": np.arange(len(ids)),
        "from 1": np.arange(1, len(ids) + 1),
        "ids": ids,
    }[which]
