"""Results as LaTeX and html: their rows, digits, remarks, and what is escaped."""

import numpy as np
import pandas as pd
import pytest
import read_and
from matplotlib import pyplot
from read_and import compare, evaluate
from values_with_intervals import VALUES

import sampled_metrics as sm
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.errors import ConfigError

LINES = [
    r"\begin{table}", r"\centering",
    r"\caption{9 users, m = 20. In brackets: 90 \% intervals.}",
    r"\begin{tabular}{lll}", r"\toprule", r"Recommender & Recall@10 & AUC \\", r"\midrule",
    r"X\_1 & \textbf{0.2500} [0.2000, 0.3000] & 0.5000 [0.4500, 0.5500] \\",
    r"Y & 0.1250 & - \\",
    r"\bottomrule", r"\end{tabular}", r"\end{table}",
]  # fmt: skip


def test_latex_has_a_row_for_each_recommender_and_estimator(tmp_path):
    assert VALUES.to_latex(tmp_path / "t.tex") is None
    assert (tmp_path / "t.tex").read_text().splitlines() == LINES
    latex = VALUES.assign(estimator=["free", "free", "decreasing", "decreasing"]).to_latex()
    assert r"Recommender & Estimator & Recall@10 & AUC \\" in latex
    assert "Y & Decreasing & 0.1250 & - " in latex
    with pytest.raises(ConfigError, match="digits"):
        VALUES.to_latex(digits=-1)
    # no column tells these rows apart
    with pytest.raises(ConfigError, match="intervals"):
        Result(pd.concat([VALUES, VALUES])).to_latex(digits=2)


def rows_of_latex(table, **options):
    return [
        line.removesuffix(r" \\").split(" & ")
        for line in table.to_latex(**options).splitlines()
        if " & " in line
    ]


def test_latex_has_the_digits_and_the_best_of_each_estimator_in_bold():
    """Of each estimator and metric, one recommender is the best, or two are."""
    rows = [("X", "free", 0.125, 0.1, 0.2), ("Y", "free", 0.25, 0.2, 0.5)]
    rows += [
        ("X", "mle", 0.5, 0.4, 0.75),
        ("Y", "mle", 0.5, 0.2, 0.75),
        ("Z", "mle", 0.25, 0.2, 0.3),
    ]
    table = Result(rows, columns=["recommender", "estimator", "value", "low", "high"])
    table = table.assign(metric="auc")
    assert rows_of_latex(table, percent=True, bold=True) == [
        ["Recommender", "Estimator", r"AUC (\%)"],
        ["X", "Free", "12.50 [10.00, 20.00]"],
        ["Y", "Free", r"\textbf{25.00} [20.00, 50.00]"],
        ["X", "MLE", r"\textbf{50.00} [40.00, 75.00]"],
        ["Y", "MLE", r"\textbf{50.00} [20.00, 75.00]"],
        ["Z", "MLE", "25.00 [20.00, 30.00]"],
    ]
    assert "X & MLE & 0.500 [0.400, 0.750]" in table.to_latex(digits=3, bold=False)


def test_what_cannot_be_printed_is_escaped():
    """A name with a line break and an escape stays in its line and moves no cursor."""
    name = "X\n\\input{other}\x1b[31m\u2028"
    findings = [
        Finding("columns-not-used", values={"columns": [name]}),
        Finding("no-rank-zero", values={"source": name}),
    ]
    table = Result({"recommender": [name], "value": [0.5]}).found(findings)
    caution, remark, *lines = table.to_latex().split("\n")
    shown = r"X\n\input{other}\x1b[31m\u2028"
    assert caution.startswith(f"% {shown}: No rank is 0")
    assert remark.startswith(f"% Columns that are not used: {shown}.")
    assert r"\input" not in "".join(lines)
    assert all(line.isprintable() for line in lines)


