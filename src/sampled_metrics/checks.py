"""What must hold of numbers on the way to a result. One that does not hold stops the run, before it looks right."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics.errors import DataError, NumericError

TOLERANCE = 1e-9
"""How far sums of probabilities may be from 1: some thousand times what rounding does to them."""


def require_sum_of_one(probabilities: ArrayLike, what: str, tolerance: float = TOLERANCE) -> None:
    """Refuse distributions that are none.

    Args:
        probabilities: (…, outcomes), one distribution along the last axis.
        what: what they are, for the message.
        tolerance: how far each sum may be from 1.

    Raises:
        NumericError: one is negative, is not a number, or they do not sum to 1.
    """
    probabilities = np.asarray(probabilities)
    sums = probabilities.sum(axis=-1)
    wrong = ~(np.abs(sums - 1) <= tolerance)
    if wrong.any():
        raise NumericError(f"{what}: probabilities sum to {np.atleast_1d(sums[wrong])[0]:.12g}, not to 1")
    if probabilities.min(initial=0.0) < -tolerance:
        raise NumericError(f"{what}: a probability is {probabilities.min():.12g}, below 0")


def require_finite(numbers: ArrayLike, what: str) -> None:
    """Refuse numbers that are infinite or none.

    Raises:
        NumericError: one is.
    """
    numbers = np.asarray(numbers)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        raise NumericError(f"{what}: {int(wrong.sum())} of {numbers.size} are not finite numbers")


ROOM = 4 * 2**30
"""Bytes that an array of an estimator may take."""


def require_room(shape: tuple[int, ...], what: str, instead: str) -> None:
    """Refuse an array of double precision that is too large, before it is made.

    Args:
        shape: of the array.
        what: what it is, for the message.
        instead: what to do about it.

    Raises:
        DataError: it would take more than 4 GiB.
    """
    needed = 8 * math.prod(map(int, shape))
    if needed > ROOM:
        raise DataError(
            f"{what} would take {needed / 2**30:.3g} GiB, and no array may take more than {ROOM / 2**30:g}; {instead}"
        )
