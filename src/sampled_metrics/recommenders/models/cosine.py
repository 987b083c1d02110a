"""Models whose scores are sums of weighted cosines, which are computed from the events where they are needed."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking import similarity
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import split_memory
from sampled_metrics.recommenders.cosine import ROW_BYTES, Interactions, Weighting, rows_at_once
from sampled_metrics.recommenders.models.model import Arrays, Model


@dataclass(frozen=True)
class CosineModel(Model):
    """An item's score is the sum of its weighted cosines to the user's training items.

    Attributes:
        weighting: how cosines are weighted.
    """

    kind: ClassVar[str] = "cosine"
    weighting: Weighting

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        every = training.shape[1]
        chosen = slice(*items.indices(every)[:2])
        similar = self.weighting.columns(Interactions(training), chosen, rows_at_once(every))
        return np.asarray(training[users] @ similar)

    def arrays(self) -> Arrays:
        """Return the parameters of the weighting."""
        return {
            "exponent": np.array(float(self.weighting.exponent)),
            "keep_self": np.array(self.weighting.keep_self),
            "row_norm": np.array(self.weighting.row_norm),
            "denominator": np.array(self.weighting.denominator),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Make a model of the parameters of the weighting."""
        exponent, keep_self = float(arrays["exponent"]), bool(arrays["keep_self"])
        return cls(Weighting(exponent, keep_self, str(arrays["row_norm"]), bool(arrays["denominator"])))

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes of split, events by item, and the narrowest blocks, made a row at a time."""
        by_item = 12 * shape.events + 24 * shape.items
        blocks = similarity.least_memory(shape, threads) + threads * ROW_BYTES * shape.items
        return split_memory(shape) + by_item + blocks

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Count by blocks of items. Spare memory widens blocks, then makes more rows at a time, then keeps blocks."""
        items = split.shape.items
        width, rest = similarity.widest_blocks(items, threads, spare)
        rows = min(width, rows_at_once(items, rest / threads + ROW_BYTES * items))
        kept_bytes = max(0.0, rest - threads * ROW_BYTES * items * (rows - 1))
        columns = partial(self.weighting.columns, Interactions(split.training), rows=rows)
        return similarity.SimilarityCounter(columns, split, width=width, kept_bytes=kept_bytes)
