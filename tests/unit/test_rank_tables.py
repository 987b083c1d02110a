"""Only recommenders that rank the same held-out items among as many candidates are compared."""

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.rank_tables import require_same_events
from sampled_metrics.ranks import RankTable


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
        (table(["ada", "ben"], [7, 8]), "A has the ranks of 3 held-out items, and B of 2; "),
        (table(["ada", "ben", "dan"], [7, 8, 9]), "A has a rank of user cleo, and B none; "),
        (table(["ada", "cleo", "ben"], [7, 8, 9]), "of user ben among 8 candidates, and B among 9; "),
        (table([1, 2, 3], [7, 8, 8]), "of some user among 9 candidates, and B among 8; "),
    ],
)
def test_others_are_refused(other: RankTable, says: str) -> None:
    with pytest.raises(DataError, match=says):
        require_same_events({"A": NAMED, "B": other})


def test_users_are_compared_by_name_whatever_stands_first() -> None:
    numbered = table([1, 2, 3], [7, 8, 9])
    with pytest.raises(DataError, match="A has a rank of user cleo, and B none"):
        require_same_events({"N": numbered, "A": NAMED, "B": table(["ada", "ben", "dan"], [7, 8, 9])})


def test_numbers_and_text_name_the_same_users() -> None:
    require_same_events({"A": table([30, 4], [7, 8]), "B": table(["4", "30"], [8, 7])})
