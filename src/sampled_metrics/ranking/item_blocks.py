"""Counting by factors of which only a block of items is in memory.

The number of items above, or tied with, a held-out item is the sum over blocks of items. The scores of pairs do not
depend on the blocks (near_ties.py), so neither do the counts.
"""

import numpy as np

from sampled_metrics._arrays import Ints
from sampled_metrics._progress import no_progress
from sampled_metrics.data.split import Split
from sampled_metrics.ranking.factors import FactorCounter, Rows
from sampled_metrics.ranking.files import NpyRows
from sampled_metrics.ranking.near_ties import Factors

BLOCK_BYTES = 2**25
"""Bytes of the factors of a block of items in double precision. A counter takes several times as much for a while."""


def count_in_item_blocks(users: Factors, items: Factors | NpyRows, split: Split, precision: str) -> tuple[Ints, Ints]:
    """Return above and tied, (rows,) each, the same as those of `FactorCounter`.

    Args:
        users: (rows, d) factors of the user of each row.
        items: (items, d) factors, of which a block is read at a time.
        split: training and held-out item of each row.
        precision: float64 or float32.

    Raises:
        DataError: the bound of the scores of a block is not finite.
    """
    count, d = items.shape
    targets, counts = items[split.held_out], np.zeros((2, len(users)), dtype=np.int64)
    width = max(1, BLOCK_BYTES // (8 * d))
    for first in range(0, count, width):
        block = slice(first, first + width)
        rows = Rows(split.training[:, block], split.held_out - first)
        counter = FactorCounter(users, items[block], rows, precision, targets)
        counts += counter.count(counter.blocks, 1, no_progress)
    return counts[0], counts[1]
