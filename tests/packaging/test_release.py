"""What a release says of itself: one version everywhere, and what the workflow catalog reads."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = next(name for name in re.findall(r"^## \[(.+?)\]", CHANGELOG, re.MULTILINE) if name != "Unreleased")
    assert PROJECT["version"] == str(citation["version"]) == newest


def test_the_licence_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["license"] == citation["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


def test_the_catalog_reads_how_the_workflow_is_deployed():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment"}
    deployed = usage["software-stack-deployment"]
    assert set(deployed) == {"conda", "apptainer", "apptainer+conda", "report"}
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk"))
    # nothing here has solved envs/environment.yaml; tests/workflow/test_conda.py has a stand-in for conda
    assert not deployed["conda"]
    assert deployed["apptainer"] == bool(re.search(r"^\s*container:", rules, re.MULTILINE))
    assert deployed["report"] == ("report(" in rules)


def test_the_conda_recipe_needs_what_the_project_needs():
    recipe = yaml.safe_load((ROOT / "envs/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == PROJECT["version"]
    needed = [each for each in recipe["requirements"]["run"] if not each.startswith("python ")]
    assert [each.replace(" ", "") for each in needed] == PROJECT["dependencies"]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in PROJECT["scripts"].items()]


def test_a_release_is_tested_and_published_without_a_stored_token():
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    [made] = [step["run"].split()[1:] for step in jobs["build"]["steps"] if step.get("run", "").startswith("make ")]
    assert set(made) <= set(targets)
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert "secrets." not in text


def test_actions_are_pinned_by_digest():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for used in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+", used), (path.name, used)


def test_the_paper_has_what_joss_asks_for():
    """Sections and words as in https://joss.readthedocs.io/en/latest/paper.html, and references that are all cited."""
    text = (ROOT / "docs/paper/paper.md").read_text(encoding="utf-8")
    _, header, body = text.split("---\n", 2)
    assert set(yaml.safe_load(header)) == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    bibliography = (ROOT / "docs/paper/paper.bib").read_text(encoding="utf-8")
    assert set(re.findall(r"@([a-z]+\d{4})", body)) == set(re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE))
    assert re.findall(r"^# (.+)$", body, re.MULTILINE) == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(body.split()) <= 1750
