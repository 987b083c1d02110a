"""The lists of docs/reference/, which the site is built with, are those of the docstrings and commands of today."""

import re
import runpy

import pytest
from docs_blocks import DOCS, ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst.states import Inliner

import sampled_metrics
from sampled_metrics.data.formats import FORMATS
from sampled_metrics.evaluation.wording import WORDS

REFERENCE = runpy.run_path(str(DOCS / "reference.py"))
PAGES = [path.read_text(encoding="utf-8") for path in [*DOCS.glob("reference/*.md"), DOCS / "adapters.md"]]


def test_every_public_function_and_class_is_listed_with_a_summary() -> None:
    listed = "".join(map(REFERENCE["filled"], PAGES))
    errors = {name for name in sampled_metrics.__all__ if name.endswith("Error")}
    for name in set(sampled_metrics.__all__) - errors - {"__version__"}:
        assert re.search(rf"- ({{py:obj}})?`{name}\b.*: \S", listed), name


def test_the_page_of_the_command_shows_each_option() -> None:
    shown = REFERENCE["filled"]((DOCS / "reference/command.md").read_text(encoding="utf-8"))
    assert set(re.findall(r"^## (\w+)$", shown, re.MULTILINE)) >= {"evaluate", "correct", "compare", "expect", "plan"}
    assert "--relevant-from FLOAT" in shown
    assert shown.count("-h, --help") == shown.count("Usage: ")
    assert "Usage: sampled-metrics correct [OPTIONS] RANKS" in shown


def test_the_page_of_datasets_shows_each_format() -> None:
    shown = REFERENCE["filled"]((DOCS / "reference/datasets.md").read_text(encoding="utf-8"))
    assert re.findall(r"^\| `([a-z0-9-]+)` \|.*\| (?:numbers|text) \|.*\|$", shown, re.MULTILINE) == list(FORMATS)


def test_the_site_shows_labels_as_code_and_not_as_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inliner, "standalone_uri", Inliner.standalone_uri)  # which the settings replace
    runpy.run_path(str(ROOT / "docs/conf.py"))
    page = publish_doctree("Metrics such as recall@10, and https://example.org.")
    assert [node.astext() for node in page.findall(nodes.literal)] == ["recall@10"]
    assert [node["refuri"] for node in page.findall(nodes.reference)] == ["https://example.org"]


def test_the_page_of_findings_has_a_row_for_each_kind() -> None:
    page = (DOCS / "reference/findings.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == sorted(WORDS)
