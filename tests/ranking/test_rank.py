"""What `rank` takes beside scores of users: tables of ids, users without an item, batches; and what it refuses.

test_by_definition.py has the ranks themselves.
"""

import tracemalloc
from typing import Any

import array_api_strict as strict
import numpy as np
import pandas as pd
import pytest
from ranked_by_argsort import by_argsort, rows
from scipy.sparse import csr_array

from sampled_metrics import rank, rank_among_negatives
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import read_array, read_ids

RNG = np.random.default_rng(5)
USERS, ITEMS = 37, 23
HELD_OUT = RNG.integers(ITEMS, size=USERS)
IS_HELD_OUT = np.arange(ITEMS) == HELD_OUT[:, np.newaxis]
TRAINING = (RNG.random((USERS, ITEMS)) < 0.3) & ~IS_HELD_OUT
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T  # whole numbers, so many tie and none is rounded
EXPECTED = by_argsort(SCORES, TRAINING, HELD_OUT)
USER_IDS, ITEM_IDS = np.array([f"u{each}" for each in range(USERS)]), np.arange(ITEMS) * 10 + 7
IDS = {"user_ids": USER_IDS, "item_ids": ITEM_IDS}


def table_of(matrix: np.ndarray, names=("user", "item")) -> pd.DataFrame:
    """The pairs of a matrix, in any order."""
    user, item = np.nonzero(matrix)
    return pd.DataFrame({names[0]: USER_IDS[user], names[1]: ITEM_IDS[item]}).sample(frac=1, random_state=1)


def to_device(array: np.ndarray, device: str = "device1") -> Any:
    """An array on a device that numpy cannot read."""
    return strict.asarray(array, device=strict.Device(device))


ON_DEVICE = tuple(map(to_device, FACTORS))


@pytest.mark.parametrize("names", [("user", "item"), ("user_id", "item_id"), ("userId", "itemId")])
def test_tables_of_ids_give_the_same_as_matrices(names) -> None:
    training, held_out = (table_of(each, names) for each in (TRAINING, IS_HELD_OUT))
    table = rank(FACTORS, training, held_out, **IDS)
    assert rows(table) == EXPECTED
    assert table.user.tolist() == USER_IDS.tolist()
    assert rows(rank(FACTORS, training.astype(str), held_out.astype(str), **IDS)) == EXPECTED  # as in a csv file


@pytest.mark.parametrize(
    "form",
    [
        lambda kept: np.where(kept, HELD_OUT, -1),
        lambda kept: [item if keep else None for item, keep in zip(HELD_OUT.tolist(), kept, strict=True)],
        lambda kept: pd.Series(np.where(kept, HELD_OUT, np.nan)).astype("Int64"),
        lambda kept: csr_array(IS_HELD_OUT & kept[:, np.newaxis]),
        lambda kept: table_of(IS_HELD_OUT & kept[:, np.newaxis]),
    ],
)
def test_users_without_a_held_out_item_are_left_out_and_counted(form) -> None:
    kept = np.arange(USERS) % 5 > 1
    for scores, options in ((FACTORS, {}), (SCORES, {"batch_size": 4}), (lambda users: SCORES[users], {})):
        with pytest.warns(UserWarning, match=r"^16 of 37 users have no held-out item, and are left out$") as warned:
            table = rank(scores, TRAINING, form(kept), **IDS, **options)
        assert warned[0].filename == __file__
        assert rows(table) == [each for each, keep in zip(EXPECTED, kept, strict=True) if keep]
        assert table.user.tolist() == USER_IDS[kept].tolist()


@pytest.mark.parametrize(("size", "calls"), [(None, [37]), (1, [1] * 37), (10, [10, 10, 10, 7]), (2**70, [37])])
def test_a_function_is_called_with_batches_of_users(size, calls) -> None:
    lengths, steps = [], []

    def scores(users: slice) -> np.ndarray:
        lengths.append(len(SCORES[users]))
        return SCORES[users]

    table = rank(scores, TRAINING, HELD_OUT, batch_size=size, progress=lambda blocks: steps.extend(blocks) or blocks)
    assert rows(table) == EXPECTED
    assert lengths == calls
    assert steps == list(range(len(calls)))


