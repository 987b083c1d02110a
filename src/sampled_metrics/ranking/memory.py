"""The memory budget of a job (`ranking.memory` of config): the least memory of the job, and the spare memory.

The least memory follows from the size of the data. So a budget that is too small is refused before anything is read.
"""

import math

from sampled_metrics.data.split import Shape
from sampled_metrics.errors import ConfigError

MEGABYTE = 2**20

BASE = 200 * MEGABYTE
"""Bytes of Python, its libraries, the preamble of snakemake, and the reserve of the allocator."""

BLOCK_BYTES = 16 * MEGABYTE
"""Bytes of a block of scores of all items, and of a thread that ranks by factors."""


def split_memory(shape: Shape) -> int:
    """Return the bytes of a job that has read a split: events as a sparse matrix in double precision, and ids."""
    return BASE + 12 * shape.events + 64 * shape.users + 32 * shape.items


def spare_memory(least: int, memory: int | None, what: str) -> float:
    """Return the bytes of a budget, in megabytes of 2²⁰ bytes, beyond the least; None is no limit.

    Raises:
        ConfigError: the budget is too small; the message names the job and the smallest budget that is enough.
    """
    if memory is None:
        return math.inf
    enough = math.ceil(least / MEGABYTE)
    if enough > memory:
        raise ConfigError(
            f"ranking.memory: {what} takes {enough} MB at least, and may take {memory}; give {enough} or more"
        )
    return memory * MEGABYTE - least
