"""Read files of ranks, csv or parquet, strictly. Errors name the file and the line."""

import gzip
import os
import re
import zlib
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from sampled_metrics.errors import DataError, reason
from sampled_metrics.ranks.frames import Columns

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

SEPARATORS = ",;\t|"
"""Separators of fields that are noticed; the first one that the first line has is taken."""


def read_columns(path: str | os.PathLike[str], separator: str | None = None) -> Columns:
    """Read a file of ranks: parquet if its name ends so, else csv, gzipped if the name ends in .gz.

    The first line of a csv file names the columns. A file without a header and with one number per line is a column of
    ranks.

    Args:
        path: the file.
        separator: between the fields of a line; it is noticed if it is a comma, a semicolon, a tab or a bar.

    Raises:
        DataError: the file cannot be read as a table; the message names the line if there is one.
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
            return parse_columns(_read_lines(file, name), name, separator)
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


def read_stream(stream: BinaryIO, name: str, separator: str | None = None) -> Columns:
    """Read a csv table of ranks from an open binary stream, such as standard input; errors as of `read_columns`."""
    try:
        return parse_columns(_read_lines(stream, name), name, separator)
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


def parse_columns(text: bytes, name: str, separator: str | None = None) -> Columns:
    """Parse the content of a csv file; errors as in `read_columns`."""
    for start, fault in _OTHER_FORMATS.items():
        if re.match(start, text):
            raise DataError(f"{name}: {fault}")
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: holds a zero byte, so this is no csv table")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: is not UTF-8 text") from None
    body = re.sub(rb"\A(\xef\xbb\xbf)?(\s*\n)?", b"", text)
    skipped = text[: len(text) - len(body)].count(b"\n")  # empty lines
    if separator is None:
        unquoted = re.sub(rb'"[^"]*"', b"", body).split(b"\n", 1)[0].decode()
        separator = next((each for each in SEPARATORS if each in unquoted), ",")
    lines = _parse_lines(body, name, separator, skipped)
    filled = np.flatnonzero((lines != "").any(axis="columns"))
    if len(filled) == 0:
        raise DataError(f"{name}: is empty; ranks are a csv file with a column rank, or above and tied")
    lines = lines.iloc[: filled[-1] + 1]
    if lines.shape[1] == 1 and re.fullmatch(r"\s*[0-9]+\s*", lines.iloc[0, 0]):
        header, rows, first_line = ["rank"], lines, 1
    else:
        header, rows, first_line = lines.iloc[0].str.strip().tolist(), lines.iloc[1:], 2
    frame = rows.set_axis(header, axis="columns").reset_index(drop=True)

    def place(row: int) -> str:
        above = frame.iloc[:row]  # a field in quotation marks may span several lines
        breaks = sum(int(above.iloc[:, at].str.count("\n").sum()) for at in range(above.shape[1]))
        return f"{name}, line {row + first_line + skipped + breaks}"

    return Columns(name, frame, place, f"{name}, line {skipped + 1}")


def _parse_lines(text: bytes, name: str, separator: str, skipped: int) -> pd.DataFrame:
    """Return the fields of all lines as text, including the header; messages count the skipped lines above them."""
    try:
        # the header is read as a line: pandas would take the first field of a line with more fields as an index
        lines = pd.read_csv(
            BytesIO(text),
            sep=separator,
            header=None,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
            skip_blank_lines=False,
        )
        return lines.fillna("")
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except ValueError as error:
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            fields, line, seen = found.groups()
            raise DataError(
                f"{name}, line {int(line) + skipped}: has {seen} fields, but the lines before have {fields}"
            ) from None
        if found := re.search(r"EOF inside string starting at row (\d+)", str(error)):
            raise DataError(
                f"{name}, line {int(found[1]) + skipped + 1}: has a quotation mark that nothing closes"
            ) from None
        raise DataError(f"{name}: cannot be read as a csv table: {reason(error)}") from None
