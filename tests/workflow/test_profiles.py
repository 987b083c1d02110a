"""The profiles: a run builds the report, and a dry run does not; what jobs ask a cluster for is known of every job."""

import re
import sys

import pytest
import yaml
import yte
from made_up_project import ROOT, Project

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
ASKED = [
    "--default-resources",
    *(f"{name}={value}" for name, value in PROFILE["default-resources"].items()),
    "--set-resources",
    *(f"{rule}:mem_mb={asked['mem_mb']}" for rule, asked in PROFILE["set-resources"].items()),
]


@pytest.mark.parametrize("profile", ["default", "slurm"])
@pytest.mark.parametrize(
    ("arguments", "is_dry"),
    [
        ("", False),
        ("-R train", False),
        ("--nolock", False),
        ("-Fn", True),
        ("-pn --cores 1", True),
        ("results/summary.html --dry-run", True),
    ],
)
def test_only_a_dry_run_builds_no_report(monkeypatch, profile, arguments, is_dry):
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments.split()])
    settings = yte.process_yaml((ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8"))
    assert settings.get("report-after-run", False) == (not is_dry)


def test_a_job_that_refuses_its_input_is_queued_once() -> None:
    assert PROFILE.get("retries", 0) == 0


def dry_run(project: Project, *arguments: str) -> str:
    ran = project.snakemake("--dry-run", "--quiet", "host", *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def asked(output: str) -> list[tuple[str, dict[str, str]]]:
    """The rule of each job of a dry run, and what it asks for."""
    jobs = re.findall(r"^(?:local)?rule (\w+):\n(?: .*\n)*? +resources: (.*)", output, re.MULTILINE)
    return [(rule, dict(re.findall(r"\b(mem_mb|runtime)=(\d+|<\w+>)", resources))) for rule, resources in jobs]


def test_every_job_asks_for_memory_and_minutes(finished: Project) -> None:
    jobs = [job for job in asked(dry_run(finished, "--forceall", *ASKED)) if job[0] != "all"]
    assert {"split", "train", "rank", "sample", "tables", "toy_tables"} <= {rule for rule, _ in jobs}
    for rule, resources in jobs:
        assert 1000 <= int(resources["mem_mb"]) <= 4000, rule
        assert 10 <= int(resources["runtime"]) <= 15, rule


@pytest.mark.slow
def test_before_there_is_a_split_a_plan_can_be_made(project: Project) -> None:
    jobs = asked(dry_run(project, *ASKED))
    assert {resources["mem_mb"] for rule, resources in jobs if rule == "train"} == {"4000"}
    assert not (project.folder / "results").exists()  # a dry run writes nothing


@pytest.mark.slow
def test_asking_for_something_else_runs_nothing_again(finished: Project) -> None:
    assert "Nothing to be done" in dry_run(finished, "--set-resources", "train:mem_mb=64000", "train:runtime=1440")
