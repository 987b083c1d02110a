"""Columns of ranks from an array, a table or a file, with the place of each row for messages."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._validation import Floats, Ints, enumerated, refuse_masked, shown
from sampled_metrics.data.tables import Place, refuse_rows
from sampled_metrics.errors import DataError, reason

COLUMNS = ("user", "candidates", "negatives", "above", "tied", "rank")
"""Names of the columns that are used. Other columns are named in a remark."""

NAMES = {
    "user": {"user", "userid", "uid", "useridx", "userindex", "query", "queryid", "qid"},
    "rank": {"rank", "ranks", "position"},
    "candidates": {"candidates", "ncandidates", "numcandidates", "nitems", "numitems"},
    "negatives": {"negatives", "nnegatives", "numnegatives", "nneg", "numneg"},
    "above": {"above"},
    "tied": {"tied", "ties"},
    "item": {
        "item",
        "items",
        "itemid",
        "itemsid",
        "iid",
        "itemidx",
        "itemindex",
        "movie",
        "movieid",
        "corpusid",
        "doc",
        "docid",
        "docno",
        "documentid",
    },
    "score": {"score", "scores", "prediction", "predictions", "similarity"},
    "relevance": {"relevance", "rel", "rating", "ratings", "grade", "grades", "label", "labels", "judgement", "score"},
}
"""Other names of columns, in lower case and without signs between words."""

CONTENT = ("rank", "above", "tied", "item")
"""Columns of which a table of ranks, of lists or of judged items has one."""

COUNTS = {"users", "nusers", "numusers", "numberofusers", "count", "counts", "frequency", "freq", "weight", "share"}
"""Names of columns of a table of counts, which has a row for each rank in place of one for each user."""

MEANINGS = {
    "candidates": "how many items an exact evaluation ranks for each user",
    "negatives": "how many negatives were sampled for each user",
}
"""Meaning of the columns that can also be arguments."""

RanksLike = Any
"""Accepted forms of ranks: one-dimensional numbers, a table, a file's path or columns, or a rank table.

