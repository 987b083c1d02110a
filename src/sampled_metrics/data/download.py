"""Download a dataset's file and verify its checksum."""

import hashlib
import os
import re
import ssl
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import requests
import urllib3
from tqdm import tqdm

from sampled_metrics import _files
from sampled_metrics.data import wheels
from sampled_metrics.data.archives import MAX_BYTES, is_web_page
from sampled_metrics.errors import ConfigError, DataError, DownloadError, reason

ATTEMPTS = 3  # at each address
PAUSE = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = (10.0, 60.0)  # seconds to wait for a connection, and for the next bytes
MAX_SECONDS = 12 * 3600.0  # longest time of a download, over all attempts and addresses; the next run resumes it


class _InterruptedError(DownloadError):
    """An address did not give the file this time; a further attempt may help."""


def file_name(url: str) -> str:
    """Return the name of the file at an address.

    Raises:
        ConfigError: it is a malformed address of a wheel.
    """
    return wheels.parse_address(url).file_name if url.startswith(wheels.SCHEME) else url.rsplit("/", 1)[-1]


def member(urls: Sequence[str]) -> str | None:
    """Return the member of the archive that the first address of a wheel names; None if no address is that of a wheel.

    Raises:
        ConfigError: one is a malformed address of a wheel.
    """
    return next((wheels.parse_address(url).member for url in urls if url.startswith(wheels.SCHEME)), None)


def verify(path: Path, *, md5: str | None, sha256: str | None) -> None:
    """Check that a file has the expected checksums or, without a checksum, that it is not a web page.

    Args:
        path: the file.
        md5: expected digest in hexadecimal, or None to leave it unchecked.
        sha256: the same for SHA-256.

    Raises:
        DataError: the file cannot be read or is not the expected one.
    """
    try:
        fault = _fault(path, _expected_digests(md5, sha256))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if fault is not None:
        raise DataError(f"{path}: {fault}; delete it and run again, or correct the dataset's checksum or path")


def verify_as_first_seen(path: Path, sha256: str, record: Path) -> None:
    """Record the checksum of a file when it is first seen, and refuse another file later.

    Args:
        path: the dataset's file, whose checksum config does not state.
        sha256: its SHA-256, in hexadecimal.
        record: file that keeps the checksum seen first.

    Raises:
        DataError: the file is not the one seen first.
    """
    if not record.exists():
        _files.write_text(record, sha256)
    seen = record.read_text(encoding="utf-8").strip()
    if seen != sha256:
        raise DataError(
            f"{path}: sha256 is {sha256}, but the file seen first had {seen}; "
            f"if the change is meant, delete {record}, or state the checksum in config"
        )


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
        if url.startswith(wheels.SCHEME):
            try:
                wheels.parse_address(url)
            except ConfigError as error:
                raise ConfigError(f"{key}: {error}") from None
        elif not url.startswith(("https://", "http://")):
            raise ConfigError(f"{key}: {url!r} is not an https:// or http:// address")
        elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", file_name(url)):
            raise ConfigError(f"{key}: {url!r} does not end in the name of a file, of letters, digits and . _ + -")


def download(urls: Sequence[str], destination: Path, *, md5: str | None = None, sha256: str | None = None) -> None:
    """Download a file from the first address that gives it, complete and verified.

    The bytes are written to `<destination>.part`. The complete file is verified and then renamed to `destination`. With
    a checksum, a `.part` of an earlier run or of another address is resumed. Without one, the download starts over,
    because a wrong beginning would go unnoticed. TLS certificates are always verified, and plain http needs a checksum.

    A download ends after `MAX_SECONDS`, checked when bytes arrive, and after `MAX_BYTES`.

    Args:
        urls: https or http addresses of the same file, or `pypi:` addresses of the same wheel, tried in turn.
        destination: path of the file; missing folders are made.
        md5: expected digest in hexadecimal, or None.
        sha256: the same for SHA-256.

    Raises:
        ConfigError: there is no address, or one is neither https nor http nor that of a wheel.
        DownloadError: no address gave the file.
        DataError: the file cannot be written.
    """
    require_addresses(urls)
    expected = _expected_digests(md5, sha256)
    part = destination.with_name(f"{destination.name}.part")
    deadline = time.monotonic() + MAX_SECONDS
    reasons = []
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        for url in urls:
            try:
                _fetch(url, part, expected, deadline)
            except DownloadError as error:
                reasons.append(f"{url}: {error}")
                continue
            with part.open("rb") as file:
                os.fsync(file.fileno())  # the name must never stand for less than the file, even after a crash
            os.replace(part, destination)
            return
    except OSError as error:
        raise DataError(f"{destination}: cannot be written: {error.strerror}") from error
    raise DownloadError(
        f"{destination}: could not be downloaded ({'; '.join(reasons)}); "
        "download it by hand and set the dataset's `path`"
    )


