"""What ranking holds in memory at least, by kind of model, and what it does with more.

At least: Python, the events, the model, and for each thread the smallest block that can be worked on. All that
is beyond makes blocks larger, up to a size from which they are no faster, and then keeps similarities that would be
made twice.
"""

import os

from sampled_metrics.data.split import read_shape
from sampled_metrics.ranking.memory import MEGABYTE, Shape, left, require
from sampled_metrics.ranking.similarity import SCORING_BYTES, USERS, WIDTHS
from sampled_metrics.ranking.sparse import ENTRIES, ENTRY_BYTES
from sampled_metrics.recommenders.cosine import ROW_BYTES, rows_at_once
from sampled_metrics.recommenders.models import Stored, read_stored

BLOCK_BYTES = 16 * MEGABYTE
"""Memory that a block of scores of all items takes, and that a thread takes which ranks by factors."""

SCORE_COPIES = 5
"""Arrays of the size of a block of scores of all items while it is counted."""


def least_memory(model: Stored, shape: Shape, threads: int = 1) -> int:
    """Return the bytes that ranking takes at least, all threads together.

    Args:
        model: kind and size of the model.
        shape: of the split.
        threads: how many blocks are worked on at a time.
    """
    held = shape.held + model.size
    if model.kind == "factors":
        return (
            held + 2 * model.size + threads * BLOCK_BYTES
        )  # copies: of the precision, transposed, while it is checked
    if model.kind == "sparse similarity":
        marked = 2 * model.size + 64 * shape.items  # with a diagonal, and while that is put in
        return held + marked + 8 * shape.users + threads * (ENTRY_BYTES * shape.items + SCORING_BYTES)
    if model.kind == "similarity":
        return held + _by_item(shape) + threads * _block(shape.items, WIDTHS[-1])
    if model.kind == "cosine":
        both_ways = 12 * shape.events + 24 * shape.items
        smallest = _block(shape.items, WIDTHS[-1]) + ROW_BYTES * shape.items
        return held + both_ways + _by_item(shape) + threads * smallest
    return held + threads * SCORE_COPIES * max(BLOCK_BYTES, 8 * shape.items)


def _by_item(shape: Shape) -> int:
    """Bytes of the events of each 1024 users by item."""
    return 12 * shape.events + 4 * shape.items * -(-shape.users // USERS)


def _block(items: int, width: int) -> int:
    """Bytes of a block of similarities, and of the scores that are made of it."""
    return 8 * items * width + SCORING_BYTES


def require_files(model: str | os.PathLike[str], split: str | os.PathLike[str], memory: int, threads: int) -> None:
    """Refuse a budget that is too small to rank by a model before either file is read.

    Args:
        model: a file that a model's `write` wrote.
        split: a file that `Split.write` wrote.
        memory: megabytes that may be resident.
        threads: how many blocks are worked on at a time.

    Raises:
        ConfigError: it does not suffice.
        DataError: the model's file is not one.
    """
    require(least_memory(read_stored(model), read_shape(split), threads), memory, "ranking")


def width_and_rows(model: Stored, shape: Shape, threads: int, memory: int | None) -> tuple[int, int, float]:
    """Return items of a block, items whose similarities are made at a time, and bytes to keep similarities in."""
    spare = left(least_memory(model, shape, threads), memory)
    for width in WIDTHS:
        rest = spare - threads * 8 * shape.items * (width - WIDTHS[-1])
        if rest >= 0:
            break
    else:
        raise AssertionError("a budget that is too small is refused before")
    rows = min(width, rows_at_once(shape.items, rest / threads + ROW_BYTES * shape.items))
    return width, rows, max(0.0, rest - threads * ROW_BYTES * shape.items * (rows - 1))


def entries_of_block(model: Stored, shape: Shape, threads: int, memory: int | None) -> int:
    """Return how many stored scores to count at a time."""
    spare = left(least_memory(model, shape, threads), memory)
    return int(min(ENTRIES, shape.items + spare / (threads * ENTRY_BYTES)))
