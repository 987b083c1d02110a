"""Progress of long computations on a terminal, and threads of linear algebra of functions."""

import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer, get_ident
from threading import enumerate as living_threads
from time import sleep

import pytest
import read_and
from threads_seen import TABLES, threads_seen

import sampled_metrics as sm
from sampled_metrics import running
from sampled_metrics.running import late_progress, on_one_thread, terminal_progress


def stderr(monkeypatch, is_terminal):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_a_terminal_alone_and_that_of_short_work_after_a_delay(
    monkeypatch, is_terminal
):
    for steps in (range(4), iter(range(4))):  # of a known number, and of an unknown one
        stream = stderr(monkeypatch, is_terminal)
        assert list(terminal_progress(steps, "rank [X]")) == [0, 1, 2, 3]
        assert ("rank [X]" in stream.getvalue()) == is_terminal
        assert bool(stream.getvalue()) == is_terminal
    # the bar appears within the first step, which may be long
    for delay, is_late in ((60.0, False), (0.05, True)):
        stream = stderr(monkeypatch, is_terminal)
        steps = terminal_progress(range(2), "plan", delay=delay)
        next(steps)
        sleep(0.5)
        assert ("plan" in stream.getvalue()) == (is_late and is_terminal)
        assert list(steps) == [1]
        assert not any(isinstance(thread, Timer) for thread in living_threads())


def test_late_progress_waits_for_two_seconds(monkeypatch):
    delays = []
    monkeypatch.setattr(
        running, "terminal_progress", lambda steps, *, delay: delays.append(delay) or iter(steps)
    )
    assert (list(late_progress(range(3))), delays) == ([0, 1, 2], [2.0])


# --- threads ---

FUNCTIONS = {
    "correct": lambda seen: read_and.correct(
        [1, 2, 3, 1, 6, 2], candidates=100, negatives=9, metrics=seen.metric()
    ),
    "compare": lambda seen: sm.compare(TABLES, metrics=seen.metric()),
    "expect": lambda seen: sm.expect(TABLES, negatives=9, metrics=seen.metric()),
}
"""Those of the other packages stand in tests/whole/test_threads.py."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_on_one_thread_each(name):
    assert threads_seen(FUNCTIONS[name]) == {1}


class Limit:
    """As of threadpoolctl 3.8: it is ended by the thread that set it alone.

    It ends with the number that it began with.
    """

    number = 2

    def __init__(self, number, user_api):
        self.before = Limit.number
        self.thread = get_ident()
        Limit.number = number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if get_ident() == self.thread:
            Limit.number = self.before


def test_no_call_begins_after_an_error():
    begun: list[int] = []

    def call(number):
        begun.append(number)
        if number == 3:
            raise KeyboardInterrupt
        sleep(0.001)  # so that not all have begun before the error is noticed
        return number

    with pytest.raises(KeyboardInterrupt), running.parallel(2) as run:
        list(run(call, range(1000)))
    assert len(begun) < 1000


@pytest.mark.parametrize("is_first_to_leave", [True, False])
def test_the_limit_of_threads_ends_with_the_thread_that_set_it(monkeypatch, is_first_to_leave):
    monkeypatch.setattr("threadpoolctl.threadpool_limits", Limit)
    second_inside = Event()
    first_left = Event()

    @on_one_thread
    def second():
        second_inside.set()
        assert not is_first_to_leave or first_left.wait(10)
        return on_one_thread(lambda: Limit.number)()

    @on_one_thread
    def first():
        running = pool.submit(second)
        second_inside.wait(10)
        assert on_one_thread(lambda: Limit.number)() == Limit.number == 1
        return running if is_first_to_leave else running.result()

    with ThreadPoolExecutor(1) as pool:
        running = first()
        assert Limit.number == 2
        first_left.set()
        assert (running.result() if is_first_to_leave else running) == 1
        assert pool.submit(on_one_thread(lambda: Limit.number)).result() == 1
    assert Limit.number == 2


FORKED = """
import os, signal, threading
import threadpoolctl
from sampled_metrics.running import on_one_thread

sets_the_limit = threading.Event()
limits = threadpoolctl.threadpool_limits

def waits(*args, **kwargs):
    sets_the_limit.set()
    threading.Event().wait()

threadpoolctl.threadpool_limits = waits
call = on_one_thread(lambda: None)
threading.Thread(target=call, daemon=True).start()
sets_the_limit.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    threadpoolctl.threadpool_limits = limits
    call()
    os._exit(0)
os._exit(os.waitpid(child, 0)[1])
"""
"""A thread is inside of a call, and holds the lock, while the process forks."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_during_a_call_of_another_thread_does_not_wait_for_it():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)
