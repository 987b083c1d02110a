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
from sampled_metrics.core.data.ids import INEXACT, IdColumn, as_text, id_column
from sampled_metrics.core.data.labels import INDEX, has_labels, is_text, with_index
from sampled_metrics.core.data.tables import Place, refuse_rows
from sampled_metrics.core.findings import Finding
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
    "relevance": {
        "relevance",
        "rel",
        "rating",
        "ratings",
        "grade",
        "grades",
        "label",
        "labels",
        "judgement",
        "score",
    },
}
"""Other names of columns, in lower case and without signs between words."""

CONTENT = ("rank", "above", "tied", "item")
"""Columns of which a table of ranks, of lists or of judged items has one."""

COUNTS = {
    "users",
    "nusers",
    "numusers",
    "numberofusers",
    "count",
    "counts",
    "frequency",
    "freq",
    "weight",
    "share",
}
"""Names of columns of a table of counts.

Such a table has a row for each rank in place of one for each user.
"""

RUNS = {
    *("seed", "seeds", "seedid", "randomseed", "rngseed", "randomstate"),
    *("run", "runs", "runid", "runname", "runtag", "runnumber", "runno", "runnr", "nrun", "irun"),
    *("fold", "folds", "foldid", "foldno", "cvfold", "kfold", "cv", "cvid", "cvsplit"),
    *("draw", "draws", "drawid", "drawno", "drawnumber"),
    *("trial", "trials", "trialid"),
    *(
        "repetition",
        "repetitions",
        "rep",
        "repeat",
        "repeats",
        "replicate",
        "replicates",
        "replication",
    ),
}
"""Names of columns that tell apart the runs of a recommender, likewise.

A reader uses them if an argument says so.
"""

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

PerUser = ArrayLike
"""One number for all users, or (users,) numbers.

The numbers are in the order of the ranks, or a Series with users as its index.
"""


STAGED = {"outcome", "uniform", "fold", "scored"}
"""Columns that only staged ranks have."""

LISTS = (
    "ranked lists, and judged items, are a dict {user: {item: number}}, or a table with the "
    "columns user and item and a score or a relevance"
)


