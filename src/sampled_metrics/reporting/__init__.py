"""A page about one's own ranks, exact or sampled."""

from sampled_metrics.reporting.report import report

__all__ = ["report"]
