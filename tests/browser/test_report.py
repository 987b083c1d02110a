"""results/report.html as a reader goes through it: every category, figure, table and caption."""

import re
from collections.abc import Iterator

import pytest
from conftest import Visit
from playwright.sync_api import Locator, TimeoutError, expect
from readable import wrong_with_page, wrong_with_tables
from test_built_pages import REPORT

SHOWN = "JSON.stringify([app.state.navbarMode, app.state.resultPath, app.state.content])"
HELD = "Object.entries(categories).map(([name, parts]) => [name, Object.values(parts).flat().length])"


@pytest.fixture
def report(visit: Visit) -> Visit:
    visit.open(REPORT, made_by="make demo")
    return visit


def categories(report: Visit) -> dict[str, int]:
    """The report's categories, and how many results each holds by the report's own data."""
    return dict(report.page.evaluate(HELD))


def menu(report: Visit, name: str) -> Locator:
    return report.page.locator("nav li a").filter(has=report.page.get_by_text(name, exact=True))


def listed(report: Visit, icon: str, choice: int) -> Locator:
    """The icons of a category's results; where a switch chooses between results, after the choice."""
    if choice:
        report.page.locator("nav fieldset label").nth(choice).click()
    return report.page.locator(f"nav tbody a[iconname={icon}]")


def click(report: Visit, target: Locator) -> None:
    """Click, and again where the page did not change: on a busy machine it is laid out anew below the pointer."""
    before = report.page.evaluate(SHOWN)
    for _ in range(3):
        target.click()
        try:
            report.page.wait_for_function(f"before => {SHOWN} !== before", arg=before, timeout=5_000)
        except TimeoutError:
            continue
        return
    raise AssertionError(f"three clicks changed nothing: {target}")


def each_result(report: Visit, icon: str) -> Iterator[str]:
    """Click on the icon of every result of every category, and say of which."""
    for name, held in categories(report).items():
        menu(report, name).click()
        expect(listed(report, icon, 0).first).to_be_visible()
        choices = max(1, report.page.locator("nav fieldset label").count())
        seen = 0
        for choice in range(choices):
            for place in range(listed(report, icon, choice).count()):
                click(report, listed(report, icon, choice).nth(place))
                seen += 1
                yield f"{name}, result {seen} of {held}"
                report.page.locator("nav ol a").get_by_text(name, exact=True).click()
                expect(listed(report, icon, 0).first).to_be_visible()
        assert seen == held, name
        report.page.locator("nav ol a").first.click()  # home


def test_it_opens_with_its_description_its_plan_and_its_categories(report: Visit) -> None:
    expect(report.page.locator(".document")).to_contain_text("On Sampled Metrics for Item Recommendation")
    expect(report.page.locator("#rulegraph canvas")).to_be_visible()
    expect(report.page.locator("#loading-screen")).to_be_hidden()
    entries = report.page.locator("nav li a").all_inner_texts()
    assert next(name for name in entries if name in categories(report)) == "(start here)"
    assert {"running example", "comparison with the paper"} < set(categories(report))
    assert min(categories(report).values()) > 0
    report.assert_clean()


def test_every_result_is_shown_and_can_be_read(report: Visit) -> None:
    tables, figures = 0, 0
    for name in each_result(report, "eye"):
        report.page.locator("nav h1 a[type=button]").click()  # close the navigation, as one does on a phone
        report.page.wait_for_function("document.querySelector('nav').getBoundingClientRect().width < 1")
        content = report.page.locator("iframe, div.p-3 > img")
        expect(content).to_have_count(1)
        frame = content.element_handle().content_frame()
        if frame is not None:
            frame.wait_for_selector("table")
            tables += 1
            assert [*wrong_with_page(frame), *wrong_with_tables(frame)] == [], name
        else:
            figures += 1
            assert wrong_with_page(report.page) == [], name
            drawn = content.bounding_box()
            assert drawn is not None
            assert drawn["width"] > 300, name
            assert drawn["height"] > 100, name
        report.page.locator("div.fixed a[type=button]").click()
        report.page.wait_for_function("document.querySelector('nav').getBoundingClientRect().width > 100")
    assert min(tables, figures) >= 4
    report.assert_clean()


def test_every_result_has_a_caption(report: Visit) -> None:
    for name in each_result(report, "information-circle"):
        caption = report.page.locator("nav li").filter(has_text=re.compile("^Description$")).locator("+ li")
        expect(caption).to_be_visible()
        assert len(caption.inner_text()) > 40, name
    report.assert_clean()
