"""The command `sampled-metrics`: the functions of the library over files."""

from sampled_metrics.cli.commands import main
from sampled_metrics.cli.stages import concat, stages

__all__ = ["concat", "main", "stages"]
