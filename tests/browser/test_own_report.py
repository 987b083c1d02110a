"""The page of `sampled-metrics report`, exact and sampled, as wide as a phone, a desktop and on paper."""

from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT, Visit
from readable import wrong_with_page, wrong_with_tables

import sampled_metrics as sm

SMALLEST = 9  # px, of the text of a figure as it is shown

TEXTS = """() => [...document.querySelectorAll("svg text")].map(text => {
  const box = text.getBoundingClientRect(), room = text.closest("svg").getBoundingClientRect();
  const scale = room.width / text.closest("svg").viewBox.baseVal.width;
  return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * scale,
          box.left >= room.left - 2 && box.right <= room.right + 2 && box.width > 0];
})"""


def exact() -> str:
    ranks = {name: sm.exact_ranks(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XZ"}
    return sm.report(ranks, metrics=["recall@10", "auc"])


def sampled() -> str:
    ranks = {f"{name} with a longer name": pd.read_csv(ROOT / f"docs/examples/{name}.csv")[::20] for name in "xz"}
    tables = sm.sampled_ranks(ranks, negatives=100, candidates=3541)
    return sm.report(tables, metrics="recall@10")


@pytest.fixture(scope="module", params=[exact, sampled])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(request.param(), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [375, None])
def test_can_be_read(visit: Visit, page: Path, width: int | None) -> None:
    if width:
        visit.page.set_viewport_size({"width": width, "height": 800})
    visit.page.goto(page.as_uri(), wait_until="load")
    assert [*wrong_with_page(visit.page), *wrong_with_tables(visit.page)] == []
    texts = visit.page.evaluate(TEXTS)
    assert len(texts) > 30
    assert [(text, size) for text, size, _ in texts if size < SMALLEST] == []
    assert [text for text, _, inside in texts if not inside] == []
    visit.assert_clean()


def test_fits_a_sheet_of_paper(visit: Visit, page: Path) -> None:
    visit.page.set_viewport_size({"width": 718, "height": 1047})  # A4 with margins of a centimetre, at 96 dpi
    visit.page.emulate_media(media="print")
    visit.page.goto(page.as_uri(), wait_until="load")
    assert wrong_with_page(visit.page) == []
    boxes = "() => [...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth)"
    assert max(visit.page.evaluate(boxes)) <= 0
