"""Ranks in every form that people have them, and every form that they must not have."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import (
    for_each,
    in_order_of_ranks,
    paired,
    places_of_users,
    rank_table,
    recommenders,
    refuse_cut_rows,
    sampled_ranks,
    whole_numbers,
)
from sampled_metrics.ranks.table import RankTable

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

    @pytest.mark.parametrize(
        ("ranks", "users"),
        [
            (RANKS, None),
            (pd.Series(RANKS), None),
            (frame(rank=RANKS), None),
            (pd.Series([0, *RANKS])[1:], [1, 2, 3]),
            (pd.Series(RANKS)[::-1], [2, 1, 0]),
            (pd.Series([1, 0, 2, 0, 3])[::2], [0, 2, 4]),
            (pd.Series(RANKS, index=[0, 1, 2]), [0, 1, 2]),
            (frame(rank=[0, *RANKS])[1:], [1, 2, 3]),
            (frame(rank=[0, *RANKS], user=list("wxyz"))[1:], ["x", "y", "z"]),
        ],
    )
    def test_only_an_index_that_numbers_all_rows_from_0_says_no_users(self, ranks, users):
        of_exact = rank_table(ranks, 10)
        of_sample = sampled_ranks(ranks, 20, 10)
        for table in (of_exact, of_sample):
            assert (None if table.named_users is None else table.named_users.tolist()) == users
        assert of_exact.user.tolist() == (users or [1, 2, 3])

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
            (pd.DataFrame([[1, 2]], columns=["rank", "rank"]), 10, "has the column 'rank' more than once"),
            (pd.DataFrame([[1, 2, 3]], columns=["user", "user", "rank"]), 10, "has the column 'user' more than once"),
            (frame(rank=RANKS, negatives=9), 10, "ranks: has a column negatives, so that its ranks are sampled ones; "),
            (frame(above=[1], tied=[0], negatives=[9], candidates=[10]), None, "`correct` takes those, or remove the"),
            (RANKS, [[10, 20], [30]], "candidates: must be whole numbers from 1"),
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
            None if sampled.named_users is None else sampled.named_users.tolist()
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
            (pd.DataFrame([[1, 2, 3]], columns=["user", "user", "rank"]), 9, 4, "has the column 'user' more than once"),
            (RankTable(*(np.array([each]) for each in (1, 5, 2, 0))), None, 4, "is a rank table, which holds exact"),
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
        with pytest.raises(DataError, match=rf"^B: user {shown} is there twice$"):
            paired(np.array([one, two]), np.array([two, two]), ("A", "B"))
        with pytest.raises(DataError, match=f"2 are in one alone, for instance {shown}$"):
            paired(np.array([one, two]), np.array([one, three]), ("A", "B"))

    def test_refuses_a_part_and_users_of_another_kind(self):
        with pytest.raises(DataError, match="A and B must have the same users to be compared: 1 are in one alone"):
            paired([1, 2], [1], ("A", "B"))
        with pytest.raises(DataError, match="must have the same users"):
            paired(np.array([1, 2]), np.array(["1", "2"]), ("A", "B"))


class TestPlacesOfUsers:
    A, B = pd.Series([1, 5, 3], index=["c", "b", "a"]), pd.Series([2, 4, 6], index=["a", "b", "c"])

    @pytest.mark.parametrize(
        ("one", "other", "places"),
        [
            (A, B, [2, 1, 0]),
            (A, B.to_numpy(), [0, 1, 2]),
            (A.to_numpy(), B, [0, 1, 2]),
            (pd.Series([1, 5, 3], index=[3, 2, 1]), [2, 4, 6], [0, 1, 2]),
            (frame(rank=[1, 5, 3], user=[3, 2, 1]), frame(rank=[2, 4, 6]), [0, 1, 2]),
            (pd.Series([1, 5, 3])[::-1], pd.Series([2, 4, 6], index=[0, 1, 2]), [2, 1, 0]),
        ],
    )
    def test_are_by_user_where_both_have_them_and_by_order_where_not(self, one, other, places):
        exact = [rank_table(each, 10) for each in (one, other)]
        sampled = [sampled_ranks(each, 20, 10) for each in (one, other)]
        for pair in (exact, sampled):
            assert places_of_users(*pair, ("A", "B")).tolist() == places

    def test_refuses_other_candidates_of_a_user_and_names_the_user(self):
        def refused(one, other):
            with pytest.raises(DataError) as caught:
                places_of_users(one, other, ("A", "B"))
            return str(caught.value)

        says = "has 20 candidates in A and 30 in B; to be compared they must have ranked the same items"
        n = pd.Series([10, 20, 10], index=["c", "b", "a"]), pd.Series([10, 30, 10], index=["a", "b", "c"])
        for make in (rank_table, lambda ranks, n: sampled_ranks(ranks, n, 9)):
            one, other = make(self.A, n[0]), make(self.B, n[1])
            assert refused(one, other) == f"user 'b' {says}"
            assert refused(make(self.A.to_numpy(), n[0].to_numpy()), other) == f"user 'b' {says}"
            by_order = [make(ranks.to_numpy(), each.to_numpy()) for ranks, each in ((self.A, n[0]), (self.B, n[1]))]
            assert refused(*by_order) == f"user 2 {says}"

    def test_refuses_another_number_of_users(self):
        with pytest.raises(DataError, match=r"^A has 2 users and B 3; to be compared they must have the same users$"):
            places_of_users(rank_table([1, 2], 10), rank_table(self.B, 10), ("A", "B"))


class TestCutRows:
    ROWS = pd.Series([3, 1, 4, 1, 5])

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (ROWS[1:], ROWS[:-1]),
            (ROWS[::-1], ROWS),
            (ROWS, ROWS.sample(frac=1, random_state=1)),
            (ROWS[:3], ROWS[::2]),
            (ROWS.to_frame("rank")[1:], ROWS[:-1]),
        ],
    )
    def test_are_refused_beside_row_numbers(self, one, other):
        for pair in ((one, other), (other, one)):
            with pytest.raises(DataError, match=r"^A and B: the index of one numbers its rows from 0, and that of the"):
                refuse_cut_rows(*pair, ("A", "B"))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (ROWS, ROWS),
            (ROWS[:-1], ROWS[:-1]),
            (ROWS[1:], ROWS[:-1].to_numpy()),
            (ROWS[1:], ROWS[:-1].to_frame("rank").assign(user=list("abcd"))),
            (ROWS[1:], ROWS[::-1]),  # by their labels
            (ROWS, pd.Series(ROWS.to_numpy(), index=list("abcde"))),
            (ROWS, pd.Series(ROWS.to_numpy(), index=[0, 1, 2, 3, 4])),
        ],
    )
    def test_are_not_what_these_are(self, one, other):
        refuse_cut_rows(one, other, ("A", "B"))
        refuse_cut_rows(other, one, ("A", "B"))


class TestInOrderOfRanks:
    N = pd.Series([30, 10, 20], index=["c", "a", "b"])
    RANKS = pd.Series([1, 2, 3], index=["a", "b", "c"])

    @pytest.mark.parametrize(
        "ranks",
        [RANKS, RANKS.to_frame("rank"), frame(rank=[1, 2, 3], user=["a", "b", "c"])],
        ids=["series", "index", "user"],
    )
    def test_a_series_is_matched_by_its_index(self, ranks):
        assert rank_table(ranks, self.N).candidates.tolist() == [10, 20, 30]
        assert sampled_ranks(ranks, 99, self.N).negatives.tolist() == [10, 20, 30]
        assert sampled_ranks(ranks, self.N, 5).candidates.tolist() == [10, 20, 30]

    def test_by_order_where_either_says_no_users(self):
        assert rank_table([1, 2, 3], self.N).candidates.tolist() == [30, 10, 20]
        assert rank_table(pd.Series([1, 2, 3]), self.N).candidates.tolist() == [30, 10, 20]
        for n in ([30, 10, 20], self.N.to_numpy(), pd.Series([30, 10, 20])):
            assert rank_table(self.RANKS, n).candidates.tolist() == [30, 10, 20]

    def test_rows_of_the_same_frame_are_matched_with_them(self):
        """A column of a frame that was sorted has the frame's index, whatever its column user is."""
        table = frame(rank=[5, 3, 4], user=["x", "y", "z"], n=[9, 8, 7]).sort_values("rank")
        assert rank_table(table[["user", "rank"]], table["n"]).candidates.tolist() == [8, 7, 9]
        assert in_order_of_ranks(table["n"].sort_values(), table, "n").tolist() == [8, 7, 9]

    @pytest.mark.parametrize("user", [{}, {"user": ["x", "y", "z"]}], ids=["no users", "users"])
    def test_row_numbers_beside_rows_that_were_cut_out_or_shuffled_are_refused(self, user):
        n = pd.Series([9, 8, 7])
        for ranks in (frame(rank=[5, 3, 4], **user).sort_values("rank"), frame(rank=[5, 3, 4], **user)[::-1]):
            with pytest.raises(DataError, match=r"^ranks: candidates: the index of these, or that of the ranks, "):
                rank_table(ranks, n)
            assert rank_table(ranks, pd.Series([9])).candidates.tolist() == [9, 9, 9]
        with pytest.raises(DataError, match=r"in another order or range|must have the users"):
            rank_table(frame(rank=[5, 3, 4], **user), n[::-1])

    def test_users_who_are_there_twice_are_matched_where_the_index_is_equal(self):
        ranks = pd.Series([1, 2], index=["a", "a"])
        assert rank_table(ranks, pd.Series([10, 20], index=["a", "a"])).candidates.tolist() == [10, 20]
        with pytest.raises(DataError, match="the index must have the users of the ranks, each once"):
            rank_table(ranks, pd.Series([10, 20], index=["a", "b"]))

    @pytest.mark.parametrize("index", [["a", "b", "d"], ["a", "b", "b"], ["a", "b", "c", "d"], [1, 2, 3], ["a"]])
    def test_other_labels_are_refused(self, index):
        with pytest.raises(DataError, match=r"^ranks: candidates: the index must have the users of the ranks"):
            rank_table(self.RANKS, pd.Series(50, index=index))

    def test_labels_that_may_be_rows_or_users_are_refused(self):
        table = pd.DataFrame({"rank": [1, 2, 3], "user": [0, 1, 2]}, index=[1, 2, 0])
        with pytest.raises(
            DataError, match="the labels of the ranks and those of their column user, in different orders"
        ):
            rank_table(table, pd.Series([10, 20, 30], index=[1, 2, 0]))


def test_recommenders_by_name_or_one_alone():
    tables = recommenders({"X": [1, 2], "Y": frame(rank=[3, 1])}, 5)
    assert list(tables) == ["X", "Y"]
    assert tables["Y"].above.tolist() == [2, 0]
    assert list(recommenders([1, 2], 5)) == ["ranks"]
    with pytest.raises(DataError, match="there are no ranks"):
        recommenders({}, 5)
    with pytest.raises(DataError, match=r"^Y: rank"):
        recommenders({"X": [1], "Y": [0]}, 5)
    with pytest.raises(DataError, match=r"^ranks: two recommenders are called '1'; give each a name of its own$"):
        recommenders({1: [1], "1": [2]}, 5)


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
