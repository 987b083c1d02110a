"""What rankings are made from, as arrays, tables and files.

These are scores and factors, training and held-out items. In the memory of the host, numpy reads
arrays of any library without a copy. Those in the memory of a device, such as a GPU, stay there.

Users, items and ids may be standard input, called -.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from inspect import isawaitable, iscoroutine, signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse, load_npz

from sampled_metrics import file_io
from sampled_metrics.checks import Ints, refuse_masked, shown
from sampled_metrics.core.data.ids import INEXACT, as_text, column_of, id_column, places_of
from sampled_metrics.core.data.labels import counts_rows
from sampled_metrics.core.data.tables import refuse_rows
from sampled_metrics.core.ranks.frames import NAMES, Columns, as_pandas, columns_of, plain
from sampled_metrics.core.ranks.reading import (
    read_columns,
    read_labelled,
    read_standard_input,
    standard_input,
)
from sampled_metrics.errors import DataError, Remark, reason
from sampled_metrics.ranking.layout import Known, require_numbers_alone
from sampled_metrics.ranking.split import Split, pair_matrix, valid_sparse

MATRIX = "must be numbers, a row of them for each user and an entry for each item"

_FEW = 3
"""A matrix of so few items may be a table of pairs whose columns have other names."""

_WHOLE = 2.0**53
"""Below it, float64 holds every whole number."""

_LONG = 512
"""Rows with so many entries are counted one by one."""

ScoreFunction = Callable[[slice], ArrayLike]
"""Function from a slice of the users to their (users, items) scores."""

Factors = tuple[Any, Any]
"""Factors of users, (users, d), and of items, (items, d), whose products are the scores."""


def is_on_device(array: Any) -> bool:
    """Return whether numpy cannot read an array: not in the host's memory, or in bfloat16."""
    if isinstance(array, np.ndarray) or not (
        hasattr(array, "__dlpack_device__") and hasattr(array, "device")
    ):
        return False
    return "cpu" not in str(array.device).lower() or "bfloat16" in str(array.dtype)


def refuse_device(array: Any, name: str) -> None:
    """Raise DataError if numpy cannot read an array where it is."""
    if is_on_device(array):
        raise DataError(
            f"{name}: numpy cannot read {array.dtype} on the device {array.device}; give what it "
            f"can read, such as {name}.float().cpu()"
        )


