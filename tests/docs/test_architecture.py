"""docs/architecture.md describes the packages of today, and so does their picture."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_has_a_line_for_each_package() -> None:
    packages = set(runpy.run_path(str(DOCS / "architecture.py"))["files"]())
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert packages - set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == {"base"}


def test_the_picture_names_the_packages(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "architecture.py"))["draw"](tmp_path / "drawn.svg")
    assert ">inference<" in (tmp_path / "drawn.svg").read_text(encoding="utf-8")
