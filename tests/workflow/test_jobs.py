"""Jobs: a user's error is one line in the log and on stderr, any other error keeps its traceback."""

import logging
from types import SimpleNamespace

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.workflow.jobs import progress_bar, run


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


def test_an_error_of_the_user_is_one_line(tmp_path, capsys):
    log = tmp_path / "logs" / "a.log"
    given = SimpleNamespace(log=[log], error=DataError("line 7: malformed"))
    with pytest.raises(SystemExit) as caught:
        run(fail, given, about="ratings.dat, ")
    assert caught.value.code == 1
    assert capsys.readouterr().err == log.read_text() == "error: ratings.dat, line 7: malformed\n"


def test_another_error_passes_and_leaves_its_traceback(tmp_path, capsys):
    with pytest.raises(ZeroDivisionError):
        run(fail, SimpleNamespace(log=[tmp_path / "a.log"], error=ZeroDivisionError()))
    assert "Traceback" in (tmp_path / "a.log").read_text()
    assert capsys.readouterr().err == ""


def test_a_log_of_an_earlier_run_is_replaced(tmp_path):
    (tmp_path / "a.log").write_text("old\n")
    run(lambda snakemake: logging.info("new"), SimpleNamespace(log=[tmp_path / "a.log"]))
    assert (tmp_path / "a.log").read_text() == "new\n"


def test_progress_passes_every_number_on(capsys):
    assert list(progress_bar("rank")(range(5))) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""
