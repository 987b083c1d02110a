"""Fingerprint of a file, which changes if another file takes its place, and the files of a class."""

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

BLOCK = 64 * 1024
BLOCKS = 256  # most blocks that are read; a file of up to 16 MiB is read whole


def class_files(cls: type) -> list[str]:
    """Return the files of a class and of the classes that it inherits from, sorted.

    Those of this library and of Python are left out.
    """
    packages = {*sys.stdlib_module_names, __name__.partition(".")[0]}
    modules = {base.__module__ for base in cls.__mro__ if base.__module__.partition(".")[0] not in packages}
    files = {getattr(sys.modules.get(module), "__file__", None) for module in modules}
    return sorted(file for file in files if file)


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
