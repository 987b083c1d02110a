import numpy as np
import pytest

from sampled_metrics.data.events import EventChunk, Events, binarize
from sampled_metrics.errors import ConfigError, DataError


def chunk(users, items, ratings=None, timestamps=None, held_out=None) -> EventChunk:
    def ids(values):
        return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else np.int64)

    return EventChunk(
        ids(users),
        ids(items),
        None if ratings is None else np.array(ratings, dtype=np.float64),
        None if timestamps is None else np.array(timestamps),
        None if held_out is None else np.array(held_out),
    )


def pairs(events: Events) -> list[tuple]:
    return list(zip(events.user_ids[events.users].tolist(), events.item_ids[events.items].tolist(), strict=True))


class TestNumbers:
    def test_follow_the_order_of_the_ids(self):
        events = binarize([chunk([30, 4], [9, 1]), chunk([100, 4], [5, 9])], 0)
        assert events.user_ids.tolist() == [4, 30, 100]
        assert events.item_ids.tolist() == [1, 5, 9]
        assert events.users.tolist() == [1, 0, 2, 0]
        assert events.items.tolist() == [2, 0, 1, 2]
        assert events.users.dtype == events.items.dtype == np.int32  # half of the memory of 32 million events

    def test_text_of_whole_numbers_is_numbers(self):
        events = binarize([chunk(["10", "9"], ["a", "0"]), chunk(["0"], ["10"])], 0)
        assert events.user_ids.tolist() == [0, 9, 10]
        assert events.user_ids.dtype == np.int64
        assert events.item_ids.tolist() == ["0", "10", "a"]
        assert events.item_ids.dtype.kind == "U"
        assert pairs(events) == [(10, "a"), (9, "0"), (0, "10")]

    @pytest.mark.parametrize("id_", ["01", "", "+1", "-1", "1.0", " 1", "1_0", "²", "1" * 19])
    def test_other_text_leaves_all_text(self, id_):
        assert sorted(binarize([chunk(["1", id_], [1, 1])], 0).user_ids.tolist()) == sorted(["1", id_])


class TestRatings:
    @pytest.mark.parametrize(
        ("min_rating", "kept"), [(4, [(1, 1), (2, 1)]), (4.5, [(2, 1)]), (0, "all"), (-1, [(1, 1), (2, 1), (1, 2)])]
    )
    def test_from_min_rating_up_are_events(self, min_rating, kept):
        chunks = [chunk([1, 2], [1, 1], [4, 5]), chunk([1, 2], [2, 2], [-0.5, -2])]
        assert pairs(binarize(chunks, min_rating)) == ([(1, 1), (2, 1), (1, 2), (2, 2)] if kept == "all" else kept)

    def test_ids_without_an_event_are_not_numbered(self):
        events = binarize([chunk([1, 2], [7, 8], [1, 5])], 3)
        assert (events.user_ids.tolist(), events.item_ids.tolist()) == ([2], [8])

    def test_none_are_needed_to_keep_everything(self):
        assert pairs(binarize([chunk([1, 2], [7, 8])], 0)) == [(1, 7), (2, 8)]

    def test_none_and_min_rating(self):
        with pytest.raises(ConfigError, match=r"^min_rating is 4, but the file has no ratings; it may be 0$"):
            binarize([chunk([1, 2], [7, 8])], 4)

    def test_none_is_high_enough(self):
        with pytest.raises(DataError, match=r"^no event has a rating of 6 \(min_rating\) or more$"):
            binarize([chunk([1, 2], [7, 8], [4, 5])], 6)


class TestRepeatedPairs:
    def test_the_first_is_kept(self):
        events = binarize(
            [chunk([1, 2, 1], [7, 7, 7], timestamps=[5, 6, 1]), chunk([2, 2], [7, 8], timestamps=[0, 2])], 0
        )
        assert pairs(events) == [(1, 7), (2, 7), (2, 8)]
        assert events.timestamps.tolist() == [5, 6, 2]

    def test_the_first_that_is_high_enough_is_kept(self):
        assert binarize([chunk([1, 1], [7, 7], [1, 5], [10, 20])], 4).timestamps.tolist() == [20]


def test_timestamps_may_be_floats_or_none():
    assert binarize([chunk([1], [1], timestamps=[0.5]), chunk([1], [2], timestamps=[3])], 0).timestamps.tolist() == [
        0.5,
        3,
    ]
    assert binarize([chunk([1], [1])], 0).timestamps is None


def test_held_out_events_stay_with_their_pairs():
    events = binarize([chunk([2, 1, 2], [7, 7, 7], held_out=[False] * 3), chunk([1], [8], held_out=[True])], 0)
    assert events.held_out.tolist() == [False, False, True]
    assert pairs(events)[2] == (1, 8)
    assert binarize([chunk([1], [1])], 0).held_out is None
