import numpy as np
import pytest

from sampled_metrics.data.events import Events
from sampled_metrics.data.split import leave_last_out, leave_published_out, read_split, split_events
from sampled_metrics.errors import ConfigError


def events(users, items, timestamps=None, held_out=None, user_ids=(10, 20), item_ids=("a", "b", "c")) -> Events:
    return Events(
        np.array(users),
        np.array(items),
        None if timestamps is None else np.array(timestamps),
        np.array(user_ids),
        np.array(item_ids),
        None if held_out is None else np.array(held_out),
    )


RNG = np.random.default_rng(1)


def test_the_last_event_may_be_told_by_a_fraction_of_a_second():
    halves = events([0, 0, 1, 1], [0, 1, 0, 1], [1.5, 1.25, 1.25, 1.5])
    assert leave_last_out(halves, "first", RNG).item.tolist() == [0, 1]


def test_the_last_event_needs_timestamps():
    with pytest.raises(ConfigError, match=r"^split\.strategy: last-event needs timestamps, .*strategy random-event$"):
        leave_last_out(events([0, 0], [0, 1]), "first", RNG)


class TestReadyMade:
    def test_is_taken_as_it_is(self):
        split = leave_published_out(
            events([1, 0, 0, 0, 1], [2, 1, 0, 2, 0], [1, 9, 9, 0, 0], [False, False, False, True, True])
        )
        assert split.item.tolist() == [2, 0]
        assert split.training.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
        assert split.user_ids.tolist() == [10, 20]
        assert split.training.has_sorted_indices

    def test_needs_a_file_that_says(self):
        with pytest.raises(ConfigError, match=r"^a ready-made split needs a file that says"):
            leave_published_out(events([0, 0], [0, 1], [0, 1]))


def test_text_ids_are_written_and_read(tmp_path):
    split = leave_published_out(
        events([0, 0, 1, 1], [0, 1, 0, 1], None, [True, False, False, True], user_ids=("é", "x y"))
    )
    split.write(tmp_path / "split.npz")
    read = read_split(tmp_path / "split.npz")
    assert read.user_ids.tolist() == ["é", "x y"]
    assert read.item_ids.tolist() == ["a", "b", "c"]
    assert read.item.tolist() == [0, 1]
    assert read.training.toarray().tolist() == split.training.toarray().tolist()


def test_a_file_with_a_split_of_its_own_is_split_as_it_says():
    both = events([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [5, 5, 1, 1, 2], [False, False, True, True, False])
    assert split_events(both, "last-event", "first", RNG).item.tolist() == [2, 0]
    assert split_events(both, "random-event", "first", RNG).item.tolist() == [2, 0]


def test_strategies_by_name():
    one = events([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [5, 5, 1, 1, 2])
    assert split_events(one, "last-event", "first", RNG).item.tolist() == [0, 1]
    assert split_events(one, "last-event", "last", RNG).item.tolist() == [1, 1]
    assert set(split_events(one, "random-event", "last", RNG).item.tolist()) <= {0, 1, 2}
