"""A page about one's own ranks, exact or sampled."""

from sampled_metrics.rendering import drawing  # noqa: F401  # first: it says in one line that matplotlib is missing
from sampled_metrics.reporting.report import report

__all__ = ["report"]
