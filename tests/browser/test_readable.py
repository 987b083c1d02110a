"""The checks see what they are for: each page here has one thing wrong with it."""

import pytest
from readable import wrong_with_page, wrong_with_tables

PHONE = pytest.mark.parametrize("visit", ["phone"], indirect=True)
LONG = "<td>" + "0123456789 " * 30 + "</td>"


@PHONE
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<div style='width: 900px'>wide</div>", "DIV. reaches"),
        ("<img src='data:image/png;base64,AAAA'>", "data:image/png"),
        ("<table><tr><th>a<td style='font-size: 9px'>1</table>", "letters of 9px"),
        ("<table><tr><td style='height: 500px'>1</table>", "px high"),
        ("<table style='table-layout: fixed; width: 20px'><tr><td>several</table>", "cut off"),
        (
            "<div class=scroll style='overflow-x: auto'><table "
            f"class=one-line><tr><th>a{LONG}</table></div>",
            "sight",
        ),
    ],
)
def test_what_is_wrong_is_said(visit, body, message):
    visit.page.set_content(
        f"<!doctype html><style>.one-line {{ white-space: nowrap }}</style><body>{body}</body>"
    )
    messages = [*wrong_with_page(visit.page), *wrong_with_tables(visit.page)]
    assert message in " ".join(messages)


@PHONE
def test_errors_and_requests_to_the_outside_are_noticed(visit):
    visit.page.set_content(
        "<!doctype html><script>undefinedName()</script><img src='https://example.org/x.png'>"
    )
    visit.page.wait_for_timeout(200)
    assert visit.outside == ["https://example.org/x.png"]
    assert any("undefinedName" in error for error in visit.errors)
    assert visit.failed
