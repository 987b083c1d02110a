"""Read and write files: atomic writes, the same bytes for the same content, and npz files."""

import gzip
import hashlib
import json
import logging
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from sampled_metrics._validation import shown
from sampled_metrics.errors import ConfigError, DataError, WriteError, reason

# What numpy and zipfile raise on a file that is damaged or is not npz.
_NPZ_ERRORS = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, with the same ending, and rename it to `path` when the block succeeds.

    A symbolic link stays and its target is replaced. A file that exists keeps its mode.

    Raises:
        WriteError: `path` is not a regular file, or it cannot be written, for example because the disk is full.
    """
    name = os.fspath(path)
    if not name:
        raise WriteError("the name of a file to write is empty")
    final = Path(os.path.realpath(name))
    if os.path.islink(final) or (
        os.path.exists(name) and not os.path.isfile(name)
    ):  # a link remains of a circle of links
        raise WriteError(f"{name}: is not a regular file, and only a regular file is written")
    temporary = final.with_name(f".{os.getpid()}.{final.name}")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        if final.exists():
            temporary.touch(mode=0o600)  # nobody else reads a private file while it is written
        yield temporary
        if final.exists():
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {reason(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def require_folder(path: str | os.PathLike[str]) -> None:
    """Raise WriteError if the folder of a file that a user wants to write does not exist."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise WriteError(f"{os.fspath(path)}: there is no folder {shown(os.path.dirname(path))}; make it first")


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files of `atomic_write` in a folder whose process was killed, where they can be removed."""
    for path in Path(folder).rglob(".*"):
        named = re.match(r"\.([0-9]+)\.", path.name)
        if named and path.is_file() and not _is_running(int(named[1])):
            with suppress(OSError):
                path.unlink()


def _is_running(process: int) -> bool:
    """Whether a process of this machine has this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text with a newline at its end."""
    with atomic_write(path) as temporary:
        temporary.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8", newline="\n")


def digest(path: str | os.PathLike[str], algorithm: str) -> str:
    """Return a checksum of a file in hexadecimal; the algorithm is a name in hashlib, such as sha256."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write indented JSON."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False))


def write_csv(path: str | os.PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as csv, gzipped if the name ends in .gz; the same table gives the same bytes."""
    text = table.to_csv(index=False, lineterminator="\n").encode()
    if Path(path).suffix == ".gz":
        text = gzip.compress(text, compresslevel=6, mtime=0)
    with atomic_write(path) as temporary:
        temporary.write_bytes(text)
    logging.getLogger(__name__).info("wrote %d rows to %s", len(table), path)


def require_parquet(path: str | os.PathLike[str]) -> None:
    """Raise ConfigError unless the name of a file ends in .parquet and pyarrow is installed."""
    if Path(path).suffix.lower() != ".parquet":
        raise ConfigError(f"{os.fspath(path)}: the name of the file must end in .parquet")
    if find_spec("pyarrow") is None:
        raise ConfigError(f"{os.fspath(path)}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'")


def write_table(path: str | os.PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as parquet if the name ends so, else as csv.

    Raises:
        ConfigError: parquet needs pyarrow, which is not installed.
    """
    if Path(path).suffix != ".parquet":
        write_csv(path, table)
        return
    require_parquet(path)
    with atomic_write(path) as temporary:
        table.to_parquet(temporary, engine="pyarrow", index=False)


def write_npz(path: str | os.PathLike[str], **arrays: np.ndarray) -> None:
    """Write named arrays; an array of Python objects is refused."""
    with atomic_write(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def read_npz(
    path: str | os.PathLike[str], content: str, names: Sequence[str] = (), *, only: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file.

    Args:
        path: the file.
        content: what the file should hold, for messages, such as "a split".
        names: arrays that must be there.
        only: the arrays to read, if they are there; all by default.

    Raises:
        DataError: the file is damaged or not npz, or lacks an array.
    """
    try:
        with open(path, "rb") as file:  # np.load leaves a damaged file open
            npz = np.load(file, allow_pickle=False)
            arrays = {}
            if isinstance(npz, NpzFile):
                arrays = {name: npz[name] for name in npz.files if only is None or name in only}
    except _NPZ_ERRORS as error:
        raise _damaged_npz(path, content, error) from None
    if not isinstance(npz, NpzFile):
        raise DataError(f"{path}: is not {content}")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise DataError(f"{path}: is not {content}: lacks {', '.join(missing)}")
    return arrays


def npz_headers(path: str | os.PathLike[str], content: str) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and type of the arrays of an npz file without reading the arrays.

    Args:
        path: the file.
        content: what the file should hold, for messages, such as "a split".

    Raises:
        DataError: the file is damaged or not npz.
    """
    headers = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as array:
                    np.lib.format.read_magic(array)
                    shape, _, kind = np.lib.format.read_array_header_1_0(array)
                    headers[name.removesuffix(".npy")] = shape, kind
    except _NPZ_ERRORS as error:
        raise _damaged_npz(path, content, error) from None
    return headers


def _damaged_npz(path: str | os.PathLike[str], content: str, error: Exception) -> DataError:
    return DataError(f"{path}: is not {content}, or is damaged: {reason(error)}; remove it, and run again")
