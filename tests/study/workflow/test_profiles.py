"""The profiles, and the memory that every job asks a cluster for."""

import re

import psutil
import pytest
import yaml
from made_up_project import ROOT

from sampled_metrics_study.recommenders.registry import recommender


@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_a_job_that_refuses_its_input_is_queued_once(profile):
    text = (ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8")
    settings = yaml.safe_load(text)
    assert settings["rerun-triggers"] == ["mtime", "params"]
    assert settings.get("retries", 0) == 0


ITEMS = 26_700


@pytest.mark.parametrize(
    ("entry", "at_least", "at_most"),
    [
        # 8 bytes for each pair of items, at least once
        ({"type": "item-cf", "max_gigabytes": 8}, 8 * ITEMS**2, 16 * ITEMS**2),
        ({"type": "item-cf", "neighbours": 10}, 12 * 10 * ITEMS, 3e8),
        ({"type": "ease"}, 16 * ITEMS**2, 30 * ITEMS**2),
        ({"type": "ials", "factors": 16}, 8 * 16 * (138_000 + ITEMS), 4e8),
    ],
)
def test_a_recommender_says_what_it_holds(entry, at_least, at_most):
    """The shape of MovieLens 20M."""
    memory = recommender(entry).memory(users=138_000, items=ITEMS, events=20_000_000)
    assert at_least <= memory <= at_most


def asked(project, *arguments):
    """The memory that the jobs of each rule of a dry run ask for, and what the run says."""
    ran = project.snakemake("--cores", "1", "--dry-run", "--quiet", "host", *arguments)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    memory: dict[str, set[str]] = {}
    pattern = r"^(?:local)?rule (\w+):\n(?: .*\n)*? +resources: (.*)"
    for rule, resources in re.findall(pattern, said, re.MULTILINE):
        memory.setdefault(rule, set()).update(re.findall(r"\bmem_mb=(\d+|<\w+>)", resources))
    return memory, said


@pytest.mark.slow
def test_jobs_ask_for_memory_by_the_facts_of_the_split_and_share_that_of_a_machine(
    finished,
):
    memory, _ = asked(finished, "--forceall", "--set-resources", "train:mem_mb=1000000000")
    assert memory["train"] == {str(psutil.virtual_memory().total // 10**6)}
    for rule in ("split", "rank"):
        assert memory[rule], rule
        assert all(250 <= int(size) <= 1000 for size in memory[rule]), rule
    memory, _ = asked(finished, "--forceall", "--resources", "mem_mb=200")
    assert memory["train"] == memory["rank"] == {"200"}


@pytest.mark.slow
def test_a_plan_can_be_made_before_there_is_a_split_and_asking_for_more_runs_nothing_again(
    project, finished
):
    memory, _ = asked(project)
    assert memory["train"] == {"<TBD>"}
    assert not (project.folder / "results").exists()  # a dry run writes nothing
    _, said = asked(finished, "--set-resources", "train:mem_mb=64000", "train:runtime=1440")
    assert "Nothing to be done" in said
