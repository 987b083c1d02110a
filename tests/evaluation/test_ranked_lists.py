"""Ranked lists and grades: against ir-measures and ranx, by hand, and the coverage of the intervals."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import read_and

import sampled_metrics as sm
from sampled_metrics.cli import main


def parsed(text):
    """Items d100, d101, ... with a number each, by user; a user on each line."""
    lines = [line.split() for line in text.strip().splitlines()]
    pairs = {user: [pair.split(":") for pair in rest] for user, *rest in lines}
    return {user: {f"d{item}": float(number) for item, number in each} for user, each in pairs.items()}


RUN = parsed("""
    u0 104:0 112:2 120:0.5 101:0 102:0 117:1.5 103:1.5 111:0 118:0.5
    u1 101:2 107:1 129:2 117:3 104:2.5 109:0.5 113:0 125:2 126:2 103:2.5
    u2 118:2 114:1.5 111:1 109:2.5 107:1.5 105:1 122:2 125:0 102:0 129:2 126:1.5
    u3 118:3 125:0 126:1 110:1.5 127:2.5 122:2.5 111:0 119:0 115:2.5 129:2.5 114:1 102:2.5
    u4 105:0.5 114:3 112:1.5 117:3 108:2
    u6 101:0 106:0 102:2 128:0.5 114:2 105:0 103:1 110:2 119:0 129:0
    u7 114:2 115:0 128:0.5 109:2 102:1 104:0.5 103:2.5 110:2 108:0 127:3 105:2
""")
GRADES = parsed("""
    u0 117:0 113:1 101:0
    u1 111:0 103:1 117:3 122:3 102:2
    u2 124:3 110:3 104:0 129:0
    u3 121:1 126:0 114:3 109:0 122:1 112:2 129:1 111:1 100:3 127:3 125:3
    u4 122:1 113:0 111:1 121:1 112:1 107:1
    u5 117:0 111:3 119:3 118:3 110:3 104:3 122:0 116:3
    u7 120:0 127:0 102:0 122:0 108:0 116:0
