"""What functions take: tables that a reader returned, of one kind, by names that differ."""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.ranks.given import KINDS

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
@pytest.mark.parametrize("given", [[1, 2], np.array([1, 2]), pd.DataFrame({"rank": [1, 2]}), "x.csv"], ids=repr)
def test_ranks_that_are_not_read_are_refused_with_the_reader_to_call(function, given):
    readers = [kind.reader for kind in KINDS if function in kind.taken_by]
    with pytest.raises(sm.DataError) as caught:
        FUNCTIONS[function]({"A": given, "B": given})
    said = str(caught.value)
    assert said.startswith(f"A: {function} takes ")
    assert all(reader in said for reader in readers)
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
        (
            lambda: sm.evaluate({"A": EXACT, "B": LISTS}),
            "A has exact ranks and B ranked lists; evaluate takes one kind",
        ),
        (
            lambda: sm.compare({"A": SAMPLED, "B": EXACT}),
            "A has sampled ranks and B exact ranks; compare takes one kind",
        ),
        (lambda: sm.evaluate({}), "there are no ranks"),
        (lambda: sm.evaluate({1: EXACT, "1": EXACT}), "two recommenders are called '1'"),
        (
            lambda: sm.compare(EXACT),
            "compare takes a mapping from the names of recommenders to their tables, not an Exact",
        ),
        (
            lambda: sm.evaluate({"A": [EXACT, EXACT]}),
            "A: evaluate takes exact ranks, staged ranks or ranked lists, not",
        ),
        (lambda: sm.exact_ranks(EXACT), "ranks: is ExactRanks already, which is not read again"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(sm.DataError) as caught:
        call()
    assert says in str(caught.value)


def test_several_recommenders_are_evaluated_by_name():
    table = sm.evaluate({"A": EXACT, "B": EXACT}, metrics="auc")
    assert table["recommender"].tolist() == ["A", "B"]
    assert table["value"].nunique() == 1


def test_lists_of_other_judgements_are_not_compared():
    relevance = {"ann": {"film": 2}, "bob": {"song": 1}}
    other = sm.ranked_lists({"ann": {"film": 0.9}, "bob": {"film": 0.1}}, relevance=relevance)
    with pytest.raises(sm.DataError, match="A and B have other judged items; read them with the same relevance"):
        sm.compare({"A": LISTS, "B": other})
    same = sm.ranked_lists(
        {"ann": {"song": 1.0}, "bob": {"song": 1.0}}, relevance={"ann": {"film": 1}, "bob": {"song": 1}}
    )
    assert sm.compare({"A": LISTS, "B": same}, metrics="recall@1")["difference"].item() == 0


def test_cautions_of_tables_have_the_name_of_the_recommender():
    ranks = sm.exact_ranks(np.arange(1, 41) % 9 + 1, candidates=1000)
    assert ranks.cautions
    compared = sm.compare({"old": ranks, "new": ranks}, metrics="auc")
    assert [finding.names for finding in compared.findings if finding.kind == "caution"] == [("old",), ("new",)]
    assert len(compared.cautions) == 1  # which is of both


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (EXACT, "exact ranks of 5 users, among 100 candidates"),
        (SAMPLED, "sampled ranks of 5 users, 9 of 100 candidates"),
        (LISTS, "ranked lists of 2 users, with 2 judged items"),
    ],
)
def test_tables_say_what_they_are(table, says):
    assert repr(table) == says


def test_frames_of_sampled_ranks_are_read_again():
    again = sm.sampled_ranks(SAMPLED.to_frame())
    assert (again.x.tolist(), again.negatives.tolist()) == (SAMPLED.x.tolist(), SAMPLED.negatives.tolist())
