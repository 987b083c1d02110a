"""Models whose scores are sums of stored similarities, dense or sparse."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from sampled_metrics._validation import Floats
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.loop import TIE
from sampled_metrics.recommenders.models.model import Arrays, Model


@dataclass(frozen=True)
class SimilarityModel(Model):
    """An item's score is the sum of its similarities to the user's training items, in the order of these.

    Attributes:
        similarity: (items of the user, items scored); the subclass has a sparse one.
    """

    kind: ClassVar[str] = "similarity"
    tolerance = TIE
    similarity: Any

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        # by item: a row of similarities is used for all users who have the item while it is in the cache
        return np.asarray(csc_array(training[users]) @ self.similarity)

    def check(self, split: Split, name: str) -> None:
        """Refuse similarities that are not finite, or not of all items of the split to all."""
        items, stored = split.shape.items, self.similarity.data if issparse(self.similarity) else self.similarity
        if self.similarity.shape != (items, items):
            raise DataError(f"{name}: has similarities of shape {self.similarity.shape}, not {(items, items)} (items)")
        if not np.isfinite(stored).all():
            raise DataError(f"{name}: has similarities that are not finite numbers")


@dataclass(frozen=True)
class SparseSimilarityModel(SimilarityModel):
    """An item's score is the sum of its similarities to the user's training items; most similarities are 0.

    Attributes:
        similarity: (items of the user, items scored) sparse.
    """

    kind: ClassVar[str] = "sparse similarity"
    similarity: csr_array

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        return np.asarray((training[users] @ self.similarity).toarray())

    def arrays(self) -> Arrays:
        """Return the parts of the sparse matrix."""
        return {name: getattr(self.similarity, name) for name in ("data", "indices", "indptr")}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return a model made from the parts of the sparse matrix."""
        items = len(arrays["indptr"]) - 1
        return cls(csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(items, items)))
