"""Progress of long computations on a terminal, and the number of threads of linear algebra while
functions compute.
"""

import io
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Timer, get_ident
from threading import enumerate as living_threads
from time import sleep

import matplotlib
import numpy as np
import pytest
import read_and
from ranked_by_argsort import one_each
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

import sampled_metrics as sm
from sampled_metrics import _running
from sampled_metrics._running import late_progress, on_one_thread, terminal_progress
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.ranking import rank
from sampled_metrics.ranking.split import Split
from sampled_metrics.reporting.sample_sizes import expected_by_sample_size
from sampled_metrics_study import repetitions
from sampled_metrics_study.recommenders.models import FactorModel
from sampled_metrics_study.recommenders.ranking import rank_by_model


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
        shown = stderr(monkeypatch, is_terminal)
        assert list(terminal_progress(steps, "rank [X]")) == [0, 1, 2, 3]
        assert ("rank [X]" in shown.getvalue(), bool(shown.getvalue())) == (
            is_terminal,
            is_terminal,
        )
    for delay, is_late in (
        (60.0, False),
        (0.05, True),
    ):  # the bar appears within the first step, which may be long
        shown = stderr(monkeypatch, is_terminal)
        steps = terminal_progress(range(2), "plan", delay=delay)
        next(steps)
        sleep(0.5)
        assert ("plan" in shown.getvalue()) == (is_late and is_terminal)
        assert list(steps) == [1]
        assert not any(isinstance(thread, Timer) for thread in living_threads())


def test_late_progress_waits_for_two_seconds(monkeypatch):
    delays = []
    monkeypatch.setattr(
        _running, "terminal_progress", lambda steps, *, delay: delays.append(delay) or iter(steps)
    )
    assert (list(late_progress(range(3))), delays) == ([0, 1, 2], [2.0])


# --- threads ---

TABLES = {
    name: sm.ExactRanks(None, np.full(12, 100), np.array(ranks) - 1, np.zeros(12, dtype=int))
    for name, ranks in {"x": [30, 25, 40, 12, 60, 33] * 2, "y": [1, 30, 2, 50, 9, 70] * 2}.items()
}
SPLIT = Split(csr_array(np.eye(3, 4)), one_each([1, 2, 3], 4), np.arange(3), np.arange(4))
MODEL = FactorModel(np.ones((3, 2)), np.ones((4, 2)))
EVALUATION = repetitions.Evaluation(SamplingDesign(5), 2, ["default"], ["bv-0.1"], ["ap"], False)


def threads_of_blas() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


class Seen:
    """Notes how many threads the libraries of linear algebra may take whenever it is used."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def metric(self) -> Metric:
        def of_rank(rank, _):
            self.threads |= threads_of_blas()
            return 1 / np.asarray(rank)

        return Metric("mine", of_rank, False, None)

    def progress(self, steps):
        for step in steps:
            self.threads |= threads_of_blas()
            yield step


FUNCTIONS = {
    "correct": lambda seen: read_and.correct(
        [1, 2, 3, 1, 6, 2], candidates=100, negatives=9, metrics=seen.metric()
    ),
    "compare": lambda seen: sm.compare(TABLES, metrics=seen.metric()),
    "expect": lambda seen: sm.expect(TABLES, negatives=9, metrics=seen.metric()),
    "plan": lambda seen: sm.plan(
        TABLES, negatives=[5], estimators="uncorrected", draws=40, metric=seen.metric()
    ),
    "report": lambda seen: sm.report({"x": TABLES["x"]}, metrics=seen.metric()),
    "repeat": lambda seen: repetitions.repeat(
        TABLES["x"], EVALUATION, np.random.default_rng(0), seen.progress
    ),
    "expected_by_sample_size": lambda seen: expected_by_sample_size(
        TABLES,
        "ap",
        ["bv-0.1"],
        [5],
        replacement=False,
        assume_replacement=False,
        progress=seen.progress,
    ),
    "rank on one": lambda seen: rank_by_model(MODEL, SPLIT, progress=seen.progress, threads=1),
    "rank on two": lambda seen: rank_by_model(MODEL, SPLIT, progress=seen.progress, threads=2),
}


@contextmanager
def two_threads():
    """Allow two threads, and see that they are allowed afterwards."""
    import scipy.linalg.blas  # noqa: F401  # has a library of its own

    with threadpool_limits(2, "blas"):
        if 2 not in threads_of_blas():
            pytest.skip("the libraries of linear algebra have one thread only")
        yield
        assert 2 in threads_of_blas()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_on_one_thread_each(name):
    seen = Seen()
    with two_threads():
        FUNCTIONS[name](seen)
    assert seen.threads == {1}


def test_rank_takes_the_threads_of_linear_algebra_for_much_work_by_factors(monkeypatch):
    """Each thread multiplies on one, and the number that a user allows is that of the threads."""
    asked: list[int] = []
    parallel = rank.parallel
    monkeypatch.setattr(
        rank, "parallel", lambda threads: asked.append(threads) or parallel(threads)
    )
    seen = Seen()
    factors = (MODEL.user_factors, MODEL.item_factors)
    with two_threads():
        sm.rank(factors, np.eye(3, 4), [1, 2, 3])
        monkeypatch.setattr(rank, "_MUCH_WORK", 0)
        sm.rank(factors, np.eye(3, 4), [1, 2, 3], progress=seen.progress)
        sm.rank(lambda users: np.zeros((3, 4))[users], np.eye(3, 4), [1, 2, 3])
        with threadpool_limits(1, "blas"):
            sm.rank(factors, np.eye(3, 4), [1, 2, 3])
    assert asked == [1, 2, 1, 1]
    assert seen.threads == {1}


def test_no_call_begins_after_an_error():
    begun: list[int] = []

    def call(number: int) -> int:
        begun.append(number)
        if number == 3:
            raise KeyboardInterrupt
        return number

    with pytest.raises(KeyboardInterrupt), _running.parallel(2) as run:
        list(run(call, range(1000)))
    assert len(begun) < 1000


def test_reports_and_figures_of_several_threads_are_those_of_one(tmp_path):
    """Nothing is left changed, and the file that all write is whole."""
    table = TABLES["x"]
    settings = dict(matplotlib.rcParams)
    result = sm.evaluate(table, metrics="ap")

    def write(name: str) -> tuple[str, bytes]:
        result.plot(tmp_path / f"{name}.svg")
        return sm.report(table, tmp_path / "all.html", metrics="ap"), (
            tmp_path / f"{name}.svg"
        ).read_bytes()

    alone = write("alone")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, "ab")) == [alone, alone]
    assert (tmp_path / "all.html").read_text(encoding="utf-8").strip() == alone[0].strip()
    assert [name for name in settings if matplotlib.rcParams[name] != settings[name]] == []
    assert list(tmp_path.glob(".*")) == []


class Limit:
    """As of threadpoolctl 3.8: it ends with the number that it began with, in the thread that set
    it alone.
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
