"""The built documentation, the summary of a study, and the page of a report can be read."""

import os
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pandas as pd
import pytest
from conftest import ROOT
from readable import wrong_with_page, wrong_with_tables

import sampled_metrics as sm

SITE = Path(os.environ.get("SITE") or ROOT / "docs/_build/html")
REPORT = Path(os.environ.get("REPORT") or ROOT / "results/report.html")
SMALLEST = 9  # px, of the text of a figure as it is shown
MISSING = (
    "name => name && !document.getElementById(name) && !document.getElementsByName(name).length"
)
TEXTS = """() => [...document.querySelectorAll("svg text")].map(text => {
  const box = text.getBoundingClientRect(), room = text.closest("svg").getBoundingClientRect();
  const scale = room.width / text.closest("svg").viewBox.baseVal.width;
  return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * scale,
          box.left >= room.left - 2 && box.right <= room.right + 2 && box.width > 0];
})"""
HIDDEN = (
    "() => Math.max(...[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - "
    "box.clientWidth))"
)


def test_every_page_that_the_index_leads_to(visit):
    visit.open(SITE / "index.html", made_by="make docs")
    pending = [(SITE / "index.html").resolve()]
    wrong = []
    fragments = {pending[0]: {}}
    for path in pending:
        visit.open(path)
        wrong += [f"{path.name}: {fault}" for fault in wrong_with_page(visit.page)]
        for link in visit.page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)"):
            bare, fragment = urldefrag(link)
            if urlsplit(bare).scheme != "file":
                continue
            target = Path(unquote(urlsplit(bare).path))
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{path.name}: leads to {link}, which is not there")
            elif target.suffix == ".html":
                if target not in fragments:
                    pending.append(target)
                fragments.setdefault(target, {}).setdefault(unquote(fragment), path)
    for target, source_by_fragment in fragments.items():
        visit.open(target)
        wrong += [
            f"{source.name}: leads to {target.name}#{fragment}, which is not there"
            for fragment, source in source_by_fragment.items()
            if visit.page.evaluate(MISSING, fragment)
        ]
    assert wrong == []
    visit.assert_clean()


def test_the_summary_can_be_read(visit):
    visit.open(REPORT.with_name("summary.html"), made_by="make demo")
    assert [*wrong_with_page(visit.page), *wrong_with_tables(visit.page)] == []
    visit.as_printed()
    assert wrong_with_page(visit.page) == []
    visit.assert_clean()


def exact():
    ranks = {name: sm.exact_ranks(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XZ"}
    return sm.report(ranks, metrics=["recall@10", "auc"])


def sampled():
    ranks = {
        f"{name} with a longer name": pd.read_csv(ROOT / f"docs/examples/{name}.csv")[::20]
        for name in "xz"
    }
    return sm.report(sm.sampled_ranks(ranks, negatives=100, candidates=3541), metrics="recall@10")


@pytest.fixture(scope="module", params=[exact, sampled])
def page_of_command(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(request.param(), encoding="utf-8")
    return path


def test_the_page_of_the_command_can_be_read_and_fits_a_sheet_of_paper(visit, page_of_command):
    visit.open(page_of_command)
    assert [*wrong_with_page(visit.page), *wrong_with_tables(visit.page)] == []
    texts = visit.page.evaluate(TEXTS)
    assert len(texts) > 30
    assert [text for text, size, inside in texts if size < SMALLEST or not inside] == []
    visit.as_printed()
    assert wrong_with_page(visit.page) == []
    assert visit.page.evaluate(HIDDEN) <= 0
    visit.assert_clean()
