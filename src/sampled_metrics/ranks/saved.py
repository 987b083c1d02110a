"""Files of ranks that this library or its workflow has written."""

from __future__ import annotations

import os

from sampled_metrics._files import path_text
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.exact import ExactRanks, table_of_columns
from sampled_metrics.ranks.reading import columns_of_table
from sampled_metrics.ranks.sampled import BY_USER, SampledRanks, sampled_of_columns
from sampled_metrics.ranks.seeds import refuse_unnamed_runs
from sampled_metrics.ranks.staged import StagedRanks
from sampled_metrics.ranks.staged_files import is_staged


def read_ranks(
    path: str | os.PathLike[str], *, replacement: bool = False, drawn: str = BY_USER
) -> ExactRanks | SampledRanks | StagedRanks:
    """Read a file that this library or its workflow has written, as the ranks that it holds.

    Args:
        path: a Parquet or SQLite file of staged ranks; or a csv or parquet file with the column negatives (sampled
            ranks), or with candidates and above and tied, or rank (exact ranks).
        replacement: of sampled ranks, whether a negative could be drawn twice.
        drawn: of sampled ranks, whether negatives are drawn "by user" or "once", as in `sampled_ranks`.

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
    if is_staged(name):
        table: ExactRanks | StagedRanks = StagedRanks.read(name)
    else:
        columns = columns_of_table(name, name)
        refuse_unnamed_runs(columns, may_be_by=False)
        if "negatives" in columns:
            return sampled_of_columns(columns, columns.name, replacement=replacement, drawn=drawn)
        table = table_of_columns(columns, columns.name)
    for option, is_given in {"replacement": replacement is not False, "drawn": drawn != BY_USER}.items():
        if is_given:
            raise ConfigError(f"{option}: is for sampled ranks, and {name} has {table.kind}; leave it out")
    return table
