"""Made-up events: u0 … u39 with 5 to 11 of the items i0 … i24 each.

Later items are more popular, and time counts the events of a user.
"""

import numpy as np
import pandas as pd
import pytest
from expected_ranks import ITEMS, USERS


@pytest.fixture(scope="session")
def events():
    rng = np.random.default_rng(0)
    popularity = np.arange(1, ITEMS + 1) / np.arange(1, ITEMS + 1).sum()
    rows = []
    for user in range(USERS):
        items = rng.choice(ITEMS, size=rng.integers(5, 12), replace=False, p=popularity)
        rows += [(f"u{user}", f"i{item}", time) for time, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "time"])


@pytest.fixture(scope="session")
def split(events):
    """Training events, and each user's last event where its item is known from training."""
    last = events["time"] == events.groupby("user_id")["time"].transform("max")
    training = events[~last]
    test = events[last]
    return training, test[test["item_id"].isin(training["item_id"])].reset_index(drop=True)
