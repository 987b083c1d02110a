"""Ranks among sampled negatives, from a csv table."""

import numpy as np
import pandas as pd

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.csv import CsvTable
from sampled_metrics.sampling.distributions import impossible_with_replacement, why_impossible

SAMPLED = "sampled ranks are a csv with the column rank"
"""What a file of sampled ranks holds, for messages."""


def sampled_ranks_of(
    table: CsvTable, candidates: int | None, negatives: int | None, *, replacement: bool = False
) -> pd.DataFrame:
    """Return the sampled ranks that a csv table holds.

    The column rank goes from 1 to m + 1: the rank of the held-out item among itself and its m sampled negatives. The
    columns candidates and negatives hold n and m where they are not given, the column user whose a line is.

    Args:
        table: the lines.
        candidates: n of every event, for a table without that column.
        negatives: m of every event, for a table without that column.
        replacement: whether a negative could be sampled twice for the same event.

    Returns:
        The columns user (if there is one), rank, candidates, negatives.

    Raises:
        DataError: the table holds something else; the message names the line.
    """
    given: dict[str, Ints | None] = {}
    for name, value in {"candidates": candidates, "negatives": negatives}.items():
        if value is not None and name in table:
            raise DataError(f"{table.name}, line 1: has a column {name}, so that {name} must not be given besides")
        given[name] = None if value is None else np.full(len(table), value, dtype=np.int64)
    wanted = ["rank", *(name for name, value in given.items() if value is None)]
    table.require(wanted, "sampled ranks are rank, and candidates and negatives where they are not given")
    rank = table.whole_numbers("rank")
    n, m = (table.whole_numbers(name) if value is None else value for name, value in given.items())
    table.refuse(rank < 1, lambda row: f"rank {rank[row]} is below 1")
    table.refuse(m < 1, lambda row: f"negatives must be 1 or more, not {m[row]}")
    table.refuse(
        rank > m + 1,
        lambda row: f"rank {rank[row]} is beyond {m[row] + 1}, the last among the item and {m[row]} negatives",
    )
    table.refuse(n < 2, lambda row: f"candidates must be 2 or more, not {n[row]}")
    if replacement:
        table.refuse(
            impossible_with_replacement(rank - 1, m, n),
            lambda row: f"rank {rank[row]} cannot be: {why_impossible(m[row], n[row])}",
        )
    else:
        table.refuse(
            m > n - 1,
            lambda row: (
                f"{m[row]} negatives of {n[row] - 1} ({n[row]} candidates) cannot be sampled without replacement"
            ),
        )
    columns = {"user": table.users()} if "user" in table else {}
    return pd.DataFrame({**columns, "rank": rank, "candidates": n, "negatives": m})
