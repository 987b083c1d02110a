"""Files appear whole or not at all, and hold the same bytes for the same content."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.errors import ConfigError, DataError, WriteError

TABLE = pd.DataFrame({"name": ["é", "b"], "value": [0.1, 2.0]})
WRITERS = {
    "text.md": lambda path: _files.write_text(path, "γ"),
    "content.json": lambda path: _files.write_json(path, {"a": [1, "γ"]}),
    "table.csv": lambda path: _files.write_csv(path, TABLE),
    "table.csv.gz": lambda path: _files.write_csv(path, TABLE),
    "arrays.npz": lambda path: _files.write_npz(path, one=np.arange(3), two=np.eye(2)),
}


class TestAtomicWrite:
    @staticmethod
    def fail_half_way(path):
        with _files.atomic_write(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("half")

    def test_what_was_there_stays_if_the_block_fails(self, tmp_path):
        (tmp_path / "b.txt").write_text("before")
        with pytest.raises(RuntimeError, match="half"):
            self.fail_half_way(tmp_path / "b.txt")
        assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
        assert (tmp_path / "b.txt").read_text() == "before"

    def test_what_a_link_leads_to_is_replaced_and_not_the_link(self, tmp_path):
        (tmp_path / "far").mkdir()
        (tmp_path / "far/target.txt").write_text("before")
        (tmp_path / "near.txt").symlink_to("far/target.txt")
        (tmp_path / "link.txt").symlink_to("near.txt")
        _files.write_text(tmp_path / "link.txt", "after")
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "near.txt").is_symlink()
        assert (tmp_path / "far/target.txt").read_text() == "after\n"
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "link.txt", "near.txt", "target.txt"]

    @pytest.mark.parametrize("name", [".", "folder/", "pipe", "link to the pipe", "a", "/dev/null"])
    def test_only_a_regular_file_is_written(self, tmp_path, monkeypatch, name):
        (tmp_path / "folder").mkdir()
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "link to the pipe").symlink_to("pipe")
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(WriteError) as caught:
            _files.write_text(name, "text")
        assert str(caught.value) == f"{name}: is not a regular file, and only a regular file is written"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "folder", "link to the pipe", "pipe"]

    @pytest.mark.parametrize("through", ["b.txt", "link.txt"])
    def test_a_read_only_file_is_not_replaced(self, tmp_path, through):
        (tmp_path / "b.txt").write_text("before")
        (tmp_path / "b.txt").chmod(0o444)
        (tmp_path / "link.txt").symlink_to("b.txt")
        for write in (lambda path: _files.write_text(path, "after"), _files.require_writable):
            with pytest.raises(WriteError, match=rf"{through}: is read-only, and is not replaced$"):
                write(tmp_path / through)
        assert (tmp_path / "b.txt").read_text() == "before"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["b.txt", "link.txt"]

    def test_two_writers_of_a_file_do_not_share_what_is_unfinished(self, tmp_path):
        with _files.atomic_write(tmp_path / "b.txt") as one, _files.atomic_write(tmp_path / "b.txt") as other:
            one.write_text("one")
            other.write_text("other")
            assert one.read_text() == "one"
        assert (tmp_path / "b.txt").read_text() == "one"

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            (5, "the path of a file to write is text or a Path, not 5"),
            (b"b.txt", "the path of a file to write is text or a Path, not b'b.txt'"),
            ("", "the name of a file to write is empty"),
            ("b\0.txt", r"b\x00.txt: has a zero byte, which no path has"),
            ("b" * 300, f"{'b' * 300}: cannot be written: File name too long"),
        ],
    )
    def test_what_is_no_path_is_refused(self, path, says):
        for write in (lambda path: _files.write_text(path, "text"), _files.require_writable):
            with pytest.raises(WriteError) as caught:
                write(path)
            assert str(caught.value) == says

    @pytest.mark.parametrize("name", ["b.csv", "./b.csv", "soft.csv", "hard.csv"])
    def test_an_input_is_not_written(self, tmp_path, monkeypatch, name):
        monkeypatch.chdir(tmp_path)
        Path("b.csv").touch()
        Path("soft.csv").symlink_to("b.csv")
        Path("hard.csv").hardlink_to("b.csv")
        with pytest.raises(WriteError) as caught:
            _files.require_writable(name, ["gone.csv", "a\0", "b.csv"])
        assert str(caught.value) == f"{name}: is the same file as the input b.csv; write another one"
        _files.require_writable("new.csv", ["b.csv"])

    def test_a_full_disk_is_one_line(self, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(WriteError, match=r"table\.csv: cannot be written: No space left on device$"):
            _files.write_csv(tmp_path / "table.csv", TABLE)
        assert list(tmp_path.iterdir()) == []


class TestLeftovers:
    def test_of_dead_processes_are_removed_and_nothing_else(self, tmp_path):
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        end = "-0123abcd.sampled-metrics-unfinished"
        (tmp_path / "deeper").mkdir()
        kept = [f".{os.getpid()}{end}.csv", ".2024.notes.csv", f".{ended.pid}.csv", f".{ended.pid}-notes{end[9:]}.csv"]
        kept += [f"deeper/.{ended.pid}{end}.csv", f"{ended.pid}{end}.csv", ".mine.csv"]
        for name in (*kept, f".{ended.pid}{end}.csv", f".{ended.pid}{end}"):
            (tmp_path / name).touch()
        (tmp_path / f".{ended.pid}{end}.link").symlink_to(".mine.csv")
        _files.remove_leftovers([tmp_path, tmp_path / "gone"])
        left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
        assert left == {*kept, "deeper", f".{ended.pid}{end}.link"}

    def test_are_what_a_killed_writer_leaves(self, tmp_path):
        script = f"""
