"""Read a file of ranks as what it is."""

import os

from sampled_metrics.ranks.by_recommender import columns_of_table
from sampled_metrics.ranks.exact import ExactRanks, table_of_columns
from sampled_metrics.ranks.sampled import SampledRanks, sampled_of_columns
from sampled_metrics.ranks.staged import StagedRanks
from sampled_metrics.ranks.staged_files import is_staged


def read_ranks(path: str | os.PathLike[str], *, replacement: bool = False) -> ExactRanks | SampledRanks | StagedRanks:
    """Read a file that this library or its workflow has written, as the ranks that it holds.

    Args:
        path: a Parquet or SQLite file of staged ranks; or a csv or parquet file with the column negatives (sampled
            ranks), or with candidates and above and tied, or rank (exact ranks).
        replacement: of sampled ranks, whether a negative could be drawn twice.

    Raises:
        DataError: the file cannot be read, or lacks a column.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.read_ranks("published/ml-1m/X.csv.gz")  # doctest: +SKIP
        exact ranks of 6,040 users, among 1,393 to 3,687 candidates

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
    """
    if is_staged(os.fspath(path)):
        return StagedRanks.read(path)
    columns = columns_of_table(path, os.fspath(path))
    if "negatives" in columns:
        return sampled_of_columns(columns, columns.name, replacement=replacement)
    return table_of_columns(columns, columns.name)
