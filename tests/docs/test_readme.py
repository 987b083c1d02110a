"""What README.md shows is what docs/reproduction/ holds, and its links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize(
    ("page", "blocks"), [("README.md", 1), ("docs/reproduction.md", 8), ("docs/which-estimator.md", 1)]
)
def test_the_tables_are_those_of_the_reproduction(page: str, blocks: int) -> None:
    with_blocks = runpy.run_path(str(ROOT / "docs/publish.py"))["with_blocks"]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("<!-- begin ") == blocks
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
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["estimator", "metric", "value", "low", "high", "standard_error", "bias", "users"]
    assert [line[:2] for line in lines[1:3]] == [["bv-0.1", "recall@10"], ["mle", "recall@10"]]
    assert all(0 < float(low) < float(value) < float(high) < 1 for _, _, value, low, high, *_ in lines[1:3])
