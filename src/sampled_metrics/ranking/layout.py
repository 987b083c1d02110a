"""The layout of matrices: lines of them that are no scores and no factors.

These are a line of the names of columns, and a column of an index. pandas writes the names of
columns as the first line of a csv file and its index as the first column, and `reset_index` makes a
column of the index. In a matrix that has one of them, all users or items are moved by a place, and
the ranks look like ranks. Such a line holds whole numbers that all differ. It is refused if it
ascends by one or has the ids of the users or the items, and others do not; if others have
fractions; or if there is a line more than users or items.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, issparse

from sampled_metrics.checks import shown
from sampled_metrics.core.data.ids import as_text
from sampled_metrics.errors import DataError

_FEW = 4
"""Fewer numbers may ascend by one by chance, unless other lines have fractions."""

_MANY = 8
"""So many different numbers are hardly in an ascending order by chance: in one of 40,320."""

_ALL_DIFFERENT = 16
"""Fewer whole numbers may all differ among fractions by chance, as years do."""

_SAMPLE = 16
"""Number of other lines that are looked at."""

_NAMES_OF_INDEX = re.compile(r"index|level_[0-9]+|Unnamed: [0-9]+|__index_level_[0-9]+__|")
"""Names that pandas gives to the column of an index without a name."""

_ALONE = "write the numbers alone, as to_csv(index=False, header=False) does"


@dataclass(frozen=True)
class Known:
    """What is known of the users or the items of a matrix.

    Attributes:
        kind: user or item.
        count: how many there are; None if it is not known.
        source: what says how many, for messages.
        ids: their ids as text; empty if they are indices.
        are_events: whether they are counted by the largest index in the events.
    """

    kind: str
    count: int | None = None
    source: str = ""
    ids: frozenset[str] = frozenset()
    are_events: bool = False

    @classmethod
    def from_ids(cls, kind: str, ids: ArrayLike) -> "Known":
        """Return what ids tell."""
        text = as_text(pd.Series(np.asarray(ids, dtype=object).ravel(), dtype=object))
        return cls(kind, len(text), f"by {kind}_ids (--{kind}-ids)", frozenset(text.tolist()))


@dataclass(frozen=True)
class _Lines:
    """The rows of a matrix, or its columns.

    Attributes:
        count: how many there are.
        at: the function from a place to the line at it.
        ids: the ids that a line may hold, as text.
    """

    count: int
    at: Callable[[int], NDArray[Any]]
    ids: frozenset[str]

    def others(self, place: int) -> list[NDArray[Any]]:
        """Return some of the lines beside one."""
        places = np.unique(np.linspace(0, self.count - 1, _SAMPLE + 1).astype(np.int64))
        return [self.at(int(sampled)) for sampled in places if sampled != place]


def require_numbers_alone(
    name: str, data: Any, rows: Known | None = None, columns: Known | None = None
) -> None:
    """Check that a matrix has no line of names of columns, and no column of an index.

    Args:
        name: of the matrix, such as that of its file, for messages.
        data: (rows, columns) numbers of numpy, a sparse matrix, or a frame, whose names of columns
            are no line. Data of another form are passed over.
        rows: what is known of the rows, if they are users or items.
        columns: what is known of the columns, if they are items.

    Raises:
        DataError: the first line or a column holds no numbers of the matrix; or there is a row or a
            column more than users or items.
    """
    if isinstance(data, pd.DataFrame):
        _refuse_name_of_index(name, data)
    elif (
        not (issparse(data) or isinstance(data, np.ndarray))
        or data.ndim != 2
        or data.dtype.kind not in "biuf"
    ):
        return
    in_rows, in_columns = _lines(data, rows, columns)
    is_array = name.endswith((".npy", ".npz"))
    alone = "leave it out of the array" if is_array else _ALONE
    for place, word in _columns_to_look_at(data, in_rows, in_columns):
        # another column than the first may be a feature, such as a place by popularity
        if looks := _looks(in_columns, place, only_names=place > 0):
            is_frame = isinstance(data, pd.DataFrame)
            way_out = "make it the index by set_index, or leave it out" if is_frame else alone
            raise DataError(
                f"{name}: {word} is {looks}, as of an index, and not of the numbers; {way_out}"
            )
    # a file of numpy has no header, but a first user may have places in the order of popularity
    if not isinstance(data, pd.DataFrame) and (looks := _looks(in_rows, 0, only_names=is_array)):
        raise DataError(
            f"{name}, line 1: is {looks}, the names of columns, so that each row would count for "
            f"the user or item before it; {alone}"
        )
    _refuse_one_more(name, "row", in_rows, rows)
    _refuse_one_more(name, "column", in_columns, columns)


def _columns_to_look_at(data: Any, rows: _Lines, columns: _Lines) -> list[tuple[int, str]]:
    """Return the places of columns that may be no numbers of the matrix, with their words.

    They are the first, the last, and those between whose first lines hold running numbers or ids.
    """
    last = columns.count - 1
    places = [(0, "the first column"), (last, "the last column")]
    beginning = [] if issparse(data) else [rows.at(row) for row in range(min(rows.count, _SAMPLE))]
    if rows.count < _FEW or any(len(line) != columns.count for line in beginning) or not beginning:
        return places
    top = np.asarray(beginning, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        is_running = (np.diff(top, axis=0) == 1).all(axis=0) & (top[0] == np.floor(top[0]))
    running = [place for place in np.flatnonzero(is_running).tolist() if 0 < place < last]
    between = running[:_SAMPLE]
    if columns.ids:
        is_whole = (np.isfinite(top) & (top == np.floor(top))).all(axis=0)
        with_ids = []
        for place in np.flatnonzero(is_whole).tolist()[: _SAMPLE**2]:
            if 0 < place < last and place not in between and _are_among(top[:, place], columns.ids):
                with_ids.append(place)
        between += with_ids[:_SAMPLE]
    return places + [(place, f"column {place + 1}") for place in between]


def _refuse_name_of_index(name: str, frame: pd.DataFrame) -> None:
    """Raise DataError if a column has a name that pandas gives to an index, and may be one.

    It may be one if its numbers are whole and all differ.
    """
    if len(frame.columns) < 2:
        return
    for place, column in enumerate(frame.columns):
        is_named_so = isinstance(column, str) and _NAMES_OF_INDEX.fullmatch(column)
        if is_named_so and _are_different(_numbers(frame.iloc[:, place])):
            raise DataError(
                f"{name}: the column {shown(column)} is an index, as reset_index() makes it a "
                "column; make it the index by set_index, or leave it out"
            )


def _refuse_one_more(name: str, what: str, lines: _Lines, known: Known | None) -> None:
    """Raise DataError if there is a row or a column more than users or items.

    Several more are the items of a catalogue that are in no event.
    """
    if known is None or known.count is None or lines.count != known.count + 1:
        return
    hint = ""
    if known.are_events:
        hint = f"; or give --{known.kind}-ids, if {known.kind} {known.count} is of no event"
    raise DataError(
        f"{name}: has {lines.count} {what}s for {known.count} {known.kind}s, {known.source}; the "
        f"first {what} is {_beginning(lines.at(0))}, and the last "
        f"{_beginning(lines.at(lines.count - 1))}; leave out what is no {known.kind}{hint}"
    )


def _lines(data: Any, rows: Known | None, columns: Known | None) -> tuple[_Lines, _Lines]:
    """Return the rows and the columns of a matrix.

    The ids of rows are those in a column, and the other way round.
    """
    ids_in_a_row = frozenset[str]() if columns is None else columns.ids
    ids_in_a_column = frozenset[str]() if rows is None else rows.ids
    height, width = data.shape
    stored = coo_array(data) if issparse(data) else None

    def row_at(place: int) -> NDArray[Any]:
        if stored is not None:
            is_here = stored.row == place
            return _summed(stored.data[is_here], stored.col[is_here], width)
        return _numbers(data.iloc[place]) if isinstance(data, pd.DataFrame) else data[place]

    def column_at(place: int) -> NDArray[Any]:
        if stored is not None:
            is_here = stored.col == place
            return _summed(stored.data[is_here], stored.row[is_here], height)
        return _numbers(data.iloc[:, place]) if isinstance(data, pd.DataFrame) else data[:, place]

    return _Lines(height, row_at, ids_in_a_row), _Lines(width, column_at, ids_in_a_column)


def _summed(numbers: NDArray[Any], places: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """Return a line of so many entries, from the numbers that a sparse matrix stores in it."""
    line = np.zeros(count)
    np.add.at(line, places, numbers)
    return line


def _numbers(values: pd.Series) -> NDArray[Any]:
    """Return the numbers of a column of a frame; none if it has something else."""
    kind = values.dtype
    if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_complex_dtype(kind):
        return np.empty(0)
    if isinstance(kind, np.dtype):
        return values.to_numpy()
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _looks(lines: _Lines, place: int, only_names: bool = False) -> str:
    """Return what a line holds in place of numbers of the matrix; empty if it may be some of them.

    If `only_names`, it is a running number or ids, and not any whole numbers that differ.
    """
    if lines.count < 2:
        return ""
    line = lines.at(place)
    if not _are_different(line) and len(line) > _FEW:  # without the corner of a matrix with both
        line = line[1:]
    if len(line) < 2 or not _are_different(line):
        return ""
    are_names = _may_be_names(line, lines.ids)
    sample = lines.others(place)
    if are_names and np.mean([_may_be_names(beside, lines.ids) for beside in sample]) >= 0.5:
        return ""
    if np.mean([_has_fractions(beside) for beside in sample]) >= 0.5:
        shortest = 2 if are_names else _ALL_DIFFERENT
    elif are_names:
        all_differ = np.mean([_are_different(beside) for beside in sample]) >= 0.5
        shortest = _MANY if all_differ else _FEW
    else:
        return ""
    if len(line) < shortest or (only_names and not are_names):
        return ""
    if _ascend_by_one(line):
        return _beginning(line)
    return f"{'ids' if are_names else 'whole numbers that all differ'}, {_beginning(line)}"


def _may_be_names(line: NDArray[Any], ids: frozenset[str]) -> bool:
    """Return whether a line holds running numbers or ids."""
    return _ascend_by_one(line) or _are_among(line, ids)


def _are_different(line: NDArray[Any]) -> bool:
    """Return whether a line holds whole numbers that all differ.

    They may be below 0, as ids that are hashes are.
    """
    if line.dtype.kind not in "iuf" or not len(line) or not np.isfinite(line).all():
        return False
    are_whole = (line == np.floor(line)).all()
    return bool(are_whole and len(np.unique(line)) == len(line))


def _ascend_by_one(line: NDArray[Any]) -> bool:
    return _are_different(line) and bool((np.diff(line) == 1).all())


def _are_among(line: NDArray[Any], ids: frozenset[str]) -> bool:
    """Return whether a line holds different ids."""
    return (
        bool(ids)
        and _are_different(line)
        and all(str(int(number)) in ids for number in line.tolist())
    )


def _has_fractions(line: NDArray[Any]) -> bool:
    finite = line[np.isfinite(line)] if line.dtype.kind == "f" else line[:0]
    return bool((finite != np.floor(finite)).any())


def _beginning(line: NDArray[Any]) -> str:
    """Return the first numbers of a line, for messages."""
    numbers = []
    for number in line[:3]:
        is_whole = np.isfinite(number) and not number % 1
        numbers.append(str(int(number)) if is_whole else f"{number:.6g}")
    return ", ".join(numbers) + (", …" if len(line) > 3 else "")
