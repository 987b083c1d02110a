"""The page about one's own ranks: its numbers are those of the functions, and it is safe and whole in itself."""

import html
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import read_and
from rendering.read_pages import cells_of_html

import sampled_metrics as sm
from sampled_metrics.evaluation.result import cell
from sampled_metrics.ranks.reading import read_columns

RNG = np.random.default_rng(3)
USERS = 400
A, B, C = (RNG.geometric(chance, USERS).clip(max=500) for chance in (0.01, 0.03, 0.012))
A_SAMPLED, B_SAMPLED = (RNG.geometric(chance, USERS).clip(max=21) for chance in (0.1, 0.4))
METRICS = ["recall@10", "auc"]


@pytest.fixture(scope="module", autouse=True)
def few_resamples():
    """The estimated bias is on no page that is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("sampled_metrics.evaluation.correct"), "BIAS_RESAMPLES", 2)
        yield


@pytest.fixture(scope="module")
def exact():
    return read_and.report({"a": A, "b": B}, candidates=500, metrics=METRICS)


@pytest.fixture(scope="module")
def sampled():
    ranks = {"a": A_SAMPLED, "b": B_SAMPLED}
    return read_and.report(ranks, candidates=500, negatives=20, metrics=METRICS)


def table(page, heading):
    """The rows of a table, as mappings from columns to text."""
    [part] = re.findall(rf'aria-label="{re.escape(heading)}">(.*?)</table>', page, flags=re.DOTALL)
    [[head, *rows]] = cells_of_html(f"{part}</table>")
    return [dict(zip(head, row, strict=True)) for row in rows]


def text_of(page):
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def assert_rows(rows, result, columns):
    """Check that the page shows the numbers of a result."""
    assert len(rows) == len(result)
    for row, numbers in zip(rows, result.to_dict("records"), strict=True):
        for heading, column in columns.items():
            number = numbers[column]
            if isinstance(number, float) and number == number:  # another order of the sums may round another way
                assert float(row[heading]) == pytest.approx(number, abs=1e-4)
            else:
                assert row[heading] == cell(number)


class TestExactRanks:
    def test_metrics_are_those_of_evaluate(self, exact):
        for label, heading in {"recall@10": "Recall@10", "auc": "AUC"}.items():
            rows = table(exact, heading)
            assert [row["Recommender"] for row in rows] == ["a", "b"]
            for row, ranks in zip(rows, (A, B), strict=True):
                result = read_and.evaluate(ranks, candidates=500, metrics=label)
                assert_rows([row], result, {"Value": "value", "Low": "low", "High": "high", "Users": "users"})

    def test_the_comparison_is_that_of_compare(self, exact):
        result = read_and.compare(A, B, candidates=500, metrics=METRICS, names=("a", "b"))
        columns = {"Value of a": "value_a", "Value of b": "value_b", "b - a": "difference", "Low": "low"}
        columns |= {"Conclusion": "conclusion"}
        assert_rows(table(exact, "Comparison of a and b"), result, columns)
        for remark in result.remarks:
            assert f"<li>{html.escape(remark)}</li>" in exact
        assert '<p class="verdict">b is better than a on Recall@10 and AUC.</p>' in exact

    def test_says_which_order_is_wrong_among_100_negatives(self):
        ranks = {"X": np.append(np.full(49, 30), 950), "Y": np.tile([1, 900, 900, 900, 900], 10)}
        page = read_and.report(ranks, candidates=1000, metrics="recall@10")
        remark, _ = read_and.expect(ranks, negatives=100, candidates=1000, metrics="recall@10").remarks
        assert f"<li>{html.escape(remark)}</li>" in page

    def test_calls_no_order_wrong_that_is_undecided(self):
        """3 of 50 users hit by Y only (p = .25 by the sign test), and among 100 negatives X has the hits."""
        ranks = {"X": np.full(50, 30), "Y": np.where(np.arange(50) < 3, 1, 900)}
        assert read_and.expect(ranks, negatives=100, candidates=1000, metrics="recall@10").remarks
        page = read_and.report(ranks, candidates=1000, metrics="recall@10")
        for words, is_said in (
            ("Undecided between X and Y: Recall@10.", True),
            ("Another order", False),
            ("rightly", False),
        ):
            assert (words in page) == is_said
        assert "<li>Undecided by the exact ranks: 1 of 1 comparisons" in page

    def test_calls_no_order_right_where_all_samples_give_the_same(self):
        """Every rank among 100 negatives is at most 101, so that each Recall@200 is 1."""
        ranks = {"X": np.full(50, 900), "Y": np.full(50, 150)}
        page = read_and.report(ranks, candidates=1000, metrics="recall@200", exact=True)
        assert "Y is better than X on Recall@200." in page
        assert "Y is better than X. Among 100 sampled negatives, both have the same value on average.</li>" in page
        assert "rightly" not in page

    def test_an_equivalent_pair_has_no_order(self):
        """X is far below; of 2000 users, Y and Z differ for two."""
        ranks = {"X": np.full(2000, 900), "Y": np.tile([5, 700], 1000), "Z": np.tile([5, 700], 1000)}
        ranks["Z"][:4] = [5, 5, 700, 700]
        page = read_and.report(ranks, candidates=1000, metrics="recall@10", margin=0.05)
        assert "all decided pairs are ordered rightly on average" in page
        assert "<li>Undecided or equivalent by the exact ranks: 1 of 3 comparisons" in page
        columns = [*table(page, "Comparison of X, Y and Z")[0]]
        assert [column for column in columns if "higher" in column] == ["A higher", "B higher"]

    def test_says_nothing_of_orders_without_the_expectation_of_each(self):
        """A sampled evaluation of staged ranks is not computed."""
        scores, given = np.tile(np.linspace(1, 0, 200), (40, 1)), (np.zeros((40, 200)), np.full(40, 5))
        staged = sm.staged_ranks(lambda user, item: scores[user, item], *given, depth=50)
        page = sm.report({"staged": staged, "X": sm.rank(-scores, *given)}, metrics="recall@10")
        assert "staged is better than X on Recall@10." in page
        assert "rightly" not in page

    def test_ranks_without_a_name(self):
        assert "<h1>Ranks of one recommender among all candidates</h1>" in sm.report(
            sm.exact_ranks(A, candidates=500), metrics="auc"
        )


class TestSampledRanks:
    def test_metrics_are_those_of_correct(self, sampled):
        labels = ["decreasing", "free", "uncorrected", "bv-0.1", "mle"]
        for label, heading in {"recall@10": "Recall@10", "auc": "AUC"}.items():
            columns = {"Value": "value", "Low": "low", "High": "high", "Assumes": "assumes"}
            for number, ranks in enumerate((A_SAMPLED, B_SAMPLED)):
                result = read_and.correct(ranks, candidates=500, negatives=20, estimators=labels, metrics=label)
                bounds, biased = table(sampled, heading), table(sampled, f"{heading}, biased")
                assert_rows(bounds[2 * number : 2 * number + 2], result[:2], columns)
                assert_rows(biased[3 * number : 3 * number + 3], result[2:], columns)
        assert [row["Estimator"] for row in bounds[:2]] == ["Decreasing", "Free"]
        assert [row["Estimator"] for row in biased[:3]] == ["Sampled (uncorrected)", "BV 0.1", "MLE"]

    def test_says_what_was_read_and_what_is_assumed(self, sampled):
        assert table(sampled, "What was read")[1]["Negatives"] == "20"
        assert text_of(sampled).count("No bias is estimated for MLE") == 1
        assert "What sampled negatives would show" not in sampled

    def test_begins_with_the_samples_that_no_ranks_explain(self):
        """Every user of b has 10 of 20 negatives above: no verdict, and the first lines say why."""
        ranks = {"a": A_SAMPLED, "b": [11] * len(A_SAMPLED)}
        text = text_of(read_and.report(ranks, candidates=500, negatives=20, metrics="recall@10"))
        first = text[: text.index("True metrics, estimated")]
        assert "b: No distribution of true ranks explains the sample (p = " in first
        assert "is better" not in first
        assert "Recall@10: no verdict." in text

    def test_the_uncorrected_auc_is_not_another_metric(self, sampled):
        recall, auc = text_of(sampled[sampled.index("<h3>Recall@10</h3>") :]).split("The uncorrected AUC of a uniform")
        assert recall.count("The uncorrected metric is another one") == 1
        assert auc.startswith(" sample has no bias.")
        assert "The uncorrected metric is another one" not in auc

    def test_says_of_whom_an_estimator_assumes_less(self):
        """Half of the users of b have the last rank among 21, which decreasing does not allow in the better half."""
        rng = np.random.default_rng(0)
        ranks = {"a": rng.integers(1, 22, 300), "b": np.tile([1, 8, 9, 10], 75)}
        text = text_of(read_and.report(ranks, candidates=500, negatives=20, metrics="recall@10"))
        assert "Free, Decreasing of b: the 95 % interval holds the true metric without an assumption" in text
        assert "Decreasing of a: the 95 % interval holds the true metric if better ranks" in text


class TestThePageItself:
    def test_escapes_every_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        given = {}
        for name, ranks in {"<b>": A, "&amp;\"'<script>alert(1)</script>$x_1$": B}.items():
            path = tmp_path / f"{len(given)}<b>.csv"
            pd.DataFrame({"rank": ranks, "<i>": 1}).to_csv(path, index=False)
            given[name] = read_columns(path)
        page = read_and.report(given, candidates=500, metrics="recall@10")
        for tag in ("<b>", "<i>", "<script", "&amp;\"'"):
            assert tag not in page
        assert "&lt;b&gt;" in page
        assert "0<b>.csv" in text_of(page)

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
        assert {*re.findall(r'href="#([^"]*)"', page), *re.findall(r"url\(#([^)]*)\)", page)} <= {*ids}


GRADES = {user: {"a": 1} for user in ("u", "v", "w")}
OLD = {"u": {"a": 2, "b": 1}, "v": {"a": 1, "b": 2}, "w": {"a": 1, "b": 2}}
NEW = {user: {"a": 2, "b": 1} for user in ("u", "v", "w")}


class TestLists:
    """Three users; old finds the item of one first and of the others second, new all first."""

    def test_have_the_values_of_evaluate_and_compare(self):
        page = read_and.report({"old": OLD, "new": NEW}, relevance=GRADES, metrics=["mrr", "map"])
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


@pytest.mark.parametrize(
    "code",
    [
        "from sampled_metrics.cli import main; main(['report', '-', '--candidates', '9', '-o', 'a.html'])",
        "from sampled_metrics.cli import main; main(['evaluate', '-', '--candidates', '9', '--plot', 'a.svg'])",
    ],
)
def test_without_matplotlib_says_in_a_line_what_to_install(code):
    code = f"import sys; sys.modules['matplotlib'] = None\n{code}"
    environment = {**os.environ, "PYTHONPATH": str(Path(sm.__file__).parents[1])}
    options = {"input": "3\n4\n", "capture_output": True, "text": True, "check": False, "env": environment}
    ran = subprocess.run([sys.executable, "-c", code], **options)
    assert ran.returncode != 0
    assert (ran.stdout, ran.stderr.count("\n")) == ("", 1)
    assert "pip install 'sampled-metrics[plots]'" in ran.stderr


def test_of_many_recommenders_the_pairs_are_those_of_the_best():
    """Of m0 to m11 each one is better than the one before, and m11 by far."""
    ranks = {f"m{number}": np.maximum(1, A[:250] - 3 * number - 20 * (number == 11)) for number in range(12)}
    page = read_and.report(ranks, candidates=500, metrics=["auc"])
    assert "Ranks of 12 recommenders among all candidates" in text_of(page)
    assert "Of 12 recommenders, the 10 best by AUC are shown." in text_of(page)
    assert len(table(page, "AUC")) == 12
    pairs = table(page, "Comparison of m2, m3, m4, m5, m6, m7, m8, m9, m10 and m11")
    assert len(pairs) == 45
    assert "all others of these" in text_of(page)


def test_begins_with_a_reversal_by_group():
    """Z is better than X for the 300 users of group 1 and for all, and X is for the 100 of group 2."""
    kinds = np.repeat(["1", "2"], [300, 100])
    near, far = np.tile([1, 1, 1, 40], 100), np.tile([1, 40, 40, 40], 100)
    ranks = {"X": np.where(kinds == "1", far, near), "Z": np.where(kinds == "1", near, far)}
    data = {name: pd.DataFrame({"rank": of_one, "kind": kinds}) for name, of_one in ranks.items()}
    page = sm.report(sm.exact_ranks(data, candidates=50, groups="kind"), groups=True, metrics="recall@10")
    first = text_of(page.split("<h2>")[0])
    assert "Z is better than X on Recall@10." in first
    assert "Z is better than X for group 1, and X is better than Z for group 2." in first
