"""Tables of ranks as a function was given them, by recommender, and a file of ranks as what it is."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from sampled_metrics._validation import enumerated
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks, table_of_columns
from sampled_metrics.ranks.judged_lists import RankedLists
from sampled_metrics.ranks.reading import UNNAMED, by_name, columns_of_table
from sampled_metrics.ranks.sampled import BY_USER, ONCE, SampledRanks, sampled_of_columns
from sampled_metrics.ranks.staged import StagedRanks
from sampled_metrics.ranks.staged_files import is_staged
from sampled_metrics.ranks.table import Table

KINDS: tuple[type[Table], ...] = (ExactRanks, SampledRanks, StagedRanks, RankedLists)
"""All kinds of tables."""


def tables_by_name(given: Any, function: str) -> dict[str, Any]:
    """Return the tables that a function was given by the name of the recommender; one without a name by UNNAMED.

    Args:
        given: a table, or a mapping from names to tables.
        function: its name.

    Raises:
        DataError: there are none; one is not a table, or is one that the function does not take; the tables are of
            several kinds; or two names are the same text.
    """
    seeds = seeds_by_name(given if isinstance(given, Mapping) else {UNNAMED: given}, function, several=False)
    return {name: tables[0] for name, tables in seeds.items()}


def seeds_by_name(given: Any, function: str, several: bool = True) -> dict[str, list[Any]]:
    """Return the tables of the seeds of each recommender, from a mapping of names to tables, or to lists of them.

    Args:
        given: the mapping.
        function: the name of the function that was given it.
        several: whether a recommender may have several seeds.

    Raises:
        DataError: as in `tables_by_name`.
    """
    if not isinstance(given, Mapping):
        raise DataError(
            f"{function} takes a mapping from the names of recommenders to their tables, not {_a(given)}: "
            f'sm.{function}({{"A": a, "B": b}})'
        )
    named = {UNNAMED: given[UNNAMED]} if list(given) == [UNNAMED] else by_name(given)
    seeds = {
        name: list(tables) if several and isinstance(tables, list | tuple) and tables else [tables]
        for name, tables in named.items()
    }
    first: tuple[str, Table] | None = None
    for name, tables in seeds.items():
        for table in tables:
            _require_taken(table, name or "ranks", function)
            first = first or (name, table)
            if table.kind != first[1].kind and table.kind not in first[1].beside:
                raise DataError(
                    f"{first[0]} has {first[1].kind} and {name} {table.kind}; {function} takes one kind of them"
                )
    return seeds


def by_seed(seeds: Mapping[str, Sequence[Table]]) -> dict[str, Any]:
    """Return the table of each seed, by the name of the recommender, with the number of the seed."""
    return {
        name if len(tables) == 1 else f"{name or 'ranks'}, seed {number}": table
        for name, tables in seeds.items()
        for number, table in enumerate(tables, 1)
    }


def require_same_design(tables: Mapping[str, Table]) -> None:
    """Raise DataError if two tables differ in what tables that are compared must have in common."""
    known: dict[str, tuple[str, Any]] = {}
    for name, table in tables.items():
        for what, value in table.design.items():
            first, expected = known.setdefault(what, (name, value))
            if value != expected:
                raise DataError(
                    f"{first} has {what} = {expected} and {name} {value}; {table.kind} are compared with the same "
                    f"{enumerated(table.design)}"
                )


def require_paired_draws(seeds: Mapping[str, Sequence[Table]]) -> None:
    """Raise DataError if recommenders differ in the number of draws of negatives that users share."""
    draws = {name: len(tables) for name, tables in seeds.items() if tables[0].design.get("drawn") == ONCE}
    fewest, most = (choose(draws, key=draws.__getitem__, default="") for choose in (min, max))
    if fewest != most and draws[fewest] != draws[most]:
        raise DataError(
            f"{most} has {draws[most]} draws of negatives and {fewest} {draws[fewest]}; they are compared draw by draw"
        )


def _require_taken(table: Any, name: str, function: str) -> None:
    """Raise DataError unless this is a table that a function takes."""
    if not isinstance(table, Table):
        kinds = [kind for kind in KINDS if function in kind.taken_by]
        words, readers = (
            enumerated(texts, "or") for texts in ([kind.kind for kind in kinds], [kind.reader for kind in kinds])
        )
        raise DataError(f"{name}: {function} takes {words}, not {_a(table)}; read it first, with {readers}")
    if function not in table.taken_by:
        raise DataError(
            f"{name}: has {table.kind}, which {function} does not take; use {enumerated(table.taken_by, 'or')} instead"
        )


def _a(value: Any) -> str:
    """Return what a value is, in words."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


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
        return sampled_of_columns(columns, columns.name, replacement=replacement, drawn=drawn)
    return table_of_columns(columns, columns.name)
