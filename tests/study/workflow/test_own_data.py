"""Data of one's own, at an address and at a path."""

import pytest
from hostile_server import WEB_PAGE, serving, status, whole
from made_up_project import archive, ratings


@pytest.mark.slow
def test_a_dataset_is_fetched_from_an_address_and_never_if_it_has_a_path(project):
    """One run of three datasets: two that are taken, and one that is refused."""
    data = project.folder / "data"
    (data / "mine").mkdir(parents=True)
    digest = archive(data / "mine/mine.zip", ratings())
    content = (data / "mine/mine.zip").read_bytes()
    targets = ["results/fetched/dataset.json", "results/mine/dataset.json"]
    with (
        serving(status(404)) as gone,
        serving(whole(content)) as good,
        serving(whole(WEB_PAGE)) as page,
    ):
        datasets = {
            "fetched": {"urls": [gone.url, good.url], "sha256": digest},
            "page": {"urls": [page.url], "sha256": "0" * 64},
            "mine": {"path": "data/mine/mine.zip"},
        }
        entries = {name: entry | {"format": "movielens-dat"} for name, entry in datasets.items()}
        project.configure(study=[*datasets], datasets=entries)
        ran = project.snakemake(
            *targets, "results/page/dataset.json", "--cores", "1", "--keep-going"
        )
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "web page" in output
    assert "Traceback" not in output, output
    assert [*project.results("*/dataset.json")] == targets
    assert (data / "fetched/ml-1m.zip").read_bytes() == content
    assert (data / "mine/mine.zip").read_bytes() == content
    assert not list(data.rglob("page/*"))
