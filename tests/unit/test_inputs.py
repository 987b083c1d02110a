"""Ranks in every form that people have them, and every form that they must not have."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.inputs import for_each, paired, rank_table, recommenders, sampled_ranks, whole_numbers
from sampled_metrics.ranks import RankTable

RANKS = [3, 1, 10]


def frame(**columns):
    return pd.DataFrame(columns)


class TestRankTable:
    @pytest.mark.parametrize(
        "ranks",
        [
            RANKS,
            tuple(RANKS),
            np.array(RANKS),
            np.array(RANKS, dtype=np.uint8),
            np.array(RANKS, dtype=np.float32),
            np.array(RANKS, dtype=object),
            pd.Series(RANKS),
            pd.Series(RANKS, dtype="Int64"),
            frame(rank=RANKS),
            frame(rank=RANKS, note=["a", "b", "c"]),
        ],
        ids=str,
    )
    def test_of_every_form_of_the_same_ranks(self, ranks):
        table = rank_table(ranks, 10)
        assert table.above.tolist() == [2, 0, 9]
        assert table.tied.tolist() == [0, 0, 0]
        assert table.candidates.tolist() == [10, 10, 10]

    def test_candidates_of_each_user_or_one_for_all_or_a_column(self):
        assert rank_table(RANKS, [10, 20, 30]).candidates.tolist() == [10, 20, 30]
        assert rank_table(frame(rank=RANKS, candidates=[10, 20, 30]), None).candidates.tolist() == [10, 20, 30]

    def test_ties_count_as_they_stand(self):
        table = rank_table(frame(above=[0, 4], tied=[2, 0], candidates=5), None)
        assert (table.above.tolist(), table.tied.tolist()) == ([0, 4], [2, 0])

    def test_users_are_the_column_or_the_index_or_numbers(self):
        assert rank_table(frame(rank=RANKS, user=["x", "y", "z"]), 10).user.tolist() == ["x", "y", "z"]
        assert rank_table(pd.Series(RANKS, index=[7, 8, 9]), 10).user.tolist() == [7, 8, 9]
        assert rank_table(RANKS, 10).user.tolist() == [1, 2, 3]

    def test_a_rank_table_is_taken_as_it_is(self):
        table = RankTable(np.array([1]), np.array([5]), np.array([2]), np.array([0]))
        assert rank_table(table, None) is table

    @pytest.mark.parametrize(
        ("ranks", "candidates", "says"),
        [
            (RANKS, None, "candidates, how many items were ranked for each user, must be given"),
            (RANKS, [10, 20], "candidates: must be one number, or one for each of the 3 users, not 2"),
            (RANKS, 0, "candidates: entry 1 must be a whole number from 1, not 0"),
            (RANKS, 9, r"user 3: above \(9\) and tied \(0\)"),
            (RANKS, "ten", "candidates: must be whole numbers from 1"),
            (RANKS, np.nan, "candidates: entry 1 must be a whole number from 1, not nan"),
            ([3, 0, 1], 10, "rank: entry 2 must be a whole number from 1, not 0"),
            ([3, -4, 1], 10, "entry 2 .* not -4"),
            ([1.0, 2.5], 10, "entry 2 .* not 2.5"),
            ([1, np.nan], 10, "entry 2 .* not nan"),
            ([1, np.inf], 10, "entry 2 .* not inf"),
            ([1, None], 10, "entry 2 .* not nan"),
            (pd.Series([1, pd.NA], dtype="Int64"), 10, "entry 2|some are no numbers"),
            ([10**30, 1], 10, "entry 1 must be a whole number from 1"),
            (["1", "2"], 10, "rank: must be whole numbers from 1"),
            (["one"], 10, "rank: must be whole numbers from 1"),
            ([True, False], 10, "not bool"),
            ([1 + 2j], 10, "not complex128"),
            (pd.to_datetime(["2020-01-01"]).to_numpy(), 10, "not datetime64"),
            ([], 10, "rank: is empty"),
            ([[1, 2], [3, 4]], 10, "must have one dimension, an entry for each user, not 2"),
            ([[1, 2], [3]], 10, "rank: must be whole numbers"),
            (5, 10, "must have one dimension, an entry for each user, not 0"),
            (None, 10, "must have one dimension"),
            ({1, 2}, 10, "no numbers at all"),
            (frame(position=RANKS), 10, "lacks the column rank, or above and tied .there are 'position'."),
            (frame(above=[1]), 10, "lacks the column rank, or above and tied"),
            (frame(tied=[1]), 10, "lacks the column rank, or above and tied"),
            (frame(rank=[1], above=[0]), 10, "has both rank and above or tied"),
            (frame(rank=[1], candidates=[5]), 10, "has a column candidates"),
            (frame(above=[-1], tied=[0]), 10, "above: entry 1 must be a whole number from 0"),
            (frame(rank=pd.Series([], dtype=int)), 10, "rank: is empty"),
            (pd.DataFrame([[1, 2]], columns=["rank", "rank"]), 10, "one dimension"),
            (RankTable(*(np.array([each]) for each in (1, 5, 2, 0))), 5, "has its own candidates"),
        ],
    )
    def test_refuses_and_says_why(self, ranks, candidates, says):
        with pytest.raises(DataError, match=says) as caught:
            rank_table(ranks, candidates)
        assert "\n" not in str(caught.value)


class TestSampledRanks:
    @pytest.mark.parametrize(
        "ranks",
        [[1, 3, 5], pd.Series([1, 3, 5], index=[4, 2, 9]), frame(rank=[1, 3, 5], user=[4, 2, 9])],
        ids=["list", "series", "frame"],
    )
    def test_counts_the_negatives_above(self, ranks):
        sampled = sampled_ranks(ranks, 50, 4)
        assert sampled.x.tolist() == [0, 2, 4]
        assert sampled.negatives.tolist() == [4, 4, 4]
        assert sampled.candidates.tolist() == [50, 50, 50]
        assert (None if isinstance(ranks, list) else [4, 2, 9]) == (
            None if sampled.users is None else sampled.users.tolist()
        )

    def test_numbers_of_each_user_by_argument_or_column(self):
        by_column = sampled_ranks(frame(rank=[1, 3], negatives=[4, 2], candidates=[9, 8]), None, None)
        by_argument = sampled_ranks([1, 3], [9, 8], [4, 2])
        for one in (by_column, by_argument):
            assert (one.negatives.tolist(), one.candidates.tolist()) == ([4, 2], [9, 8])

    @pytest.mark.parametrize(
        ("ranks", "candidates", "negatives", "says"),
        [
            ([1], None, 4, "candidates, how many items would have been ranked for each user, must be given"),
            ([1], 9, None, "negatives, how many were sampled for each user, must be given"),
            ([1, 6], 9, 4, "entry 2 is rank 6, beyond the 5 of the item and its 4 negatives"),
            ([0], 9, 4, "rank: entry 1 must be a whole number from 1, not 0"),
            ([1], 9, 0, "negatives: entry 1 must be a whole number from 1, not 0"),
            ([1], 1, 4, "candidates: entry 1 must be a whole number from 2, not 1"),
            ([1], 9, 2.5, "negatives: entry 1 .* not 2.5"),
            ([1], [9, 9], 4, "one for each of the 1 users, not 2"),
            (frame(x=[1]), 9, 4, "lacks the column rank .there are 'x'."),
            (frame(rank=[1], negatives=[4]), 9, 4, "has a column negatives, so that negatives must not be given"),
            (frame(rank=[1], candidates=[9]), 9, 4, "has a column candidates"),
            ([], 9, 4, "is empty"),
        ],
    )
    def test_refuses_and_says_why(self, ranks, candidates, negatives, says):
        with pytest.raises(DataError, match=says):
            sampled_ranks(ranks, candidates, negatives)


class TestPaired:
    def test_finds_users_wherever_they_are(self):
        order = paired(["a", "b", "c"], ["c", "a", "b"], ("A", "B"))
        assert order.tolist() == [1, 2, 0]

    @pytest.mark.parametrize("kind", [np.int64, np.int32, np.str_])
    def test_names_users_as_people_write_them(self, kind):
        one, two, three = (kind(each) for each in (1, 2, 3))
        shown = repr(two.item())
        with pytest.raises(DataError, match=f"^B: user {shown} is there twice$"):
            paired(np.array([one, two]), np.array([two, two]), ("A", "B"))
        with pytest.raises(DataError, match=f"2 are in one alone, for instance {shown}$"):
            paired(np.array([one, two]), np.array([one, three]), ("A", "B"))

    def test_refuses_a_part_and_users_of_another_kind(self):
        with pytest.raises(DataError, match="A and B must have the same users to be compared: 1 are in one alone"):
            paired([1, 2], [1], ("A", "B"))
        with pytest.raises(DataError, match="must have the same users"):
            paired(np.array([1, 2]), np.array(["1", "2"]), ("A", "B"))


def test_recommenders_by_name_or_one_alone():
    tables = recommenders({"X": [1, 2], "Y": frame(rank=[3, 1])}, 5)
    assert list(tables) == ["X", "Y"]
    assert tables["Y"].above.tolist() == [2, 0]
    assert list(recommenders([1, 2], 5)) == ["ranks"]
    with pytest.raises(DataError, match="there are no ranks"):
        recommenders({}, 5)
    with pytest.raises(DataError, match=r"^Y: rank"):
        recommenders({"X": [1], "Y": [0]}, 5)


def test_whole_numbers_up_to_where_floats_stop_being_exact():
    assert whole_numbers([2**53 - 1], "n", 0).tolist() == [2**53 - 1]
    with pytest.raises(DataError, match="n: entry 1"):
        whole_numbers([2**53], "n", 0)


def test_for_each_gives_an_array_of_its_own():
    given = np.array([1, 2])
    mine = for_each(given, 2, "n", 1)
    mine[0] = 9
    assert given.tolist() == [1, 2]
    assert for_each(7, 3, "n", 1).tolist() == [7, 7, 7]
