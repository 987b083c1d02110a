"""What `rank` takes beside scores of users, and what it refuses.

It takes tables of ids, users without an item, and batches. test_by_definition.py has the ranks
themselves.
"""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from made_up_scores import FACTORS, HELD_OUT, ITEMS, RNG, SCORES, TRAINING, USERS
from ranked_by_argsort import by_argsort, rows
from scipy.sparse import csr_array
from strict_device import on_device

from sampled_metrics import rank
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import read_array, read_ids

EXPECTED = by_argsort(SCORES, TRAINING, HELD_OUT)
USER_IDS = np.array([f"u{user}" for user in range(USERS)])
ITEM_IDS = np.arange(ITEMS) * 10 + 7
IDS = {"user_ids": USER_IDS, "item_ids": ITEM_IDS}


def test_held_out_items_that_tie_with_all_candidates_are_counted():
    scores = RNG.random(SCORES.shape)
    assert rank(scores, TRAINING, HELD_OUT).findings == ()
    scores[:5] = 0.5
    [finding] = rank(scores, TRAINING, HELD_OUT).findings
    assert (finding.kind, finding.values["rows"]) == ("all-tied", 5)


@pytest.mark.parametrize(
    ("size", "calls"), [(None, [60]), (1, [1] * 60), (25, [25, 25, 10]), (2**70, [60])]
)
def test_a_function_is_called_with_batches_of_users(size, calls):
    lengths = []

    def scores(users):
        lengths.append(len(SCORES[users]))
        return SCORES[users]

    assert rows(rank(scores, TRAINING, HELD_OUT, batch_size=size)) == EXPECTED
    assert lengths == calls
    with pytest.raises(LookupError) as caught:
        rank(lambda users: {}[users.start], TRAINING, HELD_OUT, batch_size=10)
    assert caught.value.__notes__ == ["scores of the users 0 to 9"]


def test_scores_are_compared_without_rounding_or_refused():
    """In float64 all three large numbers would be the same."""
    large = np.array([[2**60, 2**60 + 1, 2**60 + 2]])
    close = 1 + np.array([[0, 1, 2]]) * np.finfo(np.longdouble).eps
    for scores in (large.tolist(), large.astype(np.uint64) + 2**63, close):
        assert rows(rank(scores, np.zeros((1, 3)), [0])) == [(2, 0)]
    with pytest.raises(DataError, match="1152921504606846977"):
        rank([[0.5, 2**60, 2**60 + 1]], np.zeros((1, 3)), [1])


def test_rows_of_many_items_are_counted():
    assert rows(rank([range(600)], np.zeros((1, 600)), [590])) == [(9, 0)]


def with_candidate(value):
    """The scores with another one of a candidate of user 1."""
    scores = SCORES.copy()
    scores[1, np.setdiff1d(np.flatnonzero(~TRAINING[1]), HELD_OUT[1])[0]] = value
    return scores


