"""What runs the calls of a function of scores: the thread of the caller, or several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from threading import Thread
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class InCaller(Executor):
    """Runs each call at once, in the thread of the caller."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Return a call that has ended."""
        call: Future[_T] = Future()
        call.set_result(fn(*args, **kwargs))
        return call


class DaemonThreads(Executor):
    """Runs calls in threads that end with the process.

    So an interruption does not wait for calls that run.
    """

    def __init__(self, concurrency: int) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [Thread(target=self._run, daemon=True) for _ in range(concurrency)]
        self._not_started = iter(self._threads)

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Return a call that begins as soon as a thread is idle."""
        call: Future[_T] = Future()

        def run() -> None:
            if not call.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # raised where the result is asked for
                call.set_exception(error)
            else:
                call.set_result(result)

        self._calls.put(run)
        if (thread := next(self._not_started, None)) is not None:
            thread.start()
        return call

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let each thread end after its call."""
        for _ in self._threads:
            self._calls.put(None)

    def _run(self) -> None:
        while (run := self._calls.get()) is not None:
            run()
