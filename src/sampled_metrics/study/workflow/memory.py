"""The memory of a job: its limit, which `ranking.memory` of config sets, and what it asks a cluster for.

The sizes of a job's files determine how much memory the job needs. A limit that is too small is refused before the
files are read.
"""

import math
import os
import zipfile
from contextlib import suppress

from sampled_metrics import _files
from sampled_metrics.data.split import Shape, read_shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.models import BLOCK_BYTES, stored_kind
from sampled_metrics.recommenders.recommender import Recommender

MEGABYTE = 2**20

BASE = 200 * MEGABYTE
"""Bytes that Python, its libraries, the preamble of snakemake, and the reserve of the allocator take."""

SNAKEMAKE = 300
"""Megabytes that a job asks for beside its limit, for Snakemake itself."""

_LEAST_REQUEST = 1000
"""Megabytes that each job asks for (profiles/slurm)."""

_BYTES_READ = 5
"""Bytes in memory for each byte of an unpacked file of events: 4.7 of MovieLens 1M."""

_PACKED = 6
"""Size of a gzipped file or a parquet file when it is unpacked, in sizes of the file."""

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


def training_memory(trainer: Recommender, split: str | os.PathLike[str], shape: Shape) -> int:
    """Return the bytes that a training job takes at least, if its recommender states them; otherwise 0."""
    least = trainer.least_memory(shape)
    return split_memory(split) + least if least else 0


def training_request(trainer: Recommender, split: str | os.PathLike[str], shape: Shape, memory: int) -> int:
    """Return the megabytes that a training job asks for: what training takes, and the limit if it is kept.

    A job that needs more than its limit asks for the limit, and then says so.

    Args:
        trainer: the recommender.
        split: the file of the split.
        shape: its size.
        memory: the limit, `ranking.memory`.
    """
    least, reserved = (
        math.ceil(needed / MEGABYTE)
        for needed in (training_memory(trainer, split, shape), trainer.training_memory(shape))
    )
    if not least:
        return SNAKEMAKE + reserved
    return SNAKEMAKE + (memory if least > memory else max(memory, reserved))


def reading_request(archive: str | os.PathLike[str]) -> int:
    """Return the megabytes to ask for, for the job that reads the events of an archive and splits them."""
    return _LEAST_REQUEST + math.ceil(_BYTES_READ * _unpacked(archive) / MEGABYTE)


def _unpacked(path: str | os.PathLike[str]) -> int:
    """Return the bytes of the largest member of a zip archive, or an estimate for a file of another kind."""
    with suppress(zipfile.BadZipFile, NotImplementedError, ValueError), zipfile.ZipFile(path) as archive:
        return max((member.file_size for member in archive.infolist()), default=0)
    with open(path, "rb") as file:
        is_packed = file.read(4).startswith((b"PAR1", b"\x1f\x8b"))
    return os.path.getsize(path) * (_PACKED if is_packed else 1)


def limit(mem_mb: int) -> int:
    """Return the limit of a job, in megabytes, by what it asked for. A job that is tried again asks for more."""
    return mem_mb - SNAKEMAKE


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
