"""Progress of loops that take long: functions that wrap what is iterated over."""

import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any

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
