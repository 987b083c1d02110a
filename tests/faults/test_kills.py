"""kill -9 of a whole run, snakemake and its jobs, at random moments; then the same command again.

A seed is one run that is killed five times, each time gone on with as README.md says, and then let finish. The moments
are uniform over the length of a run that is not disturbed, by what it uses of the processor.
"""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from faults.ledger import Ledger
from faults.whole_run import TARGETS, Running, Undisturbed, command, copy, run, temporaries, unfinished

GROUP = "kills"

KILLS = 5
"""Of each run that is completed."""

STARTING = 0.2
"""The part of a run before its first job."""

STAGES = {
    "the split": ("split.npz", "dataset.json"),
    "training": ("/models/",),
    "ranking": ("/ranks/",),
    "sampling": ("/estimates/", "/expected/"),
    "tables and figures": ("/table-", "/figure-"),
}
"""What is being made in each stage of a run, as parts of names."""


def stage(folder: Path) -> str:
    """Say what a run was doing when it was killed: the first stage of which a file was being made."""
    being_made = unfinished(folder)
    for name, parts in STAGES.items():
        if any(part in each for each in being_made for part in parts):
            return f"in {name}"
    return "in the report" if all((folder / each).exists() for each in TARGETS) else "between jobs, or before the first"


def unlock(folder: Path) -> None:
    """Do what README.md says, where a run would refuse to start."""
    if any((folder / ".snakemake/locks").glob("*")):
        assert run(folder, command("--unlock", targets=())).returncode == 0


@pytest.mark.slow
@pytest.mark.seeds(range(20))
def test_a_run_that_is_killed_completes_when_it_is_started_again(
    undisturbed: Undisturbed, tmp_path: Path, seed: int, ledger: Ledger
) -> None:
    rng = random.Random(seed)
    folder, killed = tmp_path / "project", Counter[str]()
    moments: list[float] = []
    while killed.total() < KILLS:
        if not folder.exists():
            copy(undisturbed.pristine, folder)
            moments = sorted(rng.random() for _ in range(KILLS - killed.total()))
            done = 0.0
        running = Running(folder, command())
        # a run that goes on begins with reading the workflow, as the first one did
        again = rng.random() * STARTING if done else 0.0
        if running.wait_until((moments[0] - done + again) * undisturbed.seconds):
            running.kill()
            killed[stage(folder)] += 1
            done = moments.pop(0)
            undisturbed.check_nothing_is_half_written(folder)
            unlock(folder)
        else:  # it was faster than the undisturbed one: no kill, and as good as that
            ended = running.finish()
            assert ended.returncode == 0, ended.output
            undisturbed.check(folder)
            shutil.rmtree(folder)
    ended = run(folder)
    assert ended.returncode == 0, ended.output
    undisturbed.check(folder)
    assert temporaries(folder) == []
    for what, times in killed.items():
        ledger.record(GROUP, f"kill -9 of the whole run {what}", seed, tries=times)
