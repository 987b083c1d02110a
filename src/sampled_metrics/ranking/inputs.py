"""The inputs of rankings as arrays, tables and files: scores, factors, training and held-out items.

In the memory of the host, numpy reads arrays of any library without a copy. Arrays in the memory of
a device, such as a GPU, stay there.

Users, items and ids may be standard input, written as -.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine, signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse, load_npz

from sampled_metrics import file_io
from sampled_metrics.checks import Ints, refuse_masked, require_whole, shown
from sampled_metrics.core.data.labels import has_labels
from sampled_metrics.core.data.tables import read_parquet, refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.frames import NAMES, Columns, as_pandas, columns_of, plain
from sampled_metrics.core.ranks.reading import (
    read_columns,
    read_standard_input,
    standard_input,
)
from sampled_metrics.errors import ConfigError, DataError, Remark, reason
from sampled_metrics.ranking.labels import Axis, Ids, axes_of, ids_of, in_order
from sampled_metrics.ranking.split import Split, pair_matrix, valid_sparse

MATRIX = "must be numbers, a row of them for each user and an entry for each item"

_WHOLE = 2.0**53
"""Below it, float64 holds every whole number."""

_LONG = 512
"""Rows with this many entries are counted one by one."""

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

    The namespace of their library is `xp`, and the methods copy to and from the host.

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
        """Return entries of (rows, columns), by indices on the host, as a copy on the host.

        The copy has a type of numpy.
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

    def is_boolean(self, array: Any) -> bool:
        """Return whether the entries of an array are True or False."""
        return array.dtype == bool if self.is_host else self.xp.isdtype(array.dtype, "bool")

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
    """Return scores on a device without a gradient, and others as `as_scores` does."""
    return detached(scores) if is_on_device(scores) else as_scores(scores)


def as_scores(scores: Any, form: str = MATRIX) -> NDArray[Any]:
    """Return scores as an array of their own type, without a copy.

    Python numbers become float64 or integers. `form` says in messages what they must be.
    """
    refuse_awaitable(scores, "scores")
    refuse_masked(scores, "scores")
    refuse_device(scores, "scores")
    refuse_labels(scores, "scores")
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
    if array.dtype.kind not in "biuf":
        raise DataError(f"scores {form}")
    if array.ndim == 0:
        raise DataError(f"scores {form}, not a single number")
    return array


def refuse_labels(data: Any, name: str) -> None:
    """Raise DataError for a Series with labels, or a list of Series, which would lose them."""
    has_series = isinstance(data, list | tuple) and any(isinstance(row, pd.Series) for row in data)
    if has_series or (isinstance(data, pd.Series) and has_labels(data)):
        raise DataError(
            f"{name}: the labels of a Series are not used; give a DataFrame, or .to_numpy() if it "
            "is in order"
        )


