"""Fingerprint of a file, which changes if another file takes its place."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

BLOCK = 64 * 1024
BLOCKS = 256  # most blocks that are read; a file of up to 16 MiB is read whole


def fingerprint(path: str | os.PathLike[str]) -> list[int | str] | None:
    """Return size, time of change in nanoseconds, and a digest of the content of a file; None if it does not exist.

    Both time and content are needed: `cp -p` and rsync copy the time, and only a part of a large file is read.
    """
    if not Path(path).is_file():
        return None
    status, digest = Path(path).stat(), hashlib.sha256()
    last = max(0, status.st_size - BLOCK)
    starts: Iterable[int] = range(0, status.st_size, BLOCK)
    if status.st_size > BLOCK * BLOCKS:
        starts = [last * block // (BLOCKS - 1) for block in range(BLOCKS)]
    with open(path, "rb") as file:
        for start in starts:
            file.seek(start)
            digest.update(file.read(BLOCK))
    return [status.st_size, status.st_mtime_ns, digest.hexdigest()]
