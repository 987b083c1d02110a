"""Files of events: their checksums, and members of archives.

tests/faults has archives that are damaged or mean harm, and downloads.
"""

import gzip
import hashlib
import zipfile

import pytest
from hostile_server import CONTENT

from sampled_metrics.errors import DataError
from sampled_metrics_study.data import archives
from sampled_metrics_study.data.archives import open_member, verify

EVENTS = b"".join(
    b"%d::%d::4::%d\n" % (number, number * 7919 % 3001, number * 104729) for number in range(2000)
)
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def make_zip(path, entries, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def read(path, member="ratings.dat"):
    with open_member(path, member) as stream:
        return stream.read()


def test_a_member_of_a_zip(tmp_path):
    entries = {
        "ml-1m/": b"",
        "ml-1m/README": b"",
        "ml-1m/ratings.dat": EVENTS,
        "__MACOSX/ml-1m/._ratings.dat": b"\0",
    }
    for name, compression in (
        ("ml-1m.zip", zipfile.ZIP_STORED),
        ("recbole.whl", zipfile.ZIP_DEFLATED),
    ):
        path = make_zip(tmp_path / name, entries, compression)
        for member in ("ratings.dat", "ml-1m/ratings.dat", "*/ratings.dat"):
            assert read(path, member) == EVENTS
    only = make_zip(tmp_path / "a.bin", {"folder/": b"", "folder/events.csv": EVENTS})
    assert read(only, None) == EVENTS


@pytest.mark.parametrize(
    ("names", "member", "says"),
    [
        (
            ["a/README", "a/x"],
            "ratings.dat",
            ": expected one file named 'ratings.dat', found 0; .*'a/README', 'a/x'; ",
        ),
        (
            [f"{number}.dat" for number in range(50)],
            None,
            "one file, found 50; .* '8.dat', '9.dat', …; name one",
        ),
    ],
    ids=[
        "no such entry",
        "many entries",
    ],
)
def test_no_such_entry_or_several_lists_what_there_is(tmp_path, names, member, says):
    with pytest.raises(DataError, match=says):
        read(make_zip(tmp_path / "a.zip", dict.fromkeys(names, b"")), member)


@pytest.mark.parametrize("beginning", [b"\n  <html lang='en'>", b"\xef\xbb\xbf<!doctype html>"])
def test_a_web_page(tmp_path, beginning):
    for name in ("ml-1m.zip", "ratings.dat"):
        (tmp_path / name).write_bytes(beginning + b"<body>Please log in</body>")
        with pytest.raises(DataError, match=f"{name}: this is a web page"):
            verify(tmp_path / name, md5=None, sha256=None)


def test_a_packed_file_may_unpack_to_the_limit_and_a_plain_one_to_any_size(tmp_path, monkeypatch):
    """Archives beyond the limit are in tests/faults/test_archive_faults.py."""
    plain = tmp_path / "ratings.dat"
    packed = tmp_path / "ratings.gz"
    plain.write_bytes(EVENTS)
    packed.write_bytes(gzip.compress(EVENTS))
    zipped = make_zip(tmp_path / "ratings.zip", {"ratings.dat": EVENTS})
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS))
    assert read(packed) == read(zipped) == EVENTS
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS) - 1)
    assert read(plain) == EVENTS
    with pytest.raises(DataError, match="bytes allowed"):
        read(packed)


@pytest.mark.parametrize(("algorithm", "digest"), [("md5", MD5), ("sha256", SHA256)])
def test_a_wrong_checksum_is_refused(tmp_path, algorithm, digest):
    path = tmp_path / "ml-1m.zip"
    path.write_bytes(CONTENT)
    wrong = {"md5": None, "sha256": None} | {algorithm: "0" * len(digest)}
    for is_own, says in ((False, f"{algorithm} is {digest}.*; delete it"), (True, "sha256")):
        with pytest.raises(DataError, match=says):
            verify(path, **wrong, is_own=is_own)


def test_addresses_of_wheels():
    assert archives.member(["https://example.org/a.whl", "pypi:a==1!x", "pypi:a==1!y"]) == "x"
    assert archives.member(["https://example.org/a.whl!z"]) is None
