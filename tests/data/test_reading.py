import gzip
import io
import sys
import zipfile
from pathlib import Path

import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.reading import files_beside, read_events
from sampled_metrics.errors import DataError

INTER = b"user_id:token\titem_id:token\n" + b"1\t2\n" * 1000


def make_zip(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, INTER if name.endswith((".inter", ".tsv")) else b"something else")
    return path


def count(path: Path, form: str = "recbole-inter", **options) -> int:
    return sum(len(chunk.users) for chunk in read_events(path, formats.get(form), **options))


@pytest.mark.parametrize("name", ["ml-100k.zip", "recbole-1.2.1.whl"])
def test_member_of_an_archive(tmp_path, name):
    names = ["x/ml-100k/ml-100k.inter", "x/ml-100k/ml-100k.item", "__MACOSX/x/ml-100k/._ml-100k.inter"]
    path = make_zip(tmp_path / name, *names)
    assert count(path) == 1000
    assert count(path, member="x/ml-100k/ml-100k.inter") == 1000
    assert count(path, member="ml-100k.inter") == 1000
    assert count(path, member="*/ml-100k.inter") == 1000


@pytest.mark.parametrize("compress", [gzip.compress, bytes])
def test_plain_or_gzipped(tmp_path, compress):
    path = tmp_path / "any.name"
    path.write_bytes(compress(INTER))
    assert count(path) == 1000
    assert files_beside(path, formats.get("recbole-inter")) == []


def test_options_reach_the_parser(tmp_path):
    path = make_zip(tmp_path / "a.zip", "only.tsv")
    columns = {"user": "user_id:token", "item": "item_id:token"}
    assert count(path, "delimited", options={"separator": "\t", "columns": columns}) == 1000


def test_several_that_match_are_listed(tmp_path):
    path = make_zip(tmp_path / "a.zip", "a.inter", "b/b.inter", "c.item")
    with pytest.raises(DataError) as caught:
        count(path)
    assert str(caught.value) == (
        f"{path}: expected one file named '*.inter', found 2; the archive holds 'a.inter', 'b/b.inter'; "
        "name one as the dataset's `member`"
    )


def test_errors_name_the_file_in_the_archive(tmp_path):
    path = make_zip(tmp_path / "a.zip", "x/a.item")
    with pytest.raises(DataError, match=r"a\.zip/a\.item, line 1: there is no column 'user_id'"):
        count(path, member="a.item")


class TestProgressBar:
    @pytest.fixture
    def bars(self, monkeypatch) -> list:
        """The bars that are drawn, without delay."""
        from sampled_metrics.data import reading

        made = []

        class Bar(reading.tqdm):
            def __init__(self, **options):
                made.append(options)
                super().__init__(**options | {"delay": 0, "mininterval": 0})

        monkeypatch.setattr(reading, "tqdm", Bar)
        return made

    def test_counts_the_bytes_read_on_a_terminal(self, tmp_path, monkeypatch, bars):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr("sampled_metrics.data.text._BLOCK_BYTES", 100)
        assert count(make_zip(tmp_path / "a.zip", "a.inter")) == 1000
        assert [(bar["desc"], bar["total"], bar["delay"]) for bar in bars] == [("reading a.zip", len(INTER), 2)]
        assert "reading a.zip:  50%" in terminal.getvalue()

    def test_is_not_drawn_elsewhere(self, tmp_path, capsys, bars):
        assert count(make_zip(tmp_path / "a.zip", "a.inter")) == 1000
        assert len(bars) == 1
        assert capsys.readouterr().err == ""
