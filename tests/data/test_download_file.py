"""What a download asks for, keeps and says; tests/faults/test_download_faults.py has the servers that answer badly."""

import hashlib
import io
import os
import re
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from faults import hostile_server as answers
from faults.hostile_server import CONTENT, WEB_PAGE, honest, serving

from sampled_metrics.data import archives
from sampled_metrics.data.archives import verify
from sampled_metrics.errors import ConfigError, DataError, DownloadError, WriteError

MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(archives, "TIMEOUT", (5.0, 5.0))


@pytest.fixture
def destination(tmp_path) -> Path:
    return tmp_path / "data" / "ml-1m.zip"


def fetch(urls: str | list[str], destination: Path, *, md5: str | None = MD5, sha256: str | None = None) -> None:
    archives.download([urls] if isinstance(urls, str) else urls, destination, md5=md5, sha256=sha256)


def error_of(urls: str | list[str], destination: Path, **checksums: str | None) -> str:
    with pytest.raises(DownloadError) as caught:
        fetch(urls, destination, **checksums)
    message = str(caught.value)
    assert message.startswith(f"{destination}: could not be downloaded (")
    assert message.endswith("); download it by hand and set the dataset's `path`")
    return message


def assert_arrived(destination: Path) -> None:
    assert destination.read_bytes() == CONTENT
    assert [path.name for path in destination.parent.iterdir()] == [destination.name]


class TestVerify:
    @pytest.fixture
    def path(self, tmp_path) -> Path:
        path = tmp_path / "ml-1m.zip"
        path.write_bytes(CONTENT)
        return path

    @pytest.mark.parametrize(("algorithm", "found"), [("md5", MD5), ("sha256", SHA256)])
    def test_wrong(self, path, algorithm, found):
        with pytest.raises(DataError) as caught:
            verify(path, **({"md5": None, "sha256": None} | {algorithm: "0" * len(found)}))
        assert str(caught.value) == (
            f"{path}: {algorithm} is {found}, expected {'0' * len(found)}: the file is damaged or is not the one "
            "configured; delete it and run again, or state its own md5 or sha256 (md5: null for none)"
        )

    def test_wrong_of_a_file_of_ones_own_does_not_say_to_delete_it(self, path):
        with pytest.raises(DataError, match=r"configured; correct path, or state its own md5 or sha256") as caught:
            verify(path, md5="0" * 32, sha256=None, is_own=True)
        assert "delete" not in str(caught.value)


@pytest.mark.parametrize("checksum", [{"md5": MD5}, {"md5": None, "sha256": SHA256}, {"sha256": SHA256}])
def test_replaces_what_was_there_leaves_nothing_else_and_others_may_read_it(destination, checksum):
    destination.parent.mkdir()
    destination.write_bytes(b"old")
    old = os.umask(0o022)
    with serving(honest) as server:
        fetch(server.url, destination, **checksum)
    os.umask(old)
    assert_arrived(destination)
    assert destination.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_drawn_on_a_terminal(destination, monkeypatch, is_terminal):
    terminal = io.StringIO()
    terminal.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", terminal)
    with serving(honest) as server:
        fetch(server.url, destination)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert bool(re.search(r"ml-1m\.zip ━+ 100% .* 293\.0/293\.0 KiB", shown)) == is_terminal
    assert is_terminal or not shown


@pytest.mark.parametrize("checksum", [{"md5": "0" * 32, "sha256": SHA256}, {"sha256": "0" * 64}])
def test_both_checksums_must_be_right_or_what_was_there_stays(destination, checksum):
    destination.parent.mkdir()
    destination.write_bytes(b"old")
    with serving(honest) as server:
        message = error_of(server.url, destination, **checksum)
    assert f"({server.url}: {'md5' if 'md5' in checksum else 'sha256'} is " in message
    assert "the file is damaged or is not the one configured" in message
    assert destination.read_bytes() == b"old"
    assert list(destination.parent.iterdir()) == [destination]


def test_lists_every_address(destination):
    with serving(answers.status(404)) as server, serving(answers.status(500)) as other, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}/ml-1m.zip"
        message = error_of([server.url, other.url, dead], destination)
    assert f"({server.url}: HTTP 404 Not Found; {other.url}: HTTP 500 Something; {dead}: Connection refused)" in message


def test_the_next_address_is_tried(destination):
    with serving(answers.whole(WEB_PAGE)) as server, serving(answers.cut(10)) as third, serving(honest) as other:
        fetch([server.url, third.url, other.url], destination)
    assert_arrived(destination)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match=r"file/ml-1m\.zip: cannot be written: File exists"):
        fetch("https://127.0.0.1:1/ml-1m.zip", tmp_path / "file" / "ml-1m.zip")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        *[(url, f": {url!r} is not an https:// or http:// address") for url in ("ftp://x/x", "file:///x", "x.zip", "")],
        *[(f"https://x/{end}", "does not end in the name of a file") for end in ("", "..", "a?b=c")],
    ],
)
def test_an_address_that_cannot_be_is_refused_before_anything_is_fetched(destination, url, says):
    with serving(honest) as server, pytest.raises(ConfigError) as caught:
        fetch([server.url, url], destination)
    assert str(caught.value).startswith("datasets.*.urls: ")
    assert says in str(caught.value)
    assert server.requests == 0
