"""The two ways to get the environment state the same versions, and all that pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {
    name: (ROOT / f"envs/{name}.lock").read_text(encoding="utf-8")
    for name in ("requirements", "browser", "slurm", "audit", "peers", "adapters", "build")
}
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


def locked_versions(lock="requirements"):
    versions = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCKS[lock], flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in versions}


def test_conda_states_the_locked_versions_of_what_the_project_needs():
    of_conda, locked = conda_versions(), locked_versions()
    del of_conda["python"]
    assert of_conda == {name: locked.get(name) for name in of_conda}
    assert set(of_conda) == {canonicalize_name(requirement.name) for requirement in NEEDED}


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda requirement: requirement.name)
def test_what_the_project_needs_is_in_both_in_a_version_that_it_allows(requirement):
    name = canonicalize_name(requirement.name)
    for versions in (locked_versions(), conda_versions()):
        assert name in versions
        assert requirement.specifier.contains(versions[name])


def test_what_slurm_needs_goes_with_the_rest():
    of_slurm, rest = locked_versions("slurm"), locked_versions()
    assert "snakemake-executor-plugin-slurm" in of_slurm
    shared = of_slurm.keys() & rest.keys()
    assert {name: rest[name] for name in shared} == {name: of_slurm[name] for name in shared}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_every_package_has_a_hash(lock):
    for word in ("http", "--index-url", "--extra-index-url", "--find-links", "--trusted-host", " @ "):
        assert word not in LOCKS[lock]
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCKS[lock], flags=re.MULTILINE)
    packages = [entry for entry in entries if re.match(r"[A-Za-z0-9._-]+==", entry)]
    assert len(packages) >= len(locked_versions(lock)) >= 1
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in packages)
