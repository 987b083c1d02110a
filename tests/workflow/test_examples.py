"""The config files in examples/ are complete, and The walk-through of docs/own-study.md is one of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_project import ROOT, Project, complete_config

NAMES = ["demo", "as-written", "everything", "films", "large", "local-copy", "own-ranks", "paper-from-ranks"]


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_complete_and_allowed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "published"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for archive in ("large.zip", "ml-1m.zip"):
        (tmp_path / archive).touch()
    complete_config(ROOT / f"examples/{name}.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_plans_the_study(project: Project, name: str) -> None:
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    for archive in ("large.zip", "ml-1m.zip"):
        (project.folder / archive).touch()  # a dry run only sees that it is there
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "-n", "--configfile", f"examples/{name}.yaml"]
    environment = os.environ | {"PYTHONPATH": str(project.folder / "src")}
    ran = subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    planned = re.findall(r"^(\w+) +\d+$", ran.stdout.partition("Job stats:")[2], re.MULTILINE)
    assert "tables" in planned
    assert ("train" in planned) == (name not in ("own-ranks", "paper-from-ranks"))
    assert ("download" in planned) == (name in ("demo", "as-written", "everything"))


def test_films_are_those_of_the_guide() -> None:
    text = (ROOT / "docs/own-study.md").read_text(encoding="utf-8")
    config = (ROOT / "examples/films.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{config}```" in text
    assert len(config.splitlines()) <= 8
