"""Read a data file as a stream of bytes: plain, gzipped, or a member of a zip archive.

Nothing is extracted. Names inside an archive only select a member, so absolute names, `..` and links have no effect. An
archive inside an archive is not opened.
"""

import gzip
import io
import struct
import zipfile
import zlib
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from sampled_metrics.errors import DataError, reason

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_BYTES = 16 * 2**30
"""Largest unpacked size of a packed file, in bytes. A larger file can be unpacked by hand and given as it is."""

# zipfile unpacks bzip2 and lzma without a bound: 4 KB of bzip2 may be 5 GB of zeros
_UNSUPPORTED = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_MAX_LISTED = 10

# What zipfile, gzip and zlib raise on damaged, truncated or unsupported content.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError)


class MemberStream(io.BufferedReader):
    """A stream of bytes whose `name` is its name in messages, such as `ml-1m.zip/ratings.dat`.

    Attributes:
        size: bytes in the stream; None if unknown.
    """

    def __init__(self, source: io.BufferedIOBase, name: str, size: int | None) -> None:
        super().__init__(_CheckedStream(source, name))
        self.size = size


class _CheckedStream(io.RawIOBase):
    """A stream whose reads report damage, or too many bytes of a packed file, as a DataError that names the file."""

    def __init__(self, source: io.BufferedIOBase, name: str) -> None:
        self._source = source
        self._count = 0
        self.name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._source.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        try:
            return self._source.seek(offset, whence)
        except _DAMAGE as error:
            raise _damaged(self.name, error) from error

    def readinto(self, buffer: "WriteableBuffer") -> int:
        try:
            count = self._source.readinto(buffer)
        except _DAMAGE as error:
            raise _damaged(self.name, error) from error
        self._count += count
        if self._count > MAX_BYTES and not isinstance(self._source, io.BufferedReader):  # not a plain file
            raise DataError(f"{self.name}: unpacks to more than the {MAX_BYTES} bytes allowed")
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def is_web_page(path: Path) -> bool:
    """Return whether a file begins as html does, such as a login page or an error page in place of the data set."""
    beginning = _beginning(path).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return beginning.startswith((b"<!doctype", b"<html"))


def find_member(path: Path, member: str | None) -> str | None:
    """Return the full name of the zip entry that `open_member` opens; None if the file is not a zip archive.

    Raises:
        DataError: the archive is damaged, or the number of matching entries is not one.
    """
    archive = _open_archive(path)
    if archive is None:
        return None
    with archive:
        return _find_entry(archive, path, member).filename


def open_member(path: Path, member: str | None) -> MemberStream:
    """Open a plain file, a gzipped file, or one member of a zip archive as a stream of bytes.

    The content decides the type of the file, not its name; a wheel is a zip archive. Reads from the stream raise
    DataError if the content is damaged, or unpacks to more than `MAX_BYTES`.

    Args:
        path: the file.
        member: name of the zip entry, with or without its folder, or a pattern of it such as `*.inter`; None if the
            archive has only one. Ignored for a file that is not a zip archive.

    Raises:
        DataError: the file cannot be read or is a web page; the archive is damaged, encrypted or too large, or the
            number of matching entries is not one.
    """
    archive = _open_archive(path)
    if archive is not None:
        with archive:  # an open entry keeps the file open
            return _open_entry(archive, path, member)
    try:
        beginning = _beginning(path)
        if is_web_page(path):
            raise DataError(f"{path}: is a web page, not the data set; delete it and download it again")
        if beginning.startswith(b"\x1f\x8b"):
            return MemberStream(gzip.open(path), str(path), None)
        if beginning.startswith(b"PK") or path.suffix.lower() == ".zip":
            raise DataError(f"{path}: is not a zip archive, or is truncated; delete it and download it again")
        return MemberStream(path.open("rb"), str(path), path.stat().st_size)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _open_archive(path: Path) -> zipfile.ZipFile | None:
    """Open a zip archive; None if the file is not one."""
    try:
        return zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
    except _DAMAGE as error:
        raise _damaged(str(path), error) from error


def _open_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> MemberStream:
    entry = _find_entry(archive, path, member)
    name = f"{path}/{PurePosixPath(entry.filename).name}"
    if entry.flag_bits & 0x1:
        raise DataError(f"{name}: is encrypted; decrypt the archive first")
    if entry.file_size > MAX_BYTES:
        raise DataError(f"{name}: unpacks to {entry.file_size} bytes, more than the {MAX_BYTES} bytes allowed")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        kind = _UNSUPPORTED.get(entry.compress_type, f"kind {entry.compress_type}")
        raise DataError(f"{name}: its compression ({kind}) is not supported; pack it again with deflate, zip's default")
    try:
        # zipfile stops at the declared size and then compares the CRC
        return MemberStream(cast(io.BufferedIOBase, archive.open(entry)), name, entry.file_size)
    except _DAMAGE as error:
        raise _damaged(name, error) from error


def _find_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> zipfile.ZipInfo:
    """Return the only entry with that full name or, if there is none, with that name or pattern in any folder."""
    # __MACOSX/ holds what macOS notes about the files, under nearly the same names
    entries = [entry for entry in archive.infolist() if not entry.filename.startswith("__MACOSX/")]
    entries = [entry for entry in entries if not entry.filename.endswith("/")]
    matches = entries
    if member is not None:
        matches = [entry for entry in entries if entry.filename == member]
        matches = matches or [entry for entry in entries if PurePosixPath(entry.filename).name == member]
        matches = matches or [entry for entry in entries if fnmatchcase(entry.filename, member)]
    if len(matches) == 1:
        return matches[0]
    wanted = "file" if member is None else f"file named {member!r}"
    names = ", ".join(repr(entry.filename) for entry in (matches or entries)[:_MAX_LISTED]) or "no files"
    more = ", …" if len(matches or entries) > _MAX_LISTED else ""
    hint = "; name one as the dataset's `member`" if len(entries) > 1 else ""
    raise DataError(f"{path}: expected one {wanted}, found {len(matches)}; the archive holds {names}{more}{hint}")


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: cannot be read: {reason(error)}; the file is damaged, truncated or unsupported")