class Device:
    """The device that arrays are on.

    It has the namespace of their library, `xp`, and makes copies to and from the host.

    Raises:
        DataError: the arrays differ in library or device, or are not real numbers, or
            array-api-compat is missing.
    """

    def __init__(self, *arrays: Any) -> None:
        self.xp: Any = np
        self.is_host = all(isinstance(array, np.ndarray) for array in arrays)
        if self.is_host:
            return
        try:
            import array_api_compat as compat
        except ImportError:
            raise DataError(
                "scores on a device need array-api-compat, which is not installed: pip install "
                "'sampled-metrics[arrays]'"
            ) from None
        self._compat = compat
        try:
            self.xp = compat.array_namespace(*arrays)
        except TypeError:
            names = " and ".join(type(array).__name__ for array in arrays)
            raise DataError(f"scores must be arrays of one library, not {names}") from None
        self._device, *other_devices = (compat.device(array) for array in arrays)
        if any(device != self._device for device in other_devices):
            raise DataError(
                f"scores must be on one device, not on {self._device} and {other_devices[0]}"
            )
        for array in arrays:
            if not self.xp.isdtype(array.dtype, ("bool", "integral", "real floating")):
                raise DataError(f"scores must be real numbers, not {array.dtype}")

    def put(self, array: NDArray[Any]) -> Any:
        """Return a copy on the device of an array on the host."""
        return array if self.is_host else self.xp.asarray(array, device=self._device)

    def pull(self, array: Any) -> NDArray[Any]:
        """Return a copy on the host of an array on the device."""
        if self.is_host:
            return np.asarray(array)
        if self._compat.is_torch_array(array):
            return np.asarray(array.cpu())
        if self._compat.is_cupy_array(array):
            return np.asarray(array.get())
        if self._compat.is_jax_array(array):
            return np.asarray(array)
        return np.from_dlpack(array, device="cpu", copy=True)

    def take(self, array: Any, index: NDArray[np.integer]) -> Any:
        """Return entries or rows of an array on the device, by indices on the host."""
        return self.xp.take(array, self.put(index), axis=0)

    def rows(self, array: Any, index: NDArray[np.integer]) -> Any:
        """Return ascending rows of (rows, columns), by indices on the host.

        Consecutive ones are not copied.
        """
        is_consecutive = (np.diff(index) == 1).all()
        if is_consecutive:
            return array[int(index[0]) : int(index[-1]) + 1, ...]
        return self.take(array, index)

    def entries(
        self, array: Any, row: NDArray[np.integer], column: NDArray[np.integer]
    ) -> NDArray[Any]:
        """Return a copy on the host of entries of (rows, columns), by indices on the host.

        It is in a type that numpy has.
        """
        if self.is_host:
            return np.asarray(array[row, column])
        place = row * array.shape[1] + column
        return self.pull(self.comparable(self.take(self.xp.reshape(array, (-1,)), place)))

    def count(self, is_true: Any) -> NDArray[np.int64]:
        """Return how many entries of each row of (rows, items) are true, on the host."""
        # numpy counts a whole array several times as fast
        if self.is_host and is_true.shape[1] >= _LONG:
            return np.array([np.count_nonzero(row) for row in is_true], dtype=np.int64)
        return self.pull(self.xp.count_nonzero(is_true, axis=1)).astype(np.int64)

    def comparable(self, scores: Any) -> Any:
        """Return scores in a type that numpy has and that holds them without rounding."""
        if self.is_host:
            return scores
        if self.xp.isdtype(scores.dtype, "bool"):
            return self.xp.astype(scores, self.xp.int8)
        is_float = self.xp.isdtype(scores.dtype, "real floating")
        is_narrow = is_float and self.xp.finfo(scores.dtype).bits < 32
        return self.xp.astype(scores, self.xp.float32) if is_narrow else scores

    def has_float64(self) -> bool:
        """Return whether the device computes in double precision.

        Apple's GPUs do not, nor does JAX by default.
        """
        single = self.put(np.ones(1, dtype=np.float32))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX warns, and goes on in single precision
            try:
                return bool(self.xp.astype(single, self.xp.float64).dtype == self.xp.float64)
            except (TypeError, RuntimeError):
                return False


def as_array(scores: Any) -> Any:
    """Return scores on a device as they are, without a gradient, and others as `as_scores` does."""
    return detached(scores) if is_on_device(scores) else as_scores(scores)


def as_scores(scores: Any, form: str = MATRIX) -> NDArray[Any]:
    """Return scores as an array of their own type, without a copy.

    Python numbers become float64 or integers. `form` says in messages what they must be.
    """
    if is_async(scores):
        raise DataError(
            "scores are async; a function may run what gives them, such as by asyncio.run"
        )
    refuse_masked(scores, "scores")
    refuse_device(scores, "scores")
    scores = detached(scores)
    python_numbers = None  # the Python numbers, if float64 might round them
    try:
        array = np.asarray(scores)
        if array.dtype == object:
            python_numbers = array
            array = array.astype(np.float64)
        elif (
            not hasattr(scores, "dtype")
            and array.dtype == np.float64
            and (np.abs(array) >= _WHOLE).any()
        ):
            # a frame may mix integers and floats, like a list
            is_frame = isinstance(scores, pd.DataFrame)
            python_numbers = (
                scores.to_numpy(object) if is_frame else np.asarray(scores, dtype=object)
            )
        is_rounded = np.False_
        if python_numbers is not None:
            is_rounded = (array != python_numbers) & ~np.isnan(array)
    except (TypeError, ValueError, OverflowError):  # ValueError: rows differ in length
        raise DataError(f"scores {form}") from None
    if python_numbers is not None and is_rounded.any():
        number = python_numbers[is_rounded][0]
        raise DataError(f"scores {form}; float64 cannot hold {number!r:.80} without rounding it")
    if array.ndim == 0 or array.dtype.kind not in "biuf":
        raise DataError(f"scores {form}")
    return array


