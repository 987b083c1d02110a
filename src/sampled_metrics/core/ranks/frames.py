"""Columns of ranks from an array, a table or a file, with the place of each row for messages."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Floats, Ints, refuse_masked, shown
from sampled_metrics.core.data.ids import INEXACT, as_text, id_column
from sampled_metrics.core.data.labels import has_labels, with_index
from sampled_metrics.core.data.tables import Location, refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.lookup import values_of_rows
from sampled_metrics.errors import DataError, reason

NAMES = {
    "user": {"user", "userid", "uid", "query", "queryid", "qid"},
    "rank": {"rank", "ranks", "position"},
    "candidates": {"candidates", "ncandidates", "numcandidates", "nitems", "numitems"},
    "negatives": {"negatives", "nnegatives", "numnegatives"},
    "above": {"above"},
    "tied": {"tied", "ties"},
    "item": {"item", "itemid", "iid", "movieid", "doc", "docid", "docno"},
    "score": {"score", "scores", "prediction", "similarity"},
    "relevance": {"relevance", "rel", "rating", "grade", "label", "score"},
}
"""Usual names of columns, in lower case and without punctuation."""

RANKS = ("user", "candidates", "negatives", "above", "tied", "rank")
"""The columns of ranks."""

CONTENT = ("rank", "above")
"""The columns of which a dict of ranks has one."""

MEANINGS = {
    "candidates": "how many items an exact evaluation ranks for each user",
    "negatives": "how many negatives were sampled for each user",
}
"""Meaning of the columns that can also be arguments."""

RanksLike = Any
"""Accepted forms of ranks: numbers, a table, a file's path or columns, or a rank table.

Numbers have one dimension.

