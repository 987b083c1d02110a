"""Writing files that appear whole or not at all, and the same bytes for the same content."""

import gzip
import json
import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.errors import DataError, WriteError


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name with the same ending, whose content becomes that of `path` when the block ends well.

    It is beside the file and is renamed to it. What a symbolic link leads to is replaced, not the link; a file keeps
    the mode that it had. What is no regular file, such as a named pipe or /dev/stdout, is written into.

    Raises:
        WriteError: it cannot be written, as where no space is left.
    """
    name = os.fspath(path)
    if not name:
        raise WriteError("the name of a file to write is empty")
    try:
        mode = _mode(name)
        if mode is not None and stat.S_ISDIR(mode):
            raise WriteError(f"{name}: is a directory, not a file to write")
        if mode is not None and (_is_open(name) or not stat.S_ISREG(mode)):
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder, Path(name).name)
                yield temporary
                _write_into(name, temporary)
            return
        final = Path(os.path.realpath(name))
        temporary = final.with_name(f".{os.getpid()}.{final.name}")
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            if mode is not None:  # from the beginning, so that nobody reads what only its owner may
                temporary.touch()
                temporary.chmod(stat.S_IMODE(mode) | stat.S_IWUSR)
            yield temporary
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            os.replace(temporary, final)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {error.strerror or error}") from error


def _mode(name: str) -> int | None:
    """Type and mode of a file, or of what a link leads to; None if there is none yet."""
    try:
        return os.stat(name).st_mode
    except FileNotFoundError:
        return None


def _is_open(name: str) -> bool:
    """Whether a name stands for what a process holds open, as /dev/stdout does: a file in its place would not be it."""
    while os.path.islink(name):
        folder = os.path.realpath(os.path.dirname(name))
        if re.fullmatch("/proc/.+/fd", folder):
            return True
        name = os.path.join(folder, os.readlink(name))
    return False


def _write_into(name: str, content: Path) -> None:
    """Append to what is there: it may be a file that a shell redirects the output to."""
    with content.open("rb") as source, os.fdopen(os.open(name, os.O_WRONLY | os.O_APPEND), "wb") as target:
        shutil.copyfileobj(source, target)


def is_temporary(path: Path) -> bool:
    """Whether a file has a name that `written_whole` gives: of a job that is writing it, or that was killed."""
    return path.is_file() and re.match(r"\.[0-9]+\.", path.name) is not None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text with a newline at its end."""
    with written_whole(path) as temporary:
        temporary.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8", newline="\n")


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write indented JSON."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False))


def write_csv(path: str | os.PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as csv, as gzip where the name ends in .gz, so that the same table gives the same bytes."""
    text = table.to_csv(index=False, lineterminator="\n").encode()
    if Path(path).suffix == ".gz":
        text = gzip.compress(text, compresslevel=6, mtime=0)
    with written_whole(path) as temporary:
        temporary.write_bytes(text)


def write_npz(path: str | os.PathLike[str], **arrays: np.ndarray) -> None:
    """Write named arrays, none of which may hold Python objects."""
    with written_whole(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def npz_headers(path: str | os.PathLike[str]) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and type of the arrays that `write_npz` wrote, without reading them.

    Raises:
        DataError: the file is damaged.
    """
    headers = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as array:
                    np.lib.format.read_magic(array)
                    shape, _, kind = np.lib.format.read_array_header_1_0(array)
                    headers[name.removesuffix(".npy")] = shape, kind
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        raise DataError(f"{path}: is not an npz file, or is damaged: {' '.join(str(error).split())}") from None
    return headers
