"""What the tests of several libraries expect of ranks on the made-up events."""

import numpy as np

USERS = 40
ITEMS = 25


def has_candidates(table, training):
    """Each user's candidates are the items of training that the user does not have there."""
    had = training.groupby("user_id").size()
    expected = training["item_id"].nunique() - had[table.user].to_numpy()
    np.testing.assert_array_equal(table.candidates, expected)


def agrees(table, positions):
    """The ranks agree with the (users,) positions of the held-out items in the library's own lists.

    Positions are from 1, and NaN where the item is not listed. A library breaks ties as it likes;
    so a position must be one of above + 1 … above + tied + 1.
    """
    listed = ~np.isnan(positions)
    assert listed.mean() > 0.4
    above = table.above[listed]
    tied = table.tied[listed]
    positions = positions[listed]
    assert (positions > above).all()
    assert (positions <= above + tied + 1).all()