def is_async(answer: Any) -> bool:
    """Return whether an answer of a function, or an entry of it, is to be awaited.

    The coroutines in it are closed, as Python would warn of each that nobody awaits.
    """
    if isinstance(answer, np.ndarray):
        entries = answer.ravel().tolist() if answer.dtype == object else []
    else:
        entries = [*answer] if isinstance(answer, list | tuple) else [answer]
    if not entries or not isawaitable(entries[0]):  # all are, or none
        return False
    for entry in entries:
        if iscoroutine(entry):
            entry.close()
    return True


@contextmanager
def exits_as_errors(what: str) -> Iterator[None]:
    """Raise DataError where code of a user, named by `what`, ends the process.

    The same holds where it raises what is no Exception, but for an interruption.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        words = f": {error}" if str(error) else ""
        raise DataError(f"{what} ends by {type(error).__name__}{words}") from error


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be given so many arguments; True if it does not say."""
    try:
        parameters = signature(function)
    except (TypeError, ValueError):
        return True
    try:
        parameters.bind(*range(count))
    except TypeError:
        return False
    return True


def detached(array: Any) -> Any:
    """Return an array without its gradient, which tensors of torch may have."""
    return array.detach() if hasattr(array, "detach") else array


PairsLike = Any
"""Accepted forms of pairs of users and items: a dense or sparse matrix, a table, or columns of a
file.
"""


@dataclass(frozen=True)
class Ids:
    """Ids of the rows or the columns of the scores.

    Attributes:
        kind: user or item, for messages.
        values: the ids.
        is_given: whether the caller gave them. Otherwise they are the indices.
        name: of the argument or the labels that they are, for messages.
    """

    kind: str
    values: NDArray[np.generic]
    is_given: bool
    name: str = ""

    @classmethod
    def from_given(cls, kind: str, values: ArrayLike | None, count: int, name: str = "") -> "Ids":
        """Return distinct ids, without spaces around them, or the indices if `values` is None.

        `name` is that of the ids in messages. Raises DataError if one is missing, repeated, a list,
        or a float that may stand for several ids. A warning counts the ids that had spaces.
        """
        name = name or f"{kind}_ids"
        if values is None:
            return cls(kind, np.arange(count), False)
        refuse_masked(values, name)
        if np.asarray(values).dtype.kind == "V":
            raise DataError(f"{name}: must be text or numbers, not {np.asarray(values).dtype}")
        ids = column_of(values)
        if np.shape(values) != (count,):
            raise DataError(
                f"{name} must have an id for each of the {count} {kind}s, not the shape "
                f"{np.shape(values)}"
            )
        are_lists = (
            ids.map(pd.api.types.is_list_like)
            if ids.dtype == object
            else pd.Series(False, index=ids.index)
        )
        if are_lists.any():
            raise DataError(
                f"{name}: entry {int(np.argmax(are_lists)) + 1} must be text or a number"
            )
        column = id_column(ids)
        text = as_text(ids)
        missing = text == ""
        repeated = text.duplicated()
        if missing.any():
            raise DataError(f"{name}: entry {int(np.argmax(missing)) + 1} is missing")
        if column.is_inexact.any():
            entry = int(np.argmax(column.is_inexact))
            raise DataError(f"{name}: entry {entry + 1} is {shown(ids.iloc[entry])}, {INEXACT}")
        if repeated.any():
            raise DataError(
                f"{name}: {ids[repeated].iloc[0]} is there twice; each {kind} needs an id of its "
                "own"
            )
        if isinstance(ids.dtype, pd.StringDtype):
            ids = text
        elif ids.dtype.kind == "f" and (ids == np.floor(ids)).all():
            ids = ids.astype(np.int64)
        return cls(kind, ids.to_numpy(), True, name)

    @cached_property
    def text(self) -> pd.Index:
        """The ids as text, by which they are compared."""
        return pd.Index(as_text(column_of(self.values)))

    @property
    def where(self) -> str:
        """Return what an id is in, for messages."""
        if not self.is_given:
            return f"an index from 0 to {len(self.values) - 1}"
        example = shown(next(iter(self.values), None))
        return f"in {self.name or self.kind + '_ids'}, such as {example}"

    @property
    def hint(self) -> str:
        """Return what to do about ids that are not known, for messages."""
        if self.is_given:
            return ""
        return f"; give {self.kind}_ids (--{self.kind}-ids) if the table has ids"

    def positions(self, columns: Columns) -> Ints:
        """Return the (rows,) indices of the ids in a column.

        Ids are compared as text, so 7 and "7" are the same.

        Raises:
            DataError: an id is missing or unknown; the message names it and its place.
        """
        column = columns[self.kind]
        number, ids = columns.ids(self.kind)
        positions = (
            self.text.get_indexer(ids) if self.is_given else places_of(ids, len(self.values))
        )[number]

        def message(row: int) -> str:
            return f"{self.kind} {shown(column.iloc[row])} is not {self.where}{self.hint}"

        refuse_rows(positions < 0, message, columns.place)
        return positions


