import hashlib
import http.server
import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sampled_metrics.data.download import download, verify
from sampled_metrics.errors import ConfigError, DataError, DownloadError

CONTENT = bytes(number * number % 251 for number in range(300_000))
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WEB_PAGE = b"<!DOCTYPE html><html>Please log in</html>"


class Server(http.server.ThreadingHTTPServer):
    """Gives, for every request, the next of `answers`, and the last one again and again."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        self.answers: list[Answer] = []
        self.ranges: list[str | None] = []
        self.body_bytes = 0
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}/ml-1m.zip"

    def handle_error(self, request, client_address) -> None:
        pass  # clients that hang up are part of the tests


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        answers = self.server.answers
        self.server.ranges.append(self.headers["Range"])
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, *_) -> None:
        pass

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.flush()

    def body(self, content: bytes) -> None:
        self.wfile.write(content)
        self.wfile.flush()
        self.server.body_bytes += len(content)

    @property
    def first_byte(self) -> int:
        return int((self.headers["Range"] or "bytes=0-").removeprefix("bytes=").removesuffix("-"))


Answer = Callable[[Handler], None]


def whole(content: bytes = CONTENT, **headers: str) -> Answer:
    def answer(request: Handler) -> None:
        request.head(200, Content_Length=len(content), **headers)
        request.body(content)

    return answer


def from_range(content: bytes = CONTENT) -> Answer:
    def answer(request: Handler) -> None:
        if request.headers["Range"] is None:
            return whole(content)(request)
        first = request.first_byte
        if first >= len(content):
            return request.head(416, Content_Length=0)
        request.head(
            206,
            Content_Length=len(content) - first,
            Content_Range=f"bytes {first}-{len(content) - 1}/{len(content)}",
        )
        return request.body(content[first:])

    return answer


def truncated(size: int) -> Answer:
    def answer(request: Handler) -> None:
        request.head(200, Content_Length=len(CONTENT))
        request.body(CONTENT[:size])

    return answer


def reset(size: int) -> Answer:
    def answer(request: Handler) -> None:
        truncated(size)(request)
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.connection.close()

    return answer


def stalled(size: int) -> Answer:
    def answer(request: Handler) -> None:
        truncated(size)(request)
        request.server.stopping.wait(10)

    return answer


def failing(status: int) -> Answer:
    return lambda request: request.head(status, Content_Length=0)


def redirect(location: str) -> Answer:
    return lambda request: request.head(302, Location=location, Content_Length=0)


def serve(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.stopping.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    yield from serve(Server())


@pytest.fixture
def second_server() -> Iterator[Server]:
    yield from serve(Server())


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        [*command.split(), "-keyout", path.with_name("key.pem"), "-out", path], check=True, capture_output=True
    )
    path.write_bytes(path.read_bytes() + path.with_name("key.pem").read_bytes())
    return path


@pytest.fixture
def tls_server(certificate) -> Iterator[Server]:
    server = Server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.scheme = "https"
    yield from serve(server)


@pytest.fixture
def trusted(certificate, monkeypatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))


@pytest.fixture
def destination(tmp_path) -> Path:
    return tmp_path / "data" / "ml-1m.zip"


@pytest.fixture
def part(destination) -> Path:
    destination.parent.mkdir()
    return destination.with_name("ml-1m.zip.part")


def fetch(urls: str | list[str], destination: Path, **options) -> None:
    options = {"md5": MD5, "base_delay": 0.01, "timeout": (1.0, 1.0), "progress": False} | options
    download([urls] if isinstance(urls, str) else urls, destination, **options)


def error_of(urls: str | list[str], destination: Path, **options) -> str:
    with pytest.raises(DownloadError) as caught:
        fetch(urls, destination, **options)
    assert not destination.exists()
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{destination}: could not be downloaded (")
    assert message.endswith("); download it by hand and set the dataset's `path`")
    return message


def assert_arrived(destination: Path) -> None:
    assert destination.read_bytes() == CONTENT
    assert [file.name for file in destination.parent.iterdir()] == [destination.name]


class TestVerify:
    @pytest.mark.parametrize("md5", [MD5, MD5.upper(), None])
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
    def test_file_arrives_alone(self, server, destination, checksum):
        server.answers = [whole()]
        fetch(server.url, destination, **checksum)
        assert_arrived(destination)
        assert server.ranges == [None]

    def test_replaces_what_was_there(self, server, destination, part):
        destination.write_bytes(b"old")
        server.answers = [whole()]
        fetch(server.url, destination)
        assert_arrived(destination)

    def test_body_without_length(self, server, destination):
        server.answers = [lambda request: (request.head(200), request.body(CONTENT))]
        fetch(server.url, destination)
        assert_arrived(destination)

    def test_bytes_are_kept_as_sent_whatever_encoding_is_claimed(self, server, destination):
        server.answers = [whole(Content_Encoding="gzip")]
        fetch(server.url, destination)
        assert_arrived(destination)

    def test_redirect(self, server, second_server, destination):
        server.answers = [redirect(second_server.url)]
        second_server.answers = [whole()]
        fetch(server.url, destination)
        assert_arrived(destination)

    @pytest.mark.parametrize("progress", [True, False])
    def test_progress_goes_to_stderr(self, server, destination, capsys, progress):
        server.answers = [whole()]
        fetch(server.url, destination, progress=progress)
        printed = capsys.readouterr()
        assert printed.out == ""
        assert ("ml-1m.zip: 100%" in printed.err and "293k/293k" in printed.err) == progress


class TestResume:
    def test_part_of_an_earlier_run(self, server, destination, part):
        part.write_bytes(CONTENT[:200_000])
        server.answers = [from_range()]
        fetch(server.url, destination)
        assert_arrived(destination)
        assert server.ranges == ["bytes=200000-"]
        assert server.body_bytes == 100_000

    def test_truncated_body(self, server, destination):
        server.answers = [truncated(200_000), from_range()]
        fetch(server.url, destination)
        assert_arrived(destination)
        assert server.ranges == [None, "bytes=200000-"]
        assert server.body_bytes == 300_000

    @pytest.mark.parametrize("interruption", [reset, stalled])
    def test_interrupted_body(self, server, destination, interruption):
        server.answers = [interruption(250_000), from_range()]
        fetch(server.url, destination, timeout=(1.0, 0.2))
        assert_arrived(destination)
        assert len(server.ranges) == 2

    def test_from_the_next_address(self, server, second_server, destination):
        server.answers = [truncated(200_000)]
        second_server.answers = [from_range()]
        fetch([server.url, second_server.url], destination, attempts=1)
        assert_arrived(destination)
        assert second_server.ranges == ["bytes=200000-"]

    def test_server_that_ignores_ranges(self, server, destination, part):
        part.write_bytes(CONTENT[:200_000])
        server.answers = [whole()]
        fetch(server.url, destination)
        assert_arrived(destination)

    def test_range_beyond_the_file(self, server, destination, part):
        part.write_bytes(CONTENT + b"more")
        server.answers = [from_range()]
        fetch(server.url, destination)
        assert_arrived(destination)
        assert server.ranges == [f"bytes={len(CONTENT) + 4}-", None]

    def test_other_range_than_asked_for(self, server, destination, part):
        part.write_bytes(CONTENT[:200_000])

        def rounded_down(request: Handler) -> None:
            request.head(206, Content_Length=200_000, Content_Range=f"bytes 100000-299999/{len(CONTENT)}")
            request.body(CONTENT[100_000:])

        server.answers = [rounded_down, from_range()]
        fetch(server.url, destination)
        assert_arrived(destination)
        assert server.ranges == ["bytes=200000-", None]

    def test_wrong_part_is_fetched_again_from_zero(self, server, destination, part):
        part.write_bytes(b"x" * 200_000)
        server.answers = [from_range()]
        fetch(server.url, destination, attempts=1)
        assert_arrived(destination)
        assert server.ranges == ["bytes=200000-", None]

    def test_wrong_part_is_fetched_again_only_once(self, server, destination, part):
        part.write_bytes(b"x" * 200_000)
        server.answers = [from_range(b"y" * 300_000)]
        assert "the file is damaged or is not the one configured" in error_of(server.url, destination)
        assert server.ranges == ["bytes=200000-", None]
        assert not part.exists()


class TestFailure:
    def test_wrong_checksum_is_not_asked_for_again(self, server, destination):
        server.answers = [whole(b"something else")]
        message = error_of(server.url, destination)
        assert f"{server.url}: md5 is " in message
        assert f"expected {MD5}: the file is damaged or is not the one configured" in message
        assert len(server.ranges) == 1
        assert list(destination.parent.iterdir()) == []

    def test_web_page_instead_of_the_file(self, server, destination):
        server.answers = [whole(WEB_PAGE, Content_Type="text/html")]
        assert "this is a web page, not the data set" in error_of(server.url, destination)
        assert list(destination.parent.iterdir()) == []

    def test_always_truncated(self, server, destination, part):
        server.answers = [truncated(200_000)]
        assert "IncompleteRead(200000 bytes read, 100000 more expected)" in error_of(server.url, destination)
        assert server.ranges == [None, "bytes=200000-", "bytes=200000-"]
        assert part.read_bytes() == CONTENT[:200_000]

    def test_always_reset(self, server, destination):
        server.answers = [reset(200_000)]
        assert "Connection reset by peer" in error_of(server.url, destination)
        assert len(server.ranges) == 3

    def test_reason_is_not_an_error_that_the_caller_is_handling(self, server, destination):
        server.answers = [redirect(server.url)]
        try:
            raise FileNotFoundError("the caller's own")
        except FileNotFoundError:
            assert "Exceeded 30 redirects" in error_of(server.url, destination)

    def test_stalled_server_ends_by_the_timeout(self, server, destination):
        server.answers = [stalled(0)]
        assert f"({server.url}: timed out)" in error_of(server.url, destination, timeout=(1.0, 0.1), attempts=2)
        assert len(server.ranges) == 2

    @pytest.mark.parametrize(("status", "requests"), [(404, 1), (403, 1), (206, 1), (429, 3), (503, 3)])
    def test_status(self, server, destination, status, requests):
        server.answers = [failing(status)]
        assert f"({server.url}: HTTP {status} " in error_of(server.url, destination)
        assert len(server.ranges) == requests

    def test_server_recovers(self, server, destination):
        server.answers = [failing(503), failing(429), whole()]
        fetch(server.url, destination)
        assert_arrived(destination)

    def test_redirect_loop(self, server, destination):
        server.answers = [redirect(server.url)]
        assert "Exceeded 30 redirects" in error_of(server.url, destination)

    def test_redirect_to_another_scheme(self, server, destination):
        server.answers = [redirect("file:///etc/hostname")]
        assert "No connection adapters were found for 'file:///etc/hostname'" in error_of(server.url, destination)

    def test_lists_every_address(self, server, second_server, destination):
        server.answers = [failing(404)]
        second_server.answers = [failing(500)]
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            dead = f"http://127.0.0.1:{unused.getsockname()[1]}/ml-1m.zip"
            message = error_of([server.url, second_server.url, dead], destination)
        assert (
            f"({server.url}: HTTP 404 Not Found; {second_server.url}: HTTP 500 Internal Server Error; "
            f"{dead}: Connection refused)"
        ) in message

    def test_next_address_is_tried(self, server, second_server, destination):
        server.answers = [whole(WEB_PAGE)]
        second_server.answers = [whole()]
        fetch([server.url, second_server.url], destination)
        assert_arrived(destination)

    def test_folder_that_cannot_be_made(self, server, tmp_path):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(DataError, match=r"file/ml-1m\.zip: cannot be written: File exists"):
            fetch(server.url, tmp_path / "file" / "ml-1m.zip")


class TestAddresses:
    @pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///x", "ml-1m.zip", ""])
    def test_other_schemes_are_refused_before_anything_is_fetched(self, server, destination, url):
        with pytest.raises(ConfigError, match=f"^datasets.*urls: '{url}' is not an https:// or http:// address$"):
            fetch([server.url, url], destination)
        assert server.ranges == []

    def test_none(self, destination):
        with pytest.raises(ConfigError, match=r"^datasets\.\*\.urls: there is no address"):
            fetch([], destination)

    def test_plain_http_needs_a_checksum(self, server, destination):
        server.answers = [whole()]
        message = error_of(server.url, destination, md5=None)
        assert f"{server.url} is plain http, which needs an md5 or sha256" in message
        assert server.ranges == []

    def test_malformed(self, destination):
        assert "(https:///a.zip: Invalid URL" in error_of("https:///a.zip", destination)

    @pytest.mark.parametrize("url", ["https://example.org/", "https://example.org/..", "https://example.org/a?b=c"])
    def test_without_the_name_of_a_file(self, url, destination):
        with pytest.raises(ConfigError, match="does not end in the name of a file"):
            fetch([url], destination)


class TestTls:
    def test_unknown_certificate_is_refused(self, tls_server, destination):
        tls_server.answers = [whole()]
        assert f"({tls_server.url}: self-signed certificate)" in error_of(tls_server.url, destination)
        assert tls_server.ranges == []

    @pytest.mark.usefixtures("trusted")
    def test_without_checksum(self, tls_server, destination):
        tls_server.answers = [whole()]
        fetch(tls_server.url, destination, md5=None)
        assert_arrived(destination)

    @pytest.mark.usefixtures("trusted")
    def test_without_checksum_a_part_is_not_resumed(self, tls_server, destination, part):
        part.write_bytes(b"x" * 200_000)
        tls_server.answers = [truncated(100_000), from_range()]
        fetch(tls_server.url, destination, md5=None)
        assert_arrived(destination)
        assert tls_server.ranges == [None, None]

    @pytest.mark.usefixtures("trusted")
    def test_without_checksum_a_web_page_is_refused(self, tls_server, destination):
        tls_server.answers = [whole(WEB_PAGE)]
        assert "this is a web page" in error_of(tls_server.url, destination, md5=None)

    @pytest.mark.usefixtures("trusted")
    def test_redirect_to_plain_http_needs_a_checksum(self, tls_server, server, destination):
        tls_server.answers = [redirect(server.url)]
        server.answers = [whole()]
        assert f"{server.url} is plain http" in error_of(tls_server.url, destination, md5=None)
        fetch(tls_server.url, destination)
        assert_arrived(destination)
