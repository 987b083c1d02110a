"""kill -9 of a whole run, snakemake and its jobs, at random moments; then the same command again.

A seed is one run that is killed five times, each time gone on with as README.md says, and then let finish. The moments
are uniform over the length of a run that is not disturbed, by what it uses of the processor.
"""

import random
import shutil
from pathlib import Path

import pytest

from faults.whole_run import Running, Undisturbed, command, copy, run, temporaries

KILLS = 5  # of each run that is completed
STARTING = 0.2  # the part of a run before its first job


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_is_killed_completes_when_it_is_started_again(
    undisturbed: Undisturbed, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    folder, killed = tmp_path / "project", 0
    moments: list[float] = []
    while killed < KILLS:
        if not folder.exists():
            copy(undisturbed.pristine, folder)
            moments = sorted(rng.random() for _ in range(KILLS - killed))
            done = 0.0
        running = Running(folder, command())
        # a run that goes on begins with reading the workflow, as the first one did
        again = rng.random() * STARTING if done else 0.0
        if running.wait_until((moments[0] - done + again) * undisturbed.seconds):
            running.kill()
            killed += 1
            done = moments.pop(0)
            undisturbed.check_nothing_is_half_written(folder)
            if any((folder / ".snakemake/locks").glob("*")):  # where a run would refuse to start
                assert run(folder, command("--unlock", targets=())).returncode == 0
        else:  # it was faster than the undisturbed one: no kill, and as good as that
            ended = running.finish()
            assert ended.returncode == 0, ended.output
            undisturbed.check(folder)
            shutil.rmtree(folder)
    ended = run(folder)
    assert ended.returncode == 0, ended.output
    undisturbed.check(folder)
    assert temporaries(folder) == []
