"""The memory limit of a job (`ranking.memory` of config).

The sizes of a job's files determine how much memory the job needs. A limit that is too small is refused before the
files are read.
"""

import math
import os

from sampled_metrics import _files
from sampled_metrics.data.split import read_shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.models import stored_kind
from sampled_metrics.recommenders.models.model import BLOCK_BYTES

MEGABYTE = 2**20

BASE = 200 * MEGABYTE
"""Bytes that Python, its libraries, the preamble of snakemake, and the reserve of the allocator take."""

_COPIES = 5
"""Number of arrays that are as large as a block of scores while the block is computed and counted."""


def split_memory(path: str | os.PathLike[str]) -> int:
    """Return the bytes that a job with a split in memory takes.

    An event of 4 bytes in the file takes 12 in memory, and 12 again if users have several held-out items.
    """
    return BASE + 6 * _bytes(path, "a split")


def ranking_memory(model: str | os.PathLike[str], split: str | os.PathLike[str], threads: int) -> int:
    """Return the bytes that a ranking job takes: the split, the model and a block of scores in each thread.

    Raises:
        DataError: a file is of another kind, or is damaged.
    """
    block = max(BLOCK_BYTES, 8 * read_shape(split).items)
    return split_memory(split) + stored_kind(model).copies * _bytes(model, "a model") + threads * _COPIES * block


def require_memory(needed: int, memory: int, what: str) -> None:
    """Refuse a limit that is too small; it is in megabytes of 2²⁰ bytes.

    Raises:
        ConfigError: the message names the job and the smallest limit that is enough.
    """
    enough = math.ceil(needed / MEGABYTE)
    if enough > memory:
        raise ConfigError(
            f"ranking.memory: {what} takes {enough} MB at least, and may take {memory}; give {enough} or more"
        )


def _bytes(path: str | os.PathLike[str], content: str) -> int:
    """Return the bytes of the arrays of an npz file."""
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in _files.npz_headers(path, content).values())
