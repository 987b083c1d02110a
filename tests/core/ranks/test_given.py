"""Tables of ranks: what they refuse, expectations against enumeration, and what functions take.

Those are tables that a reader returned, of one kind, by names that differ, of the same users.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused_tables import require_refusals

import sampled_metrics as sm
from sampled_metrics.core.ranks.exact import ExactRanks, read_rank_tables, require_same_events
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.ranks.table import numbers_in

EXACT = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
SAMPLED = sm.sampled_ranks([1, 4, 2, 3, 5], negatives=9, candidates=100)
FUNCTIONS = {
    "evaluate": sm.evaluate,
    "correct": sm.correct,
    "compare": sm.compare,
    "expect": lambda ranks: sm.expect(ranks, negatives=3),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_ranks_are_refused_with_the_reader_to_call_or_the_functions_that_take_them(function):
    require_refusals(function, FUNCTIONS[function], [EXACT, SAMPLED])


@pytest.mark.parametrize(
    ("function", "ranks", "word"),
    [
        ("compare", {"A": SAMPLED, "B": EXACT}, "sampled"),
        ("evaluate", {}, "no ranks"),
        ("compare", EXACT, "mapping"),
        ("evaluate", {"A": [EXACT, 3]}, "int"),
        ("evaluate", {"A": []}, "list"),
        ("expect", {"A": [EXACT, EXACT]}, "seeds"),
    ],
)
def test_refusals(function, ranks, word):
    with pytest.raises(sm.DataError, match=word):
        FUNCTIONS[function](ranks)


def test_cautions_of_tables_have_the_name_of_the_recommender_and_none_if_they_are_of_all():
    ranks = sm.exact_ranks([2, 5, 9], candidates=10, zero_based=True)
    assert ranks.cautions
    others = sm.exact_ranks([2, 5, 9], candidates=10)
    for new, names in ((others, ("old",)), (ranks, ())):
        compared = sm.compare({"old": ranks, "new": new}, metrics="auc")
        [caution] = [finding for finding in compared.findings if finding.kind == "no-rank-zero"]
        assert caution.names == names


def table(users, candidates):
    zeros = np.zeros(len(candidates), dtype=np.int64)
    return ExactRanks(
        None if users is None else np.array(users), np.array(candidates), zeros, zeros
    )


def sampled(users, candidates):
    return SampledRanks(0, 3, candidates, user=None if users is None else np.array(users))


def test_events_of_other_users_are_refused():
    named = table(["ada", "ben", "cleo"], [7, 8, 9])
    numbered = table([1, 2, 3], [7, 8, 8])
    with pytest.raises(sm.DataError, match=r"24 in all .*23 in all"):
        require_same_events({"A": named, "B": numbered})


@pytest.mark.parametrize(
    ("users_and_candidates_a", "users_and_candidates_b", "says"),
    [
        ((["a", "b"], [9, 9]), (["a", "c"], [9, 9]), "'b' of A and 'c' of"),
        ((None, [9]), (None, [9, 9]), "A has 1 users and B 2"),
        ((None, [9, 9]), (None, [9, 8]), "^row 2 has 9 candidates in A and 8 in B"),
        ((["a", "b", "a"], [9] * 3), (["a", "b", "b"], [9] * 3), "2 rows in A and 1 in B"),
        ((["a", "b", "a"], [9, 9, 7]), (["b", "a", "a"], [9, 9, 8]), "'a' has 7 .* A and 8 in B"),
    ],
)
def test_pairs_of_other_users_or_other_candidates_are_refused(
    users_and_candidates_a, users_and_candidates_b, says
):
    for make in (table, sampled):
        tables = make(*users_and_candidates_a), make(*users_and_candidates_b)
        with pytest.raises(sm.DataError, match=says):
            numbers_in(*tables, ("A", "B"))


def test_a_study_refuses_users_with_more_rows_in_one_table(tmp_path):
    paths = tmp_path / "A.csv", tmp_path / "B.csv"
    for path, users in zip(paths, (["ada", "ben"], ["ada", "ada", "ben"]), strict=True):
        table(users, [7] * len(users)).write(path)
    with pytest.raises(sm.DataError, match=r"'ada'"):
        read_rank_tables(["A", "B"], paths)


LABELS = ["auc", "ap", "ndcg@3", "recall@2", "precision@2"]


def rows_of(rows):
    """Rows of (candidates, above, tied)."""
    return ExactRanks(np.arange(len(rows)), *np.array(rows, dtype=np.int64).T)


def orders(table):
    """Every way to break the ties of all events, each as likely: tuples of ranks."""
    return product(*(range(a + 1, a + t + 2) for a, t in zip(table.above, table.tied, strict=True)))


events = st.integers(2, 7).flatmap(
    lambda n: st.integers(0, n - 1).flatmap(
        lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - 1 - above))
    )
)


@given(
    st.lists(events, min_size=1, max_size=4),
    st.sampled_from(LABELS),
    st.integers(1, 9),
    st.integers(0, 9),
)
def test_expectations_are_those_over_every_way_to_break_the_ties(rows, label, best, worst):
    table = rows_of(rows)
    metric = sm.metric(label)
    counts = [sum(best <= rank <= worst for rank in ranks) for ranks in orders(table)]
    assert table.expected_between(best, worst) == pytest.approx(np.mean(counts), abs=1e-12)
    means = [metric.of_rank(np.array(ranks), table.candidates).mean() for ranks in orders(table)]
    assert table.tie_deviation(metric) == pytest.approx(np.std(means), rel=1e-9, abs=1e-9)
    assert table.values(metric).mean() == pytest.approx(np.mean(means), rel=1e-12)


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("candidates", 9, "dimension"),
        ("above", [0, 0.5], "above"),
        ("tied", [0], "length"),
        ("user", ["ada", None], "user"),
        ("above", [0, -1], "'ben': above"),
        ("tied", [0, -1], "'ben': above"),
        ("candidates", [9, 5], "'ben': rank 6"),
    ],
)
def test_columns_of_exact_ranks_are_refused_with_their_user(column, values, says):
    columns = {"user": ["ada", "ben"], "candidates": [9, 6], "above": [0, 3], "tied": [0, 2]}
    ExactRanks(**columns)
    with pytest.raises(sm.DataError, match=says):
        ExactRanks(**{**columns, column: values})


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"negatives": [9]}, "row"),
        ({"candidates": [99]}, "row"),
        ({"candidates": [[99, 99]]}, "row"),
        ({"x": 1.5}, "x"),
        ({"negatives": 2**70}, "negatives"),
        ({"candidates": np.nan}, "candidates"),
        ({"candidates": [[9], [9, 9]]}, "candidates"),
    ],
)
def test_columns_of_sampled_ranks_are_integers_of_each_row(columns, word):
    with pytest.raises(sm.DataError, match=word):
        sm.SampledRanks(**({"x": np.array([0, 1]), "negatives": 9, "candidates": 99} | columns))


@pytest.mark.parametrize(
    ("ranks", "candidates", "negatives", "replacement", "says"),
    [
        ([1], None, 4, False, "candidates"),
        ([1], 9, None, False, "negatives"),
        ([1, 6], 9, 4, False, "row 2: rank 6"),
        ([1], 9, [4, 4], False, "negatives"),
        ([1], 2, 2, False, "row 1: 2 negatives"),
        ([1], 1, 2, True, "row 1: 2 negatives"),
        ([1, 2], 2, 2, True, "row 2: rank 2"),
        # of two items, each drawn half of the time or always: at best 2^-5000 C(5000, 10)
        ([2501, 11], 3, 5000, True, "row 2: rank 11"),
        ({"above": [3], "tied": [2]}, 9, 4, False, "row 1.*4 negatives"),
        (sm.exact_ranks([1], candidates=5), None, 4, False, "ExactRanks"),
    ],
)
def test_sampled_ranks_that_their_negatives_cannot_give_are_refused(
    ranks, candidates, negatives, replacement, says
):
    with pytest.raises(sm.DataError, match=says):
        sm.sampled_ranks(ranks, candidates=candidates, negatives=negatives, replacement=replacement)


def test_how_negatives_are_drawn_is_one_word_of_two_and_travels_with_the_table():
    tables = sm.sampled_ranks({"a": [1, 2], "b": [3, 1]}, negatives=9, candidates=50, drawn="once")
    assert {table.drawn for table in tables.values()} == {"once"}
    assert tables["a"].rows(np.array([1])).drawn == "once"
    assert sm.sampled_ranks([1], negatives=9, candidates=50).drawn == "by user"
    for drawn in ("per user", np.array(["by user", "once"]), None):
        with pytest.raises(sm.ConfigError, match="drawn"):
            sm.sampled_ranks([1, 2, 3], negatives=9, candidates=50, drawn=drawn)
