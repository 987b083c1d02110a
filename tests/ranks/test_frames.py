"""Columns of ranks from arrays and data frames: what is taken, what is refused, and how messages name the row."""

import numpy as np
import pandas as pd
import pytest
from tables_of_ranks import rank_table, sampled_ranks

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.frames import Columns
from sampled_metrics.ranks.reading import UNNAMED, columns_by_recommender

RANKS = [3, 1, 10]


def frame(**columns):
    return pd.DataFrame(columns)


FORMS = {
    "list": RANKS,
    "tuple": tuple(RANKS),
    "array": np.array(RANKS),
    "small integers": np.array(RANKS, dtype=np.uint8),
    "floats": np.array(RANKS, dtype=np.float32),
    "objects": np.array(RANKS, dtype=object),
    "text": [str(rank) for rank in RANKS],
    "series": pd.Series(RANKS),
    "series with another index": pd.Series(RANKS, index=[9, 0, 4]),
    "nullable integers": pd.Series(RANKS, dtype="Int64"),
    "frame": frame(rank=RANKS),
    "frame with other columns and index": frame(rank=RANKS, note=["a", "b", "c"]).set_index("note", drop=False),
}


class TestRankTable:
    @pytest.mark.parametrize("form", FORMS)
    def test_of_every_form_of_the_same_ranks(self, form):
        table = rank_table(FORMS[form], 10)
        assert (table.above.tolist(), table.tied.tolist()) == ([2, 0, 9], [0, 0, 0])
        assert table.candidates.tolist() == [10, 10, 10]
        assert table.user is None

    @pytest.mark.parametrize(
        ("user", "found"),
        [
            (["x", "y", "z"], ["x", "y", "z"]),
            ([7, 8, 9], [7, 8, 9]),
            (["7", "8", "9"], [7, 8, 9]),
            ([7.0, 8.0, 9.0], [7, 8, 9]),
            (["7", "08", "x"], ["7", "08", "x"]),
        ],
    )
    def test_users_are_the_column_user(self, user, found):
        assert rank_table(frame(rank=RANKS, user=user), 10).user.tolist() == found

    @pytest.mark.parametrize(
        ("ranks", "candidates", "says"),
        [
            (
                RANKS,
                None,
                "lacks the column candidates, how many items an exact evaluation ranks for each user, and it",
            ),
            (RANKS, [10, 20], "candidates must be one number, or one for each of the 3 rows, not 2"),
            (RANKS, 0, "row 1: candidates must be a whole number, 1 or more, not 0"),
            (RANKS, [10, 20, np.nan], "row 3: candidates must be a whole number, 1 or more, not nan"),
            (RANKS, [[10, 20], [30]], "candidates must have one dimension"),
            (RANKS, frame(n=[1, 2, 3]), "candidates must have one dimension"),
            (RANKS, 9, r"^ranks, row 3: rank 10 \(ties included\) is above the number of candidates, 9$"),
            (
                [3, 0, 1],
                10,
                "^ranks, row 2: rank must be a whole number, 1 or more, not 0; zero_based .--zero-based. adds 1",
            ),
            ([3, -4, 1], 10, "row 2: .* not -4"),
            ([1.0, 2.5], 10, "row 2: .* not 2.5"),
            ([1, np.nan], 10, "row 2: .* not nan"),
            ([1, np.inf], 10, "row 2: .* not inf"),
            ([1, None], 10, "row 2: .* not None"),
            (pd.Series([1, pd.NA], dtype="Int64"), 10, "row 2: .* not nan"),
            ([10**30, 1], 10, "row 1: rank must be a whole number"),
            (["one"], 10, "row 1: .* not 'one'"),
            ([True, False], 10, "row 1: .* not True"),
            ([1 + 2j], 10, "row 1: .* not .1.2j."),
            (pd.to_datetime(["2020-01-01"]).to_numpy(), 10, "row 1: rank must be a whole number"),
            ([], 10, "ranks: has no rows"),
            ([[1, 2], [3, 4]], 10, "must have one dimension"),
            ([[1, 2], [3]], 10, "must have one dimension"),
            (5, 10, "must have one dimension"),
            ({1, 2}, 10, "must have one dimension"),
            (frame(place=RANKS), 10, "lacks the column rank .the columns are 'place'."),
            (frame(above=[1]), 10, "lacks the column tied"),
            (frame(tied=[1]), 10, "lacks the column above"),
            (frame(rank=[1], above=[0]), 10, "has both rank and above or tied"),
            (frame(rank=[1], candidates=[5]), 10, "has a column candidates, so candidates must not be given"),
            (frame(above=[-1], tied=[0]), 10, "row 1: above must be a whole number, 0 or more, not -1"),
            (frame(rank=[1, 20], user=["a", "b"]), 10, "^ranks, user 'b': rank 20 .ties included. is above"),
            (
                frame(rank=[1, 2], user_id=["a", "b"], uid=[1, 2]),
                10,
                "several columns for user, 'user_id', 'uid'; call",
            ),
            (frame(rank=[1, 2], user=["a", None]), 10, "user is empty"),
            (pd.DataFrame([[1, 2]], columns=["rank", "rank"]), 10, "has the column 'rank' more than once"),
            (frame(rank=RANKS, negatives=9), 10, "ranks: has a column negatives, so its ranks are sampled ones; "),
        ],
    )
    def test_refuses_and_says_where_and_why(self, ranks, candidates, says):
        with pytest.raises(DataError, match=says) as caught:
            rank_table(ranks, candidates)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("ranks")


