"""Events of users and items from the rows of a table: checked, binarized, and with numbered ids.

The numbers of ids begin with 0.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import Ints, shown
from sampled_metrics.core.data.ids import INEXACT, as_text, id_column
from sampled_metrics.core.data.tables import Rows, refuse_rows
from sampled_metrics.errors import ConfigError, DataError

BYTES_OF_EVENT = 55
"""Memory that each event takes while the events are read and split."""


class EventChunk(NamedTuple):
    """Consecutive events of a file, in the order of the file.

    All arrays have shape (events,), which may be (0,).
    """

    users: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file: text, or numbers where `str` writes them as the file does.

    Chunks may differ in this.
    """
    items: NDArray[np.int64] | NDArray[np.object_]
    """Ids as in the file, like `users`."""
    ratings: NDArray[np.float64] | None = None
    """Ratings on the scale of the file; None if the file has none."""
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None = None
    """Times in the unit of the file, for MovieLens seconds since 1970 in UTC; None if the file has
    none.
    """
    held_out: NDArray[np.bool_] | None = None
    """Whether the split of the file holds the event out; None if the file has no split."""
    malformed: int = 0
    """Number of malformed lines that were left out; the last chunk of a file has it."""

    def events(self, kept: Any) -> "EventChunk":
        """Return some of the events, by (events,) bool."""
        columns = {
            name: values[kept]
            for name, values in self._asdict().items()
            if isinstance(values, np.ndarray)
        }
        return self._replace(**columns)


@dataclass(frozen=True)
class Events:
    """Implicit feedback, in the order of the file.

    Attributes:
        users: (events,) int, user of each event, an index into `user_ids`.
        items: (events,) int, item of each event, an index into `item_ids`.
        timestamps: (events,) int or float, in the unit of the file; None if the file has none.
        user_ids: (users,) ids of the file, int or text, ascending.
        item_ids: (items,) ids of the file, int or text, ascending.
        held_out: (events,) bool, whether the split of the file holds the event out; None if the
            file has no split.
        left_out: numbers of events, or of malformed lines, of the file that are not here, by
            reason.
    """

    users: NDArray[np.integer]
    items: NDArray[np.integer]
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None
    user_ids: NDArray[np.generic]
    item_ids: NDArray[np.generic]
    held_out: NDArray[np.bool_] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.users)

    def events(self, kept: NDArray[np.bool_]) -> "Events":
        """Return some of the events, by (events,) bool, with the ids of all."""
        columns: dict[str, Any] = {
            name: getattr(self, name) for name in ("users", "items", "timestamps", "held_out")
        }
        present = {name: values[kept] for name, values in columns.items() if values is not None}
        return replace(self, **present)


def binarize(
    chunks: Iterable[EventChunk],
    min_rating: float,
    repeated: str = "earliest",
    most_bytes: float = np.inf,
) -> Events:
    """Return an event for each rating of `min_rating` or more, with numbered users and items.

    The numbers are in the order of the ids.

    Feedback is a set of (user, item) pairs: if a pair repeats, one of its events is kept. Ids that
    the file gives as text become numbers if all ids of users (or of items) in the file are whole
    numbers without leading zeros.

    Args:
        chunks: the parsed file, in the order of the file.
        min_rating: lowest rating that counts; 0 keeps every event.
        repeated: which of the events of a pair is kept: the "earliest" or "latest" by their
            timestamps, or the "first" or "last" by the order of the file. Of events with equal
            timestamps, and in a file without them, the earliest is the first, and the latest the
            last.
        most_bytes: the memory of the machine. Events beyond it are counted, not held.

    Raises:
        ConfigError: `min_rating` is not 0, and the file has no ratings.
        DataError: no event is left, the file holds out a pair that is in training, too, or the
            events do not fit into the memory.
    """
    user_numbers = _Numbering()
    item_numbers = _Numbering()
    columns: dict[str, _Column] = defaultdict(_Column)
    low = 0
    malformed = 0
    events_read = 0
    for chunk in chunks:
        malformed += chunk.malformed
        if min_rating != 0:
            if chunk.ratings is None:
                raise ConfigError(
                    f"min_rating is {min_rating}, but the file has no ratings; it may be 0"
                )
            is_high = chunk.ratings >= min_rating
            low += int((~is_high).sum())
            chunk = chunk.events(is_high)
        events_read += len(chunk.users)
        if BYTES_OF_EVENT * events_read > most_bytes:
            continue
        columns["users"].append(user_numbers.number(chunk.users))
        columns["items"].append(item_numbers.number(chunk.items))
        if chunk.timestamps is not None:
            columns["timestamps"].append(chunk.timestamps)
        if chunk.held_out is not None:
            columns["held_out"].append(chunk.held_out)
    if BYTES_OF_EVENT * events_read > most_bytes:
        raise DataError(
            f"{events_read:,} events need {BYTES_OF_EVENT * events_read / 1e9:,.1f} GB of memory, "
            f"and this machine has {most_bytes / 1e9:,.1f} GB; study fewer of them"
        )
    whole = {name: column.values() for name, column in columns.items()}
    if not events_read:
        raise DataError(f"no event has a rating of {min_rating} (min_rating) or more")
    user_ids, user_positions = user_numbers.ascending()
    item_ids, item_positions = item_numbers.ascending()
    users = user_positions[whole.pop("users")]
    items = item_positions[whole.pop("items")]
    timestamps = whole.get("timestamps")
    if timestamps is not None and len(timestamps) < len(users):
        raise DataError("one of the files has timestamps, and the other one has none")
    if timestamps is not None and timestamps.dtype.kind == "f":
        _refuse_rounded(timestamps)
    held_out = whole.get("held_out")
    if held_out is not None:
        _refuse_both(users, items, held_out, user_ids, item_ids)
    times = timestamps if repeated in ("earliest", "latest") else None
    repeats = _repeats(users, items, len(item_ids), times, repeated)
    left_out = {"malformed": malformed, "below_min_rating": low, "repeated": int(repeats.sum())}
    events = Events(users, items, timestamps, user_ids, item_ids, held_out, left_out)
    return events.events(~repeats) if repeats.any() else events