def test_an_error_of_the_model_says_for_which_users() -> None:
    def score(users: slice) -> np.ndarray:
        if users.stop > 20:
            raise LookupError("the model does not know user 23")
        return SCORES[users]

    with pytest.raises(LookupError, match="does not know") as caught:
        rank(score, TRAINING, HELD_OUT, batch_size=10)
    assert caught.value.__notes__ == ["scores of the users 20 to 29"]


LARGE = np.array([[2**60, 2**60 + 1, 2**60 + 2]])
"""In float64 all three would be the same number."""


@pytest.mark.parametrize(
    "scores",
    [
        LARGE.tolist(),
        LARGE.astype(np.uint64) + 2**63,
        np.array([[1, 1, 1]], dtype=np.longdouble) + np.array([[0, 1, 2]]) * np.finfo(np.longdouble).eps,
        lambda users: LARGE[users],
    ],
)
def test_scores_are_compared_without_rounding(scores) -> None:
    assert rows(rank(scores, np.zeros((1, 3)), [0])) == [(2, 0)]


@pytest.mark.parametrize("scores", [[[0.5, 2**60, 2**60 + 1]], pd.DataFrame({"a": [0.5], "b": 2**60, "c": 2**60 + 1})])
def test_refuses_numbers_that_only_float64_would_hold_together_and_not_all_of_them(scores) -> None:
    with pytest.raises(DataError, match="float64 cannot hold 1152921504606846977 without rounding it"):
        rank(scores, np.zeros((1, 3)), [1])


