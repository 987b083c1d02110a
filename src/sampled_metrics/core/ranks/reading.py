"""Columns of ranks from files, tables and mappings. Errors name the file and the line."""

import gzip
import itertools
import os
import re
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from numbers import Number
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pandas as pd

from sampled_metrics.checks import check_label, check_labels, require_flags
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.core.data.labels import INDEX, counts_rows, has_labels, with_index
from sampled_metrics.core.data.tables import (
    SPACES,
    Csv,
    Rows,
    Text,
    joined,
    read_parquet,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.frames import (
    CONTENT,
    NAMES,
    RUNS,
    Columns,
    PerUser,
    are_lists,
    can_be_used,
    columns_of,
    plain,
)
from sampled_metrics.core.ranks.seeds import runs_of
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import ConfigError, DataError, printable, reason
from sampled_metrics.file_io import opened, path_text

MOST_COLUMNS = 64
"""Of a table with more columns, keep only those that are used."""

_NAMED = 34  # columns that a finding names: a sentence shows 100 letters

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

The last column of a run is its name, which tells apart those of a file that has several.
"""

SEPARATORS = ",;\t|"
"""Separators of fields that are noticed; the first one that the first line has is taken."""


def read_columns(
    path: str | os.PathLike[str], separator: str | None = None, names: Collection[str] = ()
) -> Columns:
    """Read a file of ranks: parquet if its name ends so, else csv, gzipped if the name ends in .gz.

    The first line of a csv file names the columns. A file without a header and with one number per
    line is a column of ranks. A TREC run has the columns user, item, score and run, and qrels user,
    item and relevance. Of a csv file with more than 64 columns, those with usual names and those of
    `names` are kept. The separator is noticed if it is a comma, a semicolon, a tab or a bar. Raises
    DataError if the file cannot be read as a table, or a large csv file has no column of ranks or
    items; the message names the line if there is one.
    """
    name = printable(path_text(path))
    if os.path.isdir(path):
        raise DataError(f"{name}: is a directory, not a csv file")
    if Path(path).suffix.lower() == ".sqlite":
        raise DataError(
            f"{name}: is no table; read_ranks reads staged ranks, and the command takes them as "
            "they are"
        )
    with _opened(path, name) as file:
        if Path(path).suffix.lower() == ".parquet":
            frame = with_index(read_parquet(file, name), name).reset_index(drop=True)
            return Columns(name, frame, lambda row: f"{name}, row {row + 1}", name)
        return read_stream(file, name, separator, names)


def read_labelled(path: str | os.PathLike[str]) -> Any:
    """Read the numbers of a parquet file as a frame, or as an array if it has no labels.

    The labels of an array are the texts 0, 1, 2, … as names of the columns, and no index.

    Raises DataError if the file cannot be read, or has no rows.
    """
    name = printable(path_text(path))
    with _opened(path, name) as file:
        frame = read_parquet(file, name)
    if not len(frame):
        raise DataError(f"{name}: has no rows")
    are_places = list(frame.columns) == [str(place) for place in range(frame.shape[1])]
    return frame.to_numpy() if are_places and counts_rows(frame.index) else frame


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


def read_standard_input(separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Read a csv table of ranks from standard input; otherwise as `read_columns`."""
    return read_stream(standard_input(), "stdin", separator, names)


def standard_input() -> BinaryIO:
    """Return standard input as bytes; raise DataError if it is closed."""
    if sys.stdin is None:
        raise DataError("stdin: is closed")
    return sys.stdin.buffer


def read_stream(
    stream: BinaryIO, name: str, separator: str | None = None, names: Collection[str] = ()
) -> Columns:
    """Read a csv table of ranks from an open binary stream; otherwise as `read_columns`."""
    try:
        return _read_csv(Text(stream, name), separator, names)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def _read_csv(text: Text, separator: str | None, names: Collection[str]) -> Columns:
    place = f"{text.name}, line {text.line}"
    first_line = text.block.split(b"\n", 1)[0].decode()
    if first_line.lstrip().startswith(("{", "[")):
        advice = _instead_of_json(text.name, first_line)
        raise DataError(f"{place}: is JSON, and tables are csv or parquet; {advice}")
    trec = _trec_columns(first_line) if separator is None else {}
    if trec:
        lines = Csv(text, SPACES, has_quotes=False)
        rows = lines.rows(trec, has_header=False)
        return _columns(rows, text.name, place)
    table = Csv(text, _noticed_separator(first_line) if separator is None else separator)
    if not any(table.header):
        raise DataError(
            f"{text.name}: is empty; ranks are a csv file with a column rank, or above and tied"
        )
    if len(table.header) == 1 and re.fullmatch(r"\s*[0-9]+\s*", table.header[0]):
        rows = table.rows({0: "rank"}, has_header=False)
        return _columns(rows, text.name, place)
    header = [column.strip() for column in table.header]
    is_wide = len(header) > MOST_COLUMNS
    has_content = any(column in names or can_be_used(column, CONTENT) for column in header)
    if not has_content and (is_wide or not text.is_last):  # a large file is not read in vain
        nothing = pd.DataFrame([[""] * len(header)], columns=header)
        # which raises DataError, with what to do
        Columns(text.name, nothing, str, place).require(*(names or ["rank"]))
    used = {
        position: column
        for position, column in enumerate(header)
        if not is_wide or _is_kept(column, position, names)
    }
    findings: tuple[Finding, ...] = ()
    if is_wide:
        unread = [column for position, column in enumerate(header) if position not in used]
        values = {
            "source": text.name,
            "unread": len(unread),
            "all": len(header),
            "columns": unread[:_NAMED],
        }
        findings = (Finding("columns-not-read", values=values),)
    rows = table.rows(used, has_header=True)
    return _columns(rows, text.name, place, findings)


def _trec_columns(first_line: str) -> dict[int, str]:
    """Return the columns of a file of TREC by their places, from its first line; else none."""
    for pattern, columns in _TREC.items():
        if re.fullmatch(pattern, first_line):
            return columns
    return {}


def _noticed_separator(first_line: str) -> str:
    """Return the separator of the fields of a csv file, from its first line."""
    unquoted = re.sub('"[^"]*"', "", first_line)
    return next((sign for sign in SEPARATORS if sign in unquoted), ",")


def _is_kept(column: str, position: int, names: Collection[str]) -> bool:
    """Return whether a column of a file with many columns is read."""
    is_index = column == INDEX and position == 0
    return is_index or column in names or can_be_used(column) or plain(column) in RUNS


def _instead_of_json(name: str, first_line: str) -> str:
    """Return what is read in place of a file of JSON, by its first line."""
    lines = ", lines=True" if first_line.lstrip().startswith("{") else ""
    if lines and re.search(r":\s*\[\s*\{", first_line):  # a session with a list of events
        return (
            "in Python, make a row of each of the nested objects, as "
            'pandas.json_normalize(objects, "events", "session") does, and give the table'
        )
    return f"in Python, give the table pandas.read_json({name!r}{lines})"


def _columns(
    parts: Iterable[Rows], name: str, header: str, findings: tuple[Finding, ...] = ()
) -> Columns:
    rows = list(parts)
    if not rows:
        raise DataError(f"{name}: has no rows")
    table = joined(rows)
    return Columns(name, table.frame, table.place, header, findings)


Kind = TypeVar("Kind", bound=Table)

UNNAMED = ""
"""Name of a recommender that has none."""

UNNAMED_TABLE = "ranks"
"""What messages call the table of a recommender without a name."""


Read = Columns | list[Columns] | dict[str, Columns | list[Columns]]
"""The columns of a recommender, or a list of those of its seeds, or either by recommender."""


def columns_by_recommender(
    ranks: Any,
    by: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    groups: str | None = None,
    seeds: str | None = None,
) -> Read:
    """Return the columns of a recommender, or of several by name.

    Parameters and errors are those of `exact_ranks`.
    """
    require_flags(zero_based=zero_based)
    labels = {"by": by, "groups": groups, "seeds": seeds}
    for option, label in labels.items():
        if label is not None:
            check_label(label, option)
    if by is not None and by == seeds:
        raise DataError(
            f"by and seeds name the same column, {by}; a column has the recommenders or their seeds"
        )
    rank_columns = [] if rank_column is None else check_labels(rank_column, "rank_column")
    is_wide = len(rank_columns) > 1
    names = {"rank": rank_columns[0]} if len(rank_columns) == 1 else {}
    kept = [*rank_columns, *(label for label in labels.values() if label is not None)]
    may_be_by = False
    parts: dict[str, Columns]
    if not is_table(ranks, rank_columns):
        if by is not None or is_wide:
            raise DataError(
                "by, and several of rank_column, are for one table that has the ranks of all "
                "recommenders"
            )
        parts = {
            name: columns_of_table(data, name, names=kept) for name, data in by_name(ranks).items()
        }
    else:
        columns = columns_of_table(ranks, "ranks", names=kept)
        if by is not None and is_wide:
            raise DataError(
                "by is for one column of ranks, and rank_column names several; give one of them"
            )
        if by is None and not is_wide:
            return runs_of(columns.named(names, zero_based, groups), seeds, may_be_by=True)
        parts = by_name(
            columns.by_rank_column(rank_columns) if by is None else columns.by_column(by)
        )
    return {
        name: runs_of(part.named(names, zero_based, groups), seeds, may_be_by)
        for name, part in parts.items()
    }


def named_parts(columns: Read) -> list[tuple[str, Columns]]:
    """Return the columns of each seed of each recommender, in order, with its name for messages."""
    by_recommender = columns if isinstance(columns, dict) else {UNNAMED_TABLE: columns}
    return [
        (f"{name}, seed {part.seed_name}" if part.seed_name else name, part)
        for name, parts in by_recommender.items()
        for part in (parts if isinstance(parts, list) else [parts])
    ]


def require_effect(
    option: str, columns: Read, has_effect: Callable[[Columns], bool], why: str
) -> None:
    """Raise ConfigError if an option that the caller named has an effect on no table.

    `why` says in words why it has none.
    """
    if not any(has_effect(part) for _, part in named_parts(columns)):
        raise ConfigError(f"{option} (--{option.replace('_', '-')}): {why}; leave it out")


def has_counts(columns: Columns) -> bool:
    """Return whether a table has the columns above and tied in place of ranks."""
    return "above" in columns and "rank" not in columns


def tables_of(
    columns: Read, table_of: Callable[[Columns, str], Kind], per_user: Sequence[PerUser | None] = ()
) -> Kind | list[Kind] | dict[str, Kind | list[Kind]]:
    """Return the table of a recommender, or a list of those of its seeds, or either by recommender.

    `table_of` makes one from columns and a name. Raises DataError if numbers are given `per_user`,
    in the order of the ranks and not by labels, and tables differ in their order.
    """
    tables = [(name, table_of(part, name)) for name, part in named_parts(columns)]
    are_in_order_of_ranks = any(
        numbers is not None and np.size(numbers) > 1 and not has_labels(numbers)
        for numbers in per_user
    )
    if are_in_order_of_ranks:
        known = [(name, table.user) for name, table in tables if table.user is not None]
        for (name_a, users_a), (name_b, users_b) in itertools.pairwise(known):
            if not np.array_equal(users_a, users_b):
                raise DataError(
                    f"{name_a} and {name_b} have their users in different orders, so candidates "
                    "and negatives that differ by user must be columns of both, not arguments"
                )
    in_turn = iter([table for _, table in tables])

    def next_tables(parts: Columns | list[Columns]) -> Kind | list[Kind]:
        return [next(in_turn) for _ in parts] if isinstance(parts, list) else next(in_turn)

    if isinstance(columns, dict):
        return {name: next_tables(parts) for name, parts in columns.items()}
    return next_tables(columns)


def is_table(ranks: Any, rank_columns: Sequence[str]) -> bool:
    """Return whether ranks are a table of columns, and not a mapping from recommenders to ranks.

    A mapping is a table if a name that a column of ranks may have, such as rank, position, above or
    one of `rank_columns`, has numbers: those of a list or a one-dimensional array. Ranked lists,
    {user: {item: score}}, are a table, too, and so are columns of users, items and scores.
    """
    if not isinstance(ranks, Mapping) or (ranks and are_lists(ranks)):
        return True
    if all(
        any(plain(name) in NAMES[column] for name in ranks) for column in ("user", "item", "score")
    ):
        return True
    usual = NAMES["rank"] | NAMES["above"]
    named = [
        values for name, values in ranks.items() if plain(name) in usual or name in rank_columns
    ]
    return any(map(_are_numbers, named))


def _are_numbers(values: Any) -> bool:
    """Return whether these are a one-dimensional array, or a list of numbers."""
    if len(getattr(values, "shape", ())) == 1:
        return True
    return isinstance(values, list | tuple) and all(isinstance(cell, Number) for cell in values)


def by_name(ranks: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping from names as printable text.

    Raises DataError if it is empty, or a name is empty or repeated.
    """
    names = [printable(name) for name in as_text(pd.Series([*ranks], dtype=object))]
    if not names:
        raise DataError("there are no ranks")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(
            f"ranks: two recommenders are called {repeated[0]!r}; give each a name of its own"
        )
    if not all(names):
        raise DataError("ranks: the name of a recommender is empty")
    return dict(zip(names, ranks.values(), strict=True))


def columns_of_table(
    data: Any, name: str, number: str = "score", names: Collection[str] = ()
) -> Columns:
    """Return the columns of a table, a file or ranks alone.

    Parameters and errors are those of `columns_of`.

    Of a csv file with many columns, those of `names` are kept, as in `read_columns`.
    """
    if isinstance(data, Table):
        raise DataError(f"{name}: is {type(data).__name__} already, which is not read again")
    if isinstance(data, str | os.PathLike):
        return read_columns(data, names=names)
    return columns_of(data, name, number)
