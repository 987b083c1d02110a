"""Results as LaTeX and html: their rows, digits, remarks, and what is escaped."""

import numpy as np
import pandas as pd
import pytest
import read_and
from read_and import compare, evaluate
from values_with_intervals import VALUES

import sampled_metrics as sm
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.errors import ConfigError

CAUTION = "No rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best is 1."
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
    with pytest.raises(ConfigError, match="intervals"):
        Result({"recommender": ["X"], "exact": [0.5]}).to_latex(digits=2)
    # the number of other results, too
    with pytest.raises(ConfigError, match="intervals"):
        Result({"recommender": ["X"], "exact": [0.5]}).to_latex(digits=4)
    # no column tells these rows apart
    with pytest.raises(ConfigError, match="intervals"):
        Result(pd.concat([VALUES, VALUES])).to_latex(digits=2)


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
        r"X & Free & 12.50 [10.00, 20.00]",
        r"Y & Free & \textbf{25.00} [20.00, 50.00]",
        r"X & MLE & \textbf{50.00} [40.00, 75.00]",
        r"Y & MLE & 25.00 [20.00, 30.00]",
    ]
    assert "X & MLE & 0.500 [0.400, 0.750]" in table.to_latex(digits=3, bold=False)


NAME = "X\n\\input{other}\x1b[31m\u2028\x85!"
"""A name with a line break and an escape stays in its line and moves no cursor;
tests/cli/test_cli.py has the rest.
"""
SHOWN = r"X\n\input{other}\x1b[31m\u2028\x85!"


def test_what_cannot_be_printed_is_escaped():
    findings = [
        Finding("columns-not-used", values={"columns": [NAME]}),
        Finding("no-rank-zero", values={"source": NAME}),
    ]
    table = Result({"recommender": [NAME], "value": [0.5]}).found(findings)
    remarks, rows = table.to_latex().split("\\begin{tabular}")
    caution, remark = remarks.splitlines()
    assert caution == f"% {SHOWN}: {CAUTION}"
    assert remark.startswith(f"% Columns that are not used: {SHOWN}.")
    assert r"\input" not in rows
    assert all(line.isprintable() for line in table.to_latex().split("\n"))


def test_html_has_rows_then_remarks():
    columns = Finding("columns-not-used", values={"columns": ["<remark> & more"]})
    table = Result({"metric": ["ap"], "value": [0.123456]}).found(
        [columns, Finding("one-grade")], Setting(0.9)
    )
    page = table._repr_html_()
    assert ">0.1235</td>" in page
    assert "<p>Columns that are not used: &lt;remark&gt; &amp; more." in page
    assert "<script>" not in Result({"a": ["<script>"]})._repr_html_()


def test_a_caution_stands_before_the_numbers():
    ranks = np.random.default_rng(1).integers(1, 900, 400)
    result = evaluate(ranks, candidates=900, zero_based=True)
    caution = "No rank is 0"
    assert caution in result._repr_html_().split("</p>")[0]
    assert caution in result.to_latex().split("\n")[0]
    options = {"candidates": 900, "zero_based": True, "metrics": "recall@10"}
    page = read_and.report({"x": ranks, "y": ranks[::-1]}, **options)
    verdict = page.index('<p class="verdict">')
    assert verdict < page.index('<p class="caution">x: No rank is 0') < page.index("<table")


# --- several recommenders, and groups ---


@pytest.fixture
def ranks():
    rng = np.random.default_rng(12)
    base = rng.integers(1, 100, size=300)
    good, fair = (np.maximum(1, base - rng.integers(0, 30, 300)) for _ in range(2))
    return {"good": good, "fair": fair, "poor": base}


def rows_of_latex(table):
    return [
        line.removesuffix(r" \\").split(" & ")
        for line in table.to_latex().splitlines()
        if " & " in line
    ]


