"""What functions take: tables that a reader returned, of one kind, by names that differ, of the same users."""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.ranks.exact import ExactRanks, read_rank_tables, require_same_events
from sampled_metrics.ranks.given import KINDS
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.ranks.table import pair_users

EXACT = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
SAMPLED = sm.sampled_ranks([1, 4, 2, 3, 5], negatives=9, candidates=100)
LISTS = sm.ranked_lists(
    {"ann": {"film": 0.9}, "bob": {"film": 0.1}}, relevance={"ann": {"film": 1}, "bob": {"song": 1}}
)
FUNCTIONS = {
    "evaluate": sm.evaluate,
    "correct": sm.correct,
    "compare": sm.compare,
    "expect": lambda ranks: sm.expect(ranks, negatives=3),
    "plan": sm.plan,
    "report": sm.report,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("given", [[1, 2], pd.DataFrame({"rank": [1, 2]})], ids=["list", "frame"])
def test_ranks_that_are_not_read_are_refused_with_the_reader_to_call(function, given):
    with pytest.raises(sm.DataError) as caught:
        FUNCTIONS[function]({"A": given, "B": given})
    said = str(caught.value)
    assert said.startswith(f"A: {function} takes ")
    assert all(kind.reader in said for kind in KINDS if function in kind.taken_by)
    is_list = function in ("correct", "plan") and isinstance(given, list)  # of several seeds, or kinds of ranks
    assert type(given[0] if is_list else given).__name__ in said


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("table", [EXACT, SAMPLED, LISTS], ids=repr)
def test_tables_of_another_kind_are_refused_with_the_functions_that_take_them(function, table):
    if function in table.taken_by:
        return
    with pytest.raises(sm.DataError) as caught:
        FUNCTIONS[function]({"A": table, "B": table})
    assert f"A: has {table.kind}, which {function} does not take; use " in str(caught.value)
    assert all(name in str(caught.value) for name in table.taken_by)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sm.evaluate({"A": EXACT, "B": LISTS}), "A has exact ranks and B ranked lists; evaluate takes one"),
        (lambda: sm.compare({"A": SAMPLED, "B": EXACT}), "A has sampled ranks and B exact ranks; compare takes one"),
        (lambda: sm.evaluate({}), "there are no ranks"),
        (lambda: sm.compare(EXACT), "compare takes a mapping from the names of recommenders to their tables, not an E"),
        (
            lambda: sm.evaluate({"A": [EXACT]}),
            "A: evaluate takes exact ranks, staged ranks or ranked lists, not a",
        ),
    ],
)
def test_refusals(call, says):
    with pytest.raises(sm.DataError, match=says):
        call()


def test_lists_of_other_judgements_are_not_compared():
    relevance = {"ann": {"film": 2}, "bob": {"song": 1}}
    other = sm.ranked_lists({"ann": {"film": 0.9}, "bob": {"film": 0.1}}, relevance=relevance)
    with pytest.raises(sm.DataError, match="A and B have other judged items; read them with the same relevance"):
        sm.compare({"A": LISTS, "B": other})
    relevance = {"ann": {"film": 1}, "bob": {"song": 1}}
    same = sm.ranked_lists({"ann": {"song": 1.0}, "bob": {"song": 1.0}}, relevance=relevance)
    assert sm.compare({"A": LISTS, "B": same}, metrics="recall@1")["difference"].item() == 0


def test_cautions_of_tables_have_the_name_of_the_recommender():
    ranks = sm.exact_ranks(np.arange(1, 41) % 9 + 1, candidates=1000)
    assert ranks.cautions
    compared = sm.compare({"old": ranks, "new": ranks}, metrics="auc")
    assert [finding.names for finding in compared.findings if finding.kind == "caution"] == [("old",), ("new",)]
    assert len(compared.cautions) == 1  # which is of both


def test_tables_say_what_they_are():
    assert repr(EXACT) == "exact ranks of 5 users, among 100 candidates"
    assert repr(SAMPLED) == "sampled ranks of 5 users, 9 of 100 candidates"
    assert repr(LISTS) == "ranked lists of 2 users, with 2 judged items"


def table(users: list | None, candidates: list[int]) -> ExactRanks:
    zeros = np.zeros(len(candidates), dtype=np.int64)
    return ExactRanks(None if users is None else np.array(users), np.array(candidates), zeros, zeros)


def sampled(users: list | None, candidates: list[int]) -> SampledRanks:
    return SampledRanks(0, 3, candidates, user=None if users is None else np.array(users))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (table(["ada", "ben", "dan"], [7, 8, 9]), "have the same users to be compared: 2 are in one of them only"),
        (table(["ada", "cleo", "ben"], [7, 8, 9]), "user 'ben' has 8 candidates in A and 9 in B"),
        (table([1, 2, 3], [7, 8, 8]), "with 7 to 9 candidates, 24 in all and 3 users with 7 to 8 .*, 23 in all"),
        (table([1, 2], [7, 8]), "they have 3 users with .* and 2 users with"),
    ],
)
def test_others_are_refused(other: ExactRanks, says: str) -> None:
    with pytest.raises(sm.DataError, match=says):
        require_same_events({"A": table(["ada", "ben", "cleo"], [7, 8, 9]), "B": other})


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ((["a", "b"], [9, 9]), (["a", "c"], [9, 9]), "2 are in one of them only, for instance 'b' of A and 'c' of"),
        ((["a"], [9]), (["a", "c"], [9, 9]), "1 are in one of them only, for instance 'c' of B$"),
        ((None, [9]), (None, [9, 9]), "^A has 1 users and B 2; to be compared they must have the same users$"),
        ((["a", "b"], [9, 9]), (["b", "a"], [9, 8]), "^user 'a' has 9 candidates in A and 8 in B; to be compared"),
        ((None, [9, 9]), (["b", "a"], [9, 8]), "^user 'a' has 9 candidates in A and 8 in B"),
        ((None, [9, 9]), (None, [9, 8]), "^row 2 has 9 candidates in A and 8 in B"),
        ((["a", "b", "a"], [9] * 3), (["a", "b", "b"], [9] * 3), "^user 'a' has 2 rows in A and 1 in B; to be comp"),
        ((["a", "b", "a"], [9, 9, 7]), (["b", "a", "a"], [9, 9, 8]), "^user 'a' has 7 candidates in A and 8 in B"),
    ],
)
def test_pairs_of_other_users_or_other_candidates_are_refused(one, other, says) -> None:
    for make in (table, sampled):
        with pytest.raises(sm.DataError, match=says):
            pair_users(make(*one), make(*other), ("A", "B"))


def test_a_study_refuses_users_with_more_rows_in_one_table(tmp_path) -> None:
    paths = tmp_path / "A.csv", tmp_path / "B.csv"
    table(["ada", "ben"], [7, 8]).write(paths[0])
    table(["ada", "ada", "ben"], [7, 7, 8]).write(paths[1])
    with pytest.raises(sm.DataError, match=r"^user 'ada' has 1 rows in A and 2 in B; to be compared"):
        read_rank_tables(["A", "B"], paths)
