"""provenance.json: the jobs and files of this study, wherever its results are."""

import hashlib
import json
from pathlib import Path

import pytest
from made_up_project import Project

from sampled_metrics.study.workflow.provenance import checksums, provenance


@pytest.mark.parametrize("prefix", ["", "first/"])
def test_seconds_are_those_of_the_given_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path(f"{prefix}results/benchmarks")
    (folder / "ml-1m").mkdir(parents=True)
    for name, seconds in {"summary": 1, "ml-1m/train-v1.2": 2.5, "ml-1m/of another study": 3}.items():
        Path(f"{folder}/{name}.tsv").write_text(f"s\th:m:s\n{seconds}\t0\n", encoding="utf-8")
    given = [f"{folder}/summary.tsv", f"{folder}/ml-1m/train-v1.2.tsv"]
    assert provenance({"seed": 1}, {}, given)["seconds"] == {"ml-1m/train-v1.2": 2.5, "summary": 1.0}


@pytest.mark.parametrize("prefix", ["", "first/"])
def test_checksums_are_of_the_archive_and_the_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [f"{prefix}results/{dataset}/ranks/X.csv.gz" for dataset in ("one", "two")]
    for path in paths:
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(path, encoding="utf-8")
    Path("users.csv").write_text("users.csv", encoding="utf-8")
    first, second, users = (hashlib.sha256(path.encode()).hexdigest() for path in [*paths, "users.csv"])
    found = checksums(paths, {"two": {"source": "two.zip", "sha256": "abc"}}, {"one": "users.csv"})
    assert found == {"one": {paths[0]: first, "users.csv": users}, "two": {"two.zip": "abc", paths[1]: second}}


def test_a_study_states_each_of_its_jobs_once(finished: Project) -> None:
    stated = json.loads((finished.folder / "results/provenance.json").read_text(encoding="utf-8"))
    folder = finished.folder / "results/benchmarks"
    jobs = {path.relative_to(folder).as_posix().removesuffix(".tsv") for path in folder.rglob("*.tsv")}
    assert set(stated["seconds"]) == jobs - {"provenance"}
    assert set(stated["data"]["made-up"]) == {
        "made-up.zip",
        *(f"results/made-up/ranks/{name}.csv.gz" for name in ("X", "Y", "elsewhere")),
    }
    assert stated["config"]["figures"]["figure-5"]["edges"] == [10, 100, 300, 1000]
