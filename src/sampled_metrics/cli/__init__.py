"""The command `sampled-metrics`: the functions of the library over files.

`program` has the program. `commands` has the commands of the core; those of the other packages are
in their own folders, in `command.py`, and `_registry` names them all. `options`, `reading` and
`output` are what commands share.
"""

from sampled_metrics.cli.program import main

__all__ = ["main"]
