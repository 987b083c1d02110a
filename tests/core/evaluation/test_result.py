"""The result of evaluate, correct, compare, expect and plan: a DataFrame that keeps its
findings.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from values_with_intervals import VALUES

import sampled_metrics as sm
from sampled_metrics import _registry
from sampled_metrics.core.evaluation.result import Result, by_recommender, cell, together
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting

ON_READING = [
    Finding("columns-not-used", values={"columns": ["<remark> & more"]}),
    Finding("rows-as-users"),
]
REMARKS = [
    "Columns that are not used: <remark> & more. If a column holds users, recommenders or seeds, "
    "give its name as user_column, by or seeds.",
    "Each row counts as a user, as there is no column user.",
]
CAUTION = "No rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best is 1."


@pytest.fixture
def table():
    result = Result({"metric": ["ap", "auc", "recall@10"], "value": [0.123456, np.nan, 12345.6]})
    return result.found(ON_READING, Setting(0.9))


@pytest.mark.parametrize(
    "take",
    [
        lambda t: t[t["metric"] == "ap"],
        lambda t: t.assign(more=1),
        copy.deepcopy,
        lambda t: pickle.loads(pickle.dumps(t)),
    ],
    ids=["mask", "assign", "deepcopy", "pickle"],
)
def test_findings_stay_with_what_is_taken(table, take):
    part = take(table)
    assert isinstance(part, Result)
    assert part.findings == table.findings
    assert part.setting == Setting(0.9)
    assert part.remarks == tuple(REMARKS)


@pytest.mark.parametrize(
    "put_together",
    [
        lambda t, u: pd.concat([t, u]),
        lambda t, u: t[["value"]] - u[["value"]],
    ],
    ids=["rows", "difference"],
)
def test_what_is_made_of_several_results_is_a_plain_table(table, put_together):
    """So nobody reads the findings of one, or none, as those of all."""
    with_few_users = Result(table).found([Finding("few-users", values={"users": 3})])
    whole = put_together(table, with_few_users)
    assert type(whole) is pd.DataFrame
    plain = put_together(pd.DataFrame(table), pd.DataFrame(with_few_users))
    pd.testing.assert_frame_equal(whole, plain)


def test_metrics_are_pickled_as_what_they_are():
    metric = sm.metric("recall@10")
    assert pickle.loads(pickle.dumps(metric)) is metric
    assert copy.deepcopy(metric) is metric


def test_findings_are_each_there_once_with_cautions_first_and_leave_the_table_as_it_was(table):
    more = table.found([*ON_READING, Finding("few-users", values={"users": 3}), *ON_READING])
    kinds = [finding.kind for finding in more.findings]
    assert kinds == ["columns-not-used", "rows-as-users", "few-users"]
    assert (more.setting, len(table.findings)) == (Setting(0.9), 2)
    warned = table.found([Finding("no-rank-zero", values={"source": "ranks"})])
    assert (warned.cautions, warned.further_remarks) == ((CAUTION,), tuple(REMARKS))
    assert warned.remarks == (CAUTION, *REMARKS)


def test_findings_are_plain_as_json():
    values = {"low": np.float64(np.nan), "of": {1: np.int64(2)}, "all": (1,)}
    plain = {"kind": "bias", "metric": "ap", "names": ["X"], "group": "young"}
    plain["values"] = {"low": None, "of": {"1": 2}, "all": [1]}
    assert Finding("bias", "ap", ("X",), "young", values).plain() == plain


def results(setting):
    value = Result({"metric": ["ap"], "value": [0.1]})
    return {
        name: value.found([Finding("few-users", values={"users": users})], setting)
        for name, users in (("X", 3), ("Y", 4))
    }


def test_the_findings_of_recommenders_have_their_names_and_those_of_groups_their_groups():
    result = by_recommender(results(Setting(0.9, "3 users")))
    names_and_groups = [(finding.names, finding.group) for finding in result.findings]
    assert names_and_groups == [(("X",), ""), (("Y",), "")]
    assert result.setting == Setting(0.9, "3 users", ("X", "Y"))
    assert result["recommender"].tolist() == ["X", "Y"]
    result = together(results(Setting(names=("A",))), "group")
    names_and_groups = [(finding.names, finding.group) for finding in result.findings]
    assert names_and_groups == [((), "X"), ((), "Y")]
    assert result.setting.names == ("A",)


def test_text_has_rows_then_remarks(table):
    lines = repr(table).splitlines()
    cells = [["metric", "value"], ["ap", "0.1235"], ["auc", "-"], ["recall@10", "12346"]]
    assert [line.split() for line in lines[:4]] == cells
    assert lines[4:] == ["", REMARKS[0], "", REMARKS[1]]


def test_text_of_a_value_and_of_a_p_value():
    texts = {
        1 / 3: "0.3333",
        1e-7: "1e-07",
        1e-13: "0",
        -1234.56: "-1235",
        999.94: "999.9",
        np.int64(12345678): "12345678",
        "bv-0.1": "bv-0.1",
        pd.NA: "-",
    }
    assert [cell(value) for value in texts] == [*texts.values()]
    p_values = Result({"p_value": [0.0, 3.25e-14, np.nan]}).as_text()["p_value"]
    assert p_values.tolist() == ["< 1e-16", "3.25e-14", "-"]


NAME = "X\n\\input{other}\x1b[31m\u2028\x85!"
"""A name with a line break and an escape stays in its line and moves no cursor;
tests/cli/test_cli.py has the rest.
"""
SHOWN = r"X\n\input{other}\x1b[31m\u2028\x85!"


def test_what_cannot_be_printed_is_escaped_in_names_and_in_remarks():
    findings = [
        Finding("columns-not-used", values={"columns": [NAME]}),
        Finding("no-rank-zero", values={"source": NAME}),
    ]
    table = Result({"recommender": [NAME], "value": [0.5]}).found(findings)
    caution, remark = table.remarks
    assert caution == f"{SHOWN}: {CAUTION}"
    assert f": {SHOWN}." in remark
    assert all(line.isprintable() for line in repr(table).split("\n"))
    assert list(sm.exact_ranks({NAME: [1, 2, 30], "Y": [2, 3, 4]}, candidates=100)) == [SHOWN, "Y"]


@pytest.mark.parametrize(
    ("show", "word"),
    [(lambda: VALUES.to_latex(), "LaTeX"), (lambda: VALUES.plot(), "figures")],
    ids=["LaTeX", "figure"],
)
def test_what_a_package_that_is_not_installed_would_show_is_refused_in_one_line(
    show, word, monkeypatch
):
    monkeypatch.delitem(_registry.PACKAGES, "reporting", raising=False)
    assert VALUES._repr_html_() is None  # a notebook shows the text
    with pytest.raises(sm.ConfigError, match=word):
        show()