@dataclass(frozen=True)
class Columns:
    """Columns of ranks as the source has them, not yet checked; columns of a csv file are text.

    Messages call the source `name`, a row `place(row)`, and the names of the columns `header`.

    Attributes:
        findings: on how it was read.
        refuses_shallow: whether exact ranks of many users are refused if none comes near n, as the
            command does.
        names: the name in the source of each column that is known; usual names are found when this
            is made.
        told: those of these columns that the caller named.
        zero_based: whether ranks start at 0 in the source.
        grouped_by: the column of the groups of the rows.
        seed_name: the seed of which the rows are; empty if a table is not of several.
    """

    name: str
    frame: pd.DataFrame
    place: Place
    header: str
    findings: tuple[Finding, ...] = ()
    refuses_shallow: bool = False
    names: Mapping[str, Any] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    zero_based: bool = False
    grouped_by: str | None = None
    seed_name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.frame.columns, pd.MultiIndex):
            raise DataError(
                f"{self.name}: has columns with several levels; ranks have one level of columns"
            )
        names = {column: name for column, name in self.names.items() if name in self.frame}
        for column in COLUMNS:
            if column not in names:
                # beside above, a column such as position has no ranks
                has_usual = column != "rank" or "above" not in names
                usual = NAMES[column] if has_usual else set[str]()
                names |= self._by_usual_name(column, names, usual)
        if "user" not in names and self._has_index_of_users:
            names["user"] = INDEX
        object.__setattr__(self, "names", names)
        if len(self.frame) == 0:
            raise DataError(f"{self.name}: has no rows")
        if {*self.frame.columns} >= STAGED:
            raise DataError(
                f"{self.header}: has staged ranks, which are not exact: above counts the "
                "candidates that were scored. read_ranks reads the file that staged_ranks wrote, "
                "and the command takes it as it is; a copy of its columns does not hold all of it"
            )

    @property
    def _has_index_of_users(self) -> bool:
        """Whether an index without a name, the first column, is text in each row."""
        if (
            not len(self.frame.columns)
            or self.frame.columns[0] != INDEX
            or list(self.frame.columns).count(INDEX) > 1
        ):
            return False
        return is_text(self.frame[INDEX]) and bool((as_text(self.frame[INDEX]) != "").all())

    def _by_usual_name(
        self, column: str, known: Mapping[str, Any], names: Collection[str]
    ) -> dict[str, Any]:
        """Return the name in the source of a column, which is its own or a usual one.

        Raises DataError if there are several.
        """
        free = [name for name in self.frame.columns if name not in known.values()]
        exact = [name for name in free if name == column]
        usual = exact or [name for name in free if plain(name) in names and name not in COLUMNS]
        if len(exact) > 1:
            raise DataError(f"{self.header}: has the column {column!r} more than once")
        if len(usual) > 1:
            several = ", ".join(map(repr, usual))
            raise DataError(
                f"{self.header}: has several columns for {column}, {several}; call one of them "
                f"{column}"
            )
        return {column: usual[0]} if usual else {}

    def with_usual(self, *columns: str) -> "Columns":
        """Return the columns with others that are found by their usual names, if they exist."""
        names = dict(self.names)
        for column in columns:
            if column not in names:
                names |= self._by_usual_name(column, names, NAMES[column])
        return replace(self, names=names)

    def named(
        self, names: Mapping[str, str], zero_based: bool = False, groups: str | None = None
    ) -> "Columns":
        """Return the columns with the names in the source that the caller says.

        Raises DataError if one is missing.
        """
        known = {column: self.in_source(name) for column, name in names.items()}
        others = {column: name for column, name in self.names.items() if name not in known.values()}
        return replace(
            self,
            names=others | known,
            told=(*self.told, *names),
            zero_based=self.zero_based or zero_based,
            grouped_by=self.grouped_by if groups is None else self.in_source(groups),
        )

    def in_source(self, name: str) -> Any:
        """Return a column of the source by its name, or by what it is taken as.

        Raises DataError if there is none.
        """
        if name not in self.frame:
            self.require(name)
            return self.names[name]
        if list(self.frame.columns).count(name) > 1:
            raise DataError(f"{self.header}: has the column {name!r} more than once")
        return name

    def groups(self) -> NDArray[np.str_] | None:
        """Return the (rows,) names of the groups of the rows as text.

        Raises DataError if one is empty.
        """
        if self.grouped_by is None:
            return None
        column = self.id_column(self.grouped_by, "and each row has a group")
        return column.text.astype(np.str_)

    def by_column(self, column: str) -> dict[str, "Columns"]:
        """Return the rows of each recommender by the names in a column.

        Raises DataError if a name is empty.
        """
        source = self.in_source(column)
        names = self.id_column(source)
        findings = (*self.findings, *on_spaces(names, column))
        return {
            name: replace(part, findings=findings)
            for name, part in self.parts(source, names).items()
        }

    def parts(self, source: str, column: IdColumn) -> dict[str, "Columns"]:
        """Return the rows of each id of a column of the source, by id, without this column."""
        frame = self.frame.drop(columns=source)
        by_id = dict[str, Columns]()
        ends = np.cumsum(np.bincount(column.number, minlength=len(column.ids)))
        rows_of_ids = np.split(np.argsort(column.number, kind="stable"), ends[:-1])
        for label, rows in zip(column.ids, rows_of_ids, strict=True):
            part = frame.iloc[rows].reset_index(drop=True)
            by_id[str(label)] = replace(
                self, frame=part, place=partial(_place_of, self.place, rows)
            )
        return by_id

    @property
    def unnamed_runs(self) -> list[Any]:
        """The columns of several values that have a name of runs, and that no argument names."""
        return [
            column
            for column, values in self.frame.items()
            if plain(column) in RUNS
            and column not in self._known(COLUMNS)
            and not _is_constant(values)
        ]

    def by_rank_column(self, columns: Sequence[str]) -> dict[str, "Columns"]:
        """Return the ranks of each recommender, by the names of several columns of ranks."""
        sources = {column: self.in_source(column) for column in columns}
        return {
            column: replace(
                self, frame=self.frame.drop(columns={*sources.values()} - {source})
            ).named({"rank": source})
            for column, source in sources.items()
        }

    def called(self, column: str) -> str:
        """Return the name of a column in the source."""
        return str(self.names.get(column, column))

    @property
    def written(self) -> tuple[str, int]:
        """Return how the source writes ranks: the name of the column, and the best rank."""
        return self.called("rank"), 0 if self.zero_based else 1

    def __contains__(self, column: str) -> bool:
        return column in self.names

    def __getitem__(self, column: str) -> pd.Series:
        return self.frame[self.names[column]]

    def __len__(self) -> int:
        return len(self.frame)

    def require(self, *wanted: str) -> None:
        """Raise DataError unless all wanted columns exist."""
        missing = [name for name in wanted if name not in self]
        if missing:
            columns = ", ".join(map(repr, self.frame.columns))
            raise DataError(
                f"{self.header}: lacks the column {', '.join(missing)} (the columns are "
                f"{columns:.300}){self._hint_on(missing)}"
            )

    def _hint_on(self, missing: Sequence[str]) -> str:
        """Return what to do about missing columns, for a message; empty if it is not known."""
        names = list(self.frame.columns)
        if "rank" in missing and "score" in self.with_usual("score"):
            return (
                "; evaluate, compare and report take lists of items with scores, by relevance "
                "(--relevance)"
            )
        if {"session_type", "labels"} <= set(names):
            return (
                "; labels has several items in a cell, as a submission to OTTO: give each a "
                "row, as table.assign(item=table.labels.str.split()).explode('item') does, with "
                "its place as rank"
            )
        if missing == ["rank"] and len(names) > 1:
            return (
                "; call it rank, or name the column of ranks, or several of a single table, by "
                "rank_column (--rank-column)"
            )
        if len(names) == 1 and " " in str(names[0]):
            return "; is another sign between the fields (--separator)?"
        return f"; {LISTS}" if "item" in missing else ""

    def ranks(self) -> tuple[Ints, tuple[Finding, ...]]:
        """Return the (rows,) ranks from 1.

        There is a finding if ranks are said to start at 0 and none does.

        Raises:
            DataError: there are none, one is not a whole number, or the columns are those of a
                table of counts.
        """
        self.require("rank")
        counts = [
            name
            for name in self.frame.columns
            if plain(name) in COUNTS and name != self.names["rank"]
        ]
        if counts and "user" not in self:
            raise DataError(
                f"{self.header}: has the column {counts[0]}, as a table of counts of ranks has; "
                "give a row for each user (a column of ids is called user)"
            )
        _, best = self.written
        ranks = self.whole_numbers("rank", best)
        is_shifted = best == 0 and ranks.min() > 0
        shifted = (Finding("no-rank-zero", values={"source": self.name}),) if is_shifted else ()
        return ranks + 1 - best, shifted

    def whole_numbers(self, column: str, lowest: int) -> Ints:
        """Return a column as (rows,) integers.

        Raises DataError if one is not a whole number of `lowest` or more.
        """
        values = self[column]
        if _is_numpy(values, "iuf"):  # bool and other types are converted to text, and refused
            # float16 ends below 2^53
            numbers = values.to_numpy(np.float64 if values.dtype.kind == "f" else None)
            most = 2**53 if values.dtype.kind == "f" else 10**18
            with np.errstate(invalid="ignore"):
                wrong = ~((numbers >= lowest) & (numbers == np.floor(numbers)) & (numbers < most))
        else:
            text = as_text(values).str.replace(r"\.0*$", "", regex=True)
            has_digits = text.str.fullmatch("[0-9]{1,18}").to_numpy(dtype=bool)
            wrong = ~has_digits | ~_may_be_numbers(values)
            numbers = text.where(~wrong, "0").to_numpy(dtype=np.int64)
            wrong |= numbers < lowest

        def message(row: int) -> str:
            is_zero = column == "rank" and re.fullmatch(r"\s*0(\.0*)?\s*", str(values.iloc[row]))
            shift = "; zero_based (--zero-based) adds 1 to ranks that start at 0" if is_zero else ""
            rule = f"{self.called(column)} must be a whole number, {lowest} or more"
            return f"{rule}, not {shown(values.iloc[row])}{shift}"

        refuse_rows(wrong, message, self.place)
        return numbers.astype(np.int64)

    def ids(self, column: str) -> tuple[Ints, pd.Index]:
        """Return the (rows,) numbers of ids, and the distinct ids as text, ascending.

        Raises DataError as `id_column` does.
        """
        column_of_ids = self.id_column(self.names[column])
        return column_of_ids.number, column_of_ids.ids

    def id_column(self, source: str, rule: str = "") -> IdColumn:
        """Return the ids, or names, of a column of the source.

        Raises DataError if a cell is a list, a dict or an array; empty, where `rule` says why none
        may be; or a float that may stand for several ids.
        """
        if source not in self._id_columns:
            values = self.frame[source]
            self._refuse_lists(source)
            column = id_column(values)
            is_empty = f"{source} is empty" + (f", {rule}" if rule else "")
            refuse_rows(column.number < 0, lambda row: is_empty, self.place)
            refuse_rows(
                column.is_inexact,
                lambda row: f"{source} is {shown(values.iloc[row])}, {INEXACT}",
                self.place,
            )
            self._id_columns[source] = column
        return self._id_columns[source]

    @cached_property
    def _id_columns(self) -> dict[str, IdColumn]:
        """The ids of the columns of the source that were asked for."""
        return {}

    def _refuse_lists(self, source: str) -> None:
        cells = self.frame[source]
        if cells.dtype == object:
            wrong = cells.map(pd.api.types.is_list_like).to_numpy(dtype=bool)
            refuse_rows(wrong, lambda row: f"{source} must be text or a number", self.place)

    def numbers(self, column: str, lowest: float = -np.inf) -> Floats:
        """Return a column as (rows,) numbers, maybe infinite.

        Raises DataError if one is no number, or below `lowest`.
        """
        self._refuse_lists(self.names[column])
        values = self[column]
        name = self.called(column)
        rule = f"{name} must be a number" + ("" if lowest == -np.inf else f" of {lowest:g} or more")

        def message(row: int) -> str:
            return f"{rule}, not {shown(values.iloc[row])}"

        refuse_rows(~_may_be_numbers(values), message, self.place)
        try:
            numbers = pd.to_numeric(values, errors="coerce").to_numpy(
                dtype=np.float64, na_value=np.nan
            )
        except (OverflowError, TypeError):
            numbers = values.map(_as_float).to_numpy(dtype=np.float64)
        refuse_rows(~(numbers >= lowest), message, self.place)
        if _is_numpy(values, "f"):  # nothing was rounded
            return numbers
        for row in np.flatnonzero(np.abs(numbers) >= 2**53):
            text = str(values.iloc[row]).strip()
            number = numbers[row]
            if re.fullmatch("[+-]?[0-9]+", text) and (np.isinf(number) or int(text) != int(number)):
                raise DataError(
                    f"{self.place(int(row))}: {name} is kept as float64, which would round "
                    f"{text:.40}"
                )
        return numbers

    def without_candidates(self) -> "Columns":
        """Return the columns without that of candidates, which an argument replaces.

        A remark says so if there was one.
        """
        if "candidates" not in self:
            return self
        name = self.called("candidates")
        remark = Finding("candidates-of-argument", values={"column": name})
        others = {column: source for column, source in self.names.items() if column != "candidates"}
        frame = self.frame.drop(columns=name)
        return replace(self, frame=frame, names=others, findings=(*self.findings, remark))

    def column_or_argument(self, name: str, argument: ArrayLike | None, lowest: int) -> Ints:
        """Return candidates or negatives as (rows,) integers, from the column or the argument.

        Raises DataError if both or neither are given, or if a number is wrong or below `lowest`.
        """
        if name in self:
            if argument is not None:
                has = self.called(name) + (f" ({name})" if self.called(name) != name else "")
                raise DataError(
                    f"{self.header}: has a column {has}, so {name} must not be given as an "
                    "argument too"
                )
            return self.whole_numbers(name, lowest)
        if argument is None:
            raise DataError(
                f"{self.header}: lacks the column {name}, {MEANINGS[name]}; add it, or give one "
                f"number for all users: {name}= (--{name})"
            )
        refuse_masked(argument, f"{self.name}: {name}")
        if isinstance(argument, pd.Series) and has_labels(argument):
            argument = argument.iloc[self._places_in(argument.index, argument, name)]
        numbers = _of_numbers(argument, self.name, name).whole_numbers(name, lowest)
        if np.ndim(argument) and len(numbers) != len(self):
            raise DataError(
                f"{self.name}: {name} must be one number, or one for each of the {len(self)} "
                f"rows, not {len(numbers)}"
            )
        return np.broadcast_to(numbers, len(self)).copy()

    def _places_in(self, index: pd.Index, argument: pd.Series, name: str) -> Ints:
        """Return the (rows,) places of the rows in a Series with labels.

        The labels are those of the rows or the users.

        An index without a name is that of the rows if it is the same as theirs, as that of a column
        of the same frame. Else its labels are the rows, or the users, that they name.

        Raises:
            DataError: a row has no label; a label is there twice, with other numbers; or the labels
                may be both.
        """
        if index.name is None and index.equals(self.frame.index):
            return np.arange(len(self))
        by_row = by_user = np.full(len(self), -1)
        if isinstance(index, pd.MultiIndex):
            raise DataError(
                f"{self.name}: {name} has an index of several levels; it may have one, the users"
            )
        if index.name is None and index.is_unique and self.frame.index.is_unique:
            by_row = index.get_indexer(self.frame.index)
        if "user" in self:
            by_user = self._places_of_users(index, argument, name)
        is_by_row = (by_row >= 0).all()
        is_by_user = (by_user >= 0).all()
        numbers = argument.to_numpy(dtype=object)
        if is_by_row and is_by_user and not (numbers[by_row] == numbers[by_user]).all():
            raise DataError(
                f"{self.name}: the index of {name} may name rows or users; call it user, or give "
                f"{name}.to_numpy() in the order of the rows"
            )
        if is_by_user or is_by_row:
            return by_user if is_by_user else by_row
        if "user" not in self:
            raise DataError(
                f"{self.name}: {name} has labels, such as {shown(index[0])}, and the ranks have no "
                f"column user; give {name}.to_numpy() if it is in their order"
            )
        row = int(np.argmax(by_user < 0))
        raise DataError(
            f"{self.place(row)}: {name} has no number for this user; its index is such as "
            f"{shown(index[0])}"
        )

    def _places_of_users(self, index: pd.Index, argument: pd.Series, name: str) -> Ints:
        """Return the (rows,) places of the users in an index, -1 where a user is not there."""
        labels = as_text(pd.Series(index))
        is_new = ~labels.duplicated().to_numpy()
        numbers = argument.set_axis(labels)
        number_by_user = numbers[is_new]
        expected = number_by_user.reindex(labels).to_numpy(dtype=object)
        is_same = expected == numbers.to_numpy(dtype=object)
        if not np.all(is_same):
            label = index[int(np.argmin(is_same))]
            raise DataError(
                f"{self.name}: {name} has the user {shown(label)} twice, with other numbers"
            )
        number, ids = self.ids("user")
        # an id that is not there has the indexer -1, which is that of what is appended
        places = np.append(np.flatnonzero(is_new), -1)
        place_by_id = places[number_by_user.index.get_indexer(ids)]
        return place_by_id[number]

    def users(self) -> NDArray[np.generic] | None:
        """Return the (rows,) users; None if there is no column user.

        They are integers if all are whole numbers.

        Raises:
            DataError: a user is empty, or a column that is not used tells the rows of each user
                apart, as names of recommenders do: each user has one row for each value of a column
                of text.
        """
        if "user" not in self:
            return None
        users: NDArray[np.generic]
        column = self["user"]
        if _is_numpy(column, "iu"):
            number, _ = pd.factorize(column)
            users = column.to_numpy()
        else:
            number, ids = self.ids("user")
            is_whole = ids.str.fullmatch("0|[1-9][0-9]{0,17}").all()
            users = ids.to_numpy(dtype=np.int64 if is_whole else np.str_)[number]
        if self.names["user"] == INDEX and len(number) > number.max() + 1:
            label = users[int(np.argmax(pd.Series(number).duplicated()))]
            raise DataError(
                f"{self.header}: the index has no name, and {shown(label)} twice; call it user if "
                "it has users, or leave it out by reset_index(drop=True)"
            )
        rows_of_user = len(number) // (number.max() + 1)
        if rows_of_user > 1 and (np.bincount(number) == rows_of_user).all():
            self._refuse_recommenders(number, rows_of_user)
        return users

    def _refuse_recommenders(self, user: Ints, rows_of_user: int) -> None:
        """Raise DataError if a column of text tells apart the rows of each user.

        All users have as many rows.
        """
        used = {*self.names.values(), self.grouped_by, ""}
        for column, values in self.frame.items():
            if column in used or _is_numpy(values, "iufb"):
                continue
            value, distinct = pd.factorize(as_text(values))
            is_number = pd.to_numeric(pd.Series(distinct), errors="coerce").notna().all()
            if (
                len(distinct) == rows_of_user
                and not is_number
                and len(np.unique(user * rows_of_user + value)) == len(user)
            ):
                raise DataError(
                    f"{self.header}: has {rows_of_user} rows for each user, one for each value of "
                    f"the column {column} ({', '.join(map(str, distinct)):.60}); if these are "
                    f"recommenders, say --by {column} (in Python by={str(column)!r}) or give each "
                    "a table of its own, and if not, leave the column out"
                )

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """Return findings on how ranks were read, and on columns that are not used."""
        return self.remarks_on(COLUMNS, self._unit_in_doubt())

    def _unit_in_doubt(self) -> str:
        """Return what a row may be of, user or row, if unused columns may name recommenders.

        It is empty if each user has one row, and these columns hold numbers: then they name no
        recommenders.
        """
        are_numbers = all(_is_numpy(values, "iufb") for values in self._unused(COLUMNS).values())
        if are_numbers and "user" in self and self["user"].is_unique:
            return ""
        return "user" if "user" in self else "row"

    def _unused(self, used: Collection[str]) -> dict[str, pd.Series]:
        """Return the columns that are not used, by name.

        A column that says of which run all rows are is not one of them: there is nothing to use it
        for.
        """
        known = self._known(used)
        return {
            str(name): values
            for name, values in self.frame.items()
            if name not in known and not (plain(name) in RUNS and _is_constant(values))
        }

    def _known(self, used: Collection[str]) -> set[Any]:
        """Return the columns of the source that are used, and that of an index without a name.

        `to_csv` writes such an index.
        """
        return {*map(self.names.get, used), self.grouped_by, ""}

    def remarks_on(self, used: Collection[str], unit: str = "") -> tuple[Finding, ...]:
        """Return findings on how it was read, on usual names of columns, and on unused columns."""
        findings = list(self.findings)
        if self.names.get("user") == INDEX:
            findings.append(Finding("index-as-user"))
        # columns that the library chose by a usual name
        taken = {
            column: self.called(column)
            for column, name in self.names.items()
            if column in used
            and column not in self.told
            and name != INDEX
            and plain(name) != column
        }
        if taken:
            findings.append(Finding("columns-taken", values={"columns": taken}))
        unused = self._unused(used)
        if unused:
            findings.append(
                Finding("columns-not-used", values={"columns": list(unused), "unit": unit})
            )
        sources = [self.names.get("user"), self.names.get("item"), self.grouped_by]
        for source in dict.fromkeys(sources):
            if source is None or source in unused or _is_numpy(self.frame[source], "iufb"):
                continue
            findings += on_spaces(self.id_column(source), str(source))
        return tuple(findings)


