"""Who is scored how far: boundaries in the order of the candidates, shares of users, and the users'
numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.core.data.ids import as_text

FOLDS = 5
"""Number of folds of the users, whose predictions are those of the others."""

_EXPONENT = 0.75  # of the share of users who go on

_STEPS = [digit * 10**power for power in range(1, 12) for digit in (1, 3)]


def boundaries(candidates: int) -> Ints:
    """Return 0 and the boundaries 10, 30, 100, 300, … below half of the largest number of
    candidates.
    """
    return np.array([0, *(step for step in _STEPS if step < candidates / 2)])


def are_boundaries(numbers: Sequence[Any], candidates: int) -> bool:
    """Return whether numbers are the boundaries of this largest number of candidates, or of a
    larger one.
    """
    all_of_them = [0, *_STEPS]
    return (
        len(numbers) >= len(boundaries(candidates)) and list(numbers) == all_of_them[: len(numbers)]
    )


def shares(depth: float | None, boundaries: Ints) -> Floats:
    """Return the (boundaries,) shares P_b = min(1, (depth / D_b)^(3/4)) of users who go on from a
    boundary.
    """
    if depth is None:
        return np.ones(len(boundaries))
    return np.minimum(1.0, (depth / np.maximum(boundaries, 1)) ** _EXPONENT)


def last_boundary(boundaries: Ints, candidates: Ints) -> Ints:
    """Return the (rows,) index of the last boundary below half of the (rows,) candidates, or 0."""
    return np.maximum(np.searchsorted(boundaries, candidates / 2, side="left") - 1, 0)


def numbers_of_users(names: Sequence[Any], seed: int) -> tuple[Floats, Ints]:
    """Return the (users,) numbers v from 0 to 1 and the (users,) folds of users, by their names and
    a seed alone.
    """
    uniform = np.array([number / 2**64 for number in _hashes(names, seed, "share")])
    return uniform, np.array([number % FOLDS for number in _hashes(names, seed, "fold")])


def digest_of_users(users: NDArray[Any]) -> str:
    """Return a digest of a set of users by their ids as text, whatever their order is, and how
    often each is there.
    """
    names = sorted(set(as_text(pd.Series(users)).tolist()))
    content = hashlib.blake2b(digest_size=16)
    for name in names:
        encoded = name.encode("utf-8", "surrogatepass")
        content.update(len(encoded).to_bytes(8, "little") + encoded)
    return content.hexdigest()


def _hashes(names: Sequence[Any], seed: int, purpose: str) -> list[int]:
    """Return a whole number below 2^64 for each of (users,) names, from a hash of the seed, a word
    and the name.
    """
    texts = (f"{seed}\0{purpose}\0{name}".encode() for name in names)
    return [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") for text in texts]
