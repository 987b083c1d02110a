"""A bound on how long a transfer takes, whatever the other side does: a least speed, and a time limit.

The timeout of a socket is no such bound: a server that sends a byte now and then never runs into it, be it of the head
of an answer, of its body, or of what follows that.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class TooSlowError(Exception):
    """Too few bytes came; the message is the short reason."""


class OutOfTimeError(Exception):
    """The time is up."""


@dataclass
class Received:
    """What has come since the pace was last looked at.

    Attributes:
        count: bytes.
        is_done: whether nothing more is to come.
    """

    count: int = 0
    is_done: bool = False


@contextmanager
def kept_up(seconds: float, window: float, least: int) -> Iterator[Received]:
    """Run a block that must be done in time, and to whose count enough must be added in every window.

    The block is interrupted by a signal, which reaches it wherever it waits. Python delivers signals to the main thread
    alone, and Windows has no such timer: elsewhere nothing is bounded.

    Args:
        seconds: for all of the block.
        window: seconds from one look at the pace to the next, if that is sooner.
        least: bytes that must come in a window; 0 leaves the pace unbounded.

    Raises:
        TooSlowError: in one window fewer came.
        OutOfTimeError: the seconds are over.
    """
    received = Received()
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield received
        return
    end = time.monotonic() + seconds

    def look(_number: int, _frame: object) -> None:
        if received.is_done:
            return
        if time.monotonic() >= end:
            raise OutOfTimeError
        if received.count < least:
            raise TooSlowError(f"{received.count} bytes came in {window:g} seconds, fewer than the {least} expected")
        received.count = 0
        signal.setitimer(signal.ITIMER_REAL, _next(window, end))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _next(window, end))
    try:
        try:
            yield received
        finally:
            received.is_done = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _next(window: float, end: float) -> float:
    """Seconds to the next look; 0 would mean never."""
    return max(1e-3, min(window, end - time.monotonic()))
