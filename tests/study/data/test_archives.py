"""Files of events: their addresses, downloads, wheels and checksums, and members of archives.

tests/faults has archives that are damaged or mean harm, and servers that answer badly.
"""

import gzip
import hashlib
import os
import socket
import zipfile
from pathlib import Path
from types import SimpleNamespace

import hostile_server as answers
import pytest
from hostile_server import CONTENT, WEB_PAGE, honest, serving

from sampled_metrics.errors import DataError, DownloadError, WriteError
from sampled_metrics_study.data import archives, downloads
from sampled_metrics_study.data.archives import open_member, verify
from sampled_metrics_study.data.downloads import download

EVENTS = b"".join(
    b"%d::%d::4::%d\n" % (number, number * 7919 % 3001, number * 104729) for number in range(2000)
)
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def make_zip(
    path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def read(path: Path, member: str | None = "ratings.dat") -> bytes:
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
    assert {path.name for path in tmp_path.iterdir()} == {"ml-1m.zip", "recbole.whl", "a.bin"}


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
    plain = tmp_path / "ratings.dat"
    packed = tmp_path / "ratings.gz"
    plain.write_bytes(EVENTS)
    packed.write_bytes(gzip.compress(EVENTS))
    zipped = make_zip(tmp_path / "ratings.zip", {"ratings.dat": EVENTS})
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS))
    assert read(packed) == read(zipped) == EVENTS
    monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS) - 1)
    assert read(plain) == EVENTS
    for path in (packed, zipped):
        with pytest.raises(DataError, match=f"more than the {len(EVENTS) - 1} bytes allowed"):
            read(path)


@pytest.mark.parametrize(
    ("algorithm", "digest"), [("md5", MD5), ("sha256", SHA256)], ids=["md5", "sha256"]
)
def test_a_wrong_checksum_is_refused(tmp_path, algorithm, digest):
    path = tmp_path / "ml-1m.zip"
    wrong = {"md5": None, "sha256": None} | {algorithm: "0" * len(digest)}
    path.write_bytes(CONTENT)
    message = rf"zip: {algorithm} is {digest}, expected 00.*; delete it and run again, or"
    with pytest.raises(DataError, match=message):
        verify(path, **wrong)
    with pytest.raises(DataError, match=r"sha256"):
        verify(path, **wrong, is_own=True)


