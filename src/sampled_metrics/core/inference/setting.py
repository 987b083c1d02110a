"""What all findings of a result have in common."""

from __future__ import annotations

from dataclasses import dataclass

from sampled_metrics.core.inference.families import Margin


@dataclass(frozen=True)
class Setting:
    """What all findings of a result have in common.

    Attributes:
        confidence_level: of its intervals.
        parameters: what the numbers describe, such as "60 users, n = 100"; empty if there is
            nothing to say.
        names: the recommenders, in the order in which they were given.
        margin: the smallest difference that matters; None without a margin.
        estimator: the label of the estimator of a comparison; empty for exact ranks and lists.
        is_uncorrected: whether a comparison is of the uncorrected metrics of sampled ranks.
        negatives: m of an expectation; 0 elsewhere.
    """

    confidence_level: float = 0.95
    parameters: str = ""
    names: tuple[str, ...] = ()
    margin: Margin | None = None
    estimator: str = ""
    is_uncorrected: bool = False
    negatives: int = 0
