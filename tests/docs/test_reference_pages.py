"""The lists at the top of the pages of docs/reference/ are those of the docstrings of today."""

import re
import runpy
from pathlib import Path

import pytest
from docs_blocks import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst.states import Inliner

import sampled_metrics
from sampled_metrics.ranking import rank

REFERENCE = runpy.run_path(str(ROOT / "docs/reference.py"))


@pytest.mark.parametrize("page", REFERENCE["PAGES"], ids=lambda page: page.stem)
def test_the_list_is_of_these_docstrings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert REFERENCE["with_names"](text) == text, "run python docs/reference.py"
    assert re.findall(r"^- \[`(.+?)`\]\(.+?\): \S", text, re.MULTILINE) == [
        name for _, name in REFERENCE["DIRECTIVE"].findall(text)
    ]


def test_every_public_function_and_class_is_listed() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE["PAGES"])
    errors = {name for name in sampled_metrics.__all__ if name.endswith("Error")}
    for name in set(sampled_metrics.__all__) - errors - {"__version__"}:
        assert re.search(rf"- \[?`{name}`", text), name


def test_a_summary_is_the_first_sentence() -> None:
    documented = dict(REFERENCE["documented"](Path(rank.__file__)))
    assert documented[""] == "Exact ranks of held-out items by the scores of any model."
    assert documented["rank"] == "Rank the held-out items of users among all candidates, by the scores of a model."
    assert documented["ScoresLike"].startswith("Accepted forms of scores: (users, items) dense or sparse, a tuple of ")
    assert "_factors" not in documented


def test_the_site_shows_labels_as_code_and_not_as_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inliner, "standalone_uri", Inliner.standalone_uri)  # which the settings replace
    runpy.run_path(str(ROOT / "docs/conf.py"))
    page = publish_doctree("Metrics such as recall@10, and https://example.org.")
    assert [node.astext() for node in page.findall(nodes.literal)] == ["recall@10"]
    assert [node["refuri"] for node in page.findall(nodes.reference)] == ["https://example.org"]
