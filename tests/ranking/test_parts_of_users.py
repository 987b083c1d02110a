"""Ranks of a part of the users are those rows of the ranks of all users."""

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.ranking import rank as rank_module

USERS, ITEMS = 37, 23
RNG = np.random.default_rng(8)
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T
USER_IDS = np.array([f"u{each}" for each in range(USERS)])


def to_device(array: np.ndarray) -> Any:
    return strict.asarray(array, device=strict.Device("device1"))


FORMS = {
    "factors": FACTORS,
    "factors in float32": tuple(each.astype(np.float32) for each in FACTORS),
    "factors of two types": (FACTORS[0].astype(np.int16), FACTORS[1].astype(np.float32)),
    "factors on a device": tuple(map(to_device, FACTORS)),
    "dense": SCORES.astype(np.int8),
    "dense, on a device": to_device(SCORES),
    "sparse": csr_array(SCORES),
    "function": lambda users: SCORES[users],
    "function of arrays on a device": lambda users: to_device(SCORES[users]),
}


def rank(scores: Any, training: Any, held_out: Any, **options: Any) -> sm.ExactRanks:
    """Rank, without the warning of users without a held-out item."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sm.rank(scores, training, held_out, user_ids=USER_IDS, **options)


def pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and held-out items: some users have several held-out items, and some have none."""
    rng = np.random.default_rng(seed)
    chosen = rng.random((USERS, ITEMS)) < 0.3
    held_out = chosen & (rng.random((USERS, ITEMS)) < 0.3) & (rng.random((USERS, 1)) < 0.8)
    return chosen & ~held_out, held_out


def joined(parts: list[sm.ExactRanks]) -> pd.DataFrame:
    return pd.concat([part.to_frame() for part in parts], ignore_index=True)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=settings().max_examples // 3)  # of each form
@given(
    seed=st.integers(0, 1000),
    ends=st.lists(st.integers(1, USERS - 1), unique=True, max_size=6),
    batch_size=st.sampled_from([None, 1, 5]),
)
def test_joined_are_the_ranks_of_all_users(form, seed, ends, batch_size) -> None:
    training, held_out = pairs(seed)
    options = {} if form.startswith("factors") else {"batch_size": batch_size}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rank_module, "_TOGETHER_ON_DEVICE", 5 * ITEMS)
        whole = rank(FORMS[form], training, held_out, **options)
        parts = [
            rank(FORMS[form], training, held_out, users=slice(first, last), **options)
            for first, last in zip([0, *sorted(ends)], [*sorted(ends), USERS + 5], strict=True)
        ]
    assert joined(parts).to_csv() == whole.to_frame().to_csv()
    assert np.concatenate([part.user for part in parts]).dtype == whole.user.dtype


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=settings().max_examples // 3)  # of each form
@given(
    seed=st.integers(0, 1000),
    users=st.lists(st.integers(0, USERS - 1), unique=True, min_size=1),
    kind=st.sampled_from([list, np.array, pd.Series, lambda users: np.array(users, dtype=np.uint8)]),
)
def test_of_any_indices_are_these_rows_of_the_ranks_of_all_users_in_their_order(form, seed, users, kind) -> None:
    training, held_out = pairs(seed)
    whole = rank(FORMS[form], training, held_out)
    found = rank(FORMS[form], training, held_out, users=kind(users))
    expected = whole.to_frame()[np.isin(whole.user, USER_IDS[users])]
    assert found.to_frame().to_csv(index=False) == expected.to_csv(index=False)


@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f8", "f4"), ("f4", "f8"), ("f2", "f4"), ("i2", "f8")])
def test_of_factors_in_a_file_those_of_other_users_are_not_read(kinds, tmp_path: Path) -> None:
    """Most of the file, 100 to 400 MB of zeros, takes no room on the disk."""
    users, items, d = 400_000, 300, 128
    for name, rows, kind in zip("ui", (users, items), kinds, strict=True):
        factors = np.lib.format.open_memmap(tmp_path / f"{name}.npy", mode="w+", dtype=kind, shape=(rows, d))
        factors[-500:] = np.random.default_rng(0).integers(-3, 4, (min(500, rows), d))
        del factors
    held_out = np.full(users, -1)
    held_out[-500:] = np.arange(500) % items
    mapped = tuple(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "ui")
    training = csr_array((users, items))
    tracemalloc.start()
    parts = [sm.rank(mapped, training, held_out, users=slice(users - at, users - at + 100)) for at in (500, 400)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # eight bytes for each user several times, and nothing for each factor
    last = np.arange(users - 500, users - 300)
    expected = sm.rank((np.array(mapped[0][last]), np.array(mapped[1])), training[last], held_out[last], user_ids=last)
    assert joined(parts).equals(expected.to_frame())


@pytest.mark.parametrize(
    ("users", "says"),
    [
        ([], "users: names none of the users"),
        (slice(5, 5), "users: names none of the users"),
        (slice(USERS, None), "users: names none of the users"),
        ([3, 37], "users: 37 is not an index of the 37 users, 0 to 36"),
        ([-1, 2], "users: -1 is not an index of the 37 users, 0 to 36"),
        ([2, 9, 2], "users: 2 is there twice"),
        (np.arange(USERS) < 9, "one-dimensional indices of them, whole numbers, not bool of shape (37,)"),
        ([1.0, 2.0], "one-dimensional indices of them, whole numbers, not float64 of shape (2,)"),
        (["u1"], "one-dimensional indices of them, whole numbers, not <U2 of shape (1,)"),
        ([[1, 2]], "one-dimensional indices of them, whole numbers, not int64 of shape (1, 2)"),
        (3, "one-dimensional indices of them, whole numbers, not int64 of shape ()"),
        ([[1], [2, 3]], "users must be a slice of the users, or indices of them, not [[1], [2, 3]]"),
        (slice(0.5, 3), "users must be a slice of the users, or indices of them, not slice(0.5, 3, None)"),
        (slice(0, 3, 0), "users must be a slice of the users, or indices of them, not slice(0, 3, 0)"),
        (np.ma.array([1, 2], mask=[0, 1]), "users: has 1 masked"),
    ],
)
def test_refuses(users: Any, says: str) -> None:
    with pytest.raises(sm.DataError) as refused:
        rank(FACTORS, np.zeros((USERS, ITEMS)), np.zeros(USERS, dtype=int), users=users)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
