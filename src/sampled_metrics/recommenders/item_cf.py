"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Where the paper's text and its printed numbers disagree, a parameter says which to follow. The printed numbers result
from the L2 norm in eq. 29, no denominator in eq. 30, and, for Z, i among the 10 items nearest to j (k = 10 in eq. 28,
not k' = 10 as printed), without j itself.

With k or k', the neighbours are found by blocks of items and stored as a sparse matrix, and a matrix of all items by
all items is never in memory. Otherwise most similarities are not 0, and the matrix is dense.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from sampled_metrics._validation import Floats
from sampled_metrics.data.split import Shape
from sampled_metrics.recommenders.cosine import ROW_BYTES, ROW_NORMS, ROWS_AT_ONCE, Interactions, blocks
from sampled_metrics.recommenders.models import Model, SimilarityModel, SparseSimilarityModel
from sampled_metrics.recommenders.neighbours import KEPT_BYTES, near_items
from sampled_metrics.recommenders.parameters import COUNT, parameter
from sampled_metrics.recommenders.recommender import Recommender, reserved_memory


@dataclass(frozen=True)
class ItemCF(Recommender):
    """Cosine similarity, sharpened, filtered to neighbours, row-normalized and summed over the user's items."""

    exponent: float = parameter("q of eq. 27: sharpens the similarity", default=1.0, type="number", exclusiveMinimum=0)
    neighbours: int | None = parameter(
        "k of eq. 28: s_ij is kept if i is among the k items nearest to j; null for all", **COUNT
    )
    neighbours_prime: int | None = parameter(
        "k' of eq. 28: s_ij is kept if j is among the k' items nearest to i; null for all", **COUNT
    )
    keep_self: bool = parameter(
        "whether an item's similarity to itself stays in its row, and so in the norm, whatever the filter",
        default=True,
        type="boolean",
    )
    row_norm: str = parameter("the norm of eq. 29", default="l2", enum=sorted(ROW_NORMS))
    denominator: bool = parameter(
        "whether scores are divided by the sum of the row, as eq. 30 says; this cancels the norm of eq. 29",
        default=False,
        type="boolean",
    )

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Compute the similarities, or those of neighbours alone. Nothing is random."""
        interactions = Interactions(training)
        if self._most_neighbours == 0:
            return SimilarityModel(self._all(interactions))
        cosines = near_items(interactions, self.neighbours, self.neighbours_prime)
        if self.keep_self:
            cosines = csr_array(cosines + diags_array((interactions.rows > 0).astype(np.float64)))
            cosines.eliminate_zeros()  # items without users
        self._weight(cosines)
        return SparseSimilarityModel(csr_array(cosines.T))

    @property
    def is_random(self) -> bool:
        """Nothing is random."""
        return False

    @property
    def has_factors(self) -> bool:
        """The model has similarities."""
        return False

    def least_memory(self, shape: Shape) -> int:
        """Return the bytes of the events by item, of some rows, and of the neighbours or all similarities."""
        most = self._most_neighbours
        bytes_by_item = KEPT_BYTES * min(most + 1, shape.items) if most else 8 * shape.items
        return 12 * shape.events + shape.items * (24 + bytes_by_item) + max(ROWS_AT_ONCE, ROW_BYTES * shape.items)

    def training_memory(self, shape: Shape) -> int:
        """Return the bytes to reserve for training on a cluster."""
        return reserved_memory(shape, 0) + self.least_memory(shape)

    @property
    def _most_neighbours(self) -> int:
        return max(self.neighbours or 0, self.neighbours_prime or 0)

    def _all(self, interactions: Interactions) -> Floats:
        """Return the (items, items) similarities. Row i holds what an event with item i adds to the scores."""
        items = len(interactions.rows)
        similar = np.empty((items, items))
        for block in blocks(items):
            cosines = interactions.cosines(block)
            self._sharpen(cosines)
            dense = cosines.toarray()
            if not self.keep_self:
                dense[np.arange(len(dense)), np.arange(block.start, block.stop)] = 0.0
            similar[:, block] = self._normalized(dense).T
        return similar

    def _weight(self, rows: csr_array) -> None:
        """Weight rows of cosines, sparse (items, items), in place.

        Rows are made dense, because the order of a sum affects its last digit.
        """
        self._sharpen(rows)
        for block in blocks(rows.shape[0]):
            stored = slice(rows.indptr[block.start], rows.indptr[block.stop])
            owners = np.repeat(np.arange(block.stop - block.start), np.diff(rows.indptr[block.start : block.stop + 1]))
            rows.data[stored] = self._normalized(rows[block].toarray())[owners, rows.indices[stored]]

    def _sharpen(self, rows: csr_array) -> None:
        """Raise cosines to the exponent, in place."""
        if self.exponent != 1:
            rows.data **= float(self.exponent)

    def _normalized(self, rows: Floats) -> Floats:
        """Divide complete rows of similarities, (some items, items), in place by norm and denominator."""
        _divide(rows, ROW_NORMS[self.row_norm](rows))
        if self.denominator:
            _divide(rows, rows.sum(axis=1))
        return rows


def _divide(rows: Floats, divisors: Floats) -> None:
    rows /= np.where(divisors > 0, divisors, 1.0)[:, np.newaxis]
