"""Events of the rows of a table: ids, ratings and timestamps, and messages that say which entry is invalid."""

import logging
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import shown
from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.tables import Place, Rows, refuse_rows
from sampled_metrics.errors import ConfigError, DataError

_EARLIEST, _LATEST = pd.Timestamp("1678", tz="UTC"), pd.Timestamp("2262", tz="UTC")  # int64 holds their nanoseconds

_BEYOND = 2.0**63
_NOT_TIMES = ("now", "today")  # pandas parses them

_LOG = logging.getLogger(__name__)


def events_of_rows(
    parts: Iterator[Rows],
    name: str,
    labels: Mapping[str, str],
    *,
    has_number_ids: bool = False,
    timestamp_format: str | None = None,
    kept: Collection[str] | None = None,
    skips_bad_lines: bool = False,
    ordered: bool = False,
    has_options: bool = False,
) -> Iterator[EventChunk]:
    """Yield the events of each part.

    Args:
        parts: rows with the columns user, item and, if there are any, rating, timestamp and keep.
        name: name of the file in errors.
        labels: names of these columns in errors.
        has_number_ids: whether ids must be whole numbers from 0. Otherwise they are any text but the empty one.
        timestamp_format: "iso" or a pattern of strptime, if timestamps are text. They become nanoseconds since 1970 in
            UTC. None if they are numbers, or times by their type.
        kept: values of the column keep; rows with other values are left out. None if there is no such column.
        skips_bad_lines: whether malformed rows are skipped, and their number logged. Otherwise they are refused.
        ordered: whether the timestamps are the order of the rows.
        has_options: whether a study can state the two above, as its dataset's options; errors then name them.

    Raises:
        ConfigError: `timestamp_format` is not a pattern of strptime.
        DataError: a row is malformed, or more than half of the rows are skipped, or there is no event.
    """
    _require_format(timestamp_format)
    exact_times = _ExactTimes()
    skipped, n_rows, n_events = 0, 0, 0
    for rows in parts:
        columns: dict[str, NDArray[Any]] = {}
        wrong = np.zeros(len(rows.frame), dtype=np.bool_)
        for role in [role for role in labels if role != "keep" and role in rows.frame]:
            columns[role], is_wrong, rule = _values(role, rows, has_number_ids, timestamp_format)
            if not skips_bad_lines:
                hint = _hint(role, timestamp_format) if has_options else ""
                refuse_rows(is_wrong, partial(_must_be, labels[role], rule, rows.frame[role], hint), rows.place)
            wrong |= is_wrong
        skipped += rows.skipped + int(wrong.sum())
        n_rows += rows.skipped + len(wrong)
        if "timestamp" in columns and timestamp_format is None:
            exact_times.require(columns["timestamp"], labels["timestamp"], rows.place)
        if kept is not None:
            wrong |= ~rows.frame["keep"].isin(kept).to_numpy()
        if wrong.any():
            columns = {role: values[~wrong] for role, values in columns.items()}
        if ordered:
            columns["timestamp"] = np.arange(n_events, n_events + len(columns["user"]))
        chunk = EventChunk(columns["user"], columns["item"], columns.get("rating"), columns.get("timestamp"))
        n_events += len(chunk.users)
        if len(chunk.users):
            yield chunk
    if 2 * skipped > n_rows:
        raise DataError(
            f"{name}: {skipped} of {n_rows} lines are malformed, too many to skip (on_bad_lines); "
            "check the format, its separator and its columns"
        )
    if skipped:
        _LOG.warning("%s: %d of %d lines are malformed, and are skipped", name, skipped, n_rows)
    if not n_events:
        only = "" if kept is None else f" with {', '.join(sorted(map(repr, kept)))} (keep)"
        raise DataError(f"{name}: holds no events{only}")


def _values(
    role: str, rows: Rows, has_number_ids: bool, timestamp_format: str | None
) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """Return the (rows,) values of a column, which of them are malformed, and what they must be."""
    column = rows.frame[role]
    if role == "timestamp":
        return *_times(column, timestamp_format), f"a time ({timestamp_format})" if timestamp_format else "a number"
    if role == "rating":
        numbers, is_wrong = _numbers(column)
        return numbers.astype(np.float64, copy=False), is_wrong, "a number"
    if has_number_ids:
        return *_whole_numbers(column), "a whole number from 0"
    return *_texts(column, rows), "text in one line"


