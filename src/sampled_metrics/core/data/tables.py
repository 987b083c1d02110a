"""Rows of tables: csv, parquet and lines of JSON.

Each part of a table has named columns and the place of each row.
"""

import csv
import io
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics.checks import Ints
from sampled_metrics.errors import DataError

LONGEST_LINE = 1_000_000
"""Largest number of bytes of a line.

A file with longer lines is not a table and could fill the memory.
"""

_BLOCK_BYTES = 2**21  # pandas reads so many bytes at a time faster than more
_SHOWN_CHARACTERS = 80

_OTHER_FORMATS = {
    rb"\x1f\x8b": "is packed by gzip, but not by its name; let that end in .gz, or unpack it first",
    rb"BZh[1-9]1AY&SY": "is packed by bzip2; unpack it first",
    rb"\xfd7zXZ\0": "is packed by xz; unpack it first",
    rb"\x28\xb5\x2f\xfd": "is packed by zstd; unpack it first",
    rb"PK\x03\x04": "is a zip archive, as a spreadsheet or an npz file is; unpack it first, or "
    "save it as csv",
    rb"\x93NUMPY": "is an array of numpy; save it as csv",
    rb"\xff\xfe|\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
"""Patterns of the beginnings of files that are not UTF-8 text, and what to do about them."""

_MARK = b"\xef\xbb\xbf"  # of the byte order


class Readable(Protocol):
    """An object with a method `read`, such as a stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""


class Text:
    r"""The text of a stream, block by block, without a byte order mark and empty first lines.

    The line ends `\r\n` and `\r` become `\n`, and the last line gets one.

    Attributes:
        name: name of the file in errors.
        block: the current block, which begins with a line; empty if there is no text.
        line: number of its first line.
        is_last: whether nothing follows the block.
    """

    def __init__(self, stream: Readable, name: str) -> None:
        """Read the first block, which holds the first line.

        Raises:
            DataError: the block is not UTF-8 text, or a line, or what is empty before the first, is
                too long.
        """
        self.name = name
        self._stream = stream
        self.block = b""
        self.line = 1
        self.is_last = False
        while not self.is_last and b"\n" not in self.block:
            self._read_on()
            if self.line == 1:
                self._refuse_other_formats()
                if self.block.startswith(_MARK):
                    self.drop(len(_MARK))
            blank = len(self.block) - len(self.block.lstrip(b" \t\n"))
            empty_lines = self.block.rfind(b"\n", 0, blank) + 1
            self._refuse_long(empty_lines)
            self.drop(empty_lines)
            self._check()

    def advance(self, used: int, lines: int | None = None) -> None:
        """Go to the next block, which begins with the rest of this one after `used` bytes.

        These may be known to be `lines`.

        Raises:
            DataError: the block is not UTF-8 text, or a line is too long.
        """
        self.drop(used, lines)
        self._refuse_long(len(self.block))
        self._read_on()
        self._check()

    def line_at(self, position: int) -> int:
        """Return the number of the line at a position in the block."""
        return self.line + self.block.count(b"\n", 0, position)

    def goes_on(self, position: int) -> bool:
        """Return whether a line that begins at a position may end in the next block."""
        return not self.is_last and len(self.block) - position <= LONGEST_LINE

    def drop(self, used: int, lines: int | None = None) -> None:
        """Leave out the first bytes of the block, which may be known `lines`."""
        self.line = self.line_at(used) if lines is None else self.line + lines
        self.block = self.block[used:]

    def _refuse_other_formats(self) -> None:
        """Raise DataError if the block begins as a file of another format does."""
        for beginning, fault in _OTHER_FORMATS.items():
            if re.match(beginning, self.block):
                raise DataError(f"{self.name}: {fault}")

    def _read_on(self) -> None:
        read = b""
        while len(read) < _BLOCK_BYTES and (more := self._stream.read(_BLOCK_BYTES - len(read))):
            read += more
        self.is_last = len(read) < _BLOCK_BYTES
        # the line end may be cut in two
        while read.endswith(b"\r") and (more := self._stream.read(1)):
            read += more
        if b"\r" in read:
            read = read.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.block += read
        if self.is_last and self.block and not self.block.endswith(b"\n"):
            self.block += b"\n"

    def _refuse_long(self, size: int) -> None:
        """Refuse so many bytes of empty lines, or of a line and of empty ones."""
        if size > LONGEST_LINE:
            raise self._refused(
                0, f"begins more than {LONGEST_LINE:,} bytes of empty lines, so this is no table"
            )

    def _check(self) -> None:
        start = 0
        while len(self.block) - start > LONGEST_LINE:
            end = self.block.rfind(b"\n", start, start + LONGEST_LINE + 1)
            if end < 0:
                raise self._refused(
                    start, f"is longer than {LONGEST_LINE:,} bytes, so this is not a table"
                )
            start = end + 1
        if b"\0" in self.block:
            raise self._refused(
                self.block.index(b"\0"), "holds a zero byte, so this is not a table"
            )
        if not self.block.isascii():  # decoding makes a copy
            whole = len(self.block) if self.is_last else self.block.rfind(b"\n") + 1
            try:
                self.block[:whole].decode()
            except UnicodeDecodeError as error:
                raise self._refused(error.start, "is not UTF-8 text") from None

    def _refused(self, position: int, fault: str) -> DataError:
        return DataError(f"{self.name}, line {self.line_at(position)}: {fault}")


def quoted(line: bytes) -> str:
    """Return a line in quotation marks, shortened."""
    text = line[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


SPACES = " \t"
"""Separator of fields by any number of spaces and tabs, as in files of TREC."""

Place = Callable[[int], str]
"""Function from the index of a row to its name in messages, such as ``x.csv, line 7``."""

_SHOWN_COLUMNS = 20


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a table.

    Attributes:
        frame: the columns. Text is empty where there is nothing.
        place: the place of each row.
        has_line_breaks: whether a field may have a line break in it.
        has_plain_text: whether no field has spaces around it, or is a float as an exponent or a
            point show it.
        skipped: how many malformed lines were left out.
    """

    frame: pd.DataFrame
    place: Place
    has_line_breaks: bool = False
    skipped: int = 0
    has_plain_text: bool = False


def refuse_rows(wrong: ArrayLike, message: Callable[[int], str], place: Place) -> None:
    """Raise DataError for the first row where `wrong`, (rows,), is true.

    The message is a function of the index of the row.
    """
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise DataError(f"{place(int(rows[0]))}: {message(int(rows[0]))}")


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several parts as one part.

    A column of whole numbers is text if it is so in another part.
    """
    ends = np.cumsum([len(part.frame) for part in parts])

    def place(row: int) -> str:
        part = int(np.searchsorted(ends, row, side="right"))
        return parts[part].place(row - int(ends[part]) + len(parts[part].frame))

    columns = parts[0].frame.columns
    frames = [part.frame.set_axis(range(len(columns)), axis="columns") for part in parts]
    texts = {column for frame in frames for column in frame if frame[column].dtype == "str"}
    frames = [_with_texts(frame, texts) for frame in frames]
    frame = pd.concat(frames, ignore_index=True).set_axis(columns, axis="columns")
    has_line_breaks = any(part.has_line_breaks for part in parts)
    skipped = sum(part.skipped for part in parts)
    return Rows(frame, place, has_line_breaks, skipped)


def _with_texts(frame: pd.DataFrame, columns: Collection[Hashable]) -> pd.DataFrame:
    """Return a frame in which these columns are text where they are whole numbers."""
    return frame.astype({column: str for column in columns if frame[column].dtype.kind == "i"})


class ColumnError(DataError):
    """A table lacks a column, or has it twice."""


def require_columns(
    place: str, header: Sequence[str | int], columns: Collection[str | int], hint: str = ""
) -> None:
    """Raise ColumnError unless a table has each of `columns` exactly once.

    `place` is the place of its header.
    """
    if {"session_type", "labels"} <= {*header}:
        hint = (
            "; a submission to OTTO has several items in a cell: write a row for each event, "
            "with a user and an item"
        )
    for column in columns:
        if header.count(column) != 1:
            number = "no" if column not in header else "more than one"
            names = ", ".join(f"{name!r:.80}" for name in header[:_SHOWN_COLUMNS])
            more = ", …" if len(header) > _SHOWN_COLUMNS else ""
            raise ColumnError(
                f"{place}: there is {number} column {column!r}; the columns are {names}{more}{hint}"
            )


_TYPE = re.compile(r":(?:token|float)(?:_seq)?$")


def without_types(header: Sequence[str]) -> list[str]:
    """Return names of columns without the types of RecBole's atomic files, if all have one.

    Such a name is `user_id:token`.
    """
    return (
        [_TYPE.sub("", name) for name in header] if all(map(_TYPE.search, header)) else list(header)
    )


class _RightLines(NamedTuple):
    """The well-formed lines of a block.

    Attributes:
        lines: the lines, with their ends.
        used: how many bytes of the block were read.
        skipped: how many malformed lines were left out.
        places: (records,) the number of the line on which each record begins.
    """

    lines: bytes
    used: int
    skipped: int
    places: Ints


class Csv:
    """A csv file: lines of fields.

    pandas reads them. What it would take, although it is malformed, is refused.

    Attributes:
        text: the lines.
        separator: the characters between fields, or `SPACES`.
        has_quotes: whether a field may be in quotation marks. A quotation mark in it is doubled.
        first: fields of the first line; none if there is no text.
    """

    def __init__(self, text: Text, separator: str = ",", *, has_quotes: bool = True) -> None:
        """Read the fields of the first line.

        Raises:
            DataError: a quotation mark in it is not closed, or the separator cannot separate
                fields.
        """
        if separator in ("\n", "\r", '"'):
            raise DataError(f"{text.name}: {separator!r} cannot separate fields")
        self.text = text
        self.separator = separator
        self.has_quotes = has_quotes
        self._delimiter = separator if len(separator) == 1 else "\t"
        self._unify_separators()
        self.first: list[str] = []
        if text.block:
            lines = io.BytesIO(text.block)
            decoded_lines = (line.decode(errors="replace") for line in lines)
            try:
                self.first = next(self._reader(decoded_lines)) or [""]
            except csv.Error as error:
                line = text.block.partition(b"\n")[0]
                raise self._malformed(text.line, line, _fault(error)) from None
            self._first_bytes = lines.tell()

    def rows(
        self,
        names: Mapping[int, str],
        *,
        has_header: bool,
        numbers: Collection[str] = (),
        integers: Collection[str] = (),
        text: type = str,
        skips_bad_lines: bool = False,
    ) -> Iterator[Rows]:
        """Yield the rows of each block of text. All lines have as many fields as the first one.

        Args:
            names: names of the columns to return, by the position of their fields from 0.
            has_header: whether the first line is left out.
            numbers: columns that are numbers in a block in which all their fields are; other
                columns are text.
            integers: columns that are int64 in the blocks before the first one in which a field is
                not a whole number from 0 to 10^18, written as `str` writes it. These blocks take
                much less time than text.
            text: type of text: str takes little memory; object takes less time where ids are
                numbered.
            skips_bad_lines: whether lines with more or fewer fields are left out. Otherwise they
                are refused.

        Raises:
            DataError: a line has more or fewer fields than the first one, or a quotation mark is
                not closed.
        """
        if not self.first:
            return
        if has_header:
            self.text.drop(self._first_bytes)
        types = {
            position: text
            for position, name in names.items()
            if name not in numbers and name not in integers
        }
        frame_of = partial(self._frame, names=names, integers=integers, text=text, types=types)
        while True:
            self._unify_separators()
            lines = whole_lines(self.text.block, self._delimiter)
            line = self.text.line
            frame = self._frame_if_right(lines, frame_of)
            if frame is not None:
                used = len(lines)
                count = len(frame)
                place = partial(line_place, self.text.name, range(line, line + count))
                yield Rows(frame, place, has_plain_text=_has_plain_text(lines, self._delimiter))
            else:
                right = self._right_lines(lines, skips_bad_lines)
                frame = frame_of(right.lines)
                used = right.used
                count = None
                place = partial(line_place, self.text.name, right.places)
                has_line_breaks = right.lines.count(b"\n") > len(frame)
                yield Rows(frame, place, has_line_breaks, right.skipped)
            if self.text.is_last:
                return
            self.text.advance(used, count)

    def _unify_separators(self) -> None:
        """Replace a separator of several characters by a tab."""
        if self.separator == SPACES:
            block = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\n)", b"", self.text.block)
            self.text.block = re.sub(rb"[ \t]+", b"\t", block)
        elif len(self.separator) > 1:
            self.text.block = self.text.block.replace(self.separator.encode(), b"\t")

    def _frame(
        self,
        lines: bytes,
        *,
        names: Mapping[int, str],
        integers: Collection[str],
        text: type,
        types: dict[int, type],
    ) -> pd.DataFrame:
        """Return columns of lines; `types` gets those that are text.

        pandas lets a field that a line lacks be empty.
        """
        if not lines:
            columns = [pd.Series(dtype=types.get(position, np.int64)) for position in names]
            return pd.concat(columns, axis="columns").set_axis(list(names.values()), axis="columns")
        # pandas refuses a field too many only where it reads all columns
        reads_all = len(names) == len(self.first)
        frame = pd.read_csv(
            io.BytesIO(lines),
            sep=self._delimiter,
            header=None,
            names=range(len(self.first)),
            index_col=False,
            usecols=None if reads_all else list(names),
            dtype=types,
            low_memory=False,  # parts of a column could have different types
            na_filter=False,
            quoting=self._quoting,
            skip_blank_lines=False,
        )
        exact = [
            position
            for position, name in names.items()
            if name in integers and position not in types
        ]
        are_plain = not exact or _are_plain(lines, self._delimiter)
        texts = [position for position in exact if not (are_plain and _is_small(frame[position]))]
        if texts:
            types |= dict.fromkeys(texts, text)
            return self._frame(lines, names=names, integers=integers, text=text, types=types)
        return frame.set_axis([names[position] for position in frame.columns], axis="columns")

    def _frame_if_right(
        self, lines: bytes, frame_of: Callable[[bytes], pd.DataFrame]
    ) -> pd.DataFrame | None:
        """Return the columns of lines; None if the lines have to be read one by one.

        One of them may be malformed, or a line break may be in quotation marks.
        """
        has_quotes = self.has_quotes and b'"' in lines
        separators = lines.partition(b"\n")[0].count(self._delimiter.encode())
        # pandas takes any first line
        if has_quotes or (lines and separators + 1 != len(self.first)):
            return frame_of(lines) if self._are_right(lines) else None
        try:
            frame = frame_of(lines)
        except pd.errors.ParserError:
            return None
        # a number in the last field of a line is not a field that the line lacks
        has_last_numbers = (
            len(frame.columns) == len(self.first) and frame.iloc[:, -1].dtype.kind in "if"
        )
        return frame if has_last_numbers or self._are_right(lines) else None

    def _are_right(self, lines: bytes) -> bool:
        """Return whether lines have the right number of fields, and no line breaks in quotes."""
        characters = np.frombuffer(lines, dtype=np.uint8)
        is_end = characters == ord("\n")
        is_mark = is_end | (characters == ord(self._delimiter))
        if self.has_quotes and b'"' in lines:
            is_quote = characters == ord('"')
            is_inside = np.logical_xor.accumulate(is_quote)  # from a quotation mark that opens
            is_beside = is_mark | is_quote
            opens = np.flatnonzero(is_quote & is_inside)
            closes = np.flatnonzero(is_quote & ~is_inside)
            is_mark &= ~is_inside
            if (is_end & is_inside).any() or not (
                is_beside[opens[opens > 0] - 1].all() and is_beside[closes + 1].all()
            ):
                return False
        fields = np.diff(np.flatnonzero(is_end[is_mark]), prepend=-1)
        return bool((fields == len(self.first)).all())

    def _right_lines(self, block: bytes, skips: bool) -> _RightLines:
        """Return the well-formed lines of a block, read one by one."""
        lines = _lines(block)
        width = len(self.first)
        right_lines = list[str]()
        places = list[int]()
        skipped = 0
        start = 0
        before = 0
        reader = self._reader(lines)
        while start < len(lines):
            try:
                count = len(next(reader)) or int(width == 1)
                end = before + reader.line_num
                fault = ""
                if count != width:
                    fault = (
                        f"has {count} fields, but the lines before have {width}"
                        if count
                        else "is empty"
                    )
            except csv.Error as error:
                fault = _fault(error)
                end = start + 1
                position = len("".join(lines[:start]).encode())
                if fault == _OPEN and self.text.goes_on(position):
                    block = block[:position]
                    break
                before = end
                reader = self._reader(lines[end:])
            if not fault:
                right_lines += lines[start:end]
                places.append(self.text.line + start)
            elif not skips:
                raise self._malformed(
                    self.text.line + start, lines[start].rstrip("\n").encode(), fault
                )
            else:
                skipped += 1
            start = end
        return _RightLines(
            "".join(right_lines).encode(), len(block), skipped, np.array(places, dtype=np.int64)
        )

    def _reader(self, lines: Iterable[str]) -> Any:
        # a review may be longer
        csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
        return csv.reader(lines, delimiter=self._delimiter, quoting=self._quoting, strict=True)

    def _malformed(self, line: int, content: bytes, fault: str) -> DataError:
        return DataError(
            f"{self.text.name}, line {line}: {fault}" + (f": {quoted(content)}" if content else "")
        )

    @property
    def _quoting(self) -> Any:
        return csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE


_OPEN = "has a quotation mark that nothing closes"


def _fault(error: csv.Error) -> str:
    """Return what is wrong with the quotation marks of a record."""
    is_open = "unexpected end of data" in str(error)
    return _OPEN if is_open else "has text behind a quotation mark that closes"


def whole_lines(block: bytes, separators: str = "") -> bytes:
    """Return the lines that end in a block, without lines of nothing but separators at its end."""
    filled = len(block.rstrip(f"{separators}\n".encode()))
    if not filled:
        return b""
    # the end of the last line with a field, or, if it does not end here, of the one before
    end = block.find(b"\n", filled) + 1 or block.rfind(b"\n") + 1
    return block[:end]


def _lines(block: bytes) -> list[str]:
    """Return the lines of a block, with their ends."""
    return [f"{line}\n" for line in block[: block.rfind(b"\n")].decode().split("\n")]


_OTHER_STARTS = b"+- \t\v\f"  # of a number that pandas reads, beside digits


def _are_plain(lines: bytes, delimiter: str) -> bool:
    """Return whether numbers from 0 are written without zeros, signs and spaces around them.

    It looks at all fields.
    """
    if b'"' in lines and delimiter.isspace():  # quoted, it may be around a number
        return False
    characters = np.frombuffer(lines, dtype=np.uint8)
    before = (characters == ord(delimiter)) | (characters == ord("\n"))
    if b'"' in lines:
        before |= characters == ord('"')
    zeros = np.flatnonzero(before[:-1] & (characters[1:] == ord("0"))) + 1
    if lines.startswith(b"0"):
        zeros = np.append(zeros, 0)
    # as unsigned bytes, what is before 0 is far above
    if (characters[zeros + 1] - ord("0") < 10).any():
        return False
    starts = [sign for sign in _single(_OTHER_STARTS) if sign != delimiter.encode()]
    if not any(sign in lines for sign in starts):
        return True
    is_start = np.isin(characters, np.frombuffer(b"".join(starts), dtype=np.uint8))
    is_at_begin = before[:-1] & is_start[1:]
    is_at_end = before[1:] & is_start[:-1]
    return not (is_start[0] or is_at_begin.any() or is_at_end.any())


def _single(characters: bytes) -> list[bytes]:
    """Return the characters one by one."""
    return [bytes([character]) for character in characters]


_ASCII_SPACES = b" \t\v\f\x1c\x1d\x1e\x1f"  # those that str.strip leaves out
# in UTF-8
_OTHER_SPACES = (
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xe1\x9a\x80",
    b"\xe2\x80",
    b"\xe2\x81\x9f",
    b"\xe3\x80\x80",
)
_OF_FLOATS = b"e+", b"E+", b".0"


def _has_plain_text(lines: bytes, delimiter: str) -> bool:
    """Return whether no field has spaces around it, or is written as a float.

    It returns False if that is not sure.
    """
    if any(part in lines for part in _OF_FLOATS):
        return False
    if not lines.isascii() and any(part in lines for part in _OTHER_SPACES):
        return False
    spaces = [
        space for space in _single(_ASCII_SPACES) if space in lines and space != delimiter.encode()
    ]
    if spaces and lines.startswith(tuple(spaces)):
        return False
    marks = [b"\n", delimiter.encode(), *([b'"'] if b'"' in lines else [])]
    return not any(
        mark + space in lines or space + mark in lines for space in spaces for mark in marks
    )


def _is_small(column: pd.Series) -> bool:
    """Return whether a column is of whole numbers from 0 of at most 18 digits."""
    return column.dtype.kind == "i" and column.min() >= 0 and column.max() < 10**18


def line_place(name: str, numbers: Sequence[int] | Ints, row: int) -> str:
    """Return the place of a row of a file, where `numbers` are those of the lines."""
    return f"{name}, line {numbers[row]}"