A table is a pandas DataFrame, a dict of columns, or what narwhals reads: polars, pyarrow, DuckDB
and others.
"""

PerUser = ArrayLike | Mapping[Any, Any]
"""One number for all users, (rows,) numbers, or numbers by user: a mapping or a Series."""

LISTS = (
    "ranked lists and judged items have a row for each user and item, with the columns user, item "
    "and score (or rank, or relevance), or are a dict {user: {item: number}}"
)

_STAGED = {"outcome", "uniform", "fold", "scored"}
"""Columns that only staged ranks have."""


@dataclass(frozen=True)
class Columns:
    """Columns of ranks as the source has them, not yet checked; columns of a csv file are text.

    Messages call the source `name` and a row `location(row)`.

    Attributes:
        names: the name in the source of each column that the caller named.
        zero_based: whether ranks start at 0 in the source.
        grouped_by: the column of the groups of the rows.
        seed_name: the seed that the rows belong to; empty if it is not known.
    """

    name: str
    frame: pd.DataFrame
    location: Location
    names: Mapping[str, Any] = field(default_factory=dict)
    zero_based: bool = False
    grouped_by: Any = None
    seed_name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.frame.columns, pd.MultiIndex):
            raise DataError(f"{self.name}: has columns with several levels; they have one level")
        if len(self.frame) == 0:
            raise DataError(f"{self.name}: has no rows")
        if {*self.frame.columns} >= _STAGED:
            raise DataError(
                f"{self.name}: has staged ranks, which are not exact: above counts only the "
                "candidates that were scored. read_ranks reads the file that staged_ranks wrote"
            )

    # --- names ----------------------------------------------------------------------------------

    def named(self, names: Mapping[str, str], zero_based: bool, groups: str | None) -> "Columns":
        """Return the columns with the names that the caller gives; DataError if one is missing."""
        return replace(
            self,
            names={column: self.in_source(name) for column, name in names.items()},
            zero_based=zero_based,
            grouped_by=None if groups is None else self.in_source(groups),
        )

    def in_source(self, name: str) -> Any:
        """Return the name in the source of a column that the caller names.

        The caller may also write what the column is taken as. Raises DataError unless there is one.
        """
        count = [*self.frame.columns].count(name)
        if count > 1:
            raise DataError(f"{self.name}: has the column {name!r} {count} times")
        if count == 0:
            self.require(name)
            return self._source(name)
        return name

    def _source(self, column: str) -> Any:
        """Return the name in the source of a column, its own or a usual one; None without it."""
        if column in self.names:
            return self.names[column]
        usual = NAMES.get(column, set())
        free = [name for name in self.frame.columns if name not in [*self.names.values()]]
        sources = [name for name in free if name == column]
        sources = sources or [name for name in free if plain(name) in usual]
        if len(sources) > 1:
            several = ", ".join(map(repr, sources))
            raise DataError(
                f"{self.name}: has several columns for {column}: {several}; name the right column "
                f"with {column}_column (--{column}-column), or rename the others"
            )
        return sources[0] if sources else None

    def called(self, column: str) -> str:
        """Return the name of a column in the source."""
        source = self._source(column)
        return column if source is None else str(source)

    def __contains__(self, column: str) -> bool:
        return self._source(column) is not None

    def __getitem__(self, column: str) -> pd.Series:
        return self.frame[self._source(column)]

    def __len__(self) -> int:
        return len(self.frame)

    def require(self, *columns: str) -> None:
        """Raise DataError unless all columns exist."""
        missing = [column for column in columns if column not in self]
        if missing:
            names = ", ".join(map(repr, self.frame.columns))
            raise DataError(
                f"{self.name}: lacks the column {', '.join(missing)} (the columns are "
                f"{names:.300}){self._hint_on(missing[0])}"
            )

    def _hint_on(self, column: str) -> str:
        if len(self.frame.columns) == 1 and " " in str(self.frame.columns[0]):
            return f"; {LISTS}; --separator names another character between the fields"
        if column in MEANINGS:
            return (
                f"; that is {MEANINGS[column]}: give {column}= (--{column}), or name the column "
                f"with {column}_column (--{column}-column)"
            )
        if column == "rank" and "item" in self:
            return "; ranked_lists (--relevance) reads lists of items"
        if column in ("user", "item"):
            return f"; {LISTS}"
        return "; name it with rank_column (--rank-column)" if column == "rank" else ""

    # --- rows -----------------------------------------------------------------------------------

    def by(self, column: str) -> dict[str, "Columns"]:
        """Return the rows of each id of a column, by id, without this column."""
        source = self.in_source(column)
        codes, ids = self._ids_of(source)
        frame = self.frame.drop(columns=source)
        ends = np.cumsum(np.bincount(codes, minlength=len(ids)))
        rows_of_ids = np.split(np.argsort(codes, kind="stable"), ends[:-1])
        columns_by_id = dict[str, Columns]()
        for label, rows in zip(ids, rows_of_ids, strict=True):
            location = partial(_location_of, self.location, rows)
            rows_of_id = frame.iloc[rows].reset_index(drop=True)
            columns_by_id[str(label)] = Columns(self.name, rows_of_id, location)
        return columns_by_id

    def by_seed(self, column: str) -> list["Columns"]:
        """Return the rows of each seed, in the order of the seeds."""
        columns_by_id = self.by(column)
        return [replace(columns_by_id[seed], seed_name=seed) for seed in in_order(columns_by_id)]

    def by_rank_column(self, columns: Sequence[str]) -> dict[str, "Columns"]:
        """Return the table of each of several columns of ranks, by their names."""
        sources = {column: self.in_source(column) for column in columns}
        tables = dict[str, Columns]()
        for column, source in sources.items():
            others = {*sources.values()} - {source}
            tables[column] = replace(self, frame=self.frame.drop(columns=others))
        return tables

    # --- values ---------------------------------------------------------------------------------

    @property
    def best_rank(self) -> int:
        """Return the best rank, as the source writes it."""
        return 0 if self.zero_based else 1

    def counts(self) -> tuple[Ints, Ints]:
        """Return the (rows,) numbers of items above the held-out item, and tied with it.

        Raises DataError if there are both ranks and counts, or neither.
        """
        has_counts = "above" in self or "tied" in self
        if has_counts and ("rank" in self.names or "rank" in self.frame):
            raise DataError(
                f"{self.name}: has both {self.called('rank')} and above or tied; ranks are one "
                "column, or the columns above and tied"
            )
        if has_counts:
            self.require("above", "tied")
            return self.whole_numbers("above", 0), self.whole_numbers("tied", 0)
        self.require("rank")
        above = self.whole_numbers("rank", self.best_rank) - self.best_rank
        return above, np.zeros_like(above)

    @property
    def are_counts(self) -> bool:
        """Return whether ranks are the columns above and tied."""
        return "above" in self

    def whole_numbers(self, column: str, lowest: int) -> Ints:
        """Return a column as (rows,) integers.

        Raises DataError if a cell is not a whole number of `lowest` or more.
        """
        values = self[column]
        numbers = _as_numbers(values, "iuf")
        with np.errstate(invalid="ignore"):
            is_whole = (numbers >= lowest) & (numbers == np.floor(numbers)) & (numbers < 2**53)

        def message(row: int) -> str:
            rule = f"{self.called(column)} must be a whole number from {lowest} on"
            hint = _hint_on_rank(numbers, row) if column == "rank" else ""
            return f"{rule}, not {shown(values.iloc[row])}{hint}"

        refuse_rows(~is_whole, message, self.location)
        return numbers.astype(np.int64)

    def numbers(self, column: str, lowest: float = -np.inf) -> Floats:
        """Return a column as (rows,) numbers, which may be infinite.

        Raises DataError if a cell is not a number of `lowest` or more.
        """
        values = self[column]
        numbers = _as_numbers(values, "iufb").astype(np.float64)
        limit = "" if lowest == -np.inf else f" of {lowest:g} or more"
        name = self.called(column)
        refuse_rows(
            ~(numbers >= lowest),
            lambda row: f"{name} must be a number{limit}, not {shown(values.iloc[row])}",
            self.location,
        )
        return numbers

    def column_or_argument(self, name: str, argument: PerUser | None, lowest: int) -> Ints:
        """Return candidates or negatives as (rows,) integers, from the argument or the column.

        Raises DataError if there is neither, or a number is wrong or below `lowest`.
        """
        if argument is None:
            self.require(name)
            return self.whole_numbers(name, lowest)
        refuse_masked(argument, f"{self.name}: {name}")
        values: Any = argument
        if isinstance(argument, Mapping | pd.Series):
            values = values_of_rows(
                argument, self.users(), self.frame.index, f"{self.name}: {name}", self.location
            )
        numbers = _of_numbers(values, self.name, name).whole_numbers(name, lowest)
        if np.ndim(values) and len(numbers) != len(self):
            raise DataError(
                f"{self.name}: {name} must be one number, or one for each of the {len(self)} "
                f"rows, not {len(numbers)}"
            )
        return np.broadcast_to(numbers, len(self)).copy()

    def ids(self, column: str) -> tuple[Ints, pd.Index]:
        """Return the (rows,) numbers of ids, and the distinct ids as text, ascending.

        Raises DataError if a cell is empty or a list, or is a float that may stand for several ids.
        """
        return self._ids_of(self._source(column))

    def _ids_of(self, source: Any) -> tuple[Ints, pd.Index]:
        if source not in self._known_ids:
            values = self.frame[source]
            if values.dtype == object:
                refuse_rows(
                    values.map(pd.api.types.is_list_like),
                    lambda row: f"{source} has several values in a cell; give each a row",
                    self.location,
                )
            column = id_column(values)
            refuse_rows(column.codes < 0, lambda row: f"{source} is empty", self.location)
            refuse_rows(
                column.is_inexact,
                lambda row: f"{source} is {shown(values.iloc[row])}, {INEXACT}",
                self.location,
            )
            self._known_ids[source] = column.codes, column.ids
        return self._known_ids[source]

    @cached_property
    def _known_ids(self) -> dict[Any, tuple[Ints, pd.Index]]:
        """The ids of the columns of the source that were asked for."""
        return {}

    def groups(self) -> NDArray[np.str_] | None:
        """Return the (rows,) names of the groups; None without groups.

        Raises DataError if a cell is empty.
        """
        if self.grouped_by is None:
            return None
        codes, ids = self._ids_of(self.grouped_by)
        return ids.to_numpy(dtype=np.str_)[codes]

    def users(self) -> NDArray[np.generic] | None:
        """Return the (rows,) users, as integers if all are whole numbers; None without them.

        Raises DataError if a user is empty.
        """
        return self._numbered_users[0] if "user" in self else None

    @cached_property
    def _numbered_users(self) -> tuple[NDArray[np.generic], Ints]:
        column = self["user"]
        if _is_numpy(column, "iu"):
            return column.to_numpy(), pd.factorize(column)[0]
        codes, ids = self.ids("user")
        is_whole = ids.str.fullmatch("0|[1-9][0-9]{0,17}").all()
        users: NDArray[np.generic] = ids.to_numpy(dtype=np.int64 if is_whole else np.str_)
        return users[codes], codes

    def users_of_ranks(self) -> NDArray[np.generic] | None:
        """Return the users as `users` does, where a row has the rank of one held-out item.

        Raises DataError if an unused column distinguishes several rows of each user, as a seed, a
        fold or a recommender does.
        """
        if "user" not in self:
            return None
        users, codes = self._numbered_users
        rows = np.bincount(codes)
        if rows[0] == 1 or (rows != rows[0]).any():
            return users
        for column in self._unused(RANKS):
            value, distinct = pd.factorize(self.frame[column].astype(str))
            is_split = len(np.unique(codes * len(distinct) + value)) == len(users)
            if len(distinct) == rows[0] and is_split:
                raise DataError(
                    f"{self.name}: has {rows[0]} rows of each user, one for each value of the "
                    f"column {column} ({', '.join(distinct):.60}); name the column with by "
                    "(recommenders), seeds or groups, or leave it out"
                )
        return users

    # --- findings -------------------------------------------------------------------------------

    def _unused(self, used: Collection[str]) -> list[Any]:
        """Return the columns of the source that are not used.

        The column of an index without a name, which `to_csv` writes, is not counted.
        """
        sources = {*map(self._source, used), self.grouped_by, ""}
        return [column for column in self.frame.columns.unique() if column not in sources]

    def remarks_on_ranks(self, above: Ints, **arguments: PerUser | None) -> tuple[Finding, ...]:
        """Return `remarks` on ranks, and a caution if ranks from 0 begin above it.

        A column is not used if there is an argument for it.
        """
        used = [column for column in RANKS if arguments.get(column) is None]
        if self.are_counts:
            used.remove("rank")
        elif self.zero_based and above.min() > 0:
            return (*self.remarks(used), Finding("no-rank-zero", values={"source": self.name}))
        return self.remarks(used)

    def remarks(self, used: Collection[str]) -> tuple[Finding, ...]:
        """Return findings on the columns with usual names, and on the columns that are not used."""
        findings = []
        taken = {
            column: self.called(column)
            for column in used
            if column in self and column not in self.names and plain(self.called(column)) != column
        }
        if taken:
            findings.append(Finding("columns-taken", values={"columns": taken}))
        if unused := self._unused(used):
            names = [str(column) for column in unused]
            findings.append(Finding("columns-not-used", values={"columns": names}))
        return tuple(findings)


def in_order(labels: Collection[str]) -> list[str]:
    """Return labels in the order of their numbers, or of their texts if one is not a number."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def _hint_on_rank(numbers: NDArray[Any], row: int) -> str:
    """Return what to do about a number that is not a rank."""
    number = numbers[row]
    if number == 0:
        is_hit = np.isin(numbers, (0, 1)).all()
        return (
            "; hits alone are not ranks: published takes their metric"
            if is_hit
            else "; zero_based=True (--zero-based) reads ranks that start at 0"
        )
    if number > 0 and np.isfinite(number):
        return "; give ties as the columns above and tied"
    return "; an item that was not found has the last rank, or is left out of ranked_lists"


