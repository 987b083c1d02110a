"""Files of models and of interactions: arrays as npy, npz, csv or parquet, users and items as csv or parquet."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from sampled_metrics import _files
from sampled_metrics._arrays import Ints
from sampled_metrics.errors import ConfigError, DataError, WriteError, reason
from sampled_metrics.ranking.held_out import matrix_of
from sampled_metrics.ranks.csv import read_columns
from sampled_metrics.ranks.frames import Columns


def read_array(path: str) -> Any:
    """Read an array: npy, npz with a single array or a sparse matrix of SciPy, or the numbers of parquet or csv.

    A csv file has no header. What is missing in it is NaN.

    Raises:
        DataError: the file cannot be read, or holds something else.
    """
    kind = Path(path).suffix
    if kind == ".parquet":
        return read_columns(path).frame.to_numpy()
    if kind not in (".npy", ".npz", ".csv"):
        raise DataError(f"{path}: an array is a file whose name ends in .npy, .npz, .csv or .parquet")
    try:
        if kind == ".csv":
            return pd.read_csv(path, header=None, dtype=np.float64).to_numpy()
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


def read_pairs(path: str) -> Columns | Any:
    """Read users and items: a table from csv or parquet, or a (users, items) matrix from npy or npz.

    Raises:
        DataError: the file cannot be read; the message names the line if there is one.
    """
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
        return np.array(Path(path).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as text with an id on each line: {reason(error)}") from None


class NpyRows:
    """The rows of a file of factors, (rows, d), as npy.

    The file is mapped into memory only while rows are read, so that those that were read do not stay in memory.

    Raises:
        DataError: the file is no such array.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        mapped = self._mapped()
        self.shape, self.dtype = mapped.shape, mapped.dtype
        if len(self.shape) != 2 or 0 in self.shape or self.dtype.kind not in "biuf":
            raise DataError(
                f"{path}: factors are a row of numbers for each user or item, not {self.dtype} of {self.shape}"
            )

    def __getitem__(self, rows: slice | Ints) -> NDArray[Any]:
        return np.array(self._mapped()[rows])

    def _mapped(self) -> NDArray[Any]:
        try:
            return np.load(self._path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"{self._path}: cannot be read as npy: {reason(error)}") from None


def factors_as_npy(path: str, npy: Path) -> str:
    """Return the path of factors as npy: the file itself, or a copy of parquet, made a row group at a time.

    Raises:
        DataError: the file cannot be read, or holds something else.
        ConfigError: parquet needs pyarrow.
    """
    if Path(path).suffix not in (".npy", ".parquet"):
        raise DataError(f"{path}: factors that are ranked in parts are a file whose name ends in .npy or .parquet")
    if Path(path).suffix == ".npy":
        return path
    if npy.exists():
        return str(npy)
    with _parquet(path):
        from pyarrow import parquet

        file = parquet.ParquetFile(path, memory_map=True)
        schema = file.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])  # an index of a DataFrame is no factor
        names = [name for name in schema.names if name not in index]
        kind = np.dtype(np.float32 if {str(schema.field(name).type) for name in names} == {"float"} else np.float64)
        header = {
            "descr": np.lib.format.dtype_to_descr(kind),
            "fortran_order": False,
            "shape": (file.metadata.num_rows, len(names)),
        }
        with _files.atomic_write(npy) as temporary, open(temporary, "wb") as copy:
            np.lib.format.write_array_header_1_0(copy, header)
            for group in range(file.num_row_groups):
                columns = file.read_row_group(group, names, use_threads=False).columns
                np.column_stack([column.to_numpy() for column in columns]).astype(kind).tofile(copy)
    return str(npy)


@contextmanager
def _parquet(path: str) -> Iterator[None]:
    """Raise DataError where pyarrow cannot read a file, and ConfigError if it is not installed."""
    try:
        yield
    except ImportError:
        raise ConfigError(f"{path}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'") from None
    except (DataError, WriteError):
        raise
    except (OSError, TypeError, ValueError, NotImplementedError) as error:  # pyarrow's errors are of these kinds
        raise DataError(f"{path}: cannot be read as parquet: {reason(error)}") from None


@dataclass(frozen=True)
class PairsFile:
    """A parquet file, or a folder of them, with whole numbers in the columns user and item, as it is read by users.

    Only the row groups with these users are read, if the file is sorted by user.
    """

    path: str

    def check(self, users: int, items: int) -> None:
        """Raise DataError if the file has no rows, or a pair that is not below (users, items)."""
        with _parquet(self.path):
            from pyarrow import types

            field, dataset = self._open()
            kinds = {each.name: each.type for each in dataset.schema if each.name in ("user", "item")}
            if len(kinds) < 2 or not all(map(types.is_integer, kinds.values())):
                shown = {name: str(kind) for name, kind in kinds.items()}
                raise DataError(
                    f"{self.path}: must have columns user and item, the rows of their factors from 0, not {shown}"
                )
            user, item = field("user"), field("item")
            wrong = (user < 0) | (user >= users) | user.is_null() | (item < 0) | (item >= items) | item.is_null()
            for row in dataset.head(1, columns=["user", "item"], filter=wrong).to_pylist():
                raise DataError(
                    f"{self.path}: user {row['user']} with item {row['item']}: they must be rows of the factors, from "
                    f"0 to {users - 1} and from 0 to {items - 1}"
                )
            if not dataset.count_rows():
                raise DataError(f"{self.path}: has no rows")

    def read(self, first: int, last: int, items: int) -> csr_array:
        """Return the (last - first, items) matrix of the users from first to below last."""
        with _parquet(self.path):
            field, dataset = self._open()
            rows = (field("user") >= first) & (field("user") < last)
            table = dataset.to_table(columns=["user", "item"], filter=rows, use_threads=False)
        user, item = (table[name].to_numpy().astype(np.int64) for name in ("user", "item"))
        return matrix_of(user - first, item, (last - first, items))

    def _open(self) -> tuple[Any, Any]:
        from pyarrow import dataset

        return dataset.field, dataset.dataset(self.path, format="parquet")
