"""Files appear whole or not at all, and hold the same bytes for the same content."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import files

TABLE = pd.DataFrame({"name": ["é", "b"], "value": [0.1, 2.0]})
WRITERS = {
    "text.md": lambda path: files.write_text(path, "γ"),
    "content.json": lambda path: files.write_json(path, {"a": [1, "γ"]}),
    "table.csv": lambda path: files.write_csv(path, TABLE),
    "table.csv.gz": lambda path: files.write_csv(path, TABLE),
    "arrays.npz": lambda path: files.write_npz(path, one=np.arange(3), two=np.eye(2)),
}


class TestWrittenWhole:
    @staticmethod
    def fail_half_way(path):
        with files.written_whole(path) as temporary:
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
        with files.written_whole(tmp_path / "b.txt") as temporary:
            temporary.write_text("after")
            assert (tmp_path / "b.txt").read_text() == "before"
        assert (tmp_path / "b.txt").read_text() == "after"

    def test_the_temporary_name_has_the_same_ending_and_folder(self, tmp_path):
        with files.written_whole(tmp_path / "table.csv.gz") as temporary:
            assert temporary.parent == tmp_path
            assert temporary.name.endswith(".csv.gz")
            temporary.touch()
        assert [path.name for path in tmp_path.iterdir()] == ["table.csv.gz"]


class TestContent:
    @pytest.mark.parametrize("text", ["γ", "γ\n"])
    def test_text_ends_with_one_newline(self, tmp_path, text):
        files.write_text(tmp_path / "text", text)
        assert (tmp_path / "text").read_bytes() == "γ\n".encode()

    def test_json_keeps_letters_as_they_are(self, tmp_path):
        files.write_json(tmp_path / "a.json", {"γ": 1})
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "γ": 1\n}\n'
        assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"γ": 1}

    def test_csv_and_its_compressed_form_say_the_same(self, tmp_path):
        files.write_csv(tmp_path / "a.csv", TABLE)
        files.write_csv(tmp_path / "a.csv.gz", TABLE)
        assert (tmp_path / "a.csv").read_bytes() == "name,value\né,0.1\nb,2.0\n".encode()
        assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()

    def test_npz_gives_the_arrays_back(self, tmp_path):
        files.write_npz(tmp_path / "a.npz", one=np.arange(3), two=np.array("kind"))
        with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
            assert arrays["one"].tolist() == [0, 1, 2]
            assert str(arrays["two"]) == "kind"

    def test_npz_refuses_python_objects(self, tmp_path):
        with pytest.raises(ValueError, match="allow_pickle"):
            files.write_npz(tmp_path / "a.npz", one=np.array([{}], dtype=object))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", WRITERS)
    def test_is_the_same_bytes_twice_whichever_process_writes_it(self, tmp_path, monkeypatch, name):
        for process in (1, 22):
            monkeypatch.setattr("os.getpid", lambda process=process: process)
            WRITERS[name](tmp_path / str(process) / name)
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "22" / name).read_bytes()


def test_shapes_and_types_of_an_npz_are_known_without_reading_it(tmp_path):
    files.write_npz(tmp_path / "a.npz", many=np.zeros((3, 4), np.float32), text=np.array("kind"), none=np.empty(0))
    assert files.npz_headers(tmp_path / "a.npz") == {
        "many": ((3, 4), np.dtype(np.float32)),
        "text": ((), np.dtype("<U4")),
        "none": ((0,), np.dtype(np.float64)),
    }
