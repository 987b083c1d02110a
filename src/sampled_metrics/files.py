"""Writing files that appear whole or not at all, and the same bytes for the same content."""

import gzip
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`, with the same ending, renamed to `path` when the block ends well."""
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".{os.getpid()}.{final.name}")
    try:
        yield temporary
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


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
    """Return shape and type of the arrays that `write_npz` wrote, without reading them."""
    headers = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as array:
                np.lib.format.read_magic(array)
                shape, _, kind = np.lib.format.read_array_header_1_0(array)
                headers[name.removesuffix(".npy")] = shape, kind
    return headers
