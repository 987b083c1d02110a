"""Sampled ranks of a csv table: the ranks that its negatives cannot give are refused by line."""

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.csv import parse_table
from sampled_metrics.ranks.sampled_csv import SAMPLED, sampled_ranks_of


def refused(content: str, candidates: int, negatives: int, *, replacement: bool) -> str:
    with pytest.raises(DataError) as caught:
        sampled_ranks_of(
            parse_table(content.encode(), "s.csv", SAMPLED), candidates, negatives, replacement=replacement
        )
    return str(caught.value)


def test_of_one_other_item_all_negatives_are_above_or_none() -> None:
    assert refused("rank\n1\n101\n5\n90\n", 2, 100, replacement=True) == (
        "s.csv, line 4: rank 5 cannot be: with 2 candidates all 100 negatives are the same item, so that the rank is 1 "
        "or 101"
    )
    table = parse_table(b"rank\n1\n101\n", "s.csv", SAMPLED)
    assert sampled_ranks_of(table, 2, 100, replacement=True)["rank"].tolist() == [1, 101]


def test_far_more_negatives_than_items_are_never_so_uneven() -> None:
    """Of two items, each drawn half of the time or always: at best 2^-5000 C(5000, 10)."""
    assert refused("rank\n2501\n11\n", 3, 5000, replacement=True) == (
        "s.csv, line 3: rank 11 cannot be: the chance of that, of 5000 negatives drawn from 2, is below 1e-307 "
        "whatever the rank"
    )


@pytest.mark.parametrize(
    ("candidates", "replacement", "says"),
    [
        (1, False, "candidates must be 2 or more, not 1"),
        (1, True, "candidates must be 2 or more, not 1"),
        (2, False, "2 negatives of 1 (2 candidates) cannot be sampled without replacement"),
    ],
)
def test_refuses_negatives_that_there_are_none_of(candidates: int, replacement: bool, says: str) -> None:
    assert refused("rank\n1\n", candidates, 2, replacement=replacement) == f"s.csv, line 2: {says}"
