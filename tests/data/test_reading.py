"""Reading events of a file: the parser's options, messages with the file's name, and the bar on a terminal."""

import io
import sys
import zipfile
from pathlib import Path

import pytest

from sampled_metrics.data import formats, reading
from sampled_metrics.data.reading import read_events
from sampled_metrics.errors import DataError

INTER = b"user_id:token\titem_id:token\n" + b"1\t2\n" * 1000


def make_zip(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, INTER if name.endswith((".inter", ".tsv")) else b"something else")
    return path


def count(path: Path, form: str = "recbole-inter", **options) -> int:
    return sum(len(chunk.users) for chunk in read_events(path, formats.get(form), **options))


def test_options_reach_the_parser(tmp_path):
    path = make_zip(tmp_path / "a.zip", "only.tsv")
    columns = {"user": "user_id:token", "item": "item_id:token"}
    assert count(path, "delimited", options={"separator": "\t", "columns": columns}) == 1000


def test_the_format_says_which_file_unless_a_member_is_given(tmp_path):
    path = make_zip(tmp_path / "a.zip", "a.inter", "b/b.inter", "c.item")
    with pytest.raises(DataError, match=r"expected one file named '\*\.inter', found 2; .*'a\.inter', 'b/b\.inter'; "):
        count(path)
    assert count(path, member="b.inter") == 1000
    with pytest.raises(DataError, match=r"a\.zip/c\.item, line 1: there is no column 'user_id'"):
        count(path, member="c.item")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_counts_the_bytes_read_on_a_terminal(tmp_path, monkeypatch, is_terminal):
    class Bar(reading.tqdm):
        def __init__(self, **options):
            assert (options["desc"], options["total"], options["delay"]) == ("reading a.zip", len(INTER), 2)
            super().__init__(**options | {"delay": 0, "mininterval": 0})

    terminal = io.StringIO()
    terminal.isatty = lambda: is_terminal
    monkeypatch.setattr(reading, "tqdm", Bar)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("sampled_metrics.data.text._BLOCK_BYTES", 100)
    assert count(make_zip(tmp_path / "a.zip", "a.inter")) == 1000
    assert ("reading a.zip:  50%" in terminal.getvalue()) == is_terminal
    assert bool(terminal.getvalue()) == is_terminal
