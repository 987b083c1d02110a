"""Text of a stream, in blocks of lines. Bytes that are not lines of UTF-8 text are refused, with their line."""

import re
from typing import Protocol

from sampled_metrics.errors import DataError

LONGEST_LINE = 1_000_000
"""Largest number of bytes of a line. A file with longer lines is not a table and could fill the memory."""

_BLOCK_BYTES = 16 * 2**20
_SHOWN_CHARACTERS = 80

_OTHER_FORMATS = {
    rb"\x1f\x8b": "is packed by gzip, but not by its name; let that end in .gz, or unpack it first",
    rb"BZh[1-9]1AY&SY": "is packed by bzip2; unpack it first",
    rb"\xfd7zXZ\0": "is packed by xz; unpack it first",
    rb"\x28\xb5\x2f\xfd": "is packed by zstd; unpack it first",
    rb"PK\x03\x04": "is a zip archive, as a spreadsheet is; unpack it first, or save it as csv",
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
            DataError: the block is not UTF-8 text, or a line, or what is empty before the first, is too long.
        """
        self.name, self._stream = name, stream
        self.block, self.line, self.is_last = b"", 1, False
        while not self.is_last and b"\n" not in self.block:
            self._read_on()
            for start, fault in _OTHER_FORMATS.items() if self.line == 1 else ():
                if re.match(start, self.block):
                    raise DataError(f"{name}: {fault}")
            self.drop(len(_MARK) * (self.line == 1 and self.block.startswith(_MARK)))
            blank = len(self.block) - len(self.block.lstrip(b" \t\n"))
            empty_lines = self.block.rfind(b"\n", 0, blank) + 1
            self._refuse_long(empty_lines)
            self.drop(empty_lines)
            self._check()

    def advance(self, used: int) -> None:
        """Go to the next block, which begins with the rest of this one after `used` bytes.

        Raises:
            DataError: the block is not UTF-8 text, or a line is too long.
        """
        self.drop(used)
        self._refuse_long(len(self.block))
        self._read_on()
        self._check()

    def line_at(self, position: int) -> int:
        """Return the number of the line at a position in the block."""
        return self.line + self.block.count(b"\n", 0, position)

    def goes_on(self, position: int) -> bool:
        """Return whether an incomplete line, which begins at a position, may end in the next block."""
        return not self.is_last and len(self.block) - position <= LONGEST_LINE

    def drop(self, used: int) -> None:
        """Leave out the first bytes of the block."""
        self.line, self.block = self.line_at(used), self.block[used:]

    def _read_on(self) -> None:
        read = b""
        while len(read) < _BLOCK_BYTES and (more := self._stream.read(_BLOCK_BYTES - len(read))):
            read += more
        self.is_last = len(read) < _BLOCK_BYTES
        while read.endswith(b"\r") and (more := self._stream.read(1)):  # the line end may be cut in two
            read += more
        if b"\r" in read:
            read = read.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.block += read
        if self.is_last and self.block and not self.block.endswith(b"\n"):
            self.block += b"\n"

    def _refuse_long(self, size: int) -> None:
        """Refuse so many bytes of empty lines, or of a line and of empty ones."""
        if size > LONGEST_LINE:
            raise self._refused(0, f"begins more than {LONGEST_LINE:,} bytes of empty lines, so this is no table")

    def _check(self) -> None:
        start = 0
        while len(self.block) - start > LONGEST_LINE:
            end = self.block.rfind(b"\n", start, start + LONGEST_LINE + 1)
            if end < 0:
                raise self._refused(start, f"is longer than {LONGEST_LINE:,} bytes, so this is not a table")
            start = end + 1
        if b"\0" in self.block:
            raise self._refused(self.block.index(b"\0"), "holds a zero byte, so this is not a table")
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
