"""Servers that answer badly: a download is right by its checksum, or fails in one line, in time, and leaves no file."""

import gzip
import hashlib
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults import hostile_server as bad
from faults.hostile_server import CONTENT, WEB_PAGE, Answer, honest, serving
from sampled_metrics.data import download
from sampled_metrics.errors import DownloadError

SHA256 = hashlib.sha256(CONTENT).hexdigest()
STATED = 15.0
"""Seconds within which every download must end, on a loaded machine."""

OTHER = bytes(255 - byte for byte in CONTENT)


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "PAUSE", 0.001)
    monkeypatch.setattr(download, "TIMEOUT", (5.0, 5.0))
    monkeypatch.setattr(download, "MAX_BYTES", 2_000_000)


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data/ml-1m.zip"


@contextmanager
def in_time() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < STATED


def fetch(url: str, destination: Path, *, sha256: str | None = SHA256) -> str | None:
    """Download, and return the one line that says why not, or None."""
    try:
        download.download([url], destination, sha256=sha256)
    except DownloadError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
        assert message.startswith(f"{destination}: could not be downloaded ({url}: ")
        assert not destination.exists()
        return message
    assert destination.read_bytes() == CONTENT
    assert list(destination.parent.iterdir()) == [destination]
    return None


def assert_an_honest_server_completes_it(destination: Path) -> None:
    """Whatever an earlier download left."""
    with serving(honest) as server:
        assert fetch(server.url, destination) is None


COMPLETED: dict[str, list[Answer]] = {
    "resets midway, then answers well": [bad.then(bad.cut(150_000), bad.reset), honest],
    "resets at once, then answers well": [bad.reset, honest],
    "stalls midway, then answers well": [bad.then(bad.cut(150_000), bad.stall), honest],
    "is cut off (Content-Length too long), then answers well": [bad.cut(150_000), honest],
    "500, then answers well": [bad.status(500), honest],
    "503, then answers well": [bad.status(503), honest],
    "429, then answers well": [bad.status(429), honest],
    "claims Content-Encoding: gzip of a file that is not": [bad.whole(CONTENT, "Content-Encoding: gzip")],
    "ignores the range of a resumed download": [bad.cut(150_000), bad.whole(CONTENT)],
    "another Content-Range than asked for, then the file": [
        bad.cut(150_000),
        bad.lying_range(100_000, CONTENT[100_000:]),
        honest,
    ],
    "the right Content-Range with other bytes, then the file": [
        bad.cut(150_000),
        bad.lying_range(150_000, OTHER[150_000:]),
        honest,
    ],
    "206 for the range without Content-Range, then the file": [
        bad.cut(150_000),
        bad.then(bad.head_only("Content-Length: 150000", code=206), bad.raw(CONTENT[150_000:])),
        honest,
    ],
    "a range that goes on past the file, then the file": [
        bad.cut(150_000),
        bad.lying_range(150_000, CONTENT[150_000:] + b"more"),
        honest,
    ],
    "chunked": [bad.chunked(CONTENT[:100_000], CONTENT[100_000:])],
    "chunked without an end, then answers well": [bad.chunked(CONTENT[:100_000], end=b""), honest],
    "without a length": [bad.then(bad.head_only(), bad.raw(CONTENT))],
    "not HTTP at all, then answers well": [bad.raw(b"SSH-2.0-OpenSSH_9.2\r\n"), honest],
}

