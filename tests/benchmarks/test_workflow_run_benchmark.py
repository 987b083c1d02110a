"""benchmarks/workflow_run.py: what is measured of the workflow's jobs."""

import importlib
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def workflow_run(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("workflow_run")


@pytest.mark.parametrize(
    ("job", "rule"),
    [
        ("ml-1m/train-X", "train"),
        ("ml-1m/rank-X-1-of-4", "rank"),
        ("large/exact-moments-ALS-64", "exact_moments"),
        ("ml-1m/tables", "tables"),
        ("ml-1m/estimator-study", "estimator_study"),
        ("ml-1m/estimator-study-X", "study_estimators"),
        ("toy/fidelity", "toy_fidelity"),
        ("ml-1m/fidelity", "fidelity"),
    ],
)
def test_a_job_belongs_to_its_rule(workflow_run, job, rule):
    assert workflow_run.rule_of(job) == rule


HOLDS_AND_FREES = """
import sys, time
log = open(sys.argv[1], "w")
held = bytearray(200 * 2**20)
del held
print("freed", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell peaks")
def test_a_peak_that_is_over_before_anyone_looks_is_seen(workflow_run, tmp_path):
    logs = tmp_path / "logs"
    (logs / "large").mkdir(parents=True)
    command = [sys.executable, "-c", HOLDS_AND_FREES, str(logs / "large/split.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as job:
        try:
            job.stdout.readline()
            time.sleep(0.1)
            seen = {}
            now = workflow_run._look(psutil.Process(job.pid), logs, seen)
        finally:
            job.kill()
    assert now < 100 * 2**20
    assert 200 * 2**20 < seen["large/split"] < 300 * 2**20


def test_jobs_are_summed_up_by_rule(workflow_run, tmp_path):
    for job, seconds, memory in [("train-X", 2.0, 100.0), ("train-Y", 3.0, 50.0), ("split", 1.0, 70.0)]:
        path = tmp_path / "large" / f"{job}.tsv"
        path.parent.mkdir(exist_ok=True)
        pd.DataFrame({"s": [seconds], "max_rss": [memory]}).to_csv(path, sep="\t", index=False)
    jobs = workflow_run._jobs(tmp_path, {"large/train-Y": 120 * 2**20, "large/train-X": 90 * 2**20})
    assert jobs.set_index("job")["memory"].to_dict() == {
        "large/split": 70.0,
        "large/train-X": 100.0,
        "large/train-Y": 120.0,
    }
    by_rule = workflow_run.Run(0.0, 0.0, jobs).by_rule()
    assert by_rule.loc["train"].tolist() == [2, 5.0, 120.0]
