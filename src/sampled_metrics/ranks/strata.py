"""Columns of tables with counts by stratum, and numbers of negatives by stratum.

A stratum such as rest has the columns above_rest, size_rest, perhaps tied_rest, and, unless the counts are exact,
negatives_rest.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._validation import did_you_mean, is_whole, shown
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.frames import Columns, as_text

ALL = "all"
"""In place of a number of negatives: all candidates of the stratum."""


def strata_of(columns: Columns) -> tuple[str, ...]:
    """Return the names of the strata of a table, in the order of the columns; none if it has no strata.

    A name is that of a stratum if two columns or more have it, as above_rest and size_rest do.
    """
    found = [re.fullmatch("(above|negatives|size|tied)_(.+)", str(name)) for name in columns.frame.columns]
    names = [each[2] for each in found if each]
    return tuple(name for name in dict.fromkeys(names) if names.count(name) > 1)


def allocation(negatives: Any, labels: Sequence[str]) -> dict[str, float]:
    """Return the number of negatives of each stratum, infinite for all, in the order of a dict.

    Raises:
        ConfigError: it is no dict from each label to a whole number from 1, or to "all".
    """
    if not isinstance(negatives, Mapping):
        raise ConfigError(
            f"with strata, negatives must be a dict from each stratum to its number of negatives, or to {ALL!r}, "
            f"not {shown(negatives)}"
        )
    given = as_text(pd.Series(list(negatives), dtype=object)).tolist()
    for label, m in zip(given, negatives.values(), strict=True):
        if label not in labels:
            meant, known = did_you_mean(label, labels), ", ".join(labels)
            raise ConfigError(f"negatives: {label!r} is no stratum{meant}; the strata are {known:.300}")
        if not (is_whole(m) and m >= 1) and not (isinstance(m, str) and m == ALL):
            raise ConfigError(
                f"negatives: the stratum {label!r} must have a whole number, 1 or more, or {ALL!r}, not {shown(m)}"
            )
    for label in labels:
        if given.count(label) != 1:
            raise ConfigError(f"negatives: give the stratum {label!r} once, with a number of negatives or {ALL!r}")
    number = [np.inf if isinstance(m, str) else float(m) for m in negatives.values()]
    return dict(zip(given, number, strict=True))
