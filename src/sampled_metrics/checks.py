"""Types of arrays, checks of arguments and of intermediate results, and words for messages."""

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.errors import ConfigError, DataError, NumericError, reason

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
"""Names for arrays; shapes are stated where they are used."""

TOLERANCE = 1e-9
"""How far sums of probabilities may be from 1: some thousand times what rounding does to them."""


def require_sum_of_one(probabilities: ArrayLike, what: str, tolerance: float = TOLERANCE) -> None:
    """Raise NumericError unless (…, outcomes) probabilities are distributions of outcomes."""
    probabilities = np.asarray(probabilities)
    sums = probabilities.sum(axis=-1)
    wrong = ~(np.abs(sums - 1) <= tolerance)
    if wrong.any():
        raise NumericError(
            f"{what}: probabilities sum to {np.atleast_1d(sums[wrong])[0]:.12g}, not to 1"
        )
    if probabilities.min(initial=0.0) < -tolerance:
        raise NumericError(f"{what}: a probability is {probabilities.min():.12g}, below 0")


def require_finite(numbers: ArrayLike, what: str) -> None:
    """Raise NumericError if a number is infinite or NaN."""
    numbers = np.asarray(numbers)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        raise NumericError(f"{what}: {int(wrong.sum())} of {numbers.size} are not finite numbers")


MEMORY_LIMIT = 4 * 2**30
"""Bytes that an array of an estimator may take."""


def check_memory_limit(shape: tuple[int, ...], what: str, instead: str) -> None:
    """Raise DataError if an array of double precision would take more than 4 GiB.

    `instead` is the advice in the message.
    """
    needed = 8 * math.prod(map(int, shape))
    if needed > MEMORY_LIMIT:
        raise DataError(
            f"{what} would take {needed / 2**30:.3g} GiB, and no array may take more than "
            f"{MEMORY_LIMIT / 2**30:g}; {instead}"
        )


def require_candidates(
    candidates: ArrayLike, negatives: int, replacement: bool, users: Any = None
) -> None:
    """Raise DataError if a row has too few other candidates for its negatives.

    `users` are the (rows,) users, which the message names.
    """
    candidates = np.atleast_1d(candidates)
    row = int(np.argmin(candidates))
    pool = int(candidates[row]) - 1
    who = "a row" if users is None else f"user {shown(users[row])}"
    if pool < 1:
        raise DataError(
            f"{who} has no candidates besides its held-out item, so no negative can be drawn"
        )
    if not replacement and pool < negatives:
        raise DataError(
            f"{negatives} negatives without replacement were asked for, but {who} has only {pool} "
            f"candidates besides its held-out item; draw at most {pool}, or with replacement"
        )


MOST = 2**53
"""Largest number of candidates: double precision holds all whole numbers up to it."""


MOST_SEED = 2**128 - 1
"""Largest seed: the seeds of numpy have 128 bits."""


def is_whole(value: Any) -> bool:
    """Return whether the type of a value is one of whole numbers.

    bool and durations of numpy do not count.
    """
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def require_whole(lowest: int, highest: int | None = None, **numbers: Any) -> None:
    """Raise ConfigError unless all values are whole numbers in a range.

    The values are given by the names of their options.
    """
    for name, value in numbers.items():
        if not is_whole(value) or value < lowest or (highest is not None and value > highest):
            if highest is None:
                allowed = f", {lowest} or more"
            else:
                allowed = f" from {lowest} to {_as_power(highest)}"
            raise ConfigError(f"{name} must be a whole number{allowed}, not {shown(value)}")


def _as_power(number: int) -> str:
    """Return a number as text: as 2^k or 2^k - 1 if it is such a number of more than 32 bits."""
    bits = number.bit_length()
    if bits <= 32:
        return str(number)
    powers = {1 << (bits - 1): f"2^{bits - 1}", (1 << bits) - 1: f"2^{bits} - 1"}
    return powers.get(number, str(number))


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that double precision can hold.

    NaN counts, and bool does not.
    """
    if not isinstance(value, Real) or isinstance(value, bool | np.timedelta64):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def shown(value: Any) -> str:
    """Return a value as people write it, for messages.

    Text is in quotation marks, and numpy's numbers are written as Python's.
    """
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
        if "\n" in text:  # of a table
            text = " ".join(text.split())
        return text[:80]
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of more than 4300 digits"


def require_confidence_level(level: Any) -> float:
    """Return a confidence level; raise ConfigError unless it is a number above 0 and below 1."""
    if not is_real(level):
        raise ConfigError(
            f"confidence_level must be a number above 0 and below 1, not {shown(level)}"
        )
    number = float(level)
    if not number > 0 or not 0.5 + number / 2 < 1:  # the sum may round to 1
        raise ConfigError(f"confidence_level must be above 0 and below 1, not {shown(level)}")
    return number


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in plural unless it is 1: "1 negative", "99 negatives"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def enumerated(words: Iterable[str], conjunction: str = "and") -> str:
    """Return words as a sentence lists them: "a", "a and b", "a, b and c"."""
    *leading, last = words
    return f"{', '.join(leading)} {conjunction} {last}" if leading else last


def require_flags(**flags: Any) -> None:
    """Raise ConfigError unless all values are True or False.

    The values are given by the names of their options.
    """
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise ConfigError(f"{name} must be True or False, not {shown(value)}")


def refuse_masked(values: Any, what: str) -> None:
    """Raise DataError if an entry of an array, or of a list of arrays, is masked."""
    parts = values if isinstance(values, list | tuple) else [values]
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if np.ma.is_masked(part))
    if masked:
        raise DataError(
            f"{what}: has {masked} masked, and none may be missing; leave out what has no number"
        )


def whole_numbers(values: Any, what: str) -> Ints:
    """Return numbers as integers, in their shape.

    Raises:
        DataError: an entry is masked, or they are not integers.
    """
    refuse_masked(values, what)
    try:
        numbers = np.asarray(values)
    except ValueError as error:  # rows that differ in length
        raise DataError(f"{what} must be integers: {reason(error)}") from None
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise DataError(f"{what} must be integers, not {numbers.dtype}")
    return numbers.astype(np.int64, copy=False)


def check_label(label: Any, what: str) -> str:
    """Return a label, or raise ConfigError if it is not text."""
    if not isinstance(label, str):
        raise ConfigError(f"{what}: a label must be text, not {shown(label)}")
    return label


def check_labels(labels: Any, what: str, kind: type | tuple[type, ...] = ()) -> list[Any]:
    """Return one label or several, or objects of a kind, as a list.

    Raises:
        ConfigError: there are none, one is neither text nor of the kind, or one is there twice.
    """
    if isinstance(labels, (str, kind)):
        return [labels]
    try:
        listed = list(labels)
    except TypeError:
        raise ConfigError(
            f"{what}: give one label or a list of them, not {shown(labels)}"
        ) from None
    if not listed:
        raise ConfigError(f"{what}: give one label or more")
    for label in listed:
        if not isinstance(label, kind):
            check_label(label, what)
    for place, label in enumerate(listed):
        if label in listed[:place]:
            raise ConfigError(f"{what}: {label!r} is there twice; give each label once")
    return listed


def did_you_mean(label: str, known: Sequence[str], end: str = "") -> str:
    """Return a question for a message, with the closest known label; empty if none is close."""
    close = get_close_matches(label, known, 1)
    return f" (did you mean {close[0]}{end}?)" if close and close[0] != label else ""
