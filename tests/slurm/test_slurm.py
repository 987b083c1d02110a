"""On a real Slurm of one node the study gives the bytes of a local run, and a job that is killed
costs only time.

`make test-slurm` runs this. cluster.sh brings Slurm up and down; where it cannot be installed, all
is skipped.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import yaml
from made_up_project import ROOT, X, copy_of_project

pytestmark = pytest.mark.skipif("SLURM_TEST" not in os.environ, reason="make test-slurm runs this")

CLUSTER = Path(__file__).resolve().with_name("cluster.sh")
SCATTER = ["--set-scatter", "users=4"]
SLURM = ["--workflow-profile", "profiles/slurm", *SCATTER]
SLURM += ["--slurm-init-seconds-before-status-checks", "2"]
TABLE = "results/made-up/table-3.csv"


@pytest.fixture(scope="session")
def cluster():
    """The environment of Slurm's clients, while it is up."""
    # short: a socket's path may have 107 characters
    folder = Path(tempfile.mkdtemp(prefix="slurm-test-"))
    up = subprocess.run(
        [CLUSTER, "up", folder], capture_output=True, text=True, timeout=900, check=False
    )
    try:
        if up.returncode == 77:
            pytest.skip(up.stderr.strip().splitlines()[-1])
        assert up.returncode == 0, up.stdout + up.stderr
        path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
        yield os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
    finally:
        subprocess.run([CLUSTER, "down", folder], timeout=120, check=True)


def copied(folder, **changes):
    """Return a copy of the project with changes of its config."""
    folder.mkdir(exist_ok=True)
    project = copy_of_project(folder)
    project.configure(**changes)
    return project


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """The numbers of a copy of the project in which TABLE was made on this machine, without
    Slurm.
    """
    project = copied(tmp_path_factory.mktemp("local"), recommenders={"X": X})
    require_success(wait(start(project, TABLE, "--cores", "2")))
    return numbers(project)


def start(project, *arguments, env=None):
    command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "study.yaml"]
    return subprocess.Popen(
        command,
        cwd=project.folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait(process):
    """Return the exit status and what was said."""
    try:
        output, _ = process.communicate(timeout=1200)
    finally:
        # Slurm's jobs are cancelled with it; of no effect on one that has ended
        process.terminate()
    return process.returncode, output


def require_success(ended):
    status, output = ended
    assert status == 0, output
    return output


def require_nothing_to_be_done(project, *targets):
    """With the scatter of the run: without it, Snakemake ranks all users in one job again."""
    assert "Nothing to be done" in require_success(
        wait(start(project, *targets, *SCATTER, "--dry-run"))
    )


def jobs(env, output):
    """Return what Slurm knows of the jobs of a snakemake run by its output, ended ones too.

    Memory is in MB.
    """
    run = output.partition("SLURM run ID: ")[2].split()[0]
    names = ("id", "state", "rule", "memory", "time")
    command = ["squeue", "--states=all", "--noheader", f"--name={run}", "--format=%i|%T|%k|%m|%l"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
    lines = ran.stdout.splitlines()
    jobs_as_text = [dict(zip(names, line.split("|"), strict=True)) for line in lines]
    return [job | {"memory": megabytes(job["memory"])} for job in jobs_as_text]


def megabytes(memory):
    """Return the megabytes of a memory such as 2G or 500M."""
    return float(memory[:-1]) * {"M": 1, "G": 1024}[memory[-1]]


def cancel_one(process, env, rule):
    """Cancel the first job of a rule that Slurm is running.

    Return its id and the output of snakemake until then.
    """
    output = ""
    while "SLURM run ID: " not in output or not output.endswith("\n"):
        line = process.stdout.readline()
        assert line, output
        output += line
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        for job in jobs(env, output):
            if job["state"] == "RUNNING" and job["rule"].startswith(f"rule_{rule}_wildcards"):
                time.sleep(1)  # into its work
                subprocess.run(["scancel", job["id"]], env=env, timeout=60, check=True)
                return job["id"], output
        time.sleep(0.2)
    raise AssertionError(f"no job of rule {rule} was seen running:\n{output}")


def numbers(project):
    """Return the bytes of every csv file of the results, by name."""
    return project.results("**/*.csv") | project.results("**/*.csv.gz")


def test_the_study_gives_the_bytes_of_a_local_run(cluster, tmp_path):
    """That of the paper, where the copy of MovieLens 1M is on this machine."""
    study = yaml.safe_load((ROOT / ".ci/local-copy.yaml").read_text())
    archive = (ROOT / study["datasets"]["ml-1m"]["path"]).resolve()
    study["datasets"]["ml-1m"]["path"] = str(archive)
    by_slurm = copied(tmp_path / "slurm")
    by_local_run = copied(tmp_path / "local")
    if archive.is_file():
        for project in (by_slurm, by_local_run):
            (project.folder / "study.yaml").write_text(yaml.safe_dump(study))
    require_success(wait(start(by_local_run, "--cores", "2", env=cluster)))
    output = require_success(wait(start(by_slurm, *SLURM, env=cluster)))
    assert numbers(by_slurm) == numbers(by_local_run)
    assert len(numbers(by_slurm)) >= 26
    require_nothing_to_be_done(by_slurm)
    submitted = jobs(cluster, output)
    assert {job["state"] for job in submitted} == {"COMPLETED"}
    assert sum(job["rule"].startswith("rule_rank_part_") for job in submitted) == len("XYZ") * 4
    assert min(job["memory"] for job in submitted) >= 1000
    assert "UNLIMITED" not in {job["time"] for job in submitted}


def test_a_job_that_is_cancelled_is_submitted_again(cluster, local, tmp_path):
    project = copied(tmp_path, recommenders={"X": X})
    process = start(project, TABLE, *SLURM, "--retries", "1", env=cluster)
    cancelled_id, output_before = cancel_one(process, cluster, "rank_part")
    output = require_success(wait(process))
    assert f"SLURM-job '{cancelled_id}' failed, SLURM status is: 'CANCELLED'" in output
    submitted = {job["id"]: job for job in jobs(cluster, output_before)}
    cancelled = submitted.pop(cancelled_id)
    [retried] = [job for job in submitted.values() if job["rule"] == cancelled["rule"]]
    assert cancelled["state"] == "CANCELLED"
    assert retried["state"] == "COMPLETED"
    assert retried["memory"] == 2 * cancelled["memory"]
    assert numbers(project).items() <= local.items()


def test_without_retries_a_cancelled_job_is_named_and_a_second_run_completes(
    cluster, local, tmp_path
):
    project = copied(tmp_path, recommenders={"X": X})
    process = start(project, TABLE, *SLURM, env=cluster)
    cancelled_id, output_before = cancel_one(process, cluster, "train")
    status, output = wait(process)
    assert status == 1, output_before + output
    assert "Error in rule train" in output
    assert f"SLURM-job '{cancelled_id}' failed, SLURM status is: 'CANCELLED'" in output
    assert TABLE not in numbers(project)
    second_output = require_success(wait(start(project, TABLE, *SLURM, env=cluster)))
    rules = {job["rule"].split("_wildcards")[0] for job in jobs(cluster, second_output)}
    assert "rule_split" not in rules
    assert numbers(project)[TABLE] == local[TABLE]
    require_nothing_to_be_done(project, TABLE)
