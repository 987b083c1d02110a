"""What jobs ask a cluster for is known of every job once its input is there, and makes nothing run again."""

import re
from pathlib import Path

import pytest
import yaml
from made_up_project import ROOT


def planned(output: str) -> dict[str, list[str]]:
    """Return what the jobs of a dry run ask for, by rule."""
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if job := re.fullmatch(r"(?:local)?rule (\w+):", line):
            rule = job[1]
        elif asked := re.fullmatch(r" +resources: (.*)", line):
            found.setdefault(rule, []).append(asked[1])
    return found


PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
OF_RULES = [f"{rule}:mem_mb={asked['mem_mb']}" for rule, asked in PROFILE["set-resources"].items()]
DEFAULTS = ["--default-resources", *(f"{name}={value}" for name, value in PROFILE["default-resources"].items())]
DEFAULTS += ["--set-resources", *OF_RULES]


def test_every_job_asks_for_memory_and_minutes(finished) -> None:
    ran = finished.snakemake("--dry-run", "--forceall", "--quiet", "host", *DEFAULTS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = planned(ran.stdout + ran.stderr)
    jobs.pop("all", None)
    assert {"split", "train", "rank", "sample", "tables", "toy_tables"} <= set(jobs)
    for rule, asked in jobs.items():
        for resources in asked:
            numbers = {name: int(value) for name, value in re.findall(r"\b(mem_mb|runtime)=(\d+)", resources)}
            assert numbers.keys() == {"mem_mb", "runtime"}, (rule, resources)
            assert 1000 <= numbers["mem_mb"] <= 4000, (rule, resources)
            assert 10 <= numbers["runtime"] <= 15, (rule, resources)


@pytest.mark.slow
def test_before_there_is_a_split_a_plan_can_be_made(project) -> None:
    ran = project.snakemake("--dry-run", "--quiet", "host", *DEFAULTS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = planned(ran.stdout + ran.stderr)
    assert all("mem_mb=4000" in asked for asked in jobs["train"])
    assert all(re.search(r"mem_mb=\d", asked) for asked in jobs["split"])
    assert not (project.folder / "results").exists()  # a dry run writes nothing


@pytest.mark.slow
def test_asking_for_something_else_runs_nothing_again(finished) -> None:
    ran = finished.snakemake("--dry-run", "--set-resources", "train:mem_mb=64000", "train:runtime=1440")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Nothing to be done" in ran.stdout + ran.stderr
    assert (Path(finished.folder) / "results/made-up/table-3.csv").is_file()


def test_a_job_that_refuses_its_input_is_queued_once() -> None:
    assert PROFILE.get("retries", 0) == 0
