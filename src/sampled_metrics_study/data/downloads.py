"""Download a file, complete and verified, from the first of some addresses that gives it."""

import logging
import os
import re
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
    Wheel,
    digests,
    expected_digests,
    fault_of,
    file_name,
    parse_address,
    require_addresses,
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
            tried in turn.
        destination: path of the file; missing folders are made.
        md5: expected digest in hexadecimal, or None.
        sha256: the same for SHA-256.

    Raises:
        ConfigError: there is no address, or one is neither https nor http nor that of a wheel.
        DownloadError: no address gave the file.
        WriteError: the file cannot be written.
    """
    require_addresses(urls)
    expected = expected_digests(md5, sha256)
    reasons = []
    with file_io.atomic_write(destination) as temporary:
        for url in urls:
            try:
                _fetch(url, temporary, expected)
            except DownloadError as error:
                reasons.append(f"{url}: {error}")
            else:
                return
        raise DownloadError(
            f"{destination}: could not be downloaded ({'; '.join(reasons)}); download it by hand "
            "and set the dataset's `path`"
        )


def _fetch(url: str, path: Path, expected: dict[str, str]) -> None:
    """Write the file at an address to `path`, and verify it."""
    # pooch would keep an existing file, such as the wrong one of another address
    path.unlink(missing_ok=True)
    if url.startswith(SCHEME):
        _fetch_wheel(parse_address(url), path)
    else:
        _fetch_http(url, path, bool(expected))
    fault = fault_of(path, expected, digests(path))
    if fault is not None:
        raise DownloadError(fault)


def _fetch_wheel(wheel: Wheel, destination: Path) -> None:
    """Download a wheel for every platform by pip, from the index that pip is configured for."""
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=destination.parent) as folder:
        command = [
            sys.executable,
            *_PIP,
            *_DOWNLOAD,
            "--dest",
            folder,
            f"{wheel.name}=={wheel.version}",
        ]
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
        return (
            f"the package index has no wheel {wheel.name}=={wheel.version} for every platform "
            f"(versions: {versions})"
        )
    errors = [
        line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")
    ]
    return "pip: " + (errors[-1] if errors else "it failed without a reason")


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
