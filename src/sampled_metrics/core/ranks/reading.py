"""Tables of ranks from files, data frames and mappings. Errors name the file and the line."""

import glob
import gzip
import itertools
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pandas as pd

from sampled_metrics.checks import check_label, check_labels, require_flags
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.data.labels import with_index
from sampled_metrics.core.data.tables import SPACES, Csv, Text, joined, read_parquet
from sampled_metrics.core.ranks.frames import (
    NAMES,
    Columns,
    PerUser,
    are_lists,
    columns_of,
    plain,
)
from sampled_metrics.core.ranks.lookup import is_by_row
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import DataError, printable, reason
from sampled_metrics.file_io import opened, path_text

_TREC = {
    r"\S+[ \t]+(Q0|0)[ \t]+\S+[ \t]+[0-9]+[ \t]+\S+[ \t]+\S+\s*": {
        0: "user",
        2: "item",
        4: "score",
        5: "run",
    },
    r"\S+[ \t]+(Q0|0)[ \t]+\S+[ \t]+\S+\s*": {0: "user", 2: "item", 3: "relevance"},
}
"""Patterns of the first line of a TREC run and of qrels, and the places of their columns.

The scores order a run.
"""

SEPARATORS = ",;\t|"
"""Separators of fields that are noticed; the first one that the first line has is taken."""

UNNAMED = ""
"""Name of a recommender that has none."""

UNNAMED_TABLE = "ranks"
"""What messages call the table of a recommender without a name."""

Kind = TypeVar("Kind", bound=Table)


# --- files --------------------------------------------------------------------------------------


def read_columns(path: str | os.PathLike[str], separator: str | None = None) -> Columns:
    """Read a file of ranks: parquet, or csv, which is gzipped if the name ends in .gz.

    A folder, or a pattern such as ``ranks/*.parquet``, is read as its parquet files. The first line
    of a csv file names the columns. A file without a header and with one number per line is a
    column of ranks. A TREC run has the columns user, item, score and run, and qrels user, item and
    relevance. The separator is found if it is a comma, a semicolon, a tab or a bar. Raises
    DataError if the file cannot be read as a table; the message names the line if there is one.
    """
    name = printable(path_text(path))
    is_folder = os.path.isdir(path)
    if is_folder or (glob.has_magic(name) and not os.path.exists(path)):
        pattern = os.path.join(glob.escape(name), "*.parquet") if is_folder else name
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise DataError(f"{name}: has no parquet files")
        frames = [read_columns(part_path).frame for part_path in paths]
        frame = pd.concat(frames, ignore_index=True)
        return Columns(name, frame, lambda row: f"{name}, row {row + 1}")
    if Path(path).suffix == ".npz":
        raise DataError(f"{name}: is not a table; read_ranks reads staged ranks from npz")
    with _opened(path, name) as file:
        if Path(path).suffix.lower() == ".parquet":
            frame = with_index(read_parquet(file, name), name)
            frame = frame.reset_index(drop=True)
            return Columns(name, frame, lambda row: f"{name}, row {row + 1}")
        return read_stream(file, name, separator)


@contextmanager
def _opened(path: str | os.PathLike[str], name: str) -> Iterator[Any]:
    """Open a file for bytes; raise DataError if it cannot be read."""
    try:
        with (
            opened(path) as packed,
            gzip.open(packed) if Path(path).suffix == ".gz" else nullcontext(packed) as file,
        ):
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def read_standard_input(separator: str | None = None) -> Columns:
    """Read a csv table of ranks from standard input; otherwise as `read_columns`."""
    return read_stream(standard_input(), "stdin", separator)


def standard_input() -> BinaryIO:
    """Return standard input as bytes; raise DataError if it is closed."""
    if sys.stdin is None:
        raise DataError("stdin: is closed")
    return sys.stdin.buffer


def read_stream(stream: BinaryIO, name: str, separator: str | None = None) -> Columns:
    """Read a csv table of ranks from an open binary stream; otherwise as `read_columns`."""
    try:
        text = Text(stream, name)
        first_line = text.block.partition(b"\n")[0].decode(errors="ignore")
        if first_line.lstrip().startswith(("{", "[")):
            raise DataError(
                f"{name}, line 1: is JSON, and tables are csv or parquet; in Python, give the "
                f"table that pandas.read_json returns"
            )
        if separator is None:
            for pattern, names in _TREC.items():
                if re.fullmatch(pattern, first_line):
                    return _columns_of_csv(
                        Csv(text, SPACES, has_quotes=False), name, names, has_header=False
                    )
        csv = Csv(text, _noticed_separator(first_line) if separator is None else separator)
        if re.fullmatch(r"\s*[0-9]+\s*", first_line):
            return _columns_of_csv(csv, name, {0: "rank"}, has_header=False)
        names = dict(enumerate(column.strip() for column in csv.header))
        return _columns_of_csv(csv, name, names, has_header=True)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def _noticed_separator(first_line: str) -> str:
    """Return the separator of the fields of a csv file."""
    unquoted = re.sub('"[^"]*"', "", first_line)
    return next((separator for separator in SEPARATORS if separator in unquoted), ",")


def _columns_of_csv(csv: Csv, name: str, names: Mapping[int, str], has_header: bool) -> Columns:
    blocks = list(csv.rows(names, has_header=has_header))
    if not blocks:
        raise DataError(f"{name}: has no rows")
    rows = joined(blocks)
    return Columns(name, rows.frame, rows.location)


