"""Settings of all tests, and copies of the project: one in which nothing has run, and one in which the study has."""

import os
from pathlib import Path

# before numpy is imported: as many processes run as there are cores
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import pytest
from hypothesis import HealthCheck, settings
from made_up_project import MORE, RANKS, Project, copy_of_project, write_ranks

BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
settings.register_profile("brief", max_examples=20, **BUSY)
settings.register_profile("thorough", max_examples=300, **BUSY)  # --hypothesis-profile thorough
settings.load_profile("brief")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each process whole files, and one of them all tests of a fixture that runs the workflow.

    These come first: they take longest. This is what `--dist loadgroup` goes by.
    """
    shared = ("finished", "undisturbed")
    groups = {item: next((name for name in shared if name in item.fixturenames), item.path.name) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    folders = ("workflow", "faults", "docs")
    items.sort(key=lambda item: (groups[item] not in shared, item.path.parent.name not in folders))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the project in which nothing has run."""
    return copy_of_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the whole study has run, with ready-made ranks beside; tests only look at it, or dry-run."""
    project = copy_of_project(tmp_path_factory.mktemp("a folder with spaces"))
    write_ranks(project.folder / RANKS)
    project.configure(recommenders=MORE)
    ran = project.snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return project
