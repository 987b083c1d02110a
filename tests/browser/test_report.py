"""results/report.html: it opens, shows a result on a click, and every result can be read."""

import base64

import pytest
from playwright.sync_api import expect
from readable import wrong_with_page, wrong_with_tables
from test_built_pages import REPORT

RESULTS = "Object.entries(results).map(([path, result]) => [path, result.caption, result.data_uri])"
LISTED_PATHS = "Object.values(categories).flatMap(parts => Object.values(parts).flat())"
SIZE = (
    "() => { const box = document.images[0].getBoundingClientRect(); return [box.width, "
    "box.height]; }"
)


@pytest.fixture
def report(visit):
    visit.open(REPORT, made_by="make demo")
    return visit


def test_it_opens_with_its_description_its_plan_and_its_categories_and_shows_a_result(
    report,
):
    page = report.page
    expect(page.locator(".document")).to_contain_text("On Sampled Metrics for Item Recommendation")
    expect(page.locator("#rulegraph canvas")).to_be_visible()
    expect(page.locator("#loading-screen")).to_be_hidden()
    categories = set(page.evaluate("Object.keys(categories)"))
    assert {"running example", "comparison with the paper"} < categories
    names = [name for name in page.locator("nav li a").all_inner_texts() if name in categories]
    assert names[0] == "(start here)"
    assert set(names) == categories
    page.locator("nav li a").filter(has=page.get_by_text(names[0], exact=True)).click()
    page.locator("nav tbody a[iconname=eye]").first.click()
    expect(page.locator("iframe, div.p-3 > img")).to_have_count(1)
    report.assert_clean()


def test_every_result_is_listed_can_be_read_and_has_a_caption(report):
    results = report.page.evaluate(RESULTS)
    paths = [path for path, *_ in results]
    assert sorted(report.page.evaluate(LISTED_PATHS)) == sorted(paths)
    assert sum(path.endswith(".html") for path in paths) >= 4
    assert sum(path.endswith(".svg") for path in paths) >= 4
    for path, caption, uri in results:
        assert len(caption) > 40, path
        if path.endswith(".html"):
            report.page.set_content(base64.b64decode(uri.partition("base64,")[2]).decode())
            assert [*wrong_with_page(report.page), *wrong_with_tables(report.page)] == [], path
        else:
            report.page.set_content(f"<!doctype html><img src='{uri}' style='max-width: 100%'>")
            assert wrong_with_page(report.page) == [], path
            width, height = report.page.evaluate(SIZE)
            assert width > 300, path
            assert height > 100, path
    report.assert_clean()
