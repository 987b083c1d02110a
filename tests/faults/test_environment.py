"""A machine that is not as one would wish: it completes with the same bytes, or says in one line why it cannot."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_up_project import archive, ratings

from faults.whole_run import Running, Undisturbed, command, contents, copy, run, temporaries


def can_mount() -> bool:
    """Whether a file system may be mounted here, as root in a mount namespace may on Linux."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        return False
    tried = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def mounted(how: str, words: Sequence[str]) -> list[str]:
    """Return a command that runs another one after a line of shell with mounts, seen by nobody else."""
    return ["unshare", "--mount", "sh", "-c", f'set -e; {how}; exec "$@"', "sh", *words]


needs_mounts = pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here (root on Linux can)")

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)

NOWHERE = "/proc/nowhere"
"""A folder that is not there, and that nobody can make, root included."""


def completes(undisturbed: Undisturbed, folder: Path, env: dict[str, str] | None = None) -> None:
    ended = run(folder, env=env)
    assert ended.returncode == 0, ended.output
    undisturbed.check(folder)


@needs_mounts
@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [4, 28, 116, 1000])
def test_a_disk_that_is_full_and_then_is_not(
    undisturbed: Undisturbed, fresh: Path, tmp_path: Path, kilobytes: int
) -> None:
    results, left = fresh / "results", tmp_path / "left"
    results.mkdir()
    # while it is full, a copy is taken of what is there; then there is space, and the same command
    script = f"""
        mount -t tmpfs -o size={kilobytes}k none results
        set +e; "$@" > full.log 2>&1; echo $? > full.exit; set -e
        mkdir {left.name} && cp -r results .snakemake {left.name}
        mount -o remount,size=64m results
        "$@"; cp -r results whole; exit 0"""
    ended = run(fresh, mounted(script, command()))
    assert ended.returncode == 0, ended.output
    full = (fresh / "full.log").read_text(encoding="utf-8")
    assert (fresh / "full.exit").read_text() != "0\n", full
    assert "No space left on device" in full
    ours = [line for line in full.splitlines() if " failed: " in line]
    says = re.compile(r".* failed: .*results/\S+: cannot be written: No space left on device")
    assert all(says.fullmatch(each) for each in ours), ours
    assert ours or not (fresh / "left/results/made-up/table-4.csv").exists() or kilobytes == 1000  # the report
    undisturbed.check_nothing_is_half_written(fresh / left.name)
    assert temporaries(fresh / left.name) == []
    shutil.rmtree(results)
    (fresh / "whole").rename(results)
    undisturbed.check(fresh)


@needs_mounts
@pytest.mark.slow
def test_results_that_may_only_be_read(fresh: Path) -> None:
    (fresh / "results").mkdir()
    how = "mount --bind results results; mount -o remount,ro,bind results"
    ended = run(fresh, mounted(how, command()))
    assert ended.returncode != 0
    assert "Traceback" not in ended.output
    assert "Read-only file system" in ended.output
    assert list((fresh / "results").iterdir()) == []


@pytest.mark.slow
def test_a_second_run_in_the_same_folder_is_refused_and_the_first_completes(
    undisturbed: Undisturbed, fresh: Path
) -> None:
    first = Running(fresh, command())
    while not any((fresh / ".snakemake/locks").glob("*")):
        assert first.is_running()
        time.sleep(0.05)
    second = run(fresh)
    assert second.returncode != 0
    assert "Directory cannot be locked" in second.output
    assert "Traceback" not in second.output
    ended = first.finish()
    assert ended.returncode == 0, ended.output
    undisturbed.check(fresh)


@pytest.mark.slow
@pytest.mark.skipif(FAKETIME is None, reason="no libfaketime here (Debian: apt-get install libfaketime)")
def test_a_clock_that_is_behind_the_files(undisturbed: Undisturbed, fresh: Path) -> None:
    """Results would seem to be older than what they are made of, so snakemake takes none."""
    clock = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "-400d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    ended = run(fresh, env=os.environ | clock)
    assert ended.returncode != 0
    assert "Output results/made-up/split.npz has older modification time" in ended.output
    assert contents(fresh) == {}
    completes(undisturbed, fresh)


@pytest.mark.slow
@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_set_between_two_runs_leaves_nothing_stale(undisturbed: Undisturbed, tmp_path: Path, days: int) -> None:
    other = copy(undisturbed.pristine, tmp_path / "other")
    archive(other.folder / "made-up.zip", ratings(seed=2))
    ended = run(other.folder)
    assert ended.returncode == 0, ended.output

    folder = copy(undisturbed.finished, tmp_path / "project").folder
    moved = time.time() + days * 86400
    for path in (folder / "results").rglob("*"):
        os.utime(path, (moved, moved))
    archive(folder / "made-up.zip", ratings(seed=2))
    ended = run(folder)
    assert ended.returncode == 0, ended.output
    assert contents(folder) == contents(other.folder) != undisturbed.expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ['a folder\'s "odd" näme, 評価 $(touch x)', "-n"])
def test_a_folder_with_an_odd_name(undisturbed: Undisturbed, tmp_path: Path, name: str) -> None:
    folder = copy(undisturbed.pristine, tmp_path / name).folder
    completes(undisturbed, folder)
    assert not list(tmp_path.rglob("x"))


@pytest.mark.parametrize(
    ("name", "env", "says"),
    [
        ("{mine}", {}, "{mine}: a folder with { or } in its name"),
        pytest.param(
            "mine", {"LC_ALL": "", "LC_CTYPE": "", "LANG": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            "say export PYTHONUTF8=1", marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_a_folder_or_an_encoding_that_snakemake_cannot_take(
    fresh: Path, tmp_path: Path, name: str, env: dict[str, str], says: str
) -> None:
    folder = fresh.rename(tmp_path / name)
    ended = run(folder, env=os.environ | env)
    assert (ended.returncode != 0, len(ended.errors)) == (True, 1)
    assert says in ended.errors[0]
    assert "Traceback" not in ended.output
    assert contents(folder) == {}


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "no HOME": {name: value for name, value in os.environ.items() if name != "HOME"},
    "a HOME and a TMPDIR that are not there and cannot be made": os.environ
    | dict.fromkeys(("HOME", "TMPDIR"), NOWHERE),
    "locale C": os.environ | {"LC_ALL": "C"},
    # other routines of BLAS give other bytes, so what chooses them stays
    "no environment but PATH": {
        name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("OPENBLAS_")
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_that_lacks_something(undisturbed: Undisturbed, fresh: Path, name: str) -> None:
    completes(undisturbed, fresh, ENVIRONMENTS[name])
