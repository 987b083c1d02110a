"""Tables of ranks as a function was given them: by recommender and seed, by group, and a file as what it is."""

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._files import path_text
from sampled_metrics._validation import Floats, Ints, counted, enumerated, shown
from sampled_metrics.data.ids import as_text
from sampled_metrics.data.labels import counts_rows
from sampled_metrics.data.tables import refuse_rows
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.exact import ExactRanks, table_of_columns
from sampled_metrics.ranks.judged_lists import RankedLists
from sampled_metrics.ranks.reading import UNNAMED, by_name, columns_of_table, read_columns
from sampled_metrics.ranks.runs import refuse_unnamed_runs
from sampled_metrics.ranks.sampled import BY_USER, ONCE, SampledRanks, sampled_of_columns
from sampled_metrics.ranks.staged import StagedRanks
from sampled_metrics.ranks.staged_files import is_staged
from sampled_metrics.ranks.table import Table

KINDS: tuple[type[Table], ...] = (ExactRanks, SampledRanks, StagedRanks, RankedLists)
"""All kinds of tables."""


ALL = "all"
"""The name of all rows together."""

MOST_GROUPS = 100
"""More groups are refused, as they come from a wrong column."""

MANY_ROWS = 20
"""Of fewer rows, two seeds may be the same by chance."""

FEWEST_OUTCOMES = 3
"""With so many different sampled ranks, independent draws are alike in fewer than .3 % of evaluations: 4,000 were
simulated of 600 users for each of 21 laws, of one order of the items for all users."""

FEWEST_USERS = 2
"""An interval needs so many users; smaller groups are left out."""

Groups = bool | Mapping[Any, Any]
"""Whether to use the groups of the tables; or a mapping, or a Series, from users to the names of their groups."""


def tables_by_name(given: Any, function: str) -> dict[str, Any]:
    """Return the tables that a function was given by the name of the recommender; one without a name by UNNAMED.

    Raises DataError as `seeds_by_name` does.
    """
    seeds = seeds_by_name(given if isinstance(given, Mapping) else {UNNAMED: given}, function, several=False)
    return {name: tables[0] for name, tables in seeds.items()}


def seeds_by_name(given: Any, function: str, several: bool = True) -> dict[str, list[Any]]:
    """Return the tables of the seeds of each recommender, from a mapping of names to tables, or to lists of them.

    Raises DataError if there are none; one is not a table, or is one that the function does not take; the tables are
    of several kinds; or two names are the same text.
    """
    if not isinstance(given, Mapping):
        raise DataError(
            f"{function} takes a mapping from the names of recommenders to their tables, not {_a(given)}: "
            f'sm.{function}({{"A": a, "B": b}})'
        )
    named = {UNNAMED: given[UNNAMED]} if len(given) == 1 and UNNAMED in given else by_name(given)
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
    """Return the table of each seed, by the name of the recommender, with the name of the seed."""
    return {
        name if len(tables) == 1 else f"{name or 'ranks'}, seed {run}": table
        for name, tables in seeds.items()
        for run, table in zip(run_names(tables), tables, strict=True)
    }


def run_names(tables: Sequence[Table]) -> list[str]:
    """Return the names of the seeds of a recommender, as a column has them, or else their numbers from 1."""
    runs = [table.seed_name for table in tables]
    if all(runs) and len(set(runs)) == len(runs):
        return runs
    return [str(number) for number, _ in enumerate(tables, 1)]


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
    """Raise DataError if recommenders differ in the draws of negatives that users share: in number, or in names."""
    draws = {name: len(tables) for name, tables in seeds.items() if tables[0].design.get("drawn") == ONCE}
    fewest, most = (choose(draws, key=draws.__getitem__, default="") for choose in (min, max))
    if fewest != most and draws[fewest] != draws[most]:
        raise DataError(
            f"{most} has {draws[most]} draws of negatives and {fewest} {draws[fewest]}; they are compared draw by draw"
        )
    names = {
        name: [table.seed_name for table in seeds[name]]
        for name in draws
        if all(table.seed_name for table in seeds[name])
    }
    for (first, runs), (second, others) in itertools.pairwise(names.items()):
        for run, other in zip(runs, others, strict=True):
            if run != other:
                raise DataError(
                    f"{first} has the draw {run} of negatives where {second} has {other}; they are compared draw by "
                    "draw, in the same order"
                )


def require_distinct_seeds(seeds: Mapping[str, Sequence[Table]]) -> None:
    """Raise DataError if two seeds, or two draws of shared negatives, have the same ranks or lists of all users.

    They are one then, that was read twice, or a recommender without chance. Rows of few users, or of few different
    outcomes, do not show that.
    """
    for name, tables in seeds.items():
        for (first, table), (second, other) in itertools.combinations(zip(run_names(tables), tables, strict=True), 2):
            names = [f"{name or 'ranks'}, seed {run}" for run in (first, second)]
            if len(table.outcomes) < MANY_ROWS or len(np.unique(table.outcomes, axis=0)) < FEWEST_OUTCOMES:
                continue
            (numbers, other_numbers), _ = table.pair([other], names)
            if np.array_equal(_by_user(table, numbers), _by_user(other, other_numbers)):
                what = "two draws of negatives" if table.design.get("drawn") == ONCE else f"seeds {first} and {second}"
                single = "draw" if table.design.get("drawn") == ONCE else "seed"
                raise DataError(
                    f"{name or 'ranks'}: {what} have the same ranks of all users, so they are one {single}; give it "
                    "once"
                )


def _by_user(table: Table, numbers: Ints) -> Floats:
    """Return the (rows, numbers) outcomes of a table in the order of its users, from their (rows,) numbers."""
    return np.asarray(table.outcomes[np.lexsort((*table.outcomes.T, numbers))])


