"""On a real Slurm of one node the study gives the bytes of a local run, and a job that is killed costs only time.

`make test-slurm` runs this. cluster.sh brings Slurm up and down; where it cannot be installed, all is skipped.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_up_project import Project, X, copy_of_project

pytestmark = pytest.mark.skipif("SLURM_TEST" not in os.environ, reason="make test-slurm runs this")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOVIELENS_1M = (
    ROOT / yaml.safe_load((ROOT / ".ci/local-copy.yaml").read_text())["datasets"]["ml-1m"]["path"]
).resolve()
SLURM = [
    "--workflow-profile",
    "profiles/slurm",
    "--set-scatter",
    "users=4",
    "--slurm-init-seconds-before-status-checks",
    "2",
]
TABLE = "results/made-up/table-3.csv"
ONE_RECOMMENDER = {"recommenders": {"X": X}}


@pytest.fixture(scope="session")
def cluster() -> Iterator[dict[str, str]]:
    """The environment of Slurm's clients, while it is up."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-test-"))  # short: a socket's path may have 107 characters
    up = subprocess.run([HERE / "cluster.sh", "up", folder], capture_output=True, text=True, timeout=900, check=False)
    try:
        if up.returncode == 77:
            pytest.skip(up.stderr.strip().splitlines()[-1])
        assert up.returncode == 0, up.stdout + up.stderr
        path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
        yield os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
    finally:
        subprocess.run([HERE / "cluster.sh", "down", folder], timeout=120, check=True)


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project in which TABLE was made on this machine, without Slurm."""
    project = copy_of_project(tmp_path_factory.mktemp("local"))
    configure(project, ONE_RECOMMENDER)
    ran = snakemake(project, TABLE, "--cores", "2")
    assert ran.returncode == 0, ran.stdout
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy, to make TABLE on Slurm."""
    project = copy_of_project(tmp_path)
    configure(project, ONE_RECOMMENDER)
    return project


def paper_study() -> dict[str, Any]:
    """Return the config of the paper's own study, of the copy of MovieLens 1M on this machine."""
    study: dict[str, Any] = yaml.safe_load((ROOT / ".ci/local-copy.yaml").read_text())
    study["datasets"]["ml-1m"]["path"] = str(MOVIELENS_1M)
    return study


def configure(project: Project, changes: dict[str, Any]) -> None:
    path = project.folder / "study.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | changes))


