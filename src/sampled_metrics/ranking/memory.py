"""The memory budget of a job (`ranking.memory` of config): what a job needs at least, and what a budget leaves.

What a job needs follows from the size of its data. So a budget that is too small is refused before anything is read.
"""

import math

from sampled_metrics.data.split import Shape
from sampled_metrics.errors import ConfigError

MEGABYTE = 2**20

BASE = 200 * MEGABYTE
"""Bytes of Python, its libraries, what snakemake puts before a script, and what an allocator keeps back."""

BLOCK_BYTES = 16 * MEGABYTE
"""Bytes of a block of scores of all items, and of a thread that ranks by factors."""


def split_memory(shape: Shape) -> int:
    """Return the bytes of a job that has read a split: events as a sparse matrix in double precision, and ids."""
    return BASE + 12 * shape.events + 64 * shape.users + 32 * shape.items


def spare_memory(least: int, memory: int | None, what: str) -> float:
    """Return the bytes that a budget, in megabytes of 2²⁰ bytes, leaves beyond the least; None is no limit.

    Raises:
        ConfigError: the budget is too small; the message states what needs more, and the smallest that is enough.
    """
    if memory is None:
        return math.inf
    enough = math.ceil(least / MEGABYTE)
    if enough > memory:
        raise ConfigError(
            f"ranking.memory: {what} takes {enough} MB at least, and may take {memory}; give {enough} or more"
        )
    return memory * MEGABYTE - least
