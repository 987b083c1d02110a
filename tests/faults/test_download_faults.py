"""Servers that answer badly: a download is right by its checksum, or fails in one line.

It fails in time, and leaves no file.
"""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import hostile_server as bad
import pytest
from hostile_server import CONTENT, WEB_PAGE, Answer, honest, serving

from sampled_metrics.errors import DownloadError
from sampled_metrics_study.data import downloads

SHA256 = hashlib.sha256(CONTENT).hexdigest()
STATED = 15.0
"""Seconds within which every download must end, on a loaded machine."""

OTHER = bytes(255 - byte for byte in CONTENT)


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 5.0))
    monkeypatch.setattr(downloads, "MAX_BYTES", 2_000_000)


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data/ml-1m.zip"


def fetch(url: str, destination: Path, *, sha256: str | None = SHA256) -> str | None:
    """Download in time, and return the one line that says why not, or None."""
    start = time.monotonic()
    try:
        downloads.download([url], destination, sha256=sha256)
    except DownloadError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
        assert message.startswith(f"{destination}: could not be downloaded ({url}: ")
        assert list(destination.parent.iterdir()) == []
        return message
    finally:
        assert time.monotonic() - start < STATED
    assert destination.read_bytes() == CONTENT
    assert list(destination.parent.iterdir()) == [destination]
    return None


NOISE = bad.endless(b"0" * 65536)
TOO_MUCH = "more than the 2000000 bytes allowed"
FAULTS: dict[str, tuple[list[Answer], str | None]] = {
    "stalls midway, then answers well": ([bad.then(bad.cut(150_000), bad.stall), honest], None),
    "always stalls before the head": ([bad.stall], "timed out"),
    "a web page with status 200": ([bad.whole(WEB_PAGE, "Content-Type: text/html")], "web page"),
    "one bit is wrong": (
        [bad.whole(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))],
        "the file is damaged",
    ),
    "redirects to file:": ([bad.redirect("file:///etc/hostname")], "No connection adapters"),
    "redirects and the body has no end": (
        [bad.then(bad.redirect("/ml-1m.zip"), NOISE)],
        "30 redirects",
    ),
    "an endless body, announced": (
        [bad.head_only("Content-Length: 9000000000000")],
        f"announces 9000000000000 bytes, {TOO_MUCH}",
    ),
    "an endless body without a length": ([bad.then(bad.head_only(), NOISE)], TOO_MUCH),
    "a chunk that has no end": ([bad.chunked(bad.raw(b"ffffffffff\r\n"), NOISE)], TOO_MUCH),
    "a length of a chunk that has no end": (
        [bad.chunked(NOISE)],
        "",
    ),
    "a part of the file": ([bad.status(206)], "HTTP 206"),  # newer urllib3 has a limit of its own
}


@pytest.mark.parametrize("fault", FAULTS)
def test_arrives_or_one_line_says_why_not(
    fault: str, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, says = FAULTS[fault]
    if "stalls" in fault:
        monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 0.15 if "always" in fault else 0.4))
    with serving(*answers) as server:
        tracemalloc.start()
        message = fetch(server.url, destination)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 20e6
    assert (message is None) if says is None else (says in (message or ""))


def test_a_slow_server_that_goes_on_is_waited_for(
    destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 0.6))
    slow = bad.dripping(CONTENT, 50_000, 0.15)
    with serving(bad.then(bad.head_only(f"Content-Length: {len(CONTENT)}"), slow)) as server:
        assert fetch(server.url, destination) is None
    assert server.requests == 1


@pytest.mark.parametrize(("answer", "requests"), [(bad.status(503), 3), (bad.whole(OTHER), 1)])
def test_an_address_that_fails_is_tried_three_times_and_one_with_the_wrong_file_once(
    answer: Answer, requests: int, destination: Path
) -> None:
    with serving(answer) as server:
        assert fetch(server.url, destination) is not None
    assert server.requests == requests


def test_two_processes_at_a_time(destination: Path) -> None:
    """One has half of the file when the other one ends, is cut off and starts again."""
    is_done = threading.Event()

    def cut_later(request: bad.Request) -> None:
        bad.then(bad.cut(150_000), lambda _: is_done.wait(STATED), bad.reset)(request)

    code = "import sys, pathlib\nfrom sampled_metrics_study.data.downloads import download\n"
    code += "download([sys.argv[1]], pathlib.Path(sys.argv[2]), sha256=sys.argv[3])\n"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with serving(cut_later, honest) as slow, serving(honest) as fast:
        command = [sys.executable, "-c", code, slow.url, str(destination), SHA256]
        with subprocess.Popen(command, env=env) as slow_process:
            while slow.requests == 0 and slow_process.poll() is None:
                time.sleep(0.01)
            downloads.download([fast.url], destination, sha256=SHA256)
            assert destination.read_bytes() == CONTENT
            is_done.set()
        assert slow_process.returncode == 0
    assert slow.requests == 2
    assert destination.read_bytes() == CONTENT
    assert list(destination.parent.iterdir()) == [destination]


def random_answer(rng: random.Random) -> Answer:
    """Cut, reset, stray bytes, other bytes, a status: no answer that only time would end."""
    size = rng.randrange(300_000)
    return rng.choice(
        [
            bad.cut(size),
            bad.then(bad.cut(size), bad.reset),
            bad.reset,
            bad.status(rng.choice([408, 429, 500, 502, 503, 504])),
            bad.chunked(bad.chunk(CONTENT[:size], rng.choice([b"", b"zz\r\n", b"5\r\nab"]))),
            *map(bad.whole, (CONTENT, WEB_PAGE, OTHER)),
            bad.raw(rng.randbytes(rng.randrange(100))),
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_random_sequence_of_bad_answers(seed: int, destination: Path) -> None:
    rng = random.Random(seed)
    answers = [random_answer(rng) for _ in range(rng.randrange(1, 5))]
    with serving(*answers, honest) as server:
        fetch(server.url, destination)


def test_plain_http_without_a_checksum(destination: Path) -> None:
    with serving(honest) as server:
        assert "plain http, which needs" in (fetch(server.url, destination, sha256=None) or "")


needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="needs openssl to make a certificate"
)


@needs_openssl
@pytest.mark.parametrize(
    ("subject", "days", "is_known", "sha256", "says"),
    [
        ("IP:127.0.0.1", 2, False, None, "self-signed certificate"),
        ("DNS:example.org", 2, True, None, "IP address mismatch"),
    ],
)
def test_a_certificate_that_is_not_known_or_of_another_server_or_expired(
    subject, days, is_known, sha256, says, destination, tmp_path, monkeypatch
):
    path, context = bad.certificate(tmp_path, subject, days)
    if is_known:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with serving(honest, context=context) as server:
        assert says in (fetch(server.url, destination, sha256=sha256) or "")
    assert server.requests == 0


@needs_openssl
def test_a_known_certificate_is_taken_and_a_redirect_to_plain_http_needs_a_checksum(
    destination, tmp_path, monkeypatch
):
    path, context = bad.certificate(tmp_path, "IP:127.0.0.1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with serving(bad.cut(100_000), honest, context=context) as server:
        assert fetch(server.url, destination, sha256=None) is None
    destination.unlink()
    with serving(honest) as plain, serving(bad.redirect(plain.url), context=context) as server:
        assert "plain http" in (fetch(server.url, destination, sha256=None) or "")
        assert fetch(server.url, destination) is None
