"""Files of matrices with a line of names of columns, or a column of an index.

The ranks are right, or the file is refused.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matrix_files import (
    HELD_OUT,
    ITEM_FACTORS,
    ITEM_IDS,
    ITEMS,
    RNG,
    SCORES,
    USER_FACTORS,
    USER_IDS,
    USERS,
    D,
    write,
)
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import read_array, require_layout
from sampled_metrics.ranking.layout import Known, require_numbers_alone


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            np.vstack([np.arange(1, D + 1), ITEM_FACTORS]),
            r"line 1: is 1, 2, 3, …, the names of columns.*to_csv",
        ),
        (
            np.column_stack([np.arange(ITEMS), ITEM_FACTORS]),
            r"the first column is 0, 1, 2, …, as of an index",
        ),
        (
            np.column_stack([ITEM_FACTORS, np.arange(ITEMS)]),
            r"the last column is 0, 1, 2, …, as of an index",
        ),
        (
            np.column_stack([ITEM_IDS, ITEM_FACTORS]),
            r"the first column is whole numbers that all differ",
        ),
        (
            np.vstack([np.arange(ITEMS + 1) - 1.0, np.column_stack([np.arange(USERS), SCORES])]),
            r"the first column",
        ),
        (np.vstack([np.arange(ITEMS), np.ones((4, ITEMS))]), r"line 1: is 0, 1, 2, …"),
        (
            np.column_stack([np.arange(30), np.arange(30), SCORES]),
            r"the first column is 0, 1, 2, …",
        ),
    ],
)
def test_says_what_it_looks_like(array, message) -> None:
    with pytest.raises(DataError, match=f"^m.csv[:,] {message}"):
        require_numbers_alone("m.csv", array)


def matrices_of_numbers() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    popularity = np.sort(rng.permutation(1000)[:50])[::-1]
    return {
        "scores": SCORES,
        "factors": USER_FACTORS,
        "one factor": np.arange(40.0)[:, np.newaxis],
        "a row": np.arange(40.0)[np.newaxis],
        "counts": rng.poisson(3, (60, 40)),
        "popularity": np.tile(popularity, (30, 1)),
        "popularity, ascending": np.tile(np.arange(50), (30, 1)),
        "places": np.argsort(rng.random((60, 40)), axis=1),
        "all different": np.arange(1200).reshape(30, 40),
        "zeros": np.zeros((20, 30)),
        "bits": rng.random((50, 60)) < 0.1,
        "training": csr_array((rng.random((50, 60)) < 0.1).astype(np.int8)),
        "ratings": rng.integers(0, 6, (50, 60)),
        "identity": np.eye(20),
        "small": np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]]),
        "a factor of zeros and ones": np.column_stack(
            [np.arange(40) % 2, rng.normal(size=(40, 3))]
        ),
    }


@pytest.mark.parametrize(("name", "array"), matrices_of_numbers().items())
def test_numbers_are_not_taken_for_names(name, array, tmp_path) -> None:
    require_numbers_alone("m", array)
    if isinstance(array, np.ndarray):
        np.savetxt(tmp_path / "m.csv", array, delimiter=",")
        np.testing.assert_array_equal(read_array(str(tmp_path / "m.csv")), array)
        require_numbers_alone("m", pd.DataFrame(array))


def test_ids_of_whole_numbers_are_known_among_whole_numbers() -> None:
    """Counts, whose lines have no fractions: the ids say what the first column is."""
    counts = np.random.default_rng(3).poisson(3, (USERS, ITEMS))
    users = Known.from_ids("user", USER_IDS)
    items = Known.from_ids("item", ITEM_IDS)
    require_numbers_alone("s.npy", counts, users, items)
    for known in (users, None):
        array = np.column_stack([USER_IDS, counts])
        if known is None:
            require_numbers_alone("s.npy", array)  # nothing is known
        else:
            with pytest.raises(DataError, match=r"the first column is ids, .* as of an index"):
                require_numbers_alone("s.npy", array, known, items)
    with pytest.raises(DataError, match=r"line 1: is ids, .*the names of columns"):
        require_numbers_alone("s.npy", np.vstack([ITEM_IDS, counts]), users, items)


def test_a_row_or_a_column_more_than_the_events_have_is_refused() -> None:
    events = pd.DataFrame({"user": np.arange(USERS), "item": HELD_OUT})
    require_layout([("s.npy", SCORES, ("user", "item"))], events, events, None, None)
    for array, message in (
        (
            np.column_stack([SCORES, SCORES[:, 0]]),
            r"s.npy: has 21 columns for 20 items, 0 to 19 in training and held",
        ),
        (
            np.vstack([SCORES, SCORES[:1]]),
            r"s.npy: has 31 rows for 30 users, .* or give --user-ids, if user 30 is of no event",
        ),
    ):
        with pytest.raises(DataError, match=message):
            require_layout([("s.npy", array, ("user", "item"))], events, events, None, None)
    matrix = csr_array((USERS, ITEMS))
    with pytest.raises(DataError, match=r"u.npy: has 31 rows for 30 users, as training has"):
        require_layout(
            [("u.npy", np.vstack([USER_FACTORS] * 2)[:31], ("user",))], matrix, events, None, None
        )
    with pytest.raises(DataError, match=r"i.npy: has 21 rows for 20 items, by item_ids"):
        require_layout(
            [("i.npy", np.vstack([ITEM_FACTORS] * 2)[:21], ("item",))],
            events,
            events,
            None,
            ITEM_IDS,
        )
    more = np.column_stack([SCORES, SCORES[:, :5]])  # items of a catalogue that are in no event
    require_layout([("s.npy", more, ("user", "item"))], events, events, None, None)
    require_layout([("s.npy", more[:, :21], ("user", "item"))], events, events, None, np.arange(21))


@pytest.mark.parametrize("index", ["index", "level_0", "Unnamed: 0", "customer"])
def test_frames_whose_index_is_a_column_are_refused_in_memory(index) -> None:
    items = [f"i{item}" for item in range(ITEMS)]
    held_out = pd.Series([items[item] for item in HELD_OUT], index=pd.Index(USER_IDS, name="user"))
    frame = pd.DataFrame(SCORES, index=USER_IDS, columns=items).rename_axis(index)
    training = np.zeros((USERS, ITEMS))
    table = sm.rank(frame, training, held_out)
    above = [int((row > row[item]).sum()) for row, item in zip(SCORES, HELD_OUT, strict=True)]
    assert table.above.tolist() == above
    with pytest.raises(
        DataError, match=r"^scores: the (column|first column) .*make it the index by set_index"
    ):
        sm.rank(frame.reset_index(), training, held_out)
    factors = pd.DataFrame(ITEM_FACTORS, index=items).rename_axis(index).reset_index()
    factors[index] = np.arange(ITEMS)
    with pytest.raises(
        DataError, match=r"^factors of items: the (column|first column) .*make it the index"
    ):
        sm.rank(
            (pd.DataFrame(np.column_stack([USER_FACTORS, USER_FACTORS[:, 0]])), factors),
            training,
            HELD_OUT,
        )


def test_ids_below_0_are_seen_as_ids(tmp_path):
    """As of a signed hash, which is the index of both files of factors."""
    rng = np.random.default_rng(4)
    for kind, count in (("users", 40), ("items", 30)):
        ids = rng.permutation(np.arange(-(2**31), 2**31, 2**31 // count))[:count]
        frame = pd.DataFrame(rng.normal(size=(count, 4)), index=ids)
        frame.to_csv(tmp_path / f"{kind}.csv", header=False)
        with pytest.raises(DataError, match="the first column is whole numbers that all differ"):
            read_array(str(tmp_path / f"{kind}.csv"))


def test_places_of_one_user_or_of_a_feature_are_numbers_of_an_array(tmp_path):
    """A first user who is new has the order of popularity; the last factor is a place or a time."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(40, 30))
    factors = rng.normal(size=(40, 5))
    scores[0] = rng.permutation(30)
    factors[:, -1] = 10**9 + 1000 * rng.permutation(40)
    for name, array in (("scores", scores), ("factors", factors)):
        np.save(tmp_path / f"{name}.npy", array)
        np.testing.assert_array_equal(read_array(str(tmp_path / f"{name}.npy")), array)


