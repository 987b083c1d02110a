"""The config files in examples/ are complete, and docs/own-study.md walks through one of them."""

import re
import shutil

import pandas as pd
import pytest
from made_up_project import ROOT, complete_config

NAMES = [
    "beauty",
    "demo",
    "as-written",
    "everything",
    "films",
    "large",
    "local-copy",
    "own-ranks",
    "paper-from-ranks",
]
GUIDE = (ROOT / "docs/own-study.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_complete_and_allowed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "published"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for archive in ("large.zip", "ml-1m.zip"):
        (tmp_path / archive).touch()
    complete_config(ROOT / f"examples/{name}.yaml")


def test_the_config_of_the_catalog_is_complete_and_allowed(monkeypatch):
    monkeypatch.chdir(ROOT / ".test")
    assert complete_config(ROOT / ".test/config.yaml")["study"] == ["films"]


def test_films_are_those_of_the_guide():
    assert f"```yaml\n{(ROOT / 'examples/films.yaml').read_text(encoding='utf-8')}```" in GUIDE
    assert "snakemake --cores 2 --configfile examples/films.yaml" in GUIDE


@pytest.mark.slow
def test_films_end_with_the_results_of_the_guide(project):
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    shutil.copy(ROOT / "examples/films.yaml", project.folder / "study.yaml")
    target, *options = re.search(r"^snakemake (\S+/train\.csv.*)$", GUIDE, re.MULTILINE)[1].split()
    for arguments in (["--cores", "2"], [target, *options]):
        ran = project.snakemake(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    films = pd.read_csv(project.folder / "examples/films.csv")
    assert len(pd.read_csv(project.folder / target)) == len(films) - 10
    assert len(pd.read_csv(project.folder / target.replace("train", "held_out"))) == 10