class TestSampledRanks:
    def test_numbers_of_each_user_by_argument_or_column(self):
        by_column = sampled_ranks(frame(rank=[1, 3], negatives=[4, 2], candidates=[9, 8]))
        by_argument = sampled_ranks([1, 3], [9, 8], [4, 2])
        for sampled in (by_column, by_argument):
            assert sampled.x.tolist() == [0, 2]
            assert (sampled.negatives.tolist(), sampled.candidates.tolist()) == ([4, 2], [9, 8])
        assert sampled_ranks(frame(rank=[1, 3, 5], user=[4, 2, 9]), 50, 4).user.tolist() == [4, 2, 9]

    @pytest.mark.parametrize(
        ("ranks", "candidates", "negatives", "says"),
        [
            (
                [1],
                None,
                4,
                "lacks the column candidates, how many items an exact evaluation ranks for each user, and it",
            ),
            ([1], 9, None, "lacks the column negatives, how many negatives were sampled for each user, and it is not"),
            ([1, 6], 9, 4, "row 2: rank 6 is not from 1 to 5, among the item and 4 negatives"),
            (frame(rank=[1, 6], user=["a", "b"]), 9, 4, "user 'b': rank 6 is not from 1 to 5"),
            ([0], 9, 4, "row 1: rank must be a whole number, 1 or more, not 0"),
            ([1], 9, -1, "negatives must be a whole number, 0 or more, not -1"),
            ([1], 1, 4, "row 1: 4 negatives cannot be sampled without replacement from 0 .1 candidates."),
            ([1], 9, 2.5, "negatives must be .* not 2.5"),
            ([1], [9, 9], 4, "one for each of the 1 rows, not 2"),
            (frame(x=[1]), 9, 4, "lacks the column rank .the columns are 'x'."),
            (frame(rank=[1], negatives=[4]), 9, 4, "has a column negatives, so negatives must not be given"),
            ([], 9, 4, "has no rows"),
            (
                ExactRanks(*(np.array([each]) for each in (1, 5, 2, 0))),
                None,
                4,
                "is ExactRanks already, which is not read again",
            ),
        ],
    )
    def test_refuses_and_says_where_and_why(self, ranks, candidates, negatives, says):
        with pytest.raises(DataError, match=says):
            sampled_ranks(ranks, candidates, negatives)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"user": [1, 2], "rank": [3, 4]}, [UNNAMED]),
        ({"user_id": ["a", "b"], "position": np.array([3, 4])}, [UNNAMED]),
        ({"above": [2, 3], "tied": (0, 0)}, [UNNAMED]),
        ({"ann": {"film": 0.9}, "bob": {}}, [UNNAMED]),
        ({"old": [1, 2], "new": [3, 4]}, ["old", "new"]),
        ({"ranks": {"rank": [1]}, "others": {"rank": [2]}}, ["ranks", "others"]),
        ({"rank": pd.DataFrame({"rank": [1]}), "new": [2]}, ["rank", "new"]),
    ],
)
def test_a_mapping_has_columns_or_recommenders(given, names):
    columns = columns_by_recommender(given)
    assert ([UNNAMED] if isinstance(columns, Columns) else list(columns)) == names
