"""The whole study of a made-up dataset: what is there at the end, and what runs again."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import MORE, RANKS, Project, copy_of_project


def planned(ran) -> set[str]:
    """Rules that a dry run would run."""
    table = ran.stdout.partition("Job stats:")[2].partition("total")[0]
    return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE)) - {"all"}


OF_RANKS = {"import_ranks", "sample", "exact_moments", "study_estimators"}
OF_ALL = {"studied", "tables", "figure_5", "figure_6", "proof", "estimator_study", "summary"}


def copied(finished: Project, tmp_path: Path) -> Project:
    """A copy of a finished study."""
    shutil.copytree(finished.folder, tmp_path / "copy", copy_function=shutil.copy2)
    return Project(tmp_path / "copy")


def dry_run(finished: Project, tmp_path: Path, change: Callable[[Project], object]) -> set[str]:
    """Rules that run again after a change to a copy of a finished study."""
    project = copied(finished, tmp_path)
    change(project)
    ran = project.snakemake("--cores", "2", "-n")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return planned(ran)


def test_everything_is_there(finished: Project) -> None:
    for name, kinds in {
        "toy/table-1": "csv md tex html",
        "toy/table-2": "csv md tex html",
        "toy/figure-1": "csv svg png",
        "toy/figure-2": "csv svg png",
        "toy/figure-3": "csv svg png",
        "toy/figure-4": "csv svg png",
        "toy/fidelity": "csv md html",
        "toy/claims": "csv md html",
        "made-up/studied": "csv md html",
        "made-up/table-3": "csv md tex html",
        "made-up/table-4": "csv md tex html",
        "made-up/figure-5": "csv svg png",
        "made-up/figure-6": "csv svg png",
        "made-up/proof": "csv svg png",
        "made-up/estimator-study": "csv md html svg png",
    }.items():
        for kind in kinds.split():
            assert (finished.folder / f"results/{name}.{kind}").stat().st_size > 0, f"{name}.{kind}"
    summary = (finished.folder / "results/summary.html").read_text(encoding="utf-8")
    assert summary.count("data:image/svg+xml;base64,") == 3
    assert "elsewhere were made elsewhere" in summary
    assert "12 of 12 in Table 1" in summary
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
        "made-up/proof.csv": "metric,recommender,assumption,negatives,low,high,exact",
        "made-up/proof-pairs.csv": "metric,worse,better,assumption,negatives,low,high,exact,right,wrong",
        "made-up/estimator-study.csv": "recommender,negatives,estimator,metric,exact,mean,bias,sd,rmse,error",
        "made-up/estimator-study-order.csv": "negatives,estimator,metric,worse,better,correct",
        "toy/table-1.csv": "recommender,metric,value",
        "toy/table-2.csv": "recommender,metric,mean,sd",
        "toy/fidelity.csv": "table,reading,cell,printed,ours,standard_error,z,ok",
    }
    for name, header in columns.items():
        assert (finished.folder / "results" / name).read_text(encoding="utf-8").splitlines()[0] == header
    ranks = pd.read_csv(finished.folder / "results/made-up/ranks/X.csv.gz")
    assert list(ranks) == ["user", "candidates", "above", "tied"]
    assert len(ranks) == 60


def test_no_temporary_file_is_left(finished: Project) -> None:
    assert [path for path in (finished.folder / "results").rglob(".*") if path.is_file()] == []


@pytest.mark.slow
def test_one_core_and_two_give_the_same_bytes(finished: Project, tmp_path: Path) -> None:
    other = copy_of_project(tmp_path)
    shutil.copy(finished.folder / RANKS, other.folder)
    other.configure(recommenders=MORE)
    ran = other.snakemake("--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for pattern in ("*/*.csv", "*/*/*.csv.gz", "*/*.svg", "*/*.md"):
        mine, theirs = other.results(pattern), finished.results(pattern)
        assert mine
        assert list(mine) == list(theirs)
        assert [name for name in mine if mine[name] != theirs[name]] == []


def test_editing_an_estimator_runs_what_depends_on_it(finished: Project, tmp_path: Path) -> None:
    def edit(project: Project) -> None:
        path = project.folder / "src/sampled_metrics/estimators/bias_variance.py"
        path.write_text(path.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")

    assert dry_run(finished, tmp_path, edit) == {
        *(OF_RANKS - {"import_ranks"}),
        *(OF_ALL - {"figure_5", "studied"}),
        *("toy", "toy_fidelity"),
    }


@pytest.mark.slow
def test_changing_gamma_trains_nothing(finished: Project, tmp_path: Path) -> None:
    def change(project: Project) -> None:
        project.configure(recommenders=MORE, estimators=["uncorrected", "bv-0.5"])

    assert dry_run(finished, tmp_path, change) == {"sample", "exact_moments", "tables", "summary"}


@pytest.mark.parametrize("same_time", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_replacing_a_file_of_ranks_runs_what_depends_on_it(finished: Project, tmp_path: Path, same_time: bool) -> None:
    """By what it holds, if size and time are the same, as after `cp -p` or rsync."""

    def replace(project: Project) -> None:
        file = project.folder / RANKS
        before, text = file.stat(), file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"(?m)^1,(\d+),1,", r"1,\1,2,", text), encoding="utf-8")
        assert file.stat().st_size == before.st_size
        assert file.read_text(encoding="utf-8") != text
        if same_time:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert dry_run(finished, tmp_path, replace) == OF_RANKS | OF_ALL


def test_a_new_recommender_is_planned_alone(finished: Project, tmp_path: Path) -> None:
    def add(project: Project) -> None:
        project.configure(recommenders=MORE | {"sharp": {"type": "item-cf", "exponent": 5}})

    assert dry_run(finished, tmp_path, add) == {"train", "rank", *(OF_RANKS - {"import_ranks"}), *OF_ALL}


@pytest.mark.slow
def test_adding_a_recommender_trains_it_alone(finished: Project, tmp_path: Path) -> None:
    project = copied(finished, tmp_path)
    project.configure(recommenders=MORE | {"sharp": {"type": "item-cf", "exponent": 5}})
    ran = project.snakemake("results/made-up/table-3.csv", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = sorted(line for line in ran.stderr.splitlines() if line.endswith("on made-up"))
    alone = ["Tables 3 and 4", "exact moments of sharp", "rank sharp", "sample sharp", "train sharp"]
    assert jobs == [f"{job} on made-up" for job in alone]
    before, after = (pd.read_csv(each.folder / "results/made-up/table-3.csv") for each in (finished, project))
    kept = after[after["recommender"] != "sharp"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_exact=True)


def test_a_run_removes_no_result_of_another_config_and_does_not_show_it(finished: Project, tmp_path: Path) -> None:
    project = copied(finished, tmp_path)
    (project.folder / "results/made-up/fidelity.csv").write_text("of an earlier study\n")
    before = project.results("*/*")
    toy = {"repetitions": 20, "negatives": 50}
    project.configure(recommenders=MORE, toy=toy, estimator_study=None)
    ran = project.snakemake("results/summary.html", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    after = project.results("*/*")
    assert before.keys() <= after.keys()
    kept = [name for name in before if re.search("fidelity|claims|estimator-study", name)]
    assert kept
    assert [name for name in kept if after[name] != before[name]] == []
    summary = (project.folder / "results/summary.html").read_text(encoding="utf-8")
    assert "in Table 1" not in summary
    assert "Error and order of the estimators" not in summary


def test_of_temporary_files_a_run_removes_those_of_dead_processes(finished: Project, tmp_path: Path) -> None:
    project = copied(finished, tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = project.folder / "results/made-up"
    for name in (f".{ended.pid}.table-3.csv", f".{os.getpid()}.table-3.csv", ".mine.csv"):
        (folder / name).touch()
    (folder / "table-3.csv").unlink()
    ran = project.snakemake("results/made-up/table-3.csv", "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert sorted(path.name for path in folder.glob(".*")) == [f".{os.getpid()}.table-3.csv", ".mine.csv"]


@pytest.mark.slow
def test_ranks_that_were_scattered_over_jobs_are_the_same_bytes(finished: Project, tmp_path: Path) -> None:
    project = copied(finished, tmp_path)
    path = project.folder / "results/made-up/ranks/X.csv.gz"
    before = path.read_bytes()
    path.unlink()
    project.configure(recommenders=MORE, ranking={"scatter": 3, "threads": 2})
    ran = project.snakemake("results/made-up/ranks/X.csv.gz", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(re.findall(r"^rank X on made-up \(part \d-of-3\)$", ran.stderr, re.MULTILINE)) == 3
    assert path.read_bytes() == before
    assert list(path.parent.glob("parts/*.npz")) == []
