"""The built documentation, or any static site: every page that index.html leads to."""

import os
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from conftest import ROOT, Visit
from readable import wrong_with_page

SITE = Path(os.environ.get("SITE") or ROOT / "docs/_build/html")
MISSING = (
    """fragment => fragment && !document.getElementById(fragment) && !document.getElementsByName(fragment).length"""
)


def test_every_page_that_the_index_leads_to(visit: Visit) -> None:
    index = SITE / "index.html"
    if not index.is_file():
        pytest.skip("docs/_build/html is not there: make docs")
    pending, seen, wrong = [index.resolve()], set(), []
    fragments: dict[Path, dict[str, Path]] = {}
    while pending:
        path = pending.pop(0)
        if path in seen:
            continue
        seen.add(path)
        visit.page.goto(path.as_uri(), wait_until="load")
        wrong += [f"{path.name}: {each}" for each in wrong_with_page(visit.page)]
        for link in visit.page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)"):
            bare, fragment = urldefrag(link)
            if urlsplit(bare).scheme != "file":
                continue
            target = Path(unquote(urlsplit(bare).path))
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{path.name}: leads to {link}, which is not there")
            elif target.suffix == ".html":
                pending.append(target)
                fragments.setdefault(target, {}).setdefault(unquote(fragment), path)
    for target, of_page in fragments.items():
        visit.page.goto(target.as_uri(), wait_until="load")
        wrong += [
            f"{source.name}: leads to {target.name}#{fragment}, which is not there"
            for fragment, source in of_page.items()
            if visit.page.evaluate(MISSING, fragment)
        ]
    assert wrong == []
    visit.assert_clean()