def start(project: Project, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "study.yaml"]
    return subprocess.Popen(
        command, cwd=project.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def wait(process: "subprocess.Popen[str]") -> "subprocess.CompletedProcess[str]":
    try:
        output, _ = process.communicate(timeout=1200)
    finally:
        process.terminate()  # Slurm's jobs are cancelled with it; of no effect on one that has ended
    return subprocess.CompletedProcess(process.args, process.returncode, output)


def snakemake(
    project: Project, *arguments: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return wait(start(project, *arguments, env=env))


def jobs(env: dict[str, str], run: str) -> list[dict[str, str]]:
    """Return what Slurm knows of the jobs of a snakemake run, ended ones too."""
    fields = {"id": "%i", "state": "%T", "rule": "%k", "memory": "%m", "time": "%l"}
    command = ["squeue", "--states=all", "--noheader", f"--name={run}", "--format=" + "|".join(fields.values())]
    lines = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    return [dict(zip(fields, line.split("|"), strict=True)) for line in lines]


def megabytes(memory: str) -> float:
    """Return the MB of a size as squeue writes it: 1500M, or 2G."""
    return float(memory[:-1]) * {"M": 1, "G": 1024}[memory[-1]]


def run_id(output: str) -> str:
    return output.partition("SLURM run ID: ")[2].split()[0]


def cancel_one(process: "subprocess.Popen[str]", env: dict[str, str], rule: str) -> tuple[str, str]:
    """Cancel the first job of a rule that Slurm is running; return its id and what snakemake has said until then."""
    assert process.stdout is not None
    said = ""
    while "SLURM run ID: " not in said or not said.endswith("\n"):
        line = process.stdout.readline()
        assert line, said
        said += line
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        for job in jobs(env, run_id(said)):
            if job["state"] == "RUNNING" and job["rule"].startswith(f"rule_{rule}_wildcards"):
                time.sleep(1)  # into its work
                subprocess.run(["scancel", job["id"]], env=env, timeout=60, check=True)
                return job["id"], said
        time.sleep(0.2)
    raise AssertionError(f"no job of rule {rule} was seen running:\n{said}")


def numbers(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every csv file of the results, by name."""
    found = [*folder.glob("results/**/*.csv"), *folder.glob("results/**/*.csv.gz")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def assert_nothing_to_be_done(project: Project, *arguments: str) -> None:
    """Plan with the scatter of the run: without it, Snakemake ranks all users in one job again."""
    plan = snakemake(project, *arguments, "--set-scatter", "users=4", "--dry-run")
    assert plan.returncode == 0, plan.stdout
    assert "Nothing to be done" in plan.stdout, plan.stdout


def test_the_study_gives_the_bytes_of_a_local_run(cluster: dict[str, str], tmp_path: Path) -> None:
    projects = {}
    for name in ("local", "slurm"):
        (tmp_path / name).mkdir()
        projects[name] = copy_of_project(tmp_path / name)
        if MOVIELENS_1M.is_file():
            (tmp_path / name / "study.yaml").write_text(yaml.safe_dump(paper_study()))
        configure(projects[name], {})
    study = ", ".join(yaml.safe_load((tmp_path / "slurm/study.yaml").read_text())["datasets"])
    for name, arguments in {"local": ["--cores", "2"], "slurm": SLURM}.items():
        started = time.monotonic()
        ran = snakemake(projects[name], *arguments, env=cluster)
        assert ran.returncode == 0, ran.stdout
        print(f"\n{study}, {name}: {time.monotonic() - started:.0f} s")
    ours, theirs = numbers(tmp_path / "slurm"), numbers(tmp_path / "local")
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert len(ours) >= 26
    print(f"{len(ours)} csv files of {sum(map(len, ours.values()))} bytes are the same to the byte")
    assert (tmp_path / "slurm/results/report.html").is_file()
    assert_nothing_to_be_done(projects["slurm"])

    submitted = jobs(cluster, run_id(ran.stdout))
    assert {job["state"] for job in submitted} == {"COMPLETED"}
    assert sum(job["rule"].startswith("rule_rank_part_") for job in submitted) == 3 * 4
    for job in submitted:
        print(f"{job['rule']}: asked for {job['memory']} and {job['time']}")
        assert megabytes(job["memory"]) >= 1000
        assert job["time"] != "UNLIMITED"


def test_a_job_that_is_cancelled_is_submitted_again(cluster: dict[str, str], local: Project, project: Project) -> None:
    process = start(project, TABLE, *SLURM, "--retries", "1", env=cluster)
    cancelled, said = cancel_one(process, cluster, "rank_part")
    ran = wait(process)
    assert ran.returncode == 0, said + ran.stdout
    assert f"SLURM-job '{cancelled}' failed, SLURM status is: 'CANCELLED'" in ran.stdout
    assert "Trying to restart job" in ran.stdout

    submitted = jobs(cluster, run_id(said))
    [first] = [job for job in submitted if job["id"] == cancelled]
    [second] = [job for job in submitted if job["rule"] == first["rule"] and job["id"] != cancelled]
    assert (first["state"], second["state"]) == ("CANCELLED", "COMPLETED")
    assert megabytes(second["memory"]) == 2 * megabytes(first["memory"])
    for name, content in numbers(project.folder).items():
        assert content == (local.folder / name).read_bytes(), name


def test_without_retries_a_cancelled_job_is_named_and_a_second_run_completes(
    cluster: dict[str, str], local: Project, project: Project
) -> None:
    process = start(project, TABLE, *SLURM, env=cluster)
    cancelled, said = cancel_one(process, cluster, "train")
    ran = wait(process)
    assert ran.returncode == 1, said + ran.stdout
    assert "Error in rule train" in ran.stdout
    assert f"SLURM-job '{cancelled}' failed, SLURM status is: 'CANCELLED'" in ran.stdout
    assert not (project.folder / TABLE).exists()

    again = snakemake(project, TABLE, *SLURM, env=cluster)
    assert again.returncode == 0, again.stdout
    assert "rule_split" not in {job["rule"].split("_wildcards")[0] for job in jobs(cluster, run_id(again.stdout))}
    assert (project.folder / TABLE).read_bytes() == (local.folder / TABLE).read_bytes()
    assert_nothing_to_be_done(project, TABLE)
