"""Data of one's own: at an address and at a path, and ready-made ranks of one dataset."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import DEFAULTS, Project, X, archive, ratings

pytestmark = pytest.mark.slow


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


def test_ready_made_ranks_of_one_dataset_are_not_those_of_another(project: Project) -> None:
    """Y is trained on made-up, and has ready-made ranks on books.

    Each user of books has 25 candidates.
    """
    events = [(f"u {user}", (3 * user + at) % 29, 4, at) for user in range(29) for at in range(5)]
    books = pd.DataFrame(events, columns=["user", "item", "rating", "timestamp"])
    books.to_csv(project.folder / "my books.csv", index=False)
    theirs = pd.DataFrame({"user": books["user"].unique(), "candidates": 25, "above": 3, "tied": 2})
    theirs.to_csv(project.folder / "theirs.csv", index=False)
    own = {
        "path": "my books.csv",
        "format": "delimited",
        "options": {"columns": {name: name for name in books}},
    }
    datasets = {
        "made-up": {"path": "made-up.zip", "format": "movielens-dat"},
        "books": own | {"ranks": {"Y": "theirs.csv"}},
    }
    recommenders = DEFAULTS[1]["recommenders"] | {"X": X | {"iterations": 2}}
    sampling = {"negatives": 10, "repetitions": 5}
    project.configure(
        study=[*datasets], datasets=datasets, recommenders=recommenders, sampling=sampling
    )
    targets = [
        f"results/{name}/{result}.csv" for name in datasets for result in ("table-3", "figure-6")
    ]
    ran = project.snakemake(*targets, "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = project.folder / "results"
    models = {
        name: sorted(path.stem for path in (results / name / "models").iterdir())
        for name in datasets
    }
    assert models == {"books": ["X", "Z"], "made-up": ["X", "Y", "Z"]}
    ranks = pd.read_csv(results / "books/ranks/Y.csv.gz", dtype={"user": str})
    pd.testing.assert_frame_equal(ranks[list(theirs)], theirs)
    assert len(pd.read_csv(results / "made-up/ranks/Y.csv.gz")) == 60
    assert set(pd.read_csv(results / "books/figure-6.csv")["negatives"]) == {5, 10, 20}
    log = (results / "logs/books/figures.log").read_text(encoding="utf-8")
    assert "left out, as a user has fewer other candidates: m = 40, 80" in log
