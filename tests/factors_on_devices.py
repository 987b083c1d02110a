"""Factors whose scores are hard to compare, and their ranks by numpy and on a device of another library."""

from collections.abc import Callable
from typing import Any

import numpy as np

import sampled_metrics as sm

DIMENSIONS = 24

Arrays = tuple[np.ndarray, np.ndarray]


def _normal(rng: np.random.Generator, users: int, items: int) -> Arrays:
    return rng.normal(size=(users, DIMENSIONS)), rng.normal(size=(items, DIMENSIONS))


def _duplicates(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _normal(rng, users, items)
    return user, item[rng.integers(items // 3, size=items)]


def _last_digits(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _normal(rng, users, 1)
    return user, item * (1 + np.finfo(np.float32).eps * rng.integers(-2, 3, (items, DIMENSIONS)))


def _zero_rows(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _normal(rng, users, items)
    user[::3], item[::2] = 0, 0
    return user, item


def _large_and_small(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _duplicates(rng, users, items)
    return user * 1e30, item * 1e-30


def _small(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _duplicates(rng, users, items)
    return user, item * 1e-30


def _of_all_sizes(rng: np.random.Generator, users: int, items: int) -> Arrays:
    user, item = _duplicates(rng, users, items)
    return user * 10.0 ** rng.integers(-30, 8, (users, 1)), item * 10.0 ** rng.integers(-30, 8, (items, 1))


def _whole(rng: np.random.Generator, users: int, items: int) -> Arrays:
    return rng.integers(-2, 3, (users, 3)), rng.integers(-2, 3, (items, 3))


CASES: dict[str, Callable[[np.random.Generator, int, int], Arrays]] = {
    "normal": _normal,
    "duplicates": _duplicates,
    "last digits": _last_digits,
    "zero rows": _zero_rows,
    "1e30 and 1e-30": _large_and_small,
    "1e-30": _small,
    "of all sizes": _of_all_sizes,
    "whole": _whole,
}


def factors_of(case: str, users: int, items: int, kind: type) -> tuple[Arrays, np.ndarray, np.ndarray]:
    """Factors of a case, training items and a held-out item of each user."""
    rng = np.random.default_rng(list(CASES).index(case))
    user, item = (each.astype(kind) for each in CASES[case](rng, users, items))
    training = rng.random((users, items)) < 0.1
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    return (user, item), training, held_out


def differences(to: Callable[[np.ndarray], Any], case: str, users: int, items: int, kind: type) -> tuple[int, int]:
    """Count the users whose ranks differ between numpy and a device, to which `to` moves arrays, and numpy's ties."""
    factors, training, held_out = factors_of(case, users, items, kind)
    wanted = sm.rank(factors, training, held_out)
    found = sm.rank(tuple(map(to, factors)), training, held_out)
    differ = (found.above != wanted.above) | (found.tied != wanted.tied)
    return int(differ.sum()), int(wanted.tied.sum())
