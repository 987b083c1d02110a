"""The page about one's own ranks.

Its numbers are those of the functions, and it is safe and whole in itself.
"""

import html
import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import read_and
from read_pages import table_of_report as table

import sampled_metrics as sm
from sampled_metrics.core.evaluation.result import cell
from sampled_metrics.core.ranks.reading import read_columns

RNG = np.random.default_rng(3)
A, B = (RNG.geometric(chance, 200).clip(max=500) for chance in (0.01, 0.03))
A_SAMPLED, B_SAMPLED = (RNG.geometric(chance, 100).clip(max=11) for chance in (0.1, 0.4))
METRICS = {"recall@10": "Recall@10", "auc": "AUC"}


@pytest.fixture(scope="module", autouse=True)
def few_resamples():
    """The estimated bias is on no page that is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("sampled_metrics.core.evaluation.correct"), "BIAS_RESAMPLES", 2)
        yield


@pytest.fixture(scope="module")
def exact():
    return read_and.report({"a": A, "b": B}, candidates=500, metrics=[*METRICS])


@pytest.fixture(scope="module")
def sampled():
    return read_and.report(
        {"a": A_SAMPLED, "b": B_SAMPLED}, candidates=60, negatives=10, metrics=[*METRICS]
    )


def text_of(page):
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def assert_rows(rows, result, columns):
    """Check that the page shows the numbers of a result."""
    assert len(rows) == len(result)
    for row, numbers in zip(rows, result.to_dict("records"), strict=True):
        assert [row[heading] for heading in columns] == [
            cell(numbers[column]) for column in columns.values()
        ]


def test_exact_ranks_have_the_values_of_evaluate_and_compare(exact):
    options = {"candidates": 500, "metrics": [*METRICS]}
    columns = {"Recommender": "recommender", "Value": "value", "Low": "low", "High": "high"}
    result = read_and.evaluate({"a": A, "b": B}, **options)
    for label, heading in METRICS.items():
        assert_rows(table(exact, heading), result[result["metric"] == label], columns)
    result = read_and.compare({"a": A, "b": B}, **options)
    columns = {"Value of a": "value_a", "Value of b": "value_b", "b - a": "difference"}
    columns |= {"Low": "low", "Conclusion": "conclusion"}
    assert_rows(table(exact, "Comparison of a and b"), result, columns)
    for remark in result.remarks:
        assert html.escape(remark) in exact
    begins = '<p class="verdict">b is better than a on Recall@10 and AUC.</p>'
    assert exact.split("</h1>")[1].strip().startswith(begins)
    assert "sampled negatives" not in text_of(exact)


def test_sampled_ranks_have_the_values_of_correct_and_say_what_was_read_and_is_assumed(sampled):
    bounds = ["decreasing", "free"]
    biased = ["uncorrected", "bv-0.1", "mle"]
    columns = {"Value": "value", "Low": "low", "High": "high", "Assumes": "assumes"}
    result = read_and.correct(
        {"a": A_SAMPLED, "b": B_SAMPLED},
        candidates=60,
        negatives=10,
        estimators=[*bounds, *biased],
        metrics=[*METRICS],
    )
    for label, heading in METRICS.items():
        rows = result[result["metric"] == label]
        assert_rows(table(sampled, heading), rows[rows["estimator"].isin(bounds)], columns)
        assert_rows(
            table(sampled, f"{heading}, biased"), rows[rows["estimator"].isin(biased)], columns
        )
    assert table(sampled, "What was read")[1]["Negatives"] == "10"
    text = text_of(sampled)
    assert text.count("No bias is estimated for mle") == 1
    assert text.count("The uncorrected AUC of a uniform") == 1


def test_escapes_every_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {}
    for name, ranks in {"<b>": A[:50], "&amp;\"'<script>alert(1)</script>$x_1$": B[:50]}.items():
        path = tmp_path / f"{len(columns)}<b>.csv"
        pd.DataFrame({"rank": ranks, "<i>": 1}).to_csv(path, index=False)
        columns[name] = read_columns(path)
    page = read_and.report(columns, candidates=500, metrics="recall@10")
    for tag in ("<b>", "<i>", "<script", "&amp;\"'"):
        assert tag not in page
    assert "&lt;b&gt;" in page
    assert "0<b>.csv" in text_of(page)


def test_refers_to_nothing_outside_and_to_ids_that_are_there_once(sampled):
    assert "http" not in sampled
    for way in ("<script", "<link", "<img", "<iframe", "@import", "src=", " on", "javascript"):
        assert way not in re.sub(r">[^<]*<", "><", sampled.split("<body>")[1]), way
    ids = re.findall(r'\bid="([^"]*)"', sampled)
    assert len(ids) == len(set(ids)) > 100
    targets = re.findall(r'href="([^"]*)"', sampled) + re.findall(r"url\(([^)]*)\)", sampled)
    assert {*targets} <= {f"#{name}" for name in ids}


def test_of_many_recommenders_the_pairs_are_those_of_the_best(no_figures):
    """Of m0 to m11 each one is better than the one before, and m11 by far."""
    ranks = {
        f"m{number}": np.maximum(1, A[:100].clip(max=60) - 3 * number - 20 * (number == 11))
        for number in range(12)
    }
    page = read_and.report(ranks, candidates=60, metrics=["auc"])
    assert "Ranks of 12 recommenders among all candidates" in text_of(page)
    assert "Of 12 recommenders, the 10 best by AUC are shown." in text_of(page)
    assert len(table(page, "AUC")) == 12
    assert len(table(page, "Comparison of m2, m3, m4, m5, m6, m7, m8, m9, m10 and m11")) == 45


def test_seeds_are_read_and_answer_for_new_runs_and_for_these(no_figures):
    rng = np.random.default_rng(1)
    tables = {
        name: [sm.exact_ranks(rng.integers(1, last, 100), candidates=50) for _ in range(2)]
        for name, last in {"X": 40, "Y": 10}.items()
    }
    page = sm.report(tables, metrics="recall@10")
    result = sm.evaluate(tables, metrics="recall@10")
    assert_rows(table(page, "Recall@10"), result, {"Value": "value", "Low": "low", "High": "high"})
    assert "Y is better than X on Recall@10 of new runs" in text_of(page)
    names = [row["Recommender"] for row in table(page, "What was read")]
    assert names == [f"{name}, seed {seed}" for name in "XY" for seed in (1, 2)]


def test_begins_with_a_reversal_by_group(no_figures):
    """Z is better than X for the 300 users of group 1 and for all; X is for the 100 of group 2."""
    kinds = np.repeat(["1", "2"], [300, 100])
    near = np.tile([1, 1, 1, 40], 100)
    far = np.tile([1, 40, 40, 40], 100)
    ranks = {"X": np.where(kinds == "1", far, near), "Z": np.where(kinds == "1", near, far)}
    data = {name: pd.DataFrame({"rank": ranks[name], "kind": kinds}) for name in ranks}
    tables = sm.exact_ranks(data, candidates=50, groups="kind")
    page = sm.report(tables, groups=True, metrics="recall@10")
    beginning = text_of(page.split("<h2>")[0])
    assert "Z is better than X in 1, and X is better than Z in 2." in beginning
