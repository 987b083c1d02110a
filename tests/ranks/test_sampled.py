"""Sampled ranks of a csv table: the ranks that its negatives cannot give are refused by line."""

from typing import Any

import numpy as np
import pytest
import read_and
from tables_of_ranks import parse_columns, sampled_ranks

import sampled_metrics as sm
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


UNIFORM = np.random.default_rng(4).integers(1, 301, 3000)
BEST_THIRD = 1 + np.random.default_rng(5).hypergeometric(UNIFORM - 1, 900 - UNIFORM, 400)
"""Of 3,000 users whose true ranks are uniform on the best third of 900, among 400 negatives."""


@pytest.mark.parametrize(
    ("drawn", "candidates", "negatives"),
    [(BEST_THIRD, 900, 400), (np.tile(np.arange(1, 21), 30), 1000, 100)],
    ids=["best third", "first twenty"],
)
def test_a_number_of_negatives_that_is_stated_is_believed(drawn: Any, candidates: int, negatives: int) -> None:
    """An array of the same number gives the same, without a caution."""
    given: dict[str, Any] = {"candidates": candidates, "metrics": "recall@10", "estimators": "free"}
    found = read_and.correct(drawn, negatives=negatives, **given)
    said = f"ranks: no rank is above {drawn.max()}, although {negatives} negatives allow"
    [caution] = [each for each in found.cautions if each.startswith(said)]
    each = read_and.correct(drawn, negatives=np.full(len(drawn), negatives), **given)
    assert each["value"].tolist() == found["value"].tolist()
    assert each.remarks == tuple(remark for remark in found.remarks if remark != caution)


def test_how_negatives_are_drawn_travels_with_the_table() -> None:
    tables = sm.sampled_ranks({"a": [1, 2], "b": [3, 1]}, negatives=9, candidates=50, drawn="once")
    assert {table.drawn for table in tables.values()} == {"once"}
    assert tables["a"].rows(np.array([1])).drawn == "once"
    assert sm.sampled_ranks([1], negatives=9, candidates=50).drawn == "by user"


def test_negatives_are_drawn_by_user_or_once() -> None:
    with pytest.raises(sm.ConfigError, match="drawn must be 'by user' or 'once', not 'per user'"):
        sm.sampled_ranks([1], negatives=9, candidates=50, drawn="per user")


@pytest.mark.parametrize("drawn", [np.array(["by user", "once"]), ["once"], None, 3])
def test_drawn_is_one_word(drawn):
    with pytest.raises(sm.ConfigError, match="drawn must be 'by user' or 'once'"):
        sm.sampled_ranks([1, 2, 3], negatives=9, candidates=30, drawn=drawn)
