"""Download a dataset's file and verify its checksum."""

import functools
import hashlib
import math
import os
import re
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from tqdm import tqdm

from sampled_metrics import _files
from sampled_metrics.data import pace, wheels
from sampled_metrics.data.archives import is_web_page
from sampled_metrics.errors import ConfigError, DataError, DownloadError

_READ_BYTES = 16 * 1024  # what an interruption loses at most

LEAST_SPEED = 1000
"""Bytes a second below which an address has as good as stopped."""
LARGEST = 16 * 2**30
"""Bytes that a download may have; the catalogue's largest, MovieLens 32M, has 240 million."""
LONGEST = 12 * 3600.0
"""Seconds that a download may take, over all attempts and addresses; the next run goes on where it stopped."""


class _NotFetchedError(Exception):
    """An address did not give the file, and asking it again is of no use; the message is the short reason."""


class _InterruptedError(_NotFetchedError):
    """An address did not give the file this time; asking it again may help."""


def file_name(url: str) -> str:
    """Return what the file at an address is called.

    Raises:
        ConfigError: it is a malformed address of a wheel.
    """
    return wheels.parse_address(url).file_name if url.startswith(wheels.SCHEME) else url.rsplit("/", 1)[-1]


def member(urls: Sequence[str]) -> str | None:
    """Return the file inside the archive that the addresses name, which only those of wheels do; None if none does.

    Raises:
        ConfigError: one is a malformed address of a wheel.
    """
    return next((wheels.parse_address(url).member for url in urls if url.startswith(wheels.SCHEME)), None)


