"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Cosine similarities (eqs 27-29) are computed for a block of items at a time. A block is a sparse
product: the block's interactions, by item, times all interactions. Rows do not depend on each
other, so the numbers do not depend on the blocks.

Where the paper's text and its printed numbers disagree, a parameter says which to follow. The
printed numbers result from the L2 norm in eq. 29, no denominator in eq. 30, and, for Z, i among the
10 items nearest to j (k = 10 in eq. 28, not k' = 10 as printed), without j itself.

With k or k', the neighbours are found by blocks of items and stored as a sparse matrix, and a
matrix of all items by all items is never in memory. Otherwise most similarities are not 0, and the
matrix is dense.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from sampled_metrics.checks import Floats, Ints
from sampled_metrics_study.recommenders.models import Model, SimilarityModel, SparseSimilarityModel
from sampled_metrics_study.recommenders.recommender import COUNT, Recommender, parameter

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
    """Interactions by row and by column.

    The matrix is (users, items) to compare items, or (items, users) to compare users.

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
        """Return the cosines of a block of columns to all (eq. 27, q = 1).

        The result is sparse, (block, columns), and stores no zeros.
        """
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
    for start in range(0, columns, size):
        yield slice(start, min(start + size, columns))


def nearest(similar: Floats, items: Ints, k: int) -> Ints:
    """Return the positions of the k most similar of n items, or of all if n < k.

    The most similar item comes first, and ties are by index.

    Args:
        similar: (n,) similarities, above 0.
        items: (n,) indices of the items.
        k: number of items to return.
    """
    near = np.arange(len(similar))
    if len(similar) > k:
        position = len(similar) - k  # of the k-th largest, in ascending order
        threshold = np.partition(similar, position)[position]
        near = np.flatnonzero(similar >= threshold)
    order = np.lexsort((items[near], -similar[near]))
    return near[order[:k]]


def near_items(interactions: Interactions, k: int | None, k_prime: int | None) -> csr_array:
    """Return the cosines that eq. 28 keeps, as sparse (items, items).

    An item is not its own neighbour.

    s_ij, in row i, is kept if i is among the k items nearest to j, and j is among the k' nearest to
    i. None means all items; k and k' are not both None.
    """
    items = len(interactions.rows)
    most = min(max(k or 0, k_prime or 0), items)
    near = np.empty((items, most), np.int32)
    cosines = np.empty((items, most))
    counts = np.zeros(items, np.int64)
    for block in blocks(items):
        similar = interactions.cosines(block)
        for row, item in enumerate(range(block.start, block.stop)):
            stored = slice(similar.indptr[row], similar.indptr[row + 1])
            partners = similar.indices[stored]
            values = similar.data[stored]
            is_partner = partners != item
            partners = partners[is_partner]
            values = values[is_partner]
            chosen = nearest(values, partners, most)
            counts[item] = len(chosen)
            near[item, : len(chosen)] = partners[chosen]
            cosines[item, : len(chosen)] = values[chosen]
    if k is None:
        return _within(near, cosines, counts, most)
    by_column = csr_array(_within(near, cosines, np.minimum(counts, k), most).T)
    if k_prime is None:
        return by_column
    by_column.data[:] = 1.0
    return csr_array(_within(near, cosines, np.minimum(counts, k_prime), most).multiply(by_column))


def _within(near: NDArray[np.int32], cosines: Floats, counts: Ints, most: int) -> csr_array:
    """Return the first neighbours of each item, `counts` of them, in the item's row."""
    is_within = np.arange(most) < counts[:, np.newaxis]
    indptr = np.append(0, np.cumsum(counts))
    rows = csr_array((cosines[is_within], near[is_within], indptr), shape=(len(near), len(near)))
    rows.sort_indices()
    return rows


@dataclass(frozen=True)
class ItemCF(Recommender):
    """Scores are sums of cosines to the user's items, sharpened, filtered and normalized."""

    is_random = has_factors = False
    exponent: float = parameter(
        "q of eq. 27: sharpens the similarity", default=1.0, type="number", exclusiveMinimum=0
    )
    neighbours: int | None = parameter(
        "k of eq. 28: s_ij is kept if i is among the k items nearest to j; null for all", **COUNT
    )
    neighbours_prime: int | None = parameter(
        "k' of eq. 28: s_ij is kept if j is among the k' items nearest to i; null for all", **COUNT
    )
    keep_self: bool = parameter(
        "whether an item's similarity to itself stays in its row, and so in the norm, whatever "
        "the filter",
        default=True,
        type="boolean",
    )
    row_norm: str = parameter("the norm of eq. 29", default="l2", enum=sorted(ROW_NORMS))
    denominator: bool = parameter(
        "whether scores are divided by the sum of the row, as eq. 30 says; this cancels the norm "
        "of eq. 29",
        default=False,
        type="boolean",
    )

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Compute the similarities, or those of neighbours alone. Nothing is random."""
        interactions = Interactions(training)
        if not (self.neighbours or self.neighbours_prime):
            return SimilarityModel(self._all(interactions))
        cosines = near_items(interactions, self.neighbours, self.neighbours_prime)
        if self.keep_self:
            cosines = csr_array(cosines + diags_array((interactions.rows > 0).astype(np.float64)))
            cosines.eliminate_zeros()  # items without users
        self._weight(cosines)
        return SparseSimilarityModel(csr_array(cosines.T))

    def _all(self, interactions: Interactions) -> Floats:
        """Return the (items, items) similarities.

        Row i holds what an event with item i adds to the scores.
        """
        items = len(interactions.rows)
        similar = np.empty((items, items))
        for block in blocks(items):
            cosines = interactions.cosines(block)
            cosines.data **= float(self.exponent)
            dense = cosines.toarray()
            if not self.keep_self:
                dense[np.arange(len(dense)), np.arange(block.start, block.stop)] = 0.0
            similar[:, block] = self._normalized(dense).T
        return similar

    def _weight(self, rows: csr_array) -> None:
        """Weight rows of cosines in place.

        The rows are made dense, because the order of a sum affects its last digit.
        """
        rows.data **= float(self.exponent)
        for block in blocks(rows.shape[0]):
            stored = slice(rows.indptr[block.start], rows.indptr[block.stop])
            counts = np.diff(rows.indptr[block.start : block.stop + 1])
            row_of_entry = np.repeat(np.arange(block.stop - block.start), counts)
            dense = self._normalized(rows[block].toarray())
            rows.data[stored] = dense[row_of_entry, rows.indices[stored]]

    def _normalized(self, rows: Floats) -> Floats:
        """Divide complete rows of similarities in place, (some items, items).

        The divisors are the norm and the denominator.
        """
        _divide(rows, ROW_NORMS[self.row_norm](rows))
        if self.denominator:
            _divide(rows, rows.sum(axis=1))
        return rows


def _divide(rows: Floats, divisors: Floats) -> None:
    rows /= np.where(divisors > 0, divisors, 1.0)[:, np.newaxis]
