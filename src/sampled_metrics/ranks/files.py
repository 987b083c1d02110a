"""Files of ranks, csv or parquet, as columns. Errors name the file and the line."""

import gzip
import os
import re
import sys
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

from sampled_metrics._files import path_text
from sampled_metrics.data.tables import SPACES, Csv, Rows, joined, parquet_rows
from sampled_metrics.data.text import LONGEST_LINE, Readable, Text
from sampled_metrics.errors import DataError, printable, reason
from sampled_metrics.ranks.frames import CONTENT, Columns, can_be_used

MOST_COLUMNS = 64
"""Of a table with more columns, keep only those that are used."""

_TREC = {
    r"\S+[ \t]+(Q0|0)[ \t]+\S+[ \t]+[0-9]+[ \t]+[-+.0-9eE]+[ \t]+\S+\s*": {0: "user", 2: "item", 4: "score"},
    r"\S+[ \t]+(Q0|0)[ \t]+\S+[ \t]+-?[0-9]+\s*": {0: "user", 2: "item", 3: "relevance"},
}
"""Patterns of the first line of a TREC run and of qrels, and the places of their columns. The scores order a run."""

SEPARATORS = ",;\t|"
"""Separators of fields that are noticed; the first one that the first line has is taken."""


def read_columns(path: str | os.PathLike[str], separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Read a file of ranks: parquet if its name ends so, else csv, gzipped if the name ends in .gz.

    The first line of a csv file names the columns. A file without a header and with one number per line is a column of
    ranks. A TREC run has the columns user, item and score, and qrels user, item and relevance. Of a csv file with more
    than 64 columns, those with usual names are kept.

    Args:
        path: the file.
        separator: between the fields of a line; it is noticed if it is a comma, a semicolon, a tab or a bar.
        names: columns of a csv file that are kept besides those with usual names.

    Raises:
        DataError: the file cannot be read as a table, or a large csv file has no column of ranks or items; the message
            names the line if there is one.
    """
    name = printable(path_text(path))
    if os.path.isdir(path):
        raise DataError(f"{name}: is a directory, not a csv file")
    if Path(path).suffix.lower() == ".sqlite":
        raise DataError(f"{name}: is no table; read_ranks reads staged ranks, and the command takes them as they are")
    try:
        with gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb") as file:
            if Path(path).suffix.lower() == ".parquet":
                return _columns(parquet_rows(file, name), name, name)
            return read_stream(file, name, separator, names)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def read_standard_input(separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Read a csv table of ranks from standard input; otherwise as `read_columns`."""
    return read_stream(standard_input(), "stdin", separator, names)


def standard_input() -> Readable:
    """Return standard input as bytes.

    Raises:
        DataError: it is closed.
    """
    if sys.stdin is None:
        raise DataError("stdin: is closed")
    return sys.stdin.buffer


def read_stream(stream: Readable, name: str, separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Read a csv table of ranks from an open binary stream; otherwise as `read_columns`."""
    try:
        return _read_csv(Text(stream, name), separator, names)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def _read_csv(text: Text, separator: str | None, names: Collection[str]) -> Columns:
    place = f"{text.name}, line {text.line}"
    top = text.block[:LONGEST_LINE].decode(errors="ignore")
    first = top.split("\n", 1)[0]
    if first.lstrip().startswith(("{", "[")):
        raise DataError(f"{place}: is JSON, and tables of ranks are csv or parquet")
    if separator is None and (
        trec := next((columns for pattern, columns in _TREC.items() if re.fullmatch(pattern, first)), None)
    ):
        return _columns(Csv(text, SPACES, has_quotes=False).rows(trec, has_header=False), text.name, place)
    if separator is None:
        unquoted = re.sub('"[^"]*"', "", top).split("\n", 1)[0]
        separator = next((sign for sign in SEPARATORS if sign in unquoted), ",")
    table = Csv(text, separator)
    if not any(table.first):
        raise DataError(f"{text.name}: is empty; ranks are a csv file with a column rank, or above and tied")
    if len(table.first) == 1 and re.fullmatch(r"\s*[0-9]+\s*", table.first[0]):
        return _columns(table.rows({0: "rank"}, has_header=False), text.name, place)
    header = dict(enumerate(map(str.strip, table.first)))
    wide = len(header) > MOST_COLUMNS
    if (wide or not text.is_last) and not any(
        column in names or can_be_used(column, CONTENT) for column in header.values()
    ):
        nothing = pd.DataFrame([[""] * len(header)], columns=list(header.values()))
        Columns(text.name, nothing, str, place).require(*(names or ["rank"]))
    used = {place: column for place, column in header.items() if not wide or column in names or can_be_used(column)}
    notes: tuple[str, ...] = ()
    if wide:
        unused = [column for place, column in header.items() if place not in used]
        notes = (f"{text.name}: {len(unused)} of its {len(header)} columns are not used: {', '.join(unused):.100} ...",)
    return _columns(table.rows(used, has_header=True), text.name, place, notes)


def _columns(parts: Iterable[Rows], name: str, header: str, notes: tuple[str, ...] = ()) -> Columns:
    rows = joined(list(parts))
    return Columns(name, rows.frame, rows.place, header, notes)