class _ExactTimes:
    """A check that numbers for timestamps lose no digits: float64, for decimals, does not hold all large integers."""

    def __init__(self) -> None:
        self._large, self._has_decimals = "", False

    def require(self, times: NDArray[Any], label: str, place: Place) -> None:
        """Refuse large timestamps in a file where others have decimals; `times` are those of its next rows."""
        self._has_decimals |= times.dtype.kind == "f"
        far = np.flatnonzero((times >= 2**53) | (times <= -(2**53)))
        if len(far) and not self._large:
            self._large = f"{place(int(far[0]))}: {label}"
        if self._large and self._has_decimals:
            raise DataError(
                f"{self._large} is 2^53 or more, and others in the file have decimals or exponents: together they "
                "would lose digits; write all as whole numbers"
            )


def _must_be(label: str, rule: str, column: pd.Series, hint: str, row: int) -> str:
    value = column.iloc[row]
    if isinstance(value, str) and not value:
        return f"{label} is empty{_SKIP if hint else ''}"
    return f"{label} must be {rule}, not {shown(value)}{hint}"


_SKIP = "; or state on_bad_lines: skip"


def _hint(role: str, timestamp_format: str | None) -> str:
    """Return the option for values of a column that are not what they must be."""
    if role == "timestamp" and timestamp_format is None:
        return "; or state timestamp_format, such as iso"
    return _SKIP


def _texts(column: pd.Series, rows: Rows) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    texts = column.to_numpy(dtype=object)
    wrong = texts == ""
    if rows.has_line_breaks:
        wrong |= column.str.contains("\n", regex=False).to_numpy(dtype=np.bool_)
    return texts, wrong


def _numbers(column: pd.Series) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return (rows,) int64 or float64 numbers, and which entries are not numbers or exceed int64."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "if":
        values = column.to_numpy(dtype=np.int64 if column.dtype.kind == "i" else np.float64)
        return values, ~(np.abs(values) < _BEYOND)
    texts = column.astype(str).to_numpy(dtype=object)
    values = pd.to_numeric(texts, errors="coerce")
    wrong = ~(np.abs(values) < _BEYOND)
    if values.dtype.kind == "i":
        return values, wrong
    right = pd.to_numeric(texts[~wrong])  # whole numbers are exact only among their like
    values = np.zeros(len(texts), dtype=np.int64 if right.dtype.kind == "i" else np.float64)
    values[~wrong] = right
    return values, wrong


def _whole_numbers(column: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    values, wrong = _numbers(column)
    wrong = wrong | (values < 0) | (values >= 10**18)
    if values.dtype.kind == "f":
        wrong |= (values != np.floor(values)) | (values >= 2**53)
    return np.where(wrong, 0, values).astype(np.int64), wrong


def _times(column: pd.Series, timestamp_format: str | None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return (rows,) timestamps, and which entries are not times; times are nanoseconds since 1970 in UTC."""
    if timestamp_format is not None:
        times = _parsed(column, timestamp_format).mask(column.isin(_NOT_TIMES))
    elif isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype.kind == "M":
        times = pd.to_datetime(column, utc=True)
    else:
        return _numbers(column)
    times = times.where((times >= _EARLIEST) & (times < _LATEST))
    return times.dt.tz_convert(None).dt.as_unit("ns").to_numpy().astype(np.int64), times.isna().to_numpy()


def _parsed(texts: pd.Series, timestamp_format: str) -> pd.Series:
    """Parse timestamps; invalid ones become NaT."""
    pandas_format = "ISO8601" if timestamp_format == "iso" else timestamp_format
    return pd.to_datetime(texts, format=pandas_format, utc=True, errors="coerce")


def _require_format(timestamp_format: str | None) -> None:
    try:
        _parsed(pd.Series(["1"]), timestamp_format or "iso")
    except ValueError as error:
        raise ConfigError(f"timestamp_format: {timestamp_format!r} is not a pattern of strptime: {error}") from None
