"""Connections to servers that may never end an answer.

Every byte is watched, those of headers and chunks, too.
"""

import http.client
import io
import time
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SLOWEST = 2**14
"""Bytes of the file that have to arrive in time, from the first request on."""

MOST_BESIDE = 2**20
"""Largest number of bytes that are not of the file, such as headers, between parts of it."""


class Progress:
    """Whether a server sends the file, and not only bytes.

    Endless headers and single bytes would never end.
    """

    def __init__(self, seconds: float) -> None:
        """Begin now: in each period of so many seconds, `SLOWEST` bytes of the file must arrive."""
        self._seconds = seconds
        self._since = time.monotonic()
        self._file_bytes = 0  # since then
        self._other_bytes = 0  # since the last bytes of the file

    def advance(self, count: int) -> None:
        """Take note of bytes of the file."""
        self._file_bytes += count
        self._other_bytes = 0
        if self._file_bytes >= SLOWEST:
            self._since = time.monotonic()
            self._file_bytes = 0

    def require(self, count: int) -> None:
        """Take note of bytes of any kind.

        Raises:
            OSError: the limits of time or bytes are passed.
        """
        self._other_bytes += count
        if self._other_bytes > MOST_BESIDE:
            raise OSError(f"sends more than {MOST_BESIDE} bytes that are not of the file")
        if time.monotonic() - self._since > self._seconds:
            raise TimeoutError(
                f"timed out: sends less than {SLOWEST} bytes of the file in {self._seconds:g} "
                "seconds"
            )


class _WatchedStream(io.RawIOBase):
    """The bytes of a connection, each read of which is told to `Progress`."""

    def __init__(self, source: io.RawIOBase, progress: Progress) -> None:
        self._source = source
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        count = self._source.readinto(buffer)
        self._progress.require(count or 0)
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def watched_session(progress: Progress) -> requests.Session:
    """Return a session that tells `progress` of every byte received, those of headers, too."""

    class Response(http.client.HTTPResponse):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.fp = io.BufferedReader(_WatchedStream(self.fp.detach(), progress))

    class Adapter(requests.adapters.HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*args, **options)  # also of a proxy
            kind = type(pool).ConnectionCls
            pool.ConnectionCls = type(kind.__name__, (kind,), {"response_class": Response})
            return pool

    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, Adapter())
    return session
