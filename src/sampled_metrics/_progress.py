"""Progress of loops that take long: functions that wrap what is iterated over."""

from collections.abc import Callable, Iterable
from typing import Any

Progress = Callable[[Iterable[Any]], Iterable[Any]]
"""Function that returns what it is given, and may show how far the iteration is."""


def no_progress(steps: Iterable[Any]) -> Iterable[Any]:
    """Return the steps, without showing progress."""
    return steps
