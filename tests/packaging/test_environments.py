"""The two ways to get the environment state the same versions, and all that pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "envs/requirements.lock").read_text()
BROWSER_LOCK = (ROOT / "envs/browser.lock").read_text()
SLURM_LOCK = (ROOT / "envs/slurm.lock").read_text()
AUDIT_LOCK = (ROOT / "envs/audit.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"matplotlib-base": "matplotlib"}
EXTRAS = PROJECT["optional-dependencies"]
NEEDED = [Requirement(text) for text in [*PROJECT["dependencies"], *EXTRAS["workflow"], *EXTRAS["parquet"]]]


def conda_versions():
    found = {}
    for line in yaml.safe_load((ROOT / "envs/environment.yaml").read_text())["dependencies"]:
        if line == "pip":  # it installs the library
            continue
        name, version = line.split(" ", 1)
        found[CONDA_NAMES.get(name, name)] = version.removeprefix("=")
    return found


def locked_versions(lock=LOCK):
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, flags=re.MULTILINE)
    }


def test_conda_states_the_locked_versions():
    of_conda = conda_versions()
    del of_conda["python"]
    assert of_conda
    locked = locked_versions()
    assert of_conda == {name: locked.get(name) for name in of_conda}


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda requirement: requirement.name)
def test_what_the_project_needs_is_in_both_in_a_version_that_it_allows(requirement):
    name = canonicalize_name(requirement.name)
    for versions in (locked_versions(), conda_versions()):
        assert name in versions
        assert requirement.specifier.contains(versions[name])


def test_conda_has_nothing_that_the_project_does_not_need():
    assert set(conda_versions()) - {"python"} == {canonicalize_name(each.name) for each in NEEDED}


def test_what_slurm_needs_goes_with_the_rest():
    of_slurm, rest = locked_versions(SLURM_LOCK), locked_versions()
    assert "snakemake-executor-plugin-slurm" in of_slurm
    assert {name: rest[name] for name in of_slurm if name in rest} == {
        name: version for name, version in of_slurm.items() if name in rest
    }


@pytest.mark.parametrize(
    "lock", [LOCK, BROWSER_LOCK, SLURM_LOCK, AUDIT_LOCK], ids=["requirements", "browser", "slurm", "audit"]
)
def test_a_lock_names_no_host(lock):
    for word in ("http", "--index-url", "--extra-index-url", "--find-links", "--trusted-host", " @ "):
        assert word not in lock


@pytest.mark.parametrize(
    ("lock", "least"),
    [(LOCK, len(NEEDED) + 1), (BROWSER_LOCK, 1), (SLURM_LOCK, 1), (AUDIT_LOCK, 10)],
    ids=["requirements", "browser", "slurm", "audit"],
)
def test_every_locked_package_has_a_hash(lock, least):
    entries = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)
    packages = [entry for entry in entries if re.match(r"[A-Za-z0-9._-]+==", entry)]
    assert len(packages) == len(locked_versions(lock)) >= least
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in packages)