REFUSED: dict[str, tuple[list[Answer], str]] = {
    "always resets midway": ([bad.then(bad.cut(50_000), bad.reset)], "reset by peer"),
    "always cut off": ([bad.cut(50_000)], "more expected"),
    "always stalls before the head": ([bad.stall], "timed out"),
    "always stalls midway": ([bad.then(bad.cut(50_000), bad.stall)], "timed out"),
    "a web page with status 200": ([bad.whole(WEB_PAGE, "Content-Type: text/html")], "web page"),
    "a web page, gzipped by the server": (
        [bad.whole(gzip.compress(WEB_PAGE), "Content-Encoding: gzip")],
        "damaged",
    ),
    "other bytes": ([bad.whole(OTHER)], "the file is damaged or is not the one configured"),
    "one bit is wrong": ([bad.whole(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))], "the file is damaged"),
    "a byte too few, with a length to match": ([bad.whole(CONTENT[:-1])], "the file is damaged"),
    "a byte too many, with a length to match": ([bad.whole(CONTENT + b"\0")], "the file is damaged"),
    "nothing, with status 200": ([bad.whole(b"")], "the file is damaged"),
    "without a length and cut off": ([bad.then(bad.head_only(), bad.raw(CONTENT[:1000]))], "the file is damaged"),
    "404": ([bad.status(404)], "HTTP 404"),
    "always 500": ([bad.status(500)], "HTTP 500"),
    "206 where no range was asked for": ([bad.status(206)], "HTTP 206"),
    "304 where nothing was asked to be compared": ([bad.status(304)], "HTTP 304"),
    "redirects to file:": ([bad.redirect("file:///etc/hostname")], "No connection adapters"),
    "redirects to an address that is none": ([bad.redirect("http://[")], ""),
    "redirects to a port that nobody listens at": ([bad.redirect("http://127.0.0.1:1/ml-1m.zip")], ""),
    "redirects to a name that is none": ([bad.redirect("http://a..b/ml-1m.zip")], ""),
    "redirects nowhere": ([bad.redirect("")], ""),
    "a redirect whose body has no end": (
        [bad.then(bad.head_only("Location: /ml-1m.zip", code=302), bad.endless(bytes(100_000)))],
        "30 redirects",
    ),
    "a redirect whose body is a gzip bomb": (
        [bad.redirect("/x", "Content-Encoding: gzip", body=gzip.compress(bytes(20_000_000)))],
        "30 redirects",
    ),
    "an endless body, announced": (
        [bad.head_only("Content-Length: 9000000000000")],
        "announces 9000000000000 bytes, more than the 2000000 bytes allowed",
    ),
    "an endless body without a length": (
        [bad.then(bad.head_only(), bad.endless(bytes(100_000)))],
        "more than the 2000000 bytes allowed",
    ),
    "an endless body in chunks": (
        [bad.then(bad.head_only("Transfer-Encoding: chunked"), bad.endless(b"1000\r\n" + bytes(4096) + b"\r\n"))],
        "more than the 2000000 bytes allowed",
    ),
    "a chunk that has no end": (
        [bad.then(bad.head_only("Transfer-Encoding: chunked"), bad.raw(b"ffffffffff\r\n"), bad.endless(bytes(4096)))],
        "more than the 2000000 bytes allowed",
    ),
    "chunks that are none": ([bad.chunked(end=b"no number\r\n")], ""),
    "a length that is negative": ([bad.then(bad.head_only("Content-Length: -5"), bad.raw(b"x"))], ""),
    "a length that is no number": ([bad.then(bad.head_only("Content-Length: many"), bad.raw(b"x"))], ""),
    "two lengths": ([bad.then(bad.head_only("Content-Length: 5", "Content-Length: 6"), bad.raw(b"abcdef"))], ""),
    "a head without end": ([bad.then(bad.raw(b"HTTP/1.1 200 OK\r\n"), bad.endless(b"X: y\r\n"))], "headers"),
    "a line of the head without end": ([bad.then(bad.raw(b"HTTP/1.1 200 OK\r\nX: "), bad.endless(b"yyyy"))], "line"),
}  # fmt: skip

DRIPPING: dict[str, Answer] = {
    "drips its body": bad.then(bad.head_only("Content-Length: 300000"), bad.endless(b"y", 0.02)),
    "drips a body in chunks": bad.then(bad.head_only("Transfer-Encoding: chunked"), bad.endless(b"1\r\ny\r\n", 0.02)),
    "drips a body without a length": bad.then(bad.head_only(), bad.endless(bytes(500), 0.02)),
}


