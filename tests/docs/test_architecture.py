"""docs/architecture.md describes the packages of today, and their picture depends on the files alone."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_has_a_line_for_each_package() -> None:
    packages = set(runpy.run_path(str(DOCS / "architecture.py"))["files"]())
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert packages - set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == {"base"}


def test_the_picture_is_the_same_twice(tmp_path: Path) -> None:
    draw = runpy.run_path(str(DOCS / "architecture.py"))["draw"]
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(first)
    draw(second)
    assert first.read_bytes() == second.read_bytes()
    assert ">inference<" in first.read_text(encoding="utf-8")