def test_of_factors_in_a_file_those_of_other_users_are_not_read(tmp_path):
    """Most of the file, 200 MB of zeros, takes no room on the disk."""
    users = 400_000
    shape = (users, 128)
    factors = np.lib.format.open_memmap(tmp_path / "u.npy", mode="w+", dtype="f4", shape=shape)
    factors[-200:] = RNG.integers(-3, 4, (200, 128))
    mapped = np.load(tmp_path / "u.npy", mmap_mode="r")
    items = RNG.integers(-3, 4, (300, 128)).astype("f4")
    held_out = np.full(users, 7)
    tracemalloc.start()
    table = rank((mapped, items), csr_array((users, 300)), held_out, users=slice(-200, None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # eight bytes for each user several times, and nothing for each factor
    expected = rank((factors[-200:], items), csr_array((200, 300)), held_out[-200:])
    assert rows(table) == rows(expected)


def test_ids_may_begin_with_a_byte_order_mark_and_end_with_empty_lines(tmp_path):
    for content in (b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n\r\n", b"a\nb"):
        (tmp_path / "ids.txt").write_bytes(content)
        assert read_ids(str(tmp_path / "ids.txt")).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("scores", "word"),
    [
        (FACTORS[:1], "two factors"),
        ((FACTORS[0], FACTORS[1][:, :2]), "40, 2"),
        ((FACTORS[0] - np.inf, FACTORS[1]), "finite"),
        ((FACTORS[0][:, :0], FACTORS[1][:, :0]), "dimension"),
        (with_candidate(np.nan), "user 1 "),
        (np.full(SCORES.shape, None), "numbers"),
        ([["a"] * ITEMS] * USERS, "numbers"),
        (lambda users: SCORES[:, :4], "4 items"),
        (lambda users: 0.5, "single number"),
        ((on_device(FACTORS[0]), FACTORS[1]), "one library"),
        (tuple(map(on_device, FACTORS, ("device1", "CPU_DEVICE"))), "one device"),
        (on_device(SCORES + 0j), "complex128"),
    ],
)
def test_refuses_scores(scores, word):
    with pytest.raises(DataError, match=word):
        rank(scores, TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("held_out", TRAINING, "training items"),
        ("held_out", [*HELD_OUT[1:], 2.5], "2.5"),
        ("held_out", [-1] * USERS, "no user"),
        ("held_out", [2], "1 user"),
        ("held_out", on_device(HELD_OUT), "held_out"),
        ("held_out", pd.DataFrame({"user": [0, 1], "item": [1, 40]}), "row 2: item 40"),
        ("user_ids", [1, 2, 3], "user_ids"),
        ("user_ids", [*range(59), 0], "entry 60.*twice"),
        ("user_ids", [*range(59), np.nan], "entry 60.*missing"),
        ("training", np.where(TRAINING, np.nan, 0), "finite"),
        ("training", pd.DataFrame({"user": [0], "item": [None]}), "row 1: item"),
        ("users", [], "no user"),
        ("users", [3, 60], "60"),
        ("users", [2, 9, 2], "twice"),
        ("users", np.arange(USERS) < 9, "bool"),
    ],
)
def test_refuses(name, value, word):
    with pytest.raises(DataError, match=word):
        rank(**{"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | {name: value})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"scores": FACTORS, "batch_size": 4}, "factors"),
        ({"batch_size": 0}, "batch_size"),
        ({"scores": lambda users, items: 0.5}, "staged_ranks"),
    ],
)
def test_refuses_options(changes, word):
    with pytest.raises(ConfigError, match=word):
        rank(**{"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes)


def mixed():
    """The labelled scores in another order."""
    frame = pd.DataFrame(SCORES, index=USER_IDS, columns=ITEM_IDS)
    order = np.random.default_rng(2)
    return frame.iloc[order.permutation(USERS), order.permutation(ITEMS)]


def test_a_csv_file_of_a_matrix_has_labels_or_is_refused(tmp_path, monkeypatch):
    """Without labels, the first line would be users or names, and nobody could know which."""
    monkeypatch.chdir(tmp_path)
    mixed().to_csv("scores.csv", index_label="user")
    assert rows(rank(read_array("scores.csv"), TRAINING, HELD_OUT, **IDS)) == EXPECTED
    for options in ({"header": False, "index": False}, {"index": False}, {}):
        mixed().to_csv("scores.csv", **options)
        with pytest.raises(DataError, match=r"scores\.csv"):
            read_array("scores.csv")
    mixed().rename(columns={ITEM_IDS[1]: ITEM_IDS[0]}).to_csv("scores.csv", index_label="user")
    with pytest.raises(DataError, match="twice"):
        rank(read_array("scores.csv"), TRAINING, HELD_OUT, **IDS)


def test_a_parquet_file_of_a_matrix_has_labels_or_places_or_is_refused(tmp_path):
    """An index that is written as a column would move all items by one."""
    path = tmp_path / "scores.parquet"
    mixed().rename(columns=str).to_parquet(path)
    assert rows(rank(read_array(str(path)), TRAINING, HELD_OUT, **IDS)) == EXPECTED
    with pytest.raises(DataError, match="labels"):
        rank(read_array(str(path)), TRAINING, HELD_OUT)
    places = pd.DataFrame(SCORES)
    places.rename(columns=str).to_parquet(path)
    assert rows(rank(read_array(str(path)), TRAINING, HELD_OUT)) == EXPECTED
    for matrix in (mixed(), places):
        matrix.reset_index().rename(columns=str).to_parquet(path)
        with pytest.raises(DataError):
            rank(read_array(str(path)), TRAINING, HELD_OUT)


def test_a_header_of_more_numbers_than_memory_holds_is_refused(tmp_path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**30},), }}".ljust(117)
    content = header.encode() + b"\n"
    path = tmp_path / "scores.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content)
    with pytest.raises(DataError, match=r"scores\.npy"):
        read_array(str(path))
