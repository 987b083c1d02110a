"""One html page on the given ranks or lists, and figures that it shares with the study."""

from sampled_metrics.rendering import drawing  # noqa: F401  # first: it says in one line that matplotlib is missing
