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


def test_a_file_of_the_users_own_is_never_taken_for_a_download(project: Project) -> None:
    mine = project.folder / "data/made-up/made-up.zip"
    mine.parent.mkdir(parents=True)
    archive(mine, ratings())
    before = mine.read_bytes()
    project.configure(datasets={"made-up": {"path": "data/made-up/made-up.zip", "format": "movielens-dat"}})
    for _ in range(2):
        ran = project.snakemake("results/made-up/dataset.json", "--cores", "1", "--forceall")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert mine.read_bytes() == before


def test_without_a_checksum_the_file_seen_first_is_the_one(project: Project, server) -> None:
    folder, address = server
    archive(folder / "made-up.zip", ratings())
    urls = [address.replace("http:", "https:") + "/made-up.zip"]  # plain http would need a checksum
    project.configure(datasets={"made-up": {"urls": urls, "format": "movielens-dat"}})
    fetched = project.folder / "data/made-up/made-up.zip"
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes((folder / "made-up.zip").read_bytes())  # as if it had been downloaded
    ran = project.snakemake("results/made-up/dataset.json", "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    archive(fetched, ratings(seed=2))
    ran = project.snakemake("results/made-up/dataset.json", "--cores", "1")
    assert ran.returncode != 0
    assert "but the file seen first had" in ran.stdout + ran.stderr
