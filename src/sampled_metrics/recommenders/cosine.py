"""Cosine similarities of items, weighted as in eqs 27-29 of the paper, for a block of items at a time.

A block is a sparse product: the block's events, by item, times all events. Rows do not depend on each other, so each
number is the same to the bit for all blocks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats

ROW_NORMS: dict[str, Callable[[Floats], Floats]] = {
    "l2": lambda rows: np.sqrt(np.einsum("ij,ij->i", rows, rows)),
    "l1": lambda rows: np.abs(rows).sum(axis=1),
    "none": lambda rows: np.ones(len(rows)),
}

ROW_BYTES = 64
"""Bytes of an entry of a row of similarities while the row is computed, all copies together."""

ROWS_AT_ONCE = 24 * 2**20
"""Bytes of the rows that one product computes; more would be no faster."""


class Interactions:
    """Events by user and by item.

    Attributes:
        training: (users, items) sparse, 1.0 where the user has the item.
        by_item: (items, users) the same by item.
        users: (items,) float, number of users who have the item.
    """

    def __init__(self, training: csr_array) -> None:
        """Sort events by item."""
        self.training = training
        self.by_item = csr_array(training.T)
        self.users: Floats = np.diff(self.by_item.indptr).astype(np.float64)

    def cosines(self, items: slice) -> csr_array:
        """Return the cosines of a block of items to all, eq. 27 with q = 1, as sparse (block, items); none is 0."""
        together = csr_array(self.by_item[items] @ self.training)
        # as the square root of t² / (n_i n_j), both exact, equal cosines are equal numbers
        cosines = together.data
        np.square(cosines, out=cosines)
        product = self.users[together.indices]
        product *= np.repeat(self.users[items], np.diff(together.indptr))
        cosines /= product
        np.sqrt(cosines, out=cosines)
        return together


def rows_at_once(items: int, memory: float = ROWS_AT_ONCE) -> int:
    """Return how many rows of similarities one product computes, at least one, in so many bytes of memory."""
    return max(1, int(min(memory, ROWS_AT_ONCE) // (ROW_BYTES * max(1, items))))


def blocks(items: slice, rows: int) -> Iterator[slice]:
    """Divide a range of items into blocks."""
    for first in range(items.start, items.stop, rows):
        yield slice(first, min(first + rows, items.stop))


@dataclass(frozen=True)
class Weighting:
    """The weighting of cosines by exponent, norm and denominator; parameters as of `ItemCF`."""

    exponent: float
    keep_self: bool
    row_norm: str
    denominator: bool

    def normalized(self, rows: Floats) -> Floats:
        """Divide complete rows of similarities, (some items, items), in place by norm and denominator."""
        _divide(rows, ROW_NORMS[self.row_norm](rows))
        if self.denominator:
            _divide(rows, rows.sum(axis=1))
        return rows

    def sharpen(self, rows: csr_array) -> None:
        """Raise cosines to the exponent, in place."""
        if self.exponent != 1:
            rows.data **= float(self.exponent)

    def apply(self, kept: csr_array, rows: int) -> None:
        """Weight cosines, sparse (items, items), in place and so many rows at a time.

        Rows are made dense, as the order of a sum decides its last digit, and so ties.
        """
        self.sharpen(kept)
        for block in blocks(slice(0, kept.shape[0]), rows):
            stored = slice(kept.indptr[block.start], kept.indptr[block.stop])
            owners = np.repeat(np.arange(block.stop - block.start), np.diff(kept.indptr[block.start : block.stop + 1]))
            kept.data[stored] = self.normalized(kept[block].toarray())[owners, kept.indices[stored]]

    def columns(self, interactions: Interactions, items: slice, rows: int) -> Floats:
        """Return the similarities of some items to all, (items, some items): what a row's item adds to their scores.

        Args:
            interactions: the events.
            items: which items, the columns.
            rows: how many to compute at a time.
        """
        similar = np.empty((len(interactions.users), items.stop - items.start))
        for block in blocks(items, rows):
            cosines = interactions.cosines(block)
            self.sharpen(cosines)
            dense = cosines.toarray()
            if not self.keep_self:
                dense[np.arange(len(dense)), np.arange(block.start, block.stop)] = 0.0
            similar[:, block.start - items.start : block.stop - items.start] = self.normalized(dense).T
        return similar


def _divide(rows: Floats, by: Floats) -> None:
    rows /= np.where(by > 0, by, 1.0)[:, np.newaxis]