def _require_taken(table: Any, name: str, function: str) -> None:
    """Raise DataError unless this is a table that a function takes."""
    if isinstance(table, list | tuple) and len(table) > 1 and all(isinstance(seed, Table) for seed in table):
        raise DataError(f"{name}: {function} takes one table of a recommender, and not those of {len(table)} seeds")
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


def read_groups(path: str, kind: str) -> dict[str, str]:
    """Read the groups of users from a csv or parquet file with the column user and a column of groups.

    Raises DataError if the file cannot be read, lacks a column, or has a user twice.
    """
    columns = read_columns(path, names=[kind])
    columns.require("user")
    number, users = columns.ids("user")
    groups = as_text(columns.frame[columns.in_source(kind)])
    refuse_rows(pd.Series(number).duplicated(), lambda row: f"user {users[number[row]]} is there twice", columns.place)
    return dict(zip(users[number], groups, strict=True))


def tables_by_group(tables: Mapping[str, Table], groups: Groups) -> tuple[dict[str, dict[str, Table]], list[str]]:
    """Return the rows of tables by group, then by the name of the table, and sentences on groups that are left out.

    Groups are in the order of their names or numbers. Raises DataError or ConfigError as `groups_of_rows` does, and
    DataError if all groups are too small, or the tables do not have the same groups.
    """
    if groups is False or groups is None:
        return {}, []
    of_rows = {name: groups_of_rows(table, name, groups) for name, table in tables.items()}
    parts, too_small = dict[str, dict[str, Table]](), list[str]()
    for group in _names(of_rows):
        positions = {name: np.flatnonzero(rows == group) for name, rows in of_rows.items()}
        if missing := [name for name, rows in positions.items() if not len(rows)]:
            raise DataError(f"{missing[0]}: has no row of the group {shown(group)}, and another table has")
        part = {name: table.rows(positions[name]) for name, table in tables.items()}
        users = min(len(np.unique(table.user_numbers)) for table in part.values())
        if users < FEWEST_USERS:
            too_small.append(f"{group} ({counted(users, 'user')})")
        else:
            parts[group] = part
    if not parts:
        raise DataError(f"groups: none has the {FEWEST_USERS} users that an interval needs")
    if not too_small:
        return parts, []
    return parts, [f"Left out, as an interval needs {FEWEST_USERS} users or more: {enumerated(too_small)}."]


def groups_of_rows(table: Table, name: str, groups: Groups) -> NDArray[np.str_]:
    """Return the (rows,) names of the groups of a table, from the table itself or from a mapping from users.

    Raises DataError if the table has no groups, or no users, or a user has none; ConfigError if `groups` has
    another type.
    """
    if groups is True:
        if table.groups is None:
            raise DataError(
                f"{name or 'ranks'}: has no groups; read it with groups, the name of a column, or give a mapping from "
                "users to groups"
            )
        return np.asarray(table.groups, dtype=np.str_)
    if not isinstance(groups, Mapping | pd.Series):
        raise ConfigError(f"groups must be True or a mapping from users to groups, not {shown(groups)}")
    if table.user is None:
        raise DataError(f"{name or 'ranks'}: has no column user, which a mapping from users to groups needs")
    labels = pd.Series([*groups.keys()], dtype=object)
    names = as_text(labels)
    if names.duplicated().any():
        raise DataError(f"groups: user {names[names.duplicated()].iloc[0]} is there twice, as text")
    if isinstance(groups, pd.Series) and counts_rows(groups.index) and len(groups) == len(table.user):
        return _groups_by_row(table, groups, names)
    values = [*groups] if isinstance(groups, pd.Series) else [*groups.values()]
    by_user = dict(zip(names, as_text(pd.Series(values, dtype=object)), strict=True))
    users = as_text(pd.Series(table.user)).tolist()
    if missing := [user for user in dict.fromkeys(users) if not by_user.get(user, "")]:
        raise DataError(
            f"groups: {counted(len(missing), 'user')} of {name or 'the ranks'} have none, for instance {missing[0]}"
        )
    return np.array([by_user[user] for user in users], dtype=np.str_)


def _groups_by_row(table: Table, groups: pd.Series, labels: pd.Series) -> NDArray[np.str_]:
    """Return the groups of rows from a Series with an entry for each, whose index by default has no labels.

    Raises DataError if a row has no group, or the index may be users, too, and these would have other groups.
    """
    by_row = as_text(groups.reset_index(drop=True))
    if (by_row == "").any():
        raise DataError(f"groups: row {int(np.argmax(by_row == '')) + 1} has none")
    users = as_text(pd.Series(table.user))
    places = pd.Index(labels).get_indexer(users)
    are_users = len(np.unique(places)) == len(labels) and (places >= 0).all()
    if are_users and (by_row.to_numpy()[places] != by_row.to_numpy()).any():
        raise DataError(
            "groups: the index of the Series may be rows or users; call it user, or read the ranks with the column of "
            "groups"
        )
    return by_row.to_numpy(dtype=np.str_)


def _names(of_rows: Mapping[str, NDArray[np.str_]]) -> list[str]:
    """Return the names of the groups in order; raise DataError if one is ALL, or there are too few or too many."""
    names = sorted({str(name) for rows in of_rows.values() for name in np.unique(rows)})
    if ALL in names:
        raise DataError(f"groups: a group is called {ALL}, as all rows are here; give it another name")
    if not 2 <= len(names) <= MOST_GROUPS:
        raise DataError(
            f"groups: there must be from 2 to {MOST_GROUPS} groups, not {len(names)}, such as {shown(names[0])}"
        )
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