@pytest.fixture
def destination(tmp_path, monkeypatch) -> Path:
    """Where a file is that was there before."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 5.0))
    path = tmp_path / "data" / "ml-1m.zip"
    path.parent.mkdir()
    path.write_bytes(b"old")
    return path


def error_of(urls: list[str], destination: Path, **checksums: str | None) -> str:
    """The reasons for which nothing was downloaded, and what was there stays."""
    with pytest.raises(DownloadError) as caught:
        download(urls, destination, **checksums)
    beginning = f"{destination}: could not be downloaded ("
    end = "); download it by hand and set the dataset's `path`"
    assert str(caught.value).startswith(beginning)
    assert str(caught.value).endswith(end)
    assert [path.read_bytes() for path in destination.parent.iterdir()] == [b"old"]
    return str(caught.value).removeprefix(beginning).removesuffix(end)


@pytest.mark.parametrize("checksum", [{"md5": MD5, "sha256": SHA256}, {"sha256": SHA256}])
def test_a_download_replaces_what_was_there_and_others_may_read_it(destination, checksum):
    mask = os.umask(0o022)
    with serving(honest) as server:
        download([server.url], destination, **checksum)
    os.umask(mask)
    assert [path.read_bytes() for path in destination.parent.iterdir()] == [CONTENT]
    assert destination.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "checksum", [{"md5": "0" * 32, "sha256": SHA256}, {"md5": MD5, "sha256": "0" * 64}]
)
def test_both_checksums_must_be_right_or_what_was_there_stays(destination, checksum):
    with serving(honest) as server:
        message = error_of([server.url], destination, **checksum)
    assert message.startswith(f"{server.url}: {'sha256' if checksum['md5'] == MD5 else 'md5'} is ")


def test_the_next_address_is_tried_and_all_are_listed_if_none_answers_well(destination):
    with (
        serving(answers.status(404)) as missing,
        serving(answers.status(500)) as failing,
        socket.socket() as unused,
    ):
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}/ml-1m.zip"
        message = error_of([missing.url, failing.url, dead], destination, md5=MD5)
    assert (
        message == f"{missing.url}: HTTP 404 Not Found; {failing.url}: HTTP 500 Something; {dead}: "
        "Connection refused"
    )
    with (
        serving(answers.whole(WEB_PAGE)) as login,
        serving(answers.cut(10)) as cut,
        serving(honest) as server,
    ):
        download([login.url, cut.url, server.url], destination, md5=MD5)
    assert destination.read_bytes() == CONTENT


def test_a_folder_that_cannot_be_made(destination):
    with pytest.raises(WriteError, match=r"ml-1m\.zip/a\.zip"):
        download(["https://127.0.0.1:1/ml-1m.zip"], destination / "a.zip")


def test_addresses_of_wheels():
    assert archives.member(["https://example.org/a.whl", "pypi:a==1!x", "pypi:a==1!y"]) == "x"
    assert archives.member(["https://example.org/a.whl!z"]) is None


@pytest.fixture
def pip(monkeypatch):
    """A substitute of pip, which writes files to the folder that it is given, or fails."""

    def install(files: list[str], err: str = "") -> list[str]:
        arguments: list[str] = []

        def run(command: list[str], **options) -> SimpleNamespace:
            arguments.extend(command[1:])
            for name in files:
                (Path(command[command.index("--dest") + 1]) / name).write_bytes(b"wheel")
            return SimpleNamespace(stderr=err, returncode=1 if err else 0)

        monkeypatch.setattr(
            downloads,
            "subprocess",
            SimpleNamespace(run=run, DEVNULL=None, TimeoutExpired=TimeoutError),
        )
        return arguments

    return install


def test_a_wheel_becomes_the_file_alone(pip, destination):
    arguments = pip(["data-1.0-py3-none-any.whl"])
    # the first does not answer
    addresses = [
        "http://127.0.0.1:1/data-1.0.whl",
        "pypi:data==1.0!x.csv",
    ]
    download(addresses, destination, sha256=hashlib.sha256(b"wheel").hexdigest())
    assert [path.read_bytes() for path in destination.parent.iterdir()] == [b"wheel"]
    assert (arguments[:2], arguments[-1]) == (["-m", "pip"], "data==1.0")
    command = " ".join(arguments)
    for option in ("--no-deps", "--only-binary :all:", "--platform any"):
        assert option in command


NONE = """\
ERROR: Could not find a version that satisfies the requirement data==2 (from versions: {})
ERROR: No matching distribution found for data==2
"""


@pytest.mark.parametrize(
    ("err", "reason"),
    [
        (
            NONE.format("0.1, 1.0"),
            "pip: Could not find a version that satisfies the requirement data==2 (from versions: "
            "0.1, 1.0)",
        ),
        (
            f"connection broken by 'NewConnectionError('\n{NONE.format('')}",
            "pip cannot reach the package index",
        ),
        ("", "pip: it failed without a reason"),  # and ends well, but leaves no wheel
    ],
    ids=["no such version", "no connection", "no wheel"],
)
def test_a_wheel_that_does_not_come(pip, destination, err, reason):
    pip(["data-2.tar.gz"], err)
    assert error_of(["pypi:data==2!x.csv"], destination) == f"pypi:data==2!x.csv: {reason}"


def test_the_messages_of_pip_itself(destination, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    for pip, says in (
        ((*downloads._PIP[:-1], "1"), "pip cannot reach the package index"),
        (("-S", "-I", "-m", "pip"), "No module named pip"),  # nor has Python any package then
    ):
        monkeypatch.setattr(downloads, "_PIP", pip)
        assert says in error_of(["pypi:data==1.0!x"], destination)
