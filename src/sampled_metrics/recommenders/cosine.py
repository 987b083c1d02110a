"""Cosine similarities of items, weighted as in eqs 27-29 of the paper, for a block of items at a time.

A block is a sparse product: the block's interactions, by item, times all interactions. Rows do not depend on each
other, so the numbers do not depend on the blocks.
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
"""Bytes of an entry of a row of similarities while the row is computed, in all copies together."""

ROWS_AT_ONCE = 24 * 2**20
"""Bytes of the rows that one product computes; larger products are not faster."""


class Interactions:
    """Interactions by row and by column: (users, items) to compare items, or (items, users) to compare users.

    Attributes:
        matrix: (rows, columns) sparse, 1.0 where there is an interaction.
        by_column: (columns, rows) its transpose.
        rows: (columns,) float, number of rows that have an interaction in the column.
    """

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix
        self.by_column = csr_array(matrix.T)
        self.rows: Floats = np.diff(self.by_column.indptr).astype(np.float64)

    def cosines(self, columns: slice) -> csr_array:
        """Return the cosines of a block of columns to all (eq. 27, q = 1), as sparse (block, columns) without zeros."""
        together = csr_array(self.by_column[columns] @ self.matrix)
        # √(t² / (n_i n_j)), with exact t² and n_i n_j, gives equal numbers for equal cosines
        cosines = together.data
        np.square(cosines, out=cosines)
        product = self.rows[together.indices]
        product *= np.repeat(self.rows[columns], np.diff(together.indptr))
        cosines /= product
        np.sqrt(cosines, out=cosines)
        return together


def blocks(columns: int) -> Iterator[slice]:
    """Yield blocks of columns whose rows of similarities are computed by one product."""
    size = max(1, ROWS_AT_ONCE // (ROW_BYTES * max(1, columns)))
    for first in range(0, columns, size):
        yield slice(first, min(first + size, columns))
