"""Which users go on, and how far.

A user goes on from a boundary in the order of the candidates if the user's number is below the
share of that boundary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.data.ids import as_text

FOLDS = 5
"""Number of folds of the users; each is predicted from the others."""

_EXPONENT = 0.75  # of the share of users who go on

# 10, 30, 100, 300, … up to more candidates than there are
_STEPS = [digit * 10**power for power in range(1, 12) for digit in (1, 3)]


def boundaries(candidates: int) -> Ints:
    """Return 0 and the boundaries 10, 30, 100, 300, … below half of a number of candidates."""
    steps = [step for step in _STEPS if step < candidates / 2]
    return np.array([0, *steps])


def shares(depth: float | None, boundaries: Ints) -> Floats:
    """Return the (boundaries,) shares of users who go on, P_b = min(1, (depth / D_b)^(3/4))."""
    if depth is None:
        return np.ones(len(boundaries))
    return np.minimum(1.0, (depth / np.maximum(boundaries, 1)) ** _EXPONENT)


def last_boundary(boundaries: Ints, candidates: Ints) -> Ints:
    """Return the (rows,) index of the last boundary below half of the (rows,) candidates, or 0."""
    return np.maximum(np.searchsorted(boundaries, candidates / 2, side="left") - 1, 0)


def stops(uniform: Floats, depth: float | None, boundaries: Ints, last: Ints) -> Ints:
    """Return the (users,) indices of the boundaries at which users stop unless beaten before.

    A user who goes on to the end has the number of the boundaries.

    Args:
        uniform: (users,) the users' numbers v.
        depth: as in `staged_ranks`.
        boundaries: (boundaries,) the boundaries.
        last: (users,) the indices of the users' last boundaries.
    """
    index = np.arange(len(boundaries))
    has_boundary = index <= last[:, np.newaxis]
    stays = has_boundary & (uniform[:, np.newaxis] >= shares(depth, boundaries))
    return np.where(stays.any(axis=1), stays.argmax(axis=1), len(boundaries))


def numbers_of_users(names: Sequence[Any], seed: int) -> tuple[Floats, Ints]:
    """Return the (users,) numbers v from 0 to 1, and the (users,) folds of users.

    Both depend on the users' names and the seed alone.
    """
    uniform = np.array([whole / 2**64 for whole in _hashes(names, seed, "share")])
    fold = np.array([whole % FOLDS for whole in _hashes(names, seed, "fold")])
    return uniform, fold


def digest_of_users(users: NDArray[Any]) -> str:
    """Return a digest of a set of users by their ids as text, in any order and number of rows."""
    names = sorted(set(as_text(pd.Series(users)).tolist()))
    content = hashlib.blake2b(digest_size=16)
    for name in names:
        encoded = name.encode("utf-8", "surrogatepass")
        content.update(len(encoded).to_bytes(8, "little") + encoded)
    return content.hexdigest()


def sum_of_digests(digests: Iterable[str]) -> str:
    """Return a digest of several ones, in any order: their sum, modulo 2^128."""
    total = sum(int(digest, 16) for digest in digests)
    return f"{total % 2**128:032x}"


def _hashes(names: Sequence[Any], seed: int, purpose: str) -> list[int]:
    """Return (users,) whole numbers below 2^64: hashes of the seed, a word and the name."""
    texts = [f"{seed}\0{purpose}\0{name}".encode() for name in names]
    hashes = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
    return [int.from_bytes(content, "big") for content in hashes]
