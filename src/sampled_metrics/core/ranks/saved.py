"""Files of ranks that this library or its workflow has written."""

from __future__ import annotations

import os
from typing import Any

from sampled_metrics._registry import kinds_of_tables
from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.core.ranks.reading import read_columns
from sampled_metrics.core.ranks.sampled import BY_USER, sampled_ranks
from sampled_metrics.errors import ConfigError
from sampled_metrics.file_io import path_text


def read_ranks(
    path: str | os.PathLike[str], *, replacement: bool = False, drawn: str = BY_USER
) -> Any:
    """Read a file that this library or its workflow has written, as the ranks that it holds.

    Args:
        path: an npz file of staged ranks; or a csv or parquet file with the column
            negatives (sampled ranks), or with candidates and above and tied, or rank (exact ranks).
        replacement: of sampled ranks, whether a negative could be drawn twice.
        drawn: of sampled ranks, whether negatives are drawn "by user" or "once", as in
            `sampled_ranks`.

    Raises:
        DataError: the file cannot be read, or lacks a column.
        ConfigError: an option is for sampled ranks, and the file has others.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.read_ranks("published/ml-1m/X.csv.gz")  # doctest: +SKIP
        exact ranks of 6,040 users, among 1,393 to 3,687 candidates

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
    """
    name = path_text(path, "a file of ranks")
    table = table_of_file(name)
    if table is None:
        columns = read_columns(name)
        if "negatives" in columns:
            return sampled_ranks(columns, replacement=replacement, drawn=drawn)
        table = exact_ranks(columns)
    for option, is_given in {
        "replacement": replacement is not False,
        "drawn": drawn != BY_USER,
    }.items():
        if is_given:
            raise ConfigError(
                f"{option}: is for sampled ranks, and {name} has {table.kind}; leave it out"
            )
    return table


def table_of_file(name: str) -> Any:
    """Return the table of a file with a format of its own, as of staged ranks; None of others."""
    for kind in kinds_of_tables():
        if kind.recognises(name):
            return kind.read(name)
    return None
