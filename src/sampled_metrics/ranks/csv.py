"""Read files of ranks, csv or parquet, strictly. Errors name the file and the line."""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import DataError, reason
from sampled_metrics.ranks.frames import CONTENT, Columns, can_be_used

LONGEST_LINE = 1_000_000
"""Largest number of bytes of a line. A file with longer lines is not a table and could fill the memory."""

_CHUNK = LONGEST_LINE // 2

_OTHER_FORMATS = {
    rb"\x1f\x8b": "is packed by gzip, but not by its name; let that end in .gz, or unpack it first",
    rb"BZh[1-9]1AY&SY": "is packed by bzip2; unpack it first",
    rb"\xfd7zXZ\0": "is packed by xz; unpack it first",
    rb"\x28\xb5\x2f\xfd": "is packed by zstd; unpack it first",
    rb"PK\x03\x04": "is a zip archive, as a spreadsheet is; unpack it first, or save it as csv",
    rb"\xff\xfe|\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""Patterns of the beginnings of files that are not UTF-8 text, and what to do about them."""

MOST_COLUMNS = 64
"""Largest number of columns that are all kept. Of a wider table, those are kept that can be of use."""

LARGE = 2**24
"""Number of bytes above which a csv file is refused by its first line, if that names neither ranks nor items."""

_CELLS = 2**20  # of a wide table, read at a time

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
    name = str(path)
    if not name:
        raise DataError("the name of a file is empty")
    if Path(path).is_dir():
        raise DataError(f"{name}: is a directory, not a csv file")
    try:
        if Path(path).suffix.lower() == ".parquet":
            return _read_parquet(path, name)
        with gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb") as file:
            return parse_columns(_read_lines(file, name), name, separator, names)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def _read_parquet(path: str | os.PathLike[str], name: str) -> Columns:
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise DataError(f"{name}: parquet needs pyarrow; pip install 'sampled-metrics[parquet]'") from None
    except ValueError as error:  # pyarrow's errors are of this kind
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None
    return Columns(name, frame, lambda row: f"{name}, row {row + 1}", name)


def read_stream(stream: BinaryIO, name: str, separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Read a csv table of ranks from an open binary stream, such as standard input; otherwise as `read_columns`."""
    try:
        return parse_columns(_read_lines(stream, name), name, separator, names)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {reason(error)}") from None


def _read_lines(file: BinaryIO | gzip.GzipFile, name: str) -> bytes:
    """Return the whole content, unless a line is longer than any line of a table."""
    content, line, length = BytesIO(), 1, 0
    # a chunk is shorter than the longest allowed line, so only the line that it continues can be too long
    while chunk := file.read(_CHUNK):
        content.write(chunk)
        end = chunk.find(b"\n")
        length += len(chunk) if end < 0 else end
        if length > LONGEST_LINE:
            raise DataError(f"{name}, line {line}: is longer than {LONGEST_LINE:,} bytes, so this is no csv table")
        if end >= 0:
            line += chunk.count(b"\n")
            length = len(chunk) - chunk.rfind(b"\n") - 1
    return content.getvalue()


def parse_columns(text: bytes, name: str, separator: str | None = None, names: Collection[str] = ()) -> Columns:
    """Parse the content of a csv file; arguments and errors as of `read_columns`."""
    for start, fault in _OTHER_FORMATS.items():
        if re.match(start, text):
            raise DataError(f"{name}: {fault}")
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: holds a zero byte, so this is no csv table")
    try:
        if not text.isascii():  # decoding makes a copy
            text.decode()
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: is not UTF-8 text") from None
    blank = re.match(rb"(\xef\xbb\xbf)?(\s*\n)?", text)
    begin = blank.end() if blank else 0
    skipped = text.count(b"\n", 0, begin)  # empty lines
    body, top = _Body(text, begin, name, skipped), text[begin : begin + LONGEST_LINE].decode(errors="ignore")
    first = top.split("\n", 1)[0]
    if separator is None and (trec := next((each for line, each in _TREC.items() if re.fullmatch(line, first)), None)):
        lines = body.parsed(r"\s+", quoting=csv.QUOTE_NONE)
        last = np.flatnonzero((lines != "").any(axis="columns"))[-1]
        frame = lines.loc[:last, list(trec)].set_axis(list(trec.values()), axis="columns")
        return Columns(name, frame, lambda row: f"{name}, line {row + 1 + skipped}", f"{name}, line {skipped + 1}")
    if separator is None:
        unquoted = re.sub('"[^"]*"', "", top).split("\n", 1)[0]
        separator = next((each for each in SEPARATORS if each in unquoted), ",")
    head = body.parsed(separator, nrows=2)
    if len(head) == 2 and not (head.shape[1] == 1 and _is_number(head.iloc[0, 0])):
        header = head.iloc[0].str.strip().tolist()
        used = [at for at, each in enumerate(header) if each in names or can_be_used(each)]
        wide = len(header) > MOST_COLUMNS
        known = any(each in names or can_be_used(each, CONTENT) for each in header)
        if (wide or len(text) > LARGE) and not known:
            Columns(name, head.set_axis(header, axis="columns"), str, f"{name}, line {skipped + 1}").require(
                *(names or ["rank"])
            )
        if wide:
            return _wide(body, separator, header, used)
    lines = body.parsed(separator)
    filled = np.flatnonzero((lines != "").any(axis="columns"))
    if len(filled) == 0:
        raise DataError(f"{name}: is empty; ranks are a csv file with a column rank, or above and tied")
    lines = lines.iloc[: filled[-1] + 1]
    if lines.shape[1] == 1 and _is_number(lines.iloc[0, 0]):
        header, rows, first_line = ["rank"], lines, 1
    else:
        header, rows, first_line = lines.iloc[0].str.strip().tolist(), lines.iloc[1:], 2
    frame = rows.set_axis(header, axis="columns").reset_index(drop=True)

    def place(row: int) -> str:
        above = frame.iloc[:row]  # a field in quotation marks may span several lines
        breaks = sum(int(above.iloc[:, at].str.count("\n").sum()) for at in range(above.shape[1]))
        return f"{name}, line {row + first_line + skipped + breaks}"

    return Columns(name, frame, place, f"{name}, line {skipped + 1}")


def _is_number(field: str) -> bool:
    return re.fullmatch(r"\s*[0-9]+\s*", field) is not None


def _wide(body: "_Body", separator: str, header: list[str], used: list[int]) -> Columns:
    """Return the used columns of a table with many; a remark names some of the others."""
    kept, breaks, read, filled = list[pd.DataFrame](), list[Ints](), 0, 0
    for part in body.parts(separator, max(1, _CELLS // len(header))):
        if len(at := np.flatnonzero((part != "").any(axis="columns"))):
            filled = read + int(at[-1]) + 1
        read += len(part)
        kept.append(part.iloc[:, used])
        # a field in quotation marks may span several lines
        within = np.zeros(len(part), dtype=np.int64)
        for each in part if b'"' in body.text else ():
            within += part[each].str.count("\n").to_numpy(dtype=np.int64)
        breaks.append(within)
    names = [header[at] for at in used]
    frame = pd.concat(kept, ignore_index=True).iloc[1:filled].set_axis(names, axis="columns").reset_index(drop=True)
    line = np.cumsum(np.concatenate(breaks)) + np.arange(read) + 2 + body.skipped  # of the row after each
    others = [each for at, each in enumerate(header) if at not in used]
    note = f"{body.name}: {len(others)} of its {len(header)} columns are not used: {', '.join(others):.100} ..."
    place = f"{body.name}, line {body.skipped + 1}"
    return Columns(body.name, frame, lambda row: f"{body.name}, line {line[row]}", place, (note,))


@dataclass(frozen=True)
class _Body:
    """The lines of a csv file.

    Attributes:
        text: the file.
        begin: the number of bytes before the first line.
        name: of the file, for messages.
        skipped: how many empty lines are before the first one.
    """

    text: bytes
    begin: int
    name: str
    skipped: int

    def parsed(self, separator: str, **options: Any) -> pd.DataFrame:
        """Return the fields of all lines as text, including the header; options are those of pandas."""
        try:
            # the header is read as a line: pandas would take the first field of a line with more fields as an index
            found = self._read(separator, **options)
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except ValueError as error:
            raise self._refused(error) from None
        return found.fillna("") if found.isna().any(axis=None) else found

    def parts(self, separator: str, rows: int) -> Iterator[pd.DataFrame]:
        """Yield the fields of so many lines at a time, likewise."""
        columns = None
        try:
            with self._read(separator, chunksize=rows) as parts:
                for part in parts:
                    columns = part.shape[1] if columns is None else columns
                    if part.shape[1] != columns:
                        raise DataError(f"{self.name}: has lines with {columns} fields and with {part.shape[1]}")
                    yield part.fillna("")
        except ValueError as error:
            raise self._refused(error) from None

    def _read(self, separator: str, **options: Any) -> Any:
        text = BytesIO(self.text)  # no copy
        text.seek(self.begin)
        return pd.read_csv(
            text, sep=separator, header=None, dtype=str, keep_default_na=False, skip_blank_lines=False, **options
        )

    def _refused(self, error: ValueError) -> DataError:
        """Return what is wrong with the lines; the skipped lines above them count."""
        if isinstance(error, DataError):
            return error
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            fields, line, seen = found.groups()
            return DataError(
                f"{self.name}, line {int(line) + self.skipped}: has {seen} fields, but the lines before have {fields}"
            )
        if found := re.search(r"EOF inside string starting at row (\d+)", str(error)):
            line = int(found[1]) + self.skipped + 1
            return DataError(f"{self.name}, line {line}: has a quotation mark that nothing closes")
        return DataError(f"{self.name}: cannot be read as a csv table: {reason(error)}")