def refuse_awaitable(answer: Any, what: str) -> None:
    """Raise DataError if an answer of a function, or an entry of it, has yet to be computed.

    The coroutines in it are closed, as Python would warn of each that nobody awaits.
    """
    if isinstance(answer, np.ndarray):
        entries = answer.ravel().tolist() if answer.dtype == object else []
    else:
        entries = [*answer] if isinstance(answer, list | tuple) else [answer]
    if not entries or not isawaitable(entries[0]):  # all are, or none
        return
    for entry in entries:
        if iscoroutine(entry):
            entry.close()
    if hasattr(entries[0], "__dask_graph__"):
        raise DataError(f"{what} must be numbers, not a Dask collection; call its compute()")
    raise DataError(
        f"{what} must be numbers, not a coroutine; wrap the function, for example with asyncio.run"
    )


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
        raise DataError(f"{what} fails with {type(error).__name__}{words}") from error


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function takes this many arguments; True if it does not say."""
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

_VALUES = {"label", "rating", "relevance", "click", "weight"}
"""Columns of pairs that say by a zero or a negative number that a row is no event."""


@dataclass(frozen=True)
class Inputs:
    """Arguments of a ranker, read and checked.

    Attributes:
        scores: a function of a slice of users, or two factors, in the order of the ids; None if
            there are none.
        split: training and held-out items.
        ids: of users and items.
        users: ascending indices of the chosen users.
    """

    scores: Any
    split: Split
    ids: tuple[Ids, Ids]
    users: Ints


def read_inputs(
    source: Any,
    training: PairsLike,
    held_out: Any,
    users: slice | ArrayLike | None,
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
) -> Inputs:
    """Return the arguments of `rank`, with all matrices in the order of the ids.

    `source` is what `source_of_scores` returns, or None if there are no scores; the others are the
    parameters of `rank`. A warning counts the users without a held-out item.

    Raises:
        DataError: an argument is wrong, or two do not fit each other.
    """
    train = _pairs(training, "training")
    listed = np.asarray(held_out, dtype=object) if isinstance(held_out, list) else held_out
    is_vector = not is_table(held_out) and np.ndim(listed) == 1
    test = _vector(listed) if is_vector else _pairs(held_out, "held_out")

    # --- the ids, from all axes
    axes = _axes_of_scores(source)
    if not isinstance(train, Columns):
        axes += axes_of(train, "training", ("user", "item"))
    if is_vector and not has_labels(test):
        axes.append(Axis("user", None, len(test), "held_out"))
    elif not is_vector and not isinstance(test, Columns):
        axes += axes_of(test, "held_out", ("user", "item"))
    ids = ids_of("user", user_ids, axes), ids_of("item", item_ids, axes)

    # --- all in their order
    readable = None if source is None else readable_scores(source, ids)
    train_matrix = _matrix_of_pairs(train, "training", ids)
    test_matrix = (
        _matrix_of_vector(test, ids) if is_vector else _matrix_of_pairs(test, "held_out", ids)
    )
    if not test_matrix.nnz:
        raise DataError("held_out: no user has a held-out item")
    split = Split(train_matrix, test_matrix, ids[0].values, ids[1].values)
    chosen = _chosen_users(users, len(ids[0]))
    without = np.count_nonzero(np.diff(test_matrix.indptr)[chosen] == 0)
    if without:
        text = f"{without} of {len(chosen)} users have no held-out item, and are left out"
        warnings.warn(text, Remark, stacklevel=3)
    return Inputs(readable, split, ids, chosen)


# --- scores


def source_of_scores(scores: Any, batch_size: int | None) -> Any:
    """Return scores as a function, a tuple of two factors, a frame, a sparse matrix or an array.

    Frames are not yet in the order of the ids.

    Raises:
        DataError: the scores are wrong.
        ConfigError: batch_size is wrong, or the function does not take one argument.
    """
    if batch_size is not None:
        require_whole(1, batch_size=batch_size)
    if callable(scores):
        if not takes(scores, 1):
            pairs = (
                "; one of users and items is for staged_ranks, and one of a single pair is called "
                "for each pair, as lambda users, items: [score(*pair) for pair in zip(users, "
                "items)]"
            )
            raise ConfigError(
                "scores: a function takes one argument, a slice of the users"
                f"{pairs if takes(scores, 2) else ''}"
            )
        return scores
    if isinstance(scores, tuple):
        if batch_size is not None:
            raise ConfigError(
                "batch_size is for scores from a function or a matrix; leave it out for factors"
            )
        return _factors(scores)
    if isinstance(scores, pd.DataFrame):
        return scores
    source = csr_array(valid_sparse(scores, "scores")) if issparse(scores) else as_array(scores)
    if source.ndim != 2:
        raise DataError(f"scores {MATRIX}")
    return source


def readable_scores(source: Any, ids: tuple[Ids, Ids]) -> ScoreFunction | Factors:
    """Return what `source_of_scores` returns as a function or two factors, in the order of the ids.

    Raises:
        DataError: labels or shapes do not fit to the ids.
    """
    if isinstance(source, tuple):
        users, items = source
        users = in_order(users, "factors of users", ids[:1])
        items = in_order(items, "factors of items", ids[1:])
        if any(map(is_on_device, source)):
            return users, items
        # the factors of the users may be in a file that is larger than the memory, so they are
        # converted when they are used
        users = as_scores(users)
        items = as_scores(items)
        kind = np.float32 if users.dtype == items.dtype == np.float32 else np.float64
        return users, items.astype(kind, copy=False)
    if callable(source):

        def block_in_order(users: slice) -> Any:
            answer = source(users)
            if not isinstance(answer, pd.DataFrame):
                answer = as_array(answer)
            if answer.ndim != 2:
                raise DataError(f"scores {MATRIX}")
            block_ids = ids[0][users], ids[1]
            return in_order(answer, "scores of a block of users", block_ids, users.start)

        return block_in_order
    ordered = in_order(source, "scores", ids)
    if issparse(ordered):
        return lambda users: ordered[users].toarray()
    dense = as_array(ordered)
    return lambda users: dense[users, ...]


def _axes_of_scores(source: Any) -> list[Axis]:
    """Return the axes of scores that `source_of_scores` returns."""
    if source is None or callable(source):
        return []
    if isinstance(source, tuple):
        users, items = source
        axes = axes_of(users, "factors of users", ("user",))
        return axes + axes_of(items, "factors of items", ("item",))
    return axes_of(source, "scores", ("user", "item"))


def _factors(pair: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the factors of users and items, as frames or arrays.

    Raises:
        DataError: they are not two matrices with the same columns.
    """
    stay_on_device = any(map(is_on_device, pair))
    if stay_on_device:
        Device(*pair)  # refuses arrays of two libraries or devices
    arrays: list[Any] = []
    for array in pair:
        is_kept = stay_on_device or isinstance(array, pd.DataFrame)
        arrays.append(detached(array) if is_kept else as_scores(array))
    are_matrices = len(arrays) == 2 and all(array.ndim == 2 for array in arrays)
    if not are_matrices or arrays[0].shape[1] != arrays[1].shape[1]:
        shapes = ", ".join(str(tuple(array.shape)) for array in arrays)
        raise DataError(
            "a tuple of scores must be two factors, (users, d) and (items, d), not arrays of "
            f"{shapes}"
        )
    if not arrays[0].shape[1]:
        raise DataError("factors must have one dimension or more, not 0")
    users, items = arrays
    if isinstance(users, pd.DataFrame) and isinstance(items, pd.DataFrame):
        columns = list(map(str, users.columns))
        if columns != list(map(str, items.columns)):
            raise DataError("factors: the columns of both frames must be equal")
    return users, items


