"""The profiles: when the report is built, and what every job asks a cluster for.

A run builds the report, and a dry run does not.
"""

import re
import sys

import pytest
import yaml
import yte
from made_up_project import ROOT, Project

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
DEFAULTS = [f"{name}={value}" for name, value in PROFILE["default-resources"].items()]
BY_RULE = [
    f"{rule}:mem_mb={resources['mem_mb']}" for rule, resources in PROFILE["set-resources"].items()
]
ASKED = ["--default-resources", *DEFAULTS, "--set-resources", *BY_RULE]


@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_only_a_dry_run_builds_no_report(monkeypatch, profile):
    text = (ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8")
    runs = ("", "-R train", "--nolock")
    dry_runs = ("-Fn", "-pn --cores 1", "results/summary.html --dry-run")
    for arguments in runs + dry_runs:
        monkeypatch.setattr(sys, "argv", ["snakemake", *arguments.split()])
        has_report = yte.process_yaml(text).get("report-after-run", False)
        assert has_report == (arguments in runs), arguments
    assert PROFILE.get("retries", 0) == 0  # a job that refuses its input is queued once


def asked(project: Project, *arguments: str) -> tuple[list[tuple[str, dict[str, str]]], str]:
    """The rule of each job of a dry run and what it asks for, and what the run says."""
    ran = project.snakemake("--dry-run", "--quiet", "host", *arguments)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    jobs = []
    for rule, resources in re.findall(
        r"^(?:local)?rule (\w+):\n(?: .*\n)*? +resources: (.*)", said, re.MULTILINE
    ):
        jobs.append((rule, dict(re.findall(r"\b(mem_mb|runtime)=(\d+|<\w+>)", resources))))
    return jobs, said


def test_every_job_asks_for_memory_and_minutes(finished: Project) -> None:
    jobs, _ = asked(finished, "--forceall", *ASKED)
    rules = {rule for rule, _ in jobs}
    assert {"split", "train", "rank", "sample", "tables", "toy_tables"} <= rules
    for rule, resources in jobs:
        if rule != "all":
            assert 1000 <= int(resources["mem_mb"]) <= 4000, rule
            assert 10 <= int(resources["runtime"]) <= 15, rule


@pytest.mark.slow
def test_a_plan_can_be_made_before_there_is_a_split_and_asking_for_more_runs_nothing_again(
    project: Project, finished: Project
) -> None:
    jobs, _ = asked(project, *ASKED)
    assert {resources["mem_mb"] for rule, resources in jobs if rule == "train"} == {"4000"}
    assert not (project.folder / "results").exists()  # a dry run writes nothing
    _, said = asked(finished, "--set-resources", "train:mem_mb=64000", "train:runtime=1440")
    assert "Nothing to be done" in said
