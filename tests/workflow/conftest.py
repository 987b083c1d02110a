"""Copies of the project: one in which nothing has run, and one in which the whole study has."""

from pathlib import Path

import pytest
from made_up_project import ROOT, Project, archive, copy_of_project, ratings

__all__ = ["ROOT", "Project", "archive", "copy_of_project", "ratings"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy, in which nothing has run."""
    return copy_of_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the whole study has run; tests only look at it, or dry-run."""
    project = copy_of_project(tmp_path_factory.mktemp("a folder with spaces"))
    ran = project.snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return project
