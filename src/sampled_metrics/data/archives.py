"""Read a data file as it lies on the disk: plain, gzipped, or inside a zip archive. Nothing is ever extracted.

Names inside an archive are names and nothing more: no file is ever written by them, so that absolute ones, `..` and
links lead nowhere. An archive inside an archive is not opened.
"""

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast

from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK"
_HTML_BEGINNINGS = (b"<!doctype", b"<html")

_ENCRYPTED_FLAG = 0x1
# What a zip bomb would exceed. No key of config raises these: a file that is larger can be unpacked by hand, and given
# as it is.
MAX_BYTES = 16 * 2**30
"""Bytes that the file inside an archive may have, unpacked."""
MAX_RATIO = 200
"""How many times its size a packed file may have when unpacked; a table of events stays below 20."""
HARMLESS_BYTES = 16 * 2**20
"""Bytes up to which the ratio does not matter."""
MAX_DIRECTORY_BYTES = 16 * 2**20
"""Bytes that the names in a zip archive may take: 100,000 files and more."""

# Of the kinds that zipfile unpacks, those of which it never unpacks more at a time than is asked for: 4 KB of bzip2 may
# be 5 GB of zeros, whatever size is declared.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_COMPRESSION_NAMES = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_MAX_LISTED = 10
_MAX_SHOWN = 200

# What zipfile, gzip and the decompressors under them raise on damaged, truncated or unsupported content.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    ValueError,
)


def is_web_page(path: Path) -> bool:
    """Whether a file begins as html does: what a login page or an error page leaves in place of a data set."""
    return _beginning(path).removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_HTML_BEGINNINGS)


class MemberStream(io.BufferedReader):
    """A stream of bytes whose `name` is what messages are to call it, such as `ml-1m.zip/ratings.dat`.

    Attributes:
        size: bytes that it will give; None if that is not known.
    """

    def __init__(self, stream: "_CheckedStream", size: int | None) -> None:
        super().__init__(stream)
        self.size = size


def find_member(path: Path, member: str | None) -> str | None:
    """Return the full name of the zip entry that `open_member` opens; None if the file is not a zip archive.

    Raises:
        DataError: the archive is damaged, or not exactly one of its entries has that name.
    """
    if not _is_zip(path):
        return None
    with ExitStack() as stack:
        return _find_entry(_open_archive(stack, path), path, member).filename


@contextmanager
def open_member(path: Path, member: str | None, *, limit: int = MAX_BYTES) -> Iterator[MemberStream]:
    """Open a plain file, a gzipped file, or one member of a zip archive as a stream of bytes.

    What the file is, its content decides, not its name; a wheel is a zip archive. The stream's reads raise DataError
    where the content turns out to be damaged.

    Args:
        path: the file.
        member: name of the zip entry, with or without its folder, or a pattern of it such as `*.inter`; None if the
            archive has only one. A file that is not a zip archive is read whole, whatever `member` says.
        limit: bytes; a zip entry that declares more, or a gzipped file that has more, is refused.

    Raises:
        DataError: the file cannot be read or is a web page; the archive is damaged, encrypted or a zip bomb, or not
            exactly one of its entries has that name.
    """
    with ExitStack() as stack:
        opened = _open_entry(stack, path, member, limit) if _is_zip(path) else _open_file(stack, path, limit)
        yield stack.enter_context(opened)


class _CheckedStream(io.RawIOBase):
    """A stream whose reads report damage, or more bytes than the limit, as a DataError that names the file."""

    def __init__(self, source: io.BufferedIOBase, name: str, limit: int | None = None) -> None:
        self._source = source
        self._left = limit
        self.name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        try:
            count = self._source.readinto(buffer)
        except _DAMAGE as error:
            raise _damaged(self.name, error) from error
        if self._left is not None:
            self._left -= count
            if self._left < 0:
                raise DataError(f"{self.name}: unpacks to far more than it holds: it looks like a bomb")
        return count


def _largest(packed: int) -> int:
    """Bytes that so many packed ones may become."""
    return max(HARMLESS_BYTES, MAX_RATIO * packed)


def _is_zip(path: Path) -> bool:
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile as error:  # one that says it is in several parts
        raise _damaged(str(path), error) from error


