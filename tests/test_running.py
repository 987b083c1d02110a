"""Progress of long computations on a terminal, and the number of threads of linear algebra while functions compute."""

import io
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import matplotlib
import numpy as np
import pytest
import read_and
from ranked_by_argsort import one_each
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

import sampled_metrics as sm
from sampled_metrics import _running
from sampled_metrics._running import LATE, late_progress, on_one_thread, terminal_progress
from sampled_metrics.data.split import Split
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.recommenders.models import FactorModel
from sampled_metrics.reporting.sample_sizes import expected_by_sample_size
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.study import repetitions

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


# --- threads ---

RANKS = {"x": [30, 25, 40, 12, 60, 33] * 2, "y": [1, 30, 2, 50, 9, 70] * 2}
TABLES = {
    name: sm.ExactRanks(None, np.full(12, 100), np.array(ranks) - 1, np.zeros(12, dtype=int))
    for name, ranks in RANKS.items()
}
EVALUATION = repetitions.Evaluation(SamplingDesign(5), 2, ["default"], ["bv-0.1"], ["ap"], False)


class Seen:
    """Notes how many threads the libraries of linear algebra may take whenever it is used."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def note(self) -> None:
        self.threads |= {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    def metric(self) -> Metric:
        def of_rank(rank, _):
            self.note()
            return 1 / np.asarray(rank)

        return Metric("mine", of_rank, False, None)

    def progress(self, steps):
        for each in steps:
            self.note()
            yield each


FUNCTIONS = {
    "evaluate": lambda seen: read_and.evaluate(RANKS["x"], candidates=100, metrics=seen.metric()),
    "correct": lambda seen: read_and.correct([1, 2, 3, 1, 6, 2], candidates=100, negatives=9, metrics=seen.metric()),
    "compare": lambda seen: read_and.compare(*RANKS.values(), candidates=100, metrics=seen.metric()),
    "expect": lambda seen: read_and.expect(RANKS, candidates=100, negatives=9, metrics=seen.metric()),
    "plan": lambda seen: sm.plan(TABLES, negatives=[5], estimators="uncorrected", draws=40, metric=seen.metric()),
    "report": lambda seen: read_and.report({"x": RANKS["x"]}, candidates=100, metrics=seen.metric()),
    "repeat": lambda seen: repetitions.repeat(TABLES["x"], EVALUATION, np.random.default_rng(0), seen.progress),
    "expected_by_sample_size": lambda seen: expected_by_sample_size(
        TABLES, "ap", ["bv-0.1"], [5], replacement=False, assume_replacement=False, progress=seen.progress
    ),
}


def seen_by(call) -> set[int]:
    """Return the numbers of threads while a function computes, with two allowed before and after it."""
    import scipy.linalg.blas  # noqa: F401  # has a library of its own

    seen = Seen()
    with threadpool_limits(2, "blas"):
        if not any(each["num_threads"] == 2 for each in threadpool_info() if each["user_api"] == "blas"):
            pytest.skip("the libraries of linear algebra have one thread only")
        call(seen)
        assert 2 in {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
    return seen.threads


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_on_one_thread_each(name: str) -> None:
    assert seen_by(FUNCTIONS[name]) == {1}


@pytest.mark.parametrize("threads", [1, 2])
def test_ranking_takes_the_threads_that_are_asked_for(threads: int) -> None:
    """Each block of users has one thread of its own."""
    training = np.zeros((3, 4))
    training[:, 0] = 1
    split = Split(csr_array(training), one_each([1, 2, 3], 4), np.arange(3), np.arange(4))
    model = FactorModel(np.ones((3, 2)), np.ones((4, 2)))
    assert seen_by(lambda seen: model.rank(split, progress=seen.progress, threads=threads)) == {1}


def test_reports_and_figures_of_several_threads_are_those_of_one(tmp_path):
    """Nothing is left changed, and the file that all write is whole."""
    table, settings = TABLES["x"], dict(matplotlib.rcParams)
    result = sm.evaluate(table, metrics="ap")

    def write(name: str) -> tuple[str, bytes]:
        result.plot(tmp_path / f"{name}.svg")
        result.plot(tmp_path / "all.svg")
        return sm.report(table, tmp_path / "all.html", metrics="ap"), (tmp_path / f"{name}.svg").read_bytes()

    alone = write("alone")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, "ab")) == [alone, alone]
    assert (tmp_path / "all.svg").read_bytes() == alone[1]
    assert (tmp_path / "all.html").read_text(encoding="utf-8").strip() == alone[0].strip()
    assert [name for name in settings if matplotlib.rcParams[name] != settings[name]] == []
    assert list(tmp_path.glob(".*")) == []


def test_threads_of_linear_algebra_are_as_before(monkeypatch):
    class Limit:
        """As of threadpoolctl: it ends with the number that it began with."""

        number = 2

        def __init__(self, number, user_api):
            self.before, Limit.number = Limit.number, number

        def __enter__(self):
            return self

        def __exit__(self, *_):
            Limit.number = self.before

    monkeypatch.setattr("threadpoolctl.threadpool_limits", Limit)
    first_inside, second_inside, first_left = Event(), Event(), Event()

    @on_one_thread
    def first() -> None:
        first_inside.set()
        second_inside.wait(10)

    @on_one_thread
    def second() -> None:
        second_inside.set()
        first_left.wait(10)

    threads = Thread(target=first), Thread(target=second)
    threads[0].start()
    first_inside.wait(10)
    threads[1].start()
    threads[0].join()
    assert Limit.number == 1
    first_left.set()
    threads[1].join()
    assert Limit.number == 2