def split_and_users(
    training: PairsLike,
    held_out: Any,
    shape: tuple[int | None, int | None],
    users: slice | ArrayLike | None,
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
) -> tuple[Split, tuple[Ids, Ids], Ints]:
    """Return the split, the ids of users and items, and the ascending indices of the users.

    The parameters are those of `rank`. `shape` are the numbers of users and items of the scores,
    None where they are not known. A warning counts the users without a held-out item.

    Raises:
        DataError: an argument is wrong, or two do not fit each other.
    """
    refuse_device(training, "training")
    refuse_device(held_out, "held_out")
    train = None if is_table(training) else matrix(training, "training")
    sizes = shape if train is None else train.shape
    known = (_count(sizes[0], user_ids), _count(sizes[1], item_ids))
    unknown = [kind for kind, number in zip(("user", "item"), known, strict=True) if number is None]
    if unknown:
        missing = " and ".join(f"{kind}_ids (--{kind}-ids)" for kind in unknown)
        kinds = " and ".join(f"{kind}s" for kind in unknown)
        raise DataError(
            f"the number of {kinds} is not known: give {missing}, or training as a matrix"
        )
    count, items = (number or 0 for number in known)
    if any(size not in (None, number) for size, number in zip(shape, (count, items), strict=True)):
        pairs = "; a table of pairs has the columns user and item" if items <= _FEW else ""
        raise DataError(
            f"scores have shape {shape}, but training has {count} users and {items} items{pairs}"
        )
    ids = Ids.from_given("user", user_ids, count), Ids.from_given("item", item_ids, items)
    if train is None:
        train = _of_table(training, "training", *ids)
    if is_table(held_out):
        test = _of_table(held_out, "held_out", *ids)
    else:
        test = _of_array(held_out, *ids)
    if not test.nnz:
        raise DataError("held_out: no user has a held-out item")
    split = Split(train, test, ids[0].values, ids[1].values)
    chosen = _chosen_users(users, count)
    without = np.count_nonzero(np.diff(test.indptr)[chosen] == 0)
    if without:
        text = f"{without} of {len(chosen)} users have no held-out item, and are left out"
        warnings.warn(text, Remark, stacklevel=3)
    return split, ids, chosen


def _count(size: int | None, ids: ArrayLike | None) -> int | None:
    """Return the size of an axis, or else the number of its ids, or else None."""
    if size is None and ids is not None:
        return int(np.size(ids))
    return size


def require_layout(
    matrices: Sequence[tuple[str, Any, tuple[str, ...]]],
    training: PairsLike,
    held_out: Any,
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
) -> None:
    """Check that matrices from files have a row for each user, a column for each item, no others.

    How many there should be is known by the ids, by training or held-out items as a matrix, or by
    the indices of their tables. The labels of a frame are compared with the ids elsewhere.

    Args:
        matrices: of each, the name of its file, itself, and the kinds of its axes, user and item.
        training: as in `rank`; likewise the others.
        held_out: as in `rank`.
        user_ids: as in `rank`.
        item_ids: as in `rank`.

    Raises:
        DataError: a matrix has a row or a column too many, as in `require_numbers_alone`.
    """
    labelled = set()
    for _, data, kinds in matrices:
        if isinstance(data, pd.DataFrame):
            axes = zip(kinds, data.axes, strict=False)
            labelled |= {kind for kind, index in axes if not counts_rows(index)}
    known: dict[str, Known] = {}
    for axis, (kind, ids) in enumerate((("user", user_ids), ("item", item_ids))):
        is_labelled = kind in labelled
        known[kind] = Known(kind) if is_labelled else _known(kind, axis, training, held_out, ids)
    for name, data, kinds in matrices:
        require_numbers_alone(name, data, *(known[kind] for kind in kinds))


