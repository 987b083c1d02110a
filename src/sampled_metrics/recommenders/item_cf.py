"""Item-based collaborative filtering (recommenders Y and Z; section 9 of the paper, eqs 27-30).

Where the paper's text and its printed numbers disagree, a parameter says which to follow. Its numbers come out with
the L2 norm in eq. 29, without the denominator of eq. 30, and, for Z, with i among the 10 items nearest to j (k = 10 in
eq. 28, not k' = 10 as printed), j itself not counted and dropped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.arrays import Floats
from sampled_metrics.recommenders.models import SimilarityModel
from sampled_metrics.recommenders.parameters import parameter

ROW_NORMS = {
    "l2": lambda rows: np.sqrt(np.einsum("ij,ij->i", rows, rows)),
    "l1": lambda rows: np.abs(rows).sum(axis=1),
    "none": lambda rows: np.ones(len(rows)),
}
SPARSE_BELOW = 0.1
"""Similarities with a smaller fraction of entries than this are stored as sparse."""


def cosine(training: csr_array) -> Floats:
    """Cosine similarity of items by the users who have them, eq. 27 with q = 1, as (items, items); 0 without users."""
    together: Floats = (training.T @ training).toarray()
    users = together.diagonal().copy()
    users[users == 0] = 1.0
    # the square root of t² / (n_i n_j), whose numerator and denominator are exact, makes equal cosines equal numbers
    np.square(together, out=together)
    together /= np.outer(users, users)
    return np.sqrt(together, out=together)


def nearest(similarity: Floats, k: int | None) -> NDArray[np.bool_]:
    """N_k of eq. 28, as (items, items): whether item i, the row, is among the k items nearest to item j, the column.

    An item is not among its own nearest, nor is one of similarity 0. Equally near items are taken in the order of
    their indices. k = None means all.
    """
    items = len(similarity)
    near = similarity.T > 0
    np.fill_diagonal(near, False)
    if k is not None:
        for j in range(items):
            order = np.argsort(np.where(near[j], -similarity[:, j], np.inf), kind="stable")
            near[j, order[k:]] = False
    return near.T


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

    def fit(self, training: csr_array, rng: np.random.Generator) -> SimilarityModel:
        """Compute the similarities of (users, items) events. Nothing is random."""
        similarity = cosine(training)
        if self.neighbours is not None or self.neighbours_prime is not None:
            kept = nearest(similarity, self.neighbours) & nearest(similarity, self.neighbours_prime).T
            np.fill_diagonal(kept, True)
            similarity[~kept] = 0.0
        if not self.keep_self:
            np.fill_diagonal(similarity, 0.0)
        if self.exponent != 1:
            similarity **= self.exponent
        norms = ROW_NORMS[self.row_norm](similarity)
        similarity /= np.where(norms > 0, norms, 1.0)[:, np.newaxis]
        if self.denominator:
            sums = similarity.sum(axis=1)
            similarity /= np.where(sums > 0, sums, 1.0)[:, np.newaxis]
        if np.count_nonzero(similarity) < SPARSE_BELOW * similarity.size:
            return SimilarityModel(csr_array(similarity.T))
        return SimilarityModel(np.ascontiguousarray(similarity.T))
