"""The result of evaluate, correct, compare, expect and plan: a DataFrame that keeps its remarks."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.evaluation.result import Result, by_recommender, cell, with_clauses

REMARKS = ["First <remark> & more.", "Second."]


@pytest.fixture
def table():
    return Result({"metric": ["ap", "auc", "recall@10"], "value": [0.123456, np.nan, 12345.6]}).with_remarks(REMARKS)


class TestRemarks:
    @pytest.mark.parametrize(
        "take",
        [
            lambda t: t.copy(),
            lambda t: t[t["metric"] == "ap"],
            lambda t: t.iloc[:2],
            lambda t: t.loc[[0, 2]],
            lambda t: t[["value"]],
            lambda t: t.head(1),
            lambda t: t.sort_values("value"),
            lambda t: t.reset_index(drop=True),
            lambda t: t.assign(more=1),
            lambda t: t.query("metric == 'auc'"),
            lambda t: t.drop(columns="value"),
            lambda t: t.rename(columns={"value": "v"}),
            lambda t: t.round(2),
            copy.copy,
            copy.deepcopy,
            lambda t: pickle.loads(pickle.dumps(t)),
        ],
    )
    def test_stay_with_what_is_taken(self, table, take):
        taken = take(table)
        assert isinstance(taken, Result)
        assert taken.remarks == tuple(REMARKS)


class TestClauses:
    def test_stand_in_their_sentence_with_commas_between_them(self):
        remarks = [("Far off: {}.", "AP"), ("On all.", ""), ("Far off: {}.", "AUC"), ("Far off: {}.", "AP")]
        assert with_clauses(remarks) == ["Far off: AP, AUC.", "On all."]


class TestByRecommender:
    def test_a_remark_that_not_all_have_says_whose_it_is(self):
        one, other = (Result({"metric": ["ap"], "value": [each]}) for each in (0.1, 0.2))
        found = by_recommender({"X": one.with_remarks(["Of all.", "Of one."]), "Y": other.with_remarks(["Of all."])})
        assert found.remarks == ("Of all.", "X: Of one.")
        assert found[["recommender", "value"]].values.tolist() == [["X", 0.1], ["Y", 0.2]]


class TestText:
    def test_rows_then_remarks(self, table):
        lines = repr(table).splitlines()
        assert [line.split() for line in lines[:4]] == [
            ["metric", "value"],
            ["ap", "0.1235"],
            ["auc", "-"],
            ["recall@10", "12346"],
        ]
        assert lines[4:] == ["", *REMARKS[:1], "", *REMARKS[1:]]

    def test_html_has_the_cells_and_escapes(self, table):
        page = table._repr_html_()
        assert ">0.1235</td>" in page
        assert "<p>First &lt;remark&gt; &amp; more.</p>\n<p>Second.</p>" in page
        assert "<script>" not in Result({"a": ["<script>"]})._repr_html_()

    def test_ranks_show_what_was_read(self):
        ranks = sm.exact_ranks(pd.DataFrame({"user": ["a", "<b>"], "rank": [1, 30]}), candidates=40)
        page = ranks._repr_html_()
        assert re.findall("<t[hd][^>]*>([^<]*)</t[hd]>", page) == [
            *("Kind", "Rows", "Users", "Candidates", "Ties"),
            *("exact ranks", "2", "2", "40", "none"),
        ]

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (0.5, "0.5"),
            (1 / 3, "0.3333"),
            (1e-7, "1e-07"),
            (np.float64(2 / 3), "0.6667"),
            (-1234.56, "-1235"),
            (999.94, "999.9"),
            (float("nan"), "-"),
            (pd.NA, "-"),
            (12, "12"),
            (np.int64(12345678), "12345678"),
            ("bv-0.1", "bv-0.1"),
        ],
    )
    def test_of_a_value(self, value, shown):
        assert cell(value) == shown


class TestUnprintable:
    """A name with a line break or an escape stays in its line and moves no cursor; tests/test_cli.py has the rest."""

    NAME = "X\n\\input{other}\x1b[31m\u2028\x85!"
    SHOWN = r"X\n\input{other}\x1b[31m\u2028\x85!"

    def test_in_remarks_of_all_forms(self):
        table = Result({"recommender": [self.NAME], "value": [0.5]})
        table = table.with_remarks([f"{self.NAME} is far."]).with_cautions([f"{self.NAME} is wrong."])
        assert table.remarks == (f"{self.SHOWN} is wrong.", f"{self.SHOWN} is far.")
        remarks, rows = table.latex().split("\\begin{tabular}")
        assert remarks.splitlines() == [f"% {self.SHOWN} is wrong.", f"% {self.SHOWN} is far."]
        assert r"\input" not in rows
        assert all(line.isprintable() for form in (repr(table), table.latex()) for line in form.split("\n"))

    def test_in_names_of_recommenders(self):
        ranks = sm.exact_ranks({self.NAME: [1, 2, 30], "Y": [2, 3, 4]}, candidates=100)
        assert list(ranks) == [self.SHOWN, "Y"]
        assert self.SHOWN in "".join(sm.compare(ranks).remarks)
        by_column = pd.DataFrame({"model": [self.NAME, "Y"], "rank": [1, 2]})
        assert list(sm.exact_ranks(by_column, candidates=100, by="model")) == [self.SHOWN, "Y"]
        published = sm.published(
            {self.NAME: {"hr@10": 0.5}, "Y": {"hr@10": 0.4}}, negatives=99, candidates=999, users=10
        )
        assert set(published["recommender"]) == {self.SHOWN, "Y"}
