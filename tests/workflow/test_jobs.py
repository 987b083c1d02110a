"""Jobs: what they say and log; a user's error is one line, any other error keeps its traceback; what failed."""

import logging
from types import SimpleNamespace

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.study import jobs
from sampled_metrics.study.jobs import progress_bar, run


@pytest.fixture(autouse=True)
def _no_log_stays_open():
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    for handler in before:
        if handler not in root.handlers:
            root.addHandler(handler)
    root.setLevel(level)


def fail(snakemake):
    raise snakemake.error


def job(log, **others):
    given = SimpleNamespace(recommender="X", dataset="books")
    return SimpleNamespace(log=[log], wildcards=given, params=SimpleNamespace(table=3), **others)


RANK = "rank {wildcards.recommender} on {wildcards.dataset}"


def test_an_error_of_the_user_is_one_line(tmp_path, capsys):
    log = tmp_path / "logs" / "a.log"
    with pytest.raises(SystemExit) as caught:
        run(fail, job(log, error=DataError("ratings.dat, line 7: malformed")), RANK)
    assert caught.value.code == 1
    assert log.read_text() == "rank X on books\nerror: ratings.dat, line 7: malformed\n"
    said = f"rank X on books\nrank X on books failed: ratings.dat, line 7: malformed\n  log: {log}\n"
    assert capsys.readouterr().err == said


def test_another_error_passes_and_leaves_its_traceback(tmp_path, capsys):
    with pytest.raises(ZeroDivisionError):
        run(fail, job(tmp_path / "a.log", error=ZeroDivisionError("by 0\nor so")), "table {params.table}")
    logged = (tmp_path / "a.log").read_text()
    assert "Traceback" in logged
    assert logged.splitlines()[-1] == "error: unexpected ZeroDivisionError: by 0"
    said = "table 3\ntable 3 failed: unexpected ZeroDivisionError: by 0\n"
    assert capsys.readouterr().err.startswith(said)


def test_a_log_says_what_was_done_and_replaces_that_of_an_earlier_run(tmp_path, capsys):
    (tmp_path / "a.log").write_text("old\n")
    run(lambda snakemake: logging.info("wrote 7 rows"), job(tmp_path / "a.log"), RANK)
    title, counted, finished = (tmp_path / "a.log").read_text().splitlines()
    assert (title, counted) == ("rank X on books", "wrote 7 rows")
    assert finished.startswith("finished in 0.")
    assert capsys.readouterr().err == "rank X on books\n"


def test_remarks_are_logged_and_said_but_those_of_other_libraries_are_only_logged(tmp_path, capsys):
    def main(snakemake):
        logging.getLogger("sampled_metrics.ranks").warning("half tie")
        logging.getLogger("matplotlib").warning("no such font")

    run(main, job(tmp_path / "a.log"), RANK)
    assert capsys.readouterr().err == "rank X on books\nrank X on books: half tie\n"
    assert (tmp_path / "a.log").read_text().startswith("rank X on books\nhalf tie\nno such font\n")


def test_the_log_estimates_the_time_left(tmp_path, monkeypatch):
    """A step takes 6 seconds by a clock of its own: lines after 12 and 24 seconds, when 2 and 4 of 5 are done."""
    now = 0
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: now))

    def main(snakemake):
        nonlocal now
        for _ in progress_bar("rank")(range(5)):
            now += 6

    run(main, job(tmp_path / "a.log"), RANK)
    logged = (tmp_path / "a.log").read_text().splitlines()
    assert logged[1:] == [
        "rank: 2 of 5 done, about 18 s left",
        "rank: 4 of 5 done, about 6 s left",
        "finished in 30.0 s",
    ]
