"""Files of staged ranks: npz, an array for each column, and what the ranks describe as JSON.

A zip file has a checksum of each array, so that a damaged file is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from sampled_metrics import file_io
from sampled_metrics.core.data.ids import as_text, column_of
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.file_io import path_text

RUN = "staged_ranks"
"""The name of the array that has k, depth, seed, digests and the date of the run, as JSON."""


def require_ending(path: str | os.PathLike[str]) -> None:
    """Raise ConfigError unless the name of a file ends in .npz."""
    name = path_text(path)
    if Path(name).suffix != ".npz":
        raise ConfigError(
            f"{name}: the name of a file of staged ranks must end in .npz; earlier versions wrote "
            ".parquet and .sqlite, which are not read"
        )


def write(
    path: str | os.PathLike[str], columns: Mapping[str, NDArray[Any]], run: Mapping[str, Any]
) -> None:
    """Write columns of staged ranks, and what tells their run from others.

    Ids that are no numbers are written as text.

    Raises:
        ConfigError: the name of the file does not end in .npz.
        WriteError: the file cannot be written.
    """
    require_ending(path)
    arrays = {name: _storable(column) for name, column in columns.items()}
    file_io.write_npz(path, **arrays, **{RUN: np.array(json.dumps(run))})


def _storable(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as numbers or text."""
    if column.dtype.kind in "biuf":
        return column
    return as_text(column_of(column)).to_numpy(dtype=str)


def is_staged(path: str) -> bool:
    """Return whether a file has staged ranks."""
    if Path(path).suffix != ".npz":
        return False
    try:
        with file_io.opened(path) as file, ZipFile(file) as archive:
            return f"{RUN}.npy" in archive.namelist()
    except Exception:  # whatever a damaged file raises
        return False


def read(
    path: str | os.PathLike[str], names: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the columns of staged ranks, and what tells their run from others.

    Args:
        path: the file.
        names: the columns.

    Raises:
        ConfigError: the name of the file does not end in .npz.
        DataError: the file has no staged ranks, or is damaged.
    """
    require_ending(path)
    name = os.fspath(path)
    what = "a file of staged ranks"
    with file_io.opened(path) as file, file_io.reading(name, f"is not {what}, or is damaged"):
        damaged = ZipFile(file).testzip()  # an array whose length is damaged is not read to its end
    if damaged is not None:
        raise DataError(f"{name}: is damaged: the checksum of {damaged} does not match")
    columns: dict[str, Any] = file_io.read_npz(path, what, [*names, RUN])
    return columns, json.loads(str(columns.pop(RUN)))
