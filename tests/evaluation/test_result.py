"""The result of evaluate, correct, compare, expect and plan: a DataFrame that keeps its findings."""

import copy
import io
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.evaluation.result import Result, by_recommender, cell, together
from sampled_metrics.inference.findings import Finding, Setting, notes

REMARKS = ["First <remark> & more.", "Second."]


@pytest.fixture
def table():
    result = Result({"metric": ["ap", "auc", "recall@10"], "value": [0.123456, np.nan, 12345.6]})
    return result.found(notes(REMARKS), Setting(0.9))


class TestFindings:
    @pytest.mark.parametrize(
        "take",
        [
            lambda t: t.copy(), lambda t: t[t["metric"] == "ap"], lambda t: t.iloc[:2], lambda t: t.loc[[0, 2]],
            lambda t: t[["value"]], lambda t: t.head(1), lambda t: t.sort_values("value"), lambda t: t.assign(more=1),
            lambda t: t.reset_index(drop=True), lambda t: t.query("metric == 'auc'"), copy.copy, copy.deepcopy,
            lambda t: t.drop(columns="value"), lambda t: t.rename(columns={"value": "v"}), lambda t: t.round(2),
            lambda t: pickle.loads(pickle.dumps(t)),
        ],
    )  # fmt: skip
    def test_stay_with_what_is_taken(self, table, take):
        taken = take(table)
        assert isinstance(taken, Result)
        assert taken.findings == table.findings
        assert taken.setting == Setting(0.9)
        assert taken.remarks == tuple(REMARKS)

    def test_are_each_there_once_and_leave_the_table_as_it_was(self, table):
        more = table.found([*notes(REMARKS), Finding("few-users", values={"users": 3}), *notes(REMARKS)])
        assert [finding.kind for finding in more.findings] == ["note", "note", "few-users"]
        assert (more.setting, len(table.findings)) == (Setting(0.9), 2)

    def test_that_are_cautions_come_first_in_remarks(self, table):
        found = table.found(notes(["Wrong."], "caution"))
        assert (found.cautions, found.further_remarks) == (("Wrong.",), tuple(REMARKS))
        assert found.remarks == ("Wrong.", *REMARKS)

    def test_are_plain_as_json(self):
        values = {"low": np.float64(np.nan), "of": {1: np.int64(2)}, "all": (1,)}
        plain = {"kind": "bias", "metric": "ap", "names": ["X"], "group": "young"}
        plain["values"] = {"low": None, "of": {"1": 2}, "all": [1]}
        assert Finding("bias", "ap", ("X",), "young", values).plain() == plain


class TestTogether:
    def results(self, *settings):
        tables = (Result({"metric": ["ap"], "value": [each]}) for each in (0.1, 0.2))
        return {name: table.found([Finding("few-users")], setting)
                for name, table, setting in zip("XY", tables, settings, strict=True)}  # fmt: skip

    def test_the_findings_of_recommenders_have_their_names(self):
        found = by_recommender(self.results(*[Setting(0.9, "3 users")] * 2))
        assert [(finding.names, finding.group) for finding in found.findings] == [(("X",), ""), (("Y",), "")]
        assert found.setting == Setting(0.9, "3 users", ("X", "Y"))
        assert found[["recommender", "value"]].values.tolist() == [["X", 0.1], ["Y", 0.2]]
        assert by_recommender(self.results(Setting(), Setting(0.95, "4 users"))).setting.parameters == ""

    def test_the_findings_of_groups_have_their_groups(self):
        found = together(self.results(*[Setting(names=("A",))] * 2), "group")
        assert [(finding.names, finding.group) for finding in found.findings] == [((), "X"), ((), "Y")]
        assert found.setting.names == ("A",)


class TestText:
    def test_rows_then_remarks(self, table):
        lines = repr(table).splitlines()
        cells = [["metric", "value"], ["ap", "0.1235"], ["auc", "-"], ["recall@10", "12346"]]
        assert [line.split() for line in lines[:4]] == cells
        assert lines[4:] == ["", REMARKS[0], "", REMARKS[1]]

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

    def test_of_a_value(self):
        shown = {0.5: "0.5", 1 / 3: "0.3333", 1e-7: "1e-07", np.float64(2 / 3): "0.6667", -1234.56: "-1235",
                 999.94: "999.9", 12: "12", np.int64(12345678): "12345678", "bv-0.1": "bv-0.1"}  # fmt: skip
        assert [cell(value) for value in shown] == [*shown.values()]
        assert cell(float("nan")) == cell(pd.NA) == "-"


