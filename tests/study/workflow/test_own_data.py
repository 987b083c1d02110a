"""Data of one's own, at an address and at a path."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from made_up_project import Project, archive, ratings


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that is served on this machine, and its address."""
    folder = tmp_path_factory.mktemp("served")
    httpd = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))
    )
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


@pytest.mark.slow
def test_a_dataset_is_fetched_from_an_address_and_never_if_it_has_a_path(
    project: Project, server: tuple[Path, str]
) -> None:
    """One run of three datasets: two that are taken, and one that is refused."""
    served, address = server
    data = project.folder / "data"
    digest = archive(served / "made-up.zip", ratings())
    (served / "page.zip").write_text("<html>we have moved</html>")
    (data / "mine").mkdir(parents=True)
    archive(data / "mine/mine.zip", ratings(seed=3))
    before = (data / "mine/mine.zip").read_bytes()
    datasets = {
        "fetched": {
            "urls": [f"{address}/gone/made-up.zip", f"{address}/made-up.zip"],
            "sha256": digest,
        },
        "page": {"urls": [f"{address}/page.zip"], "sha256": "0" * 64},
        "mine": {"path": "data/mine/mine.zip"},
    }
    entries = {name: entry | {"format": "movielens-dat"} for name, entry in datasets.items()}
    project.configure(study=[*datasets], datasets=entries)
    targets = [f"results/{name}/dataset.json" for name in datasets]
    ran = project.snakemake(*targets, "--cores", "1", "--keep-going", "--forcerun", "split")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "web page" in output
    assert "Traceback" not in output, output
    assert [*project.results("*/dataset.json")] == [
        "results/fetched/dataset.json",
        "results/mine/dataset.json",
    ]
    assert (data / "fetched/made-up.zip").read_bytes() == (served / "made-up.zip").read_bytes()
    assert (data / "mine/mine.zip").read_bytes() == before
    assert not list(data.rglob("page.zip*"))
