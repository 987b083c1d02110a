"""Download a file, complete and verified, from the first of some addresses that gives it."""

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pooch
import requests

from sampled_metrics import file_io
from sampled_metrics.errors import DownloadError, reason
from sampled_metrics.running import terminal_bar
from sampled_metrics_study.data.archives import (
    MAX_BYTES,
    SCHEME,
    digests,
    fault_of,
    file_name,
    parse_address,
)

TIMEOUT = (10.0, 60.0)
"""Seconds to wait for a connection, and for the next bytes."""
_PIP_SECONDS = 3600.0  # pip has no limit for a server that goes on slowly
_RETRIES = 2  # at each address; pooch waits a second before the first, and two before the second

_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", "2")
_DOWNLOAD = (
    "download",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--platform",
    "any",
    "--progress-bar",
    "off",
)


def download(
    urls: Sequence[str], destination: Path, *, md5: str | None = None, sha256: str | None = None
) -> None:
    """Download a file from the first address that gives it, complete and verified.

    The file appears under its name when it is complete and verified, or not at all. An address that
    fails is tried again twice, from the start of the file; one that gives another file is not. TLS
    certificates are always verified, and plain http needs a checksum. A file of more than
    `MAX_BYTES` is refused.

    Args:
        urls: https or http addresses of the same file, or `pypi:` addresses of the same wheel,
            tried in turn, as the schema of the config allows them.
        destination: path of the file; missing folders are made.
        md5: expected digest in hexadecimal, or None.
        sha256: the same for SHA-256.

    Raises:
        DownloadError: no address gave the file.
        WriteError: the file cannot be written.
    """
    reasons = []
    with file_io.atomic_write(destination) as temporary:
        for url in urls:
            try:
                _fetch(url, temporary, md5, sha256)
            except DownloadError as error:
                reasons.append(f"{url}: {error}")
            else:
                return
        raise DownloadError(
            f"{destination}: could not be downloaded ({'; '.join(reasons)}); download it by hand "
            "and set the dataset's `path`"
        )


def _fetch(url: str, path: Path, md5: str | None, sha256: str | None) -> None:
    """Write the file at an address to `path`, and verify it."""
    # pooch would keep an existing file, such as the wrong one of another address
    path.unlink(missing_ok=True)
    if url.startswith(SCHEME):
        package, _ = parse_address(url)
        _fetch_wheel(package, path)
    else:
        _fetch_http(url, path, has_checksum=bool(md5 or sha256))
    fault = fault_of(path, md5, sha256, digests(path))
    if fault is not None:
        raise DownloadError(fault)


def _fetch_wheel(package: str, destination: Path) -> None:
    """Download a wheel for every platform by pip, from the index that pip is configured for."""
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=destination.parent) as folder:
        command = [sys.executable, *_PIP, *_DOWNLOAD, "--dest", folder, "--", package]
        try:
            ran = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=_PIP_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise DownloadError(f"pip takes more than {_PIP_SECONDS:g} seconds") from None
        files = list(Path(folder).glob("*.whl"))
        if ran.returncode != 0 or len(files) != 1:
            raise DownloadError(_reason(ran.stderr))
        os.replace(files[0], destination)


def _reason(output: str) -> str:
    """Return one line that explains the output of pip."""
    if "connection broken by" in output:
        return "pip cannot reach the package index"
    lines = output.splitlines() or ["it failed without a reason"]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    # of a version that is not there, the first error lists those that are
    line = errors[0] if errors else lines[-1]
    return f"pip: {line.removeprefix('ERROR: ')}"


def _fetch_http(url: str, path: Path, has_checksum: bool) -> None:
    """Write the file at an address to `path` by pooch, which starts again after any failure."""
    pooch.get_logger().setLevel(logging.WARNING)  # it would print the name of the temporary file
    site = pooch.create(
        path.parent,
        base_url="",
        registry={path.name: None},
        urls={path.name: url},
        retry_if_failed=_RETRIES,
    )
    try:
        site.fetch(path.name, downloader=partial(_request, has_checksum=has_checksum))
    except (requests.RequestException, ValueError) as error:
        raise DownloadError(_first_reason(error)) from error


def _first_reason(error: BaseException) -> str:
    """Return the short reason of the error that a chain of errors began with.

    No frame that goes on keeps that error.
    """
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
        # the checksum is that of the bytes sent: a server may call a .gz file a compressed transfer
        # of its content
        response.raw.headers.pop("Content-Encoding", None)
        size = 0
        total = response.raw.length_remaining
        with (
            open(temporary, "xb") as file,
            terminal_bar(file_name(url), total, are_bytes=True) as advance,
        ):
            for part in response.iter_content(2**16):
                size += len(part)
                if size > MAX_BYTES:
                    raise DownloadError(f"sends more than the {MAX_BYTES} bytes allowed")
                file.write(part)
                advance(len(part))


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