class TestLatex:
    TABLE = Result(
        {
            "recommender": ["X_1", "X_1", "Y", "Y"],
            "estimator": ["free"] * 4,
            "metric": ["recall@10", "auc"] * 2,
            "value": [0.25, 0.5, 0.125, float("nan")],
            "low": [0.2, 0.45, float("nan"), float("nan")],
            "high": [0.3, 0.55, float("nan"), float("nan")],
            "users": [9] * 4,
        }
    ).found([], Setting(0.9, "9 users, m = 20"))
    LINES = (
        "% 9 users, m = 20. In brackets: 90 % intervals.",
        r"\begin{tabular}{lll}", r"\toprule", r"Recommender & Recall@10 & AUC \\", r"\midrule",
        r"X\_1 & 0.2500 [0.2000, 0.3000] & 0.5000 [0.4500, 0.5500] \\",
        r"Y & 0.1250 [-] & - \\",
        r"\bottomrule", r"\end{tabular}",
    )  # fmt: skip

    def test_has_a_row_for_each_recommender_and_values_with_intervals(self):
        assert self.TABLE.to_latex().splitlines() == [*self.LINES]

    def test_of_several_estimators_and_groups_has_rows_for_each(self):
        table = self.TABLE.assign(estimator=["free", "free", "decreasing", "decreasing"])
        assert r"Recommender & Estimator & Recall@10 & AUC \\" in table.to_latex()
        assert "Y & decreasing & 0.1250 [-] & - " in table.to_latex()

    def test_is_written_to_a_path_or_a_file(self, tmp_path):
        buffer = io.StringIO()
        assert self.TABLE.to_latex(buffer) is self.TABLE.to_latex(tmp_path / "t.tex") is None
        assert buffer.getvalue().splitlines() == (tmp_path / "t.tex").read_text().splitlines() == [*self.LINES]

    def test_with_arguments_is_that_of_pandas(self):
        assert self.TABLE.to_latex(index=False) == pd.DataFrame(self.TABLE).to_latex(index=False)

    def test_sentence_is_of_the_rows(self):
        sentence = self.TABLE[self.TABLE["metric"] == "auc"].sentence()
        assert sentence.endswith("The values, with 90 % intervals: AUC of X_1 by Free 0.5000 (0.4500 to 0.5500).")


class TestUnprintable:
    """A name with a line break or an escape stays in its line and moves no cursor; tests/test_cli.py has the rest."""

    NAME = "X\n\\input{other}\x1b[31m\u2028\x85!"
    SHOWN = r"X\n\input{other}\x1b[31m\u2028\x85!"

    def test_in_remarks_of_all_forms(self):
        texts = notes([f"{self.NAME} is far."]) + notes([f"{self.NAME} is wrong."], "caution")
        table = Result({"recommender": [self.NAME], "value": [0.5]}).found(texts)
        assert table.remarks == (f"{self.SHOWN} is wrong.", f"{self.SHOWN} is far.")
        remarks, rows = table.to_latex().split("\\begin{tabular}")
        assert remarks.splitlines() == [f"% {self.SHOWN} is wrong.", f"% {self.SHOWN} is far."]
        assert r"\input" not in rows
        assert all(line.isprintable() for form in (repr(table), table.to_latex()) for line in form.split("\n"))

    def test_in_names_of_recommenders(self):
        ranks = sm.exact_ranks({self.NAME: [1, 2, 30], "Y": [2, 3, 4]}, candidates=100)
        assert list(ranks) == [self.SHOWN, "Y"]
        assert self.SHOWN in "".join(sm.compare(ranks).remarks)
        by_column = pd.DataFrame({"model": [self.NAME, "Y"], "rank": [1, 2]})
        assert list(sm.exact_ranks(by_column, candidates=100, by="model")) == [self.SHOWN, "Y"]
        values = {self.NAME: {"hr@10": 0.5}, "Y": {"hr@10": 0.4}}
        published = sm.published(values, negatives=99, candidates=999, users=10)
        assert set(published["recommender"]) == {self.SHOWN, "Y"}
