"""provenance.json: the files and the config of this study, wherever its results are."""

import hashlib
import json
from pathlib import Path

import pytest
from made_up_project import Project

from sampled_metrics.study.provenance import checksums


@pytest.mark.parametrize("prefix", ["", "first/"])
def test_checksums_are_of_the_archive_and_the_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [f"{prefix}results/{dataset}/ranks/X.csv.gz" for dataset in ("one", "two")]
    for path in paths:
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(path, encoding="utf-8")
    first, second = (hashlib.sha256(path.encode()).hexdigest() for path in paths)
    found = checksums(paths, {"two": {"source": "two.zip", "sha256": "abc"}})
    assert found == {"one": {paths[0]: first}, "two": {"two.zip": "abc", paths[1]: second}}


def test_a_study_states_its_data_and_its_config(finished: Project) -> None:
    stated = json.loads((finished.folder / "results/provenance.json").read_text(encoding="utf-8"))
    assert set(stated["data"]["made-up"]) == {
        "made-up.zip",
        *(f"results/made-up/ranks/{name}.csv.gz" for name in ("X", "Y", "elsewhere")),
    }
    assert stated["config"]["figures"]["figure-5"]["edges"] == [10, 100, 300, 1000]
