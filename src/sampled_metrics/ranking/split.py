"""A split: training events and held-out items, as two matrices, and the file that holds them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from sampled_metrics import file_io
from sampled_metrics.checks import Ints
from sampled_metrics.errors import DataError, reason


class Shape(NamedTuple):
    """The size of a split: numbers of users, items and training events."""

    users: int
    items: int
    events: int


@dataclass(frozen=True)
class Split:
    """Training events and held-out items, as two matrices.

    A row for each held-out item has the order of `held_out`.

    Attributes:
        training: (users, items) sparse, stored where the user has the item in training.
        held_out: (users, items) sparse, stored where the item is held out. A user may have several,
            or none.
        user_ids: (users,) the ids of the file.
        item_ids: (items,) the ids of the file.
        timestamps: (training events,) in the order of `training`, in the unit of the file; None if
            not known.
        positions: (training events,) in the order of `training`, ascending in the order of the
            file; None if not known.
    """

    training: csr_array
    held_out: csr_array
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]
    timestamps: NDArray[np.generic] | None = None
    positions: Ints | None = None

    def __post_init__(self) -> None:
        shape = self.training.shape
        if not shape == self.held_out.shape == (*self.user_ids.shape, *self.item_ids.shape):
            raise DataError(
                f"training has {shape[0]} users and {shape[1]} items, but held_out has shape "
                f"{self.held_out.shape}, user_ids {self.user_ids.shape} and item_ids "
                f"{self.item_ids.shape}"
            )
        for pairs, kind in ((self.training, "training"), (self.held_out, "held-out")):
            if not pairs.has_canonical_format:
                raise DataError(f"a user's {kind} items are repeated, or not in ascending order")
        is_trained = self.training[self.user, self.item] != 0
        if is_trained.any():
            user = self.user_ids[self.user[is_trained.argmax()]]
            raise DataError(
                f"user {user}: the held-out item is one of the user's "
                "training items; if repeats count, give training without events, as "
                "scipy.sparse.csr_array((users, items))"
            )

    @cached_property
    def user(self) -> Ints:
        """(rows,) index of the user of each held-out item."""
        return np.repeat(np.arange(len(self.user_ids)), np.diff(self.held_out.indptr))

    @property
    def item(self) -> Ints:
        """(rows,) index of each held-out item."""
        return np.asarray(self.held_out.indices)

    @property
    def candidates(self) -> Ints:
        """(rows,) n: the number of items without the user's training and other held-out items."""
        events = np.diff(self.training.indptr).astype(np.int64) + np.diff(self.held_out.indptr)
        return self.training.shape[1] + 1 - events[self.user]

    @cached_property
    def excluded(self) -> csr_array:
        """(users, items), stored where the item is no negative: in training or held out."""
        return csr_array(self.training + self.held_out)

    def non_candidates(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the items that are not candidates of some rows: training and other held-out items.

        Args:
            rows: (rows,) ascending.

        Returns:
            The items, row by row, and (rows + 1,) offsets: those of row i are ``items[offsets[i] :
            offsets[i + 1]]``.
        """
        user = self.user[rows]
        training = self.training
        counts = self.held_out.indptr[user + 1] - self.held_out.indptr[user]
        if (counts > 1).any():
            excluded = self.excluded[user]
            is_other = excluded.indices != np.repeat(self.item[rows], np.diff(excluded.indptr))
            # a row lacks its own item
            return excluded.indices[is_other], excluded.indptr - np.arange(len(rows) + 1)
        if user[-1] - user[0] + 1 == len(user):  # consecutive users: nothing is copied
            ends = training.indptr[user[0] : user[-1] + 2]
            return training.indices[ends[0] : ends[-1]], ends - ends[0]
        training_of_rows = training[user]
        return training_of_rows.indices, training_of_rows.indptr

    @property
    def shape(self) -> Shape:
        """Numbers of users, items and training events."""
        users, items = self.training.shape
        return Shape(users, items, self.training.nnz)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the split as npz."""
        arrays: dict[str, NDArray[Any]] = {
            "indptr": self.training.indptr,
            "indices": self.training.indices,
            "held_out": self.item.astype(np.int64),
            "user_ids": self.user_ids,
            "item_ids": self.item_ids,
        }
        has_one_item_each = np.array_equal(self.user, np.arange(len(self.user_ids)))
        if not has_one_item_each:
            arrays["user"] = self.user
        if self.timestamps is not None:
            arrays["timestamps"] = self.timestamps
        if self.positions is not None:
            arrays["positions"] = self.positions
        file_io.write_npz(path, **arrays)


def read_split(path: str | os.PathLike[str], *, timestamps: bool = False) -> Split:
    """Read a split that `Split.write` wrote, with its timestamps and positions on request.

    Raises:
        DataError: the file is not a split, or is damaged.
    """
    names = ("indptr", "indices", "held_out", "user_ids", "item_ids")
    times = ("timestamps", "positions") if timestamps else ()  # few need them
    arrays = file_io.read_npz(path, "a split", names, only=(*names, "user", *times))
    shape = (len(arrays["user_ids"]), len(arrays["item_ids"]))
    indices = arrays["indices"]
    item = arrays["held_out"]
    try:
        training = csr_array((np.ones(len(indices)), indices, arrays["indptr"]), shape=shape)
        training.check_format(full_check=True)
        held_out = pair_matrix(arrays.get("user", np.arange(shape[0])), item, shape)
        ids = arrays["user_ids"], arrays["item_ids"]
        return Split(training, held_out, *ids, arrays.get("timestamps"), arrays.get("positions"))
    except ValueError as error:  # of what is stored; DataError is one
        raise DataError(f"{path}: is not a split, or is damaged: {error}") from None


def valid_sparse(matrix: Any, name: str) -> Any:
    """Return a sparse matrix, in a format with stored places, after a check of all of them.

    SciPy's compiled code reads and writes at the places that a matrix stores. So wrong ones end the
    process, or change other numbers.

    Raises:
        DataError: a stored place is not in the matrix, or the matrix does not have two dimensions.
    """
    try:
        if matrix.ndim != 2:
            raise ValueError(f"it has {matrix.ndim} dimensions, not 2")
        if matrix.dtype.kind not in "biufc":
            raise ValueError(f"it holds {matrix.dtype}, not numbers")
        if matrix.format == "coo":
            # which checks the places
            return coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        if matrix.format not in ("csr", "csc", "bsr"):
            matrix = csr_array(matrix)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(f"{name}: is not a valid sparse matrix: {reason(error)}") from None
    return matrix


def pair_matrix(
    users: NDArray[Any],
    items: NDArray[Any],
    shape: tuple[int, int],
    kind: type[np.generic] = np.float64,
) -> csr_array:
    """Return a sparse matrix with 1 for each of (pairs,) users and items.

    Indices take 32 bits if that is enough.

    Raises:
        ValueError: an index is out of range.
    """
    index = np.int32 if max(*shape, len(users)) < 2**31 else np.int64
    pairs = users.astype(index, copy=False), items.astype(index, copy=False)
    matrix = csr_array((np.ones(len(users), dtype=kind), pairs), shape=shape)
    matrix.data[:] = 1  # a repeated pair was summed
    return matrix
