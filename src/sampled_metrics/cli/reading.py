"""How a command was told to read its files, and the tables that it reads so."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampled_metrics._registry import has_package
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import named_files, together
from sampled_metrics.errors import ConfigError, printable

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.ranks.frames import Columns


@dataclass(frozen=True)
class Reading:
    """How a command was told to read its files.

    Attributes:
        separator: the character between the fields of a line; None if it is noticed.
        user_column: the name of the column user in the files, if it has another one; likewise the
            next four.
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
    item_column: str | None = None
    score_column: str | None = None
    rank_column: tuple[str, ...] | None = None
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

    def tables(self, arguments: tuple[str, ...], kind: str = "", unnamed: bool = False) -> Any:
        """Return the tables of recommenders, FILE or NAME=FILE,FILE,..., by name.

        A single FILE of several recommenders gives a mapping from their names.

        Args:
            arguments: the files.
            kind: exact or sampled. The default is ranked lists if there are judged items, sampled
                ranks if there are negatives, and else exact ranks.
            unnamed: whether a single FILE gives its table alone.

        Raises:
            ConfigError: an option is not for this kind, or a name is given twice.
        """
        sources = self._sources(arguments)
        columns = {
            name: [file for file in files if not _is_table(file)] for name, files in sources.items()
        }
        columns = {name: files for name, files in columns.items() if files}
        read = self._reader(kind, [file for files in columns.values() for file in files])
        is_of_several = self.by is not None or len(self.rank_column or ()) > 1
        is_alone = len(arguments) == 1 and named_files(arguments[0])[0] is None
        if is_of_several and not is_alone:
            raise ConfigError(
                "--by, and several of --rank-column, are for one file with all recommenders; "
                "give it without NAME="
            )
        if is_alone and (unnamed or is_of_several):
            [[file]] = sources.values()
            return read(file) if columns else file
        tables = read(columns) if columns else {}
        by_name = dict[str, Any]()
        for name, files in sources.items():
            read_seeds = tables.get(name, [])
            seeds = read_seeds if isinstance(read_seeds, list) else [read_seeds]
            seeds += filter(_is_table, files)
            by_name[name] = seeds[0] if len(seeds) == 1 else seeds
        return by_name

    def tables_of_any_kind(self, arguments: tuple[str, ...]) -> Any:
        """Return the tables as `tables` does; raise ConfigError if --replacement has no effect."""
        tables = self.tables(arguments)
        if self.replacement and not are_sampled(tables):
            raise ConfigError(
                "--replacement is for ranks among sampled negatives: say how many, with --negatives"
            )
        return tables

    def _sources(self, arguments: tuple[str, ...]) -> dict[str, list[Any]]:
        """Return the columns of files, or tables of staged ranks, by recommender."""
        from sampled_metrics.core.ranks.saved import table_of_file

        named = [named_files(argument) for argument in arguments]
        names_of_unnamed = iter(_names(tuple(paths[0] for name, paths in named if name is None)))
        sources: dict[str, list[Any]] = {}
        for stated_name, paths in named:
            name = next(names_of_unnamed) if stated_name is None else stated_name
            if name in sources:
                raise ConfigError(f"{name}: is given twice")
            sources[name] = []
            for path in paths:
                table = table_of_file(path)
                sources[name].append(self._columns(path) if table is None else table)
        return sources

    def _columns(self, path: str) -> Columns:
        """Return the columns of a file, or of standard input."""
        from sampled_metrics.core.ranks.reading import read_columns, read_standard_input

        if path == "-":
            return read_standard_input(self.separator)
        return read_columns(path, self.separator)

    def _reader(self, kind: str, columns: list[Columns]) -> Callable[..., Any]:
        """Return the reader of a kind, with the options of the command.

        Raises ConfigError if the reader does not have one of them.
        """
        import sampled_metrics as sm

        if self.relevance is not None:
            if not has_package("lists"):
                raise ConfigError("--relevance: sampled_metrics.lists is not installed")
            reader: Callable[..., Any] = sm.ranked_lists
        elif kind == "sampled" or (not kind and self._has_negatives(columns)):
            reader = sm.sampled_ranks
        else:
            reader = sm.exact_ranks
        kind_of_ranks = reader.__name__ if columns else "staged ranks"
        known = inspect.signature(reader).parameters if columns else {}
        options = dict[str, Any]()
        for option in fields(self):
            value = getattr(self, option.name)
            # some functions take it, too, and separate files
            is_of_others = option.name in ("separator", "replacement")
            if option.name == "groups" and self._file_of_groups[0]:
                continue
            if option.name in known:
                options[option.name] = value
            elif value != option.default and not is_of_others:
                name = option.name.replace("_", "-")
                raise ConfigError(f"--{name}: is not for {kind_of_ranks}; leave it out")
        if self.relevance is not None:
            options["relevance"] = self._columns(self.relevance)
        return partial(reader, **options)

    def _has_negatives(self, columns: list[Columns]) -> bool:
        is_option = self.negatives is not None or self.negatives_column is not None
        return is_option or any("negatives" in table for table in columns)


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


def _is_table(file: Any) -> bool:
    """Return whether a file was read as a table, as of staged ranks, and not as columns."""
    from sampled_metrics.core.ranks.table import Table

    return isinstance(file, Table)


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name recommenders by their files.

    A name is the file's name without folder and ending. If two names would be equal, they are the
    paths.
    """
    names = [
        "stdin" if path == "-" else printable(Path(path).name.split(".")[0] or path)
        for path in paths
    ]
    if len(set(names)) < len(names):
        names = list(map(printable, paths))
    return names
