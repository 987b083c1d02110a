"""The page about one's own ranks: its numbers are those of the functions, and it is safe and whole in itself."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rendering.read_pages import cells_of_html

import sampled_metrics as sm
from sampled_metrics.cli import main
from sampled_metrics.evaluation.result import cell
from sampled_metrics.ranks.files import read_columns
from sampled_metrics.reporting.report import verdict

RNG = np.random.default_rng(3)
USERS = 400
A, B, C = (RNG.geometric(chance, USERS).clip(max=500) for chance in (0.01, 0.03, 0.012))
A_SAMPLED, B_SAMPLED = (RNG.geometric(chance, USERS).clip(max=21) for chance in (0.1, 0.4))
METRICS = ["recall@10", "auc"]


@pytest.fixture(scope="module")
def exact():
    return sm.report({"a": A, "b": B}, candidates=500, metrics=METRICS)


@pytest.fixture(scope="module")
def sampled():
    ranks = {"a": A_SAMPLED, "b": B_SAMPLED}
    return sm.report(ranks, candidates=500, negatives=20, metrics=METRICS, n_resamples=200)


def table(page, heading):
    """The rows below a heading, as mappings from columns to text."""
    [part] = re.findall(rf"<h[23]>{re.escape(heading)}</h[23]>(.*?)</table>", page, flags=re.DOTALL)
    [[head, *rows]] = cells_of_html(f"{part}</table>")
    return [dict(zip(head, row, strict=True)) for row in rows]


def text_of(page):
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def figures(page):
    return re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)


def assert_rows(rows, result, columns):
    """Check that the page shows the numbers of a result."""
    assert len(rows) == len(result)
    for row, numbers in zip(rows, result.to_dict("records"), strict=True):
        for heading, column in columns.items():
            assert row[heading] == cell(numbers[column])


class TestExactRanks:
    def test_metrics_are_those_of_evaluate(self, exact):
        for label, heading in {"recall@10": "Recall@10", "auc": "AUC"}.items():
            rows = table(exact, heading)
            assert [row["Recommender"] for row in rows] == ["a", "b"]
            for row, ranks in zip(rows, (A, B), strict=True):
                result = sm.evaluate(ranks, candidates=500, metrics=label)
                assert_rows([row], result, {"Value": "value", "Low": "low", "High": "high", "Users": "users"})

    def test_the_comparison_is_that_of_compare(self, exact):
        result = sm.compare(A, B, candidates=500, metrics=METRICS, names=("a", "b"))
        columns = {"a": "value_a", "b": "value_b", "b - a": "difference", "Low": "low", "Conclusion": "conclusion"}
        assert_rows(table(exact, "Comparison of a and b"), result, columns)
        for remark in result.remarks:
            assert f"<li>{html.escape(remark)}</li>" in exact
        assert '<p class="verdict">b is better than a on Recall@10 and AUC.</p>' in exact

    def test_says_what_was_read(self, exact):
        rows = table(exact, "What was read")
        assert rows[0] == {
            "Recommender": "a",
            "Rows": "400",
            "Users": "one for each row",
            "Candidates": "500",
            "Ties": "none",
        }

    def test_has_a_figure_for_each_metric_comparison_expectation_and_the_histogram(self, exact):
        assert len(figures(exact)) == 2 + len(sm.compare(A, B, candidates=500, metrics=METRICS)) - 1 + 2 + 1

    def test_figures_hold_the_values_as_text(self, exact):
        recall, *_ = figures(exact)
        for ranks in (A, B):
            [value] = sm.evaluate(ranks, candidates=500, metrics="recall@10")["value"]
            assert f">{value:.4g}</text>" in recall

    def test_says_which_order_is_wrong_among_100_negatives(self):
        ranks = {"X": np.append(np.full(49, 30), 950), "Y": np.tile([1, 900, 900, 900, 900], 10)}
        page = sm.report(ranks, candidates=1000, metrics="recall@10")
        remark, _ = sm.expect(ranks, negatives=100, candidates=1000, metrics="recall@10").remarks
        assert f"<li>{html.escape(remark)}</li>" in page

    def test_says_that_the_order_is_right_among_100_negatives(self, exact):
        assert sm.expect({"a": A, "b": B}, negatives=100, candidates=500, metrics=METRICS).remarks == ()
        assert "With 100 sampled negatives, all recommenders are ordered rightly on average." in exact

    def test_calls_no_order_wrong_that_is_undecided(self):
        """3 of 50 users hit by Y only (p = .25 by the sign test), and among 100 negatives X has the hits."""
        ranks = {"X": np.full(50, 30), "Y": np.where(np.arange(50) < 3, 1, 900)}
        assert sm.expect(ranks, negatives=100, candidates=1000, metrics="recall@10").remarks
        page = sm.report(ranks, candidates=1000, metrics="recall@10")
        assert "Undecided between X and Y: Recall@10." in page
        assert "Another order" not in page
        assert "rightly" not in page
        assert (
            "<li>1 of 1 comparisons of two recommenders by a metric are undecided by the exact ranks, so that no order "
            "of theirs is right or wrong.</li>" in page
        )

    def test_of_one_recommender_has_no_comparison(self):
        page = sm.report(A, candidates=500, metrics=METRICS)
        result = sm.evaluate(A, candidates=500, metrics=METRICS)
        assert_rows(table(page, "Metrics"), result, {"Value": "value", "Low": "low", "High": "high"})
        assert "Comparison" not in page
        assert f"ranks: Recall@10 is {cell(result['value'][0])} (" in page

    def test_of_three_recommenders_compares_all_pairs_at_once(self):
        page = sm.report({"a": A, "b": B, "c": C}, candidates=500, metrics="HR@10")
        result = sm.compare({"a": A, "b": B, "c": C}, candidates=500, metrics="hit-rate@10")
        assert len(result) == 3
        assert_rows(table(page, "Comparison of a, b and c"), result, {"Low": "low", "High": "high"})
        assert f'<p class="verdict">{html.escape(result.remarks[0])}</p>' in page
        assert result.remarks[0].startswith("Hit rate@10: b is better than ")

    def test_counts_ties_users_and_warns_of_columns_that_are_not_used(self):
        frame = pd.DataFrame({"user": [1, 1, 2], "candidates": [9, 8, 9], "above": [0, 1, 2], "tied": [0, 1, 2]})
        page = sm.report(frame.assign(item_id=7), metrics="recall@5")
        [row] = table(page, "What was read")
        assert row == {"Recommender": "ranks", "Rows": "3", "Users": "2", "Candidates": "8 to 9", "Ties": "2 rows"}
        assert "The column item_id is not used. Intervals take users as the unit." in page
        assert "There are only 2 users." in page

    def test_of_a_catalogue_of_one_item_has_nothing_to_sample(self):
        page = sm.report([1, 1, 1], candidates=1, metrics="recall@1")
        assert "so there is nothing to sample" in page


class TestSampledRanks:
    def test_metrics_are_those_of_correct(self, sampled):
        labels = ["decreasing", "free", "uncorrected", "bv-0.1", "mle"]
        for label, heading in {"recall@10": "Recall@10", "auc": "AUC"}.items():
            rows = table(sampled, heading)
            for first, ranks in ((0, A_SAMPLED), (5, B_SAMPLED)):
                result = sm.correct(
                    ranks, candidates=500, negatives=20, estimators=labels, metrics=label, n_resamples=200
                )
                columns = {"Value": "value", "Low": "low", "High": "high", "Assumes": "assumes"}
                assert_rows(rows[first : first + 5], result, columns)
        assert [row["Estimator"] for row in rows[:5]] == [
            "Decreasing",
            "Free",
            "Sampled (uncorrected)",
            "BV 0.1",
            "MLE",
        ]

    def test_says_what_was_read_and_what_is_assumed(self, sampled):
        assert table(sampled, "What was read")[1]["Negatives"] == "20"
        text = text_of(sampled)
        assert "if better ranks are more frequent than worse ones" in text
        assert "Uncorrected: the metric of the sampled rank is not that of the true rank" in text
        assert text.count("No bias is estimated for MLE") == 1

    def test_the_expectation_of_sampled_negatives_is_not_shown(self, sampled):
        assert "What sampled negatives would show" not in sampled

    def test_an_estimator_that_is_not_valid_is_named(self, monkeypatch):
        monkeypatch.setattr("sampled_metrics._validation.MEMORY_LIMIT", 55e6)  # enough for the others
        frame = pd.DataFrame({"rank": [1, 3, 2, 9], "candidates": 1_000_000, "negatives": [2000] * 4})
        with pytest.raises(sm.DataError) as error:
            sm.correct(frame, estimators="bv-0.1", metrics="recall@10")
        page = sm.report(frame, metrics="recall@10", n_resamples=100)
        assert f"BV 0.1 is left out for ranks: {error.value}." in text_of(page)
        assert "BV 0.1" not in {row["Estimator"] for row in table(page, "Recall@10")}

    def test_with_replacement(self):
        given = {"candidates": 30, "negatives": 40, "replacement": True, "metrics": "recall@10"}
        page = sm.report(A_SAMPLED, n_resamples=100, **given)
        [row, *_] = table(page, "Recall@10")
        assert_rows([row], sm.correct(A_SAMPLED, estimators="decreasing", **given), {"Value": "value", "Low": "low"})


class TestThePageItself:
    def test_escapes_every_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        given = {}
        for name, ranks in {"<b>": A, "&amp;\"'<script>alert(1)</script>$x_1$": B}.items():
            path = tmp_path / f"{len(given)}<b>.csv"
            pd.DataFrame({"rank": ranks, "<i>": 1}).to_csv(path, index=False)
            given[name] = read_columns(path)
        page = sm.report(given, candidates=500, metrics="recall@10")
        for tag in ("<b>", "<i>", "<script", "&amp;\"'"):
            assert tag not in page
        assert "&lt;b&gt;" in page
        assert "0<b>.csv" in text_of(page)
        assert "<b>: Recall@10 is" in text_of(page)

    @pytest.mark.parametrize("kind", ["exact", "sampled"])
    def test_refers_to_nothing_outside(self, kind, request):
        page = request.getfixturevalue(kind)
        assert "http" not in page
        for way in ("<script", "<link", "<img", "<iframe", "@import", "src=", " on", "javascript"):
            assert way not in re.sub(r">[^<]*<", "><", page.split("<body>")[1]), way
        assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))
        assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))

    @pytest.mark.parametrize("kind", ["exact", "sampled"])
    def test_ids_are_unique_and_those_referred_to_are_there(self, kind, request):
        page = request.getfixturevalue(kind)
        ids = re.findall(r'\bid="([^"]*)"', page)
        assert len(ids) == len(set(ids)) > 100
        assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', page)) <= {
            pair for each in ids for pair in ((each, ""), ("", each))
        }

    def test_each_figure_has_a_name_for_readers_who_do_not_see_it(self, exact):
        for figure in figures(exact):
            [label] = re.findall(r'<svg role="img" aria-label="([^"]*)"', figure)
            assert label

    def test_is_the_same_twice_and_written_as_it_is(self, tmp_path):
        first = sm.report(A, tmp_path / "a.html", candidates=500, metrics="auc")
        assert sm.report(A, tmp_path / "a.html", candidates=500, metrics="auc") == first
        assert (tmp_path / "a.html").read_text(encoding="utf-8") == f"{first}\n"

    def test_names_in_any_script_are_text(self):
        page = sm.report({"推荐": A, "🙂": B}, candidates=500, metrics="recall@10")
        assert re.search(r"<text[^>]*>推荐</text>", page)

    def test_many_recommenders_share_histograms_of_three(self):
        ranks = {f"r{number}": RNG.permutation(A) for number in range(4)}
        page = sm.report(ranks, candidates=500, metrics="recall@10")
        assert page.count('aria-label="Histogram of ranks"') == 2

    def test_there_must_be_ranks_and_each_name_once(self):
        with pytest.raises(sm.DataError, match="there are no ranks"):
            sm.report({})
        with pytest.raises(sm.DataError, match="two recommenders are called '1'"):
            sm.report({1: A, "1": B}, candidates=500)


@pytest.mark.parametrize(
    ("conclusions", "said"),
    [
        (["b", "a", "b"], "b is better than a on AP and MRR. a is better than b on AUC."),
        (["undecided", "a", "undecided"], "a is better than b on AUC. Undecided between a and b: AP and MRR."),
        (["a", "a", "a"], "a is better than b on AP, AUC and MRR."),
    ],
)
def test_a_verdict_in_words(conclusions, said):
    assert verdict(pd.DataFrame({"metric": ["ap", "auc", "mrr"], "conclusion": conclusions}), ("a", "b")) == said


GRADES = {user: {"a": 1} for user in ("u", "v", "w")}
OLD = {"u": {"a": 2, "b": 1}, "v": {"a": 1, "b": 2}, "w": {"a": 1, "b": 2}}
NEW = {user: {"a": 2, "b": 1} for user in ("u", "v", "w")}


class TestLists:
    """Three users; old finds the item of one first and of the others second, new all first."""

    def test_have_the_values_of_evaluate_and_compare(self):
        page = sm.report({"old": OLD, "new": NEW}, relevance=GRADES, metrics=["mrr", "map"])
        old, new = table(page, "MRR")
        assert (old["Recommender"], new["Recommender"]) == ("old", "new")
        assert (float(old["Value"]), float(new["Value"])) == (pytest.approx(2 / 3, abs=1e-3), 1)
        assert table(page, "What was read") == [
            {"Recommender": "old", "Judged users": "3"},
            {"Recommender": "new", "Judged users": "3"},
        ]
        assert "Undecided between old and new: MRR and AP." in page
        assert "Histogram of ranks" not in page
        assert "sampled negatives" not in page

    def test_have_default_metrics_of_their_own(self):
        page = sm.report({"new": NEW}, relevance=GRADES)
        assert [row["Metric"] for row in table(page, "Metrics")] == ["Recall@10", "NDCG@10", "AP", "MRR"]

    def test_are_not_ranks(self):
        with pytest.raises(sm.DataError, match="candidates is for ranks, and relevance for ranked lists"):
            sm.report({"new": NEW}, relevance=GRADES, candidates=9)
        with pytest.raises(sm.DataError, match="relevant_from is for ranked lists, so it needs relevance"):
            sm.report(A, candidates=500, relevant_from=2)

    def test_by_the_command(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        for name, run in {"old": OLD, "new": NEW, "judged": GRADES}.items():
            rows = [(user, item, value) for user, items in run.items() for item, value in items.items()]
            column = "relevance" if name == "judged" else "score"
            pd.DataFrame(rows, columns=["user", "item", column]).to_csv(f"{name}.csv", index=False)
        main(["report", "old.csv", "new.csv", "--relevance", "judged.csv", "--metrics", "mrr", "-o", "page.html"])
        assert "Undecided between old and new: MRR." in (tmp_path / "page.html").read_text(encoding="utf-8")


class TestFolderOfTheOutput:
    def test_must_exist_before_anything_is_computed(self, tmp_path):
        path = tmp_path / "none" / "page.html"
        with pytest.raises(sm.WriteError, match=r"page.html: there is no folder '.*none'; make it first"):
            sm.report("there-is-no-such-file.csv", path)
        with pytest.raises(sm.WriteError, match=r"a.svg: there is no folder '.*none'; make it first"):
            sm.evaluate(A, candidates=500, metrics="auc").plot(tmp_path / "none" / "a.svg")
        assert not path.parent.exists()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["report", "no-such.csv", "-o", "none/page.html"],
            ["evaluate", "no-such.csv", "--plot", "none/page.svg"],
            ["rank", "--scores", "no-such.npy", "--training", "a", "--held-out", "b", "-o", "none/ranks.csv"],
        ],
    )
    def test_must_exist_by_the_command(self, arguments, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("error: none/")
        assert line.endswith("there is no folder 'none'; make it first")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "code",
    [
        "from sampled_metrics.cli import main; main(['report', '-', '--candidates', '9', '-o', 'a.html'])",
        "import sampled_metrics as sm\ntry: sm.report([1, 2], candidates=9)\n"
        "except sm.ConfigError as error: sys.exit(f'error: {error}')",
    ],
)
def test_without_matplotlib_says_in_a_line_what_to_install(code):
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['matplotlib'] = None\n{code}"],
        input="3\n4\n",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(sm.__file__).parents[1])},
    )
    assert ran.returncode != 0
    assert ran.stderr == (
        "error: a figure needs matplotlib, which is not installed: pip install 'sampled-metrics[plots]'\n"
    )