def test_latex_has_the_letters_of_the_standings(ranks):
    with_underscores = {name.replace("o", "_"): ranks[name] for name in ranks}
    table = compare(with_underscores, candidates=100, metrics=["auc", "ap"])
    header, *rows = rows_of_latex(table)
    assert header == ["Recommender", "AUC", "AP"]
    standings = table.standings()
    standings_by_auc = standings[standings["metric"] == "auc"]
    assert [row[0] for row in rows] == [r"g\_\_d", "fair", r"p\_\_r"]
    for row, standing in zip(rows, standings_by_auc.itertuples(), strict=True):
        assert f"{standing.value:.4f}" in row[1]
        assert row[1].endswith(rf"\textsuperscript{{{standing.group}}}")
    assert [row[1].startswith(r"\textbf") for row in rows] == [True, False, False]
    caption = table.to_latex(caption="Results.", label="tab:auc")
    assert r"\caption{Results. 300 users" in caption
    assert "without a letter in common differ" in caption
    assert r"\label{tab:auc}" in caption


def test_latex_in_per_cent_with_the_best_value_in_bold():
    """Hits at 2 of 4, 1 of 4 and 2 of 4; the two best are equal, so that both are bold."""
    ranks = {"A": [1, 1, 50, 60], "B": [1, 50, 60, 70], "C": [1, 50, 1, 60]}
    table = sm.compare(sm.exact_ranks(ranks, candidates=100), metrics="recall@10")
    text = table.to_latex(percent=True, digits=1)
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if " & " in line]
    assert lines == [
        r"Recommender & Recall@10 (\%)",
        r"A & \textbf{50.0}\textsuperscript{a}",
        r"C & \textbf{50.0}\textsuperscript{a}",
        r"B & 25.0\textsuperscript{a}",
    ]
    assert r"\textbf" not in table.to_latex(percent=True, bold=False)
    assert "& 50.00" in table.to_latex(percent=True, bold=False)


def test_latex_of_groups_has_a_row_for_each_recommender_of_each_group(ranks):
    users = np.arange(300)
    tables = sm.exact_ranks(
        {name: pd.DataFrame({"user": users, "rank": ranks[name]}) for name in ("good", "poor")},
        candidates=100,
        exact=True,
    )
    two = sm.compare(tables, metrics=["auc", "ap"], groups=dict(enumerate(users % 2)))
    header, *rows = rows_of_latex(two)
    assert header == ["Group", "Recommender", "AUC", "AP"]
    assert [row[:2] for row in rows] == [
        [group, name] for group in ("all", "0", "1") for name in ("good", "poor")
    ]


# --- several seeds ---

USERS = 400


def tables_of_seeds(quality):
    tables = []
    for seed, level in enumerate(quality):
        rng = np.random.default_rng([seed, round(100 * quality[0])])
        share = 1 / (1 + np.exp(-(level + rng.normal(size=USERS))))
        ranks = 1 + np.floor((1 - share) ** 3 * 500).astype(int).clip(max=499)
        tables.append(
            sm.exact_ranks({"user": np.arange(USERS), "rank": ranks}, candidates=500, exact=True)
        )
    return tables


TABLES = {"A": tables_of_seeds([0.0, 0.06]), "B": tables_of_seeds([0.3, 0.36])}


def test_figures_and_latex_show_both_questions(tmp_path):
    result = sm.compare(TABLES, metrics="ap")
    axes = result.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["new runs", "these runs"]
    sm.evaluate(TABLES, metrics="ap").plot(tmp_path / "values.svg")
    assert (tmp_path / "values.svg").stat().st_size > 1000


def test_latex_has_each_recommender_once_with_the_interval_of_new_runs():
    values = sm.evaluate(TABLES, metrics="ap")
    new_runs = values[values["inference"] == "new_runs"]
    header, *rows = rows_of_latex(values)
    assert header == ["Recommender", "AP"]
    for row, value in zip(rows, new_runs.itertuples(), strict=True):
        assert f"[{value.low:.4f}, {value.high:.4f}]" in row[1]
    assert "describe new runs" in values.to_latex()
    pairs = sm.compare(TABLES, metrics="ap")
    assert [name for name, _ in rows_of_latex(pairs)[1:]] == ["B", "A"]
    these_runs = values[values["inference"] == "these_runs"].to_latex()
    assert "describe these runs" in these_runs


def test_latex_has_all_rows_whatever_columns_are_left():
    values = sm.evaluate(TABLES, metrics="ap")
    for part in (values.drop(columns="inference"), values.rename(columns={"inference": "Runs"})):
        assert part.to_latex().count(r"\\") >= 1 + len(values)
    assert "midrule" in values.set_index(["inference", "metric"]).to_latex()
