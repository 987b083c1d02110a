"""Exact and sampled ranks: what they refuse, and their expectations against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampled_metrics as sm
from sampled_metrics.ranks.exact import ExactRanks

LABELS = ["auc", "ap", "ndcg@3", "recall@2", "precision@2"]


def rank_table(rows, users=None):
    """Rows of (candidates, above, tied)."""
    candidates, above, tied = np.array(rows, dtype=np.int64).T
    return ExactRanks(np.arange(len(rows)) if users is None else np.array(users), candidates, above, tied)


def orders(table):
    """Every way to break the ties of all events, each as likely: tuples of ranks."""
    return product(*(range(a + 1, a + t + 2) for a, t in zip(table.above, table.tied, strict=True)))


SMALL = rank_table([(6, 0, 2), (5, 3, 1), (9, 2, 0), (4, 0, 3)])
events = st.integers(1, 9).flatmap(
    lambda n: st.integers(0, n - 1).flatmap(
        lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - 1 - above))
    )
)


class TestExpectations:
    @pytest.mark.parametrize("label", LABELS)
    def test_tie_deviation_is_that_over_every_way_to_break_the_ties(self, label):
        means = [sm.metric(label).of_rank(ranks, SMALL.candidates).mean() for ranks in orders(SMALL)]
        assert len(means) == 3 * 2 * 1 * 4
        assert SMALL.tie_deviation(sm.metric(label)) == pytest.approx(np.std(means), rel=1e-9)
        assert SMALL.values(sm.metric(label)).mean() == pytest.approx(np.mean(means), rel=1e-12)

    @given(st.lists(events, min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 9))
    def test_expected_between_is_the_mean_over_every_way_to_break_the_ties(self, rows, first, last):
        table = rank_table(rows)
        counts = [sum(first <= rank <= last for rank in ranks) for ranks in orders(table)]
        assert table.expected_between(first, last) == pytest.approx(np.mean(counts), abs=1e-12)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ((5, -1, 0), "above .-1. and tied .0."),
        ((5, 0, -1), "above .0. and tied .-1."),
        ((5, 5, 0), "rank 6 .* number of candidates, 5$"),
        ((5, 3, 2), "rank 6 .* number of candidates, 5$"),
        ((2**53 + 1, 0, 0), "candidates"),
    ],
)
def test_a_row_of_exact_ranks_is_refused_with_its_user(row, says):
    with pytest.raises(sm.DataError, match=f"^user 42: {says}"):
        rank_table([(5, 0, 0), row], users=[17, 42])


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("candidates", 9, "candidates must have one dimension"),
        ("above", [0, 0.5], "above must be integers, not float64"),
        ("tied", [[0], [1]], "tied must have one dimension"),
        ("tied", [0], "differ in length"),
        ("groups", np.array(["a"]), "differ in length"),
        ("user", ["ada", None], "user must not have missing values"),
        ("above", np.ma.masked_array([0, 1], [0, 1]), "masked"),
    ],
)
def test_columns_of_another_form_are_refused(column, values, says):
    columns = {"user": ["ada", "ben"], "candidates": [9, 9], "above": [0, 1], "tied": [0, 0]}
    ExactRanks(**columns)
    with pytest.raises(sm.DataError, match=says):
        ExactRanks(**{**columns, column: values})


@pytest.mark.parametrize(
    ("x", "negatives", "candidates"),
    [([0, 1], [9], 99), ([0, 1], 9, [99]), ([0], [9, 9], 99), ([0, 1], 9, [[99, 99]]), ([0, 1], 9, [99] * 3)],
)
def test_columns_of_sampled_ranks_are_as_long_as_one_another(x, negatives, candidates):
    with pytest.raises(sm.DataError, match="must be one number each, or one for each row, not"):
        sm.SampledRanks(np.array(x), negatives, candidates)


@pytest.mark.parametrize("numbers", [1.5, np.nan, 2**70, "9", [9, None], [[9], [9, 9]], {}], ids=repr)
def test_columns_of_sampled_ranks_are_integers(numbers):
    for column in ("x", "negatives", "candidates"):
        with pytest.raises(sm.DataError, match=f"^{column} must be integers"):
            sm.SampledRanks(**({"x": np.array([0, 1]), "negatives": 9, "candidates": 99} | {column: numbers}))


@pytest.mark.parametrize(
    ("ranks", "candidates", "negatives", "replacement", "says"),
    [
        ([1], None, 4, False, "lacks the column candidates"),
        ([1], 9, None, False, "lacks the column negatives"),
        ([1, 6], 9, 4, False, "row 2: rank 6 is not from 1 to 5"),
        ([1], 9, -1, False, "negatives must be .* not -1"),
        ([1], 9, [4, 4], False, "negatives must be one number, or one for each of the 1 rows, not 2"),
        ([1], 2, 2, False, "row 1: 2 negatives cannot be sampled without replacement from 1 .2 candidates"),
        ([1], 1, 2, True, "row 1: 2 negatives, but no other candidate"),
        ([1, 2], 2, 2, True, "row 2: rank 2 is not possible: with 2 candidates"),
        # of two items, each drawn half of the time or always: at best 2^-5000 C(5000, 10)
        ([2501, 11], 3, 5000, True, "row 2: rank 11 is not possible: the chance of that, of 5000 negatives"),
        ({"rank": [1, 6], "user": ["a", "b"]}, 9, 4, False, "user 'b': rank 6 is not from 1 to 5"),
        ({"rank": [1], "negatives": [4]}, 9, 4, False, "has a column negatives, so negatives must not be given"),
        (sm.exact_ranks([1], candidates=5), None, 4, False, "is ExactRanks already"),
    ],
)
def test_sampled_ranks_that_their_negatives_cannot_give_are_refused(ranks, candidates, negatives, replacement, says):
    with pytest.raises(sm.DataError, match=says):
        sm.sampled_ranks(ranks, candidates=candidates, negatives=negatives, replacement=replacement)


def test_numbers_of_each_user_are_a_column_or_an_argument():
    columns = {"rank": [1, 3], "negatives": [4, 2], "candidates": [9, 8], "user": [4, 2]}
    for sampled in (sm.sampled_ranks(columns), sm.sampled_ranks([1, 3], candidates=[9, 8], negatives=[4, 2])):
        assert (sampled.x.tolist(), sampled.negatives.tolist()) == ([0, 2], [4, 2])
        assert sampled.candidates.tolist() == [9, 8]
    assert sm.sampled_ranks(columns).user.tolist() == [4, 2]


def test_how_negatives_are_drawn_travels_with_the_table():
    tables = sm.sampled_ranks({"a": [1, 2], "b": [3, 1]}, negatives=9, candidates=50, drawn="once")
    assert {table.drawn for table in tables.values()} == {"once"}
    assert tables["a"].rows(np.array([1])).drawn == "once"
    assert sm.sampled_ranks([1], negatives=9, candidates=50).drawn == "by user"


@pytest.mark.parametrize("drawn", ["per user", np.array(["by user", "once"]), None])
def test_drawn_is_one_word_of_two(drawn):
    with pytest.raises(sm.ConfigError, match="drawn must be 'by user' or 'once', not "):
        sm.sampled_ranks([1, 2, 3], negatives=9, candidates=50, drawn=drawn)


UNIFORM = np.random.default_rng(4).integers(1, 301, 3000)
BEST_THIRD = 1 + np.random.default_rng(5).hypergeometric(UNIFORM - 1, 900 - UNIFORM, 400)
"""Of 3,000 users whose true ranks are uniform on the best third of 900, among 400 negatives."""


@pytest.mark.parametrize(
    ("drawn", "candidates", "negatives"),
    [(BEST_THIRD, 900, 400), (np.tile(np.arange(1, 21), 30), 1000, 100)],
    ids=["best third", "first twenty"],
)
def test_a_number_of_negatives_that_is_stated_is_believed_with_a_caution(drawn, candidates, negatives):
    stated = sm.sampled_ranks(drawn, candidates=candidates, negatives=negatives)
    by_user = sm.sampled_ranks(drawn, candidates=candidates, negatives=np.full(len(drawn), negatives))
    [caution] = stated.cautions
    assert caution.startswith(f"ranks: no rank is above {drawn.max()}, although {negatives} negatives allow")
    assert (stated.negatives == by_user.negatives).all()
    assert by_user.cautions == ()
