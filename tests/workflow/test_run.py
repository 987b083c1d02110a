"""The whole study of a made-up dataset: what is there at the end, and what runs again."""

import re
import shutil
from pathlib import Path

import pandas as pd
from conftest import Project, copy_of_project


def planned(ran) -> set[str]:
    """Rules that a dry run would run."""
    table = ran.stdout.partition("Job stats:")[2].partition("total")[0]
    return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE)) - {"all"}


def dry_run(finished: Project, tmp_path: Path, change) -> set[str]:
    """Rules that run again after a change to a copy of a finished study."""
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    change(folder)
    ran = Project(folder).snakemake("--cores", "2", "-n")
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
        "made-up/table-3": "csv md tex html",
        "made-up/table-4": "csv md tex html",
        "made-up/figure-5": "csv svg png",
        "made-up/figure-6": "csv svg png",
        "made-up/estimator-study": "csv md html svg png",
    }.items():
        for kind in kinds.split():
            assert (finished.folder / f"results/{name}.{kind}").stat().st_size > 0, f"{name}.{kind}"
    report = (finished.folder / "results/report.html").read_text(encoding="utf-8")
    assert "table-3.html" in report
    assert "figure-6.svg" in report


def test_the_columns_are_the_contract(finished: Project) -> None:
    columns = {
        "made-up/table-3.csv": "reading,recommender,metric,estimator,mean,sd,mean_exact,sd_exact",
        "made-up/table-4.csv": "reading,worse,better,metric,estimator,correct,correct_exact",
        "made-up/expected/X.csv": "reading,metric,estimator,mean_exact,sd_exact",
        "made-up/conditions/X.csv": "estimator,candidates,negatives,condition_number,digits",
        "made-up/estimator-study.csv": ("recommender,sample,negatives,estimator,metric,exact,mean,bias,sd,rmse,error"),
        "made-up/estimator-study-order.csv": "sample,negatives,estimator,metric,worse,better,correct",
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


def test_a_second_run_has_nothing_to_do(finished: Project) -> None:
    ran = finished.snakemake("--cores", "2", "-n")
    assert "Nothing to be done" in ran.stdout + ran.stderr


def test_one_core_and_two_give_the_same_bytes(finished: Project, tmp_path: Path) -> None:
    other = copy_of_project(tmp_path)
    ran = other.snakemake("--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for pattern in ("*/*.csv", "*/*/*.csv.gz", "*/*.svg", "*/*.md"):
        mine, theirs = other.results(pattern), finished.results(pattern)
        assert mine
        assert list(mine) == list(theirs)
        assert [name for name in mine if mine[name] != theirs[name]] == []


def test_editing_an_estimator_runs_what_depends_on_it(finished: Project, tmp_path: Path) -> None:
    def edit(folder: Path) -> None:
        path = folder / "src/sampled_metrics/estimators/bias_variance.py"
        path.write_text(path.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")

    assert dry_run(finished, tmp_path, edit) == {
        *("sample", "exact_moments", "table_3", "table_4", "figure_6", "study_estimators", "estimator_study"),
        *("figure_1", "figure_2", "figure_3", "figure_4", "toy_fidelity"),
    }


def test_changing_gamma_trains_nothing(finished: Project, tmp_path: Path) -> None:
    def change(folder: Path) -> None:
        Project(folder).configure(estimators=["uncorrected", "bv-0.5"])

    assert dry_run(finished, tmp_path, change) == {"sample", "exact_moments", "table_3", "table_4"}


def test_adding_a_recommender_trains_it_alone(finished: Project, tmp_path: Path) -> None:
    def change(folder: Path) -> None:
        added = {"X": {"factors": 4, "iterations": 3}, "sharp": {"type": "item-cf", "exponent": 5}}
        Project(folder).configure(recommenders=added)

    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    change(folder)
    ran = Project(folder).snakemake("results/made-up/table-3.csv", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(re.findall(r"Finished jobid: \d+ \(Rule: train\)", ran.stdout + ran.stderr)) == 1
    before, after = (pd.read_csv(each / "results/made-up/table-3.csv") for each in (finished.folder, folder))
    kept = after[after["recommender"] != "sharp"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_exact=True)


def test_a_dry_run_writes_nothing(project: Project) -> None:
    ran = project.snakemake("--cores", "2", "-n")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (project.folder / "results").exists()


def test_a_comparison_with_the_paper_does_not_outlive_its_study(finished: Project, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    (folder / "results/made-up/fidelity.csv").write_text("of an earlier study\n")
    assert (folder / "results/toy/fidelity.csv").exists()
    Project(folder).configure(toy={"repetitions": 20, "negatives": 50})
    ran = Project(folder).snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    left = [path.name for path in (folder / "results").glob("*/*") if path.stem in ("fidelity", "claims")]
    assert left == []


def test_ranks_that_were_scattered_over_jobs_are_the_same_bytes(finished: Project, tmp_path: Path) -> None:
    other = copy_of_project(tmp_path)
    other.configure(ranking={"scatter": 3, "threads": 2})
    ran = other.snakemake(*(f"results/made-up/ranks/{name}.csv.gz" for name in "XYZ"), "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(re.findall(r"Finished jobid: \d+ \(Rule: rank_part\)", ran.stdout + ran.stderr)) == 3 * 3
    mine, theirs = other.results("made-up/ranks/*.csv.gz"), finished.results("made-up/ranks/*.csv.gz")
    assert mine == theirs
    assert len(mine) == 3
    assert list((other.folder / "results/made-up/ranks").glob("parts/*.npz")) == []


def test_a_comparison_of_estimators_does_not_outlive_its_wish(finished: Project, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    assert (folder / "results/made-up/estimator-study.csv").exists()
    Project(folder).configure(estimator_study={"estimators": []}, toy={"repetitions": 21})
    ran = Project(folder).snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert list((folder / "results/made-up").glob("estimator-study*.*")) == []
