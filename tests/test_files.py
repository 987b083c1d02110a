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
from sampled_metrics.errors import ConfigError, DataError, WriteError

TABLE = pd.DataFrame({"name": ["é", "b"], "value": [0.1, 2.0]})
WRITERS = {
    "text.md": lambda path: _files.write_text(path, "γ"),
    "content.json": lambda path: _files.write_json(path, {"a": [1, "γ"]}),
    "table.csv": lambda path: _files.write_csv(path, TABLE),
    "table.csv.gz": lambda path: _files.write_csv(path, TABLE),
    "table.parquet": lambda path: _files.write_table(path, TABLE),
    "arrays.npz": lambda path: _files.write_npz(path, one=np.arange(3), two=np.eye(2)),
}


def test_what_was_there_stays_if_the_block_fails(tmp_path):
    def fail_half_way():
        with _files.atomic_write(tmp_path / "b.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError("half")

    (tmp_path / "b.txt").write_text("before")
    with pytest.raises(RuntimeError, match="half"):
        fail_half_way()
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
    assert (tmp_path / "b.txt").read_text() == "before"


def test_what_a_link_leads_to_is_replaced_and_not_the_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far/target.txt").write_text("before")
    (tmp_path / "near.txt").symlink_to("far/target.txt")
    (tmp_path / "link.txt").symlink_to("near.txt")
    _files.write_text(tmp_path / "link.txt", "after")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "near.txt").is_symlink()
    assert (tmp_path / "far/target.txt").read_text() == "after\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "link.txt", "near.txt", "target.txt"]


NO_FILE = "is not a regular file, and only a regular file is written"
REFUSED = {
    ".": f".: {NO_FILE}",
    "folder/": f"folder/: {NO_FILE}",
    "pipe": f"pipe: {NO_FILE}",
    "link to the pipe": f"link to the pipe: {NO_FILE}",
    "a": f"a: {NO_FILE}",
    "/dev/null": f"/dev/null: {NO_FILE}",
    "read-only.csv": "read-only.csv: is read-only, and is not replaced",
    "link.csv": "link.csv: is read-only, and is not replaced",
    5: "the path of a file to write is text or a Path, not 5",
    b"b.txt": "the path of a file to write is text or a Path, not b'b.txt'",
    "": "the name of a file to write is empty",
    "b\0.txt": r"b\x00.txt: has a zero byte, which no path has",
    "b" * 300: f"{'b' * 300}: cannot be written: File name too long",
}


@pytest.mark.parametrize("path", REFUSED)
def test_only_a_regular_file_that_may_be_written_is_replaced(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("read-only.csv").write_text("before")
    Path("read-only.csv").chmod(0o444)
    for link, target in {"link to the pipe": "pipe", "a": "b", "b": "a", "link.csv": "read-only.csv"}.items():
        Path(link).symlink_to(target)
    before = sorted(Path().iterdir())
    for write in (lambda path: _files.write_text(path, "after"), _files.require_writable):
        with pytest.raises(WriteError) as caught:
            write(path)
        assert str(caught.value) == REFUSED[path]
    assert sorted(Path().iterdir()) == before
    assert Path("read-only.csv").read_text() == "before"


def test_two_writers_of_a_file_do_not_share_what_is_unfinished(tmp_path):
    with _files.atomic_write(tmp_path / "b.txt") as one, _files.atomic_write(tmp_path / "b.txt") as other:
        one.write_text("one")
        other.write_text("other")
        assert one.read_text() == "one"
    assert (tmp_path / "b.txt").read_text() == "one"


@pytest.mark.parametrize("name", ["b.csv", "./b.csv", "soft.csv", "hard.csv"])
def test_an_input_is_not_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("b.csv").touch()
    Path("soft.csv").symlink_to("b.csv")
    Path("hard.csv").hardlink_to("b.csv")
    with pytest.raises(WriteError) as caught:
        _files.require_writable(name, ["gone.csv", "a\0", "b.csv"])
    assert str(caught.value) == f"{name}: is the same file as the input b.csv; write another one"
    _files.require_writable("new.csv", ["b.csv"])


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WriteError, match=r"table\.csv: cannot be written: No space left on device$"):
        _files.write_csv(tmp_path / "table.csv", TABLE)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_dead_processes_are_removed_and_nothing_else(tmp_path):
    """One is left by a writer that is killed half-way; the other names are made up."""
    script = f"""
import os, signal
from sampled_metrics import _files
with _files.atomic_write({str(tmp_path / "table.csv.gz")!r}) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.Popen([sys.executable, "-c", script])
    ended.wait()
    [left] = tmp_path.iterdir()
    assert left.name.startswith(f".{ended.pid}-")
    end = left.name.removeprefix(f".{ended.pid}").removesuffix(".gz")
    (tmp_path / "deeper").mkdir()
    kept = [f".{os.getpid()}{end}.csv", ".2024.notes.csv", f".{ended.pid}.csv", f".{ended.pid}-notes{end[9:]}.csv"]
    kept += [f"deeper/.{ended.pid}{end}.csv", f"{ended.pid}{end}.csv", ".mine.csv"]
    for name in (*kept, f".{ended.pid}{end}"):
        (tmp_path / name).touch()
    (tmp_path / f".{ended.pid}{end}.link").symlink_to(".mine.csv")
    _files.remove_leftovers([tmp_path, tmp_path / "gone"])
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert names == {*kept, "deeper", f".{ended.pid}{end}.link"}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_content_is_the_same_bytes_whichever_process_writes_it(tmp_path, monkeypatch, name):
    for process in (1, 22):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        WRITERS[name](tmp_path / str(process) / name)
    assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "22" / name).read_bytes()


def test_arrays_that_are_cut_off_or_have_a_flipped_bit_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    _files.write_npz(path, x=np.arange(50))
    content = path.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.99):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(DataError, match=r"a\.npz: is not a test, or is damaged"):
            _files.read_npz(path, "a test")
    first = content.index(np.arange(50).tobytes())
    for at in range(first, first + 400, 7):
        flipped = bytearray(content)
        flipped[at] ^= 1 << (at % 8)
        path.write_bytes(flipped)
        with pytest.raises(DataError, match="Bad CRC-32"):
            _files.read_npz(path, "a test")


def test_half_a_pair_of_surrogates_is_written_escaped(tmp_path):
    _files.write_text(tmp_path / "text.md", "a\udcff")
    _files.write_csv(tmp_path / "table.csv", pd.DataFrame({"name": pd.Series(["a\udcff"], dtype=object)}))
    for name in ("text.md", "table.csv"):
        assert "a\\udcff" in (tmp_path / name).read_text()


def test_parquet_needs_pyarrow(tmp_path, monkeypatch):
    _files.write_table(tmp_path / "1.parquet", TABLE)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "1.parquet"), TABLE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ConfigError, match=r"2\.parquet: parquet needs pyarrow; pip install 'sampled-metrics\[parquet\]'"
    ):
        _files.write_table(tmp_path / "2.parquet", TABLE)
    assert [path.name for path in tmp_path.iterdir()] == ["1.parquet"]