def hurry(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    if "stalls" in fault:
        monkeypatch.setattr(download, "TIMEOUT", (5.0, 0.2))


@pytest.mark.parametrize("fault", COMPLETED)
def test_completed(fault: str, destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch, fault)
    with serving(*COMPLETED[fault]) as server, in_time():
        assert fetch(server.url, destination) is None


@pytest.mark.parametrize("fault", REFUSED)
def test_refused_and_completed_later(fault: str, destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, says = REFUSED[fault]
    hurry(monkeypatch, fault)
    with serving(*answers) as server, in_time():
        message = fetch(server.url, destination)
    assert message is not None
    assert says in message
    monkeypatch.setattr(download, "TIMEOUT", (5.0, 5.0))
    assert_an_honest_server_completes_it(destination)


@pytest.mark.parametrize("fault", DRIPPING)
def test_a_download_that_drips_ends_at_the_bound_of_the_whole(
    fault: str, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(DRIPPING[fault]) as server, in_time(), monkeypatch.context() as patch:
        patch.setattr(download, "MAX_SECONDS", 0.2)
        message = fetch(server.url, destination)
    assert message is not None
    assert "the download is not complete after 0.2 seconds, the longest allowed" in message
    assert len(server.firsts) == 1
    assert_an_honest_server_completes_it(destination)


def test_nobody_listens(destination: Path) -> None:
    with serving(honest) as server:
        url = server.url
    with in_time():
        assert "refused" in (fetch(url, destination) or "")


def test_redirects_in_a_circle(destination: Path) -> None:
    with serving(bad.redirect("/b"), bad.redirect("/a")) as server, in_time():
        assert "Exceeded 30 redirects" in (fetch(server.url, destination) or "")


def random_answer(rng: random.Random) -> Answer:
    """Cut, reset, stray bytes, lies about the range, other bytes, a status: no answer that only time would end."""
    size = rng.randrange(300_000)
    return rng.choice(
        [
            bad.cut(size),
            bad.then(bad.cut(size), bad.reset),
            bad.reset,
            bad.status(rng.choice([408, 429, 500, 502, 503, 504])),
            bad.lying_range(rng.randrange(300_000), CONTENT[size:]),
            bad.lying_range(size, OTHER[size:]),
            bad.chunked(CONTENT[:size], end=rng.choice([b"", b"zz\r\n", b"5\r\nab"])),
            bad.whole(CONTENT),
            bad.whole(WEB_PAGE),
            bad.whole(OTHER),
            bad.raw(rng.randbytes(rng.randrange(100))),
        ]
    )


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 100))])
def test_a_random_sequence_of_bad_answers(seed: int, destination: Path) -> None:
    rng = random.Random(seed)
    answers = [random_answer(rng) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.5:  # what an earlier run left, right or wrong
        destination.with_name("ml-1m.zip.part").write_bytes(rng.choice([CONTENT, OTHER])[: rng.randrange(300_000)])
    with serving(*answers, honest) as server, in_time():
        message = fetch(server.url, destination)
    if message is not None:
        assert_an_honest_server_completes_it(destination)


class TestTls:
    @pytest.fixture(autouse=True)
    def _openssl(self) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("needs openssl to make a certificate")

    @pytest.mark.parametrize(
        ("subject", "days", "is_known", "says"),
        [
            ("IP:127.0.0.1", 2, False, "self-signed certificate"),
            ("DNS:example.org", 2, True, "IP address mismatch"),
            ("IP:127.0.0.1", -1, True, "expired"),
        ],
    )
    @pytest.mark.parametrize("sha256", [SHA256, None], ids=["sha256", "no checksum"])
    def test_refused(self, subject, days, is_known, says, sha256, destination, monkeypatch):
        path, context = bad.certificate(subject, days)
        if is_known:
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
        with serving(honest, context=context) as server, in_time():
            assert says in (fetch(server.url, destination, sha256=sha256) or "")
        assert server.firsts == []

    def test_a_known_certificate_is_taken(self, destination, monkeypatch):
        path, context = bad.certificate("IP:127.0.0.1")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
        with serving(honest, context=context) as server:
            assert fetch(server.url, destination, sha256=None) is None

    def test_a_redirect_to_plain_http_needs_a_checksum(self, destination, monkeypatch):
        path, context = bad.certificate("IP:127.0.0.1")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
        with serving(honest) as plain, serving(bad.redirect(plain.url), context=context) as server:
            assert "plain http" in (fetch(server.url, destination, sha256=None) or "")
            assert fetch(server.url, destination) is None


def test_plain_http_without_a_checksum(destination: Path) -> None:
    with serving(honest) as server:
        assert "plain http, which needs" in (fetch(server.url, destination, sha256=None) or "")
    assert server.firsts == []
