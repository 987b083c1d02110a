"""Variants of the estimates: one for each reading of the paper, whose text and printed numbers disagree."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sampled_metrics.errors import ConfigError


@dataclass(frozen=True)
class Variant:
    """A way to compute an estimate from a sample.

    Attributes:
        heading: its name in tables.
        tie_rule: how tied negatives in a sample count (`sampled_metrics.sampling.distributions.TIE_RULES`).
        substitutes: label of an estimator → label of its substitute.
    """

    heading: str
    tie_rule: str = "random"
    substitutes: Mapping[str, str] = field(default_factory=dict)


VARIANTS = {
    "default": Variant("Reading: default (ties broken at random, eq. 20 as written)"),
    "as-printed": Variant(
        "Reading: as printed (with the two slips that the paper's numbers have)",
        "beats-one",
        {"rank-estimate": "rank-estimate-as-printed"},
    ),
}
"""`default` is correct; `as-printed` has the two slips that reproduce the paper's printed numbers."""


def variant(name: str) -> Variant:
    """Return the variant of a reading.

    Raises:
        ConfigError: there is no such reading.
    """
    if name not in VARIANTS:
        raise ConfigError(f"unknown reading {name!r}; it may be {', '.join(VARIANTS)}")
    return VARIANTS[name]
