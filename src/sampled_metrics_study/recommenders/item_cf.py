"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Cosine similarities (eqs 27-29) are computed for a block of items at a time. A block is a sparse
product: the block's interactions, by item, times all interactions. Rows do not depend on each
other, so the numbers do not depend on the blocks.

Where the paper's text and its printed numbers disagree, a parameter says which to follow. The
printed numbers result from the L2 norm in eq. 29, no denominator in eq. 30, and, for Z, i among the
10 items nearest to j (k = 10 in eq. 28, not k' = 10 as printed), without j itself.

With k or k', the neighbours are found by blocks of items and stored as a sparse matrix. Without
them, the matrix is sparse if at most a quarter of the similarities are above 0, and else dense.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

from sampled_metrics.checks import Floats
from sampled_metrics.errors import DataError
from sampled_metrics_study.recommenders.models import Model, SimilarityModel, SparseSimilarityModel
from sampled_metrics_study.recommenders.recommender import COUNT, Recommender, parameter

ROW_NORMS = {"l2": 2, "l1": 1, "none": 0}
"""The power p of a norm (Σ |s|^p)^(1/p) of a row; 0 for none."""

ENTRIES_AT_ONCE = 2**20
"""Similarities that one product computes, at most; larger products are not faster."""

ROWS_AT_ONCE = 64
"""Rows whose largest entries are found together."""

MOST_FILLED = 0.25
"""A matrix of similarities with a larger share of entries above 0 is stored dense."""


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

    def blocks(self) -> Iterator[slice]:
        """Yield blocks of columns whose cosines are computed by one product.

        The cosines of a column have at most as many entries as its rows have interactions.
        """
        interactions_of_rows = np.diff(self.matrix.indptr).astype(np.float64)
        columns = len(self.rows)
        entries = np.minimum(self.by_column @ interactions_of_rows, columns)
        block_of_column = (np.cumsum(entries) // ENTRIES_AT_ONCE).astype(np.int64)
        starts = np.flatnonzero(np.diff(block_of_column, prepend=-1))
        for start, stop in pairwise([*starts.tolist(), columns]):
            yield slice(start, stop)


def nearest(similar: csr_array, k: int) -> csr_array:
    """Return the k largest entries of each row, or all of a row with fewer.

    Of equal entries, those of the first columns are kept.

    Args:
        similar: (rows, columns) sparse, with entries above 0.
        k: number of entries to keep.
    """
    counts = np.diff(similar.indptr)
    thresholds = np.zeros(len(counts))
    longer = np.flatnonzero(counts > k)
    longer = longer[np.argsort(counts[longer])]
    # rows of about the same length are partitioned together, padded to the longest one
    for start in range(0, len(longer), ROWS_AT_ONCE):
        rows = longer[start : start + ROWS_AT_ONCE]
        padded = np.zeros((len(rows), counts[rows[-1]]))
        is_entry = np.arange(padded.shape[1]) < counts[rows, np.newaxis]
        padded[is_entry] = similar[rows].data
        padded.partition(padded.shape[1] - k, axis=1)
        thresholds[rows] = padded[:, -k]
    row_of_entry = np.repeat(np.arange(len(counts)), counts)
    threshold_of_entry = thresholds[row_of_entry]
    is_kept = similar.data > threshold_of_entry
    above = np.bincount(row_of_entry[is_kept], minlength=len(counts))
    tied = np.flatnonzero(similar.data == threshold_of_entry)
    tied = tied[np.lexsort((similar.indices[tied], row_of_entry[tied]))]
    rows_of_tied = row_of_entry[tied]
    place_in_row = np.arange(len(tied)) - np.searchsorted(rows_of_tied, rows_of_tied)
    is_kept[tied[place_in_row < k - above[rows_of_tied]]] = True
    indptr = np.append(0, np.cumsum(np.bincount(row_of_entry[is_kept], minlength=len(counts))))
    return csr_array((similar.data[is_kept], similar.indices[is_kept], indptr), similar.shape)


def near_items(interactions: Interactions, k: int | None, k_prime: int | None) -> csr_array:
    """Return the cosines that eq. 28 keeps, as sparse (items, items).

    An item is not its own neighbour.

    s_ij, in row i, is kept if i is among the k items nearest to j, and j is among the k' nearest to
    i. None means all items; k and k' are not both None.
    """
    by_column = []
    by_row = []
    for block in interactions.blocks():
        cosines = without_itself(interactions, block)
        if k is not None:
            by_column.append(nearest(cosines, k))
        if k_prime is not None:
            by_row.append(nearest(cosines, k_prime))
    if k is None:
        kept = vstack(by_row, "csr")
        kept.sort_indices()
        return kept
    kept = csr_array(vstack(by_column, "csr").T)
    if k_prime is None:
        return kept
    kept.data[:] = 1.0
    return csr_array(vstack(by_row, "csr").multiply(kept))


def without_itself(interactions: Interactions, block: slice) -> csr_array:
    """Return the cosines of a block of items to all others."""
    cosines = interactions.cosines(block)
    item = np.repeat(np.arange(block.start, block.stop), np.diff(cosines.indptr))
    cosines.data[cosines.indices == item] = 0.0
    cosines.eliminate_zeros()
    return cosines


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
    max_gigabytes: float = parameter(
        "largest size of the similarities without k and k', 8 bytes for each pair of items",
        default=4,
        type="number",
        exclusiveMinimum=0,
    )

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Compute the similarities, or those of neighbours alone. Nothing is random."""
        interactions = Interactions(training)
        if not (self.neighbours or self.neighbours_prime):
            return self._of_all(interactions)
        cosines = near_items(interactions, self.neighbours, self.neighbours_prime)
        if self.keep_self:
            cosines = csr_array(cosines + diags_array((interactions.rows > 0).astype(np.float64)))
            cosines.eliminate_zeros()  # items without users
        return SparseSimilarityModel(csr_array(self._weighted(cosines).T))

    def memory(self, users: int, items: int, events: int) -> int:
        """Return the bytes of the similarities: of those that are kept, or of all."""
        kept = [k for k in (self.neighbours, self.neighbours_prime) if k]
        if kept:
            return 100 * ENTRIES_AT_ONCE + 64 * min(sum(kept), items) * items
        return int(1.5 * min(8 * items**2, self.max_gigabytes * 1e9))

    def _of_all(self, interactions: Interactions) -> Model:
        """Return the similarities of all items: sparse if few are above 0, else dense."""
        items = len(interactions.rows)
        most_entries = MOST_FILLED * items**2
        blocks = []
        entries = 0
        for block in interactions.blocks():
            cosines = interactions.cosines(block)
            blocks.append(cosines if self.keep_self else without_itself(interactions, block))
            entries += cosines.nnz
            if entries > most_entries:
                return SimilarityModel(self._dense(interactions))
        return SparseSimilarityModel(csr_array(self._weighted(vstack(blocks, "csr")).T))

    def _dense(self, interactions: Interactions) -> Floats:
        """Return the (items, items) similarities.

        Row i holds what an event with item i adds to the scores.

        Raises:
            DataError: the matrix is larger than `max_gigabytes`.
        """
        items = len(interactions.rows)
        gigabytes = 8 * items**2 / 1e9
        if gigabytes > self.max_gigabytes:
            raise DataError(
                f"the similarities of {items:,} items take {gigabytes:.1f} GB, more than "
                f"max_gigabytes ({self.max_gigabytes:g}); keep fewer of them, as neighbours: 100 "
                "does, or set max_gigabytes"
            )
        similar = np.empty((items, items))
        size = max(1, ENTRIES_AT_ONCE // items)
        for start in range(0, items, size):
            block = slice(start, min(start + size, items))
            cosines = interactions.cosines(block)
            cosines.data **= float(self.exponent)
            rows = cosines.toarray()
            if not self.keep_self:
                rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = 0.0
            self._normalize(rows, _sums_of_dense, lambda divisors: divisors[:, np.newaxis])
            similar[:, block] = rows.T
        return similar

    def _weighted(self, rows: csr_array) -> csr_array:
        """Return the similarities of sparse rows of cosines."""
        counts = np.diff(rows.indptr)
        row_of_entry = np.repeat(np.arange(len(counts)), counts)
        rows.data **= float(self.exponent)

        def row_sums(values: Floats) -> Floats:
            return np.bincount(row_of_entry, values, len(counts)).astype(np.float64)

        self._normalize(rows.data, row_sums, lambda divisors: divisors[row_of_entry])
        return rows

    def _normalize(
        self,
        values: Floats,
        row_sums: Callable[[Floats], Floats],
        by_entry: Callable[[Floats], Floats],
    ) -> None:
        """Divide complete rows in place by their norm, and by the denominator.

        Args:
            values: the entries of rows.
            row_sums: returns the (rows,) sums of such entries.
            by_entry: returns the numbers of (rows,) for the entries.
        """
        power = ROW_NORMS[self.row_norm]
        if power:
            values /= by_entry(_or_one(row_sums(values**power) ** (1 / power)))
        if self.denominator:
            values /= by_entry(_or_one(row_sums(values)))


def _sums_of_dense(rows: Floats) -> Floats:
    return np.asarray(rows.sum(axis=1))


def _or_one(divisors: Floats) -> Floats:
    """Return divisors, with 1 in place of 0, that of a row without entries."""
    return np.where(divisors > 0, divisors, 1.0)
