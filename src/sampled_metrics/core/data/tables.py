"""Rows of csv and parquet files, with the place of each row for messages.

- `Text(stream, name)` has the lines of a stream, block by block.
- `Csv(text, separator)` has the fields of the first line as `header`; `rows(names)` yields `Rows`,
  a data frame of each block and the place of each of its rows.
- `joined(parts)` puts the blocks together.
- `read_parquet(stream, name)` returns a parquet file as a data frame.
- `refuse_rows(wrong, message, location)` raises DataError for the first row that is wrong.

A column of a csv file is int64 where `str` writes its numbers as the file does, and text elsewhere.
A field that a line lacks at its end is empty text. Whoever uses a column refuses its empty fields.
"""

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics.errors import DataError
from sampled_metrics.file_io import reading

BLOCK_BYTES = 2**22
"""Number of bytes of a block, and the largest one of a line.

A longer line could fill the memory. Smaller blocks take more time, and leave more gaps in it.
"""

SPACES = " \t"
"""Separator of fields by any number of spaces and tabs, as in files of TREC."""

Location = Callable[[int], str]
"""Function from the index of a row to its name in messages, such as ``x.csv, line 7``."""


class Text:
    r"""The lines of a stream of UTF-8 text, block by block.

    The line ends `\r\n` and `\r` become `\n`. Blank lines at the end, and a byte order mark at the
    beginning, are left out.

    Attributes:
        name: name of the file in errors.
        block: whole lines; empty if there are no further ones.
        line: number of the first line of the block.
        is_last: whether nothing follows the block.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """Read the first block.

        Raises:
            DataError: it is not UTF-8 text, or a line is too long.
        """
        self.name = name
        self.block = b""
        self.line = 1
        self.is_last = False
        self._stream = stream
        self._unused = self._read().removeprefix(b"\xef\xbb\xbf")
        self._cut_block()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks, beginning with the current one.

        Raises:
            DataError: a block is not UTF-8 text, or a line is too long.
        """
        while self.block:
            yield self.block
            self.line += self.block.count(b"\n")
            self._unused += self._read()
            self._cut_block()

    def refused(self, position: int, fault: str) -> DataError:
        """Return an error on the line at a position of the block."""
        line = self.line + self.block.count(b"\n", 0, position)
        return DataError(f"{self.name}, line {line}: {fault}")

    def _read(self) -> bytes:
        content = b""
        while len(content) < BLOCK_BYTES:
            more = self._stream.read(BLOCK_BYTES - len(content))
            if not more:
                self.is_last = True
                break
            content += more
        return content

    def _cut_block(self) -> None:
        # blank lines at the end of the block may be at the end of the file
        end = len(self._unused.rstrip(b" \t\r\n"))
        if end and not self.is_last:
            end = _end_of_lines(self._unused, end)
        self.block = self._unused[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self.is_last and end:
            self.block += b"\n"
        self._unused = self._unused[end:]
        self._require_text()
        if not self.is_last and not end:
            raise self.refused(0, f"is longer than {BLOCK_BYTES:,} bytes")

    def _require_text(self) -> None:
        position = self.block.find(b"\0")
        if position < 0 and not self.block.isascii():  # decoding makes a copy
            try:
                self.block.decode()
            except UnicodeDecodeError as error:
                position = error.start
        if position >= 0:
            raise self.refused(
                position,
                "is not UTF-8 text; save it as UTF-8, and if it is packed by gzip, give it a name "
                "that ends in .gz",
            )


def _end_of_lines(block: bytes, filled: int) -> int:
    """Return where the last whole line ends that is not blank and not in quotation marks.

    The bytes from `filled` on are blank. A quotation mark inside of an unquoted field can hide the
    ends of all lines; then marks do not count.
    """
    end = block.find(b"\n", filled) + 1 or block.rfind(b"\n") + 1
    if b'"' not in block:
        return end
    characters = np.frombuffer(block[:end], dtype=np.uint8)
    is_quoted = np.logical_xor.accumulate(characters == ord('"'))
    ends = np.flatnonzero((characters == ord("\n")) & ~is_quoted) + 1
    is_near = len(ends) > 0 and len(block) - ends[-1] <= BLOCK_BYTES
    return int(ends[-1]) if is_near else end


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a table.

    Attributes:
        frame: the columns. Text is empty where there is nothing.
        location: the file and line, or row, of each row, for messages.
        skipped: how many malformed lines were left out.
    """

    frame: pd.DataFrame
    location: Location
    skipped: int = 0


def refuse_rows(wrong: ArrayLike, message: Callable[[int], str], location: Location) -> None:
    """Raise DataError for the first row where `wrong`, (rows,), is true.

    The message is a function of the index of the row.
    """
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise DataError(f"{location(int(rows[0]))}: {message(int(rows[0]))}")


def joined(blocks: Sequence[Rows]) -> Rows:
    """Return the rows of several blocks as one block.

    A column of whole numbers is text if it is text in another block.
    """
    ends = np.cumsum([len(block.frame) for block in blocks])

    def location(row: int) -> str:
        block = int(np.searchsorted(ends, row, side="right"))
        return blocks[block].location(row - int(ends[block]) + len(blocks[block].frame))

    columns = blocks[0].frame.columns
    frames = [block.frame.set_axis(range(len(columns)), axis="columns") for block in blocks]
    types = pd.DataFrame([frame.dtypes for frame in frames])
    texts = dict.fromkeys(types.columns[types.nunique() > 1], str)
    if texts:
        frames = [frame.astype(texts) for frame in frames]
    frame = pd.concat(frames, ignore_index=True)
    skipped = sum(block.skipped for block in blocks)
    return Rows(frame.set_axis(columns, axis="columns"), location, skipped)


class Csv:
    """A csv file: lines of fields, which pandas reads.

    Attributes:
        header: the fields of the first line; none if there is no line.
    """

    def __init__(self, text: Text, separator: str = ",", *, has_quotes: bool = True) -> None:
        """Read the fields of the first line.

        Args:
            text: the lines.
            separator: the characters between fields, or `SPACES`.
            has_quotes: whether a field may be in quotation marks. A quotation mark in it is
                doubled.

        Raises:
            DataError: a quotation mark is not closed.
        """
        self._text = text
        self._separator = separator
        self._delimiter = separator if len(separator) == 1 else "\t"
        self._quoting: Any = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
        self.header: list[str] = []
        self._header_lines = 0
        for record in self._records(self._delimited(text.block), text.line):
            self.header = record.fields
            self._header_lines = record.lines
            break

    def rows(
        self,
        names: Mapping[int, str],
        *,
        has_header: bool,
        numbers: Collection[str] = (),
        skips_bad_lines: bool = False,
    ) -> Iterator[Rows]:
        """Yield the rows of each block of the text; nothing if there are no rows.

        Args:
            names: names of the columns to return, by the position of their fields from 0.
            has_header: whether the first line is left out.
            numbers: columns that are numbers, however they are written, in a block in which all
                their fields are.
            skips_bad_lines: whether lines with more fields than the first one are left out.
                Otherwise they are refused.

        Raises:
            DataError: a line has more fields than the first one, or a quotation mark is not closed.
        """
        types = dict[int, type]()
        are_numbers = {position for position, name in names.items() if name in numbers}
        header_lines = self._header_lines if has_header else 0
        for block in self._text:
            line = self._text.line + header_lines
            lines = self._delimited(block).split(b"\n", header_lines)[-1]
            header_lines = 0
            if self._text.is_last:  # spreadsheets end with lines of separators
                filled = lines.rstrip(f"{self._delimiter}\n".encode())
                lines = filled and filled + b"\n"
            if not lines:
                continue
            frame = self._frame(lines, types, are_numbers, names)
            if frame is not None and len(frame) == lines.count(b"\n"):
                yield self._rows(frame, names, range(line, line + len(frame)), 0)
            else:
                yield self._rows_of_records(lines, line, names, skips_bad_lines)

    def _delimited(self, block: bytes) -> bytes:
        """Return a block with a single character between fields."""
        if self._separator == SPACES:
            return re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", block))
        if len(self._separator) > 1:
            return block.replace(self._separator.encode(), b"\t")
        return block

    def _frame(
        self, lines: bytes, types: dict[int, type], numbers: Collection[int], names: Collection[int]
    ) -> pd.DataFrame | None:
        """Return the fields of lines; None if pandas cannot read them.

        A column is int64, or float if it is one of `numbers`, where this keeps its text. Other
        columns are text, which `types` records for the next blocks.
        """
        try:
            with warnings.catch_warnings():
                # a first line with more fields than the header
                warnings.simplefilter("error", pd.errors.ParserWarning)
                frame = pd.read_csv(
                    io.BytesIO(lines),
                    sep=self._delimiter,
                    header=None,
                    names=range(len(self.header)),
                    index_col=False,
                    dtype=types,
                    low_memory=False,  # parts of a column could have different types
                    na_filter=False,
                    quoting=self._quoting,
                    skip_blank_lines=False,
                )
        except (pd.errors.ParserError, pd.errors.ParserWarning):
            return None
        integers = "i" if _are_plain(lines, self._delimiter) else ""
        texts = []
        for position in names:
            kinds = "if" if position in numbers else integers
            if position not in types and frame[position].dtype.kind not in kinds:
                texts.append(position)
        if not texts:
            return frame
        types |= dict.fromkeys(texts, str)
        return self._frame(lines, types, numbers, names)

    def _rows_of_records(
        self, lines: bytes, line: int, names: Mapping[int, str], skips_bad_lines: bool
    ) -> Rows:
        """Return the rows of lines that pandas cannot read, or whose fields have line breaks."""
        width = len(self.header)
        rows = []
        places = []
        skipped = 0
        for record in self._records(lines, line):
            count = len(record.fields)
            if count <= width:
                rows.append(record.fields + [""] * (width - count))
                places.append(record.line)
            elif skips_bad_lines:
                skipped += 1
            else:
                raise DataError(
                    f"{self._text.name}, line {record.line}: has {count} fields, and the first "
                    f"line has {width}"
                )
        frame = pd.DataFrame(rows, columns=range(width), dtype=str)
        return self._rows(frame, names, places, skipped)

    def _rows(
        self, frame: pd.DataFrame, names: Mapping[int, str], lines: Sequence[int], skipped: int
    ) -> Rows:
        columns = frame[list(names)].set_axis(list(names.values()), axis="columns")
        return Rows(columns, lambda row: f"{self._text.name}, line {lines[row]}", skipped)

    def _records(self, lines: bytes, line: int) -> Iterator["_Record"]:
        """Yield the records of lines, of which the first has the number `line`."""
        # a review may be longer
        csv.field_size_limit(max(csv.field_size_limit(), 2 * BLOCK_BYTES))
        text = io.StringIO(lines.decode(), newline="")
        reader = csv.reader(text, delimiter=self._delimiter, quoting=self._quoting, strict=True)
        before = 0
        try:
            for fields in reader:
                yield _Record(line + before, reader.line_num - before, fields)
                before = reader.line_num
        except csv.Error:
            raise DataError(
                f"{self._text.name}, line {line + before}: has a quotation mark that nothing "
                "closes, or that is not doubled in a quoted field"
            ) from None


class _Record(NamedTuple):
    """The fields of a record, the number of its first line, and how many lines it has."""

    line: int
    lines: int
    fields: list[str]


def _are_plain(lines: bytes, delimiter: str) -> bool:
    """Return whether `str` would write all of these lines of whole numbers; False if in doubt.

    Numbers with leading zeros, a plus sign or spaces are not written so, and neither is -0.
    """
    signs = [sign for sign in ("+", " ", "\t", "\v", "\f") if sign != delimiter]
    if any(sign.encode() in lines for sign in signs):
        return False
    characters = np.frombuffer(lines, dtype=np.uint8)
    zeros = np.flatnonzero(characters == ord("0"))
    before = characters[zeros - 1]  # that of the first is the line end
    # as unsigned bytes, what is before 0 is far above
    is_first = (before - ord("0") > 9) & (before != ord("."))
    is_followed = characters[zeros + 1] - ord("0") < 10
    return not ((is_first & is_followed) | (before == ord("-"))).any()


NEEDS_PYARROW = "parquet needs pyarrow (pip install 'sampled-metrics[parquet]')"
"""What is wrong where it is not installed."""


def read_parquet(stream: Any, name: str) -> pd.DataFrame:
    """Return a parquet file as a data frame, with the index that pandas wrote.

    Args:
        stream: the file, opened for bytes.
        name: its name in errors.

    Raises:
        DataError: pyarrow is not installed, or the file cannot be read.
    """
    with reading(name, NEEDS_PYARROW):
        import pyarrow  # noqa: F401
    with reading(name):
        return pd.read_parquet(stream, engine="pyarrow")
