"""The gallery does each task in at most five lines. test_pages.py runs them and compares what they print."""

import re
from pathlib import Path

import numpy as np
import pytest
from docs_blocks import DOCS, blocks_of_page, with_outputs

GALLERY = DOCS / "gallery"
PAGES = sorted(path.name for path in GALLERY.glob("*.md") if path.name != "index.md")
NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.mark.parametrize("page", PAGES)
def test_the_task_takes_five_lines(page: str) -> None:
    runs = [block for block in blocks_of_page(f"docs/gallery/{page}") if block.is_run]
    assert runs
    for block in runs:
        assert len([line for line in block.content.splitlines() if line.strip()]) <= 5, block.content
    assert len((GALLERY / page).read_text(encoding="utf-8").splitlines()) <= 40


def test_the_index_lists_every_page_by_its_title() -> None:
    rows = re.findall(r"^\| .+ \| \[(.+)\]\((.+)\) \|$", (GALLERY / "index.md").read_text(encoding="utf-8"), re.M)
    titles = {page: (GALLERY / page).read_text(encoding="utf-8").splitlines()[0] for page in PAGES}
    assert {page: f"# {title}" for title, page in rows} == titles
    assert len(rows) == len(titles)


def test_the_plot_is_the_one_that_the_page_draws(tmp_path: Path) -> None:
    with_outputs((GALLERY / "plot.md").read_text(encoding="utf-8"), tmp_path)
    drawn, shown = ((folder / "differences.svg").read_text(encoding="utf-8") for folder in (tmp_path, GALLERY))
    drawn, shown = (re.sub("<metadata>.*</metadata>", "", each, flags=re.DOTALL) for each in (drawn, shown))
    assert NUMBER.sub("", drawn) == NUMBER.sub("", shown)
    numbers = (np.array(NUMBER.findall(each), dtype=float) for each in (drawn, shown))
    np.testing.assert_allclose(*numbers, atol=0.01)
