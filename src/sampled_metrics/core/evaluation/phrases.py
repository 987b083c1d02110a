"""Phrases that sentences about results have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sampled_metrics.checks import enumerated
from sampled_metrics.core.metrics import metric_name

ASSUMPTIONS = {
    "free": "",
    "decreasing": "better ranks are more frequent than worse ones in the better half of the ranks",
}
"""What is assumed of the ranks, as a clause."""


def percent(share: float, digits: str = "g") -> str:
    """Return a share in per cent."""
    return f"{100 * share:{digits}} %"


def better(winner: str, loser: str) -> str:
    """Say that a recommender is better than another one."""
    return f"{winner} is better than {loser}"


def in_groups(groups: Sequence[str]) -> str:
    """Return the groups of users in words."""
    return f"group{'s' * (len(groups) > 1)} {enumerated(groups)}"


def rounded_outward(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval as text, rounded outward.

    They have as many decimals as show two digits of the width, from 2 to 6.
    """
    decimals = 6
    if high > low:
        place_of_width = int(np.floor(np.log10(high - low)))
        decimals = min(max(1 - place_of_width, 2), 6)
    scale = 10.0**decimals

    # an end that is a rounding error past a decimal stays at it
    slack = 1e-9
    rounded_low = np.floor(low * scale + slack) / scale + 0.0  # 0.0, not -0.0
    rounded_high = np.ceil(high * scale - slack) / scale + 0.0

    low_text, high_text = (
        f"{end:.{decimals}f}" if 0 < end < 1 else f"{end:g}" for end in (rounded_low, rounded_high)
    )
    return low_text, high_text


def as_published(values: Mapping[str, str]) -> str:
    """Return published values in words, as they are written."""
    return enumerated(f"{metric_name(label)} {value}" for label, value in values.items())
