"""Small csv tables of whole numbers, read strictly: every fault is named with its file and line."""

import gzip
import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import DataError

LONGEST_LINE = 1_000_000
"""Bytes that a line may have; what is longer is no table, and reading it whole could take all memory."""

_CHUNK = LONGEST_LINE // 2

_OTHER_FORMATS = {
    rb"\x1f\x8b": "is packed by gzip, but not by its name; let that end in .gz, or unpack it first",
    rb"BZh[1-9]1AY&SY": "is packed by bzip2; unpack it first",
    rb"\xfd7zXZ\0": "is packed by xz; unpack it first",
    rb"\x28\xb5\x2f\xfd": "is packed by zstd; unpack it first",
    rb"PK\x03\x04": "is a zip archive, as a spreadsheet is; unpack it first, or save it as csv",
    rb"\xff\xfe|\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""What files begin with that are no text in UTF-8, as a pattern, and what to do about them."""


@dataclass(frozen=True)
class CsvTable:
    """The lines of a csv file, as text.

    Attributes:
        name: what to call the file in messages.
        columns: the fields by the names of the header, without empty lines at the end.
        first_line: the number of the first line below the header.
    """

    name: str
    columns: pd.DataFrame
    first_line: int

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    def __len__(self) -> int:
        return len(self.columns)

    def require(self, wanted: Sequence[str], are: str) -> None:
        """Raise DataError unless the columns are there, once each, and there are lines below the header.

        Args:
            wanted: names of columns.
            are: what the file should hold, for the message.
        """
        missing = [name for name in wanted if name not in self]
        if missing:
            there = ", ".join(map(repr, self.columns.columns))
            raise DataError(
                f"{self.name}, line 1: lacks the column {', '.join(missing)} (there are {there:.300}); {are}"
            )
        twice = [name for name in (*wanted, "user") if list(self.columns.columns).count(name) > 1]
        if twice:
            raise DataError(f"{self.name}, line 1: has the column {', '.join(map(repr, twice))} more than once")
        if len(self) == 0:
            raise DataError(f"{self.name}: holds no ranks, only a header")

    def whole_numbers(self, column: str) -> Ints:
        """Return a column as integers, or name the first line that is not a whole number from 0."""
        text = self.columns[column].str.strip()
        wrong = ~text.str.fullmatch("[0-9]{1,18}").to_numpy(dtype=bool)
        self.refuse(
            wrong, lambda row: f"{column} must be a whole number, 0 or more, not {self.columns[column].iloc[row]!r:.80}"
        )
        return text.to_numpy(dtype=np.int64)

    def users(self) -> NDArray[np.generic]:
        """Return the user column, as integers if all are, or number the lines where there is none."""
        if "user" not in self:
            return np.arange(1, len(self) + 1)
        users = self.columns["user"].str.strip()
        self.refuse((users == "").to_numpy(), lambda row: "user is empty")
        self.refuse(
            users.duplicated().to_numpy(), lambda row: f"user {users.iloc[row]!r:.80} is on an earlier line too"
        )
        whole = users.str.fullmatch("0|[1-9][0-9]{0,17}").all()
        return users.to_numpy(dtype=np.int64) if whole else users.to_numpy(dtype=np.str_)

    def refuse(self, wrong: NDArray[np.bool_], says: Callable[[int], str]) -> None:
        """Raise DataError for the first row that is wrong."""
        if wrong.any():
            row = int(np.argmax(wrong))
            above = self.columns.iloc[:row]  # a field in quotation marks may go over several lines
            breaks = sum(int(above.iloc[:, at].str.count("\n").sum()) for at in range(above.shape[1]))
            raise DataError(f"{self.name}, line {row + self.first_line + breaks}: {says(row)}")


def read_table(path: str | os.PathLike[str], holds: str, single: str | None = None) -> CsvTable:
    """Read a csv file, gzip where its name ends in .gz.

    Args:
        path: the file.
        holds: what it should hold, as a clause for messages.
        single: what to call the column of a file that is one number a line and has no header; None refuses such a file.

    Raises:
        DataError: it cannot be read as a table; the message names the line where there is one.
    """
    name = str(path)
    if not name:
        raise DataError("the name of a file is empty")
    if Path(path).is_dir():
        raise DataError(f"{name}: is a directory, not a csv file")
    try:
        if Path(path).suffix == ".gz":
            with gzip.open(path) as file:
                text = _read_lines(file, name)
        else:
            with open(path, "rb") as file:
                text = _read_lines(file, name)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {_reason(error)}") from None
    return parse_table(text, name, holds, single)


def read_stream(stream: BinaryIO, name: str, holds: str, single: str | None = None) -> CsvTable:
    """Read a csv table from an open binary stream, as standard input; arguments as of `read_table`."""
    try:
        text = _read_lines(stream, name)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {_reason(error)}") from None
    return parse_table(text, name, holds, single)


def _read_lines(file: BinaryIO | gzip.GzipFile, name: str) -> bytes:
    """Return the whole content, unless a line is longer than any line of a table."""
    content, line, length = BytesIO(), 1, 0
    while chunk := file.read(
        _CHUNK
    ):  # shorter than a line may be, so that only the line it goes on with can be too long
        content.write(chunk)
        end = chunk.find(b"\n")
        length += len(chunk) if end < 0 else end
        if length > LONGEST_LINE:
            raise DataError(f"{name}, line {line}: is longer than {LONGEST_LINE:,} bytes, so that this is no csv table")
        if end >= 0:
            line += chunk.count(b"\n")
            length = len(chunk) - chunk.rfind(b"\n") - 1
    return content.getvalue()


def parse_table(text: bytes, name: str, holds: str, single: str | None = None) -> CsvTable:
    """Parse the content of a csv file; arguments as of `read_table`."""
    for start, says in _OTHER_FORMATS.items():
        if re.match(start, text):
            raise DataError(f"{name}: {says}")
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: holds a zero byte, so that this is no csv table")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: is not UTF-8 text") from None
    try:
        # the header is read as a line like the others: pandas would take a line with more fields to begin with an index
        lines = pd.read_csv(
            BytesIO(text),
            header=None,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
            skip_blank_lines=False,
        ).fillna("")
    except pd.errors.EmptyDataError:
        raise DataError(f"{name}: is empty; {holds}") from None
    except ValueError as error:
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            fields, line_number, seen = found.groups()
            raise DataError(
                f"{name}, line {line_number}: has {seen} fields, but the lines before have {fields}"
            ) from None
        if found := re.search(r"EOF inside string starting at row (\d+)", str(error)):
            raise DataError(f"{name}, line {int(found[1]) + 1}: has a quotation mark that nothing closes") from None
        raise DataError(f"{name}: cannot be read as a csv table: {_reason(error)}") from None
    filled = np.flatnonzero((lines != "").any(axis="columns"))
    if len(filled) == 0:
        raise DataError(f"{name}: is empty; {holds}")
    lines = lines.iloc[: filled[-1] + 1]
    if single is not None and lines.shape[1] == 1 and re.fullmatch(r"\s*[0-9]+\s*", lines.iloc[0, 0]):
        return CsvTable(name, lines.set_axis([single], axis="columns").reset_index(drop=True), 1)
    header = lines.iloc[0].str.strip().tolist()
    return CsvTable(name, lines.iloc[1:].set_axis(header, axis="columns").reset_index(drop=True), 2)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split())
