"""The one file that is read of a zip archive, a gzip file or a plain one.

tests/faults/test_archive_faults.py has archives that are damaged or mean harm.
"""

import gzip
import zipfile
from pathlib import Path

import pytest

from sampled_metrics.data import archives
from sampled_metrics.data.archives import is_web_page, open_member
from sampled_metrics.errors import DataError

EVENTS = b"".join(b"%d::%d::4::%d\n" % (number, number * 7919 % 3001, number * 104729) for number in range(2000))


def make_zip(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def read(path: Path, member: str | None = "ratings.dat") -> bytes:
    with open_member(path, member) as stream:
        return stream.read()


def error_of(path: Path, member: str | None = "ratings.dat") -> str:
    with pytest.raises(DataError) as caught:
        read(path, member)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ["ml-1m.zip", "recbole.whl", "archive.bin"])
@pytest.mark.parametrize("member", ["ratings.dat", "ml-1m/ratings.dat", "*/ratings.dat"])
def test_a_member_of_a_zip(tmp_path, compression, name, member):
    entries = {"ml-1m/": b"", "ml-1m/README": b"", "ml-1m/ratings.dat": EVENTS, "__MACOSX/ml-1m/._ratings.dat": b"\0"}
    assert read(make_zip(tmp_path / name, entries, compression), member) == EVENTS
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_only_entry_of_a_zip_needs_no_name(tmp_path):
    assert read(make_zip(tmp_path / "a.zip", {"folder/": b"", "folder/events.csv": EVENTS}), None) == EVENTS


@pytest.mark.parametrize(
    ("names", "member", "says"),
    [
        (
            ["a/README", "a/movies.dat"],
            "ratings.dat",
            ": expected one file named 'ratings.dat', found 0; the archive holds 'a/README', 'a/movies.dat'; "
            "name one as the dataset's `member`",
        ),
        (["x", "y"], None, ": expected one file, found 2; the archive holds 'x', 'y'; name one"),
        ([f"{number}.dat" for number in range(50)], "ratings.dat", "'8.dat', '9.dat', …; name one"),
        ([], None, "the archive holds no files"),
    ],
)
def test_no_such_entry_or_several_lists_what_there_is(tmp_path, names, member, says):
    assert says in error_of(make_zip(tmp_path / "a.zip", dict.fromkeys(names, b"")), member)


@pytest.mark.parametrize("beginning", [b"<!DOCTYPE html>", b"\n  <html lang='en'>", b"\xef\xbb\xbf<!doctype html>"])
@pytest.mark.parametrize("name", ["ml-1m.zip", "ratings.dat"])
def test_a_web_page(tmp_path, beginning, name):
    path = tmp_path / name
    path.write_bytes(beginning + b"<body>Please log in</body>")
    assert is_web_page(path)
    assert "is a web page, not the data set" in error_of(path)


def test_a_packed_file_may_unpack_to_the_limit_and_a_plain_one_to_any_size(tmp_path, monkeypatch):
    plain, packed = tmp_path / "ratings.dat", tmp_path / "ratings.gz"
    plain.write_bytes(EVENTS)
    packed.write_bytes(gzip.compress(EVENTS))
    zipped = make_zip(tmp_path / "ratings.zip", {"ratings.dat": EVENTS})
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS))
    assert read(packed) == read(zipped) == EVENTS
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS) - 1)
    assert read(plain) == EVENTS
    for path in (packed, zipped):
        assert f"more than the {len(EVENTS) - 1} bytes allowed" in error_of(path)
