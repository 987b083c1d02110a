"""Files appear whole or not at all, and hold the same bytes for the same content."""

import gzip
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import _files
from sampled_metrics.errors import WriteError

TABLE = pd.DataFrame({"name": ["é", "b"], "value": [0.1, 2.0]})
WRITERS = {
    "text.md": lambda path: _files.write_text(path, "γ"),
    "content.json": lambda path: _files.write_json(path, {"a": [1, "γ"]}),
    "table.csv": lambda path: _files.write_csv(path, TABLE),
    "table.csv.gz": lambda path: _files.write_csv(path, TABLE),
    "arrays.npz": lambda path: _files.write_npz(path, one=np.arange(3), two=np.eye(2)),
}


class TestWrittenWhole:
    @staticmethod
    def fail_half_way(path):
        with _files.written_whole(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("half")

    def test_nothing_is_left_of_a_block_that_fails(self, tmp_path):
        with pytest.raises(RuntimeError, match="half"):
            self.fail_half_way(tmp_path / "a" / "b.txt")
        assert list((tmp_path / "a").iterdir()) == []

    def test_what_was_there_stays_if_the_block_fails(self, tmp_path):
        (tmp_path / "b.txt").write_text("before")
        with pytest.raises(RuntimeError, match="half"):
            self.fail_half_way(tmp_path / "b.txt")
        assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
        assert (tmp_path / "b.txt").read_text() == "before"

    def test_what_was_there_stays_until_the_block_ends(self, tmp_path):
        (tmp_path / "b.txt").write_text("before")
        with _files.written_whole(tmp_path / "b.txt") as temporary:
            temporary.write_text("after")
            assert (tmp_path / "b.txt").read_text() == "before"
        assert (tmp_path / "b.txt").read_text() == "after"

    def test_the_temporary_name_has_the_same_ending_and_folder(self, tmp_path):
        with _files.written_whole(tmp_path / "table.csv.gz") as temporary:
            assert temporary.parent == tmp_path
            assert temporary.name.endswith(".csv.gz")
            temporary.touch()
        assert [path.name for path in tmp_path.iterdir()] == ["table.csv.gz"]

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

    def test_a_link_to_nothing_yet_makes_its_target(self, tmp_path):
        (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "target.txt")
        _files.write_text(tmp_path / "link.txt", "after")
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "far/target.txt").read_text() == "after\n"

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
    def test_a_file_that_is_replaced_keeps_its_mode(self, tmp_path, mode):
        path = tmp_path / "b.txt"
        path.write_text("before")
        path.chmod(mode)
        seen = []
        with _files.written_whole(path) as temporary:
            temporary.write_text("after")
            seen.append(stat.S_IMODE(temporary.stat().st_mode))
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert seen == [mode | 0o200]
        assert path.read_text() == "after"

    def test_a_new_file_has_the_mode_that_any_has(self, tmp_path):
        (tmp_path / "a.txt").write_text("")
        _files.write_text(tmp_path / "b.txt", "b")
        assert (tmp_path / "b.txt").stat().st_mode == (tmp_path / "a.txt").stat().st_mode

    def test_a_named_pipe_is_written_into(self, tmp_path):
        pipe = tmp_path / "pipe.csv"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as pool:
            reader = pool.submit(pipe.read_bytes)
            _files.write_csv(pipe, TABLE)
            assert reader.result(timeout=60) == "name,value\né,0.1\nb,2.0\n".encode()
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert list(tmp_path.iterdir()) == [pipe]

    def test_a_device_is_written_into(self):
        _files.write_text("/dev/null", "nothing")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        with pytest.raises(WriteError, match="/dev/full: cannot be written: No space left on device"):
            _files.write_text("/dev/full", "nothing")

    @pytest.mark.parametrize("to", ["file", "pipe"])
    def test_standard_output_is_written_into(self, tmp_path, to):
        code = "from sampled_metrics import _files; _files.write_text('/dev/stdout', 'table')"
        log = tmp_path / "log.txt"
        log.write_text("before\n")
        with log.open("a") as file:
            process = [sys.executable, "-c", code]
            environment = os.environ | {"PYTHONPATH": str(Path(_files.__file__).parents[1])}
            done = subprocess.run(
                process, stdout=file if to == "file" else subprocess.PIPE, check=True, env=environment
            )
        assert (log.read_text() if to == "file" else "before\n" + done.stdout.decode()) == "before\ntable\n"

    def test_nothing_is_written_into_a_pipe_by_a_block_that_fails(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        held = os.open(pipe, os.O_RDWR)
        with pytest.raises(RuntimeError, match="half"):
            self.fail_half_way(pipe)
        os.set_blocking(held, False)
        with pytest.raises(BlockingIOError):
            os.read(held, 1)
        os.close(held)

    @pytest.mark.parametrize("name", [".", "..", "/", "folder", "folder/"])
    def test_refuses_a_directory(self, tmp_path, monkeypatch, name):
        (tmp_path / "folder").mkdir()
        monkeypatch.chdir(tmp_path)
        with pytest.raises(WriteError) as caught:
            _files.write_text(name, "text")
        assert str(caught.value) == f"{name}: is a directory, not a file to write"

    def test_refuses_an_empty_name_and_links_in_a_circle(self, tmp_path):
        with pytest.raises(WriteError, match="the name of a file to write is empty"):
            _files.write_text("", "text")
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(WriteError, match="a: cannot be written: Too many levels of symbolic links"):
            _files.write_text(tmp_path / "a", "text")


class TestContent:
    @pytest.mark.parametrize("text", ["γ", "γ\n"])
    def test_text_ends_with_one_newline(self, tmp_path, text):
        _files.write_text(tmp_path / "text", text)
        assert (tmp_path / "text").read_bytes() == "γ\n".encode()

    def test_json_keeps_letters_as_they_are(self, tmp_path):
        _files.write_json(tmp_path / "a.json", {"γ": 1})
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "γ": 1\n}\n'
        assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"γ": 1}

    def test_csv_and_its_compressed_form_say_the_same(self, tmp_path):
        _files.write_csv(tmp_path / "a.csv", TABLE)
        _files.write_csv(tmp_path / "a.csv.gz", TABLE)
        assert (tmp_path / "a.csv").read_bytes() == "name,value\né,0.1\nb,2.0\n".encode()
        assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()

    def test_npz_gives_the_arrays_back(self, tmp_path):
        _files.write_npz(tmp_path / "a.npz", one=np.arange(3), two=np.array("kind"))
        with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
            assert arrays["one"].tolist() == [0, 1, 2]
            assert str(arrays["two"]) == "kind"

    def test_npz_refuses_python_objects(self, tmp_path):
        with pytest.raises(ValueError, match="allow_pickle"):
            _files.write_npz(tmp_path / "a.npz", one=np.array([{}], dtype=object))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", WRITERS)
    def test_is_the_same_bytes_twice_whichever_process_writes_it(self, tmp_path, monkeypatch, name):
        for process in (1, 22):
            monkeypatch.setattr("os.getpid", lambda process=process: process)
            WRITERS[name](tmp_path / str(process) / name)
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "22" / name).read_bytes()


def test_shapes_and_types_of_an_npz_are_known_without_reading_it(tmp_path):
    _files.write_npz(tmp_path / "a.npz", many=np.zeros((3, 4), np.float32), text=np.array("kind"), none=np.empty(0))
    assert _files.npz_headers(tmp_path / "a.npz") == {
        "many": ((3, 4), np.dtype(np.float32)),
        "text": ((), np.dtype("<U4")),
        "none": ((0,), np.dtype(np.float64)),
    }