""")

# ir-measures 0.4.3 with pytrec_eval-terrier 0.5.11: means over the seven judged users, u5 without a list counts as 0
IR_MEASURES = {
    "ndcg": 0.167267384675,
    "ndcg@5": 0.14320077845,
    "ndcg-exp@5": 0.135273528068,  # nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})@5
    "ap": 0.120017636684,
    "mrr": 0.25,
    "precision@5": 0.171428571429,
    "recall@5": 0.147619047619,
    "hit-rate@5": 0.428571428571,  # Success@5
}
IR_MEASURES_FROM_2 = {"ap": 0.072063492063, "recall@5": 0.07619047619, "mrr": 0.190476190476, "P@5": 0.057142857143}

# ranx 0.3.21, of users with a list and a relevant item, and scores without ties
RANX = {
    "ndcg@5": 0.20048108983,
    "ndcg_burges@5": 0.189382939295,
    "dcg@5": 1.298456573944,
    "dcg_burges@5": 2.498456573944,
    "map": 0.168024691358,
    "mrr": 0.35,
    "f1@5": 0.214603174603,
    "precision@5": 0.24,
    "recall@5": 0.206666666667,
    "hit_rate@5": 0.6,
}
RANX_FROM_2 = {"map": 0.100888888889, "mrr": 0.266666666667, "f1@5": 0.09}


def values(run, grades, labels, **options):
    return read_and.evaluate(run, relevance=grades, metrics=list(labels), **options)["value"].tolist()


def table(of_users, value):
    rows = [(user, item, number) for user, items in of_users.items() for item, number in items.items()]
    return pd.DataFrame(rows, columns=["q_id", "doc_id", value])


def test_as_trec_eval_has_it():
    assert values(RUN, GRADES, IR_MEASURES) == pytest.approx(list(IR_MEASURES.values()), abs=1e-11)
    found = values(RUN, GRADES, IR_MEASURES_FROM_2, relevant_from=2)
    assert found == pytest.approx(list(IR_MEASURES_FROM_2.values()), abs=1e-11)


def test_as_ranx_has_it():
    users = [user for user in RUN if any(GRADES.get(user, {}).values())]
    run = {user: {item: score + 0.001 * int(item[1:]) for item, score in RUN[user].items()} for user in users}
    grades = {user: GRADES[user] for user in users}
    assert values(run, grades, RANX) == pytest.approx(list(RANX.values()), abs=1e-11)
    assert values(run, grades, RANX_FROM_2, relevant_from=2) == pytest.approx(list(RANX_FROM_2.values()), abs=1e-11)


def test_tables_of_any_library_and_order_are_the_same():
    expected = values(RUN, GRADES, IR_MEASURES)
    run, grades = table(RUN, "score"), table(GRADES, "rating")
    assert values(run.sample(frac=1, random_state=1), grades.sample(frac=1, random_state=2), IR_MEASURES) == expected
    assert values(pl.from_pandas(run), pl.from_pandas(grades), IR_MEASURES) == expected
    ranked = run.sort_values(["q_id", "score", "doc_id"], ascending=[True, False, False]).drop(columns="score")
    assert values(ranked.assign(rank=ranked.groupby("q_id").cumcount() + 1), grades, IR_MEASURES) == expected
    numbers = {"doc_id": run["doc_id"].str[1:].astype(int)}
    texts = {"doc_id": grades["doc_id"].str[1:]}
    assert values(run.assign(**numbers), grades.assign(**texts), IR_MEASURES) == expected


def test_held_out_items_without_grades_are_relevant():
    held_out = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12]})
    run = pd.DataFrame({"user": [1, 1, 2, 2], "item": [10, 13, 13, 12], "score": [2, 1, 2, 1]})
    result = read_and.evaluate(run, relevance=held_out, metrics=["recall@2", "mrr"])
    assert result["value"].tolist() == [0.75, 0.75]
    assert any("each is relevant, with grade 1" in each for each in result.remarks)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table(RUN, "score").to_csv("run.csv", index=False)
    table(GRADES, "relevance").to_csv("qrels.csv", index=False)
    main(["evaluate", "run.csv", "--relevance", "qrels.csv", "--relevant-from", "2", "--metrics", "mrr,map", "--json"])
    found = [row["value"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert found == pytest.approx([IR_MEASURES_FROM_2[label] for label in ("mrr", "ap")], abs=1e-11)


UNGRADED, TWICE = table(GRADES, "relevance").drop(columns="relevance"), pd.concat([table(RUN, "score")] * 2)
CASES = [
    (RUN, {"u": {"a": -1}}, {}, "relevance, user 'u': relevance must be a number of 0 or more, not -1"),
    (RUN, {"u": {"a": np.inf}}, {}, "relevance, user 'u': relevance is infinite"),
    (RUN, {"u0": {"a": 2000}}, {"metrics": "ndcg-exp"}, "the gain of user row 0 is inf in column 0 "),
    ({"u": {"a": np.nan}}, GRADES, {}, "ranks, user 'u': score must be a number, not nan"),
    (table(RUN, "score").assign(score="x"), GRADES, {}, "ranks, row 1: score must be a number, not 'x'"),
    (TWICE, GRADES, {}, "ranks, row 69: item 'd104' of this user has an earlier row too"),
    (table(RUN, "score").assign(q_id=""), GRADES, {}, "ranks, row 1: q_id is empty"),
    (table(RUN, "other"), GRADES, {}, "ranks: lacks the column score"),
    (table(RUN, "score").drop(columns="doc_id"), GRADES, {}, "ranks: lacks the column item"),
    ({"ann": {"d1": 1}}, GRADES, {}, "ranks: none of its users has a judged item; they are such as 'ann'"),
    (RUN, UNGRADED, {"relevant_from": 2}, "relevance: lacks the column relevance, which relevant_from is for"),
    (
        table(RUN, "score"),
        None,
        {"candidates": 9},
        "ranks: lacks the column rank .*; evaluate, compare and report take lists of items with scores",
    ),
]


@pytest.mark.parametrize(("run", "grades", "options", "says"), CASES)
def test_refuses(run, grades, options, says):
    with pytest.raises(sm.DataError, match="^" + says):
        read_and.evaluate(run, relevance=grades, **options)
