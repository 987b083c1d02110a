"""The items nearest to each item (N_k of eq. 28), found a block of items at a time; only the neighbours are kept."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.recommenders.cosine import Interactions, blocks

KEPT_BYTES = 64
"""Bytes of a kept neighbour, all copies together."""


def nearest(similar: Floats, items: Ints, k: int) -> Ints:
    """Return the positions of the k most similar of n items, or of all if n < k: most similar first, ties by index.

    Args:
        similar: (n,) similarities, above 0.
        items: (n,) indices of the items.
        k: number of items to return.
    """
    near = np.arange(len(similar))
    if len(similar) > k:
        least = np.partition(similar, len(similar) - k)[len(similar) - k]
        near = np.flatnonzero(similar >= least)
    order = np.lexsort((items[near], -similar[near]))
    return near[order[:k]]


def near_items(interactions: Interactions, k: int | None, k_prime: int | None) -> csr_array:
    """Return the cosines that eq. 28 keeps, as sparse (items, items); an item is not its own neighbour.

    s_ij, in row i, is kept if i is among the k items nearest to j, and j is among the k' nearest to i. None means all
    items; k and k' are not both None.
    """
    items = len(interactions.rows)
    most = min(max(k or 0, k_prime or 0), items)
    near, cosines, counts = np.empty((items, most), np.int32), np.empty((items, most)), np.zeros(items, np.int64)
    for block in blocks(items):
        similar = interactions.cosines(block)
        for row, item in enumerate(range(block.start, block.stop)):
            stored = slice(similar.indptr[row], similar.indptr[row + 1])
            partners, values = similar.indices[stored], similar.data[stored]
            partners, values = partners[partners != item], values[partners != item]
            chosen = nearest(values, partners, most)
            counts[item] = len(chosen)
            near[item, : len(chosen)], cosines[item, : len(chosen)] = partners[chosen], values[chosen]
    if k is None:
        return _within(near, cosines, counts, most)
    by_column = csr_array(_within(near, cosines, np.minimum(counts, k), most).T)
    if k_prime is None:
        return by_column
    by_column.data[:] = 1.0
    return csr_array(_within(near, cosines, np.minimum(counts, k_prime), most).multiply(by_column))


def _within(near: NDArray[np.int32], cosines: Floats, counts: Ints, most: int) -> csr_array:
    """Return the first neighbours of each item, `counts` of them, in the item's row."""
    taken = np.arange(most) < counts[:, np.newaxis]
    rows = csr_array((cosines[taken], near[taken], np.append(0, np.cumsum(counts))), shape=(len(near), len(near)))
    rows.sort_indices()
    return rows
