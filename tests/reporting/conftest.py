"""Settings of tests of figures and pages."""

import pytest


@pytest.fixture
def no_figures(monkeypatch):
    """Pages have no figures, which take most of the time."""
    monkeypatch.setattr("sampled_metrics.reporting.figures.intervals", lambda _: [])
    monkeypatch.setattr("sampled_metrics.reporting.report.inline_svg", lambda *_: "")
