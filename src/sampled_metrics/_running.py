"""Threads and progress of long computations."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

Progress = Callable[[Iterable[Any]], Iterable[Any]]
"""Function that returns what it is given, and may show how far the iteration is."""


def no_progress(steps: Iterable[Any]) -> Iterable[Any]:
    """Return the steps, without showing progress."""
    return steps


def terminal_progress(steps: Iterable[Any]) -> Iterable[Any]:
    """Show the progress on a terminal, on stderr, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return steps
    from rich.console import Console
    from rich.progress import track

    return track(list(steps), console=Console(stderr=True), transient=True, description="")


LATE = 2.0
"""Seconds after which `late_progress` shows something."""


def late_progress(steps: Iterable[Any]) -> Iterator[Any]:
    """Show the progress of what is left after two seconds, as `terminal_progress` does."""
    steps, begun = list(steps), monotonic()
    for place, step in enumerate(steps):
        if monotonic() - begun > LATE:
            yield from terminal_progress(steps[place:])
            return
        yield step


_P = ParamSpec("_P")
_T = TypeVar("_T")


def on_one_thread(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with linear algebra on one thread.

    Its arrays are small, and threads that wait for one another make it several times slower on a busy machine.
    """

    @wraps(function)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        import scipy.linalg.blas  # noqa: F401  # only a library that is loaded can be limited
        from threadpoolctl import threadpool_limits  # looks at all libraries

        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
