"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Where the paper's text and its printed numbers disagree, a parameter says which to follow. Its numbers come out with
the L2 norm in eq. 29, without the denominator of eq. 30, and, for Z, with i among the 10 items nearest to j (k = 10 in
eq. 28, not k' = 10 as printed), j itself not counted and dropped.

All items by all items are never held. With k or k' the neighbours are, sparse, and found by blocks of items. Without
either, what is stored is how similarities are weighted, and ranking makes them where it needs them, of the events.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from sampled_metrics.ranking.memory import Shape, left, require
from sampled_metrics.recommenders.cosine import ROW_BYTES, ROW_NORMS, Interactions, Weighting, rows_at_once
from sampled_metrics.recommenders.models import CosineModel, SimilarityModel
from sampled_metrics.recommenders.neighbours import KEPT_BYTES, near_items
from sampled_metrics.recommenders.parameters import parameter


@dataclass(frozen=True)
class ItemCF:
    """Cosine similarity, sharpened, filtered to neighbours, row-normalized and summed over the user's items."""

    exponent: float = parameter("q of eq. 27: sharpens the similarity", type="number", exclusiveMinimum=0)
    neighbours: int | None = parameter(
        "k of eq. 28: s_ij is kept if i is among the k items nearest to j; null for all",
        default=None,
        type=["integer", "null"],
        minimum=1,
    )
    neighbours_prime: int | None = parameter(
        "k' of eq. 28: s_ij is kept if j is among the k' items nearest to i; null for all",
        default=None,
        type=["integer", "null"],
        minimum=1,
    )
    keep_self: bool = parameter(
        "whether an item's similarity to itself stays in its row, where it counts in the norm (the filter aside)",
        default=True,
        type="boolean",
    )
    row_norm: str = parameter("the norm of eq. 29", default="l2", enum=sorted(ROW_NORMS))
    denominator: bool = parameter(
        "whether scores are divided by the sum of the row, as eq. 30 says; this cancels the norm of eq. 29",
        default=False,
        type="boolean",
    )

    def fit(
        self, training: csr_array, rng: np.random.Generator, memory: int | None = None
    ) -> SimilarityModel | CosineModel:
        """Find the neighbours among (users, items) events; without k and k' there is nothing to do. Nothing is random.

        Args:
            training: (users, items) events.
            rng: not used.
            memory: megabytes that may be resident, what is held already among them; None for any amount.

        Raises:
            ConfigError: the memory does not suffice.
        """
        users, items = training.shape
        least = self.least_memory(Shape(users, items, training.nnz))
        require(least, memory, "item-cf")
        weighting = Weighting(self.exponent, self.keep_self, self.row_norm, self.denominator)
        if self.neighbours is None and self.neighbours_prime is None:
            return CosineModel(weighting)
        interactions = Interactions(training)
        rows = rows_at_once(items, left(least, memory) + ROW_BYTES * items)
        kept = near_items(interactions, self.neighbours, self.neighbours_prime, rows)
        if self.keep_self:
            kept = csr_array(kept + diags_array((interactions.users > 0).astype(np.float64)))
            kept.eliminate_zeros()  # of items without users
        weighting.apply(kept, rows)
        return SimilarityModel(csr_array(kept.T))

    def least_memory(self, shape: Shape) -> int:
        """Return the bytes that training on events of a shape takes at least, the events and Python among them."""
        k = max(self.neighbours or 0, self.neighbours_prime or 0)
        if k == 0:
            return shape.held
        by_item = 12 * shape.events + 24 * shape.items
        return shape.held + by_item + KEPT_BYTES * shape.items * min(k + 1, shape.items) + ROW_BYTES * shape.items