def _place_of(place: Place, rows: Ints, row: int) -> str:
    return place(int(rows[row]))


def on_spaces(column: IdColumn, name: str) -> list[Finding]:
    """Return a finding on the ids of a column that had spaces around them; none if no id had."""
    values = {"column": name, "ids": column.spaced, "merged": column.merged}
    return [Finding("spaces", values=values)] if column.spaced else []


def columns_of(data: Any, name: str, number: str = "score") -> Columns:
    """Return a table or one-dimensional ranks as columns; columns are returned unchanged.

    The named levels of the index of a data frame or a Series are columns. An index of text without
    a name is the users if there is no column user, and so is one of numbers of a Series of ranks.
    Any other index is not used: rows without users are of one user each. The numbers of a dict
    {user: {item: number}}, or of a Series by user and item, are called `number`. Raises DataError
    if the data have another form, an index and a column of the same name differ, or an entry is
    masked.
    """
    if isinstance(data, Columns):
        return data
    refuse_masked(data, name)
    data = as_pandas(data, name, number)
    if isinstance(data, pd.Series) and has_labels(data):
        data = _table_of_series(data, name, number)
    if not isinstance(data, pd.DataFrame):
        return _of_numbers(data, name, "rank")
    data = with_index(data, name)
    if any(isinstance(dtype, pd.SparseDtype) for dtype in data.dtypes):
        data = data.apply(_dense)
    users = data["user"].tolist() if (data.columns == "user").sum() == 1 else None

    def place(row: int) -> str:
        return f"{name}, row {row + 1}" if users is None else f"{name}, user {shown(users[row])}"

    return Columns(name, data, place, name)


