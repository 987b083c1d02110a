"""Dates in the unit of the times of a dataset."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.errors import ConfigError

_NANOSECONDS = {10**11: 10**9, 10**14: 10**6, 10**17: 10**3}
"""Largest time of a file, before which its unit has so many nanoseconds.

Times since 1970 in seconds, milliseconds and microseconds reach these numbers in the year 5138.
"""


def usual_date(text: str, key: str) -> str:
    """Return a date and time in ISO 8601, in UTC; a time without an offset is in UTC.

    Raises:
        ConfigError: the text is no date.
    """
    try:
        date = pd.Timestamp(text)
        in_utc = date.tz_localize("UTC") if date.tz is None else date.tz_convert("UTC")
        return str(in_utc.isoformat())
    except ValueError:
        raise ConfigError(
            f"{key}: must be a number, or a date such as 2015-01-31, not {text!r}"
        ) from None


def in_unit_of(times: NDArray[Any], date: str) -> float:
    """Return a date in the unit of times since 1970: seconds, or milli-, micro- or nanoseconds.

    Args:
        times: the times of a dataset, of which the latest shows the unit.
        date: result of `usual_date`.
    """
    latest = np.max(times)
    divisor = next((unit for end, unit in _NANOSECONDS.items() if latest < end), 1)
    nanoseconds = pd.Timestamp(date).as_unit("ns").value
    return nanoseconds // divisor if nanoseconds % divisor == 0 else nanoseconds / divisor


def split_options(split: dict[str, Any], times: NDArray[Any] | None) -> dict[str, Any]:
    """Return the config of a split, with a date of `test_from` in the unit of times."""
    test_from = split["test_from"]
    if times is None or not isinstance(test_from, str):
        return split
    return {**split, "test_from": in_unit_of(times, test_from)}
