"""What README.md shows is what docs/reproduction/ holds, and its links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_tables_are_those_of_the_reproduction() -> None:
    with_blocks = runpy.run_path(str(ROOT / "docs/publish.py"))["with_blocks"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- begin ") == 8
    assert with_blocks(text) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    gone = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert gone == []


def test_the_library_snippet_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [snippet] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(snippet, "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    # seven of ten sampled ranks are at most 10; they sum to 169, so that AUC is (101 - 16.9) / 100 = .841
    assert lines[0].split() == ["uncorrected", "[0.7", "0.841]"]
    assert [line.split()[0] for line in lines[1:]] == ["bv-0.1", "mle"]
