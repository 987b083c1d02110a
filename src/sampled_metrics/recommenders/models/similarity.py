"""Models whose scores are sums of stored similarities, dense or sparse."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from sampled_metrics._arrays import Floats
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import similarity, sparse
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import split_memory
from sampled_metrics.recommenders.models.model import Arrays, Model


@dataclass(frozen=True)
class SimilarityModel(Model):
    """An item's score is the sum of its similarities to the user's training items.

    Attributes:
        similarity: (items of the user, items scored); the subclass has a sparse one.
    """

    kind: ClassVar[str] = "similarity"
    similarity: Any

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        return np.asarray(training[users] @ self.similarity[:, items])

    def check(self, split: Split, name: str) -> None:
        """Refuse similarities that are not finite, or not of all items of the split to all."""
        items, stored = split.shape.items, self.similarity.data if issparse(self.similarity) else self.similarity
        if self.similarity.shape != (items, items):
            raise DataError(f"{name}: has similarities of shape {self.similarity.shape}, not {(items, items)} (items)")
        if not np.isfinite(stored).all():
            raise DataError(f"{name}: has similarities that are not finite numbers")

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes of split, similarity and the narrowest blocks."""
        return split_memory(shape) + size + similarity.least_memory(shape, threads)

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Count by blocks of items. Blocks are not kept, because copying a block again is as fast."""

        def columns(items: slice) -> Floats:
            return np.ascontiguousarray(self.similarity[:, items], dtype=np.float64)

        width, _ = similarity.widest_blocks(split.shape.items, threads, spare)
        return similarity.SimilarityCounter(columns, split.by_row, width=width)


@dataclass(frozen=True)
class SparseSimilarityModel(SimilarityModel):
    """An item's score is the sum of its similarities to the user's training items; most similarities are 0.

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
        return {name: getattr(self.similarity, name) for name in ("data", "indices", "indptr")}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Make a model from the parts of the sparse matrix."""
        items = len(arrays["indptr"]) - 1
        return cls(csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(items, items)))

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes of split, similarity and the smallest blocks."""
        return split_memory(shape) + size + sparse.least_memory(size, shape, threads)

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Count the stored scores of blocks of users."""
        entries = sparse.block_entries(split.shape.items, threads, spare)
        return sparse.SparseCounter(self.similarity, split.by_row, entries)
