"""Pairing of users, and the refusal of recommenders that did not rank the same held-out items."""

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks, read_rank_tables, require_same_events
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.ranks.table import pair_users


def table(users: list | None, candidates: list[int]) -> ExactRanks:
    zeros = np.zeros(len(candidates), dtype=np.int64)
    return ExactRanks(None if users is None else np.array(users), np.array(candidates), zeros, zeros)


def sampled(users: list | None, candidates: list[int]) -> SampledRanks:
    return SampledRanks(0, 3, candidates, user=None if users is None else np.array(users))


NAMED = table(["ada", "ben", "cleo"], [7, 8, 9])


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (table(["ada", "ben"], [7, 8]), "A and B must have the same users to be compared: 1 are in one of them"),
        (
            table(["ada", "ben", "dan"], [7, 8, 9]),
            "A and B must have the same users to be compared: 2 are in one of them only",
        ),
        (table(["ada", "cleo", "ben"], [7, 8, 9]), "user 'ben' has 8 candidates in A and 9 in B; to be compared"),
        (
            table([1, 2, 3], [7, 8, 8]),
            "3 users with 7 to 9 candidates, 24 in all and 3 users with 7 to 8 .*, 23 in all",
        ),
        (table([1, 2], [7, 8]), "they have 3 users with .* and 2 users with"),
    ],
)
def test_others_are_refused(other: ExactRanks, says: str) -> None:
    with pytest.raises(DataError, match=says):
        require_same_events({"A": NAMED, "B": other})


@pytest.mark.parametrize("make", [table, sampled])
class TestPairUsers:
    @pytest.mark.parametrize(
        ("one", "other", "says"),
        [
            (
                (["a", "b"], [9, 9]),
                (["a", "c"], [9, 9]),
                "2 are in one of them only, for instance 'b' of A and 'c' of",
            ),
            (([1, 2], [9, 9]), ([1, 3], [9, 9]), "2 are in one of them only, for instance 2 of A and 3 of B$"),
            ((["a"], [9]), (["a", "c"], [9, 9]), "1 are in one of them only, for instance 'c' of B$"),
            ((None, [9]), (None, [9, 9]), "^A has 1 users and B 2; to be compared they must have the same users$"),
            ((["a", "b"], [9, 9]), (["b", "a"], [9, 8]), "^user 'a' has 9 candidates in A and 8 in B; to be compared"),
            ((None, [9, 9]), (["b", "a"], [9, 8]), "^user 'a' has 9 candidates in A and 8 in B"),
            ((None, [9, 9]), (None, [9, 8]), "^row 2 has 9 candidates in A and 8 in B"),
            (
                (["a", "b", "a"], [9] * 3),
                (["a", "b", "b"], [9] * 3),
                "^user 'a' has 2 rows in A and 1 in B; to be comp",
            ),
            ((["a", "b", "a"], [9] * 3), (["a", "b"], [9] * 2), "^user 'a' has 2 rows in A and 1 in B; to be compared"),
            ((["a", "b", "a"], [9, 9, 7]), (["b", "a", "a"], [9, 9, 8]), "^user 'a' has 7 candidates in A and 8 in B"),
        ],
    )
    def test_refuses_other_users_and_other_candidates(self, make, one, other, says) -> None:
        with pytest.raises(DataError, match=says):
            pair_users(make(*one), make(*other), ("A", "B"))


def test_a_study_refuses_users_with_more_rows_in_one_table(tmp_path) -> None:
    paths = tmp_path / "A.csv", tmp_path / "B.csv"
    table(["ada", "ben"], [7, 8]).write(paths[0])
    table(["ada", "ada", "ben"], [7, 7, 8]).write(paths[1])
    with pytest.raises(DataError, match=r"^user 'ada' has 1 rows in A and 2 in B; to be compared"):
        read_rank_tables(["A", "B"], paths)
