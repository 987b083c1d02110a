"""Threads and progress of long computations."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache, wraps
from threading import Lock, Timer, get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sampled_metrics.errors import printable

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Progress = Callable[[Iterable[Any]], Iterable[Any]]
"""Function that returns the steps that it is given, and may show how many are done."""


def no_progress(steps: Iterable[Any]) -> Iterable[Any]:
    """Return the steps, without showing progress."""
    return steps


LATE = 2.0
"""Seconds after which progress is shown where most work takes less."""


@contextmanager
def terminal_bar(
    what: str, total: int | None, *, delay: float = 0.0, are_bytes: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds a number to the steps done.

    A terminal shows a bar on stderr; nothing else does.

    Args:
        what: text before the bar.
        total: the number of steps; None if it is not known.
        delay: seconds after which the bar appears.
        are_bytes: whether the numbers are bytes; the bar then shows their speed.
    """
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

    byte_columns = (DownloadColumn(binary_units=True), TransferSpeedColumn()) if are_bytes else ()
    bar = Progress(
        *Progress.get_default_columns(), *byte_columns, console=Console(stderr=True), transient=True
    )
    task = bar.add_task(escape(printable(what)), total=total)
    late_start = Timer(delay, bar.start)  # a first step may take far longer than the delay
    late_start.daemon = True
    try:
        if delay > 0:
            late_start.start()
        else:
            bar.start()
        yield lambda count: bar.advance(task, count)
    finally:
        late_start.cancel()
        if late_start.is_alive():
            late_start.join()  # it may have just begun to show the bar
        if bar.live.is_started:
            bar.stop()


def terminal_progress(steps: Iterable[Any], what: str = "", *, delay: float = 0.0) -> Iterator[Any]:
    """Yield the steps, and show on a terminal how many are done.

    Parameters as in `terminal_bar`.
    """
    total = len(steps) if isinstance(steps, Sized) else None
    with terminal_bar(what, total, delay=delay) as advance:
        for step in steps:
            yield step
            advance(1)


def late_progress(steps: Iterable[Any]) -> Iterator[Any]:
    """Yield the steps, and show on a terminal after two seconds how many are done."""
    return terminal_progress(steps, delay=LATE)


@contextmanager
def terminal_status() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text on stderr after two seconds, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.status import Status

    status = Status("", console=Console(stderr=True))
    started = monotonic()

    def show(text: str) -> None:
        if monotonic() - started >= LATE:
            status.update(escape(text))
            status.start()

    try:
        yield show
    finally:
        status.stop()


_P = ParamSpec("_P")
_T = TypeVar("_T")


def on_one_thread(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with linear algebra on one thread.

    The arrays are small, and threads that wait for one another make the function several times
    slower on a busy machine. If several threads of Python call such functions at once, the limit
    ends with the call of the thread that set it.
    """

    @wraps(function)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with _ONE_THREAD:
            return function(*args, **kwargs)

    return limited


class _SharedLimit:
    """A context with linear algebra on one thread.

    The first thread to enter sets the limit, and ends it on leaving.

    From version 3.8 on, threadpoolctl lets no other thread end the limit.

    A process that is forked gets a new lock: another thread of its parent may hold the old one, and
    that thread does not exist in the process.
    """

    def __init__(self) -> None:
        self.renew_lock()
        self._limits = ExitStack()
        self._owner = 0  # the thread that set the limit, and how often it is inside
        self._entered = 0

    def renew_lock(self) -> None:
        """Replace the lock by a new one, which no thread holds."""
        self._lock = Lock()

    def __enter__(self) -> None:
        import scipy.linalg.blas  # noqa: F401  # only a library that is loaded can be limited
        from threadpoolctl import threadpool_limits  # looks at all libraries

        with self._lock:
            if not self._entered:
                self._limits.enter_context(threadpool_limits(1, user_api="blas"))
                self._owner = get_ident()
            self._entered += self._owner == get_ident()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._owner == get_ident() and self._entered:
                self._entered -= 1
                if not self._entered:
                    self._limits.close()


_ONE_THREAD = _SharedLimit()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_ONE_THREAD.renew_lock)


def threads_of_linear_algebra() -> int:
    """Return the number of threads of the libraries of linear algebra; 1 if it is not known.

    OMP_NUM_THREADS limits it.
    """
    threads = [library["num_threads"] for library in _libraries_of_linear_algebra().info()]
    return min(threads, default=1)


@cache
def _libraries_of_linear_algebra() -> "ThreadpoolController":
    """Return the libraries that numpy and scipy load.

    The search takes some milliseconds, so there is only one.
    """
    import scipy.linalg.blas  # noqa: F401  # only a library that is loaded can be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def parallel(threads: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Yield a function like `map` that runs calls in threads; `map` itself for one thread.

    Linear algebra has one thread in each of them.

    After an error or an interruption, no call begins.
    """
    if threads == 1:
        yield map
        return
    with _ONE_THREAD:
        pool = ThreadPoolExecutor(threads)
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)
