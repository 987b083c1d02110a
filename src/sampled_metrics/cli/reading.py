"""How a command was told to read its files, and the tables that it reads so."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import named_files, together
from sampled_metrics.errors import ConfigError, DataError, printable

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.ranks.frames import Columns
    from sampled_metrics.core.ranks.table import Table


@dataclass(frozen=True)
class Reading:
    """How a command was told to read its files.

    Attributes:
        separator: the sign between the fields of a line; None if it is found out.
        user_column: the name of the column user in the files, if it has another one; likewise the
            next two.
        rank_column: the columns of ranks.
        zero_based: whether ranks start at 0.
        by: the column that names the recommenders.
        seeds: the column of the seeds of a recommender.
        candidates: n, unless it is a column.
        negatives: m, unless it is a column or the ranks are exact.
        exact: whether ranks are exact although none comes near n.
        replacement: whether a negative could be sampled twice.
        drawn: whether negatives are drawn by user, or once for all users.
        relevance: the file of judged items.
        relevant_from: the lowest relevant grade.
        groups: the column of the groups of the rows; of lists, a column of the judged items; or
            ``FILE:COLUMN``, the groups of users.
    """

    separator: str | None = None
    user_column: str | None = None
    candidates_column: str | None = None
    negatives_column: str | None = None
    rank_column: tuple[str, ...] = field(default=())
    zero_based: bool = False
    by: str | None = None
    seeds: str | None = None
    candidates: int | None = None
    negatives: int | None = None
    exact: bool = False
    replacement: bool = False
    drawn: str = "by user"
    relevance: str | None = None
    relevant_from: float | None = None
    groups: str | None = None

    def groups_of_results(self) -> bool | dict[str, str]:
        """Return whether results are by the groups that were read, or the groups of users of a
        file, FILE:COLUMN.

        Raises:
            DataError: the file cannot be read, lacks a column, or has a user twice.
        """
        path, kind = self._file_of_groups
        if not path:
            return self.groups is not None
        from sampled_metrics.core.ranks.groups import read_groups

        return read_groups(path, kind)

    @property
    def _file_of_groups(self) -> tuple[str, str]:
        """The file and the column of ``FILE:COLUMN``; empty if groups are a column of the ranks."""
        if self.groups and os.path.isfile(self.groups):
            raise ConfigError(
                f"--groups {self.groups}: is a file; name its column, too, as in {self.groups}:age"
            )
        path, _, kind = (self.groups or "").rpartition(":")
        is_file = os.path.exists(path) or path.endswith((".csv", ".csv.gz", ".parquet"))
        return (path, kind) if is_file and kind else ("", "")

    @property
    def _column_of_groups(self) -> str | None:
        return None if self._file_of_groups[0] else self.groups

    @property
    def is_of_several(self) -> bool:
        """Return whether one table has the ranks of several recommenders."""
        return self.by is not None or len(self.rank_column or ()) > 1

    def columns(self, path: str) -> Any:
        """Read a file, or standard input; columns that are not used may be left out.

        A file of staged ranks gives `StagedRanks`, which need no reader.
        """
        from sampled_metrics.core.ranks.reading import read_columns, read_standard_input
        from sampled_metrics.core.ranks.saved import table_of_file

        table = table_of_file(path)
        if table is not None:
            return table
        given = {
            "user": self.user_column,
            "candidates": self.candidates_column,
            "negatives": self.negatives_column,
        }
        names = {column: name for column, name in given.items() if name}
        kept = [
            *names.values(),
            *(self.rank_column or ()),
            *filter(None, (self.by, self.seeds, self._column_of_groups)),
        ]
        columns = (
            read_standard_input(self.separator, kept)
            if path == "-"
            else read_columns(path, self.separator, kept)
        )
        return replace(columns.named(names), refuses_shallow=True)

    def recommenders(
        self, arguments: tuple[str, ...], *, unnamed: bool = False
    ) -> Columns | dict[str, Columns]:
        """Return the columns of FILE or NAME=FILE by recommender, or one table that has the ranks
        of several.

        If `unnamed`, a single FILE is one recommender without a name, too.
        """
        if len(arguments) == 1 and (self.is_of_several or unnamed):
            name, paths = named_files(arguments[0])
            if name is None:
                return self.columns(paths[0])
            if self.is_of_several:
                raise ConfigError(
                    f"{arguments[0]}: a table of several recommenders has no name of its own"
                )
        by_name = self.columns_of_seeds(arguments)
        if several := next((name for name, seeds in by_name.items() if len(seeds) > 1), None):
            raise ConfigError(
                f"{several}: several files are the seeds of a recommender, which evaluate, "
                "correct and compare take"
            )
        return {name: seeds[0] for name, seeds in by_name.items()}

    def columns_of_seeds(self, arguments: tuple[str, ...]) -> dict[str, list[Columns]]:
        """Return the columns of the seeds of recommenders, FILE or NAME=FILE,FILE,..., by name."""
        named = [named_files(argument) for argument in arguments]
        names = iter(_names(tuple(paths[0] for name, paths in named if name is None)))
        seeds: dict[str, list[Columns]] = {}
        for given, paths in named:
            name = next(names) if given is None else given
            if name in seeds:
                raise ConfigError(f"{name}: is given twice")
            seeds[name] = [self.columns(path) for path in paths]
        return seeds

    def tables(self, columns: Columns | dict[str, Columns], kind: str = "") -> Any:
        """Return the tables of ranks of one recommender, or by name; staged ranks as they are.

        Args:
            columns: of one recommender, or by name.
            kind: exact or sampled. The others are ranked lists if there are judged items, sampled
                ranks if m is given or a column, and else exact.
        """
        from sampled_metrics.core.ranks.table import Table

        by_name = columns if isinstance(columns, dict) else {"ranks": columns}
        others = {name: table for name, table in by_name.items() if not isinstance(table, Table)}
        if not others:
            self._refuse_for_staged()
            return columns
        return (
            columns | self._read(others, kind)
            if isinstance(columns, dict)
            else self._read(columns, kind)
        )

    def _refuse_for_staged(self) -> None:
        """Raise ConfigError if an option is for tables, and all files have staged ranks."""
        of_tables = {option.name: getattr(self, option.name) for option in fields(self)}
        of_tables |= {"drawn": self.drawn == "once", "groups": self._column_of_groups}
        if idle := [name for name, value in of_tables.items() if value]:
            raise ConfigError(
                f"{_option(idle[0])}: staged ranks are read as they are; leave it out"
            )

    def _read(self, columns: Any, kind: str) -> Any:
        """Return the tables of ranks of columns that are not staged ranks."""
        import sampled_metrics as sm

        names = {"by": self.by, "seeds": self.seeds, "rank_column": self.rank_column or None}
        options: dict[str, Any] = {
            **names,
            "groups": self._column_of_groups,
            "zero_based": self.zero_based,
        }
        if self.relevance is not None:
            of_ranks = (
                "candidates",
                "candidates_column",
                "negatives",
                "negatives_column",
                "exact",
                "replacement",
            )
            given = {name: getattr(self, name) for name in of_ranks}
            for name, value in {**given, "drawn": self.drawn == "once"}.items():
                if value:
                    raise ConfigError(
                        f"{_option(name)} is for ranks, and --relevance for ranked lists"
                    )
            judged = self.columns(self.relevance)
            return sm.ranked_lists(
                columns, relevance=judged, relevant_from=self.relevant_from, **options
            )
        if self.relevant_from is not None:
            raise ConfigError("--relevant-from is for ranked lists, so it needs --relevance")
        by_name = columns if isinstance(columns, dict) else {"ranks": columns}
        is_given = self.negatives is not None or any(
            "negatives" in table for table in by_name.values()
        )
        if kind == "exact" or not (kind or is_given):
            if self.drawn == "once":
                raise ConfigError(
                    "--drawn is for ranks among sampled negatives: say how many, with --negatives"
                )
            return sm.exact_ranks(columns, candidates=self.candidates, exact=self.exact, **options)
        if not kind and (
            exact := next((name for name, table in by_name.items() if "above" in table), None)
        ):
            raise DataError(
                f"{exact} has exact ranks, and others are sampled; they cannot be compared"
            )
        if self.exact:
            raise ConfigError(
                "--exact is for ranks among all candidates, and these are among sampled negatives"
            )
        sample: dict[str, Any] = {
            "negatives": self.negatives,
            "replacement": self.replacement,
            "drawn": self.drawn,
        }
        return sm.sampled_ranks(columns, candidates=self.candidates, **sample, **options)

    def tables_of_runs(self, arguments: tuple[str, ...], kind: str) -> Any:
        """Return the tables of one recommender or more, each with one run or several, as `tables`
        does.
        """
        if any(len(named_files(argument)[1]) > 1 for argument in arguments):
            return self.tables_of_seeds(arguments, kind)
        return self.tables(self.recommenders(arguments, unnamed=True), kind)

    def tables_of_seeds(self, arguments: tuple[str, ...], kind: str = "") -> dict[str, list[Table]]:
        """Return the tables of the seeds of recommenders, or of their draws, as `tables` does."""
        seeds = self.columns_of_seeds(arguments)
        if self.seeds is not None:
            return self._tables_by_column_of_seeds(seeds, kind)
        by_seed: dict[str, Columns] = {}
        for name, columns in seeds.items():
            for number, of_seed in enumerate(columns, 1):
                label = name if len(columns) == 1 else f"{name}, seed {number}"
                if label in by_seed:
                    raise ConfigError(
                        f"{label}: is the name of a recommender and of a seed; give it another name"
                    )
                by_seed[label] = of_seed
        tables = iter(self.tables(by_seed, kind).values())
        return {name: [next(tables) for _ in columns] for name, columns in seeds.items()}

    def _tables_by_column_of_seeds(
        self, files: dict[str, list[Columns]], kind: str
    ) -> dict[str, list[Table]]:
        """Return the tables of the seeds of recommenders, whose files have a column of seeds."""
        if several := next((name for name, columns in files.items() if len(columns) > 1), None):
            raise ConfigError(
                f"{several}: several files are the seeds of a recommender already; give one with "
                f"--seeds {self.seeds}"
            )
        by_name = self.tables({name: columns[0] for name, columns in files.items()}, kind)
        return {
            name: tables if isinstance(tables, list) else [tables]
            for name, tables in by_name.items()
        }


def reading(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that gives a command its files, options on them, and both as `ranks` and
    a `Reading`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_reading(**given: Any) -> Any:
            names = [option.name for option in fields(Reading) if option.name in given]
            return command(reading=Reading(**{name: given.pop(name) for name in names}), **given)

        return together(shared.RANKS, shared.READING, *options)(with_reading)

    return decorate


ANY_TABLES = reading(
    shared.BY,
    shared.LISTS,
    shared.CANDIDATES,
    shared.EXACT,
    shared.NEGATIVES,
    shared.REPLACEMENT,
    shared.DRAWN,
    shared.GROUPS,
)
"""The options of a command that takes exact or sampled ranks, or ranked lists."""


def are_sampled(tables: Any) -> bool:
    """Return whether tables, by the names of recommenders, or one alone, are sampled ranks."""
    from sampled_metrics.core.ranks.sampled import SampledRanks

    table = next(iter(tables.values())) if isinstance(tables, dict) else tables
    return isinstance(table[0] if isinstance(table, list) else table, SampledRanks)


def _option(name: str) -> str:
    """Return an option as it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name recommenders by their files, without folders and endings, or by their paths if these
    names repeat.
    """
    names = [
        "stdin" if path == "-" else printable(Path(path).name.split(".")[0] or path)
        for path in paths
    ]
    if len(set(names)) < len(names):
        names = list(map(printable, paths))
    if len(set(names)) < len(names):
        raise ConfigError(
            f"{next(name for name in names if names.count(name) > 1)}: is given twice"
        )
    return names
