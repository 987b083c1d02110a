"""Files of models and of interactions: arrays as npy, npz, csv or parquet, users and items as csv or parquet.

Users, items and ids may be standard input, called -.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import load_npz

from sampled_metrics import _files
from sampled_metrics.errors import DataError, reason
from sampled_metrics.ranks.files import read_columns, read_standard_input, standard_input
from sampled_metrics.ranks.frames import Columns


def read_array(path: str) -> Any:
    """Read an array: npy, npz with a single array or a sparse matrix of SciPy, or the numbers of parquet or csv.

    A csv file has no header, and missing entries are NaN.

    Raises:
        DataError: the file cannot be read, or does not hold one array; or the first line of a csv file is 0, 1, 2, …,
            as pandas writes the names of columns.
    """
    kind = Path(path).suffix
    if kind == ".parquet":
        return read_columns(path).frame.to_numpy()
    if kind not in (".npy", ".npz", ".csv"):
        raise DataError(f"{path}: an array is a file whose name ends in .npy, .npz, .csv or .parquet")
    try:
        if kind == ".csv":
            return _without_header(path, pd.read_csv(path, header=None, dtype=np.float64).to_numpy())
        if kind == ".npy":
            return np.load(path, allow_pickle=False)
        arrays = _files.read_npz(path, "an array")
        if "format" in arrays:
            return load_npz(path)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: cannot be read as an array: {reason(error)}") from None
    if len(arrays) != 1:
        raise DataError(f"{path}: must hold one array, not {len(arrays)} ({', '.join(arrays):.200})")
    return next(iter(arrays.values()))


def _without_header(path: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers of a csv file, unless the first line has names of columns, which would move all rows."""
    rows, columns = array.shape
    if rows > 1 and columns > 1 and np.array_equal(array[0], np.arange(columns)):
        raise DataError(
            f"{path}, line 1: has 0 to {columns - 1}, the names of columns, so that each row would count for the user "
            "or item before it; write the numbers alone, as to_csv(index=False, header=False) does"
        )
    return array


def read_pairs(path: str) -> Columns | Any:
    """Read users and items: a table from csv or parquet, or a (users, items) matrix from npy or npz.

    Raises:
        DataError: the file cannot be read; the message names the line if there is one.
    """
    if path == "-":
        return read_standard_input()
    return read_array(path) if Path(path).suffix in (".npy", ".npz") else read_columns(path)


def read_ids(path: str) -> NDArray[Any]:
    """Read ids from npy, or from text with an id on each line.

    Raises:
        DataError: the file cannot be read.
    """
    if Path(path).suffix == ".npy":
        ids: NDArray[Any] = read_array(path)
        return ids
    try:
        content = standard_input().read(-1) if path == "-" else Path(path).read_bytes()
        return np.array(content.decode().splitlines())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as text with an id on each line: {reason(error)}") from None
