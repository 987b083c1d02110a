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


def test_the_changelog_has_the_kinds_that_its_form_knows():
    kinds = set(re.findall(r"^### (.+)", CHANGELOG, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


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
    assert deployed["conda"] == bool(re.search(r"^\s+conda:", rules, re.MULTILINE))
    assert deployed["apptainer"] == bool(re.search(r"^\s*container:", rules, re.MULTILINE))
    assert deployed["report"] == ("report(" in rules)
