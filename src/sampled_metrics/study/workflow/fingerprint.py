"""Fingerprint of a file, which changes if its content does, and the files of a class."""

import hashlib
import os
import sys
from functools import cache
from pathlib import Path


def class_files(cls: type) -> list[str]:
    """Return the files of a class and of the classes that it inherits from, sorted.

    Those of this library and of Python are left out.
    """
    packages = {*sys.stdlib_module_names, __name__.partition(".")[0]}
    modules = {base.__module__ for base in cls.__mro__ if base.__module__.partition(".")[0] not in packages}
    files = {getattr(sys.modules.get(module), "__file__", None) for module in modules}
    return sorted(file for file in files if file)


def fingerprint(path: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 of the content of a file; None if it does not exist.

    A file that is only touched keeps its fingerprint. A file that is copied over another one by `cp -p` or rsync, with
    the time of the other one, has a fingerprint of its own.
    """
    if not Path(path).is_file():
        return None
    status = Path(path).stat()
    return _digest(os.fspath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@cache
def _digest(path: str, size: int, modified: int, changed: int) -> str:
    """Return the digest of a file that has not changed since the last call: snakemake asks several times."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