def _location_of(location: Location, rows: Ints, row: int) -> str:
    return location(int(rows[row]))


def columns_of(data: Any, name: str, value_name: str = "score") -> Columns:
    """Return a table or one-dimensional ranks as columns; columns are returned unchanged.

    The named levels of the index of a data frame are columns, and labels of a Series of ranks are
    users. The numbers of a dict {user: {item: number}}, or of a Series by user and item, are called
    `number`. Raises DataError if the data have another form, or an entry is masked.
    """
    if isinstance(data, Columns):
        return data
    refuse_masked(data, name)
    data = as_pandas(data, name, value_name)
    if isinstance(data, pd.Series) and has_labels(data):
        data = _table_of_series(data, name, value_name)
    if not isinstance(data, pd.DataFrame):
        return _of_numbers(data, name, "rank")
    return Columns(name, with_index(data, name), lambda row: f"{name}, row {row + 1}")


def _table_of_series(series: pd.Series, name: str, value_name: str) -> pd.DataFrame:
    """Return a Series with labels as a frame of ranks, items, or numbers of users and items."""
    if series.index.nlevels == 1 and series.index.name is None:
        if not series.index.is_unique:
            raise DataError(
                f"{name}: the index without a name has a label twice; call it user if it has "
                "users, or leave it out with reset_index(drop=True)"
            )
        series = series.rename_axis("user")
    if plain(series.name) in NAMES["item"] | NAMES["rank"]:
        return series.to_frame()
    has_items = any(plain(level) in NAMES["item"] for level in series.index.names)
    return series.to_frame(value_name if has_items else "rank")


