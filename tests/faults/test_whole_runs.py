"""Whole runs, killed or disturbed, on other cores and kernels.

They give the same bytes, or one line that says why not.

What is trained by solving equations may differ in the last digits between kernels of OpenBLAS,
which picks one by the processor. Ranks and all that follows are the same on the data here.
"""

import base64
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from made_up_project import Project, X, archive, copy_of_project, ratings

slow = pytest.mark.slow
TARGETS = ("made-up/table-3.csv", "made-up/table-4.csv", "made-up/figure-5.csv", "toy/table-1.csv")
"""Little to wait for, and every stage: split, train, rank, sample, tables, figures."""
SMALL = {
    "recommenders": {"X": X},
    "estimators": ["uncorrected", "cls", "bv-0.1"],
    "sampling": {"negatives": 20, "repetitions": 10},
}
TABLES = (".csv", ".csv.gz")
DATA = (*TABLES, ".npz", ".json")
"""How the names of files end that later stages read, or people's scripts."""
TIMEOUT = 900  # seconds; a machine may be busy


class Ended(NamedTuple):
    code: int
    output: str


def command(*arguments, cores=2, targets=TARGETS):
    """What a user types."""
    files = [f"results/{name}" for name in targets]
    options = ["--cores", str(cores), "--configfile", "study.yaml", *arguments]
    return [sys.executable, "-m", "snakemake", *files, *options]


