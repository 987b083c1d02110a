"""`sampling.strata`: from the models to the figure, in this process; and the jobs of a study with it and without."""

import re
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import ROOT, STUDY, Project, archive, complete_config, ranked, ratings, run_script, split

from sampled_metrics.ranks.table import read_ranks

RECOMMENDERS = {"Y": {"type": "item-cf", "exponent": 1}, "popularity": {"type": "popularity"}}
STRATA = {"sizes": [20], "shares": [0.6, 0.4]}
ESTIMATORS = {
    "estimators": ["uncorrected", "bv-0.1", "smooth", "mle", "rank-estimate"],
    "negatives": [10, 30],
    "repetitions": 2,
}
COUNTS = ["above", "tied", "size"]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """A config with strata, in whose folder are the split and the ranks of all recommenders."""
    monkeypatch.chdir(tmp_path)
    archive(Path("made-up.zip"), ratings())
    changes = {
        "recommenders": {"X": None, "Z": None} | RECOMMENDERS,
        "sampling": STUDY["sampling"] | {"strata": STRATA},
        "estimator_study": ESTIMATORS,
    }
    config = complete_config(STUDY | changes)
    assert split(config, "made-up") == []
    for name in RECOMMENDERS:
        ranked(config, "made-up", name)
    return config


def count(config: dict, name: str, sizes: list[int]) -> list[str]:
    return run_script(
        "rank_strata",
        input={"split": "split.npz", "model": f"{name}.npz"},
        output={"strata": f"strata/{name}.csv.gz"},
        params={"sizes": sizes, "precision": config["ranking"]["precision"]},
        wildcards={"dataset": "made-up", "recommender": name},
        config=config,
    )


def study(config: dict, name: str) -> list[str]:
    return run_script(
        "study_estimators",
        input={"ranks": f"{name}.csv.gz", "strata": f"strata/{name}.csv.gz"},
        output={"study": f"study/{name}.csv"},
        params={
            "study": config["estimator_study"],
            "metrics": config["metrics"],
            "seed": 1,
            "replacement": False,
            "assume_replacement": True,
            "shares": config["sampling"]["strata"]["shares"],
        },
        wildcards={"dataset": "made-up", "recommender": name},
    )


def test_from_the_models_to_the_tables_and_the_figure(config: dict) -> None:
    for name in RECOMMENDERS:
        assert count(config, name, STRATA["sizes"]) == []
        counts, ranks = pd.read_csv(f"strata/{name}.csv.gz"), read_ranks(f"{name}.csv.gz")
        assert list(counts.columns[2:]) == [f"{each}_{label}" for label in ("top20", "rest") for each in COUNTS]
        assert (counts["above_top20"] + counts["above_rest"]).tolist() == ranks.above.tolist()
        assert study(config, name) == []
    each = {"studies": [f"study/{name}.csv" for name in RECOMMENDERS]}
    asked = {"params": {"recommenders": list(RECOMMENDERS)}, "wildcards": {"dataset": "made-up"}}
    of_all = {kind: f"estimator-study.{kind}" for kind in ("csv", "md", "html", "svg", "png")} | {"order": "order.csv"}
    ranks = {"ranks": [f"{name}.csv.gz" for name in RECOMMENDERS]}
    assert run_script("estimator_study", input=ranks | each, output=of_all, **asked) == []
    figure = {kind: f"error-at-equal-cost.{kind}" for kind in ("csv", "svg", "png")}
    assert run_script("error_at_equal_cost", input=ranks | each, output=figure, **asked) == []

    compared = pd.read_csv("estimator-study.csv")
    of_strata = compared[(compared["sample"] == "strata") & compared["exact"].notna()]
    assert len(of_strata) == 2 * 2 * 4 * 4  # recommenders, sizes, estimators, metrics
    assert "Samples from strata, and uniform ones of equal cost" in Path("estimator-study.md").read_text("utf-8")
    assert set(pd.read_csv("order.csv")["sample"]) == {"fixed", "strata"}
    drawn = pd.read_csv("error-at-equal-cost.csv").query("sample == 'strata' and negatives == 30")
    drawn = drawn.set_index(["metric", "estimator"])["rmse"]
    ap = of_strata[(of_strata["metric"] == "ap") & (of_strata["estimator"] == "mle") & (of_strata["negatives"] == 30)]
    assert drawn["ap", "mle"] == pytest.approx(ap["rmse"].mean())


def test_mistakes_are_one_line(config: dict) -> None:
    [line] = count(config, "popularity", [90])
    assert re.fullmatch(
        r"error: sampling\.strata\.sizes: the strata take 90 items of \d+, and leave none for the rest", line
    )
    [line] = count(config | {"ranking": {"precision": "float64", "memory": 100}}, "popularity", [20])
    assert re.fullmatch(r"error: ranking\.memory: ranking by stratum takes \d+ MB at least, .*", line)
    assert count(config, "popularity", [20]) == []
    Path("popularity.csv.gz").write_bytes(Path("Y.csv.gz").read_bytes())
    [line] = study(config, "popularity")
    assert re.fullmatch(
        r"error: strata/popularity\.csv\.gz, line \d+: the counts by stratum are not those of the rank table; .*", line
    )


def test_the_example_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    archive(Path("made-up.zip"), ratings())
    config = complete_config(ROOT / "examples/strata.yaml", {"datasets": {"ml-1m": {"path": "made-up.zip"}}})
    assert config["sampling"]["strata"] == {"sizes": [500], "shares": [0.6, 0.4]}
    assert list(config["recommenders"]) == ["X", "Y", "Z", "EASE", "popularity", "BPR"]


def test_without_strata_there_are_no_jobs_for_them(project: Project) -> None:
    without = project.planned()
    assert not {"rank_strata", "error_at_equal_cost"} & set(without)
    project.configure(sampling=STUDY["sampling"] | {"strata": STRATA})
    more = {"rank_strata": "1", "error_at_equal_cost": "1", "total": str(int(without["total"]) + 2)}
    assert project.planned() == without | more