def _dense(column: pd.Series) -> pd.Series:
    """Return a column as it is, or, if it is sparse, with all its cells."""
    return column.sparse.to_dense() if isinstance(column.dtype, pd.SparseDtype) else column


def _table_of_series(series: pd.Series, name: str, number: str) -> pd.DataFrame:
    """Return a Series with an index as a frame.

    Its values are ranks, items of users, or numbers of users and items.
    """
    levels = [plain(level) for level in series.index.names if level is not None]
    series_name = plain(series.name)
    if any(level in NAMES["rank"] for level in levels):
        raise DataError(
            f"{name}: is a Series whose index is called rank, as counts of ranks have; give a "
            "row for each user"
        )
    if any(level in NAMES["item"] for level in levels):
        keeps_name = series_name in NAMES["rank"] | NAMES["user"]
        usual = number
    else:
        keeps_name = series_name in NAMES["item"]
        usual = "rank"
    index = series.index
    if (
        not levels
        and index.nlevels == 1
        and pd.api.types.is_integer_dtype(index.dtype)
        and index.is_unique
    ):
        series = series.rename_axis("user")  # of rows or of users: two Series are paired by it
    return series.to_frame(series.name if keeps_name else usual)


def are_lists(data: Any) -> bool:
    """Return whether this is a dict of dicts of numbers, by user and item."""
    if not isinstance(data, Mapping):
        return False
    if not all(isinstance(items, Mapping) for items in data.values()):
        return False
    return all(isinstance(number, Number) for items in data.values() for number in items.values())


