"""A headless Chromium, Debian's, that records what a page asks for and complains of.

It downloads no browser.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
WIDTHS = {"phone": (390, 844), "desktop": (1280, 900)}
QUIET = [
    f"--disable-{what}"
    for what in ("background-networking", "component-update", "gpu", "quic", "sync")
]
QUIET += ["--no-first-run", "--no-sandbox"]  # as root; the pages are our own


@dataclass
class Visit:
    """A page, what it logged as errors, and what it asked for."""

    page: Page
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self.note_message)
        self.page.on("request", self.note_request)
        self.page.on(
            "requestfailed", lambda request: self.failed.append(f"{request.url}: {request.failure}")
        )

    def note_message(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def note_request(self, request):
        if request.url.split(":")[0] not in ("file", "data", "blob", "about"):
            self.outside.append(request.url)

    def open(self, path, *, made_by=""):
        """Open a file; skip the test if it is not there, and say what makes it."""
        if made_by and not path.is_file():
            pytest.skip(f"{path.name} is not there: {made_by}")
        self.page.goto(path.resolve().as_uri(), wait_until="load")

    def as_printed(self):
        """Show the page as wide as an A4 sheet with margins of a centimetre, at 96 dpi."""
        self.page.set_viewport_size({"width": 718, "height": 1047})
        self.page.emulate_media(media="print")

    def assert_clean(self):
        assert self.errors == []
        assert self.outside == []
        assert self.failed == []


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip(
            "no chromium here: install Debian's package chromium, or say where it is in CHROMIUM"
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(params=WIDTHS)
def visit(request, browser):
    """A fresh page, once as wide as a phone and once as a desktop."""
    width, height = WIDTHS[request.param]
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    context.set_default_timeout(15_000)
    yield Visit(context.new_page())
    context.close()