def are_lists(data: Any) -> bool:
    """Return whether this is a dict of dicts of numbers, by user and item."""
    if not isinstance(data, Mapping):
        return False
    if not all(isinstance(items, Mapping) for items in data.values()):
        return False
    return all(isinstance(number, Number) for items in data.values() for number in items.values())


def as_pandas(data: Any, name: str, value_name: str = "score") -> Any:
    """Return a table as a DataFrame, and a column of another library as an array.

    Other data are unchanged.
    """
    if isinstance(data, Mapping):
        try:
            if not are_lists(data):
                return pd.DataFrame(dict(data))
            rows = [
                (user, item, score) for user, items in data.items() for item, score in items.items()
            ]
            return pd.DataFrame(rows, columns=["user", "item", value_name])
        # UnicodeEncodeError is a ValueError: half a pair of surrogates is not text
        except (TypeError, ValueError, OverflowError) as error:
            hint = f"; {LISTS}" if value_name == "relevance" else ""
            raise DataError(f"{name}: is not a table: {reason(error)}{hint}") from None
    if isinstance(data, pd.DataFrame | pd.Series | np.ndarray | list | tuple) or np.isscalar(data):
        return data
    import narwhals as nw  # slow to import

    try:
        table = nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.NarwhalsError as error:  # such as a column twice
        raise DataError(f"{name}: is not a table: {reason(error)}") from None
    if isinstance(table, nw.LazyFrame):
        # a relation of DuckDB gives pandas' table itself; other ways need pyarrow
        table = table.collect("pandas" if table.implementation.is_duckdb() else None)
    if isinstance(table, nw.DataFrame):
        return pd.DataFrame({column: table[column].to_numpy() for column in table.columns})
    return table.to_numpy() if isinstance(table, nw.Series) else data


