"""The workflow as a module of another one: from a folder, from git, deployed, and twice in one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from made_up_project import DEFAULTS, MORE, RANKS, ROOT, STUDY, copy_of_project, merged

TARGETS = [f"results/made-up/{name}.csv" for name in ("table-3", "table-4", "figure-5")] + [
    "results/toy/table-1.csv"
]
CONFIG = merged(DEFAULTS[1], STUDY) | {"recommenders": MORE}
URL = "https://github.com/owner/sampled-metrics"
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]
MODULE = f"""
module {{name}}:
    snakefile: {str(ROOT / "workflow/Snakefile")!r}
    config: {{config}}
    prefix: "{{name}}"
use rule * from {{name}} as {{name}}_*
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository of the project with the tag v1."""
    folder = copy_of_project(tmp_path_factory.mktemp("sampled-metrics")).folder
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (
        ["init", "--quiet", "-b", "main"],
        ["add", "."],
        ["commit", "--quiet", "-m", "All"],
        ["tag", "v1"],
    ):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


def run(folder, *command, repository=""):
    """Run a command in a folder.

    The address of the project on GitHub leads to the repository on this machine.
    """
    environment = os.environ | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": URL,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.fixture
def folder(finished, tmp_path):
    """A folder with the study's own files and its config."""
    for name in ("made-up.zip", RANKS):
        shutil.copy(finished.folder / name, tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    return tmp_path


def require_results(ran, folder, finished, targets):
    """Require that a run made the results of the finished study."""
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for target in targets:
        expected = finished.folder / "results" / target.split("results/")[1]
        assert (folder / target).read_bytes() == expected.read_bytes(), target


@pytest.mark.slow
def test_with_a_prefix_of_the_workflow_that_imports_it(finished, folder):
    (folder / "Snakefile").write_text(
        f"""
configfile: "config/config.yaml"
module theirs:
    snakefile: {str(ROOT / "workflow/Snakefile")!r}
    config: config
use rule * from theirs
shell.prefix("export OURS=kept; ")
rule ours:
    output: "ours.txt"
    shell: "echo $OURS > {{output}}"
""",
        encoding="utf-8",
    )
    imported = "results/made-up/ranks/elsewhere.csv.gz"
    require_results(run(folder, *SNAKEMAKE, imported, "ours.txt"), folder, finished, [imported])
    assert (folder / "ours.txt").read_text(encoding="utf-8") == "kept\n"


@pytest.mark.slow
def test_by_its_address_from_another_folder(finished, repository, folder):
    address = ["-s", str(repository / "Snakefile"), "--configfile", "config/config.yaml"]
    require_results(run(folder, *SNAKEMAKE, *TARGETS, *address), folder, finished, TARGETS)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="snakedeploy needs Python 3.11 or 3.12")
def test_deployed(finished, repository, folder):
    ours = (folder / "config").rename(folder / "ours")
    deploy = [
        str(Path(sys.executable).with_name("snakedeploy")),
        "deploy-workflow",
        URL,
        ".",
        "--tag",
        "v1",
    ]
    ran = run(folder, *deploy, repository=repository)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # snakedeploy leaves an empty file for the config
    (ours / "config.yaml").replace(folder / "config/config.yaml")
    require_results(
        run(folder, *SNAKEMAKE, *TARGETS, repository=repository), folder, finished, TARGETS
    )


@pytest.mark.slow
def test_two_modules_with_their_own_configs(finished, folder):
    text = 'configfile: "config/config.yaml"\n'
    for name, config in (("first", "config"), ("second", "config | {'seed': 7}")):
        text += MODULE.format(name=name, config=config)
    (folder / "Snakefile").write_text(text, encoding="utf-8")
    targets = {name: [f"{name}/{target}" for target in TARGETS] for name in ("first", "second")}
    provenance = "first/results/provenance.json"
    ran = run(folder, *SNAKEMAKE, *targets["first"], *targets["second"], provenance)
    require_results(ran, folder, finished, targets["first"])
    stated = json.loads((folder / provenance).read_text(encoding="utf-8"))
    assert "first/results/made-up/ranks/X.csv.gz" in stated["data"]["made-up"]
    # another seed
    tables = [(folder / name / TARGETS[0]).read_bytes() for name in ("first", "second")]
    assert tables[0] != tables[1]
    # a config without recommenders is refused in a line
    (folder / "Snakefile").write_text(
        MODULE.format(name="theirs", config="{'study': ['ml-1m']}"), encoding="utf-8"
    )
    ran = run(folder, *SNAKEMAKE, "-n")
    assert ran.returncode != 0
    said = ran.stdout + ran.stderr
    assert "error: config: (top level): 'recommenders' is a required property" in said.splitlines()
    assert "Traceback" not in said
