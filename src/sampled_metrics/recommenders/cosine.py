"""Cosine similarities of items, weighted as in eqs 27-29 of the paper, for a block of items at a time.

A block is a sparse product: the block's events, by item, times all events. Rows do not depend on each other, so the
numbers do not depend on the blocks.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats

ROW_NORMS: dict[str, Callable[[Floats], Floats]] = {
    "l2": lambda rows: np.sqrt(np.einsum("ij,ij->i", rows, rows)),
    "l1": lambda rows: np.abs(rows).sum(axis=1),
    "none": lambda rows: np.ones(len(rows)),
}

ROW_BYTES = 64
"""Bytes of an entry of a row of similarities while the row is computed, all copies together."""

ROWS_AT_ONCE = 24 * 2**20
"""Bytes of the rows that one product computes; more are not faster."""


class Interactions:
    """Events by user and by item.

    Attributes:
        training: (users, items) sparse, 1.0 where the user has the item.
        by_item: (items, users) the same by item.
        users: (items,) float, number of users who have the item.
    """

    def __init__(self, training: csr_array) -> None:
        self.training = training
        self.by_item = csr_array(training.T)
        self.users: Floats = np.diff(self.by_item.indptr).astype(np.float64)

    def cosines(self, items: slice) -> csr_array:
        """Return the cosines of a block of items to all, eq. 27 with q = 1, as sparse (block, items), without zeros."""
        together = csr_array(self.by_item[items] @ self.training)
        # √(t² / (n_i n_j)), with exact t² and n_i n_j, gives equal numbers for equal cosines
        cosines = together.data
        np.square(cosines, out=cosines)
        product = self.users[together.indices]
        product *= np.repeat(self.users[items], np.diff(together.indptr))
        cosines /= product
        np.sqrt(cosines, out=cosines)
        return together


def blocks(items: int) -> Iterator[slice]:
    """Divide the items into blocks whose rows of similarities are computed by one product."""
    rows = max(1, ROWS_AT_ONCE // (ROW_BYTES * max(1, items)))
    for first in range(0, items, rows):
        yield slice(first, min(first + rows, items))
