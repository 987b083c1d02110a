"""The study fetches a dataset that config gives an address of, and never one that config gives a path of."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from made_up_project import Project, archive, ratings


@pytest.fixture
def server(tmp_path_factory):
    """A folder that is served on this machine, and its address."""
    folder = tmp_path_factory.mktemp("served")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


@pytest.mark.slow
def test_datasets_from_addresses_and_from_a_path(project: Project, server) -> None:
    """One run of three datasets: two that are taken, and one that is refused."""
    folder, address = server
    data = project.folder / "data"
    digest = archive(folder / "made-up.zip", ratings())
    (folder / "page.zip").write_text("<html>we have moved</html>")
    (data / "mine").mkdir(parents=True)
    archive(data / "mine/mine.zip", ratings(seed=3))
    before = (data / "mine/mine.zip").read_bytes()
    datasets = {
        "fetched": {"urls": [f"{address}/gone/made-up.zip", f"{address}/made-up.zip"], "sha256": digest},
        "page": {"urls": [f"{address}/page.zip"], "sha256": "0" * 64},
        "mine": {"path": "data/mine/mine.zip"},
    }
    project.configure(
        study=list(datasets),
        datasets={name: about | {"format": "movielens-dat"} for name, about in datasets.items()},
    )
    ran = project.snakemake(
        *(f"results/{name}/dataset.json" for name in datasets), "--cores", "1", "--keep-going", "--forcerun", "split"
    )
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "Traceback" not in output, output
    assert (data / "fetched/made-up.zip").exists(), output
    assert (data / "fetched/made-up.zip").read_bytes() == (folder / "made-up.zip").read_bytes()
    assert (data / "mine/mine.zip").read_bytes() == before
    assert "web page" in output
    assert not list(data.rglob("page.zip*"))
    made = {path.parent.name for path in (project.folder / "results").glob("*/dataset.json")}
    assert made == {"fetched", "mine"}