A table is a pandas DataFrame, a dict of columns, or what narwhals reads: polars, pyarrow, DuckDB and others.
"""

PerUser = ArrayLike
"""One number for all users, or (users,) numbers in the order of the ranks."""


STAGED = {"outcome", "uniform", "fold", "scored"}
"""Columns that only staged ranks have."""


@dataclass(frozen=True)
class Columns:
    """Columns of ranks, not yet checked; columns of a csv file are text.

    Messages call the source `name`, a row `place(row)`, and the names of the columns `header`.

    Attributes:
        notes: remarks on how it was read.
        cautions: remarks on what would make all results wrong.
        refuses_shallow: whether exact ranks of many users are refused if none comes near n, as the command does.
        names: the names in the source of columns that have another one here.
        taken: those of these columns that were found by a usual name; a remark names them.
        zero_based: whether ranks start at 0 in the source; they start at 1 here.
        grouped_by: the column of the groups of the rows.
    """

    name: str
    frame: pd.DataFrame
    place: Place
    header: str
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    refuses_shallow: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    taken: tuple[str, ...] = ()
    zero_based: bool = False
    grouped_by: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.frame.columns, pd.MultiIndex):
            raise DataError(f"{self.name}: has columns with several levels; ranks have one level of columns")
        for column in COLUMNS:
            if column != "rank" or "above" not in self.frame:
                renamed = self.by_usual_name(column)
                for name in ("frame", "names", "taken"):
                    object.__setattr__(self, name, getattr(renamed, name))
        if len(self.frame) == 0:
            raise DataError(f"{self.name}: has no rows")
        if {*self.frame.columns} >= STAGED:
            raise DataError(
                f"{self.header}: has staged ranks, which are not exact: above counts the candidates that were scored. "
                "read_ranks reads the file that staged_ranks wrote, and the command takes it as it is; a copy "
                "of its columns does not hold all of it"
            )

    def by_usual_name(self, column: str) -> "Columns":
        """Return the columns with one of the usual names of a column replaced by its own, if it is not there.

        Raises:
            DataError: several columns have such a name.
        """
        if list(self.frame.columns).count(column) > 1:
            raise DataError(f"{self.header}: has the column {column!r} more than once")
        if column in self.frame:
            return self
        usual = [name for name in self.frame.columns if plain(name) in NAMES[column] and name not in COLUMNS]
        if len(usual) > 1:
            raise DataError(
                f"{self.header}: has several columns for {column}, {', '.join(map(repr, usual))}; call one of them "
                f"{column}"
            )
        if not usual:
            return self
        taken = () if plain(usual[0]) == column else (column,)
        names = {**self.names, column: str(usual[0])}
        frame = self.frame.rename(columns={usual[0]: column})
        return replace(self, frame=frame, names=names, taken=(*self.taken, *taken))

    def named(self, names: Mapping[str, str], zero_based: bool = False) -> "Columns":
        """Return the columns with other names for some, and ranks from 1 if they start at 0.

        Args:
            names: the names in the source, by what they are taken as; a name that was found already is known, too.
            zero_based: whether ranks start at 0.

        Raises:
            DataError: there is no such column.
        """
        known = {name: column for column, name in self.names.items() if name not in self}
        found = {column: known.get(name, name) for column, name in names.items()}
        self.require(*found.values())
        originals, names = dict(names), {column: name for column, name in found.items() if name != column}
        replaced = [name for name in names if name in self and names[name] not in (name, *names)]
        notes = self.notes + tuple(f"The column {name} is not used, but {names[name]}." for name in replaced)
        kept = self.frame.drop(columns=replaced)
        columns = replace(
            self,
            frame=kept.rename(columns={name: column for column, name in names.items()}),
            notes=notes,
            names={**self.names, **originals},
            taken=tuple(column for column in self.taken if column not in originals),
        )
        if not zero_based:
            return columns
        columns.require("rank")
        ranks = columns.whole_numbers("rank", 0)
        cautions = self.cautions
        if ranks.min() > 0:
            cautions += (
                f"{self.name}: no rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best is 1.",
            )
        return replace(columns, frame=columns.frame.assign(rank=ranks + 1), cautions=cautions, zero_based=True)

    def with_groups(self, column: str | None) -> "Columns":
        """Return the columns with groups by a column, if there is one; raise DataError if it does not exist."""
        if column is None:
            return self
        self.require(column)
        return replace(self, grouped_by=column)

    def groups(self) -> NDArray[np.str_] | None:
        """Return the (rows,) names of the groups of the rows as text; raise DataError if one is empty."""
        if self.grouped_by is None:
            return None
        text = as_text(self.frame[self.grouped_by])
        refuse_rows(text == "", lambda row: f"{self.grouped_by} is empty, and each row has a group", self.place)
        return text.to_numpy(dtype=np.str_)

    def by_column(self, column: str) -> dict[str, "Columns"]:
        """Return the rows of each recommender, by the names in a column.

        Raises:
            DataError: there is no such column, or a name is empty.
        """
        self.require(column)
        names = as_text(self.frame[column])
        refuse_rows(names == "", lambda row: f"{column} is empty", self.place)
        frame, by_name = self.frame.drop(columns=column), dict[str, Columns]()
        for name in sorted(names.unique()):
            rows = np.flatnonzero(names == name)
            part = frame.iloc[rows].reset_index(drop=True)
            by_name[str(name)] = replace(self, frame=part, place=partial(_place_of, self.place, rows))
        return by_name

    def by_rank_column(self, names: Sequence[str], zero_based: bool) -> dict[str, "Columns"]:
        """Return the columns with the ranks of each recommender, by the names of several columns of ranks.

        Raises:
            DataError: there is no such column.
        """
        self.require(*names)
        by_name = {}
        for name in names:
            own = self.frame.drop(columns=[other for other in names if other != name])
            by_name[name] = replace(self, frame=own).named({"rank": name}, zero_based)
        return by_name

    def refuse_counts(self) -> "Columns":
        """Return the columns; raise DataError if they are those of a table of counts of ranks."""
        counts = [str(name) for name in self.frame.columns if plain(name) in COUNTS]
        if counts and "rank" in self and "user" not in self:
            raise DataError(
                f"{self.header}: has the column {counts[0]}, as a table of counts of ranks has; give a row for each "
                "user (a column of ids is called user)"
            )
        return self

    def called(self, column: str) -> str:
        """Return the name of a column in the source."""
        return self.names.get(column, column)

    @property
    def written(self) -> tuple[str, int]:
        """Return how the source writes ranks: the name of the column, and the best rank."""
        return self.called("rank"), 0 if self.zero_based else 1

    def __contains__(self, column: str) -> bool:
        return column in self.frame

    def __len__(self) -> int:
        return len(self.frame)

    def require(self, *wanted: str) -> None:
        """Raise DataError unless all wanted columns exist."""
        if missing := [name for name in wanted if name not in self]:
            names = list(self.frame.columns)
            columns, only = ", ".join(map(repr, names)), str(names[0])
            hint = "; is another sign between the fields (--separator)?" if len(names) == 1 and " " in only else ""
            if missing == ["rank"] and len(names) > 1:
                hint = "; call it rank, or name the column of ranks, or several of a single table, by rank_column "
                hint += "(--rank-column)"
            if "rank" in missing and "score" in self.by_usual_name("score"):
                hint = "; evaluate, compare and report take lists of items with scores, by relevance (--relevance)"
            raise DataError(
                f"{self.header}: lacks the column {', '.join(missing)} (the columns are {columns:.300}){hint}"
            )

    def whole_numbers(self, column: str, least: int) -> Ints:
        """Return a column as (rows,) integers; raise DataError if one is not a whole number of `least` or more."""
        values = self.frame[column]
        if _is_numpy(values, "iuf"):  # bool and other types are converted to text, and refused
            numbers = values.to_numpy(np.float64 if values.dtype.kind == "f" else None)  # float16 ends below 2^53
            most = 2**53 if values.dtype.kind == "f" else 10**18
            with np.errstate(invalid="ignore"):
                wrong = ~((numbers >= least) & (numbers == np.floor(numbers)) & (numbers < most))
        else:
            text = as_text(values).str.replace(r"\.0*$", "", regex=True)
            wrong = ~text.str.fullmatch("[0-9]{1,18}").to_numpy(dtype=bool)
            numbers = text.where(~wrong, "0").to_numpy(dtype=np.int64)
            wrong |= numbers < least
        shift = "; zero_based (--zero-based) adds 1 to ranks that start at 0" if column == "rank" else ""

        def message(row: int) -> str:
            rule = f"{self.called(column)} must be a whole number, {least} or more, not {shown(values.iloc[row])}"
            return rule + (
                shift if numbers[row] == 0 and re.fullmatch(r"\s*0(\.0*)?\s*", str(values.iloc[row])) else ""
            )

        refuse_rows(wrong, message, self.place)
        return numbers.astype(np.int64)

    def refuse_lists(self, column: str) -> None:
        """Raise DataError if a cell of a column is a list, a dict or an array."""
        cells = self.frame[column]
        if cells.dtype == object:
            wrong = cells.map(pd.api.types.is_list_like).to_numpy(dtype=bool)
            refuse_rows(wrong, lambda row: f"{self.called(column)} must be text or a number", self.place)

    def numbers(self, column: str, least: float = -np.inf) -> Floats:
        """Return a column as (rows,) numbers, maybe infinite; raise DataError if one is none or below `least`."""
        values = self.frame[column]
        self.refuse_lists(column)
        try:
            numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        except (OverflowError, TypeError):
            raise DataError(f"{self.header}: {self.called(column)} has what no float64 can hold") from None
        rule = "a number" if least == -np.inf else f"a number of {least:g} or more"
        wrong = ~(numbers >= least)
        name = self.called(column)
        refuse_rows(wrong, lambda row: f"{name} must be {rule}, not {shown(values.iloc[row])}", self.place)
        large = np.isfinite(numbers) & (np.abs(numbers) >= 2**53) & (not _is_numpy(values, "f"))
        for row in np.flatnonzero(large):
            if re.fullmatch("[+-]?[0-9]+", text := str(values.iloc[row]).strip()) and int(text) != int(numbers[row]):
                raise DataError(f"{self.place(int(row))}: {name} is kept as float64, which would round {text:.40}")
        return numbers

    def column_or_argument(self, name: str, argument: ArrayLike | None, least: int) -> Ints:
        """Return candidates or negatives as (rows,) integers, from the column or from the argument of that name.

        Raises DataError if both or neither are given, or if a number is wrong or below `least`.
        """
        if name in self:
            if argument is not None:
                has = self.called(name) + (f" ({name})" if self.called(name) != name else "")
                raise DataError(f"{self.header}: has a column {has}, so {name} must not be given as an argument too")
            return self.whole_numbers(name, least)
        if argument is None:
            raise DataError(
                f"{self.header}: lacks the column {name}, {MEANINGS[name]}, and it is not given as an argument"
            )
        refuse_masked(argument, f"{self.name}: {name}")
        numbers = _of_numbers(argument, self.name, name).whole_numbers(name, least)
        if np.ndim(argument) and len(numbers) != len(self):
            raise DataError(
                f"{self.name}: {name} must be one number, or one for each of the {len(self)} rows, not {len(numbers)}"
            )
        return np.broadcast_to(numbers, len(self)).copy()

    def refuse_recommenders(self, user: NDArray[np.generic] | None) -> None:
        """Raise DataError if a column that is not used tells the rows of each user apart, as names of recommenders do.

        Each user then has one row for each value of a column of text.
        """
        if user is None:
            return
        rows = pd.factorize(user)[0]
        each = len(rows) // (rows.max() + 1)
        if each < 2 or (np.bincount(rows) != each).any():
            return
        for column in self.frame.columns:
            values = self.frame[column]
            if column in COLUMNS or column == self.grouped_by or _is_numpy(values, "iufb"):
                continue
            value, distinct = pd.factorize(as_text(values))
            is_number = pd.to_numeric(pd.Series(distinct), errors="coerce").notna().all()
            if len(distinct) == each and not is_number and len(np.unique(rows * each + value)) == len(rows):
                raise DataError(
                    f"{self.header}: has {each} rows for each user, one for each value of the column {column} "
                    f"({', '.join(map(str, distinct)):.60}); if these are recommenders, say --by {column} (in Python "
                    f"by={str(column)!r}) or give each a table of its own, and if not, leave the column out"
                )

    @property
    def remarks(self) -> list[str]:
        """Return sentences on how it was read, and on columns that are not used."""
        sentences = [*self.notes, *self.remarks_on_taken]
        if "above" in self and "rank" not in self:
            ranks = [str(name) for name in self.frame.columns if plain(name) in NAMES["rank"]]
            sentences += [f"The column {name} is not used, because above and tied give the ranks." for name in ranks]
        used_names = NAMES["rank"] if "above" in self else set[str]()
        unused = self.unused((*COLUMNS, *used_names, *([self.grouped_by] if self.grouped_by else [])))
        if not unused:
            return sentences
        unit = "Intervals take users as the unit." if "user" in self else "Each row is taken to be a user."
        several = "If a column names recommenders, say which by `by` (--by), or give each a table of its own."
        return [*sentences, f"{unused[0]} {unit} {several}"]

    @property
    def remarks_on_taken(self) -> list[str]:
        """Return a sentence on the columns that were found by another name, with their meanings, if there are any."""
        if not self.taken:
            return []
        names = enumerated([self.called(column) for column in self.taken])
        meanings = [f"{column} ({MEANINGS[column]})" if column in MEANINGS else column for column in self.taken]
        columns = f"columns {names} are" if len(self.taken) > 1 else f"column {names} is"
        return [f"The {columns} taken as {enumerated(meanings)}."]

    def unused(self, used: Collection[str]) -> list[str]:
        """Return a sentence on the columns that are not used, if there are any."""
        unused = [str(name) for name in self.frame.columns if name not in used and plain(name) not in used]
        if not unused:
            return []
        columns = f"columns {', '.join(unused):.200} are" if len(unused) > 1 else f"column {unused[0]} is"
        return [f"The {columns} not used."]

    def users(self) -> NDArray[np.generic] | None:
        """Return the (rows,) users, as integers if all are whole numbers; None if there is no column user.

        Raises DataError if a user is empty.
        """
        if "user" not in self:
            return None
        users = self.frame["user"]
        if not _is_numpy(users, "iu"):
            self.refuse_lists("user")
            text = as_text(users)
            refuse_rows(text == "", lambda row: f"{self.called('user')} is empty", self.place)
            users = text.astype(np.int64) if text.str.fullmatch("0|[1-9][0-9]{0,17}").all() else text
        return users.to_numpy() if _is_numpy(users, "iu") else users.to_numpy(dtype=np.str_)


def columns_of(data: Any, name: str) -> Columns:
    """Return a table or one-dimensional ranks as columns; columns are returned unchanged.

    The index of a data frame or a Series is ignored: users are given by the column user, else by position. Raises
    DataError if the data have another form, or an entry is masked.
    """
    if isinstance(data, Columns):
        return data
    refuse_masked(data, name)
    data = as_pandas(data, name)
    if not isinstance(data, pd.DataFrame):
        return _of_numbers(data, name, "rank")
    users = data["user"].tolist() if (data.columns == "user").sum() == 1 else None

    def place(row: int) -> str:
        return f"{name}, row {row + 1}" if users is None else f"{name}, user {shown(users[row])}"

    return Columns(name, data, place, name)


def are_lists(data: Any) -> bool:
    """Return whether this is a dict of dicts of numbers, by user and item."""
    return isinstance(data, Mapping) and all(
        isinstance(items, Mapping) and all(isinstance(number, Number) for number in items.values())
        for items in data.values()
    )


def as_pandas(data: Any, name: str) -> Any:
    """Return a table as a DataFrame, and a column of another library as an array; other data are unchanged."""
    if are_lists(data):
        rows = [(user, item, score) for user, items in data.items() for item, score in items.items()]
        return pd.DataFrame(rows, columns=["user", "item", "score"])
    if isinstance(data, Mapping):
        try:
            return pd.DataFrame(dict(data))
        except (TypeError, ValueError) as error:
            raise DataError(f"{name}: is not a table: {error}") from None
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


def _place_of(place: Place, rows: Ints, row: int) -> str:
    """Return the place of a row of some rows."""
    return place(int(rows[row]))


def plain(name: Any) -> str:
    """Return the name of a column in lower case and without signs between words."""
    return re.sub("[^a-z0-9]", "", str(name).lower())


def can_be_used(name: str, columns: Collection[str] = tuple(NAMES)) -> bool:
    """Return whether a column has a usual name of one of some columns."""
    return any(plain(name) in NAMES.get(column, {plain(column)}) for column in columns)


def _of_numbers(values: Any, name: str, column: str) -> Columns:
    """Return one number or one-dimensional numbers as a single column."""
    try:
        numbers = np.asarray(values)
    except ValueError:  # rows that differ in length
        numbers = np.empty((0, 0))
    if numbers.ndim == 0 and np.isscalar(values) and column != "rank":
        numbers = numbers[np.newaxis]
    if numbers.ndim != 1:
        raise DataError(f"{name}: {column} must have one dimension, with a whole number for each user")
    return Columns(name, pd.DataFrame({column: numbers}), lambda row: f"{name}, row {row + 1}", name)


def _is_numpy(values: pd.Series, kinds: str) -> bool:
    """Return whether the type is a NumPy type of one of the kinds; a nullable type can hold missing values."""
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in kinds


def as_text(values: pd.Series) -> pd.Series:
    """Return cells as text: whole floats as integers, missing values as empty text."""
    if isinstance(values.dtype, pd.StringDtype):
        return values.fillna("").str.strip()
    return values.map(_cell_as_text).astype("str")


def _cell_as_text(value: Any) -> str:
    try:
        if value is None or value is pd.NA or (not pd.api.types.is_list_like(value) and value != value):
            return ""
    except ArithmeticError:  # a signaling NaN
        return str(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip().encode(errors="backslashreplace").decode()  # half a pair of surrogates is not text
