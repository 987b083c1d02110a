"""Jobs: what they say and log; a user's error is one line, any other error keeps its traceback; random streams."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.study import jobs
from sampled_metrics.study.jobs import progress_bar, run, stream


@pytest.fixture
def log(tmp_path):
    """The log of a job; handlers of the root logger are as before afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield tmp_path / "logs/a.log"
    for handler in set(root.handlers) - set(before):
        handler.close()
    root.handlers = before
    root.setLevel(level)


def run_job(main, log, title="rank {wildcards.recommender} on {params.dataset}"):
    given = {"wildcards": SimpleNamespace(recommender="X"), "params": SimpleNamespace(dataset="books")}
    run(main, SimpleNamespace(log=[log], **given), title)


def failing(error):
    def main(snakemake):
        raise error

    return main


def test_an_error_of_the_user_is_one_line(log, capsys):
    with pytest.raises(SystemExit) as caught:
        run_job(failing(DataError("ratings.dat, line 7: malformed")), log)
    assert caught.value.code == 1
    assert log.read_text() == "rank X on books\nerror: ratings.dat, line 7: malformed\n"
    said = f"rank X on books\nrank X on books failed: ratings.dat, line 7: malformed\n  log: {log}\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(("text", "last"), [("by 0\nor so", "by 0"), ("", "")])
def test_another_error_passes_and_leaves_its_traceback(log, capsys, text, last):
    with pytest.raises(ZeroDivisionError):
        run_job(failing(ZeroDivisionError(text)), log)
    assert "Traceback" in log.read_text()
    assert log.read_text().splitlines()[-1] == f"error: unexpected ZeroDivisionError: {last}"
    said = f"rank X on books\nrank X on books failed: unexpected ZeroDivisionError: {last}\n"
    assert capsys.readouterr().err.startswith(said)


def test_a_log_has_what_was_done_and_remarks_which_are_said_if_they_are_of_this_library(log, capsys):
    def main(snakemake):
        logging.info("wrote 7 rows")
        logging.getLogger("sampled_metrics.ranks").warning("half tie")
        logging.getLogger("matplotlib").warning("no such font")

    log.parent.mkdir()
    log.write_text("of an earlier run\n")
    run_job(main, log)
    assert capsys.readouterr().err == "rank X on books\nrank X on books: half tie\n"
    *lines, finished = log.read_text().splitlines()
    assert lines == ["rank X on books", "wrote 7 rows", "half tie", "no such font"]
    assert finished.startswith("finished in 0.")


def test_the_log_estimates_the_time_left(log, monkeypatch):
    """A step takes 6 seconds by a clock of its own: lines after 12 and 24 seconds, when 2 and 4 of 5 are done."""
    now = 0
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: now))

    def main(snakemake):
        nonlocal now
        for _ in progress_bar("rank")(range(5)):
            now += 6

    run_job(main, log)
    assert log.read_text().splitlines()[1:] == [
        "rank: 2 of 5 done, about 18 s left",
        "rank: 4 of 5 done, about 6 s left",
        "finished in 30.0 s",
    ]


OF_X = (2020, "ml-1m", "X", "sample")


def test_the_same_names_give_the_same_numbers():
    assert (stream(*OF_X).random(9) == stream(*OF_X).random(9)).all()


@pytest.mark.parametrize(
    "other",
    [
        (2021, "ml-1m", "X", "sample"),
        (2020, "ml-1m", "Y", "sample"),
        (2020, "ml-1m", "X"),
        (2020, "X", "ml-1m", "sample"),
        (2020, "ml-1mX", "sample"),
        (2020, "ml-1m", "X", "sample", ""),
        (2020,),
    ],
    ids=str,
)
def test_other_names_give_independent_numbers(other):
    correlation = np.corrcoef(stream(*OF_X).random(2000), stream(*other).random(2000))[0, 1]
    assert abs(correlation) < 4 / np.sqrt(2000)
