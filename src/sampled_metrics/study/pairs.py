"""Pairs of recommenders: their order by the exact metric, and their names."""

from collections.abc import Mapping

import pandas as pd

from sampled_metrics.sampling.draws import EQUAL


def worse_and_better(one: str, other: str, exact: Mapping[str, float]) -> tuple[str, str] | None:
    """Return two recommenders, the one with the lower exact metric first; None if the metrics are equal."""
    gap = exact[other] - exact[one]
    if abs(gap) <= EQUAL:
        return None
    return (one, other) if gap > 0 else (other, one)


def pair_names(table: pd.DataFrame) -> "pd.Series[str]":
    """Return the names of the pairs of Table 4, each in alphabetical order, as in the paper."""
    return table[["worse", "better"]].min(axis=1) + " vs " + table[["worse", "better"]].max(axis=1)
