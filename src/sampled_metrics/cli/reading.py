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


_OPTIONS_OF_RANKS = (
    "candidates",
    "candidates_column",
    "negatives",
    "negatives_column",
    "exact",
    "replacement",
)
"""Options that ranked lists do not have, beside how negatives are drawn."""


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
        """Return whether results are by the groups that were read, or the groups of FILE:COLUMN.

        The latter are the groups of users, by user.

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
        column_names = {
            "user": self.user_column,
            "candidates": self.candidates_column,
            "negatives": self.negatives_column,
        }
        names = {column: name for column, name in column_names.items() if name}
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
        """Return the columns of FILE or NAME=FILE by recommender, or one table of several.

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
        for name, seeds in by_name.items():
            if len(seeds) > 1:
                raise ConfigError(
                    f"{name}: several files are the seeds of a recommender, which evaluate, "
                    "correct and compare take"
                )
        return {name: seeds[0] for name, seeds in by_name.items()}

    def columns_of_seeds(self, arguments: tuple[str, ...]) -> dict[str, list[Columns]]:
        """Return the columns of the seeds of recommenders, FILE or NAME=FILE,FILE,..., by name."""
        named = [named_files(argument) for argument in arguments]
        unnamed_files = tuple(paths[0] for name, paths in named if name is None)
        names_of_unnamed = iter(_names(unnamed_files))
        seeds: dict[str, list[Columns]] = {}
        for stated_name, paths in named:
            name = next(names_of_unnamed) if stated_name is None else stated_name
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

        by_name = _by_name(columns)
        unread = {name: table for name, table in by_name.items() if not isinstance(table, Table)}
        if not unread:
            self._refuse_for_staged()
            return columns
        if isinstance(columns, dict):
            return columns | self._read(unread, kind)
        return self._read(columns, kind)

    def _refuse_for_staged(self) -> None:
        """Raise ConfigError if an option is for tables, and all files have staged ranks."""
        options = {option.name: getattr(self, option.name) for option in fields(self)}
        options |= {"drawn": self.drawn == "once", "groups": self._column_of_groups}
        for name, value in options.items():
            if value:
                raise ConfigError(
                    f"{_option(name)}: staged ranks are read as they are; leave it out"
                )

    def _read(self, columns: Any, kind: str) -> Any:
        """Return the tables of ranks of columns that are not staged ranks."""
        if self.relevance is not None:
            return self._ranked_lists(columns, self.relevance)
        if self.relevant_from is not None:
            raise ConfigError("--relevant-from is for ranked lists, so it needs --relevance")
        by_name = _by_name(columns)
        has_column = any("negatives" in table for table in by_name.values())
        has_negatives = self.negatives is not None or has_column
        if kind == "exact" or not (kind or has_negatives):
            return self._exact_ranks(columns)
        for name, table in by_name.items():
            if not kind and "above" in table:
                raise DataError(
                    f"{name} has exact ranks, and others are sampled; they cannot be compared"
                )
        return self._sampled_ranks(columns)

    @property
    def _reader_options(self) -> dict[str, Any]:
        """The options of all readers of the library."""
        return {
            "by": self.by,
            "seeds": self.seeds,
            "rank_column": self.rank_column or None,
            "groups": self._column_of_groups,
            "zero_based": self.zero_based,
        }

    def _ranked_lists(self, columns: Any, relevance: str) -> Any:
        """Return the ranked lists of columns, by the judged items of a file."""
        import sampled_metrics as sm

        options = {name: getattr(self, name) for name in _OPTIONS_OF_RANKS}
        for name, value in {**options, "drawn": self.drawn == "once"}.items():
            if value:
                raise ConfigError(f"{_option(name)} is for ranks, and --relevance for ranked lists")
        return sm.ranked_lists(
            columns,
            relevance=self.columns(relevance),
            relevant_from=self.relevant_from,
            **self._reader_options,
        )

    def _exact_ranks(self, columns: Any) -> Any:
        """Return the exact ranks of columns."""
        import sampled_metrics as sm

        if self.drawn == "once":
            raise ConfigError(
                "--drawn is for ranks among sampled negatives: say how many, with --negatives"
            )
        return sm.exact_ranks(
            columns, candidates=self.candidates, exact=self.exact, **self._reader_options
        )

    def _sampled_ranks(self, columns: Any) -> Any:
        """Return the sampled ranks of columns."""
        import sampled_metrics as sm

        if self.exact:
            raise ConfigError(
                "--exact is for ranks among all candidates, and these are among sampled negatives"
            )
        drawn: Any = self.drawn  # click has checked it
        return sm.sampled_ranks(
            columns,
            candidates=self.candidates,
            negatives=self.negatives,
            replacement=self.replacement,
            drawn=drawn,
            **self._reader_options,
        )

    def tables_of_runs(self, arguments: tuple[str, ...], kind: str) -> Any:
        """Return the tables of recommenders that have one run or several, as `tables` does."""
        if any(len(named_files(argument)[1]) > 1 for argument in arguments):
            return self.tables_of_seeds(arguments, kind)
        return self.tables(self.recommenders(arguments, unnamed=True), kind)

    def tables_of_seeds(self, arguments: tuple[str, ...], kind: str = "") -> dict[str, list[Table]]:
        """Return the tables of the seeds of recommenders, or of their draws, as `tables` does."""
        by_name = self.columns_of_seeds(arguments)
        if self.seeds is not None:
            return self._tables_by_column_of_seeds(by_name, kind)
        by_label: dict[str, Columns] = {}
        for name, seeds in by_name.items():
            for number, columns in enumerate(seeds, 1):
                label = name if len(seeds) == 1 else f"{name}, seed {number}"
                if label in by_label:
                    raise ConfigError(
                        f"{label}: is the name of a recommender and of a seed; give it another name"
                    )
                by_label[label] = columns
        # read together, so that they are all of one kind
        tables = iter(self.tables(by_label, kind).values())
        return {name: [next(tables) for _ in seeds] for name, seeds in by_name.items()}

    def _tables_by_column_of_seeds(
        self, by_name: dict[str, list[Columns]], kind: str
    ) -> dict[str, list[Table]]:
        """Return the tables of the seeds of recommenders, whose files have a column of seeds."""
        for name, files in by_name.items():
            if len(files) > 1:
                raise ConfigError(
                    f"{name}: several files are the seeds of a recommender already; give one with "
                    f"--seeds {self.seeds}"
                )
        tables_by_name = self.tables({name: files[0] for name, files in by_name.items()}, kind)
        return {
            name: tables if isinstance(tables, list) else [tables]
            for name, tables in tables_by_name.items()
        }


def reading(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that gives a command its files and the options on how they are read.

    The command gets them as `ranks` and `reading`, a `Reading`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_reading(**arguments: Any) -> Any:
            names = [option.name for option in fields(Reading) if option.name in arguments]
            reading = Reading(**{name: arguments.pop(name) for name in names})
            return command(reading=reading, **arguments)

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


def _by_name(columns: Any) -> dict[str, Any]:
    """Return columns by the names of recommenders; those of one without a name as ranks."""
    return columns if isinstance(columns, dict) else {"ranks": columns}


def _option(name: str) -> str:
    """Return an option as it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name recommenders by their files.

    The names are without folders and endings. If they repeat, they are the paths.
    """
    names = [
        "stdin" if path == "-" else printable(Path(path).name.split(".")[0] or path)
        for path in paths
    ]
    if len(set(names)) < len(names):
        names = list(map(printable, paths))
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name}: is given twice")
    return names
