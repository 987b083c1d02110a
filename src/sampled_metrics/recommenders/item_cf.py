"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Where the paper's text and its printed numbers disagree, a parameter says which to follow. The printed numbers result
from the L2 norm in eq. 29, no denominator in eq. 30, and, for Z, i among the 10 items nearest to j (k = 10 in eq. 28,
not k' = 10 as printed), without j itself.

A matrix of all items by all items is never in memory. With k or k', the neighbours are found by blocks of items and
stored as a sparse matrix. Otherwise only the weighting is stored; ranking computes the similarities from the events.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from sampled_metrics.data.split import Shape
from sampled_metrics.ranking.memory import MEGABYTE, spare_memory, split_memory
from sampled_metrics.recommenders.cosine import ROW_BYTES, ROW_NORMS, Interactions, rows_at_once
from sampled_metrics.recommenders.models import CosineModel, Model, SparseSimilarityModel
from sampled_metrics.recommenders.neighbours import KEPT_BYTES, near_items
from sampled_metrics.recommenders.parameters import COUNT, parameter
from sampled_metrics.recommenders.recommender import Recommender, reserved_memory


@dataclass(frozen=True)
class ItemCF(Recommender):
    """Cosine similarity, sharpened, filtered to neighbours, row-normalized and summed over the user's items."""

    exponent: float = parameter("q of eq. 27: sharpens the similarity", type="number", exclusiveMinimum=0)
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

    def fit(self, training: csr_array, rng: np.random.Generator, memory: int | None = None) -> Model:
        """Find the neighbours of items; without k and k' there is nothing to do. Nothing is random.

        Raises:
            ConfigError: the memory is too small.
        """
        users, items = training.shape
        spare = spare_memory(self.least_memory(Shape(users, items, training.nnz)), memory, "item-cf")
        model = CosineModel(float(self.exponent), self.keep_self, self.row_norm, self.denominator)
        if self._most_neighbours == 0:
            return model
        interactions = Interactions(training)
        rows = rows_at_once(items, spare + ROW_BYTES * items)
        kept = near_items(interactions, self.neighbours, self.neighbours_prime, rows)
        if self.keep_self:
            kept = csr_array(kept + diags_array((interactions.users > 0).astype(np.float64)))
            kept.eliminate_zeros()  # items without users
        model.weight(kept, rows)
        return SparseSimilarityModel(csr_array(kept.T))

    def least_memory(self, shape: Shape) -> int:
        """Return the bytes of the split and, with k or k', of the events by item, the neighbours and a row."""
        if self._most_neighbours == 0:
            return split_memory(shape)
        by_item = 12 * shape.events + 24 * shape.items
        kept = KEPT_BYTES * shape.items * min(self._most_neighbours + 1, shape.items)
        return split_memory(shape) + by_item + kept + ROW_BYTES * shape.items

    def training_memory(self, shape: Shape, memory: int) -> int:
        """Return the bytes to reserve for training: the neighbours, but no more than the budget."""
        kept = 2 * shape.items * min(self._most_neighbours + 1, shape.items)
        return min(reserved_memory(shape, kept), memory * MEGABYTE)

    @property
    def _most_neighbours(self) -> int:
        return max(self.neighbours or 0, self.neighbours_prime or 0)
