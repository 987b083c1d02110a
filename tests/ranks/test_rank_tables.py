"""Only recommenders that rank the same held-out items among as many candidates are compared."""

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.rank_tables import require_same_events
from sampled_metrics.ranks.table import RankTable


def table(users: list, candidates: list[int]) -> RankTable:
    zeros = np.zeros(len(users), dtype=np.int64)
    return RankTable(np.array(users), np.array(candidates), zeros, zeros)


NAMED = table(["ada", "ben", "cleo"], [7, 8, 9])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(table(["cleo", "ada", "ben"], [9, 7, 8]), id="in another order"),
        pytest.param(table([1, 2, 3], [8, 7, 9]), id="numbered, in another order"),
    ],
)
def test_the_same_users_among_as_many_candidates_may_be_compared(other: RankTable) -> None:
    require_same_events({"A": NAMED, "B": other})
    require_same_events({"B": other, "A": NAMED})


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (table(["ada", "ben"], [7, 8]), "A and B must have the same users to be compared: 1 are in one alone, for"),
        (
            table(["ada", "ben", "dan"], [7, 8, 9]),
            "A and B must have the same users to be compared: 2 are in one alone",
        ),
        (table(["ada", "cleo", "ben"], [7, 8, 9]), "user 'ben' has 8 candidates in A and 9 in B; to be compared"),
        (
            table([1, 2, 3], [7, 8, 8]),
            "3 users with 7 to 9 candidates, 24 in all and 3 users with 7 to 8 .*, 23 in all",
        ),
        (table([1, 2], [7, 8]), "they have 3 users with .* and 2 users with"),
    ],
)
def test_others_are_refused(other: RankTable, says: str) -> None:
    with pytest.raises(DataError, match=says):
        require_same_events({"A": NAMED, "B": other})


def test_users_are_compared_by_name_whatever_stands_first() -> None:
    numbered = table([1, 2, 3], [7, 8, 9])
    with pytest.raises(DataError, match="A and B must have the same users to be compared: 2 "):
        require_same_events({"N": numbered, "A": NAMED, "B": table(["ada", "ben", "dan"], [7, 8, 9])})
