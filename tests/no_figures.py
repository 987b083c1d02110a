"""Pages without figures, which take most of the time of a page."""

from importlib import import_module


def leave_out_figures(monkeypatch):
    """Write no figure on a page until the end of a test."""
    report = import_module("sampled_metrics.reporting.report")
    monkeypatch.setattr(report.figures, "intervals", lambda _: [])
    monkeypatch.setattr(report, "inline_svg", lambda *_: "")
