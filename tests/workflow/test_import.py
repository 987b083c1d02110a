"""The workflow as a module of another one: from a folder, from git, deployed, and twice in one Snakefile."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from made_up_project import DEFAULTS, MORE, RANKS, ROOT, STUDY, Project, copy_of_project, merged

TARGETS = [f"results/made-up/{name}.csv" for name in ("table-3", "table-4", "figure-5")] + ["results/toy/table-1.csv"]
CONFIG = merged(DEFAULTS[1], STUDY) | {"recommenders": MORE}
URL = "https://github.com/owner/sampled-metrics"
MODULE = """
configfile: "config/config.yaml"
module theirs:
    snakefile: {snakefile}
    config: config
use rule * from theirs
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the project with the tag v1."""
    folder = copy_of_project(tmp_path_factory.mktemp("sampled-metrics")).folder
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "--quiet", "-b", "main"], ["add", "."], ["commit", "--quiet", "-m", "All"], ["tag", "v1"]):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


def run(folder: Path, *command: str, repository: Path) -> None:
    """Run a command in a folder; the address of the project on GitHub leads to the repository on this machine."""
    instead = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf", "GIT_CONFIG_VALUE_0": URL}
    environment = os.environ | instead | {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def same_results(folder: Path, finished: Project, targets: list[str] = TARGETS) -> None:
    for each in targets:
        expected = finished.folder / "results" / each.split("results/")[1]
        assert (folder / each).read_bytes() == expected.read_bytes(), each


def prepared(folder: Path, finished: Project, snakefile: str = "") -> None:
    """Write a config, a Snakefile that imports the module, and the study's own files."""
    for name in ("made-up.zip", RANKS):
        shutil.copy(finished.folder / name, folder)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    if snakefile:
        (folder / "Snakefile").write_text(MODULE.format(snakefile=snakefile), encoding="utf-8")


SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]


def test_with_a_prefix_of_the_workflow_that_imports_it(finished: Project, repository: Path, tmp_path: Path) -> None:
    prepared(tmp_path, finished, repr(str(repository / "workflow/Snakefile")))
    with (tmp_path / "Snakefile").open("a", encoding="utf-8") as file:
        file.write('shell.prefix("export OURS=kept; ")\nrule ours:\n    output: "ours.txt"\n')
        file.write('    shell: "echo $OURS > {output}"\n')
    imported = "results/made-up/ranks/elsewhere.csv.gz"
    run(tmp_path, *SNAKEMAKE, imported, "ours.txt", repository=repository)
    assert (tmp_path / "ours.txt").read_text(encoding="utf-8") == "kept\n"
    same_results(tmp_path, finished, [imported])


def test_the_config_that_snakedeploy_copies_is_that_of_the_study() -> None:
    assert (ROOT / "config/config.yaml").read_bytes() == (ROOT / "config.yaml").read_bytes()


@pytest.mark.slow
def test_by_its_address_from_another_folder(finished: Project, repository: Path, tmp_path: Path) -> None:
    prepared(tmp_path, finished)
    command = [*SNAKEMAKE, "-s", str(repository / "Snakefile"), *TARGETS, "--configfile", "config/config.yaml"]
    run(tmp_path, *command, repository=repository)
    same_results(tmp_path, finished)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="snakedeploy needs Python 3.11 or 3.12")
def test_deployed(finished: Project, repository: Path, tmp_path: Path) -> None:
    deploy = [str(Path(sys.executable).with_name("snakedeploy")), "deploy-workflow", URL, ".", "--tag", "v1"]
    run(tmp_path, *deploy, repository=repository)
    assert yaml.safe_load((tmp_path / "config/config.yaml").read_text(encoding="utf-8")) == DEFAULTS[1]
    prepared(tmp_path, finished)
    run(tmp_path, *SNAKEMAKE, *TARGETS, repository=repository)
    same_results(tmp_path, finished)


@pytest.mark.slow
def test_two_modules_with_their_own_configs(finished: Project, repository: Path, tmp_path: Path) -> None:
    prepared(tmp_path, finished)
    module = f"""
module NAME:
    snakefile: {str(ROOT / "workflow/Snakefile")!r}
    config: config | CHANGE
    prefix: "NAME"
use rule * from NAME as NAME_*
"""
    first, second = module.replace("NAME", "first"), module.replace("NAME", "second")
    text = (
        'configfile: "config/config.yaml"\n' + first.replace("CHANGE", "{}") + second.replace("CHANGE", "{'seed': 7}")
    )
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    targets = [f"{name}/{each}" for name in ("first", "second") for each in TARGETS]
    run(tmp_path, *SNAKEMAKE, *targets, "first/results/provenance.json", repository=repository)
    same_results(tmp_path, finished, targets[:4])
    stated = json.loads((tmp_path / "first/results/provenance.json").read_text(encoding="utf-8"))
    assert "first/results/made-up/ranks/X.csv.gz" in stated["data"]["made-up"]
    assert (tmp_path / targets[4]).read_bytes() != (tmp_path / targets[0]).read_bytes()  # another seed


def test_a_config_without_recommenders_is_refused_in_a_line(repository: Path, tmp_path: Path) -> None:
    address = str(repository / "workflow/Snakefile")
    text = f"module theirs:\n    snakefile: {address!r}\n    config: {{'study': ['ml-1m']}}\nuse rule * from theirs\n"
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run([*SNAKEMAKE, "-n"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    said = ran.stdout + ran.stderr
    assert "error: config: (top level): lacks the key 'recommenders'" in said.splitlines()
    assert "Traceback" not in said
