"""Ids of users and items, and the axes of matrices in their order.

There is one rule, *labelled or in order*. An axis of a pandas matrix, or of a factor, has labels if
its index is not pandas' default; the labels 0, 1, 2, … in this order are places. If one matrix has
labels on an axis, all have, or `user_ids` or `item_ids` name the places. Labels and ids are
compared as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Ints, is_real, refuse_masked, shown
from sampled_metrics.core.data.ids import INEXACT, are_inexact, as_text, column_of, places_of
from sampled_metrics.core.data.tables import refuse_rows
from sampled_metrics.core.ranks.frames import NAMES, Columns, plain
from sampled_metrics.errors import DataError

_NAMES_OF_INDEX = NAMES["user"] | NAMES["item"] | {"index", "unnamed0"}
"""Names of the column that reset_index and read_csv make of an index, in plain form."""


@dataclass(frozen=True)
class Ids:
    """Ids of the rows or the columns of the scores, in their order.

    Attributes:
        kind: user or item, for messages.
        values: the ids. If there are none, they are the indices 0, 1, 2, ...
        source: what says the ids, or how many there are, for messages.
        is_given: whether there are ids. Otherwise they are the indices.
        are_labels: whether they are the labels of a matrix, so that all matrices need labels.
    """

    kind: str
    values: NDArray[np.generic]
    source: str
    is_given: bool = False
    are_labels: bool = False

    @classmethod
    def from_labels(cls, kind: str, labels: Any, source: str, are_labels: bool) -> "Ids":
        """Return distinct ids, without spaces around them.

        Raises:
            DataError: one is missing, repeated, or a float that may stand for several ids; or they
                do not have one dimension.
        """
        refuse_masked(labels, source)
        if isinstance(labels, pd.MultiIndex) or np.ndim(labels) != 1:
            raise DataError(f"{source}: must have one dimension, with an id for each {kind}")
        ids = column_of(labels)
        text = as_text(ids)
        faults = {
            "is missing": text == "",
            f"is {INEXACT}": are_inexact(ids),
            "is there twice": text.duplicated(),
        }
        for fault, is_wrong in faults.items():
            if is_wrong.any():
                entry = int(np.argmax(is_wrong))
                raise DataError(f"{source}: entry {entry + 1}, {shown(ids.iloc[entry])}, {fault}")
        if pd.api.types.infer_dtype(ids) == "string":
            ids = text
        elif ids.dtype.kind == "f" and (ids == np.floor(ids)).all():
            ids = ids.astype(np.int64)
        return cls(kind, ids.to_numpy(), source, True, are_labels)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: slice) -> "Ids":
        return Ids(self.kind, self.values[part], self.source, self.is_given, self.are_labels)

    @cached_property
    def text(self) -> pd.Index:
        """The ids as text, by which they are compared."""
        return pd.Index(as_text(column_of(self.values)))

    @property
    def where(self) -> str:
        """Return what an id is in, for messages."""
        if self.is_given:
            return f"in {self.source}, such as {shown(next(iter(self.values), None))}"
        return (
            f"an index from 0 to {len(self) - 1}; give {self.kind}_ids (--{self.kind}-ids) if the "
            "table has ids"
        )

    def positions(self, columns: Columns) -> Ints:
        """Return the (rows,) indices of the ids in the column of this kind.

        Raises:
            DataError: an id is missing or unknown; the message names it and its place.
        """
        column = columns[self.kind]
        if not self.is_given and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
            positions = np.where(column < len(self), column, -1).astype(np.int64)
        else:
            number, ids = columns.ids(self.kind)
            known = self.text.get_indexer(ids) if self.is_given else places_of(ids, len(self))
            positions = known[number]

        def message(row: int) -> str:
            return f"{self.kind} {shown(column.iloc[row])} is not {self.where}"

        refuse_rows(positions < 0, message, columns.location)
        return positions

    def indices(self, numbers: ArrayLike, name: str) -> Ints:
        """Return (n,) indices of an array, which has no ids.

        Raises:
            DataError: one is no index; or all are ids, too, of others.
        """
        self._require_places(name)
        cells = np.asarray(numbers)
        array = cells
        if array.dtype == object:
            array = np.array([cell if is_real(cell) else np.nan for cell in array.tolist()])
        is_number = array.dtype.kind in "iuf"
        wrong = np.ones(len(array), dtype=bool)
        if is_number:
            wrong = ~((array >= 0) & (array < len(self)) & (array == np.floor(array)))
        if wrong.any():
            raise DataError(
                f"{name}: an array has indices of {self.kind}s, 0 to {len(self) - 1}, not "
                f"{shown(cells[int(np.argmax(wrong))])}; give ids as a table"
            )
        indices = array.astype(np.int64)
        if self.is_given:
            distinct = np.unique(indices)
            positions = self.text.get_indexer(as_text(pd.Series(distinct)))
            is_elsewhere = positions != distinct
            if (positions >= 0).all() and is_elsewhere.any():
                raise DataError(
                    f"{name}: {distinct[int(np.argmax(is_elsewhere))]} may be an index or an id in "
                    f"{self.source}; give ids as a table"
                )
        return indices

    def _require_places(self, name: str) -> None:
        """Raise DataError if the ids are labels, so that an array has no places in them."""
        if self.are_labels:
            raise DataError(
                f"{name}: has no labels, such as {shown(self.values[0])} in {self.source}; give it "
                f"labels, too, or give {self.kind}_ids (--{self.kind}-ids) and arrays in one order"
            )

    def order(self, labels: pd.Index | None, size: int, name: str, start: int = 0) -> Ints | None:
        """Return the (ids,) places of the ids in an axis; None if it is in their order.

        Args:
            labels: of the axis; None if it has none.
            size: of the axis.
            name: of the axis, for messages.
            start: the index of the first id.

        Raises:
            DataError: the axis has another size or other labels; or it has no labels, and the ids
                are those of another one.
        """
        if labels is None or self._are_places(labels, start):
            self._require_places(name)
            if size != len(self):
                is_padded = self.kind == "item" and abs(size - len(self)) == 1
                hint = "; leave out a column of padding, as scores[:, 1:] does" if is_padded else ""
                raise DataError(
                    f"{name}: has {size} {self.kind}s, and {self.source} {len(self)}{hint}"
                )
            return None
        if np.array_equal(labels, self.values):
            return None
        label_text = Ids.from_labels(self.kind, labels, name, True).text
        is_known = label_text.isin(self.text)
        if not is_known.all():
            label = shown(labels[int(np.argmin(is_known))])
            raise DataError(f"{name}: {self.kind} {label} is not {self.where}")
        order = label_text.get_indexer(self.text)
        if (order < 0).any():
            lacking = shown(self.values[int(np.argmin(order))])
            raise DataError(f"{name}: lacks the {self.kind} {lacking} of {self.source}")
        return order

    def _are_places(self, labels: pd.Index, start: int) -> bool:
        """Return whether labels of an axis only count its rows.

        Numbers in a named index, or in one that pandas did not make, may be ids.
        """
        if not are_places(labels) and not are_places(labels, start):
            return False
        is_default = isinstance(labels, pd.RangeIndex) and labels.name is None
        return is_default or not self.is_given or not set(map(str, labels)) <= set(self.text)


def are_places(labels: pd.Index, start: int = 0) -> bool:
    """Return whether labels are the numbers from `start` on, in this order, or their text."""
    numbers = np.arange(start, start + len(labels))
    if isinstance(labels, pd.MultiIndex):
        return False
    if pd.api.types.is_integer_dtype(labels.dtype):
        return np.array_equal(labels, numbers)
    is_text = len(labels) > 0 and labels[0] == str(start)
    return not len(labels) or (is_text and np.array_equal(labels, numbers.astype(str)))


@dataclass(frozen=True)
class Axis:
    """An axis of a matrix, or of a factor.

    Attributes:
        kind: user or item.
        labels: of a frame; None of an array.
        size: how many users or items it has.
        name: for messages.
    """

    kind: str
    labels: pd.Index | None
    size: int
    name: str


def axes_of(data: Any, name: str, kinds: Sequence[str]) -> list[Axis]:
    """Return the axes of a matrix, a factor or one-dimensional data, for these kinds."""
    axes = []
    for number, kind in enumerate(kinds):
        labels = data.axes[number] if isinstance(data, pd.DataFrame | pd.Series) else None
        part = "index" if number == 0 else "columns"
        called = name if labels is None else f"the {part} of {name}"
        axes.append(Axis(kind, labels, data.shape[number], called))
    return axes


def ids_of(kind: str, argument: ArrayLike | None, axes: Sequence[Axis]) -> Ids:
    """Return the ids of an argument, or the first labels of this kind, or else the indices.

    Raises:
        DataError: the ids are wrong, or nothing says how many there are.
    """
    name = f"{kind}_ids"
    if argument is not None:
        refuse_masked(argument, name)
        if isinstance(argument, pd.Series) and not argument.index.is_monotonic_increasing:
            raise DataError(
                f"{name}: is a Series in another order than its index; give {name}.to_numpy() if "
                "it is in the order of the scores"
            )
        numbers = np.asarray(argument)
        if numbers.dtype.kind in "iu" and np.array_equal(numbers, np.arange(numbers.size)):
            return Ids(kind, np.arange(numbers.size), name)
        return Ids.from_labels(kind, argument, name, False)
    axes_of_kind = [axis for axis in axes if axis.kind == kind]
    for axis in axes_of_kind:
        if axis.labels is not None and not are_places(axis.labels):
            return Ids.from_labels(kind, axis.labels, axis.name, True)
    if not axes_of_kind:
        raise DataError(
            f"the number of {kind}s is not known: give {name} (--{kind}-ids), or training as a "
            "matrix"
        )
    return Ids(kind, np.arange(axes_of_kind[0].size), axes_of_kind[0].name)


def in_order(data: Any, name: str, ids: Sequence[Ids], start: int = 0) -> Any:
    """Return a matrix, a factor or a Series whose axes are in the order of ids.

    Args:
        data: of pandas, which is ordered by its labels, or an array, which stays as it is.
        name: for messages.
        ids: of the first axes.
        start: the index of the first user of a block.

    Raises:
        DataError: an axis does not fit to its ids, or a column is an index.
    """
    if isinstance(data, pd.DataFrame) and len(data.columns):
        column = data.columns[0]
        if isinstance(column, str) and plain(column) in _NAMES_OF_INDEX:
            raise DataError(
                f"{name}: the column {shown(column)} is an index; make it the index, by set_index"
            )
    axes = axes_of(data, name, [axis_ids.kind for axis_ids in ids])
    for number, (axis, axis_ids) in enumerate(zip(axes, ids, strict=True)):
        start_of_axis = start if number == 0 else 0
        order = axis_ids.order(axis.labels, axis.size, axis.name, start_of_axis)
        if order is not None:
            data = data.take(order, axis=number)
    return data
