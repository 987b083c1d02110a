"""The result of evaluate, correct, compare, expect and plan: a DataFrame that keeps its
findings.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.result import Result, by_recommender, cell, together
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.errors import ConfigError

ON_READING = [
    Finding("columns-not-used", values={"columns": ["<remark> & more"], "unit": ""}),
    Finding("index-as-user"),
]
REMARKS = ["The column <remark> & more is not used.", "The index is taken as user."]
CAUTION = "No rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best is 1."


@pytest.fixture
def table():
    result = Result({"metric": ["ap", "auc", "recall@10"], "value": [0.123456, np.nan, 12345.6]})
    return result.found(ON_READING, Setting(0.9))


@pytest.mark.parametrize(
    "take",
    [
        lambda t: t[t["metric"] == "ap"], lambda t: t.loc[[0, 2]], lambda t: t.assign(more=1),
        lambda t: t.query("metric == 'auc'"), lambda t: t.rename(columns={"value": "v"}),
        copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t)),
    ],
)  # fmt: skip
def test_findings_stay_with_what_is_taken(table, take):
    taken = take(table)
    assert isinstance(taken, Result)
    assert (taken.findings, taken.setting, taken.remarks) == (
        table.findings,
        Setting(0.9),
        tuple(REMARKS),
    )


@pytest.mark.parametrize(
    "put_together",
    [
        lambda t, other: pd.concat([t, other]), lambda t, other: pd.concat([t, other], axis=1),
        lambda t, other: t.merge(other, on="metric"),
        lambda t, other: t[["value"]] - other[["value"]],
    ],
)  # fmt: skip
def test_what_is_made_of_several_results_is_a_plain_table(table, put_together):
    """So nobody reads the findings of one, or none, as those of all."""
    other = Result(table).found([Finding("few-users", values={"users": 3})])
    made = put_together(table, other)
    assert type(made) is pd.DataFrame
    plain = put_together(pd.DataFrame(table), pd.DataFrame(other))
    pd.testing.assert_frame_equal(made, plain)


def test_findings_and_metrics_are_hashed_and_pickled(table):
    results = {finding: finding.kind for finding in table.findings}
    assert {pickle.loads(pickle.dumps(finding)) for finding in results} == set(table.findings)
    for label in ("recall@10", "auc", "map"):
        assert (
            pickle.loads(pickle.dumps(sm.metric(label)))
            is copy.deepcopy(sm.metric(label))
            is sm.metric(label)
        )


def test_findings_are_each_there_once_with_cautions_first_and_leave_the_table_as_it_was(table):
    more = table.found([*ON_READING, Finding("few-users", values={"users": 3}), *ON_READING])
    assert [finding.kind for finding in more.findings] == [
        "columns-not-used",
        "index-as-user",
        "few-users",
    ]
    assert (more.setting, len(table.findings)) == (Setting(0.9), 2)
    warned = table.found([Finding("no-rank-zero", values={"source": "ranks"})])
    assert (warned.cautions, warned.further_remarks) == ((CAUTION,), tuple(REMARKS))
    assert warned.remarks == (CAUTION, *REMARKS)


def test_findings_are_plain_as_json():
    values = {"low": np.float64(np.nan), "of": {1: np.int64(2)}, "all": (1,)}
    plain = {"kind": "bias", "metric": "ap", "names": ["X"], "group": "young"}
    plain["values"] = {"low": None, "of": {"1": 2}, "all": [1]}
    assert Finding("bias", "ap", ("X",), "young", values).plain() == plain


def results(*settings):
    tables = (Result({"metric": ["ap"], "value": [each]}) for each in (0.1, 0.2))
    return {
        name: table.found([Finding("few-users")], setting)
        for name, table, setting in zip("XY", tables, settings, strict=True)
    }


def test_the_findings_of_recommenders_have_their_names_and_those_of_groups_their_groups():
    found = by_recommender(results(*[Setting(0.9, "3 users")] * 2))
    assert [(finding.names, finding.group) for finding in found.findings] == [
        (("X",), ""),
        (("Y",), ""),
    ]
    assert found.setting == Setting(0.9, "3 users", ("X", "Y"))
    assert found[["recommender", "value"]].values.tolist() == [["X", 0.1], ["Y", 0.2]]
    found = together(results(*[Setting(names=("A",))] * 2), "group")
    assert [(finding.names, finding.group) for finding in found.findings] == [((), "X"), ((), "Y")]
    assert found.setting.names == ("A",)


def test_text_and_html_have_rows_then_remarks(table):
    lines = repr(table).splitlines()
    cells = [["metric", "value"], ["ap", "0.1235"], ["auc", "-"], ["recall@10", "12346"]]
    assert [line.split() for line in lines[:4]] == cells
    assert lines[4:] == ["", REMARKS[0], "", REMARKS[1]]
    page = table._repr_html_()
    assert ">0.1235</td>" in page
    assert (
        "<p>The column &lt;remark&gt; &amp; more is not used.</p>\n<p>The index is taken as "
        "user.</p>" in page
    )
    assert "<script>" not in Result({"a": ["<script>"]})._repr_html_()


def test_text_of_a_value_and_of_a_p_value():
    shown = {
        0.5: "0.5",
        1 / 3: "0.3333",
        1e-7: "1e-07",
        1e-13: "0",
        -1234.56: "-1235",
        999.94: "999.9",
        np.int64(12345678): "12345678",
        "bv-0.1": "bv-0.1",
        float("nan"): "-",
        pd.NA: "-",
    }
    assert [cell(value) for value in shown] == [*shown.values()]
    assert Result({"p_value": [0.0, 3.25e-14, np.nan]}).as_text()["p_value"].tolist() == [
        "< 1e-16",
        "3.25e-14",
        "-",
    ]


VALUES = Result(
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
LINES = [
    "% 9 users, m = 20. In brackets: 90 % intervals.",
    r"\begin{tabular}{lll}", r"\toprule", r"Recommender & Recall@10 & AUC \\", r"\midrule",
    r"X\_1 & 0.2500 [0.2000, 0.3000] & 0.5000 [0.4500, 0.5500] \\",
    r"Y & 0.1250 [-] & - \\",
    r"\bottomrule", r"\end{tabular}",
]  # fmt: skip


def test_latex_has_a_row_for_each_recommender_and_estimator_and_a_sentence_is_of_the_rows(tmp_path):
    assert VALUES.to_latex(tmp_path / "t.tex") is None
    assert (tmp_path / "t.tex").read_text().splitlines() == LINES
    latex = VALUES.assign(estimator=["free", "free", "decreasing", "decreasing"]).to_latex()
    assert r"Recommender & Estimator & Recall@10 & AUC \\" in latex
    assert "Y & decreasing & 0.1250 [-] & - " in latex
    with pytest.raises(
        ConfigError, match=r"digits, percent and bold, not float_format; pandas.DataFrame"
    ):
        VALUES.to_latex(float_format="%.2f")
    with pytest.raises(ConfigError, match="digits must be"):
        VALUES.to_latex(digits=-1)
    with pytest.raises(ConfigError, match="are for values with intervals"):
        Result({"recommender": ["X"], "exact": [0.5]}).to_latex(digits=2)
    with pytest.raises(
        ConfigError, match="are for values with intervals"
    ):  # the number of other results, too
        Result({"recommender": ["X"], "exact": [0.5]}).to_latex(digits=4)
    with pytest.raises(
        ConfigError, match="are for values with intervals"
    ):  # no column tells these rows apart
        Result(pd.concat([VALUES, VALUES])).to_latex(digits=2)
    sentence = VALUES[VALUES["metric"] == "auc"].sentence()
    assert sentence == "AUC of X_1 is 0.5000 by Free (90 % interval 0.4500 to 0.5500)."


def test_latex_has_the_digits_and_the_best_of_each_estimator_in_bold():
    """Of each estimator and metric, one of two recommenders is the best."""
    rows = [("X", "free", 0.125, 0.1, 0.2), ("Y", "free", 0.25, 0.2, 0.5)]
    rows += [("X", "mle", 0.5, 0.4, 0.75), ("Y", "mle", 0.25, 0.2, 0.3)]
    table = Result(rows, columns=["recommender", "estimator", "value", "low", "high"]).assign(
        metric="auc"
    )
    lines = [
        line.removesuffix(r" \\")
        for line in table.to_latex(percent=True, bold=True).splitlines()
        if "&" in line
    ]
    assert lines == [
        r"Recommender & Estimator & AUC (\%)",
        r"X & free & 12.50 [10.00, 20.00]",
        r"Y & free & \textbf{25.00 [20.00, 50.00]}",
        r"X & mle & \textbf{50.00 [40.00, 75.00]}",
        r"Y & mle & 25.00 [20.00, 30.00]",
    ]
    assert "X & mle & 0.500 [0.400, 0.750]" in table.to_latex(digits=3)


NAME = "X\n\\input{other}\x1b[31m\u2028\x85!"
"""A name with a line break and an escape stays in its line and moves no cursor;
tests/cli/test_cli.py has the rest.
"""
SHOWN = r"X\n\input{other}\x1b[31m\u2028\x85!"


def test_what_cannot_be_printed_is_escaped_in_names_and_in_remarks_of_all_forms():
    findings = [
        Finding("columns-not-used", values={"columns": [NAME], "unit": ""}),
        Finding("no-rank-zero", values={"source": NAME}),
    ]
    table = Result({"recommender": [NAME], "value": [0.5]}).found(findings)
    assert table.remarks == (f"{SHOWN}: {CAUTION}", f"The column {SHOWN} is not used.")
    remarks, rows = table.to_latex().split("\\begin{tabular}")
    assert remarks.splitlines() == [f"% {SHOWN}: {CAUTION}", f"% The column {SHOWN} is not used."]
    assert r"\input" not in rows
    assert all(
        line.isprintable() for form in (repr(table), table.to_latex()) for line in form.split("\n")
    )
    assert list(sm.exact_ranks({NAME: [1, 2, 30], "Y": [2, 3, 4]}, candidates=100)) == [SHOWN, "Y"]
