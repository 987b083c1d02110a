"""What a download asks for, keeps and says; tests/faults/test_download_faults.py has the servers that answer badly."""

import hashlib
import io
import shutil
import socket
import sys
from pathlib import Path

import pytest
from faults import hostile_server as answers
from faults.hostile_server import CONTENT, WEB_PAGE, honest, serving

from sampled_metrics.data import download
from sampled_metrics.data.download import verify, verify_as_first_seen
from sampled_metrics.errors import ConfigError, DataError, DownloadError

MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "PAUSE", 0.001)
    monkeypatch.setattr(download, "TIMEOUT", (5.0, 5.0))


@pytest.fixture
def destination(tmp_path) -> Path:
    return tmp_path / "data" / "ml-1m.zip"


@pytest.fixture
def part(destination) -> Path:
    destination.parent.mkdir()
    return destination.with_name("ml-1m.zip.part")


def fetch(urls: str | list[str], destination: Path, *, md5: str | None = MD5, sha256: str | None = None) -> None:
    download.download([urls] if isinstance(urls, str) else urls, destination, md5=md5, sha256=sha256)


def error_of(urls: str | list[str], destination: Path, **checksums: str | None) -> str:
    with pytest.raises(DownloadError) as caught:
        fetch(urls, destination, **checksums)
    assert not destination.exists()
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{destination}: could not be downloaded (")
    assert message.endswith("); download it by hand and set the dataset's `path`")
    return message


def assert_arrived(destination: Path) -> None:
    assert destination.read_bytes() == CONTENT
    assert [path.name for path in destination.parent.iterdir()] == [destination.name]


class TestVerify:
    @pytest.mark.parametrize("md5", [MD5.upper(), None])
    @pytest.mark.parametrize("sha256", [SHA256, None])
    def test_right(self, tmp_path, md5, sha256):
        path = tmp_path / "ml-1m.zip"
        path.write_bytes(CONTENT)
        verify(path, md5=md5, sha256=sha256)

    @pytest.mark.parametrize(("algorithm", "found"), [("md5", MD5), ("sha256", SHA256)])
    def test_wrong(self, tmp_path, algorithm, found):
        path = tmp_path / "ml-1m.zip"
        path.write_bytes(CONTENT)
        with pytest.raises(DataError) as caught:
            verify(path, **({"md5": None, "sha256": None} | {algorithm: "0" * len(found)}))
        assert str(caught.value) == (
            f"{path}: {algorithm} is {found}, expected {'0' * len(found)}: the file is damaged or is not the one "
            "configured; delete it and run again, or correct the dataset's checksum or path"
        )

    @pytest.mark.parametrize("md5", [MD5, None])
    def test_web_page(self, tmp_path, md5):
        path = tmp_path / "ml-1m.zip"
        path.write_bytes(WEB_PAGE)
        with pytest.raises(DataError, match="this is a web page, not the data set; delete it"):
            verify(path, md5=md5, sha256=None)

    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match=r"no\.zip: cannot be read: No such file or directory"):
            verify(tmp_path / "no.zip", md5=MD5, sha256=None)


class TestComplete:
    @pytest.mark.parametrize("checksum", [{"md5": MD5}, {"md5": None, "sha256": SHA256}])
    def test_replaces_what_was_there_and_leaves_nothing_else(self, destination, part, checksum):
        destination.write_bytes(b"old")
        with serving(honest) as server:
            fetch(server.url, destination, **checksum)
        assert_arrived(destination)
        assert server.firsts == [None]

    def test_redirect_to_another_server(self, destination):
        with serving(honest) as other, serving(answers.redirect(other.url, body=b"moved")) as server:
            fetch(server.url, destination)
        assert_arrived(destination)

    @pytest.mark.parametrize("is_terminal", [True, False])
    def test_progress_is_drawn_on_a_terminal(self, destination, monkeypatch, capsys, is_terminal):
        terminal = io.StringIO()
        terminal.isatty = lambda: is_terminal
        monkeypatch.setattr(sys, "stderr", terminal)
        with serving(honest) as server:
            fetch(server.url, destination)
        assert capsys.readouterr().out == ""
        assert ("ml-1m.zip: 100%" in terminal.getvalue() and "293k/293k" in terminal.getvalue()) == is_terminal


class TestResume:
    def test_part_of_an_earlier_run(self, destination, part):
        part.write_bytes(CONTENT[:200_000])
        with serving(honest) as server:
            fetch(server.url, destination)
        assert_arrived(destination)
        assert server.firsts == [200_000]

    def test_truncated_body(self, destination):
        with serving(answers.cut(200_000), honest) as server:
            fetch(server.url, destination)
        assert_arrived(destination)
        assert server.firsts == [None, 200_000]

    def test_from_the_next_address(self, destination, monkeypatch):
        monkeypatch.setattr(download, "ATTEMPTS", 1)
        with serving(answers.cut(200_000)) as server, serving(honest) as other:
            fetch([server.url, other.url], destination)
        assert_arrived(destination)
        assert other.firsts == [200_000]

    def test_range_beyond_the_file(self, destination, part):
        part.write_bytes(CONTENT + b"more")
        with serving(honest) as server:
            fetch(server.url, destination)
        assert_arrived(destination)
        assert server.firsts == [len(CONTENT) + 4, None]

    def test_other_range_than_asked_for(self, destination, part):
        part.write_bytes(CONTENT[:200_000])
        with serving(answers.lying_range(100_000, CONTENT[100_000:]), honest) as server:
            fetch(server.url, destination)
        assert_arrived(destination)
        assert server.firsts == [200_000, None]

    def test_wrong_part_is_fetched_again_from_zero(self, destination, part):
        part.write_bytes(b"x" * 200_000)
        with serving(honest) as server:
            fetch(server.url, destination)
        assert_arrived(destination)
        assert server.firsts == [200_000, None]

    def test_wrong_part_is_fetched_again_only_once(self, destination, part):
        part.write_bytes(b"x" * 200_000)
        with serving(answers.lying_range(200_000, b"y" * 100_000), answers.whole(b"y" * 300_000)) as server:
            assert "the file is damaged or is not the one configured" in error_of(server.url, destination)
        assert server.firsts == [200_000, None]
        assert not part.exists()