def verify(path: Path, *, md5: str | None, sha256: str | None) -> None:
    """Check that a file has the expected checksums; without any, only that it is not a web page.

    Args:
        path: the file; it is read as a stream.
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
    """Record the checksum of a file that config states none for, and refuse another file from then on.

    Args:
        path: the dataset's file.
        sha256: its SHA-256, in hexadecimal.
        record: where the checksum that was seen first is kept.

    Raises:
        DataError: the file is not the one that was seen first.
    """
    if not record.exists():
        _files.write_text(record, sha256)
    seen = record.read_text(encoding="utf-8").strip()
    if seen != sha256:
        raise DataError(
            f"{path}: sha256 is {sha256}, but the file seen first had {seen}; "
            f"if the change is meant, delete {record}, or state the checksum in config"
        )


def download(
    urls: Sequence[str],
    destination: Path,
    *,
    md5: str | None = None,
    sha256: str | None = None,
    attempts: int = 3,
    timeout: tuple[float, float] = (10.0, 60.0),
    base_delay: float = 1.0,
    least_speed: float = LEAST_SPEED,
    largest: int = LARGEST,
    longest: float = LONGEST,
    progress: bool = True,
) -> None:
    """Fetch a file from the first address that gives it, complete and verified.

    The bytes are collected in `<destination>.part`, in the same folder, and renamed only when they are all there and
    have the expected checksums; a file already at `destination` is then replaced. A `.part` that an earlier run or
    another address left is resumed if there is a checksum: without one nothing could tell a wrong resume from a right
    one, so the download starts over. TLS certificates are always verified, and plain http needs a checksum.

    It ends, whatever a server does: an attempt that brings less than `least_speed` over the seconds of a timeout is an
    interruption, a body of more than `largest` bytes is refused, and nothing goes on beyond `longest`.

    Args:
        urls: https or http addresses of the same file, or `pypi:` addresses of the same wheel, tried in turn.
        destination: where the file goes; missing folders are made.
        md5: expected digest in hexadecimal, or None.
        sha256: the same for SHA-256.
        attempts: how often an address is asked before the next one is tried, at least 1.
        timeout: seconds to wait for a connection, and for the next bytes.
        base_delay: seconds before the second attempt; doubled before each further one.
        least_speed: bytes a second, on average over as many seconds as both timeouts have together.
        largest: bytes that the file may have.
        longest: seconds that all attempts at all addresses may take.
        progress: whether to draw a progress bar on stderr.

    Raises:
        ConfigError: there is no address, or one is neither https nor http nor that of a wheel.
        DownloadError: no address gave the file.
        DataError: the file cannot be written.
    """
    require_addresses(urls)
    expected = _expected_digests(md5, sha256)
    part = destination.with_name(f"{destination.name}.part")
    limits = _Limits(timeout, least_speed, largest, longest, time.monotonic() + longest)
    reasons = []
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        for url in urls:
            fetch = (
                functools.partial(_fetch_wheel, wheels.parse_address(url), part, limits)
                if url.startswith(wheels.SCHEME)
                else functools.partial(_fetch, url, part, limits, has_checksum=bool(expected), progress=progress)
            )
            try:
                _fetch_verified(fetch, part, expected, attempts=attempts, base_delay=base_delay)
            except _NotFetchedError as error:
                reasons.append(f"{url}: {error}")
            else:
                _to_disk(part)
                os.replace(part, destination)
                return
    except OSError as error:
        raise DataError(f"{destination}: cannot be written: {error.strerror}") from error
    raise DownloadError(
        f"{destination}: could not be downloaded ({'; '.join(reasons)}); "
        "download it by hand and set the dataset's `path`"
    )


@dataclass(frozen=True)
class _Limits:
    """What an address may take.

    Attributes:
        timeout: seconds to wait for a connection, and for the next bytes.
        least_speed: bytes a second.
        largest: bytes of the file.
        longest: seconds for all attempts at all addresses.
        end: when those are over, by `time.monotonic`.
    """

    timeout: tuple[float, float]
    least_speed: float
    largest: int
    longest: float
    end: float

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.end - time.monotonic()

    @property
    def window(self) -> float:
        """Seconds over which the speed is looked at: what a slow beginning may take."""
        return sum(self.timeout)


def _expected_digests(md5: str | None, sha256: str | None) -> dict[str, str]:
    given = {"md5": md5, "sha256": sha256}
    return {algorithm: digest.lower() for algorithm, digest in given.items() if digest is not None}


def _fault(path: Path, expected: dict[str, str]) -> str | None:
    """Say why a file is not the expected one; None if it is."""
    verdict = "this is a web page, not the data set" if is_web_page(path) else None
    for algorithm, digest in expected.items():
        with path.open("rb") as file:
            found = hashlib.file_digest(file, functools.partial(hashlib.new, algorithm, usedforsecurity=False))
        if found.hexdigest() != digest:
            verdict = verdict or "the file is damaged or is not the one configured"
            return f"{algorithm} is {found.hexdigest()}, expected {digest}: {verdict}"
    return None if expected else verdict


def require_addresses(urls: Sequence[str], key: str = "datasets.*.urls") -> None:
    """Check that there are addresses, and that each may be downloaded from.

    Args:
        urls: the addresses.
        key: what messages call them by.

    Raises:
        ConfigError: one line that says which is wrong.
    """
    if not urls:
        raise ConfigError(f"{key}: there is no address to download from; give one, or set `path` to a copy")
    for url in urls:
        if url.startswith(wheels.SCHEME):
            try:
                wheels.parse_address(url)
            except ConfigError as error:
                raise ConfigError(f"{key}: {error}") from None
        elif _scheme(url) not in ("https", "http"):
            raise ConfigError(f"{key}: {url!r} is not an https:// or http:// address")
        elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", file_name(url)):
            raise ConfigError(f"{key}: {url!r} does not end in the name of a file, of letters, digits and . _ + -")


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:  # "http://["
        return ""


def _fetch_verified(
    fetch: Callable[[], bool], part: Path, expected: dict[str, str], *, attempts: int, base_delay: float
) -> None:
    """Fetch until the file is complete and right; what was resumed and is wrong is fetched again from zero, once."""
    for last in (False, True):
        resumed = _fetch_patiently(fetch, attempts=attempts, base_delay=base_delay)
        fault = _fault(part, expected)
        if fault is None:
            return
        part.unlink()
        if last or not resumed:
            raise _NotFetchedError(fault)


def _fetch_patiently(fetch: Callable[[], bool], *, attempts: int, base_delay: float) -> bool:
    """Fetch, and again after an interruption, with growing pauses; returns what the last `fetch` returned."""
    for attempt in range(attempts - 1):
        try:
            return fetch()
        except _InterruptedError:
            time.sleep(base_delay * 2**attempt)
    return fetch()


def _fetch(url: str, part: Path, limits: _Limits, *, has_checksum: bool, progress: bool) -> bool:
    """Ask an address once and write what it sends to `part`; returns whether bytes that were there before were kept."""
    _refuse_unchecked_http(url, has_checksum)
    handled_by_caller = sys.exception()  # would be the context of every error below
    least = math.ceil(limits.least_speed * limits.window)
    try:
        with pace.kept_up(limits.left, limits.window, least) as received:
            return _ask(url, part, limits, received, has_checksum=has_checksum, progress=progress)
    except pace.TooSlowError as error:
        raise _InterruptedError(str(error)) from error
    except pace.OutOfTimeError as error:
        raise _NotFetchedError(_out_of_time(limits)) from error
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        cause = _first_cause(error, handled_by_caller)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise _NotFetchedError(cause.verify_message) from error
        raise _InterruptedError(_in_short(cause)) from error
    except (requests.RequestException, ValueError) as error:  # ValueError: redirected to what is no address
        raise _NotFetchedError(_in_short(_first_cause(error, handled_by_caller))) from error


def _ask(url: str, part: Path, limits: _Limits, received: pace.Received, *, has_checksum: bool, progress: bool) -> bool:
    """Ask for the file, or for its rest where there is a beginning, and write the answer; returns as `_fetch`."""
    offset = part.stat().st_size if has_checksum and part.exists() else 0
    # identity: the checksum and the range are those of the file, not of a compressed transfer
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    with requests.get(
        url, headers=headers, timeout=limits.timeout, stream=True, hooks={"response": _leave_body_of_redirect}
    ) as response:
        for hop in (*response.history, response):
            _refuse_unchecked_http(hop.url, has_checksum)
        if offset and _range_is_unusable(response, offset):
            part.unlink()
            return _ask(url, part, limits, received, has_checksum=has_checksum, progress=progress)
        resumed = offset > 0 and response.status_code == 206
        if not resumed:
            _require_success(response)
        _write_body(response, part, offset if resumed else 0, limits.largest, received, progress)
        return resumed


def _leave_body_of_redirect(response: requests.Response, **_: Any) -> None:
    """Keep requests from reading all of a redirect's body into memory, which has no use and may have no end."""
    if response.is_redirect:
        response._content = b""
        response.raw.close()


