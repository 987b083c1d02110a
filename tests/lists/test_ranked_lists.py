"""Ranked lists and grades: the values of trec_eval, tables of any library, and refusals."""

import ir_measures as ir
import numpy as np
import pandas as pd
import polars as pl
import pytest
import read_and
from refused_tables import require_refusals

import sampled_metrics as sm

RNG = np.random.default_rng(7)
ITEMS = [f"d{item}" for item in range(40)]


def lists(items, numbers):
    return dict(zip(items.tolist(), numbers.tolist(), strict=True))


RUN = {}
GRADES = {}
"""Scores have ties, some users have no grade above 0, and the last one has no list."""
for user in range(100):
    size = 1 + 5 * user % 31
    judged = 1 + 8 * user % 23
    RUN[f"u{user}"] = lists(RNG.permutation(ITEMS)[:size], RNG.integers(0, 20, size) / 4)
    GRADES[f"u{user}"] = lists(RNG.permutation(ITEMS)[:judged], RNG.integers(0, 4, judged))
del RUN["u99"]


def values(run, grades, labels, **options):
    return read_and.evaluate(run, relevance=grades, metrics=list(labels), **options)[
        "value"
    ].tolist()


def table(numbers, value):
    rows = [
        (user, item, number) for user, items in numbers.items() for item, number in items.items()
    ]
    return pd.DataFrame(rows, columns=["q_id", "doc_id", value])


OF_TREC_EVAL = {
    "ndcg": ir.nDCG,
    "ndcg@5": ir.nDCG @ 5,
    "ndcg-exp@5": ir.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7}) @ 5,
    "ap": ir.AP,
    "mrr": ir.RR,
    "precision@5": ir.P @ 5,
    "recall@50": ir.R @ 50,
    "hit-rate@5": ir.Success @ 5,
}
FROM_2 = {
    "ap": ir.AP(rel=2),
    "recall@5": ir.R(rel=2) @ 5,
    "mrr": ir.RR(rel=2),
    "P@1": ir.P(rel=2) @ 1,
}


@pytest.mark.parametrize(
    ("measures", "options"), [(OF_TREC_EVAL, {}), (FROM_2, {"relevant_from": 2})]
)
def test_values_are_those_of_trec_eval(measures, options):
    """Means over the judged users, of whom one without a list counts as 0.

    Measures are computed one by one: together, the gains of one may be those of another, by the
    order of a set.
    """
    run = RUN | {"u99": {"none": 0.0}}
    theirs = [ir.calc_aggregate([measure], GRADES, run)[measure] for measure in measures.values()]
    assert values(RUN, GRADES, measures, **options) == pytest.approx(theirs, abs=1e-11)


@pytest.mark.parametrize("form", ["polars", "ranks", "numbers beside text"])
def test_tables_of_any_library_and_order_are_the_same(form):
    run = table(RUN, "score")
    grades = table(GRADES, "rating").sample(frac=1, random_state=2)
    if form == "polars":
        run = pl.from_pandas(run.sample(frac=1, random_state=1))
    elif form == "ranks":
        run = run.sort_values(["q_id", "score", "doc_id"], ascending=[True, False, False])
        run = run.assign(rank=run.groupby("q_id").cumcount() + 1).drop(columns="score")
    else:
        run = run.assign(doc_id=run["doc_id"].str[1:].astype(int))
        grades = grades.assign(doc_id=grades["doc_id"].str[1:])
    labels = ["ndcg@5", "ap"]
    assert values(run, grades, labels) == values(RUN, GRADES, labels)


def test_held_out_items_without_grades_are_relevant():
    held_out = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12]})
    run = {1: {10: 2, 13: 1}, 2: {13: 2, 12: 1}}
    result = read_and.evaluate(run, relevance=held_out, metrics=["recall@2", "mrr"])
    assert result["value"].tolist() == [0.75, 0.75]
    assert "one-grade" in {finding.kind for finding in result.findings}


ROWS = table(RUN, "score")


@pytest.mark.parametrize(
    ("run", "grades", "options", "word"),
    [
        (RUN, {"u": {"a": -1}}, {}, "relevance, row 1"),
        ({"u": {"a": 1}}, {"u": {"a": 2000}}, {"metrics": "ndcg-exp"}, "2000"),
        (ROWS.assign(score="x"), GRADES, {}, "ranks, row 1"),
        (pd.concat([ROWS[:9], ROWS[:9]]), GRADES, {}, "ranks, row 10"),
        (table(RUN, "other"), GRADES, {}, "score"),
        ({"ann": {"d1": 1}}, GRADES, {}, "judged"),
        (RUN, ROWS.drop(columns="score"), {"relevant_from": 2}, "relevant_from"),
    ],
)
def test_refuses(run, grades, options, word):
    with pytest.raises(sm.DataError, match=word):
        read_and.evaluate(run, relevance=grades, **options)


OF_TWO = sm.ranked_lists(
    {"ann": {"film": 0.9}, "bob": {"film": 0.1}}, relevance={"ann": {"film": 1}, "bob": {"song": 1}}
)


@pytest.mark.parametrize("function", ["evaluate", "correct", "compare", "expect"])
def test_functions_that_do_not_take_lists_name_those_that_do(function):
    options = {"negatives": 3} if function == "expect" else {}
    require_refusals(function, lambda ranks: getattr(sm, function)(ranks, **options), [OF_TWO])


def test_exact_ranks_beside_lists_are_refused():
    exact = sm.exact_ranks([1, 4, 20, 3, 50], candidates=100)
    with pytest.raises(sm.DataError, match="evaluate takes"):
        sm.evaluate({"A": exact, "B": OF_TWO})


def test_lists_of_other_judgements_are_not_compared():
    run = {"ann": {"song": 1.0}, "bob": {"song": 1.0}}
    other_items = sm.ranked_lists(run, relevance={"ann": {"film": 2}, "bob": {"song": 1}})
    with pytest.raises(sm.DataError, match="relevance"):
        sm.compare({"A": OF_TWO, "B": other_items})
