"""Figures of a page are on white boxes of their own size, also in dark mode."""

import pytest
from conftest import ROOT

STYLE = (ROOT / "src/sampled_metrics/reporting/templates/style.css").read_text(encoding="utf-8")
DRAWN = "<svg width='200' height='90' viewBox='0 0 200 90'><rect width='200' height='90'/></svg>"
EMPTY = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>'
IMAGE = f"<img src='{EMPTY}' style='--natural: 200px; height: 90px'>"
BODIES = {
    "answer": f"<p>Text.</p><figure>{DRAWN}</figure>",
    "wide": f"<figure>{IMAGE}</figure>",
}


@pytest.mark.parametrize("visit", ["desktop"], indirect=True)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", BODIES)
def test_a_white_box_is_hardly_wider_than_its_figure(visit, scheme, kind):
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_content(
        f"<!doctype html><style>{STYLE}</style><body><div class={kind}>{BODIES[kind]}</div></body>"
    )
    box = visit.page.locator("figure").bounding_box()
    assert 200 <= box["width"] <= 220
