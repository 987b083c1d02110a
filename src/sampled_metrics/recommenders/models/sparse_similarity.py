"""Models whose scores are sums of stored similarities, most of which are 0."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking import sparse
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import split_memory
from sampled_metrics.recommenders.models.model import Arrays, Model
from sampled_metrics.recommenders.models.similarity import check_similarity


@dataclass(frozen=True)
class SparseSimilarityModel(Model):
    """An item's score is the sum of its similarities to the user's training items.

    Attributes:
        similarity: (items of the user, items scored) sparse.
    """

    kind: ClassVar[str] = "sparse similarity"
    similarity: csr_array

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        return np.asarray((training[users] @ self.similarity[:, items]).toarray())

    def arrays(self) -> Arrays:
        """Return the parts of the sparse matrix."""
        return {
            "data": self.similarity.data,
            "indices": self.similarity.indices,
            "indptr": self.similarity.indptr,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Make a model of the parts of the sparse matrix."""
        items = len(arrays["indptr"]) - 1
        return cls(csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(items, items)))

    def check(self, split: Split, name: str) -> None:
        """Refuse similarities that are not finite, or not of all items of the split to all."""
        check_similarity(self.similarity, self.similarity.data, split, name)

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes of split, similarity and the smallest blocks."""
        return split_memory(shape) + size + sparse.least_memory(size, shape, threads)

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Count the stored scores of blocks of users."""
        return sparse.SparseCounter(self.similarity, split, sparse.block_entries(split.shape.items, threads, spare))