# --- pairs


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


def _pairs(pairs: PairsLike, name: str) -> Any:
    """Return pairs as columns user and item, a frame by user and item, or a sparse matrix.

    Raises:
        DataError: they have another form, or a row of a table is no event.
    """
    refuse_device(pairs, name)
    if isinstance(pairs, pd.DataFrame) and not is_table(pairs):
        return pairs
    if not is_table(pairs):
        return matrix(pairs, name)
    columns = table_of_pairs(pairs, name)
    for label, values in columns.frame.items():
        if plain(label) in _VALUES:
            refuse_rows(
                pd.to_numeric(values, errors="coerce") <= 0,
                _message_on_value(label, values),
                columns.location,
            )
    return columns


def _message_on_value(label: Any, values: pd.Series) -> Callable[[int], str]:
    """Return the message on a row of pairs with such a value."""
    return lambda row: (
        f"{label} is {shown(values.iloc[row])}; keep the rows that are events, or drop this column "
        "if every row is one"
    )


def _matrix_of_pairs(pairs: Any, name: str, ids: tuple[Ids, Ids]) -> csr_array:
    """Return the matrix of pairs that `_pairs` returns, in the order of the ids."""
    if isinstance(pairs, Columns):
        shape = len(ids[0]), len(ids[1])
        return pair_matrix(ids[0].positions(pairs), ids[1].positions(pairs), shape, np.int8)
    ordered = in_order(pairs, name, ids)
    return matrix(ordered.to_numpy(), name) if isinstance(ordered, pd.DataFrame) else ordered


def _vector(held_out: Any) -> Any:
    """Return one held-out item of each user as a Series of pandas, or as an array.

    Raises:
        DataError: a Series does not have users as its index.
    """
    refuse_device(held_out, "held_out")
    refuse_masked(held_out, "held_out")
    if not isinstance(held_out, pd.Series):
        return np.asarray(held_out)
    index = held_out.index
    if isinstance(index, pd.MultiIndex) or plain(index.name) in NAMES["item"]:
        raise DataError(
            "held_out: a Series has users as its index and items as its values; give a table of "
            "user and item, as reset_index() returns"
        )
    return held_out


def _matrix_of_vector(held_out: Any, ids: tuple[Ids, Ids]) -> csr_array:
    """Return the matrix of held-out items from what `_vector` returns.

    The values of a Series are looked up in the ids, and so is its index if it has labels. An array
    has indices. A missing item, or a negative number that is not an id, means no held-out item.
    """
    users, items = ids
    is_labelled = has_labels(held_out)
    if not is_labelled:
        users.order(None, len(held_out), "held_out")
    has_item = ~np.asarray(pd.isna(held_out))
    if not (isinstance(held_out, pd.Series) and items.is_given):
        numbers = pd.to_numeric(pd.Series(held_out), errors="coerce")
        has_item &= ~(numbers < 0).to_numpy(dtype=bool, na_value=False)
    if not isinstance(held_out, pd.Series):
        indices = items.indices(held_out[has_item], "held_out")
        shape = len(users), len(items)
        return pair_matrix(np.flatnonzero(has_item), indices, shape, np.int8)
    user = np.asarray(held_out.index if is_labelled else users.values)[has_item]
    table = pd.DataFrame({"user": user, "item": held_out.to_numpy()[has_item]})
    if not len(table):
        raise DataError("held_out: no user has a held-out item")
    return _matrix_of_pairs(table_of_pairs(table, "held_out"), "held_out", ids)


