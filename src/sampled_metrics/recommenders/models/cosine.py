"""Models whose scores are sums of weighted cosines. The cosines are computed from the events when needed."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking import similarity
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import split_memory
from sampled_metrics.recommenders.cosine import (
    ROW_BYTES,
    ROW_NORMS,
    Interactions,
    blocks,
    rows_at_once,
)
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class CosineModel(Model):
    """An item's score is the sum of its weighted cosines to the user's training items; parameters as in `ItemCF`."""

    kind: ClassVar[str] = "cosine"
    exponent: float
    keep_self: bool
    row_norm: str
    denominator: bool

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        every = training.shape[1]
        chosen = slice(*items.indices(every)[:2])
        similar = self.columns(Interactions(training), chosen, rows_at_once(every))
        return np.asarray(training[users] @ similar)

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes of split, events by item, and the narrowest blocks, computed one row at a time."""
        by_item = 12 * shape.events + 24 * shape.items
        narrowest = similarity.least_memory(shape, threads) + threads * ROW_BYTES * shape.items
        return split_memory(shape) + by_item + narrowest

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Count by blocks of items. Spare memory first widens blocks, then the rows per product, then keeps blocks."""
        items = split.shape.items
        width, rest = similarity.widest_blocks(items, threads, spare)
        rows = min(width, rows_at_once(items, rest / threads + ROW_BYTES * items))
        kept_bytes = max(0.0, rest - threads * ROW_BYTES * items * (rows - 1))
        columns = partial(self.columns, Interactions(split.training), rows=rows)
        return similarity.SimilarityCounter(columns, split.by_row, width=width, kept_bytes=kept_bytes)

    def normalize(self, rows: Floats) -> Floats:
        """Divide complete rows of similarities, (some items, items), in place by norm and denominator."""
        _divide(rows, ROW_NORMS[self.row_norm](rows))
        if self.denominator:
            _divide(rows, rows.sum(axis=1))
        return rows

    def sharpen(self, rows: csr_array) -> None:
        """Raise cosines to the exponent, in place."""
        if self.exponent != 1:
            rows.data **= float(self.exponent)

    def weight(self, kept: csr_array, rows: int) -> None:
        """Weight cosines, sparse (items, items), in place, `rows` rows at a time.

        Rows are made dense, because the order of a sum affects its last digit.
        """
        self.sharpen(kept)
        for block in blocks(slice(0, kept.shape[0]), rows):
            stored = slice(kept.indptr[block.start], kept.indptr[block.stop])
            owners = np.repeat(np.arange(block.stop - block.start), np.diff(kept.indptr[block.start : block.stop + 1]))
            kept.data[stored] = self.normalize(kept[block].toarray())[owners, kept.indices[stored]]

    def columns(self, interactions: Interactions, items: slice, rows: int) -> Floats:
        """Return the similarities of some items to all, (items, some items), computing `rows` items at a time.

        A row holds what an event with its item adds to the scores.
        """
        similar = np.empty((len(interactions.users), items.stop - items.start))
        for block in blocks(items, rows):
            cosines = interactions.cosines(block)
            self.sharpen(cosines)
            dense = cosines.toarray()
            if not self.keep_self:
                dense[np.arange(len(dense)), np.arange(block.start, block.stop)] = 0.0
            similar[:, block.start - items.start : block.stop - items.start] = self.normalize(dense).T
        return similar


def _divide(rows: Floats, by: Floats) -> None:
    rows /= np.where(by > 0, by, 1.0)[:, np.newaxis]
