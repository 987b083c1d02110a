"""The study fetches its dataset where config gives an address, not a path."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import Project, archive, ratings


@pytest.fixture
def server(tmp_path_factory):
    """A folder that is served on this machine, and its address."""
    folder = tmp_path_factory.mktemp("served")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


def test_the_second_address_is_tried(project: Project, server) -> None:
    folder, address = server
    digest = archive(folder / "made-up.zip", ratings())
    urls = [f"{address}/gone/made-up.zip", f"{address}/made-up.zip"]
    project.configure(datasets={"made-up": {"urls": urls, "sha256": digest, "format": "movielens-dat"}})
    ran = project.snakemake("results/made-up/dataset.json", "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (project.folder / "data/made-up/made-up.zip").read_bytes() == (folder / "made-up.zip").read_bytes()


def test_a_wrong_download_is_refused(project: Project, server) -> None:
    folder, address = server
    (folder / "made-up.zip").write_text("<html>we have moved</html>")
    urls = [f"{address}/made-up.zip"]
    project.configure(datasets={"made-up": {"urls": urls, "sha256": "0" * 64, "format": "movielens-dat"}})
    ran = project.snakemake("results/made-up/dataset.json", "--cores", "1")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0
    assert "Traceback" not in output
    assert "web page" in output
    assert not list((project.folder / "data").rglob("made-up.zip*"))
