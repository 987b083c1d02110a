"""Distinct random numbers for many rows at once."""

from collections.abc import Callable

import numpy as np

from sampled_metrics._validation import Ints

Streams = Callable[..., np.random.Generator]
"""Function from whole numbers to the random stream that has them as its address.

Each stream is used in the order of the rows. So rows get the same random numbers in one call as in several.
"""


def draw_numbers(sizes: Ints, m: int, streams: Streams) -> tuple[Ints, Ints]:
    """Draw m distinct numbers from 0, ..., size - 1 for each row, or take all of them if the size is at most m.

    Args:
        sizes: (rows,) size of each row, 0 or more.
        m: 1 or more.
        streams: with a number as the address.

    Returns:
        The row of each number, ascending, and the number, (drawn,) each.
    """
    count, is_larger = np.minimum(sizes, m), sizes > m
    row = np.repeat(np.arange(len(sizes)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    if is_larger.any():
        number[is_larger[row]] = distinct_numbers(sizes[is_larger], m, streams).ravel()
    return row, number


def distinct_numbers(sizes: Ints, m: int, streams: Streams) -> Ints:
    """Draw (rows, m) distinct numbers from 0, ..., size - 1 of each row; all subsets of m numbers are equally likely.

    Numbers that are in a row twice are drawn again until none is. So a row has the first m distinct numbers of a
    sequence of independent ones. That takes long if m is more than half of the size. Then each number gets a random
    key, and the row has the numbers with the m smallest keys.

    Args:
        sizes: (rows,) size of each row, above m.
        m: 1 or more.
        streams: with a number as the address.
    """
    numbers = np.empty((len(sizes), m), dtype=np.int64)
    is_dense = sizes < 2 * m
    keys = streams(0).random((np.count_nonzero(is_dense), 2 * m))
    keys[np.arange(2 * m) >= sizes[is_dense, np.newaxis]] = 1
    numbers[is_dense] = np.argpartition(keys, m - 1, axis=1)[:, :m]
    rows, attempt = np.flatnonzero(~is_dense), 1
    numbers[rows] = streams(1).integers(sizes[rows, np.newaxis], size=(len(rows), m))
    while len(rows):
        drawn, attempt = np.sort(numbers[rows], axis=1), attempt + 1
        is_repeated = drawn[:, 1:] == drawn[:, :-1]
        drawn[:, 1:][is_repeated] = streams(attempt).integers(np.repeat(sizes[rows], is_repeated.sum(axis=1)))
        numbers[rows] = drawn
        rows = rows[is_repeated.any(axis=1)]
    return numbers
