"""What a release says of itself.

It has one version and licence everywhere, and one environment, however it is made.
"""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text_of("pyproject.toml"))["project"]
LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "envs").glob("*.lock")}
EXTRAS = PROJECT["optional-dependencies"]


def test_the_version_and_the_licence_are_the_same_everywhere():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    newest = re.findall(r"^## \[(?!Unreleased)(.+?)\]", text_of("CHANGELOG.md"), re.MULTILINE)[0]
    assert PROJECT["version"] == str(citation["version"]) == newest
    assert PROJECT["license"] == citation["license"] == "MIT"
    assert text_of("LICENSE").startswith("MIT License")


def test_a_release_is_tested_and_published_without_a_stored_token_by_pinned_actions():
    text = text_of(".github/workflows/release.yml")
    jobs = yaml.safe_load(text)["jobs"]
    [made] = [
        step["run"].split()[1:]
        for step in jobs["build"]["steps"]
        if step.get("run", "").startswith("make ")
    ]
    assert set(made) <= set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert (jobs["publish"]["permissions"], jobs["publish"]["needs"]) == (
        {"id-token": "write"},
        "build",
    )
    assert "secrets." not in text
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for used in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+", used), (path.name, used)


# --- environments -------------------------------------------------------------------------------


def locked(lock="requirements"):
    versions = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCKS[lock], flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in versions}


def test_conda_and_the_locks_have_what_the_project_needs_in_one_version_that_it_allows():
    dependencies = yaml.safe_load(text_of("envs/environment.yaml"))["dependencies"]
    lines = [line for line in dependencies if " " in line]
    conda = {name.removesuffix("-base"): version[1:] for name, version in map(str.split, lines)}
    needed = map(Requirement, [*PROJECT["dependencies"], *EXTRAS["workflow"], *EXTRAS["parquet"]])
    allowed = {canonicalize_name(requirement.name): requirement.specifier for requirement in needed}
    lock = locked()
    assert conda == {"python": conda["python"]} | {name: lock[name] for name in allowed}
    for name, specifier in allowed.items():
        assert specifier.contains(conda[name]), name
    slurm = locked("slurm")
    assert "snakemake-executor-plugin-slurm" in slurm
    for name in slurm.keys() & lock.keys():
        assert slurm[name] == lock[name], name


def test_the_lowest_versions_that_are_allowed_are_those_that_are_tested():
    lowest = locked("lowest")
    extras = [line for extra in EXTRAS.values() for line in extra]
    for requirement in map(Requirement, [*PROJECT["dependencies"], *extras]):
        [bound] = requirement.specifier
        assert bound.operator == ">="
        assert Version(lowest[canonicalize_name(requirement.name)]) == Version(bound.version)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_every_package_has_a_hash(lock):
    for word in ("://", "--index-url", "--find-links", "--trusted-host", " @ "):
        assert word not in LOCKS[lock]
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCKS[lock], flags=re.MULTILINE)
    packages = [entry for entry in entries if re.match(r"[A-Za-z0-9._-]+==", entry)]
    assert len(packages) >= len(locked(lock)) >= 1
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in packages)
