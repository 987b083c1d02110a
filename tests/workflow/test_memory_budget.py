"""The memory budget of config, from end to end: too little is refused in one line, and a change runs nothing again."""

import pytest
from made_up_project import Project

MODEL = "results/made-up/models/near.npz"
NEAR = {"near": {"type": "item-cf", "exponent": 1, "neighbours_prime": 10}}


@pytest.mark.slow
def test_too_little_is_refused_in_one_line_and_a_change_runs_nothing_again(project: Project) -> None:
    project.configure(ranking={"memory": 100}, recommenders=NEAR)
    ran = project.snakemake(MODEL, "--cores", "1")
    assert ran.returncode != 0
    assert "Traceback" not in ran.stdout + ran.stderr
    [line] = [line for line in ran.stderr.splitlines() if " failed: " in line]
    assert line.startswith("train near on made-up failed: ranking.memory: item-cf takes ")

    project.configure(ranking={"memory": 1000}, recommenders=NEAR)
    ran = project.snakemake(MODEL, "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    project.configure(ranking={"memory": 3000}, recommenders=NEAR)
    ran = project.snakemake(MODEL, "--dry-run")
    assert "Nothing to be done" in ran.stdout + ran.stderr
