"""Readings of the paper: where its text and its printed numbers disagree."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sampled_metrics.errors import ConfigError


@dataclass(frozen=True)
class Reading:
    """How a sample is turned into an estimate.

    Attributes:
        heading: what tables call it.
        tie_rule: how tied negatives in a sample count (`sampled_metrics.sampling.ties.TIE_RULES`).
        substitutes: label of an estimator → label of the one that takes its place.
    """

    heading: str
    tie_rule: str = "random"
    substitutes: Mapping[str, str] = field(default_factory=dict)


READINGS = {
    "default": Reading("Reading: default (ties broken at random, eq. 20 as written)"),
    "as-printed": Reading(
        "Reading: as printed (with the two slips that the paper's numbers have)",
        "beats-one",
        {"rank-estimate": "rank-estimate-as-printed"},
    ),
}
"""`default` is correct; `as-printed` has the two slips that reproduce the paper's printed numbers."""


def reading(name: str) -> Reading:
    """Return a reading by its name.

    Raises:
        ConfigError: there is no such reading.
    """
    if name not in READINGS:
        raise ConfigError(f"unknown reading {name!r}; it may be {', '.join(READINGS)}")
    return READINGS[name]