def _open_entry(stack: ExitStack, path: Path, member: str | None, limit: int) -> MemberStream:
    archive = _open_archive(stack, path)
    entry = _find_entry(archive, path, member)
    name = f"{path}/{_shown(PurePosixPath(entry.filename).name)}"
    if entry.flag_bits & _ENCRYPTED_FLAG:
        raise DataError(f"{name}: is encrypted; decrypt the archive first")
    if entry.file_size > limit:
        raise DataError(f"{name}: declares {entry.file_size} bytes, more than the {limit} allowed")
    if entry.file_size > _largest(entry.compress_size):
        raise DataError(
            f"{name}: declares {entry.file_size} bytes packed into {entry.compress_size}, "
            f"more than the {MAX_RATIO}:1 allowed: it looks like a zip bomb"
        )
    if entry.compress_type not in _COMPRESSIONS:
        kind = _COMPRESSION_NAMES.get(entry.compress_type, f"kind {entry.compress_type}")
        raise DataError(
            f"{name}: its compression ({kind}) is not read; pack it again by deflate, as zip does by default"
        )
    try:
        # zipfile itself stops at the declared size, and then compares the CRC
        source = stack.enter_context(archive.open(entry))
    except _DAMAGE as error:
        raise _damaged(name, error) from error
    return MemberStream(_CheckedStream(cast(io.BufferedIOBase, source), name), entry.file_size)


def _open_archive(stack: ExitStack, path: Path) -> zipfile.ZipFile:
    try:
        file = stack.enter_context(path.open("rb"))
        size = _directory_bytes(file)
        if size > MAX_DIRECTORY_BYTES:
            raise DataError(f"{path}: the names in it take {size} bytes, more than the {MAX_DIRECTORY_BYTES} allowed")
        return stack.enter_context(zipfile.ZipFile(file))
    except DataError:
        raise
    except _DAMAGE as error:
        raise _damaged(str(path), error) from error


def _directory_bytes(file: BinaryIO) -> int:
    """Return how long the list of an archive's files is, as zipfile reads it, before it reads all of that."""
    end = getattr(zipfile, "_EndRecData")(file)  # noqa: B009 (the types of zipfile do not name it)
    return int(end[getattr(zipfile, "_ECD_SIZE")])  # noqa: B009


def _find_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> zipfile.ZipInfo:
    """Return the only entry with that full name or, if there is none, with that name or pattern in any folder."""
    entries = [
        entry for entry in archive.infolist() if not entry.filename.endswith("/") and not _is_of_macos(entry.filename)
    ]
    matches = entries
    if member is not None:
        matches = [entry for entry in entries if entry.filename == member]
        matches = matches or [entry for entry in entries if PurePosixPath(entry.filename).name == member]
        matches = matches or [entry for entry in entries if fnmatchcase(entry.filename, member)]
    if len(matches) == 1:
        return matches[0]
    wanted = "file" if member is None else f"file named {member!r}"
    listed = ", ".join(_shown(repr(entry.filename)) for entry in (matches or entries)[:_MAX_LISTED]) or "no files"
    more = ", …" if len(matches or entries) > _MAX_LISTED else ""
    hint = "; name one as the dataset's `member`" if len(entries) > 1 else ""
    raise DataError(f"{path}: expected one {wanted}, found {len(matches)}; the archive holds {listed}{more}{hint}")


def _shown(text: str) -> str:
    """Shorten what a file says, which may be as long as the file."""
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def _is_of_macos(name: str) -> bool:
    """Whether it is not a file but what macOS notes about one, under nearly the same name."""
    return name.startswith("__MACOSX/")


def _open_file(stack: ExitStack, path: Path, limit: int) -> MemberStream:
    try:
        beginning = _beginning(path)
        if is_web_page(path):
            raise DataError(f"{path}: is a web page, not the data set; delete it and download it again")
        if beginning.startswith(_GZIP_MAGIC):
            limit = min(limit, _largest(path.stat().st_size))
            return MemberStream(_CheckedStream(stack.enter_context(gzip.open(path)), str(path), limit), None)
        if beginning.startswith(_ZIP_MAGIC) or path.suffix.lower() == ".zip":
            raise DataError(f"{path}: is not a zip archive, or is truncated; delete it and download it again")
        return MemberStream(_CheckedStream(stack.enter_context(path.open("rb")), str(path)), path.stat().st_size)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


def _damaged(name: str, error: Exception) -> DataError:
    reason = _shown(" ".join(str(error).split())) or type(error).__name__
    return DataError(f"{name}: cannot be read: {reason}; the file is damaged, truncated or of an unsupported kind")