import os, signal
from sampled_metrics import _files
with _files.atomic_write({str(tmp_path / "table.csv.gz")!r}) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
        subprocess.run([sys.executable, "-c", script], check=False)
        [left] = tmp_path.iterdir()
        assert left.suffix == ".gz"
        _files.remove_leftovers([tmp_path])
        assert list(tmp_path.iterdir()) == []


class TestContent:
    @pytest.mark.parametrize("name", WRITERS)
    def test_is_the_same_bytes_twice_whichever_process_writes_it(self, tmp_path, monkeypatch, name):
        for process in (1, 22):
            monkeypatch.setattr("os.getpid", lambda process=process: process)
            WRITERS[name](tmp_path / str(process) / name)
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "22" / name).read_bytes()


class TestReadNpz:
    @pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.99])
    def test_refuses_what_is_cut_off(self, tmp_path, at):
        _files.write_npz(tmp_path / "a.npz", x=np.arange(3000))
        content = (tmp_path / "a.npz").read_bytes()
        (tmp_path / "a.npz").write_bytes(content[: int(at * len(content))])
        for read in (
            lambda path: _files.read_npz(path, "a test"),
            read_split,
        ):
            with pytest.raises(DataError, match=r"a\.npz: is not .*, or is damaged"):
                read(tmp_path / "a.npz")

    def test_every_flipped_bit_of_the_content_is_noticed(self, tmp_path):
        _files.write_npz(tmp_path / "a.npz", x=np.arange(50))
        content = (tmp_path / "a.npz").read_bytes()
        first = content.index(np.arange(50).tobytes())
        for at in range(first, first + 400, 7):
            flipped = bytearray(content)
            flipped[at] ^= 1 << (at % 8)
            (tmp_path / "a.npz").write_bytes(flipped)
            with pytest.raises(DataError, match="Bad CRC-32"):
                _files.read_npz(tmp_path / "a.npz", "a test")


@pytest.mark.parametrize("name", ["text.md", "table.csv"])
def test_half_a_pair_of_surrogates_is_written_escaped(tmp_path, name):
    write = {"text.md": _files.write_text, "table.csv": lambda path, text: _files.write_csv(path, table(text))}[name]
    write(tmp_path / name, "a\udcff")
    assert "a\\udcff" in (tmp_path / name).read_text()


def table(cell):
    return pd.DataFrame({"name": pd.Series([cell], dtype=object)})


def test_parquet_holds_the_same_bytes_and_needs_pyarrow(tmp_path, monkeypatch):
    for name in ("1.parquet", "2.parquet"):
        _files.write_table(tmp_path / name, TABLE)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "1.parquet"), TABLE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ConfigError, match=r"3\.parquet: parquet needs pyarrow; pip install 'sampled-metrics\[parquet\]'"
    ):
        _files.write_table(tmp_path / "3.parquet", TABLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.parquet", "2.parquet"]
