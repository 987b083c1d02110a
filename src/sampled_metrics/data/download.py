"""Download a dataset's file and verify its checksum."""

import logging
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pooch
import requests

from sampled_metrics import _files
from sampled_metrics._running import terminal_bar
from sampled_metrics.data import wheels
from sampled_metrics.data.archives import MAX_BYTES, is_web_page
from sampled_metrics.errors import ConfigError, DataError, DownloadError, reason

TIMEOUT = (10.0, 60.0)  # seconds to wait for a connection, and for the next bytes
_RETRIES = 2  # at each address; pooch waits a second before the first, and two before the second


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
    if url.startswith(wheels.SCHEME):
        wheels.fetch(wheels.parse_address(url), path)
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
    """Return the short reason of the error that a chain of errors began with."""
    while error.__context__ is not None:
        error = error.__context__
    return reason(error)


def _request(url: str, temporary: str, _site: pooch.Pooch, *, has_checksum: bool) -> None:
    """Write the content of an address to the temporary file of an attempt."""
    os.unlink(temporary)  # pooch made it for its owner alone to read
    with requests.get(
        url,
        headers={"Accept-Encoding": "identity"},
        timeout=TIMEOUT,
        stream=True,
        hooks={"response": _close_redirect},
    ) as response:
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
