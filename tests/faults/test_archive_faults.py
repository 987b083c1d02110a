"""Archives that are damaged or mean harm: the right events come out, or one line; and nothing is written."""

import gzip
import io
import random
import stat
import struct
import time
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.data import archives, formats
from sampled_metrics.data.formats import read_events
from sampled_metrics.errors import DataError

RNG = random.Random(3)
ROWS = [(user, RNG.randrange(1, 4000), RNG.randrange(1, 6), RNG.randrange(10**9)) for user in range(1, 2001)]
EVENTS = "".join(f"{user}::{item}::{rating}::{when}\n" for user, item, rating, when in ROWS).encode()
BOMB = b"1::1::5::1\n" * 1_000_000
MAX_BYTES = 8_000_000
"""Unpacked bytes that are allowed here; by default 16 GiB are."""
MEMORY = 100 * 2**20
SECONDS = 20

Make = Callable[[], bytes]
Entry = tuple[str | zipfile.ZipInfo, bytes]


def zipped(*entries: Entry, kind: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", kind) as archive:
        warnings.simplefilter("ignore")  # a name twice is what is wanted
        for name, content in entries:
            archive.writestr(name, content)
        archive.comment = comment
    return made.getvalue()


def directory(archive: bytes) -> int:
    """Where the list of an archive's files begins."""
    return archive.rindex(b"PK\x01\x02")


def changed(archive: bytes, at: int, code: str, value: int) -> bytes:
    """An archive with one field changed."""
    made = bytearray(archive)
    struct.pack_into(code, made, at, value)
    return bytes(made)


def link(target: bytes, name: str = "link") -> Entry:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


def declaring(size: int, content: bytes, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive whose file says that it is smaller than it is, with a checksum to match."""
    archive = zipped(("ratings.dat", content), kind=kind)
    at = directory(archive)
    return changed(changed(archive, at + 24, "<I", size), at + 16, "<I", zlib.crc32(content[:size]))


COMPLETED: dict[str, Make] = {
    "a name that leads out (../../ratings.dat)": lambda: zipped(("../../ratings.dat", EVENTS)),
    "a link to a folder elsewhere, and a file through it": lambda: zipped(link(b"/tmp"), ("link/ratings.dat", EVENTS)),
    "a name in cp437": lambda: zipped(("ratings.dat", EVENTS), ("filmé.txt".encode("cp437").decode("latin-1"), b"")),
    "bytes before the archive (self-extracting)": lambda: b"#!/bin/sh\n" * 50 + zipped(("ratings.dat", EVENTS)),
    "a comment after the archive": lambda: zipped(("ratings.dat", EVENTS), comment=b"made by hand " * 100),
    "gzip in several parts": lambda: gzip.compress(EVENTS[:5000]) + gzip.compress(EVENTS[5000:]),
}
ZIP = zipped(("ratings.dat", EVENTS))
STORED = zipped(("ratings.dat", EVENTS), kind=zipfile.ZIP_STORED)
REFUSED: dict[str, tuple[Make, str]] = {
    "a link in the file's place": (lambda: zipped(link(b"/etc/passwd", "ratings.dat")), "line 1: has 1 fields"),
    "a name with backslashes (..\\ratings.dat)": (lambda: zipped(("..\\ratings.dat", EVENTS)), "found 0"),
    "a name twice": (lambda: zipped(("ratings.dat", EVENTS), ("ratings.dat", b"1::1::1::1\n")), "found 2"),
    "a name with a line end and a terminal's commands": (lambda: zipped(("ratings\n\x1b[2J.dat", EVENTS)), "found 0"),
    "an archive in the file's place (nested)": (lambda: zipped(("ratings.dat", ZIP)), "is a zip archive"),
    "encrypted": (lambda: changed(changed(ZIP, 6, "<H", 1), directory(ZIP) + 8, "<H", 1), "is encrypted"),
    "a zip bomb of well-formed lines": (lambda: zipped(("ratings.dat", BOMB)), "more than the 8000000 bytes allowed"),
    "a gzip bomb of well-formed lines": (lambda: gzip.compress(BOMB), "more than the 8000000 bytes allowed"),
    "a zip bomb that declares 4 GB": (lambda: declaring(2**32 - 2, EVENTS), "unpacks to 4294967294 bytes, more than"),
    "a zip bomb that declares 1000 bytes": (lambda: declaring(1000, bytes(10_000_000)), "line 1: holds a zero byte"),
    "an lzma bomb that declares 1000 bytes": (
        lambda: declaring(1000, bytes(10**6), zipfile.ZIP_LZMA),
        "compression (lzma) is not supported",
    ),
    "without its last byte": (lambda: ZIP[:-1], "truncated"),
    "without the list of its files": (lambda: ZIP[: directory(ZIP)], "truncated"),
    "a wrong checksum (CRC)": (lambda: STORED.replace(b"\n1999::", b"\n1998::"), "Bad CRC-32"),
    "another name in the list than at the file": (lambda: ZIP.replace(b"ratings.dat", b"matings.dat", 1), "differ"),
    "declares less than there is": (lambda: changed(ZIP, directory(ZIP) + 24, "<I", 1000), "Bad CRC-32"),
    "an empty file named .zip": (lambda: b"", "truncated"),
    "gzip cut off": (lambda: gzip.compress(EVENTS)[:-100], "ended before"),
    "gzip with a wrong checksum": (lambda: changed(gzip.compress(EVENTS), -8, "<I", 1), "CRC check failed"),
    "7z, by its beginning": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(100), "line 1: holds a zero byte"),
}


def read(path: Path) -> str | None:
    """Read the events, which must be the right ones, and return None; or return the one line that says why not."""
    before = sorted(path.parent.rglob("*"))
    start = time.monotonic()
    tracemalloc.start()
    try:
        chunks = list(read_events(path, formats.get("movielens-dat")))
    except DataError as error:
        message = str(error)
        assert message.startswith(str(path))
        assert len(message) < 2000
        assert len(message.splitlines()) == 1
        assert "\x1b" not in message
    else:
        message = None
        found = np.transpose([np.concatenate(column) for column in list(zip(*chunks, strict=True))[:4]])
        assert found.tolist() == [list(row) for row in ROWS]
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < MEMORY
    assert time.monotonic() - start < SECONDS
    assert sorted(path.parent.rglob("*")) == before
    return message


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", MAX_BYTES)


@pytest.mark.parametrize("fault", COMPLETED)
def test_completed(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "ml-1m.zip"
    if fault.startswith("gzip"):
        path = tmp_path / "ratings.dat.gz"
    path.write_bytes(COMPLETED[fault]())
    assert read(path) is None


@pytest.mark.parametrize("fault", REFUSED)
def test_refused(fault: str, tmp_path: Path) -> None:
    make, says = REFUSED[fault]
    path = tmp_path / "ml-1m"
    if "empty file" in fault:
        path = path.with_suffix(".zip")
    path.write_bytes(make())
    message = read(path)
    assert message is not None
    assert says in message


DAMAGE = st.lists(st.tuples(st.integers(-150, 80), st.integers(0, 50), st.binary(max_size=9)), min_size=1, max_size=5)
"""Where, from the end or the beginning, as the lists are there; how many bytes are taken away; what stands there."""

WHOLE = [zipped(("ml-1m/ratings.dat", EVENTS), ("ml-1m/README", b"read me")), STORED, gzip.compress(EVENTS, mtime=0)]


@given(st.sampled_from(WHOLE), DAMAGE, st.integers(0, len(WHOLE[0])), st.integers(0, 7))
def test_random_damage(content: bytes, damages: list, place: int, bit: int) -> None:
    made = bytearray(content)
    made[place] ^= 1 << bit
    for at, taken, instead in damages:
        at %= len(made)
        made[at : at + taken] = instead
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ml-1m.bin"
        path.write_bytes(made)
        read(path)