class TestFailure:
    def test_wrong_checksum_is_not_asked_for_again(self, destination):
        with serving(answers.whole(b"something else")) as server:
            message = error_of(server.url, destination)
        assert f"{server.url}: md5 is " in message
        assert f"expected {MD5}: the file is damaged or is not the one configured" in message
        assert server.firsts == [None]
        assert list(destination.parent.iterdir()) == []

    def test_always_truncated(self, destination, part):
        with serving(answers.cut(200_000), answers.cut(0)) as server:
            assert "100000 more expected)" in error_of(server.url, destination)
        assert server.firsts == [None, 200_000, 200_000]
        assert part.read_bytes() == CONTENT[:200_000]

    @pytest.mark.parametrize(("status", "requests"), [(404, 1), (403, 1), (429, 3), (503, 3)])
    def test_status(self, destination, status, requests):
        with serving(answers.status(status)) as server:
            assert f"({server.url}: HTTP {status} " in error_of(server.url, destination)
        assert len(server.firsts) == requests

    def test_pauses_grow(self, destination, monkeypatch):
        pauses = []
        monkeypatch.setattr(download.time, "sleep", pauses.append)
        monkeypatch.setattr(download, "PAUSE", 1.0)
        with serving(answers.status(503), answers.status(503), honest) as server:
            fetch(server.url, destination)
        assert pauses == [1, 2]

    def test_lists_every_address(self, destination):
        with serving(answers.status(404)) as server, serving(answers.status(500)) as other, socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            dead = f"http://127.0.0.1:{unused.getsockname()[1]}/ml-1m.zip"
            message = error_of([server.url, other.url, dead], destination)
        assert (
            f"({server.url}: HTTP 404 Not Found; {other.url}: HTTP 500 Something; {dead}: Connection refused)"
        ) in message

    def test_next_address_is_tried(self, destination):
        with serving(answers.whole(WEB_PAGE)) as server, serving(honest) as other:
            fetch([server.url, other.url], destination)
        assert_arrived(destination)

    def test_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(DataError, match=r"file/ml-1m\.zip: cannot be written: File exists"):
            fetch("https://127.0.0.1:1/ml-1m.zip", tmp_path / "file" / "ml-1m.zip")


class TestAddresses:
    @pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///x", "ml-1m.zip", ""])
    def test_other_schemes_are_refused_before_anything_is_fetched(self, destination, url):
        with serving(honest) as server, pytest.raises(ConfigError) as caught:
            fetch([server.url, url], destination)
        assert str(caught.value) == f"datasets.*.urls: {url!r} is not an https:// or http:// address"
        assert server.firsts == []

    def test_none(self, destination):
        with pytest.raises(ConfigError, match=r"^datasets\.\*\.urls: there is no address"):
            fetch([], destination)

    def test_malformed(self, destination):
        assert "(https:///a.zip: Invalid URL" in error_of("https:///a.zip", destination)

    @pytest.mark.parametrize("url", ["https://example.org/", "https://example.org/..", "https://example.org/a?b=c"])
    def test_without_the_name_of_a_file(self, url, destination):
        with pytest.raises(ConfigError, match="does not end in the name of a file"):
            fetch([url], destination)


class TestWithoutChecksum:
    """Over TLS; plain http is refused."""

    @pytest.fixture
    def context(self, monkeypatch):
        if shutil.which("openssl") is None:
            pytest.skip("needs openssl to make a certificate")
        path, context = answers.certificate("IP:127.0.0.1")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
        return context

    def test_a_part_is_not_resumed(self, context, destination, part):
        part.write_bytes(b"x" * 200_000)
        with serving(answers.cut(100_000), honest, context=context) as server:
            fetch(server.url, destination, md5=None)
        assert_arrived(destination)
        assert server.firsts == [None, None]

    def test_a_web_page_is_refused(self, context, destination):
        with serving(answers.whole(WEB_PAGE), context=context) as server:
            assert "this is a web page" in error_of(server.url, destination, md5=None)


def test_the_file_seen_first_is_the_one(tmp_path):
    record = tmp_path / "data" / "first-seen.sha256"
    for _ in range(2):
        verify_as_first_seen(tmp_path / "ml-1m.zip", SHA256, record)
    with pytest.raises(DataError, match=f"sha256 is 0000, but the file seen first had {SHA256}; .* delete "):
        verify_as_first_seen(tmp_path / "ml-1m.zip", "0000", record)
