"""The whole study of a made-up dataset: what is there at the end, and what another run adds and removes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import MORE, Project


def test_everything_is_there(finished: Project) -> None:
    table, figure = ("csv", "md", "tex", "html"), ("csv", "svg", "png")
    made = {
        **{f"toy/table-{number}": table for number in (1, 2)},
        **{f"toy/figure-{number}": figure for number in (1, 2, 3, 4)},
        **dict.fromkeys(("toy/fidelity", "toy/claims", "made-up/studied"), ("csv", "md", "html")),
        **{f"made-up/{name}": table for name in ("table-3", "table-4")},
        **{f"made-up/{name}": figure for name in ("figure-5", "figure-6")},
    }
    for name, kinds in made.items():
        for kind in kinds:
            assert (finished.folder / f"results/{name}.{kind}").stat().st_size > 0, f"{name}.{kind}"
    assert [path for path in (finished.folder / "results").rglob(".*") if path.is_file()] == []
    summary = (finished.folder / "results/summary.html").read_text(encoding="utf-8")
    assert summary.count("data:image/svg+xml;base64,") == 1
    assert "elsewhere were made elsewhere" in summary
    assert "It reproduces 36 of the 36 printed numbers" in summary
    report = (finished.folder / "results/report.html").read_text(encoding="utf-8")
    assert "table-3.html" in report
    assert "figure-6.svg" in report


def test_the_columns_are_the_contract(finished: Project) -> None:
    columns = {
        "made-up/studied.csv": (
            "recommender,held_out_items,mean_candidates,fewest_candidates,share_with_ties,mean_share_tied,half_tied,remark"
        ),
        "made-up/table-3.csv": "reading,recommender,metric,estimator,mean,sd,mean_exact,sd_exact",
        "made-up/table-4.csv": "reading,worse,better,metric,estimator,correct,correct_exact",
        "made-up/expected/X.csv": "reading,metric,estimator,mean_exact,sd_exact",
        "made-up/conditions/X.csv": "estimator,candidates,negatives,condition_number,digits",
        "toy/table-1.csv": "recommender,metric,value",
        "toy/table-2.csv": "recommender,metric,mean,sd",
        "toy/fidelity.csv": "table,reading,cell,printed,ours,standard_error,z,ok",
    }
    for name, header in columns.items():
        assert (finished.folder / "results" / name).read_text(encoding="utf-8").splitlines()[0] == header
    ranks = pd.read_csv(finished.folder / "results/made-up/ranks/X.csv.gz")
    assert list(ranks) == ["user", "candidates", "above", "tied"]
    assert len(ranks) == 60


def test_the_numbers_are_of_three_recommenders_and_two_readings(finished: Project) -> None:
    third, fourth, fifth, sixth = (
        pd.read_csv(finished.folder / f"results/made-up/{name}.csv")
        for name in ("table-3", "table-4", "figure-5", "figure-6")
    )
    assert len(third) == 2 * 3 * 4 * third["estimator"].nunique()
    assert fourth["correct"].between(0, 1).all()
    assert fifth.groupby("recommender")["events"].sum().tolist() == pytest.approx([60, 60, 60])
    fewest = min(pd.read_csv(path)["candidates"].min() for path in finished.folder.glob("results/made-up/ranks/*.gz"))
    assert set(sixth["negatives"]) == {m for m in (5, 10, 20, 40, 80) if m < fewest}


@pytest.mark.slow
def test_adding_a_recommender_trains_it_alone(finished: Project, tmp_path: Path) -> None:
    project = finished.copy(tmp_path / "copy")
    project.configure(recommenders=MORE | {"sharp": {"type": "item-cf", "exponent": 5}})
    ran = project.snakemake("results/made-up/table-3.csv", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = sorted(line for line in ran.stderr.splitlines() if line.endswith("on made-up"))
    alone = ["rank sharp", "sample sharp", "tables", "train sharp"]
    assert jobs == [f"{job} on made-up" for job in alone]
    before, after = (pd.read_csv(each.folder / "results/made-up/table-3.csv") for each in (finished, project))
    kept = after[after["recommender"] != "sharp"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "said"),
    [(["one"], "The exact Recall@10 of one is "), (["one", "other"], "Undecided: these users do not show which ")],
)
def test_recommenders_that_do_not_differ(finished: Project, tmp_path: Path, names: list[str], said: str) -> None:
    """Table 4 has no rows."""
    project = finished.copy(tmp_path / "copy")
    project.configure(recommenders=dict.fromkeys(names, MORE["elsewhere"]), toy=None)
    ran = project.snakemake("results/summary.html", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert said in (project.folder / "results/summary.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_ranks_that_were_scattered_over_jobs_are_the_same_bytes(finished: Project, tmp_path: Path) -> None:
    project = finished.copy(tmp_path / "copy")
    path = project.folder / "results/made-up/ranks/X.csv.gz"
    before = path.read_bytes()
    path.unlink()
    divided = ["--set-scatter", "users=3", "--set-threads", "rank_part=2"]
    ran = project.snakemake("results/made-up/ranks/X.csv.gz", "--cores", "2", *divided)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(re.findall(r"^rank X on made-up \(part \d-of-3\)$", ran.stderr, re.MULTILINE)) == 3
    assert path.read_bytes() == before
    assert list(path.parent.glob("parts/*.npz")) == []


def test_a_run_removes_the_temporary_files_of_dead_processes_and_no_result_of_another_config(
    finished: Project, tmp_path: Path
) -> None:
    project = finished.copy(tmp_path / "copy")
    (project.folder / "results/made-up/fidelity.csv").write_text("of an earlier study\n")
    before = project.results("*/*")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (project.folder / "results/mine").mkdir()
    end = "-0123abcd.sampled-metrics-unfinished.csv"
    kept = [f"made-up/.{os.getpid()}{end}", "made-up/.mine.csv", "mine/.2024.notes.csv", f"mine/.{ended.pid}{end}"]
    for name in (f"made-up/models/.{ended.pid}{end}", f"made-up/.{ended.pid}{end}", *kept):
        (project.folder / "results" / name).touch()
    project.configure(recommenders=MORE, toy={"repetitions": 20, "negatives": 50})
    ran = project.snakemake("results/summary.html", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = project.folder / "results"
    assert {str(path.relative_to(results)) for path in results.rglob(".*") if path.is_file()} == {*kept}
    after = project.results("*/*")
    assert before.keys() <= after.keys()
    kept = [name for name in before if re.search("fidelity|claims", name)]
    assert kept
    assert [name for name in kept if after[name] != before[name]] == []
    summary = (project.folder / "results/summary.html").read_text(encoding="utf-8")
    assert "printed numbers" not in summary  # what it does not ask for is not shown
