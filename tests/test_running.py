"""Progress of long computations: a bar on a terminal, and nothing elsewhere."""

import io
import sys

import pytest

from sampled_metrics import _running
from sampled_metrics._running import LATE, late_progress, terminal_progress

on_a_terminal_or_not = pytest.mark.parametrize("is_terminal", [True, False])


def stderr(monkeypatch, is_terminal):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@on_a_terminal_or_not
@pytest.mark.parametrize("steps", [range, lambda count: iter(range(count))], ids=["known number", "unknown number"])
def test_yields_the_steps_and_shows_them_on_a_terminal(monkeypatch, steps, is_terminal):
    shown = stderr(monkeypatch, is_terminal)
    assert list(terminal_progress(steps(4), "rank [X]")) == [0, 1, 2, 3]
    assert ("rank [X]" in shown.getvalue()) == is_terminal
    assert is_terminal or not shown.getvalue()


@on_a_terminal_or_not
@pytest.mark.parametrize(("seconds", "is_late"), [(LATE / 3, False), (LATE, True)])
def test_late_progress_is_shown_after_two_seconds(monkeypatch, seconds, is_late, is_terminal):
    now, shown = 0.0, stderr(monkeypatch, is_terminal)
    monkeypatch.setattr(_running, "monotonic", lambda: now)
    for _ in late_progress(range(2)):
        now += seconds
    assert bool(shown.getvalue()) == (is_late and is_terminal)
