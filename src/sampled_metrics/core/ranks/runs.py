"""The runs of recommenders: tables of ranks by the seed of a training, or by draw of negatives."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._registry import kinds_of_tables
from sampled_metrics.checks import Ints, enumerated
from sampled_metrics.core.findings import Finding, about
from sampled_metrics.core.ranks.reading import UNNAMED, by_name
from sampled_metrics.core.ranks.sampled import ONCE
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import DataError


@dataclass(frozen=True)
class Runs:
    """The runs of a recommender.

    Attributes:
        name: the recommender; `UNNAMED` if there is one, without a name.
        tables: the table of each seed, or of each draw of negatives that all users share.
        users: for each table, the (rows,) numbers of the users from 0; `paired` gives the same user
            the same number in all tables. Empty before.
    """

    name: str
    tables: tuple[Any, ...]
    users: tuple[Ints, ...] = ()

    @property
    def first_table(self) -> Any:
        """The first table."""
        return self.tables[0]

    @property
    def are_draws(self) -> bool:
        """Whether each table has its own draw of negatives, which all users share."""
        return self.first_table.design.get("drawn") == ONCE

    @property
    def are_seeds(self) -> bool:
        """Whether there are several tables, one for each seed."""
        return len(self.tables) > 1 and not self.are_draws

    @property
    def are_named(self) -> bool:
        """Whether every table has the name of its seed, or draw."""
        return all(table.seed_name for table in self.tables)

    @cached_property
    def by_label(self) -> dict[str, Any]:
        """The tables by the name of the recommender, with the seed if there are several."""
        if len(self.tables) == 1:
            return {self.name: self.first_table}
        labels = [f"{self.name or 'ranks'}, seed {seed}" for seed in self.seeds]
        return dict(zip(labels, self.tables, strict=True))

    @cached_property
    def seeds(self) -> list[str]:
        """The names of the seeds, as a column has them, or else their numbers from 1."""
        names = [table.seed_name for table in self.tables]
        if self.are_named and len(set(names)) == len(names):
            return names
        return [str(seed) for seed in range(1, len(self.tables) + 1)]

    def rows(self, positions: Sequence[Ints]) -> Runs:
        """Return the runs of the rows at some positions of each table, not paired."""
        tables = tuple(table.rows(rows) for table, rows in zip(self.tables, positions, strict=True))
        return Runs(self.name, tables)


def read_runs(
    ranks: Any, function: str, *, needs_names: bool = False, may_be_several: bool = True
) -> list[Runs]:
    """Return the runs of the recommenders that a function was given.

    Args:
        ranks: a table, a list of the tables of several seeds, or a mapping from names of
            recommenders to either.
        function: the name of the function, for messages.
        needs_names: whether it must be a mapping.
        may_be_several: whether the function takes several seeds.

    Raises:
        DataError: there are no tables; one is not a table, or is one that the function does not
            take; the tables are of several kinds; two names are the same text; or there are several
            seeds where the function takes one.
    """
    if not isinstance(ranks, Mapping):
        if needs_names:
            raise DataError(
                f"{function} takes a mapping from the names of recommenders to their tables, not "
                f'{_a(ranks)}: sm.{function}({{"A": a, "B": b}})'
            )
        ranks = {UNNAMED: ranks}
    is_unnamed = len(ranks) == 1 and UNNAMED in ranks
    recommenders = []
    for name, tables in (ranks if is_unnamed else by_name(ranks)).items():
        runs = Runs(name, tuple(tables) if _are_seeds(tables) else (tables,))
        for table in runs.tables:
            _require_taken(table, name or "ranks", function)
        if len(runs.tables) > 1 and not may_be_several:
            raise DataError(
                f"{name or 'ranks'}: {function} takes one table of a recommender, and not those of "
                f"{len(runs.tables)} seeds"
            )
        recommenders.append(runs)
    _require_one_kind(recommenders, function)
    return recommenders


def tables_by_name(ranks: Any, function: str) -> dict[str, Any]:
    """Return the tables that a function was given, by the name of the recommender.

    A recommender without a name has the name `UNNAMED`.

    Raises DataError as `read_runs` does.
    """
    return {
        runs.name: runs.first_table for runs in read_runs(ranks, function, may_be_several=False)
    }


def paired(recommenders: Sequence[Runs]) -> tuple[list[Runs], list[Finding]]:
    """Return the runs with numbers of users, equal for the same users, and findings on the pairing.

    Tables of a recommender that are equal have a finding, too.

    Raises DataError if the users of the tables differ, or the rows or candidates of a user do.
    """
    tables = {label: table for runs in recommenders for label, table in runs.by_label.items()}
    first_table, *other_tables = tables.values()
    numbers, findings = first_table.pair(other_tables, list(tables))
    users = iter(numbers)
    numbered = [
        replace(runs, users=tuple(itertools.islice(users, len(runs.tables))))
        for runs in recommenders
    ]
    for runs in numbered:
        findings = [*findings, *about(_equal_tables(runs), runs.name)]
    return numbered, findings


def _equal_tables(runs: Runs) -> list[Finding]:
    """Return findings on tables of paired runs that have the same ranks, or lists, of all users.

    Equal tables are copies of one run, or the recommender has no random start.
    """
    if len(runs.tables) == 1:
        return []
    seeds_by_ranks = dict[bytes, list[str]]()
    for seed, table, users in zip(runs.seeds, runs.tables, runs.users, strict=True):
        outcomes = table.outcomes[np.lexsort((*table.outcomes.T, users))]
        seeds_by_ranks.setdefault(outcomes.tobytes(), []).append(seed)
    kind = "equal-draws" if runs.are_draws else "equal-seeds"
    return [
        Finding(kind, values={"seeds": seeds})
        for seeds in seeds_by_ranks.values()
        if len(seeds) > 1
    ]


def ids_of_users(recommenders: Sequence[Runs]) -> NDArray[Any]:
    """Return the (users,) users of paired runs by their numbers; without ids, numbers from 1."""
    for runs in recommenders:
        for table, numbers in zip(runs.tables, runs.users, strict=True):
            if table.user is not None:
                _, first_rows = np.unique(numbers, return_index=True)
                return np.asarray(table.user)[first_rows]
    return np.argsort(recommenders[0].users[0]) + 1


def require_comparable(recommenders: Sequence[Runs]) -> None:
    """Raise DataError unless tables can be compared.

    Their labels differ, they are of one design, and draws can be paired.
    """
    labels = [label for runs in recommenders for label in runs.by_label]
    if repeated := [label for label in labels if labels.count(label) > 1]:
        raise DataError(
            f"ranks: a recommender is called {repeated[0]}, as a seed of another one; give it "
            "another name"
        )
    require_same_design(
        {label: table for runs in recommenders for label, table in runs.by_label.items()}
    )
    _require_paired_draws(recommenders)


def require_same_design(tables: Mapping[str, Table]) -> None:
    """Raise DataError if two tables differ in what tables that are compared must have in common."""
    known: dict[str, tuple[str, Any]] = {}
    for name, table in tables.items():
        for what, value in table.design.items():
            name_before, expected = known.setdefault(what, (name, value))
            if value != expected:
                raise DataError(
                    f"{name_before} has {what} = {expected} and {name} {value}; {table.kind} are "
                    f"compared with the same {enumerated(table.design)}"
                )


def _require_paired_draws(recommenders: Sequence[Runs]) -> None:
    """Raise DataError if recommenders differ in the number or names of draws that users share."""
    drawn = [runs for runs in recommenders if runs.are_draws]
    for runs_a, runs_b in itertools.combinations(drawn, 2):
        are_named = runs_a.are_named and runs_b.are_named
        if len(runs_a.tables) != len(runs_b.tables) or (are_named and runs_a.seeds != runs_b.seeds):
            raise DataError(
                f"{runs_a.name} has the draws {enumerated(runs_a.seeds)} of negatives and "
                f"{runs_b.name} {enumerated(runs_b.seeds)}; they are compared draw by draw, in the "
                "same order"
            )


def _require_one_kind(recommenders: Sequence[Runs], function: str) -> None:
    """Raise DataError if the kinds of two tables are not compared with each other."""
    leading = recommenders[0]
    kind = leading.first_table.kind
    allowed = (kind, *leading.first_table.compared_with)
    for runs in recommenders:
        for table in runs.tables:
            if table.kind not in allowed:
                raise DataError(
                    f"{leading.name or 'ranks'} has {kind} and {runs.name or 'ranks'} "
                    f"{table.kind}; {function} takes one kind of them"
                )


def _require_taken(table: Any, name: str, function: str) -> None:
    """Raise DataError unless this is a table that a function takes."""
    if isinstance(table, Table) and function in table.taken_by:
        return
    kinds = [kind for kind in kinds_of_tables() if function in kind.taken_by]
    words = enumerated([kind.kind for kind in kinds], "or")
    if not isinstance(table, Table):
        readers = enumerated([kind.reader for kind in kinds], "or")
        raise DataError(
            f"{name}: {function} takes {words}, not {_a(table)}; read it first, with {readers}"
        )
    raise DataError(
        f"{name}: has {table.kind}, which {function} does not take, as it takes {words}; use "
        f"{enumerated(table.taken_by, 'or')} instead"
    )


def _are_seeds(tables: Any) -> bool:
    """Return whether these are tables of several seeds, and not a list of numbers or of files."""
    return isinstance(tables, list | tuple) and any(isinstance(table, Table) for table in tables)


def _a(value: Any) -> str:
    """Return the kind of a value in words, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
