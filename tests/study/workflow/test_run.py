"""The whole study of a made-up dataset: what it makes, and what another run adds and removes."""

import json
import os
import re
import subprocess
import sys
from html import unescape

import pandas as pd
import pytest
from made_up_project import MORE

import sampled_metrics as sm

COLUMNS = {
    "made-up/studied.csv": "recommender,held_out_items,mean_candidates,fewest_candidates,"
    "share_with_ties,mean_share_tied,half_tied,remark",
    "made-up/table-3.csv": "reading,recommender,metric,estimator,mean,sd,mean_exact,sd_exact",
    "made-up/table-4.csv": "reading,worse,better,metric,estimator,correct,correct_exact",
    "made-up/expected/X.csv": "reading,metric,estimator,mean_exact,sd_exact",
    "made-up/conditions/X.csv": "estimator,candidates,negatives,condition_number,digits",
    "made-up/ranks/X.csv.gz": "user,candidates,above,tied",
    "toy/table-1.csv": "recommender,metric,value",
    "toy/table-2.csv": "recommender,metric,mean,sd",
    "toy/fidelity.csv": "table,reading,cell,printed,ours,standard_error,z,ok",
}
"""The columns of results, which docs/ promises."""


def test_everything_is_there_with_the_columns_of_the_contract(finished):
    results = finished.folder / "results"
    for names, kinds in {
        "toy/fidelity toy/claims made-up/studied": "csv md html",
        "toy/table-1 toy/table-2 made-up/table-3 made-up/table-4": "csv md tex html",
        "toy/figure-1 toy/figure-2 toy/figure-3 toy/figure-4": "csv svg png",
        "made-up/figure-5 made-up/figure-6": "csv svg png",
    }.items():
        files = [results / f"{name}.{kind}" for name in names.split() for kind in kinds.split()]
        assert [path for path in files if not path.stat().st_size] == []
    assert [path for path in results.rglob(".*") if path.is_file()] == []
    assert {name: ",".join(pd.read_csv(results / name)) for name in COLUMNS} == COLUMNS
    summary = (results / "summary.html").read_text(encoding="utf-8")
    assert summary.count("data:image/svg+xml;base64,") == 1
    assert "elsewhere were made elsewhere" in summary
    assert "It reproduces 36 of the 36 printed numbers" in summary


def test_the_numbers_and_what_they_are_from(finished):
    results = finished.folder / "results/made-up"
    readings = 2
    recommenders = 3
    metrics = 4
    table_3 = pd.read_csv(results / "table-3.csv")
    assert len(table_3) == readings * recommenders * metrics * table_3["estimator"].nunique()
    events = pd.read_csv(results / "figure-5.csv").groupby("recommender")["events"].sum()
    assert events.tolist() == pytest.approx([60, 60, 60])
    fewest = min(pd.read_csv(path)["candidates"].min() for path in results.glob("ranks/*.gz"))
    drawn = set(pd.read_csv(results / "figure-6.csv")["negatives"])
    assert drawn == {m for m in (5, 10, 20, 40, 80) if m < fewest}
    stated = json.loads((results.parent / "provenance.json").read_text(encoding="utf-8"))
    ranks = {f"results/made-up/ranks/{name}.csv.gz" for name in ("X", "Y", "elsewhere")}
    assert set(stated["data"]["made-up"]) == {"made-up.zip", *ranks}
    assert "implicit" in stated["versions"]
    assert stated["config"]["figures"]["figure-5"]["edges"] == [10, 100, 300, 1000]


def test_the_answer_of_the_page_is_that_of_the_ranks_and_of_table_3(finished):
    results = finished.folder / "results"
    page = (results / "summary.html").read_text(encoding="utf-8")
    [text] = re.findall(r'data-answer="([^"]*)"', page)
    answer = json.loads(unescape(text))
    ranks = {name: sm.exact_ranks(results / f"made-up/ranks/{name}.csv.gz") for name in MORE}
    pairs = list(sm.compare(ranks, metrics="recall@10").itertuples())
    b_is_better = {(row.b, row.a) for row in pairs if row.low > 0}
    a_is_better = {(row.a, row.b) for row in pairs if row.high < 0}
    decided = {tuple(pair) for pair in answer["decided"]}
    assert decided == b_is_better | a_is_better != set()
    table = pd.read_csv(results / "made-up/table-3.csv")
    table = table[(table["reading"] == "default") & (table["metric"] == "recall@10")]
    mean = table[table["estimator"] == "uncorrected"].set_index("recommender")["mean"]
    turned = {(better, worse) for better, worse in decided if mean[better] < mean[worse]}
    assert {tuple(pair) for pair in answer["wrong"]} == turned


@pytest.mark.slow
def test_a_run_says_which_job_failed_and_where_its_log_is(project):
    wrong = {"path": "made-up.zip", "format": "movielens-dat", "md5": "0" * 32}
    project.configure(datasets={"made-up": wrong})
    ran = project.snakemake("results/made-up/split.npz", "--cores", "1")
    assert ran.returncode != 0
    assert "Traceback" not in ran.stdout + ran.stderr
    failed = "split made-up failed: "
    lines = ran.stderr.splitlines()
    [line] = [line for line in lines if line.startswith(f"{failed}made-up.zip: md5 is ")]
    log = "results/logs/made-up/split.log"
    assert lines[lines.index(line) + 1] == f"  log: {log}"
    *_, last = (project.folder / log).read_text(encoding="utf-8").splitlines()
    assert last == f"error: {line.removeprefix(failed)}"


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of the finished study."""
    return finished.copy(tmp_path / "copy")


@pytest.mark.slow
def test_the_report_has_tables_and_figures(copied):
    ran = copied.snakemake("--report", "results/report.html")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    report = (copied.folder / "results/report.html").read_text(encoding="utf-8")
    assert "table-3.html" in report
    assert "figure-6.svg" in report


@pytest.mark.slow
def test_a_run_removes_temporary_files_of_dead_processes_and_no_result_of_another_config(
    copied,
):
    before = copied.results("made-up/*") | copied.results("toy/*")
    results = copied.folder / "results"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    end = "-0123abcd.sampled-metrics-unfinished.csv"
    kept = [
        f"made-up/.{os.getpid()}{end}",
        "made-up/.mine.csv",
        "mine/.2024.notes.csv",
        f"mine/.{ended.pid}{end}",
    ]
    (results / "mine").mkdir()
    for name in (f"made-up/models/.{ended.pid}{end}", f"made-up/.{ended.pid}{end}", *kept):
        (results / name).touch()
    copied.configure(recommenders=MORE, toy=None)
    ran = copied.snakemake("results/summary.html", "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    hidden = {str(path.relative_to(results)) for path in results.rglob(".*") if path.is_file()}
    assert hidden == {*kept}
    for name in kept:
        (results / name).unlink()
    assert copied.results("made-up/*") | copied.results("toy/*") == before
    # what it does not ask for is not shown
    assert "printed numbers" not in (results / "summary.html").read_text(encoding="utf-8")
