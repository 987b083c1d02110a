"""Sampled ranks of a csv table: the ranks that its negatives cannot give are refused by line."""

import pytest
from tables_of_ranks import parse_columns, sampled_ranks

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.sampled import SampledRanks


def refused(content: str, candidates: int, negatives: int, *, replacement: bool) -> str:
    with pytest.raises(DataError) as caught:
        sampled_ranks(parse_columns(content.encode(), "s.csv"), candidates, negatives, replacement=replacement)
    return str(caught.value)


def test_of_one_other_item_all_negatives_are_above_or_none() -> None:
    assert refused("rank\n1\n101\n5\n90\n", 2, 100, replacement=True) == (
        "s.csv, line 4: rank 5 is not possible: with 2 candidates all 100 negatives are the same item, so that the "
        "rank is 1 or 101"
    )
    table = parse_columns(b"rank\n1\n101\n", "s.csv")
    assert sampled_ranks(table, 2, 100, replacement=True).x.tolist() == [0, 100]


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


def test_one_number_stands_for_all_events() -> None:
    ranks = SampledRanks([0, 2], 4, [9, 8])
    assert (ranks.x.tolist(), ranks.negatives.tolist(), ranks.candidates.tolist()) == ([0, 2], [4, 4], [9, 8])
    assert len(ranks) == 2
    assert SampledRanks([0], 0, 1).negatives.tolist() == [0]  # nothing sampled, as thinning may leave