def _known(
    kind: str, axis: int, training: PairsLike, held_out: Any, ids: ArrayLike | None
) -> Known:
    """Return what ids, or else training and held-out items, tell of the users or the items."""
    if ids is not None:
        return Known.from_ids(kind, ids)
    pairs = {"training": training, "held_out": held_out}
    for name, data in pairs.items():
        if not is_table(data) and len(np.shape(data)) == 2:
            return Known(kind, data.shape[axis], f"as {name} has")
    if not all(map(is_table, pairs.values())):
        return Known(kind)
    ids_of_tables = [table_of_pairs(data, name).ids(kind)[1] for name, data in pairs.items()]
    text = pd.concat([pd.Series(ids_of_table) for ids_of_table in ids_of_tables])
    if not text.str.fullmatch("0|[1-9][0-9]{0,8}").all():
        return Known(kind)
    last = int(text.astype(np.int64).max())
    return Known(kind, last + 1, f"0 to {last} in training and held-out events", are_events=True)


def warn_of_last(last: int, rows: int, stacklevel: int) -> None:
    """Warn if the held-out items of some rows score -inf.

    A model that masks them has the metric 0.
    """
    if last:
        text = (
            f"{last:,} of {rows:,} held-out items score -inf, as a masked item does, and rank last"
        )
        warnings.warn(text, Remark, stacklevel=stacklevel)


def _chosen_users(users: slice | ArrayLike | None, count: int) -> Ints:
    """Return the ascending indices of users, from a slice of them or indices; None is all."""
    refuse_masked(users, "users")
    part = slice(None) if users is None else users
    try:
        indices = np.arange(count)[part] if isinstance(part, slice) else np.asarray(part)
    except (TypeError, ValueError):  # ValueError: lists that differ in length, or a step of 0
        raise DataError(
            f"users must be a slice of the users, or indices of them, not {shown(users)}"
        ) from None
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise DataError(
            "users must be a slice of the users, or one-dimensional indices of them, whole "
            f"numbers, not {indices.dtype} of shape {indices.shape}"
        )
    if not indices.size:
        raise DataError("users: names none of the users")
    indices = np.sort(indices)
    wrong = indices[(indices < 0) | (indices >= count)]
    if len(wrong):
        raise DataError(f"users: {wrong[0]} is not an index of the {count} users, 0 to {count - 1}")
    repeated = indices[1:][indices[1:] == indices[:-1]]
    if len(repeated):
        raise DataError(f"users: {repeated[0]} is there twice")
    return indices.astype(np.int64)


def is_table(pairs: PairsLike) -> bool:
    """Return whether pairs are a table of users and items, and not a matrix.

    A frame of pandas is a matrix if all its columns are numbers, and none is called user or item.
    """
    if isinstance(pairs, Columns | Mapping):
        return isinstance(pairs, Columns)
    if isinstance(pairs, pd.DataFrame):
        usual = NAMES["user"] | NAMES["item"]
        levels = [name for name in pairs.index.names if name is not None and plain(name) in usual]
        columns = [name for name in pairs.columns if isinstance(name, str) and plain(name) in usual]
        is_named = len(levels) > 1 or len(columns) > 0
        return is_named or not all(map(pd.api.types.is_numeric_dtype, pairs.dtypes))
    return not issparse(pairs) and isinstance(as_pandas(pairs, "pairs"), pd.DataFrame)


def table_of_pairs(table: PairsLike, name: str) -> Columns:
    """Return a table as columns user and item; raise DataError if it has no such columns."""
    columns = columns_of(table, name)
    columns.require("user", "item")
    return columns


