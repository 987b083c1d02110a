"""The picture of docs/architecture.md shows the rooms, the files and the imports of today."""

import html
import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_picture_is_of_these_files_and_imports() -> None:
    description = runpy.run_path(str(DOCS / "architecture.py"))["description"]()
    picture = (DOCS / "architecture.svg").read_text(encoding="utf-8")
    [shown] = re.findall(r"<dc:description>(.*?)</dc:description>", picture, re.DOTALL)
    assert html.unescape(shown) == description, "run python docs/architecture.py"


def test_the_page_has_a_line_for_each_room() -> None:
    rooms = set(runpy.run_path(str(DOCS / "architecture.py"))["files"]())
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert rooms - set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == {"the ground"}