def with_one(value: float) -> np.ndarray:
    """The scores with another one of a candidate of user 1."""
    scores = SCORES.copy()
    scores[1, np.flatnonzero(~TRAINING[1] & ~IS_HELD_OUT[1])[0]] = value
    return scores


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (FACTORS[:1], "a tuple of scores must be two factors"),
        ((FACTORS[0], FACTORS[1][:, :2]), r"not arrays of \(37, 3\), \(23, 2\)"),
        (FACTORS[::-1], r"scores have shape \(23, 37\), but training has 37 users and 23 items"),
        ((FACTORS[0] - np.inf, FACTORS[1]), "factors are not finite"),
        ((FACTORS[0][:, :0], FACTORS[1][:, :0]), "one dimension or more"),
        ((None, None), "scores must be numbers"),  # of a model before its fit
        (None, "scores must be numbers"),
        ([["1.5"] * ITEMS] * USERS, "scores must be numbers"),
        ([[10**400] * ITEMS] * USERS, "scores must be numbers"),
        (SCORES[:, :4], r"scores have shape \(37, 4\), but training has 37 users and 23 items"),
        (with_one(np.nan), r"user 1 a score that is NaN or \+inf; scores are finite numbers, or -inf for"),
        (with_one(np.inf), r"user 1 a score that is NaN or \+inf"),
        (lambda users: None, "scores must be numbers"),
        (lambda users: 0.5, "scores must be numbers"),
        (lambda users: SCORES[:, :4], r"scores of a block of users have shape \(37, 4\), not \(37, 23\)"),
        (lambda users: SCORES[0], r"scores of a block of users have shape \(23,\), not \(37, 23\)"),
        # on a device
        ((ON_DEVICE[0], FACTORS[1]), "must be arrays of one library, not Array and ndarray"),
        ((ON_DEVICE[0], to_device(FACTORS[1], "CPU_DEVICE")), "must be on one device, not on .*device1"),
        (ON_DEVICE[::-1], r"scores have shape \(23, 37\), but training has 37 users"),
        ((ON_DEVICE[0], ON_DEVICE[1][:, :2]), r"not arrays of \(37, 3\), \(23, 2\)"),
        (ON_DEVICE[:1], "a tuple of scores must be two factors"),
        (tuple(to_device(each + 0j) for each in FACTORS), "must be real numbers, not .*complex128"),
        ((ON_DEVICE[0] * np.nan, ON_DEVICE[1]), "factors are not finite"),
        ((ON_DEVICE[0], to_device(FACTORS[1] + np.inf)), "factors are not finite"),
        (tuple(to_device(each * 1e200) for each in FACTORS), "too large for scores in float64"),
        (to_device(SCORES + 0j), "must be real numbers, not .*complex128"),
        (to_device(SCORES[0]), "must be numbers, a row of them for each user"),
        (lambda users: to_device(SCORES[users, 1:]), r"have shape \(37, 22\), not \(37, 23\)"),
    ],
)
def test_refuses_scores(scores, says: str) -> None:
    with pytest.raises(DataError, match=says):
        rank(scores, TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"held_out": np.where(TRAINING[:, 0], 0, HELD_OUT)}, r"user \d+: the held-out item is one of the user's"),
        ({"held_out": TRAINING}, "the held-out item is one of the user's training items"),
        ({"held_out": [*HELD_OUT[1:], 23]}, "user 36: held_out must be an index of the 23 items, 0 to 22, not 23"),
        ({"held_out": [*HELD_OUT[1:], 2.5]}, "user 36: held_out must be an index of the 23 items, 0 to 22, not 2.5"),
        ({"held_out": [*HELD_OUT[1:], -np.inf]}, "user 36: held_out must be an index of the 23 items, .* not -inf"),
        ({"held_out": [True, *[None] * 36]}, "held_out must hold indices of the 23 items, whole numbers, not bool"),
        ({"held_out": [-1] * USERS}, "held_out: no user has a held-out item"),
        ({"held_out": [2]}, r"held_out must be an item of each of the 37 users, .*, not of shape \(1,\)"),
        ({"held_out": 2}, r"held_out must be an item of each of the 37 users, .*, not of shape \(\)"),
        ({"held_out": [[2], [0, 1]]}, r"held_out must be an item of each of the 37 users"),
        ({"held_out": pd.DataFrame({"user": [0, 1], "item": [1, 23]})}, "held_out, user 1: item 23 is not an"),
        (
            {"held_out": pd.DataFrame({"user": ["u1"], "item": [8]}), **IDS},
            "held_out, user 'u1': item 8 is not in",
        ),
        ({"user_ids": [1, 2, 3]}, r"user_ids must have an id for each of the 37 users, not the shape \(3,\)"),
        ({"item_ids": [1, 2]}, r"item_ids must have an id for each of the 23 items, not the shape \(2,\)"),
        ({"user_ids": [*range(36), 0]}, "user_ids: 0 is there twice; each user needs an id of its own"),
        ({"user_ids": [*range(36), np.nan]}, "user_ids: entry 37 is missing"),
        ({"training": np.where(TRAINING, np.nan, 0)}, "training must be numbers.*; some are not finite"),
        ({"training": [["a", "b"]]}, "training must be numbers, a row of them for each user"),
        ({"training": [1, 0]}, "training must be numbers, a row of them for each user"),
        (
            {"training": table_of(TRAINING)},
            r"training, user 'u\d+': .* is not an index from 0 to 36; give user_ids",
        ),
        ({"training": pd.DataFrame({"user": [0], "product": [1]})}, r"training: lacks the column item \(the "),
        ({"training": pd.DataFrame({"user": [0], "item": [None]})}, "item None is not an index from 0 to 22"),
        (
            {"scores": lambda users: SCORES[users], "training": table_of(TRAINING)},
            r"the number of users and items is not known: give user_ids \(--user-ids\) and item_ids",
        ),
        ({"users": []}, "users: names none of the users"),
        ({"users": slice(USERS, None)}, "users: names none of the users"),
        ({"users": [3, 37]}, "users: 37 is not an index of the 37 users, 0 to 36"),
        ({"users": [-1, 2]}, "users: -1 is not an index of the 37 users, 0 to 36"),
        ({"users": [2, 9, 2]}, "users: 2 is there twice"),
        ({"users": np.arange(USERS) < 9}, r"one-dimensional indices of them, whole numbers, not bool of shape \(37,\)"),
        ({"users": [[1, 2]]}, r"one-dimensional indices of them, whole numbers, not int64 of shape \(1, 2\)"),
        ({"users": 3}, r"one-dimensional indices of them, whole numbers, not int64 of shape \(\)"),
        ({"users": [[1], [2, 3]]}, r"users must be a slice of the users, or indices of them, not \[\[1\], \[2, 3\]\]"),
        ({"users": slice(0.5, 3)}, r"users must be a slice of the users, or indices .* not slice\(0.5, 3, None\)"),
        ({"users": np.ma.array([1, 2], mask=[0, 1])}, "users: has 1 masked"),
    ],
)
def test_refuses(changes: dict, says: str) -> None:
    with pytest.raises(DataError, match=says):
        rank(**{"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"scores": FACTORS, "batch_size": 4}, "leave it out for factors"),
        ({"batch_size": 0}, "batch_size must be a whole number, 1 or more, not 0"),
        ({"batch_size": 2.0}, "batch_size must be a whole number"),
        ({"scores": lambda users, items: 0.5}, "one of pairs is for staged_ranks"),
    ],
)
def test_refuses_options(changes: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        rank(**{"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: rank_among_negatives(to_device(SCORES), TRAINING, HELD_OUT, negatives=5), "scores"),
        (lambda: rank(ON_DEVICE, to_device(TRAINING), HELD_OUT), "training"),
        (lambda: rank(ON_DEVICE, TRAINING, to_device(HELD_OUT)), "held_out"),
    ],
)
def test_what_has_to_be_on_the_host(call, name: str) -> None:
    with pytest.raises(
        DataError, match=rf"^{name}: numpy cannot read .* on the device .*device1.*, such as {name}.float"
    ):
        call()


@pytest.mark.parametrize("kinds", [("f4", "f4"), ("i2", "f8")])
def test_of_factors_in_a_file_those_of_other_users_are_not_read(kinds, tmp_path) -> None:
    """Most of the file, 100 to 200 MB of zeros, takes no room on the disk."""
    users, items, d = 400_000, 300, 128
    for name, length, kind in zip("ui", (users, items), kinds, strict=True):
        factors = np.lib.format.open_memmap(tmp_path / f"{name}.npy", mode="w+", dtype=kind, shape=(length, d))
        factors[-500:] = np.random.default_rng(0).integers(-3, 4, (min(500, length), d))
        del factors
    held_out = np.full(users, -1)
    held_out[-500:] = np.arange(500) % items
    mapped = tuple(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "ui")
    training = csr_array((users, items))
    tracemalloc.start()
    table = rank(mapped, training, held_out, users=slice(users - 500, users - 300))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # eight bytes for each user several times, and nothing for each factor
    last = np.arange(users - 500, users - 300)
    expected = rank((np.array(mapped[0][last]), np.array(mapped[1])), training[last], held_out[last], user_ids=last)
    assert table.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize("what", ["scores", "factors"])
def test_names_of_columns_in_a_csv_file_are_refused(tmp_path, monkeypatch, what):
    """As DataFrame.to_csv(index=False) writes them: each user would get the scores of the user before."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(SCORES).to_csv(f"{what}.csv", index=False)
    with pytest.raises(DataError, match=rf"{what}.csv, line 1: has 0 to 22, the names of columns"):
        read_array(f"{what}.csv")
    pd.DataFrame(SCORES).to_csv(f"{what}.csv", index=False, header=False)
    np.testing.assert_array_equal(read_array(f"{what}.csv"), SCORES)


def test_files_that_hold_no_array_are_refused(tmp_path):
    path = tmp_path / "scores.npy"
    for length in (10**12, 10**30):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({length},), }}".ljust(117) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        with pytest.raises(DataError, match=r"scores\.npy: (its array does not fit|cannot be read)"):
            read_array(str(path))
    path = tmp_path / "scores.npz"
    np.savez(path, format=np.array(b"csr"), indices=np.arange(3), indptr=np.arange(3), shape=np.array([2, 3]))
    with pytest.raises(DataError, match=r"scores\.npz: is no sparse matrix of SciPy: data"):
        read_array(str(path))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n\r\n", b"a\nb"])
def test_ids_may_begin_with_a_byte_order_mark_and_end_with_empty_lines(tmp_path, content):
    (tmp_path / "ids.txt").write_bytes(content)
    assert read_ids(str(tmp_path / "ids.txt")).tolist() == ["a", "b"]
