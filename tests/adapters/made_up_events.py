"""Made-up events, on which the tests train the models of other libraries."""

from typing import Any

import numpy as np
import pandas as pd
from docs_blocks import blocks
from scipy.sparse import csr_matrix

from sampled_metrics.ranks.exact import ExactRanks

USERS, ITEMS = 40, 25


def made_up_events() -> pd.DataFrame:
    """Users u0 … u39 with 5 to 11 of the items i0 … i24 each, later items more popular; time counts a user's events."""
    rng = np.random.default_rng(0)
    popularity = np.arange(1, ITEMS + 1) / np.arange(1, ITEMS + 1).sum()
    rows = [
        (f"u{user}", f"i{item}", time)
        for user in range(USERS)
        for time, item in enumerate(rng.choice(ITEMS, size=rng.integers(5, 12), replace=False, p=popularity))
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "time"])


def last_out(events: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training events, and each user's last event where its item is known from training."""
    last = events["time"] == events.groupby("user_id")["time"].transform("max")
    training, test = events[~last], events[last]
    return training, test[test["item_id"].isin(training["item_id"])].reset_index(drop=True)


def matrix(training: pd.DataFrame, test: pd.DataFrame) -> tuple[csr_matrix, np.ndarray]:
    """Return the training events of the users who have a held-out item, (users, items), and that item."""
    items = np.unique(training["item_id"])
    training = training[training["user_id"].isin(test["user_id"])]
    users, row = np.unique(training["user_id"], return_inverse=True)
    pairs = (np.ones(len(row), dtype=np.float32), (row, np.searchsorted(items, training["item_id"])))
    held_out = np.searchsorted(items, test.set_index("user_id").loc[users, "item_id"])
    return csr_matrix(pairs, shape=(len(users), len(items))), held_out


def has_candidates(table: ExactRanks, training: pd.DataFrame) -> None:
    """Each user's candidates are the items of training that the user does not have there."""
    had = training.groupby("user_id").size()
    expected = training["item_id"].nunique() - had[table.user].to_numpy()
    np.testing.assert_array_equal(table.candidates, expected)


def agrees(table: ExactRanks, positions: np.ndarray) -> None:
    """Positions, (users,) from 1, of the held-out items in the library's own lists; NaN where not listed.

    A library breaks ties as it likes; so a position must be one of above + 1 … above + tied + 1.
    """
    listed = ~np.isnan(positions)
    assert listed.mean() > 0.4
    above, tied, positions = table.above[listed], table.tied[listed], positions[listed]
    assert (positions > above).all()
    assert (positions <= above + tied + 1).all()


def of_page(name: str) -> Any:
    """Return a function that docs/adapters.md defines for a library without an adapter."""
    [code] = [code for code in blocks("adapters.md", "py") if f"def {name}(" in code]
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    return namespace[name]