class Running:
    """A command in a session of its own, so that it can be killed with all that it starts."""

    def __init__(self, folder, words, env=None):
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # not a pipe, which fills up while nobody reads
        streams = {"stdin": subprocess.DEVNULL, "stdout": self._output, "stderr": subprocess.STDOUT}
        self._process = subprocess.Popen(
            words, cwd=folder, env=env, start_new_session=True, **streams
        )

    def is_running(self):
        return self._process.poll() is None

    def wait_until(self, seconds):
        """Wait until it has used so much time of the processor; return whether it is still running
        then.
        """
        while self.is_running() and (missing := seconds - self._seconds_used()) > 0:
            time.sleep(min(missing / 4, 0.1))
        return self.is_running()

    def _seconds_used(self):
        """Return seconds of the processor.

        Those of children that have ended are counted to their parents.
        """
        total = 0.0
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._process.pid)
            for process in (root, *root.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    total += times.user + times.system + times.children_user + times.children_system
        return total

    def kill(self):
        """End it and all that it started, at once: kill -9."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()

    def finish(self):
        """Wait for its end; what takes too long is killed, and fails the test."""
        try:
            self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        with self._output as output:
            output.seek(0)
            return Ended(self._process.returncode, output.read().decode(errors="replace"))


def run(folder, words=None, env=None):
    """Run a command, the small study unless another is given, to its end."""
    return Running(folder, command() if words is None else words, env).finish()


def completes(folder, words=None, env=None):
    ended = run(folder, words, env)
    assert ended.code == 0, ended.output


def fails(folder, words=None, env=None):
    """Run a command that must fail without a traceback, and return what it says."""
    ended = run(folder, words, env)
    assert ended.code != 0
    assert "Traceback" not in ended.output
    return ended.output


def contents(folder, endings=DATA):
    """Return what is in the results of a project, by name.

    Files that have not got their final name are left out.
    """
    files = sorted((folder / "results").rglob("[!.]*"))
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.name.endswith(endings)
    }


def temporaries(folder):
    return [path for path in (folder / "results").rglob(".*") if path.is_file()]


@dataclass(frozen=True)
class Undisturbed:
    """The project before and after a run that nothing disturbed, what it made, and seconds of the
    processor.
    """

    pristine: Project
    finished: Project
    expected: Mapping[str, bytes]
    seconds: float

    def check(self, folder):
        """Assert that a project holds the same."""
        assert contents(folder) == self.expected

    def check_nothing_is_half_written(self, folder):
        """Assert that what is there under a final name is whole, or will be made anew."""
        marks = folder / ".snakemake/incomplete"
        encoded = [mark.relative_to(marks).as_posix() for mark in marks.rglob("*")]
        incomplete = {base64.b64decode(name).decode() for name in encoded}
        for name, content in contents(folder).items():
            assert name in incomplete or content == self.expected[name], name


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    project = small_study(folder / "nothing has run")
    completes(project.folder, command("--dry-run"))  # compiles what it imports
    finished = project.copy(folder / "undisturbed")
    start = seconds_of_children()
    completes(finished.folder)
    seconds = seconds_of_children() - start
    return Undisturbed(project, finished, contents(finished.folder), seconds)


def seconds_of_children():
    """Return seconds of the processor of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def small_study(folder):
    folder.mkdir()
    project = copy_of_project(folder)
    project.configure(**SMALL)
    return project


@pytest.fixture
def fresh(tmp_path):
    """The folder of the small study before anything has run."""
    return small_study(tmp_path / "project").folder


# --- kill -9 of snakemake and its jobs at random moments; then the same command again -----------

KILLS = 5  # of each run that is completed
STARTING = 0.2  # the part of a run before its first job


@slow
@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_is_killed_completes_when_it_is_started_again(undisturbed, tmp_path, seed):
    """The moments are uniform over the length of a run that is not disturbed, by what it uses of
    the processor.
    """
    rng = random.Random(seed)
    folder = tmp_path / "project"
    kills = 0
    moments: list[float] = []
    while kills < KILLS:
        if not folder.exists():
            undisturbed.pristine.copy(folder)
            moments = sorted(rng.random() for _ in range(KILLS - kills))
            last_moment = 0.0
        running = Running(folder, command())
        # a run that goes on begins with reading the workflow, as the first one did
        start = rng.random() * STARTING if last_moment else 0.0
        if running.wait_until((moments[0] - last_moment + start) * undisturbed.seconds):
            running.kill()
            kills += 1
            last_moment = moments.pop(0)
            undisturbed.check_nothing_is_half_written(folder)
            if any((folder / ".snakemake/locks").glob("*")):  # where a run would refuse to start
                completes(folder, command("--unlock", targets=()))
        else:  # it was faster than the undisturbed one: no kill, and as good as that
            ended = running.finish()
            assert ended.code == 0, ended.output
            undisturbed.check(folder)
            shutil.rmtree(folder)
    completes(folder)
    undisturbed.check(folder)
    assert temporaries(folder) == []


# --- cores, threads, parts, hashes and kernels --------------------------------------------------

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
RECOMMENDERS = {
    "X": X,
    "W": {"type": "implicit", "model": "bpr", "options": {"factors": 3, "iterations": 5}},
    "random": {"type": "random"},
}
"""What is trained by solving equations, from a random start with threads, and by neither."""


def tables_of(folder, *arguments, cores=2, env=None):
    """Run the whole study in a folder, and return its csv tables."""
    copy_of_project(folder).configure(recommenders=RECOMMENDERS)
    completes(folder, command(*arguments, cores=cores, targets=()), os.environ | (env or {}))
    return contents(folder, TABLES)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return tables_of(tmp_path_factory.mktemp("determinism"))


@slow
@pytest.mark.parametrize(
    ("arguments", "cores", "env"),
    [
        ((), 1, dict.fromkeys(THREADS, "1") | {"PYTHONHASHSEED": "0"}),
        ((), 2, dict.fromkeys(THREADS, "2") | {"PYTHONHASHSEED": "4242"}),
        (("--set-scatter", "users=3", "--set-threads", "rank_part=2"), 2, {}),
    ],
)
def test_the_same_bytes_in_every_table(tables, tmp_path, arguments, cores, env):
    assert tables_of(tmp_path, *arguments, cores=cores, env=env) == tables


# --- disks --------------------------------------------------------------------------------------


def can_mount():
    """Whether a file system may be mounted here, as root in a mount namespace may on Linux."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        return False
    trial = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def mounted(script):
    """Return the command of the study after a shell script with mounts, seen by nobody else."""
    return ["unshare", "--mount", "sh", "-c", f'set -e; {script}; exec "$@"', "sh", *command()]


needs_mounts = pytest.mark.skipif(
    not can_mount(), reason="no file system can be mounted here (root on Linux can)"
)


@slow
@needs_mounts
@pytest.mark.parametrize("kilobytes", [4, 28, 116])
def test_a_disk_that_is_full_and_then_is_not(undisturbed, fresh, kilobytes):
    results = fresh / "results"
    copy_of_full = fresh / "left"
    results.mkdir()
    # while it is full, a copy is taken of what is there; then there is space, and the same command
    script = f"""
        mount -t tmpfs -o size={kilobytes}k none results
        set +e; "$@" > full.log 2>&1; echo $? > full.exit; set -e
        mkdir left && cp -r results .snakemake left
        mount -o remount,size=64m results
        "$@"; cp -r results whole; exit 0"""
    completes(fresh, mounted(script))
    full = (fresh / "full.log").read_text(encoding="utf-8")
    assert (fresh / "full.exit").read_text() != "0\n", full
    assert "No space left on device" in full
    lines = [line for line in full.splitlines() if " failed: " in line]
    message = re.compile(r".* failed: .*results/\S+: cannot be written: No space left on device")
    assert all(message.fullmatch(line) for line in lines), lines
    has_tables = (copy_of_full / "results/made-up/table-4.csv").exists()
    assert lines or not has_tables
    undisturbed.check_nothing_is_half_written(copy_of_full)
    assert temporaries(copy_of_full) == []
    shutil.rmtree(results)
    (fresh / "whole").rename(results)
    undisturbed.check(fresh)


@slow
@needs_mounts
def test_results_that_may_only_be_read(fresh):
    (fresh / "results").mkdir()
    script = "mount --bind results results; mount -o remount,ro,bind results"
    assert "Read-only file system" in fails(fresh, mounted(script))
    assert list((fresh / "results").iterdir()) == []


# --- clocks, folders, environments, and two runs at a time --------------------------------------


@slow
def test_a_second_run_in_the_same_folder_is_refused_and_the_first_completes(undisturbed, fresh):
    running = Running(fresh, command())
    while not any((fresh / ".snakemake/locks").glob("*")):
        assert running.is_running()
        time.sleep(0.05)
    assert "Directory cannot be locked" in fails(fresh)
    ended = running.finish()
    assert ended.code == 0, ended.output
    undisturbed.check(fresh)


FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


@slow
@pytest.mark.skipif(
    FAKETIME is None, reason="no libfaketime here (Debian: apt-get install libfaketime)"
)
def test_a_clock_that_is_behind_the_files(undisturbed, fresh):
    """Results would seem to be older than what they are made of, so snakemake takes none."""
    clock = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "-400d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    ended = run(fresh, env=os.environ | clock)
    assert ended.code != 0
    assert "Output results/made-up/split.npz has older modification time" in ended.output
    assert contents(fresh) == {}
    completes(fresh)
    undisturbed.check(fresh)


@slow
@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_set_between_two_runs_leaves_nothing_stale(undisturbed, tmp_path, days):
    fresh = undisturbed.pristine.copy(tmp_path / "fresh").folder
    folder = undisturbed.finished.copy(tmp_path / "project").folder
    file_time = time.time() + days * 86400
    for path in (folder / "results").rglob("*"):
        os.utime(path, (file_time, file_time))
    for project in (fresh, folder):
        archive(project / "made-up.zip", ratings(seed=2))
        completes(project)
    assert contents(folder) == contents(fresh) != undisturbed.expected


@slow
@pytest.mark.parametrize("name", ['a folder\'s "odd" näme, 評価 $(touch x)', "-n"])
def test_a_folder_with_an_odd_name(undisturbed, tmp_path, name):
    folder = undisturbed.pristine.copy(tmp_path / name).folder
    completes(folder)
    undisturbed.check(folder)
    assert not list(tmp_path.rglob("x"))


POSIX = {
    "LC_ALL": "",
    "LC_CTYPE": "",
    "LANG": "POSIX",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


@pytest.mark.parametrize(
    ("name", "env", "says"),
    [
        ("{mine}", {}, "{mine}: a folder with { or } in its name"),
        pytest.param("mine", POSIX, "say export PYTHONUTF8=1", marks=slow),
    ],
)
def test_a_folder_or_an_encoding_that_snakemake_cannot_take(fresh, tmp_path, name, env, says):
    folder = fresh.rename(tmp_path / name)
    output = fails(folder, env=os.environ | env)
    [line] = [line for line in output.splitlines() if re.search(r"^error: | failed: ", line)]
    assert says in line
    assert contents(folder) == {}


NOWHERE = "/proc/nowhere"  # is not there, and nobody can make it, root included


@slow
@pytest.mark.parametrize(
    ("lacks", "more"),
    [
        pytest.param(r"HOME", {}, id="no HOME"),
        pytest.param(
            r"",
            {"HOME": NOWHERE, "TMPDIR": NOWHERE},
            id="no HOME nor TMPDIR that can be made",
        ),
        # other routines of BLAS give other bytes, so what chooses them stays
        pytest.param(r"(?!PATH$|OPENBLAS_).*", {}, id="no environment but PATH"),
    ],
)
def test_an_environment_that_lacks_something(undisturbed, fresh, lacks, more):
    env = {name: value for name, value in os.environ.items() if not re.fullmatch(lacks, name)}
    completes(fresh, env=env | more)
    undisturbed.check(fresh)