class _Column:
    """A column that grows, and is not copied as a whole, as joined parts are."""

    def __init__(self) -> None:
        self.size = 0
        self._values: NDArray[Any] = np.empty(0, dtype=np.bool_)

    def append(self, values: NDArray[Any]) -> None:
        """Add (events,) values at the end."""
        size = self.size + len(values)
        if values.dtype != self._values.dtype:  # also times with decimals after whole ones
            self._values = self._values.astype(np.result_type(self._values, values))
        if size > len(self._values):
            self._values.resize(size + size // 8, refcheck=False)
        self._values[self.size : size] = values
        self.size = size

    def values(self) -> NDArray[Any]:
        """Return the (events,) values. Nothing is added afterwards."""
        self._values.resize(self.size, refcheck=False)
        return self._values


def _refuse_rounded(times: NDArray[np.float64]) -> None:
    """Refuse times that may have lost digits, because others have decimals."""
    if (np.abs(times) >= 2**53).any():
        raise DataError(
            "some timestamps are 2^53 or more, and others have decimals or exponents: together "
            "they would lose digits; write all as whole numbers"
        )


def _refuse_both(
    users: NDArray[np.integer],
    items: NDArray[np.integer],
    held_out: NDArray[np.bool_],
    user_ids: NDArray[np.generic],
    item_ids: NDArray[np.generic],
) -> None:
    """Refuse a pair that is in training and held out."""
    train = pair_numbers(users[~held_out], items[~held_out], len(item_ids))
    test = pair_numbers(users[held_out], items[held_out], len(item_ids))
    both = test[np.isin(test, train)]
    if len(both):
        user, item = divmod(int(both[0]), len(item_ids))
        raise DataError(
            f"user {user_ids[user]} has item {item_ids[item]} both in training and held out"
        )


def pair_numbers(users: NDArray[np.integer], items: NDArray[np.integer], n_items: int) -> Ints:
    """Return (pairs,) numbers of (user, item) pairs, in the order of users and then items."""
    numbers = users.astype(np.int64)
    numbers *= n_items
    numbers += items
    return numbers


def _repeats(
    users: NDArray[np.integer],
    items: NDArray[np.integer],
    n_items: int,
    timestamps: NDArray[np.int64] | NDArray[np.float64] | None,
    repeated: str,
) -> NDArray[np.bool_]:
    """Return whether each event repeats a pair, and is not the one that `repeated` keeps.

    Timestamps decide, if there are any.
    """
    repeats = np.zeros(len(users), dtype=np.bool_)
    numbers = pair_numbers(users, items, n_items)
    numbers.sort()  # in place; the order of the events is needed only if a pair repeats
    if (numbers[1:] == numbers[:-1]).any():
        numbers = pair_numbers(users, items, n_items)
        order = np.lexsort((numbers,) if timestamps is None else (timestamps, numbers))  # stable
        numbers = numbers[order]
        repeated_events = order[1:] if repeated in ("first", "earliest") else order[:-1]
        repeats[repeated_events[numbers[1:] == numbers[:-1]]] = True
    return repeats


class _Numbering:
    """Numbers of ids, in the order in which the ids first appear."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}  # an id may be there as a number and as text

    def number(self, ids: NDArray[np.int64] | NDArray[np.object_]) -> NDArray[np.int32]:
        """Return the number of each id, (ids,); a new id gets the next number."""
        positions, unique = pd.factorize(ids)
        numbers = [self._numbers.setdefault(known, len(self._numbers)) for known in unique.tolist()]
        return np.array(numbers, dtype=np.int32)[positions]

    def ascending(self) -> tuple[NDArray[np.generic], NDArray[np.int32]]:
        """Return the (ids,) ids in ascending order, and the position in it of each number."""
        ids: NDArray[Any] = np.array(list(self._numbers))  # text if some ids are
        if ids.dtype.kind == "U":
            with suppress(ValueError, OverflowError):  # text of other than whole numbers
                whole_numbers = ids.astype(np.int64)
                if (whole_numbers.astype(str) == ids).all():
                    ids = whole_numbers
        ascending, positions = np.unique(ids, return_inverse=True)
        return ascending, positions.astype(np.int32)


def k_core(events: Events, k: int) -> Events:
    """Return the k-core: what is left when users and items with fewer than k events are removed.

    Removal is repeated until each remaining user and item has k events or more.

    Args:
        events: at most one event for each (user, item) pair.
        k: least number of events; 0 or 1 keeps everything.

    Raises:
        DataError: nothing is left.
    """
    if k <= 1 and len(events):  # every id has an event
        return events
    kept = np.ones(len(events), dtype=np.bool_)
    while True:
        user_counts = np.bincount(events.users[kept], minlength=len(events.user_ids))
        item_counts = np.bincount(events.items[kept], minlength=len(events.item_ids))
        few = kept & ((user_counts[events.users] < k) | (item_counts[events.items] < k))
        if not few.any():
            break
        kept &= ~few
    if not kept.any():
        raise DataError(f"no user and item has {k} (core) events or more")
    core = events.events(kept)
    has_user = user_counts > 0
    has_item = item_counts > 0
    # the numbers of users and items among those that are left
    user_numbers = np.cumsum(has_user, dtype=np.int32) - 1
    item_numbers = np.cumsum(has_item, dtype=np.int32) - 1
    return replace(
        core,
        users=user_numbers[core.users],
        items=item_numbers[core.items],
        user_ids=core.user_ids[has_user],
        item_ids=core.item_ids[has_item],
    )


_EARLIEST = pd.Timestamp("1678", tz="UTC")  # int64 holds their nanoseconds
_LATEST = pd.Timestamp("2262", tz="UTC")

_BEYOND = 2.0**63
_NOT_TIMES = ("now", "today")  # pandas parses them

_LOG = logging.getLogger(__name__)


def events_of_rows(
    parts: Iterator[Rows],
    name: str,
    labels: Mapping[str, str],
    *,
    timestamp_format: str | None = None,
    kept: Collection[str] | None = None,
    skips_bad_lines: bool = False,
    ordered: bool = False,
    hint: str = "",
) -> Iterator[EventChunk]:
    """Yield the events of each part.

    Args:
        parts: rows with the columns user, item and, if there are any, rating, timestamp and keep.
        name: name of the file in errors.
        labels: names of these columns in errors.
        timestamp_format: "iso" or a pattern of strptime, if timestamps are text, which become
            nanoseconds since 1970 in UTC. None if timestamps are numbers, or times by their type.
        kept: values of the column keep; rows with other values are left out. None if there is no
            such column.
        skips_bad_lines: whether malformed rows are skipped, and their number logged and in the last
            chunk. Otherwise they are refused.
        ordered: whether the timestamps are the order of the rows.
        hint: the end of the error for a malformed row.

    Raises:
        ConfigError: `timestamp_format` is not a pattern of strptime.
        DataError: a row is malformed, or more than half of the rows are skipped, or there is no
            event.
    """
    if timestamp_format is not None:
        try:
            _parsed(pd.Series(["1"]), timestamp_format)
        except ValueError as error:
            what = f"timestamp_format: {timestamp_format!r} is not a pattern of strptime"
            raise ConfigError(f"{what}: {error}") from None
    all_rows = 0
    events = 0
    malformed = 0
    for rows in parts:
        columns: dict[str, NDArray[Any]] = {}
        wrong = np.zeros(len(rows.frame), dtype=np.bool_)
        for role in [role for role in labels if role != "keep" and role in rows.frame]:
            columns[role], is_wrong, rule = _values(role, labels[role], rows, timestamp_format)
            if not skips_bad_lines:
                message = partial(_must_be, labels[role], rule, rows.frame[role], hint)
                refuse_rows(is_wrong, message, rows.location)
            wrong |= is_wrong
        malformed += rows.skipped + int(wrong.sum())
        all_rows += rows.skipped + len(wrong)
        if kept is not None:
            wrong |= ~as_text(rows.frame["keep"]).isin(kept).to_numpy()
        if wrong.any():
            columns = {role: values[~wrong] for role, values in columns.items()}
        count = len(columns["user"])
        if ordered:
            columns["timestamp"] = np.arange(events, events + count)
        events += count
        if count:
            chunk = EventChunk(
                columns["user"], columns["item"], columns.get("rating"), columns.get("timestamp")
            )
            yield chunk
    if 2 * malformed > all_rows:
        raise DataError(
            f"{name}: {malformed} of {all_rows} lines are malformed, too many to skip "
            "(on_bad_lines); check the format, its separator and its columns"
        )
    if not events:
        raise DataError(f"{name}: holds no events{'' if kept is None else ' with a value of keep'}")
    if malformed:
        _LOG.warning("%s: %d of %d lines are malformed, and are skipped", name, malformed, all_rows)
        yield chunk.events(slice(0, 0))._replace(malformed=malformed)


def _values(
    role: str, label: str, rows: Rows, timestamp_format: str | None
) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """Return the (rows,) values of a column, which of them are malformed, and what they must be."""
    column = rows.frame[role]
    if role == "timestamp":
        rule = "a number"
        if timestamp_format:
            rule = f"a time ({timestamp_format}) of the years 1678 to 2261"
        return *_times(column, timestamp_format), rule
    if role == "rating":
        numbers, is_wrong = _numbers(column)
        return numbers.astype(np.float64, copy=False), is_wrong, "a number"
    return *_ids(column, label, rows), "text in one line"


def _must_be(label: str, rule: str, column: pd.Series, hint: str, row: int) -> str:
    return f"{label} must be {rule}, not {shown(column.iloc[row])}{hint}"


def _ids(
    column: pd.Series, label: str, rows: Rows
) -> tuple[NDArray[np.int64] | NDArray[np.object_], NDArray[np.bool_]]:
    """Return the (rows,) ids, and which of them are empty or have a line break."""
    if column.dtype.kind == "i":  # the file writes them as str does
        return column.to_numpy(), np.zeros(len(column), dtype=np.bool_)
    ids = id_column(column)
    refuse_rows(
        ids.is_inexact,
        lambda row: f"{label} is {shown(column.iloc[row])}, {INEXACT}",
        rows.location,
    )
    is_wrong = np.append(ids.ids.str.contains("[\n\r]"), True)
    return ids.text, is_wrong[ids.codes]


def _numbers(column: pd.Series) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return (rows,) int64 or float64 numbers, and which entries are no numbers or exceed int64."""
    number_type = {"i": np.int64, "f": np.float64}.get(column.dtype.kind)
    if number_type is not None:
        numbers = column.to_numpy(dtype=number_type)
        return numbers, ~(np.abs(numbers) < _BEYOND)
    texts = column.astype(str).to_numpy(dtype=object)
    wrong = ~(np.abs(pd.to_numeric(texts, errors="coerce")) < _BEYOND)
    right = pd.to_numeric(texts[~wrong])  # whole numbers are exact only among their like
    values = np.zeros(len(texts), dtype=np.int64 if right.dtype.kind == "i" else np.float64)
    values[~wrong] = right
    return values, wrong


def _times(
    column: pd.Series, timestamp_format: str | None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return (rows,) timestamps, and which entries are not times.

    Times that are not numbers become nanoseconds since 1970 in UTC.
    """
    if column.dtype.kind == "M":
        times = pd.to_datetime(column, utc=True)
    elif timestamp_format is not None:
        texts = column.astype(str)
        times = _parsed(texts, timestamp_format).mask(texts.isin(_NOT_TIMES))
    else:
        return _numbers(column)
    times = times.where((times >= _EARLIEST) & (times < _LATEST))
    nanoseconds = times.dt.tz_convert(None).dt.as_unit("ns").to_numpy().astype(np.int64)
    return nanoseconds, times.isna().to_numpy()


def _parsed(texts: pd.Series, timestamp_format: str) -> pd.Series:
    """Parse timestamps; invalid ones become NaT."""
    pandas_format = "ISO8601" if timestamp_format == "iso" else timestamp_format
    return pd.to_datetime(texts, format=pandas_format, utc=True, errors="coerce")
