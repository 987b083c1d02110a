"""Jobs: what they say and log, how they end with an error, and their random streams.

A user's error is one line, and any other error keeps its traceback.
"""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics_study.jobs import run, stream

TITLE = "rank X on books"


@pytest.fixture
def log(tmp_path):
    """The log of a job; handlers of the root logger are as before afterwards."""
    root = logging.getLogger()
    before = list(root.handlers)
    level = root.level
    yield tmp_path / "logs/a.log"
    for handler in set(root.handlers) - set(before):
        handler.close()
    root.handlers = before
    root.setLevel(level)


def run_job(main, log):
    snakemake = SimpleNamespace(
        log=[log],
        output=SimpleNamespace(),
        wildcards=SimpleNamespace(recommender="X"),
        params=SimpleNamespace(dataset="books"),
    )
    run(main, snakemake, "rank {wildcards.recommender} on {params.dataset}")


@pytest.mark.parametrize(
    ("error", "raised", "says"),
    [
        (DataError("ratings.dat, line 7: malformed"), SystemExit, "ratings.dat, line 7: malformed"),
        (ZeroDivisionError("by 0\nor so"), ZeroDivisionError, "unexpected ZeroDivisionError: by 0"),
    ],
    ids=[
        "of the user",
        "another one",
    ],
)
def test_an_error_of_the_user_is_one_line_and_another_one_leaves_its_traceback(
    log, capsys, error, raised, says
):
    def main(snakemake):
        raise error

    with pytest.raises(raised) as caught:
        run_job(main, log)
    title, *traceback, message = log.read_text().splitlines()
    assert (title, message) == (TITLE, f"error: {says}")
    if raised is SystemExit:
        assert (caught.value.code, traceback) == (1, [])
    else:
        assert "Traceback (most recent call last):" in traceback
    assert capsys.readouterr().err == f"{TITLE}\n{TITLE} failed: {says}\n  log: {log}\n"


def test_a_log_has_what_was_done_and_remarks_which_are_said_if_they_are_of_this_library(
    log, capsys
):
    def main(snakemake):
        logging.info("wrote 7 rows")
        logging.getLogger("sampled_metrics.core.ranks").warning("half tie")
        logging.getLogger("matplotlib").warning("no such font")

    log.parent.mkdir()
    log.write_text("of an earlier run\n")
    run_job(main, log)
    assert capsys.readouterr().err == f"{TITLE}\n{TITLE}: half tie\n"
    *lines, finished = log.read_text().splitlines()
    assert lines == [TITLE, "wrote 7 rows", "half tie", "no such font"]
    assert finished.startswith("finished in 0.")


def test_the_same_names_give_the_same_numbers_and_others_independent_ones():
    names = (2020, "ml-1m", "X", "sample")
    numbers = stream(*names).random(2000)
    assert (stream(*names).random(2000) == numbers).all()
    for other_names in (
        (2021, "ml-1m", "X", "sample"),
        (2020, "ml-1m", "X"),
        (2020, "ml-1m", "X", "sample", ""),
        (2020, "X", "ml-1m", "sample"),
        (2020, "ml-1mX", "sample"),
    ):
        correlation = np.corrcoef(numbers, stream(*other_names).random(2000))[0, 1]
        assert abs(correlation) < 4 / np.sqrt(2000), other_names