def matrix(pairs: PairsLike, name: str) -> csr_array:
    """Return a (users, items) matrix with each pair stored once, as 1.

    The caller's array does not change.
    """
    refuse_masked(pairs, name)
    refuse_labels(pairs, name)
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
        raise DataError("users: names no user")
    indices = np.sort(indices)
    wrong = indices[(indices < 0) | (indices >= count)]
    if len(wrong):
        raise DataError(f"users: {wrong[0]} is not an index of the {count} users, 0 to {count - 1}")
    repeated = indices[1:][indices[1:] == indices[:-1]]
    if len(repeated):
        raise DataError(f"users: {repeated[0]} is there twice")
    return indices.astype(np.int64)


def warn_of_last(last: int, rows: int, stacklevel: int) -> None:
    """Warn if the held-out items of some rows score -inf.

    A model that masks them has the metric 0.
    """
    if last:
        text = (
            f"{last:,} of {rows:,} held-out items score -inf, as a masked item does, and rank last"
        )
        warnings.warn(text, Remark, stacklevel=stacklevel)


def on_all_tied(candidates: Ints, above: Ints, tied: Ints) -> tuple[Finding, ...]:
    """Return a finding on the rows whose candidates all have the score of the held-out item."""
    rows = int(np.count_nonzero((tied == candidates - 1) & (above == 0) & (candidates > 1)))
    values = {"source": "ranks", "rows": rows, "all": len(above)}
    return (Finding("all-tied", values=values),) if rows else ()


def ranges(sizes: Ints) -> tuple[Ints, Ints]:
    """Return the range that each number of joined ranges is in, and its place there, from 0."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) - (np.cumsum(sizes) - sizes)[which]


Places = Callable[[Ints, Ints], Ints]
"""Function from (pairs,) rows and (pairs,) numbers of candidates, from 0, to (pairs,) items."""


def candidates_at(excluded: csr_array, order: Ints | None = None) -> Places:
    """Return a function that looks up candidates by their numbers.

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
    """Read a matrix: places from npy or npz, or labels from csv or parquet.

    An npz file has a single array or a sparse matrix of SciPy. A csv file has names in its first
    line, ids of items for scores, and a first column user, or item for factors of items. So has a
    parquet file, or pandas has written its index.

    Raises:
        DataError: the file cannot be read, or does not hold one matrix.
    """
    kind = Path(path).suffix
    if kind in (".csv", ".parquet"):
        return _frame_of_file(path, kind)
    if kind not in (".npy", ".npz"):
        raise DataError(
            f"{path}: an array is a file whose name ends in .npy, .npz, .csv or .parquet"
        )
    if kind == ".npy":
        with file_io.reading(path, "cannot be read as an array"), file_io.opened(path) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    arrays = file_io.read_npz(path, "an array")
    if "format" in arrays:
        with file_io.reading(path, "is no sparse matrix of SciPy"), file_io.opened(path) as file:
            return valid_sparse(load_npz(file), path)
    if len(arrays) != 1:
        raise DataError(
            f"{path}: must hold one array, not {len(arrays)} ({', '.join(arrays):.200})"
        )
    return next(iter(arrays.values()))


def _frame_of_file(path: str, kind: str) -> pd.DataFrame:
    """Return the matrix of a csv or parquet file, with its labels.

    Raises:
        DataError: the file cannot be read, or does not have a first column user or item.
    """
    with file_io.reading(path, "cannot be read as a matrix"), file_io.opened(path) as file:
        if kind == ".parquet":
            frame = read_parquet(file, path)
        else:
            # as text, as pandas renames a name that is there twice
            header = pd.read_csv(file, header=None, nrows=1, dtype=str, keep_default_na=False)
            file.seek(0)
            frame = pd.read_csv(file, header=None, skiprows=1, converters={0: str})
            frame.columns = pd.Index(header.iloc[0])
    first_column = frame.columns[0] if len(frame.columns) else None
    if plain(first_column) in NAMES["user"] | NAMES["item"]:
        return frame.set_index(first_column)
    if kind == ".csv":
        raise DataError(
            f"{path}: a matrix in a csv file has a first line of names, such as ids of items, and "
            f"a first column user, or item for factors of items, not {shown(first_column)}; write "
            "it by to_csv(index_label='user'), or write npy"
        )
    return frame


def read_pairs(path: str, separator: str | None = None) -> Columns | Any:
    """Read users and items from a csv, parquet, npy or npz file.

    A csv or parquet file is a table, and an npy or npz file a (users, items) matrix. The separator
    of the fields of a csv file is found if it is a usual one.

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
        return np.asarray(read_array(path))
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