def as_pandas(data: Any, name: str, number: str = "score") -> Any:
    """Return a table as a DataFrame, and a column of another library as an array.

    Other data are unchanged.
    """
    if are_lists(data):
        rows = [
            (user, item, score) for user, items in data.items() for item, score in items.items()
        ]
        try:
            return pd.DataFrame(rows, columns=["user", "item", number])
        # half a pair of surrogates is not text, and pandas 2 makes floats of large integers
        except (ValueError, OverflowError) as error:
            raise DataError(f"{name}: is not a table: {reason(error)}") from None
    if isinstance(data, Mapping):
        _refuse_mixed_labels(data, name)
        try:
            return pd.DataFrame(dict(data))
        except (TypeError, ValueError) as error:
            hint = f"; {LISTS}" if number == "relevance" else ""
            raise DataError(f"{name}: is not a table: {error}{hint}") from None
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


def _refuse_mixed_labels(columns: Mapping[Any, Any], name: str) -> None:
    """Raise DataError if a column has no labels, and others have labels in several orders.

    pandas would sort them.
    """
    labelled = {
        column: values for column, values in columns.items() if isinstance(values, pd.Series)
    }
    has_others = any(
        np.ndim(values) > 0 for column, values in columns.items() if column not in labelled
    )
    if not has_others or len(labelled) < 2:
        return
    column, *other_columns = labelled
    for other_column in other_columns:
        if not labelled[column].index.equals(labelled[other_column].index):
            raise DataError(
                f"{name}: the columns {column} and {other_column} have other labels, and others "
                "have none; give them all as arrays, or as Series"
            )


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
        raise DataError(
            f"{name}: {column} must have one dimension, with a whole number for each user"
        )
    return Columns(
        name, pd.DataFrame({column: numbers}), lambda row: f"{name}, row {row + 1}", name
    )


def _is_numpy(values: pd.Series, kinds: str) -> bool:
    """Return whether the type is a NumPy type of one of the kinds.

    A nullable type is none, as it can hold missing values.
    """
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in kinds


def _is_constant(values: pd.Series) -> bool:
    """Return whether all cells are the same id; false if one is no id, but a list."""
    try:
        distinct = pd.Series(values.unique(), dtype=object)
    except TypeError:
        return False
    return bool(as_text(distinct).nunique() <= 1)


def _may_be_numbers(values: pd.Series) -> NDArray[np.bool_]:
    """Return which cells are real numbers, text or missing.

    Dates, periods and durations are none.
    """
    if _is_numpy(values, "iufb") or isinstance(values.dtype, pd.StringDtype):
        return np.ones(len(values), dtype=bool)
    return values.map(_may_be_number).to_numpy(dtype=bool)


def _may_be_number(cell: Any) -> bool:
    if isinstance(cell, complex | np.complexfloating | np.timedelta64):
        return False
    return isinstance(cell, Number | str) or cell is None or cell is pd.NA


def _as_float(value: Any) -> float:
    """Return a cell as a number; NaN if it is none, or is too large."""
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return np.nan