def matrix(pairs: PairsLike, name: str) -> csr_array:
    """Return a (users, items) matrix with each pair stored once, as 1.

    The caller's array does not change.
    """
    refuse_masked(pairs, name)
    try:
        coordinates = coo_array(valid_sparse(pairs, name) if issparse(pairs) else pairs)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} {MATRIX}") from None
    if coordinates.ndim != 2 or coordinates.dtype.kind not in "biuf":
        raise DataError(f"{name} {MATRIX}")
    if not np.isfinite(coordinates.data).all():
        raise DataError(f"{name} {MATRIX}; some are not finite")
    is_stored = coordinates.data != 0
    return pair_matrix(
        coordinates.row[is_stored], coordinates.col[is_stored], coordinates.shape, np.int8
    )


def _of_table(table: PairsLike, name: str, users: Ids, items: Ids) -> csr_array:
    columns = table_of_pairs(table, name)
    shape = len(users.values), len(items.values)
    return pair_matrix(users.positions(columns), items.positions(columns), shape, np.int8)


def _of_array(held_out: Any, users: Ids, items: Ids) -> csr_array:
    """Return the matrix of held-out items from a matrix, or from one index for each user."""
    refuse_masked(held_out, "held_out")
    shape = len(users.values), len(items.values)
    try:
        array = held_out if issparse(held_out) else np.asarray(held_out)
    except ValueError:  # rows that differ in length
        array = np.empty(0)
    if array.shape == shape:
        return matrix(array, "held_out")
    if array.shape != shape[:1]:
        raise DataError(
            f"held_out must be an item of each of the {shape[0]} users, {shape} numbers, or a "
            f"table of users and items, not of shape {array.shape}"
        )
    missing = np.asarray(pd.isna(array))
    numbers = np.asarray(array[~missing].tolist()) if array.dtype == object else array[~missing]
    if len(numbers) and numbers.dtype.kind not in "iuf":
        raise DataError(
            f"held_out must hold indices of the {shape[1]} items, whole numbers, not "
            f"{numbers.dtype}"
        )
    wrong = ~np.isfinite(numbers) | (numbers != np.floor(numbers)) | (numbers >= shape[1])
    user = np.flatnonzero(~missing)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"user {users.values[user[row]]}: held_out must be an index of the {shape[1]} items, 0 "
            f"to {shape[1] - 1}, not {numbers[row]:g}"
        )
    has_item = numbers >= 0
    refuse_indices_like_ids(numbers[has_item], items, "held_out")
    return pair_matrix(user[has_item], numbers[has_item], shape, np.int8)


def refuse_indices_like_ids(indices: NDArray[Any], items: Ids, name: str) -> None:
    """Check that (n,) indices of items cannot be meant as ids.

    Raises:
        DataError: all are ids, too, of other items.
    """
    if not items.is_given or not len(indices):
        return
    distinct = pd.unique(pd.Series(indices))
    places = items.text.get_indexer(as_text(pd.Series(distinct)))
    is_elsewhere = places != distinct
    if (places >= 0).all() and is_elsewhere.any():
        index = shown(distinct[int(np.argmax(is_elsewhere))])
        raise DataError(
            f"{name}: {index} may be an index or an id of items ({items.name or 'item_ids'}); give "
            "ids as a table, or as a Series with users as its index, and indices without ids of "
            "items"
        )


