"""What written values of sampled metrics say of the means of the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import ceil, floor

import numpy as np

from sampled_metrics._validation import Floats, counted, is_real, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.inference.known_means import KnownMeans
from sampled_metrics.metrics.metric import Metric

MOST_VALUES = 6
"""Largest number of values of a recommender that are taken together."""


def with_decimals(
    given: Mapping[str, Mapping[str, Metric]], values: Mapping[str, Mapping[str, float | str]]
) -> tuple[dict[str, dict[str, float | str]], list[str]]:
    """Return the values with the zeros at the end that numbers have lost, and sentences that say so."""
    decimals: dict[str, int] = {}
    for name, metrics in given.items():
        for metric, value in zip(metrics.values(), values[name].values(), strict=True):
            places = len(str(value).partition(".")[2]) if is_real(value) and "e" not in str(value) else 0
            decimals[metric.label] = max(decimals.get(metric.label, 0), places)
    read: dict[str, dict[str, float | str]] = {}
    notes = []
    for name, metrics in given.items():
        read[name] = {}
        for (label, metric), value in zip(metrics.items(), values[name].values(), strict=True):
            number = f"{value:.{decimals[metric.label]}f}" if is_real(value) else str(value)
            is_longer = is_real(value) and len(number) > len(str(value)) and float(number) == value
            read[name][label] = number if is_longer else value
            if is_longer:
                notes.append(
                    f"{name}: {label} is read as {number}, with the decimals of the others. Text keeps its own: "
                    f'"{value}".'
                )
    return read, notes


def known_means(given: Mapping[str, Metric], values: Sequence[float | str], negatives: int, users: int) -> KnownMeans:
    """Return what rounded values of sampled metrics say.

    Raises:
        ConfigError: there are too many values.
        DataError: a value is not a number that its metric can have, or the values contradict one another.
    """
    if len(given) > MOST_VALUES:
        raise ConfigError(f"values: at most {MOST_VALUES} values are taken together, not {len(given)}")
    ranks = np.arange(1, negatives + 2)
    known: dict[bytes, tuple[str, Floats, float, float]] = {}
    for (label, metric), value in zip(given.items(), values, strict=True):
        function = metric.of_rank(ranks, negatives + 1) / metric.largest
        if not np.ptp(function):
            raise DataError(
                f"{label}: k must be at most the {counted(negatives, 'negative')}, as the value is 1 otherwise"
            )
        low, high = _limits(label, value, metric, users, is_share=bool(np.isin(function, (0, 1)).all()))
        before, _, least, most = known.get(function.tobytes(), (label, function, low, high))
        are_ranges = low < high and least < most
        low, high = max(low, least), min(high, most)
        if low > high or (are_ranges and low > high - 1e-12):  # both round to the same number, but not the same way
            raise DataError(f"values: {before} and {label} are the same share, so they contradict one another")
        known[function.tobytes()] = before, function, low, high
    labels, functions, lows, highs = zip(*known.values(), strict=True)
    means = KnownMeans(np.array(functions), np.array(lows), np.array(highs), users)
    if not means.are_possible():
        raise DataError(f"values: {', '.join(labels)} cannot be: no sample has all of them")
    return means


def _limits(label: str, value: float | str, metric: Metric, users: int, *, is_share: bool) -> tuple[float, float]:
    """Return the least and the largest mean, relative to the largest one, that is written as a value.

    Args:
        label: the label of the metric.
        value: the value.
        metric: the metric.
        users: the number of users.
        is_share: whether the mean is the share of some of the users, so that it is a multiple of 1 / users.
    """
    number, half = _rounded(label, value)
    if not 0 <= number <= metric.largest * (1 + 1e-9):
        raise DataError(f"{label}: the value must be from 0 to {metric.largest:g}, not {value}")
    low, high = max(0.0, (number - half) / metric.largest), min(1.0, (number + half) / metric.largest)
    if not is_share:
        return low, high
    least, most = ceil(low * users - 1e-9), floor(high * users + 1e-9)
    if least > most:
        nearest = " and ".join(f"{one / users * metric.largest:.6g}" for one in (most, least))
        raise DataError(
            f"{label}: no number of {users} users has the value {value}; the nearest are {nearest}. Give a mean over "
            "seeds with fewer digits"
        )
    return least / users, most / users


def _rounded(label: str, value: float | str) -> tuple[float, float]:
    """Return a value, and half of its last digit; whole numbers are not rounded."""
    try:
        digits = Decimal(str(value))
    except InvalidOperation:
        raise DataError(f"{label}: the value must be a number, not {shown(value)}") from None
    if not digits.is_finite():
        raise DataError(f"{label}: the value must be a number, not {shown(value)}")
    exponent = int(digits.as_tuple().exponent)
    return float(digits), 0.5 * 10.0**exponent if exponent < 0 else 0.0
