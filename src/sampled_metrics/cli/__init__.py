"""The command `sampled-metrics`: the functions of the library over files."""

from sampled_metrics.cli.commands import main

__all__ = ["main"]
