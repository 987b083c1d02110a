"""Settings of all tests, and copies of the project: one in which nothing has run, and one in which
the study has.
"""

import fcntl
import os
import shutil

# before numpy is imported: as many processes run as there are cores
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import pytest
from hypothesis import HealthCheck, settings
from taken_away import TAKEN_AWAY, skip_what_uses_it

# a busy machine is no failure
BUSY = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
# the same examples in each run
settings.register_profile("brief", max_examples=20, derandomize=True, **BUSY)
settings.register_profile("thorough", max_examples=300, **BUSY)  # --hypothesis-profile thorough
settings.load_profile("brief")
if TAKEN_AWAY.exists():  # a copy without some packages
    skip_what_uses_it()


def pytest_collection_modifyitems(items):
    """Begin with what takes longest, and look at the finished study once it is there, so that no
    process waits.
    """

    lookers = {item.path for item in items if "finished" in item.fixturenames}

    def place(item):
        if item.path.name == "test_run.py":  # makes the finished study
            return 0
        if item.path in lookers:
            return 2
        return 1 if item.path.parent.name in ("workflow", "faults", "docs") else 3

    items.sort(key=place)


@pytest.fixture
def project(tmp_path):
    """A copy of the project in which nothing has run."""
    from made_up_project import copy_of_project  # of the study, which other tests do without

    return copy_of_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """A copy in which the whole study has run, with ready-made ranks beside; tests only look at it,
    or dry-run.

    The processes of pytest-xdist share it.
    """
    from made_up_project import MORE, RANKS, Project, copy_of_project, write_ranks

    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "a folder with spaces"
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            project = copy_of_project(folder)
            write_ranks(folder / RANKS)
            project.configure(recommenders=MORE)
            ran = project.snakemake("--cores", "2")
            assert ran.returncode == 0, ran.stdout + ran.stderr
            done.touch()
    return Project(folder)
