"""Read what an earlier job of the workflow wrote.

The error for a damaged file is one line that names it.

The files are written whole or not at all, and the checksum of a gzip file detects every changed
byte.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.errors import DataError

_AGAIN = "; remove it, and run again"  # the workflow makes it anew

TEXT = (
    *("recommender", "worse", "better", "metric", "estimator", "reading"),
    *("panel", "way", "assumes", "cell", "place", "claim", "tolerance", "holds"),
)
"""Columns of text, in which names such as NA and 1e3 stay as they are."""

NUMBERS = (
    *("estimate", "value", "mean", "sd", "mean_exact", "sd_exact", "correct", "correct_exact"),
    *("expected", "exact", "repetition", "negatives", "rank"),
    *("repetitions", "low", "high", "right", "undecided", "wrong"),
)
"""Columns of numbers."""


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return a csv table; an empty field is NaN in a column of numbers.

    Raises:
        DataError: the file cannot be read, or has other text than numbers where these are.
    """
    with file_io.reading(os.fspath(path), "is damaged", _AGAIN):
        table = pd.read_csv(
            path, dtype=dict.fromkeys(TEXT, str), keep_default_na=False, na_values=[""]
        )
    numbers = [name for name in NUMBERS if name in table]
    if not len(table):
        return table.astype(dict.fromkeys(numbers, np.float64))
    for name in numbers:
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise DataError(f"{path}: is damaged: {name} has a text that is no number{_AGAIN}")
    return table.fillna({name: "" for name in TEXT if name in table})


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the facts about a dataset, from dataset.json.

    Raises:
        DataError: the file cannot be read, or is damaged.
    """
    with file_io.reading(os.fspath(path), "is damaged", _AGAIN):
        facts = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(facts, dict):
        raise DataError(f"{path}: is damaged: it has no facts{_AGAIN}")
    return facts