def _fetch_wheel(wheel: wheels.Wheel, part: Path, limits: _Limits) -> bool:
    """Download a wheel to `part`; no bytes that were there before are kept."""
    try:
        with pace.kept_up(limits.left, limits.window, 0):
            wheels.fetch(wheel, part)
    except DownloadError as error:
        raise _NotFetchedError(str(error)) from error
    except pace.OutOfTimeError as error:
        raise _NotFetchedError(_out_of_time(limits)) from error
    return False


def _out_of_time(limits: _Limits) -> str:
    return f"not done in the {limits.longest:g} seconds that all of a download may take"


def _refuse_unchecked_http(url: str, has_checksum: bool) -> None:
    if urlsplit(url).scheme == "http" and not has_checksum:
        raise _NotFetchedError(f"{url} is plain http, which needs an md5 or sha256")


def _range_is_unusable(response: requests.Response, offset: int) -> bool:
    """Whether the answer to a range request is neither its rest nor the whole file."""
    if response.status_code == 206:
        return not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
    return response.status_code == 416


def _require_success(response: requests.Response) -> None:
    status = response.status_code
    if status != 200:
        failure = _InterruptedError if status == 429 or status >= 500 else _NotFetchedError
        raise failure(f"HTTP {status} {response.reason}".rstrip())


def _write_body(
    response: requests.Response, part: Path, offset: int, largest: int, received: pace.Received, progress: bool
) -> None:
    """Write the body to `part` from `offset` on; urllib3 raises if it is shorter than announced."""
    remaining = response.raw.length_remaining
    size = offset
    if remaining is not None and offset + remaining > largest:
        raise _NotFetchedError(f"announces {offset + remaining} bytes, more than the {largest} allowed")
    with (
        part.open("ab" if offset else "wb") as file,
        tqdm(
            desc=part.stem,
            initial=offset,
            total=None if remaining is None else offset + remaining,
            unit="B",
            unit_scale=True,
            unit_divisor=1024,
            disable=not progress,
        ) as bar,
    ):
        for data in response.raw.stream(_READ_BYTES, decode_content=False):
            size += len(data)
            if size > largest:
                part.unlink()
                raise _NotFetchedError(f"sends more than the {largest} bytes allowed")
            file.write(data)
            received.count += len(data)
            bar.update(len(data))


def _to_disk(path: Path) -> None:
    """Have the disk hold what a file holds, so that a name given next never stands for less."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _first_cause(error: BaseException, handled_by_caller: BaseException | None) -> BaseException:
    """Return the error behind the wrappers that urllib3 and requests put around it."""
    while error.__context__ not in (None, handled_by_caller):
        error = error.__context__
    return error


def _in_short(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__