# --- tables -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where a table has its recommenders, seeds and columns.

    Attributes:
        content: the columns of which a dict of columns has one; the keys of other dicts are
            recommenders.
        by: the column of the recommenders; None if there is none.
        seeds: the column of the seeds, likewise.
        groups: the column of the groups, likewise.
        names: the names of other columns, by what they are.
        rank_columns: the columns of ranks of a single recommender, or of several.
        zero_based: whether ranks start at 0.
    """

    content: tuple[str, ...]
    by: str | None
    seeds: str | None
    groups: str | None
    names: Mapping[str, str]
    rank_columns: Sequence[str]
    zero_based: bool

    @classmethod
    def of(
        cls,
        content: tuple[str, ...],
        *,
        rank_column: str | Sequence[str] | None,
        by: str | None,
        seeds: str | None,
        zero_based: bool,
        groups: str | None = None,
        **columns: str | None,
    ) -> "Layout":
        """Return the layout that a caller of a reader gives, with its options by their names.

        Raises ConfigError if the name of a column is not text, or a flag is not True or False.
        """
        require_flags(zero_based=zero_based)
        for option, label in {"by": by, "seeds": seeds, "groups": groups, **columns}.items():
            if label is not None:
                check_label(label, option)
        names = {
            option.removesuffix("_column"): label
            for option, label in columns.items()
            if label is not None
        }
        rank_columns = [] if rank_column is None else check_labels(rank_column, "rank_column")
        if by is not None and len(rank_columns) > 1:
            raise DataError("by is for one rank_column, and there are several")
        return cls(content, by, seeds, groups, names, rank_columns, zero_based)

    def sources(self, data: Any) -> dict[str, list[Columns]]:
        """Return the columns of the seeds of each recommender, by name.

        A recommender without a name is called `UNNAMED`.

        Raises:
            DataError: a table or a file cannot be read, or lacks a column that was named.
        """
        is_of_several = self.by is not None or len(self.rank_columns) > 1
        tables: dict[str, Any]
        if isinstance(data, Mapping) and not self._is_table(data):
            if is_of_several:
                raise DataError(
                    "by, and several of rank_column, are for one table with all recommenders"
                )
            tables = by_name(data)
        elif not is_of_several:
            tables = {UNNAMED: data}
        else:
            columns = source_of(data, UNNAMED_TABLE)
            if self.by is None:
                tables = by_name(columns.by_rank_column(self.rank_columns))
            else:
                tables = by_name(columns.by(self.by))
        sources = {}
        for name, table in tables.items():
            is_list_of_seeds = isinstance(table, list) and all(
                isinstance(seed, Columns) for seed in table
            )
            seeds = table if is_list_of_seeds and table else [table]
            sources[name] = [
                seed_columns for seed in seeds for seed_columns in self._seeds(seed, name)
            ]
        return sources

    def _is_table(self, data: Mapping[Any, Any]) -> bool:
        """Return whether a mapping has columns, and not recommenders."""
        if data and are_lists(data):
            return True
        known = {*self.rank_columns, *self.names.values()}
        for name, values in data.items():
            is_known = name in known or any(plain(name) in NAMES[kind] for kind in self.content)
            if is_known and np.ndim(values) == 1:
                return True
        return False

    def _seeds(self, data: Any, name: str) -> list[Columns]:
        columns = source_of(data, name or UNNAMED_TABLE)
        by_seed = [columns] if self.seeds is None else columns.by_seed(self.seeds)
        names = dict(self.names)
        if self.rank_columns:
            names["rank"] = name if len(self.rank_columns) > 1 else self.rank_columns[0]
        return [seed_columns.named(names, self.zero_based, self.groups) for seed_columns in by_seed]


def tables_of(
    data: Any,
    layout: Layout,
    table_of: Callable[[Columns], Kind],
    per_user: Sequence[PerUser | None] = (),
) -> Kind | list[Kind] | dict[str, Kind | list[Kind]]:
    """Return the table of a recommender, or a list with one for each seed, or either by name.

    `table_of` makes a table from columns. Raises DataError if numbers are given `per_user`, in the
    order of the rows, and tables differ in their order.
    """
    tables = {
        name: [table_of(columns) for columns in seeds]
        for name, seeds in layout.sources(data).items()
    }
    if any(is_by_row(sizes) for sizes in per_user):
        users = [table.user for seeds in tables.values() for table in seeds]
        known = [rows for rows in users if rows is not None]
        if not all(np.array_equal(rows, later) for rows, later in itertools.pairwise(known)):
            raise DataError(
                "the tables have their users in different orders, so candidates and negatives that "
                "differ by user must be columns, or by user, not arrays"
            )
    read = {name: seeds[0] if len(seeds) == 1 else seeds for name, seeds in tables.items()}
    return read[UNNAMED] if [*read] == [UNNAMED] else read


def source_of(data: Any, name: str, value_name: str = "score") -> Columns:
    """Return the columns of a table, a file or ranks alone, as `columns_of` does."""
    if isinstance(data, Table):
        raise DataError(f"{name}: is {type(data).__name__} already, which is not read again")
    if isinstance(data, str | os.PathLike):
        return read_columns(data)
    return columns_of(data, name, value_name)


def by_name(ranks: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping from names as printable text.

    Raises DataError if it is empty, or a name is empty or repeated.
    """
    names = [printable(name) for name in as_text(pd.Series([*ranks], dtype=object))]
    if not names:
        raise DataError("there are no ranks")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(
            f"ranks: two recommenders are called {repeated[0]!r}; give them different names"
        )
    if not all(names):
        raise DataError("ranks: the name of a recommender is empty")
    return dict(zip(names, ranks.values(), strict=True))
