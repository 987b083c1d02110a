"""Files appear whole or not at all, and hold the same bytes for the same content."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from no_files import (
    NO_PATHS,
    require_that_addresses_are_refused,
    require_that_it_is_refused_in_one_line,
)

import sampled_metrics as sm
from sampled_metrics import file_io
from sampled_metrics.errors import ConfigError, DataError, WriteError

TABLE = pd.DataFrame({"name": ["é", "b"], "value": [0.1, 2.0]})
REFUSED = {
    ".": "regular",
    "folder/": "regular",
    "pipe": "regular",
    "read-only.csv": "read-only",
    "link.csv": "read-only",
    5: "text",
    "": "empty",
    "b\0.txt": "null byte",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names():
    return sorted(str(path) for path in Path().rglob("*"))


def test_what_was_there_stays_if_the_block_fails_and_two_writers_do_not_share_what_is_unfinished():
    Path("b.txt").write_text("before")
    with pytest.raises(UnicodeEncodeError), file_io.atomic_write("b.txt") as temporary:
        temporary.write_text("half\udcff")
    assert (names(), Path("b.txt").read_text()) == (["b.txt"], "before")
    with file_io.atomic_write("b.txt") as outer, file_io.atomic_write("b.txt") as inner:
        outer.write_text("outer")
        inner.write_text("inner")
        assert outer.read_text() == "outer"
    assert (names(), Path("b.txt").read_text()) == (["b.txt"], "outer")


def test_what_a_link_leads_to_is_replaced_and_not_the_link():
    Path("far").mkdir()
    Path("far/target.txt").write_text("before")
    Path("near.txt").symlink_to("far/target.txt")
    Path("link.txt").symlink_to("near.txt")
    file_io.write_text("link.txt", "after")
    assert (Path("link.txt").is_symlink(), Path("near.txt").is_symlink()) == (True, True)
    assert Path("far/target.txt").read_text() == "after\n"
    assert names() == ["far", "far/target.txt", "link.txt", "near.txt"]


@pytest.mark.parametrize("path", REFUSED)
def test_only_a_regular_file_that_may_be_written_is_replaced(path):
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("read-only.csv").write_text("before")
    Path("read-only.csv").chmod(0o444)
    Path("link.csv").symlink_to("read-only.csv")
    before = names()
    for write in (lambda path: file_io.write_text(path, "after"), file_io.require_writable):
        with pytest.raises(WriteError, match=REFUSED[path]):
            write(path)
    assert (names(), Path("read-only.csv").read_text()) == (before, "before")


@pytest.mark.parametrize("name", ["b.csv", "./b.csv", "soft.csv", "hard.csv"])
def test_an_input_is_not_written(name):
    Path("b.csv").touch()
    Path("soft.csv").symlink_to("b.csv")
    Path("hard.csv").hardlink_to("b.csv")
    with pytest.raises(WriteError, match=f"^{name}.*b.csv"):
        file_io.require_writable(name, ["gone.csv", "a\0", "b.csv"])
    file_io.require_writable("new.csv", ["b.csv"])


def test_a_full_disk_is_one_line(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WriteError, match=r"table\.csv.*No space left"):
        file_io.write_csv("table.csv", TABLE)
    assert names() == []


def test_leftovers_of_dead_processes_are_removed_and_nothing_else():
    """One is left by a writer that is killed half-way; the other names are made up."""
    script = """
import os, signal
from sampled_metrics import file_io
with file_io.atomic_write("table.csv.gz") as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.Popen([sys.executable, "-c", script])
    ended.wait()
    [left] = names()
    assert left.startswith(f".{ended.pid}-")
    end = left.removeprefix(f".{ended.pid}").removesuffix(".gz")
    Path("deeper").mkdir()
    kept = [f".{os.getpid()}{end}.csv", f".{ended.pid}.csv", f"deeper/.{ended.pid}{end}.csv"]
    kept += [f".{ended.pid}-notes{end[9:]}.csv", f"{ended.pid}{end}.csv", ".mine.csv"]
    for name in (*kept, f".{ended.pid}{end}"):
        Path(name).touch()
    Path(f".{ended.pid}{end}.link").symlink_to(".mine.csv")
    file_io.remove_leftovers([Path(), Path("gone")])
    assert names() == sorted([*kept, "deeper", f".{ended.pid}{end}.link"])


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("text.md", lambda path: file_io.write_text(path, "γ")),
        ("content.json", lambda path: file_io.write_json(path, {"a": [1, "γ"]})),
        ("table.csv", lambda path: file_io.write_csv(path, TABLE)),
        ("table.csv.gz", lambda path: file_io.write_csv(path, TABLE)),
        ("table.parquet", lambda path: file_io.write_table(path, TABLE)),
        ("arrays.npz", lambda path: file_io.write_npz(path, one=np.arange(3), two=np.eye(2))),
    ],
)
def test_the_same_content_is_the_same_bytes_whichever_process_writes_it(monkeypatch, name, write):
    for process in (1, 22):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        write(Path(str(process), name))
    assert Path("1", name).read_bytes() == Path("22", name).read_bytes()


def test_arrays_that_are_cut_off_or_have_a_flipped_bit_are_refused():
    path = Path("a.npz")
    file_io.write_npz(path, x=np.arange(50))
    content = path.read_bytes()
    start = content.index(np.arange(50).tobytes())
    damaged = [content[: int(share * len(content))] for share in (0.1, 0.5, 0.9, 0.99)]
    for at in range(start, start + 400, 7):
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        damaged.append(bytes(flipped))
    for bytes_of_file in damaged:
        path.write_bytes(bytes_of_file)
        with pytest.raises(DataError, match=r"a\.npz"):
            file_io.read_npz(path, "a test")


def test_half_a_pair_of_surrogates_is_written_escaped():
    file_io.write_text("text.md", "a\udcff")
    file_io.write_csv("table.csv", pd.DataFrame({"name": pd.Series(["a\udcff"], dtype=object)}))
    assert "a\\udcff" in Path("text.md").read_text()
    assert "a\\udcff" in Path("table.csv").read_text()


def test_parquet_needs_pyarrow(monkeypatch):
    file_io.write_table("1.parquet", TABLE)
    pd.testing.assert_frame_equal(pd.read_parquet("1.parquet"), TABLE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match="pyarrow"):
        file_io.write_table("2.parquet", TABLE)
    assert names() == ["1.parquet"]


# --- what is no file; the files of other packages stand in their tests ---

READERS = {"ranks.csv.gz": sm.exact_ranks, "ranks.parquet": sm.read_ranks}


@pytest.mark.parametrize("name", READERS)
def test_an_address_is_no_file_and_is_not_fetched(name, tmp_path, monkeypatch):
    require_that_addresses_are_refused(READERS[name], name, tmp_path, monkeypatch)


RANKS = sm.exact_ranks([1, 2, 30], candidates=90)
USES = {"read_ranks": sm.read_ranks, "write": RANKS.write}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_in_one_line(use, path):
    require_that_it_is_refused_in_one_line(USES[use], path)
