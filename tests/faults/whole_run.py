"""Whole runs of the workflow, on a small study that goes through every stage, and what they leave."""

import base64
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from made_up_project import Project, X, copy_of_project

TARGETS = tuple(
    f"results/{name}"
    for name in ("made-up/table-3.csv", "made-up/table-4.csv", "made-up/figure-5.csv", "toy/table-1.csv")
)
"""Little to wait for, and every stage: split, train, rank, sample, tables, figures, report."""

STUDY = {
    "recommenders": {"X": X},
    "estimators": ["uncorrected", "cls", "bv-0.1"],
    "sampling": {"negatives": 20, "repetitions": 10},
}

TIMEOUT = 900  # seconds; a machine may be busy
DATA = ("csv", "csv.gz", "npz", "json")  # how the names of files end that later stages read, or people's scripts


@dataclass(frozen=True)
class Ended:
    """A run that has ended: its exit code, and all that it said."""

    returncode: int
    output: str

    @property
    def errors(self) -> list[str]:
        """The lines by which it says what is wrong: with the config, or with a job."""
        return [line for line in self.output.splitlines() if re.search(r"^error: | failed: ", line)]


def command(*arguments: str, cores: int = 2, targets: Sequence[str] = TARGETS) -> list[str]:
    """What a user types."""
    given = ["--cores", str(cores), "--configfile", "study.yaml", *arguments]
    return [sys.executable, "-m", "snakemake", *targets, *given]


class Running:
    """A command in a session of its own, so that it can be killed with all that it starts."""

    def __init__(self, folder: Path, words: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # not a pipe, which fills up while nobody reads
        streams = {"stdin": subprocess.DEVNULL, "stdout": self._output, "stderr": subprocess.STDOUT}
        self._process = subprocess.Popen(words, cwd=folder, env=env, start_new_session=True, **streams)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait_until(self, seconds: float) -> bool:
        """Wait until it has used so much time of the processor; return whether it is still running then."""
        while self.is_running() and (missing := seconds - self._used()) > 0:
            time.sleep(min(missing / 4, 0.1))
        return self.is_running()

    def _used(self) -> float:
        """Return seconds of the processor; those of children that have ended are counted to their parents."""
        total = 0.0
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._process.pid)
            for each in (root, *root.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    times = each.cpu_times()
                    total += times.user + times.system + times.children_user + times.children_system
        return total

    def kill(self) -> None:
        """End it and all that it started, at once: kill -9."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()

    def finish(self) -> Ended:
        """Wait for its end; what takes too long is killed, and fails the test."""
        try:
            self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        with self._output as output:
            output.seek(0)
            return Ended(self._process.returncode, output.read().decode(errors="replace"))


def run(folder: Path, words: Sequence[str] | None = None, env: Mapping[str, str] | None = None) -> Ended:
    """Run a command, the whole small study unless another is given, to its end."""
    return Running(folder, command() if words is None else words, env).finish()


def contents(folder: Path, endings: Sequence[str] = DATA) -> dict[str, bytes]:
    """Return what is in the results of a project, by name; of gzip files what they hold, if they are whole."""
    found = {}
    for path in sorted((folder / "results").rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.name.startswith(".") and name.endswith(tuple(f".{each}" for each in endings)):
            found[name] = path.read_bytes()
            if name.endswith(".gz"):
                found[f"what {name} holds"] = gzip.decompress(found[name])
    return found


def temporaries(folder: Path) -> list[str]:
    """Return the names of files of results that have not got their final name."""
    return sorted(str(path.relative_to(folder)) for path in (folder / "results").rglob(".*") if path.is_file())


def copy(project: Project, folder: Path) -> Project:
    """Copy a project with all that it holds, times of files included."""
    shutil.copytree(project.folder, folder, symlinks=True)
    return Project(folder)


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing disturbed: the project before and after, what it made, and seconds of the processor."""

    pristine: Project
    finished: Project
    expected: Mapping[str, bytes]
    seconds: float

    def check(self, folder: Path) -> None:
        """Assert that a project holds the same, and a whole report."""
        assert contents(folder) == self.expected
        report = (folder / "results/report.html").read_text(encoding="utf-8")
        assert report.rstrip().endswith("</html>")

    def check_nothing_is_half_written(self, folder: Path) -> None:
        """Assert that what is there under a final name is whole, or will be made anew."""
        marks, at = (folder / ".snakemake/incomplete").rglob("*"), folder / ".snakemake/incomplete"
        again = {base64.b64decode(mark.relative_to(at).as_posix()).decode() for mark in marks}
        endings = tuple(f".{each}" for each in DATA)
        for path in (folder / "results").rglob("*"):
            name = str(path.relative_to(folder))
            if name.endswith(endings) and not path.name.startswith(".") and name not in again:
                assert path.read_bytes() == self.expected[name], name


def small_study(folder: Path) -> Project:
    """Return a project with the small study, in which nothing has run."""
    folder.mkdir()
    project = copy_of_project(folder)
    project.configure(**STUDY)
    return project


def undisturbed_run(folder: Path) -> Undisturbed:
    """Run the small study in a folder."""
    project = small_study(folder / "nothing has run")
    ended = run(project.folder, command("--dry-run"))  # compiles what it imports
    assert ended.returncode == 0, ended.output
    finished = copy(project, folder / "undisturbed")
    before = os.times()
    ended = run(finished.folder)
    assert ended.returncode == 0, ended.output
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Undisturbed(project, finished, contents(finished.folder), used)
