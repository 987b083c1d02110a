"""Archives that are damaged or mean harm: the right events or one line, and nothing is written."""

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
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import DataError
from sampled_metrics_study.data import archives, formats
from sampled_metrics_study.data.formats import read_events

RNG = random.Random(3)
ROWS = [
    [user, RNG.randrange(1, 4000), RNG.randrange(1, 6), RNG.randrange(10**9)]
    for user in range(1, 2001)
]
EVENTS = "".join("::".join(map(str, row)) + "\n" for row in ROWS).encode()
BOMB = b"1::1::5::1\n" * 1_000_000
MAX_BYTES = 8_000_000
"""Unpacked bytes that are allowed here; by default 16 GiB are."""


def zipped(
    content=EVENTS,
    name="ratings.dat",
    *more,
    kind=zipfile.ZIP_DEFLATED,
):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", kind) as archive:
        warnings.simplefilter("ignore")  # a name twice is what is wanted
        for member_content, member_name in ((content, name), *more):
            archive.writestr(member_name, member_content)
        archive.comment = b"made by hand " * 100
    return file.getvalue()


def directory(archive):
    """Where the list of an archive's files begins."""
    return archive.rindex(b"PK\x01\x02")


def changed(archive, offset, code, value):
    """An archive with one field changed."""
    content = bytearray(archive)
    struct.pack_into(code, content, offset, value)
    return bytes(content)


def link(name):
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def declaring(size, content, kind=zipfile.ZIP_DEFLATED):
    """An archive whose file says that it is smaller than it is, with a checksum to match."""
    archive = zipped(content, kind=kind)
    entry = directory(archive)
    archive = changed(archive, entry + 24, "<I", size)
    return changed(archive, entry + 16, "<I", zlib.crc32(content[:size]))


ZIP = zipped()
STORED = zipped(kind=zipfile.ZIP_STORED)
FAULTS: dict[str, tuple[bytes, str | None]] = {
    "a name that leads out": (zipped(EVENTS, "../../ratings.dat"), None),
    "a link to a folder elsewhere, and a file through it": (
        zipped(EVENTS, "link/ratings.dat", (b"/tmp", link("link"))),
        None,
    ),
    "gzip in several parts": (gzip.compress(EVENTS[:5000]) + gzip.compress(EVENTS[5000:]), None),
    "a link in the file's place": (
        zipped(b"/etc/passwd", link("ratings.dat")),
        "line 1: there is no column 2",
    ),
    "a name twice": (zipped(EVENTS, "ratings.dat", (b"1::1::1::1\n", "ratings.dat")), "found 2"),
    "a name with a line end and a terminal's commands": (
        zipped(EVENTS, "ratings\n\x1b[2J.dat"),
        "found 0",
    ),
    "encrypted": (changed(changed(ZIP, 6, "<H", 1), directory(ZIP) + 8, "<H", 1), "is encrypted"),
    "a zip bomb of well-formed lines": (zipped(BOMB), "more than the 8000000 bytes allowed"),
    "a gzip bomb of well-formed lines": (
        gzip.compress(BOMB),
        "more than the 8000000 bytes allowed",
    ),
    "a zip bomb that declares 4 GB": (
        declaring(2**32 - 2, EVENTS),
        "unpacks to 4294967294 bytes, more than",
    ),
    "a wrong checksum (CRC)": (STORED.replace(b"\n1999::", b"\n1998::"), "Bad CRC-32"),
    "another name in the list than at the file": (
        ZIP.replace(b"ratings.dat", b"matings.dat", 1),
        "differ",
    ),
    "gzip with a wrong checksum": (changed(gzip.compress(EVENTS), -8, "<I", 1), "CRC check failed"),
    "lzma": (
        declaring(1000, bytes(10**6), zipfile.ZIP_LZMA),
        "compression is not supported",
    ),
}


def read(path):
    """Read the events, which must be the right ones; or return the one line that says why not."""
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
        user, item, rating, time_of_event, *_ = zip(*chunks, strict=True)
        columns = [np.concatenate(parts) for parts in (user, item, rating, time_of_event)]
        assert np.transpose(columns).tolist() == ROWS
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 100 * 2**20
    assert time.monotonic() - start < 20
    assert list(path.parent.iterdir()) == [path]
    return message


@pytest.fixture(autouse=True)
def _limit(monkeypatch):
    monkeypatch.setattr(archives, "MAX_BYTES", MAX_BYTES)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_events_or_one_line_that_says_why_not(fault, tmp_path):
    content, says = FAULTS[fault]
    path = tmp_path / ("ml-1m" if content else "ml-1m.zip")
    path.write_bytes(content)
    message = read(path)
    assert (message is None) if says is None else (says in (message or ""))


DAMAGE = st.lists(
    st.tuples(st.integers(-150, 80), st.integers(0, 50), st.binary(max_size=9)),
    min_size=1,
    max_size=5,
)
"""Where, from the end or the beginning, as the lists are there; how many bytes are lost; and the
new ones.
"""
WHOLE = [ZIP, STORED, gzip.compress(EVENTS, mtime=0)]


@given(st.sampled_from(WHOLE), DAMAGE, st.integers(0, min(map(len, WHOLE)) - 1), st.integers(0, 7))
def test_random_damage(content, damages, place, bit):
    damaged = bytearray(content)
    damaged[place] ^= 1 << bit
    for offset, lost_bytes, new_bytes in damages:
        start = offset % len(damaged)
        damaged[start : start + lost_bytes] = new_bytes
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ml-1m.bin"
        path.write_bytes(damaged)
        read(path)
