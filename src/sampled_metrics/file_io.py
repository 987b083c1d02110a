"""Read and write files: atomic writes, the same bytes for the same content, and npz files."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from sampled_metrics.checks import shown
from sampled_metrics.errors import (
    ConfigError,
    DataError,
    SampledMetricsError,
    WriteError,
    printable,
    reason,
)

if TYPE_CHECKING:
    import pandas as pd

_TEMPORARY = ".sampled-metrics-unfinished"
"""Part of the name of a temporary file, between `.PROCESS-RANDOM` and the ending."""


_TEMPORARY_NAME = re.compile(
    rf"\.([0-9]+)-[0-9a-f]{{8}}{re.escape(_TEMPORARY)}(\..*)?", flags=re.DOTALL
)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path, and rename it to `path` when the block succeeds.

    The temporary path is in the folder of `path`, with the same ending.

    A symbolic link stays and its target is replaced. A file that exists keeps its mode. No other
    process or thread has the same temporary path.

    Raises:
        WriteError: `path` is not a regular file, is read-only, or cannot be written, for example
            because the disk is full.
    """
    final = _final(path)
    temporary = final.with_name(f".{os.getpid()}-{secrets.token_hex(4)}{_TEMPORARY}{final.suffix}")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        if final.exists():
            temporary.touch(mode=0o600)  # nobody else reads a private file while it is written
        yield temporary
        if final.exists():
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except OSError as error:
        raise WriteError(f"{os.fspath(path)}: cannot be written: {reason(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _final(path: str | os.PathLike[str]) -> Path:
    """Return the file that is written in place of a path, which may be a link.

    Raises:
        WriteError: it is no path, not a regular file, or read-only.
    """
    name = path_text(path, "a file to write", WriteError)
    try:
        final = os.path.realpath(name)
        mode = os.stat(final).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except ValueError as error:  # of signs that no path has
        raise WriteError(f"{name}: cannot be written: {reason(error)}") from None
    except OSError as error:
        if not os.path.islink(final):  # a link remains of a circle of links
            raise WriteError(f"{name}: cannot be written: {reason(error)}") from None
        mode = 0
    if name.endswith(os.sep) or (mode is not None and not stat.S_ISREG(mode)):
        raise WriteError(f"{name}: is not a regular file, and only a regular file is written")
    # root may write all files
    if mode is not None and (not mode & 0o222 or not os.access(final, os.W_OK)):
        raise WriteError(f"{name}: is read-only, and is not replaced")
    return Path(final)


def path_text(path: Any, what: str = "a file", error: type[SampledMetricsError] = DataError) -> str:
    """Return a path as text.

    Args:
        path: the path.
        what: what it is the path of, for messages.
        error: the error to raise.

    Raises:
        error: it is no path, or is empty.
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise error(f"the path of {what} must be text or a Path, not {shown(path)}")
    name = os.fspath(path)
    if not name:
        raise error(f"the name of {what} is empty")
    return name


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file of a user, open for reading as bytes.

    Every path of a user is opened here, and libraries get the open file: given a path, some of them
    fetch addresses, such as those that begin with http: or s3:, or unpack what a name says is
    packed. A path that begins with ~ is in the home of the user, as in a shell, unless a file has
    this name.

    Raises:
        DataError: it is no path, there is no such file, it is a directory, or it cannot be read.
    """
    name = printable(path_text(path))
    place = path if os.path.exists(path) else os.path.expanduser(path)
    try:
        file = open(place, "rb")  # noqa: SIM115  # an error in the block is not one of opening
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError of signs that no path has
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
    with file:
        yield file


@contextmanager
def reading(name: str, what: str = "cannot be read", then: str = "") -> Iterator[None]:
    """Raise DataError in place of any error of a library that reads a file in this block.

    Files may be damaged on purpose, and libraries raise errors of many types then, such as KeyError
    and RuntimeError.

    Args:
        name: of the file, for messages.
        what: what is wrong with it.
        then: what to do about it.

    Raises:
        DataError: the file cannot be read, or does not fit into the memory.
    """
    try:
        yield
    except SampledMetricsError:
        raise
    except (MemoryError, OverflowError) as error:
        raise DataError(f"{name}: does not fit into the memory: {reason(error)}") from None
    except Exception as error:
        raise DataError(f"{name}: {what}: {reason(error)}{then}") from None


def require_writable(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Check that a requested file can be written, before its content is computed.

    Args:
        path: the file.
        inputs: the files that are read for it; names that are not those of files are passed over.

    Raises:
        WriteError: its folder does not exist or cannot be written, it is not a regular file, is
            read-only, or is one of the inputs, maybe by a link.
    """
    final = _final(path)
    name = os.fspath(path)
    folder = final.parent
    if not folder.is_dir():
        raise WriteError(
            f"{name}: there is no folder {shown(os.path.dirname(path))}; make it first"
        )
    if not os.access(folder, os.W_OK):
        raise WriteError(f"{name}: the folder {shown(os.path.dirname(path) or '.')} is read-only")
    for source in inputs:
        with suppress(OSError, ValueError):  # it is no file, and whoever reads it says so
            if os.path.samefile(final, source):
                raise WriteError(
                    f"{name}: is the same file as the input {os.fspath(source)}; write another one"
                )


def remove_leftovers(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Remove temporary files of `atomic_write` whose process was killed, where they can be removed.

    Args:
        folders: the folders of files that were written, without the folders in them.
    """
    for folder in folders:
        for path in Path(folder).glob(f".*{_TEMPORARY}*"):
            name = _TEMPORARY_NAME.fullmatch(path.name)
            if name is None or not path.is_file() or path.is_symlink():
                continue
            if not _is_running(process=int(name[1])):
                with suppress(OSError):
                    path.unlink()


def _is_running(process: int) -> bool:
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
        temporary.write_text(
            text if text.endswith("\n") else text + "\n", "utf-8", "backslashreplace", "\n"
        )


def digest(path: str | os.PathLike[str], algorithm: str) -> str:
    """Return a checksum of a file in hexadecimal.

    The algorithm is a name in hashlib, such as sha256.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write indented JSON."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False))


def write_csv(path: str | os.PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as csv, gzipped if the name ends in .gz.

    The same table gives the same bytes.
    """
    path = path_text(path, "a file to write", WriteError)
    text = table.to_csv(index=False, lineterminator="\n").encode(errors="backslashreplace")
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
        raise ConfigError(
            f"{os.fspath(path)}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'"
        )


def write_table(path: str | os.PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as parquet if the name ends so, else as csv.

    Raises:
        ConfigError: parquet needs pyarrow, which is not installed.
    """
    path = path_text(path, "a file to write", WriteError)
    if Path(path).suffix != ".parquet":
        write_csv(path, table)
        return
    require_parquet(path)
    with atomic_write(path) as temporary:
        try:
            table.to_parquet(temporary, engine="pyarrow", index=False)
        except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
            # as of ids of several types
            raise WriteError(
                f"{path}: parquet cannot hold it: {reason(error)}; write csv"
            ) from None


def write_npz(path: str | os.PathLike[str], **arrays: np.ndarray) -> None:
    """Write named arrays.

    Raises:
        ValueError: an array has Python objects, which would be pickled.
    """
    pickled = [name for name, array in arrays.items() if array.dtype.hasobject]
    if pickled:
        raise ValueError(f"{path}: the array {pickled[0]} has Python objects")
    with atomic_write(path) as temporary:
        # for older versions of numpy, allow_pickle would be the name of an array
        np.savez(temporary, **arrays)  # type: ignore[arg-type]


def read_npz(
    path: str | os.PathLike[str],
    content: str,
    names: Sequence[str] = (),
    *,
    only: Sequence[str] | None = None,
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
    with (
        reading(os.fspath(path), f"is not {content}, or is damaged", "; remove it, and run again"),
        opened(path) as file,  # np.load leaves a damaged file open
    ):
        npz = np.load(file, allow_pickle=False)
        arrays: dict[str, NDArray[Any]] = {}
        if isinstance(npz, NpzFile):
            arrays = {name: npz[name] for name in npz.files if only is None or name in only}
    if not isinstance(npz, NpzFile):
        raise DataError(f"{path}: is not {content}")
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise DataError(f"{path}: is not {content}: {shown(name)} is not an array")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise DataError(f"{path}: is not {content}: lacks {', '.join(missing)}")
    return arrays