def test_a_blank_line_of_a_csv_file_is_a_missing_number(tmp_path):
    (tmp_path / "one.csv").write_text("0.5\n\n0.25\n\n\n", encoding="utf-8")
    np.testing.assert_array_equal(read_array(str(tmp_path / "one.csv")), [[0.5], [np.nan], [0.25]])


@pytest.mark.parametrize("place", [1, 4, D])
@pytest.mark.parametrize("which", ["running numbers", "ids"])
@pytest.mark.parametrize("form", [".csv", ".npy"])
def test_refuses_a_column_of_ids_at_any_place(
    tmp_path: Path, form: str, which: str, place: int
) -> None:
    ids = np.arange(USERS) if which == "running numbers" else USER_IDS
    path = write(tmp_path, "factors", np.insert(USER_FACTORS, place, ids, axis=1), form, None, None)
    known = Known.from_ids("user", USER_IDS)
    with pytest.raises(DataError, match=rf"factors.*: (column {place + 1}|the last column) is "):
        require_numbers_alone(path, read_array(path), known)
    require_numbers_alone(
        path, np.insert(USER_FACTORS, place, RNG.permutation(USERS) + 2000, axis=1), known
    )


def test_takes_scores_that_all_ascend_by_one() -> None:
    require_numbers_alone("scores.npy", np.add.outer(np.arange(USERS), np.arange(ITEMS) * 3))