def test_html_has_rows_then_remarks():
    columns = Finding("columns-not-used", values={"columns": ["<remark> & more"]})
    table = Result({"metric": ["ap"], "value": [0.123456]}).found(
        [columns, Finding("one-grade")], Setting(0.9)
    )
    page = table._repr_html_()
    assert ">0.1235</td>" in page
    assert "<p>Columns that are not used: &lt;remark&gt; &amp; more." in page
    assert "<script>" not in Result({"a": ["<script>"]})._repr_html_()


def test_a_caution_stands_before_the_numbers(no_figures):
    ranks = np.arange(1, 101)
    options = {"candidates": 900, "zero_based": True, "metrics": "recall@10"}
    caution = "No rank is 0"
    assert caution in evaluate(ranks, **options)._repr_html_().split("</p>")[0]
    page = read_and.report({"x": ranks, "y": ranks[::-1]}, **options)
    verdict = page.index('<p class="verdict">')
    assert verdict < page.index(f'<p class="caution">x: {caution}') < page.index("<table")


# --- several recommenders, groups and seeds ---


def test_latex_has_the_letters_of_the_standings():
    """Hits at 60, 58 and 20 of 100."""
    users = np.arange(100)
    hits = {"A_": 60, "B": 58, "C": 20}
    ranks = {name: np.where(users < hits[name], 1, 50) for name in hits}
    table = compare(ranks, candidates=100, metrics=["recall@10", "ap"])
    header, *rows = rows_of_latex(table)
    assert header == ["Recommender", "Recall@10", "AP"]
    assert [row[:2] for row in rows] == [
        [r"A\_", r"\textbf{0.6000}\textsuperscript{a}"],
        ["B", r"0.5800\textsuperscript{a}"],
        ["C", r"0.2000\textsuperscript{b}"],
    ]
    assert rows_of_latex(table, percent=True, digits=1, bold=False)[1][1] == (
        r"60.0\textsuperscript{a}"
    )
    caption = table.to_latex(caption="Results.", label="tab:auc")
    assert r"\caption{Results. 100 users" in caption
    assert "without a letter in common differ" in caption
    assert r"\label{tab:auc}" in caption


def test_latex_of_groups_has_a_row_for_each_recommender_of_each_group():
    users = np.arange(100)
    ranks = {"good": {"user": users, "rank": 1 + users % 50}, "poor": {"user": users, "rank": 60}}
    tables = sm.exact_ranks(ranks, candidates=100, exact=True)
    two = sm.compare(tables, metrics=["auc", "ap"], groups=dict(enumerate(users % 2)))
    header, *rows = rows_of_latex(two)
    assert header == ["Group", "Recommender", "AUC", "AP"]
    assert ["".join(row[:2]) for row in rows] == [
        "allgood", "allpoor", "0good", "0poor", "1good", "1poor"
    ]  # fmt: skip


def test_latex_of_seeds_has_each_recommender_once_with_the_interval_of_new_runs():
    rng = np.random.default_rng(3)
    tables = {
        name: [sm.exact_ranks(rng.integers(1, last, 60), candidates=100) for _ in range(2)]
        for name, last in {"A": 99, "B": 30}.items()
    }
    values = sm.evaluate(tables, metrics="ap")
    new_runs = values[values["inference"] == "new_runs"]
    header, *rows = rows_of_latex(values)
    assert header == ["Recommender", "AP"]
    for row, value in zip(rows, new_runs.itertuples(), strict=True):
        assert f"[{value.low:.4f}, {value.high:.4f}]" in row[1]
    assert "describe new runs" in values.to_latex()
    assert "describe these runs" in values[values["inference"] == "these_runs"].to_latex()
    assert values.drop(columns="inference").to_latex().count(r"\\") >= 1 + len(values)
    pairs = sm.compare(tables, metrics="ap")
    assert [name for name, _ in rows_of_latex(pairs)[1:]] == ["B", "A"]
    labels = [label.get_text() for label in pairs.plot().get_yticklabels()]
    assert labels == ["new runs", "these runs"]
    pyplot.close("all")
