"""Sampled ranks of a csv table: the ranks that its negatives cannot give are refused by line."""

import pytest
from tables_of_ranks import parse_columns, sampled_ranks

from sampled_metrics.errors import DataError


def refused(content: str, candidates: int, negatives: int, *, replacement: bool) -> str:
    with pytest.raises(DataError) as caught:
        sampled_ranks(parse_columns(content.encode(), "s.csv"), candidates, negatives, replacement=replacement)
    return str(caught.value)


def test_far_more_negatives_than_items_are_never_so_uneven() -> None:
    """Of two items, each drawn half of the time or always: at best 2^-5000 C(5000, 10)."""
    assert refused("rank\n2501\n11\n", 3, 5000, replacement=True) == (
        "s.csv, line 3: rank 11 is not possible: the chance of that, of 5000 negatives drawn from 2, is below 1e-307 "
        "whatever the rank"
    )


@pytest.mark.parametrize(
    ("candidates", "replacement", "says"),
    [
        (1, False, "2 negatives cannot be sampled without replacement from 0 (1 candidates)"),
        (1, True, "2 negatives, but no other candidate to sample from"),
        (2, False, "2 negatives cannot be sampled without replacement from 1 (2 candidates)"),
    ],
)
def test_refuses_negatives_that_do_not_exist(candidates: int, replacement: bool, says: str) -> None:
    assert refused("rank\n1\n", candidates, 2, replacement=replacement) == f"s.csv, line 2: {says}"
