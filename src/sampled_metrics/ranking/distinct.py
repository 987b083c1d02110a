"""Distinct random numbers for many rows at once."""

from collections.abc import Callable

import numpy as np

from sampled_metrics._validation import Ints

Streams = Callable[..., np.random.Generator]
"""Function from whole numbers to the random stream that has them as its address.

Each stream is used in the order of the rows. So rows get the same random numbers in one call as in several.
"""


def draw_numbers(free: Ints, m: int, streams: Streams) -> tuple[Ints, Ints]:
    """Draw m distinct numbers from 0, ..., free - 1 for each row, or take all of them if free is at most m.

    Args:
        free: (rows,) integers, 0 or more.
        m: 1 or more.
        streams: with a number as the address.

    Returns:
        The row of each number, ascending, and the number, (drawn,) each.
    """
    count, more = np.minimum(free, m), free > m
    row = np.repeat(np.arange(len(free)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    if more.any():
        number[more[row]] = distinct_numbers(free[more], m, streams).ravel()
    return row, number


def distinct_numbers(free: Ints, m: int, streams: Streams) -> Ints:
    """Draw (rows, m) distinct numbers from 0, ..., free - 1 of each row; each subset of m numbers is as likely.

    Numbers that are in a row twice are drawn again until none is. So a row has the first m distinct numbers of a
    sequence of independent ones. That takes long if m is more than half of free. Then the row has the numbers with the
    m smallest of free random keys.

    Args:
        free: (rows,) integers above m.
        m: 1 or more.
        streams: with a number as the address.
    """
    found = np.empty((len(free), m), dtype=np.int64)
    many = free < 2 * m
    keys = streams(0).random((np.count_nonzero(many), 2 * m))
    keys[np.arange(2 * m) >= free[many, np.newaxis]] = 1
    found[many] = np.argpartition(keys, m - 1, axis=1)[:, :m]
    rows, attempt = np.flatnonzero(~many), 1
    found[rows] = streams(1).integers(free[rows, np.newaxis], size=(len(rows), m))
    while len(rows):
        drawn, attempt = np.sort(found[rows], axis=1), attempt + 1
        again = drawn[:, 1:] == drawn[:, :-1]
        drawn[:, 1:][again] = streams(attempt).integers(np.repeat(free[rows], again.sum(axis=1)))
        found[rows] = drawn
        rows = rows[again.any(axis=1)]
    return found
