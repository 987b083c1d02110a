"""Other content in the place of a file is noticed, whatever its size and time; another time is not."""

import os
from importlib import import_module
from pathlib import Path

import pytest

from sampled_metrics.recommenders.simple import Popularity
from sampled_metrics.study.workflow.fingerprint import class_files, fingerprint


def write(path: Path, content: bytes, seconds: int = 1_000_000_000) -> str | None:
    path.write_bytes(content)
    os.utime(path, (seconds, seconds))
    return fingerprint(path)


@pytest.mark.parametrize("size", [1, 2**16, 2**24 + 2**17])
@pytest.mark.parametrize("part", [0, 0.7, 1])
def test_a_byte_makes_a_difference(tmp_path: Path, size: int, part: float) -> None:
    other = bytearray(size)
    other[int(part * (size - 1))] = 1
    one = write(tmp_path / "a", bytes(size))
    assert one == write(tmp_path / "b", bytes(size))
    assert one != write(tmp_path / "b", bytes(other))


def test_time_makes_none(tmp_path: Path) -> None:
    one = write(tmp_path / "a", b"content")
    assert one == write(tmp_path / "a", b"content", 999_999_999)
    assert one != write(tmp_path / "a", b"content and more")


def test_no_file_has_none(tmp_path: Path) -> None:
    assert fingerprint(tmp_path) is None
    assert fingerprint(tmp_path / "gone") is None


def test_files_of_a_class_are_its_own_and_those_of_its_bases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = "from sampled_metrics.recommenders.simple import Popularity\n\n\nclass Base(Popularity): pass\n"
    (tmp_path / "base_of_mine.py").write_text(base)
    (tmp_path / "models_of_mine.py").write_text("import base_of_mine\n\n\nclass Mine(base_of_mine.Base): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    mine = import_module("models_of_mine").Mine
    assert class_files(mine) == [str(tmp_path / name) for name in ("base_of_mine.py", "models_of_mine.py")]
    assert class_files(Popularity) == []
