"""Phrases that sentences about results have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sampled_metrics.checks import enumerated
from sampled_metrics.core.metrics import metric_name

ASSUMPTIONS = {
    "free": "",
    "decreasing": "a better rank is at least as common as a worse one (up to rank n/2)",
}
"""What is assumed of the ranks, as a clause."""


def percent(share: float, digits: str = "g") -> str:
    """Return a share in per cent."""
    return f"{100 * share:{digits}} %"


def number(value: Any, sign: str = "") -> str:
    """Return a number as tables, sentences and figures show it, with four significant digits.

    A number that differs from 0 by rounding only is 0, and a missing one is a dash.

    Args:
        value: the number.
        sign: + if a number above 0 is written with a sign.
    """
    if value is None or pd.isna(value):
        return "-"
    if abs(value) < 1e-12:
        return "0"
    return f"{value:{sign}.4g}" if abs(value) < 1000 else f"{value:{sign}.0f}"


def p_value(value: float) -> str:
    """Return a p-value as text; one that may be 0 by rounding only is shown as below 1e-16."""
    if pd.isna(value):
        return "-"
    return "< 1e-16" if value < 1e-16 else f"{value:.4g}"


def better(winner: str, loser: str) -> str:
    """Say that a recommender is better than another one."""
    return f"{winner} is better than {loser}"


def condition(assumption: str) -> str:
    """Return the assumption on the ranks, or on the negatives only, as a clause."""
    assumed = ASSUMPTIONS[assumption]
    return f"if {assumed or 'negatives are drawn uniformly, whatever the ranks are'}"


def values_of_metrics(values: Mapping[str, Any]) -> str:
    """Return values in words, each after the name of its metric."""
    return enumerated(f"{metric_name(label)} {value}" for label, value in values.items())
