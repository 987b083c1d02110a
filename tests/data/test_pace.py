import signal
import socket
import threading
import time

import pytest

from sampled_metrics.data.pace import OutOfTimeError, Received, TooSlowError, kept_up


def wait(seconds: float, window: float, least: int, first: int = 0) -> None:
    """Take five seconds, in the beginning of which so many bytes come."""
    with kept_up(seconds, window, least) as received:
        received.count += first
        time.sleep(5)


def test_enough_in_every_window_goes_on() -> None:
    with kept_up(60, 0.5, 10) as received:
        for _ in range(6):
            received.count += 20
            time.sleep(0.2)


def test_too_little_in_a_window_says_how_little() -> None:
    with pytest.raises(TooSlowError) as caught:
        wait(60, 0.05, 10, first=3)
    assert str(caught.value) == "3 bytes came in 0.05 seconds, fewer than the 10 expected"


def test_a_good_window_does_not_make_up_for_a_bad_one() -> None:
    with pytest.raises(TooSlowError, match=r"^0 bytes"):
        wait(60, 0.05, 10, first=1000)


@pytest.mark.parametrize("seconds", [0.1, 0.0, -3.0])
def test_the_time_is_a_bound_whatever_comes(seconds: float) -> None:
    start = time.monotonic()
    with pytest.raises(OutOfTimeError):
        wait(seconds, 0.02, 0)
    assert time.monotonic() - start < 3


def test_a_socket_that_waits_is_interrupted() -> None:
    one, other = socket.socketpair()
    with one, other, pytest.raises(TooSlowError), kept_up(60, 0.05, 1):
        one.recv(1)


def test_afterwards_the_signal_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with kept_up(60, 60, 1):
        pass
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_than_the_first_is_unbounded() -> None:
    found: list[Received] = []

    def run() -> None:
        with kept_up(0.01, 0.01, 10) as received:
            time.sleep(0.1)
            found.append(received)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [Received()]