def _expected_digests(md5: str | None, sha256: str | None) -> dict[str, str]:
    given = {"md5": md5, "sha256": sha256}
    return {algorithm: digest.lower() for algorithm, digest in given.items() if digest is not None}


def _fault(path: Path, expected: dict[str, str]) -> str | None:
    """Return the reason why a file is not the expected one; None if it is."""
    verdict = "this is a web page, not the data set" if is_web_page(path) else None
    for algorithm, digest in expected.items():
        with path.open("rb") as file:
            found = hashlib.file_digest(file, partial(hashlib.new, algorithm, usedforsecurity=False)).hexdigest()
        if found != digest:
            verdict = verdict or "the file is damaged or is not the one configured"
            return f"{algorithm} is {found}, expected {digest}: {verdict}"
    return None if expected else verdict


def _fetch(url: str, part: Path, expected: dict[str, str], deadline: float) -> None:
    """Write the file at an address to `part` and verify it; attempts that fail are repeated after growing pauses."""
    for attempt in range(ATTEMPTS):
        try:
            is_resumed = False
            if url.startswith(wheels.SCHEME):
                wheels.fetch(wheels.parse_address(url), part, timeout=deadline - time.monotonic())
            else:
                is_resumed = _fetch_http(url, part, bool(expected), deadline)
            fault = _fault(part, expected)
            if fault is None:
                return
            part.unlink()
            raise (_InterruptedError if is_resumed else DownloadError)(fault)  # the old beginning may be wrong
        except _InterruptedError:
            if attempt == ATTEMPTS - 1:
                raise
        time.sleep(PAUSE * 2**attempt)


def _fetch_http(url: str, part: Path, has_checksum: bool, deadline: float) -> bool:
    """Request a file and write it to `part`; returns whether bytes that were there before are kept."""
    try:
        return _request(url, part, has_checksum, deadline)
    except DownloadError:
        raise
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise _failure(error) from error


def _failure(error: BaseException) -> DownloadError:
    """Return the error that says in short why a request failed, from the first error that others wrap."""
    cause = error
    while cause.__context__ is not None:
        cause = cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return DownloadError(cause.verify_message)
    may_pass = isinstance(error, requests.ConnectionError | requests.Timeout | urllib3.exceptions.HTTPError)
    return (_InterruptedError if may_pass else DownloadError)(reason(cause))


def _request(url: str, part: Path, has_checksum: bool, deadline: float) -> bool:
    """Request a file, or its rest if `part` holds its beginning, and write the answer; returns as `_fetch_http`."""
    _require_checksum_of_plain_http(url, has_checksum)
    offset = part.stat().st_size if has_checksum and part.exists() else 0
    # identity: the checksum and the range are those of the file, not of a compressed transfer
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    with requests.get(
        url, headers=headers, timeout=TIMEOUT, stream=True, hooks={"response": _close_redirect}
    ) as response:
        for hop in (*response.history, response):
            _require_checksum_of_plain_http(hop.url, has_checksum)
        status = response.status_code
        is_rest = status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
        if offset and not is_rest and status in (206, 416):
            part.unlink()
            raise _InterruptedError(f"HTTP {status} does not give the rest of the file from byte {offset} on")
        if status != 200 and not (offset and is_rest):
            failure = _InterruptedError if status == 429 or status >= 500 else DownloadError
            raise failure(f"HTTP {status} {response.reason}".rstrip())
        _write_body(response.raw, part, offset if is_rest else 0, deadline)
        return is_rest


def _close_redirect(response: requests.Response, **_: Any) -> None:
    """Close a redirect, because requests would read all of its body into memory."""
    if response.is_redirect:
        response.close()


def _require_checksum_of_plain_http(url: str, has_checksum: bool) -> None:
    if url.lower().startswith("http:") and not has_checksum:
        raise DownloadError(f"{url} is plain http, which needs an md5 or sha256")


def _write_body(body: urllib3.HTTPResponse, part: Path, offset: int, deadline: float) -> None:
    """Write a body to `part` from `offset` on; urllib3 raises if the body is shorter than announced."""
    size = offset
    total = None if body.length_remaining is None else offset + body.length_remaining
    if total is not None and total > MAX_BYTES:
        raise DownloadError(f"announces {total} bytes, more than the {MAX_BYTES} bytes allowed")
    bar = tqdm(desc=part.stem, initial=offset, total=total, unit="B", unit_scale=True, unit_divisor=1024, disable=None)
    with part.open("ab" if offset else "wb") as file, bar:
        while data := body.read1(16 * 1024, decode_content=False):  # read1 does not wait for all of the bytes
            size += len(data)
            if size > MAX_BYTES:
                part.unlink()
                raise DownloadError(f"sends more than the {MAX_BYTES} bytes allowed")
            file.write(data)
            bar.update(len(data))
            if time.monotonic() > deadline:
                raise DownloadError(f"the download is not complete after {MAX_SECONDS:g} seconds, the longest allowed")
