"""Files of staged ranks give what was written, and a damaged file is refused."""

import numpy as np
import pandas as pd
import pytest
from damaged_files import require_that_damage_is_refused
from same_tables import assert_same

import sampled_metrics as sm

RNG = np.random.default_rng(2)
SCORES = RNG.normal(size=(60, 90)).round(1)
USERS = [f"u{number}" for number in range(60)]
ITEMS = [f"i{number}" for number in range(90)]


@pytest.fixture(scope="module")
def ranks():
    scores = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)
    return sm.staged_ranks(
        lambda users, items: [scores.at[pair] for pair in zip(users, items, strict=True)],
        pd.DataFrame({"user": ["u1"], "item": ["i80"]}),
        pd.DataFrame({"user": USERS, "item": ITEMS[:60]}),
        **{"k": 5, "depth": 20, "user_ids": USERS, "item_ids": ITEMS},
    )


def test_give_what_was_written(ranks, tmp_path):
    ranks.write(tmp_path / "x.npz")
    assert_same(sm.StagedRanks.read(tmp_path / "x.npz"), ranks)
    assert_same(sm.read_ranks(tmp_path / "x.npz"), ranks)


def test_a_damaged_file_is_refused_or_gives_what_was_written(ranks, tmp_path):
    ranks.write(tmp_path / "x.npz")
    read = []

    def read_and_compared(path):
        table = sm.StagedRanks.read(path)
        assert_same(table, ranks)
        read.append(table)

    require_that_damage_is_refused(tmp_path / "x.npz", read_and_compared)
    assert len(read) < 30  # of 120: bits that mean nothing, such as those of a date


def test_a_shorter_length_in_the_head_of_an_array_is_refused(ranks, tmp_path):
    """A reader of 40 rows would not reach the end, where the checksum is compared."""
    ranks.write(tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    assert b"'shape': (60,)" in content
    (tmp_path / "x.npz").write_bytes(content.replace(b"'shape': (60,)", b"'shape': (40,)"))
    with pytest.raises(sm.DataError, match="damaged"):
        sm.StagedRanks.read(tmp_path / "x.npz")


def test_other_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", user=np.arange(3))
    with pytest.raises(sm.DataError, match="lacks"):
        sm.StagedRanks.read(tmp_path / "x.npz")
    for read in (sm.read_ranks, sm.exact_ranks):
        with pytest.raises(sm.DataError, match=r"x\.npz"):
            read(tmp_path / "x.npz")


def test_are_never_read_as_another_kind(ranks, tmp_path):
    ranks.write(tmp_path / "x.npz")
    frame = ranks.to_frame()
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv", index=False)
    files = [tmp_path / name for name in ("x.npz", "x.parquet", "x.csv")]
    for table in (*files, frame):
        for reader in (sm.exact_ranks, lambda table: sm.sampled_ranks(table, negatives=9)):
            with pytest.raises(sm.DataError, match="staged"):
                reader(table)


@pytest.mark.parametrize("ids", [[2**127, 1, 2], [0.5, 1.5, 2.5], [b"a", b"b", b"c"]], ids=repr)
def test_ids_of_any_type_are_the_same_users_from_a_file(ids, tmp_path):
    ranker = sm.Ranker(lambda users, items: np.ones(len(users)), name="A")
    arguments = (ranker, np.zeros((3, 3)), [0, 1, 2])
    options = {"user_ids": ids, "k": 1, "depth": None, "file": tmp_path / "x.npz"}
    ranks = sm.staged_ranks(*arguments, **options)
    from_file = sm.StagedRanks.read(tmp_path / "x.npz")
    assert sm.compare({"a": ranks, "b": from_file}, metrics="recall@1")["users"].item() == 3
    with pytest.warns(UserWarning, match="reads"):
        sm.staged_ranks(*arguments, **options)
