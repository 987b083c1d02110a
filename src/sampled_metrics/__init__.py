"""Sampled metrics for item recommendation: what they are worth, and the true metrics behind them.

`evaluate`, `correct`, `compare`, `expect` and `plan` are for people who have ranks; the modules below them are the
parts that they are made of.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time they are imported when they are used: a job of the workflow needs few of the modules
    from sampled_metrics.evaluation import compare, correct, evaluate, expect, plan

__all__ = ["compare", "correct", "evaluate", "expect", "plan"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("sampled_metrics.evaluation"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
