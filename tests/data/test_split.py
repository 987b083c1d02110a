"""Holding the last event of every user out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data import split as splits
from sampled_metrics.data.events import Events
from sampled_metrics.data.split import Split, leave_random_out, leave_users_out, read_shape, read_split
from sampled_metrics.errors import ConfigError, DataError


def leave_last_out(events, ties):
    return splits.leave_last_out(events, ties, np.random.default_rng(1))


def events_of(rows, users=None, items=None):
    """Rows of (user, item, timestamp), numbered from 0; ids are 10 × and 100 × the numbers."""
    user, item, timestamp = np.array(rows, dtype=np.int64).T
    return Events(
        user,
        item,
        timestamp,
        10 * np.arange(users or user.max() + 1),
        100 * np.arange(items or item.max() + 1),
    )


def training_pairs(split):
    users, items = split.training.nonzero()
    return set(zip(split.user_ids[users].tolist(), split.item_ids[items].tolist(), strict=True))


class TestHoldLastOut:
    ROWS = ((0, 2, 5), (1, 0, 7), (0, 1, 9), (1, 2, 3), (0, 0, 1))

    def test_the_latest_event_is_held_out_and_the_others_train(self):
        split = leave_last_out(events_of(self.ROWS), "first")
        assert split.item.tolist() == [1, 0]
        assert split.training.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]
        assert split.user_ids.tolist() == [0, 10]
        assert split.item_ids.tolist() == [0, 100, 200]

    @pytest.mark.parametrize(("ties", "held_out"), [("first", [3, 1]), ("last", [0, 2])])
    def test_of_several_latest_events_the_order_in_the_file_decides(self, ties, held_out):
        rows = [(0, 1, 2), (1, 1, 4), (0, 3, 9), (0, 2, 9), (1, 2, 4), (0, 0, 9), (0, 4, 8)]
        split = leave_last_out(events_of(rows), ties)
        assert split.item.tolist() == held_out
        assert split.training.nnz == 5

    def test_a_user_with_a_single_event_is_left_out(self):
        rows = [(0, 0, 1), (1, 3, 1), (2, 1, 1), (2, 2, 2)]
        split = leave_last_out(events_of(rows), "first")
        assert split.user_ids.tolist() == [20]
        assert split.item.tolist() == [2]
        assert split.training.toarray().tolist() == [[0, 1, 0, 0]]
        assert split.item_ids.tolist() == [0, 100, 200, 300]  # its item stays a candidate

    def test_refuses_if_every_user_has_a_single_event(self):
        with pytest.raises(DataError, match="none of the 3 users has an event to train on and one to hold out"):
            leave_last_out(events_of([(0, 0, 1), (1, 0, 1), (2, 1, 1)]), "first")

    def test_refuses_an_unknown_tie_rule(self):
        with pytest.raises(ConfigError, match="unknown tie rule 'middle'; it may be first, last, random"):
            leave_last_out(events_of(self.ROWS), "middle")

    def test_candidates_are_all_items_less_the_users_training_items(self):
        rows = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2)]
        assert leave_last_out(events_of(rows, items=6), "first").candidates.tolist() == [4, 5]


pairs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(0, 4)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@given(pairs, st.sampled_from(["first", "last"]))
def test_training_and_held_out_are_the_events(rows, ties):
    # users are numbered without gaps
    numbers = {user: number for number, user in enumerate(sorted({user for user, _, _ in rows}))}
    rows = [(numbers[user], item, timestamp) for user, item, timestamp in rows]
    of_user = {user: [row for row in rows if row[0] == user] for user in numbers.values()}
    enough = {user for user, own in of_user.items() if len(own) > 1}
    if not enough:
        with pytest.raises(DataError):
            leave_last_out(events_of(rows, items=7), ties)
        return
    split = leave_last_out(events_of(rows, items=7), ties)
    held_out = set(zip(split.user_ids.tolist(), split.item_ids[split.item].tolist(), strict=True))
    train = training_pairs(split)
    assert split.user_ids.tolist() == [10 * user for user in sorted(enough)]
    assert len(held_out) == len(enough)
    assert not held_out & train
    assert held_out | train == {(10 * user, 100 * item) for user, item, _ in rows if user in enough}
    assert set(split.training.data.tolist()) <= {1.0}
    for user, item in held_out:
        own = of_user[user // 10]
        latest = [row[1] for row in own if row[2] == max(each[2] for each in own)]
        assert item // 100 == (latest[0] if ties == "first" else latest[-1])
    assert split.candidates.tolist() == [7 - (len(of_user[user]) - 1) for user in sorted(enough)]


class TestFile:
    SPLIT = leave_last_out(events_of([(0, 2, 5), (1, 0, 7), (0, 1, 9), (1, 2, 3), (0, 0, 1), (2, 3, 1)]), "first")

    def test_gives_back_what_was_written(self, tmp_path):
        self.SPLIT.write(tmp_path / "split.npz")
        again = read_split(tmp_path / "split.npz")
        assert read_shape(tmp_path / "split.npz") == again.shape == (2, 4, 3)  # users, items, events
        assert isinstance(again, Split)
        assert (again.training.toarray() == self.SPLIT.training.toarray()).all()
        for name in ("user", "item", "user_ids", "item_ids", "candidates"):
            assert getattr(again, name).tolist() == getattr(self.SPLIT, name).tolist()

    def test_indices_take_32_bits(self, tmp_path):
        self.SPLIT.write(tmp_path / "split.npz")
        training = read_split(tmp_path / "split.npz").training
        assert training.indices.dtype == training.indptr.dtype == np.int32
        assert training.has_canonical_format

    def test_is_the_same_bytes_twice(self, tmp_path):
        for path in (tmp_path / "1.npz", tmp_path / "2.npz"):
            self.SPLIT.write(path)
        assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_random_ties_hold_out_each_of_the_latest_events_alike():
    events = events_of([(0, 0, 1), (0, 1, 9), (0, 2, 9), (0, 3, 9)])
    rng = np.random.default_rng(3)
    counts = np.bincount([splits.leave_last_out(events, "random", rng).item[0] for _ in range(1500)], minlength=4)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 500).max() < 4 * np.sqrt(1500 * 2 / 9)


def test_a_random_event_is_each_of_the_users_alike_and_needs_no_time():
    rows = events_of([(0, 0, 1), (1, 2, 5), (0, 1, 9), (0, 2, 9), (1, 3, 1), (2, 0, 1)])
    events = Events(rows.users, rows.items, None, rows.user_ids, rows.item_ids)
    rng = np.random.default_rng(4)
    found = np.array([leave_random_out(events, rng).item for _ in range(1500)])
    assert found.shape == (1500, 2)  # the third user has a single event
    assert np.abs(np.bincount(found[:, 0], minlength=3) - 500).max() < 4 * np.sqrt(1500 * 2 / 9)
    assert np.abs(np.bincount(found[:, 1], minlength=4)[2:] - 750).max() < 4 * np.sqrt(1500 / 4)
    again = leave_random_out(events, np.random.default_rng(5)), leave_random_out(events, np.random.default_rng(5))
    assert again[0].item.tolist() == again[1].item.tolist()


class TestCounts:
    EVENTS = events_of([(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2), (2, 3, 1)])

    def test_add_up_to_the_events(self):
        split = splits.split_events(self.EVENTS, "last-event", "first", np.random.default_rng(1))
        assert split.training.nnz + split.held_out.nnz + 1 == len(self.EVENTS)

    def test_that_do_not_are_refused(self, monkeypatch):
        whole = splits.leave_last_out(self.EVENTS, "first", np.random.default_rng(1))
        dense = whole.training.toarray()
        dense[0, 0] = 0  # a training event is lost
        loses = Split(type(whole.training)(dense), whole.held_out, whole.user_ids, whole.item_ids)
        monkeypatch.setattr(splits, "leave_last_out", lambda events, ties, rng, held_out: loses)
        says = "2 training events, 2 held out and 1 of users that are left out, which are not the 6 events"
        with pytest.raises(DataError, match=says):
            splits.split_events(self.EVENTS, "last-event", "first", np.random.default_rng(1))

    @pytest.mark.parametrize(
        ("held_out", "says"),
        [
            (one_each([2], 4), r"held_out has shape \(1, 4\)"),
            (one_each([2, 4], 5), r"held_out has shape \(2, 5\)"),
            (one_each([1, 1], 4), "user 0: the held-out item is one of the user's training items"),
            (csr_array(([1, 1], [2, 2], [0, 2, 2]), shape=(2, 4)), "a user's held-out items are repeated"),
        ],
    )
    def test_a_held_out_item_that_cannot_be_is_refused(self, held_out, says):
        split = splits.leave_last_out(self.EVENTS, "first", np.random.default_rng(1))
        with pytest.raises(DataError, match=says):
            Split(split.training, held_out, split.user_ids, split.item_ids)


class TestMinTrainingEvents:
    # training events: 2 of user 0, 1 of user 10, 3 of user 20
    ROWS = ((0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2), *((2, item, item) for item in range(4)))
    SPLIT = leave_last_out(events_of(ROWS, items=6), "first")

    @pytest.mark.parametrize(("least", "users"), [(1, [0, 10, 20]), (2, [0, 20]), (3, [20])])
    def test_users_with_fewer_are_left_out(self, least, users):
        found = leave_users_out(self.SPLIT, least)
        assert found.user_ids.tolist() == users
        assert training_pairs(found) == {pair for pair in training_pairs(self.SPLIT) if pair[0] in users}
        assert found.item.tolist() == [{0: 2, 10: 1, 20: 3}[user] for user in users]
        assert found.item_ids.tolist() == self.SPLIT.item_ids.tolist()  # all stay candidates

    def test_refuses_if_no_user_has_so_many(self):
        with pytest.raises(DataError, match=r"^no user has 4 \(split.min_training_events\) training events or more$"):
            leave_users_out(self.SPLIT, 4)