def ranges(sizes: Ints) -> tuple[Ints, Ints]:
    """Return the range that each number of joined ranges is in, and its place there, from 0."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) - (np.cumsum(sizes) - sizes)[which]


Places = Callable[[Ints, Ints], Ints]
"""Function from (pairs,) rows and (pairs,) numbers of candidates, from 0, to (pairs,) items."""


def candidates_at(excluded: csr_array, order: Ints | None = None) -> Places:
    """Return the function to the candidates with some numbers.

    Args:
        excluded: (rows, items), stored where the item is not a candidate.
        order: (items,) order of the items in which candidates are numbered; None is their own.
    """
    row, offset = ranges(np.diff(excluded.indptr))
    items = excluded.shape[1]
    start = excluded.indptr.astype(np.int64)
    place = excluded.indices if order is None else np.argsort(order)[excluded.indices]
    # the number of the first candidate after each excluded item; one search covers all rows
    after = np.sort(row * items + place) - offset

    def items_at(row: Ints, number: Ints) -> Ints:
        place = number + np.searchsorted(after, row * items + number, side="right") - start[row]
        return place if order is None else order[place]

    return items_at


def read_array(path: str) -> Any:
    """Read an array from npy, npz, parquet or csv.

    An npz file has a single array or a sparse matrix of SciPy. A csv file has no header, and
    missing entries are NaN. A parquet file of pandas is a frame with its labels.

    Raises:
        DataError: the file cannot be read, or does not hold one array; or a line of it has names of
            columns, or a column an index, as in `require_numbers_alone`.
    """
    array = _array_of_file(path)
    with file_io.reading(path):  # one of a huge shape does not fit
        require_numbers_alone(path, array)
    return array


def _array_of_file(path: str) -> Any:
    """Return what a file holds, read as `read_array` says."""
    kind = Path(path).suffix
    if kind == ".parquet":
        return read_labelled(path)
    if kind not in (".npy", ".npz", ".csv"):
        raise DataError(
            f"{path}: an array is a file whose name ends in .npy, .npz, .csv or .parquet"
        )
    if kind == ".npz":
        arrays = file_io.read_npz(path, "an array")
        if "format" in arrays:
            return _sparse_of_file(path, arrays)
    else:
        with file_io.reading(path, "cannot be read as an array"), file_io.opened(path) as file:
            if kind == ".npy":
                return np.lib.format.read_array(file, allow_pickle=False)
            frame = pd.read_csv(file, header=None, dtype=np.float64, skip_blank_lines=False)
            array = frame.to_numpy()
            return array[: len(array) - _blank_lines_at_the_end(array)]
    if len(arrays) != 1:
        raise DataError(
            f"{path}: must hold one array, not {len(arrays)} ({', '.join(arrays):.200})"
        )
    return next(iter(arrays.values()))


def _blank_lines_at_the_end(array: NDArray[np.float64]) -> int:
    """Return how many lines at the end have no number.

    One before them is a missing number, and moves no other line.
    """
    has_numbers = np.flatnonzero(~np.isnan(array).all(axis=1))
    return len(array) - (int(has_numbers[-1]) + 1 if len(has_numbers) else 0)


# of SciPy's files of sparse matrices
_INTEGERS = (
    "indices",
    "indptr",
    "row",
    "col",
    "coords",
    "offsets",
    "shape",
)


def _sparse_of_file(path: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the sparse matrix of a file of SciPy with these arrays.

    Raises:
        DataError: the file holds none.
    """
    if arrays["format"].ndim or arrays["format"].dtype.kind not in "SU":
        raise DataError(f"{path}: is no sparse matrix of SciPy: its format is not text")
    for name in _INTEGERS:
        if name in arrays and arrays[name].dtype.kind not in "iu":
            raise DataError(f"{path}: is no sparse matrix of SciPy: {name} are not whole numbers")
    if "shape" not in arrays or arrays["shape"].shape != (2,):
        raise DataError(
            f"{path}: is no sparse matrix of SciPy: its shape is not that of users and items"
        )
    with file_io.reading(path, "cannot be read as an array"), file_io.opened(path) as file:
        return valid_sparse(load_npz(file), path)


def read_pairs(path: str, separator: str | None = None) -> Columns | Any:
    """Read users and items.

    They are a table from csv or parquet, or a (users, items) matrix from npy or npz. The separator
    is that of the fields of a csv file; it is noticed if it is a usual one.

    Raises:
        DataError: the file cannot be read; the message names the line if there is one.
    """
    if path == "-":
        return read_standard_input(separator)
    if Path(path).suffix in (".npy", ".npz"):
        return read_array(path)
    return read_columns(path, separator)


def read_ids(path: str) -> NDArray[Any]:
    """Read ids from npy, or from text with an id on each line.

    Raises:
        DataError: the file cannot be read.
    """
    if Path(path).suffix == ".npy":
        ids: NDArray[Any] = read_array(path)
        return ids
    try:
        if path == "-":
            content = standard_input().read(-1)
        else:
            with file_io.opened(path) as file:
                content = file.read()
        return np.array(content.decode("utf-8-sig").rstrip("\r\n").splitlines())
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read as text with an id on each line: {reason(error)}"
        ) from None