def plain(name: Any) -> str:
    """Return the name of a column in lower case and without punctuation."""
    return re.sub("[^a-z0-9]", "", str(name).lower())


def _of_numbers(values: Any, name: str, column: str) -> Columns:
    """Return one number or one-dimensional numbers as a single column."""
    try:
        numbers = np.asarray(values)
    except ValueError:  # rows that differ in length
        numbers = np.empty((0, 0))
    if numbers.ndim == 0 and np.isscalar(values) and column != "rank":
        numbers = numbers[np.newaxis]
    if numbers.ndim != 1:
        raise DataError(
            f"{name}: {column} must have one dimension, with a whole number for each user"
        )
    return Columns(name, pd.DataFrame({column: numbers}), lambda row: f"{name}, row {row + 1}")


def _as_numbers(values: pd.Series, kinds: str) -> NDArray[Any]:
    """Return cells of one of the kinds as they are, and others as the numbers of their text."""
    if _is_numpy(values, kinds):
        return values.to_numpy()
    return np.asarray(pd.to_numeric(as_text(values), errors="coerce"))


def _is_numpy(values: pd.Series, kinds: str) -> bool:
    """Return whether the type is a NumPy type of one of the kinds.

    A nullable type does not count, because it can hold missing values.
    """
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in kinds
