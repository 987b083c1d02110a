"""The summary of a run: its answer by hand, and what the page of a study says and does not say."""

import re

import numpy as np
import pandas as pd
import pytest
from made_up_project import complete_config
from read_pages import cells_of_html
from small_tables import table_of

from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.reporting.page import Image
from sampled_metrics_study.decided import Exact, exact_findings
from sampled_metrics_study.repetitions import by_size
from sampled_metrics_study.summary import Studied, answer, stage_costs, summary


@pytest.fixture(autouse=True)
def _not_drawn(monkeypatch):
    """The figure of an answer is not drawn, which takes most of the time."""
    monkeypatch.setattr("sampled_metrics_study.figures.draw", lambda *_: None)
    monkeypatch.setattr("sampled_metrics_study.summary.inline_svg", lambda *_: SVG)


def table_3(**values):
    """Of {recommender: {estimator: (mean, sd)}}, by recall@10."""
    rows = [
        ("default", name, "recall@10", estimator, *moments, *moments)
        for name, by_estimator in values.items()
        for estimator, moments in by_estimator.items()
    ]
    columns = [
        "reading",
        "recommender",
        "metric",
        "estimator",
        "mean",
        "sd",
        "mean_exact",
        "sd_exact",
    ]
    return pd.DataFrame(rows, columns=columns)


def table_4(*rows):
    columns = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
    return pd.DataFrame([("default", *row, row[-1]) for row in rows], columns=columns)


METRICS = table_3(
    X={"exact": (0.08, 0), "uncorrected": (0.66, 0.01), "cls": (0.09, 0.0), "bv-1": (0.04, 0.0)},
    Z={"exact": (0.09, 0), "uncorrected": (0.54, 0.01), "cls": (0.09, 0.02), "bv-1": (0.05, 0.0)},
)
ORDER = table_4(
    ("X", "Z", "recall@10", "uncorrected", 0.0),
    ("X", "Z", "auc", "uncorrected", 1.0),
    ("X", "Z", "recall@10", "cls", 0.5),
    ("X", "Z", "auc", "cls", 0.9),
    ("X", "Z", "recall@10", "bv-1", 0.9),
    ("X", "Z", "auc", "bv-1", 1.0),
)
LABELS = ("recall@10", "auc")
DECIDED = [(label, "Z", "X") for label in LABELS]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="720pt" height="72pt"></svg>'
MADE = {"format": "movielens-dat", "urls": ["https://a.b/c"]}
FACTS = {
    "users": 8,
    "items": 300,
    "events_in_file": 40,
    "training_events": 38,
    "held_out_items": 20,
    "events_left_out_by_core": 0,
    "users_left_out_with_few_training_events": 1,
    "held_out_items_without_training_events": 3,
}
INTERVALS = pd.DataFrame(
    [
        ("X", "recall@10", "decreasing", 0.02, 0.01, 0.05, "decreasing", 0.03),
        ("X", "recall@10", "free", 0.02, np.nan, np.nan, "uniform negatives", 0.03),
    ],
    columns=["recommender", "metric", "estimator", "value", "low", "high", "assumes", "exact"],
)
VERDICTS = pd.DataFrame(
    [("X", "Z", "recall@10", 4, 0.5, 0.25, 0.25)],
    columns=["worse", "better", "metric", "repetitions", "right", "undecided", "wrong"],
)


def study(third=METRICS, fourth=ORDER, decided=DECIDED, row_of_ranks=(100, 1, 0), **options):
    """A study with exact values ± .01."""
    exact = third[third["estimator"] == "exact"].rename(columns={"mean": "value"})
    exact = exact.drop_duplicates(["recommender", "metric"])
    exact = exact.assign(low=exact["value"] - 0.01, high=exact["value"] + 0.01)
    ranks = dict.fromkeys(exact["recommender"], table_of([row_of_ranks]))
    figure = {"title": "A figure", "caption": "What it shows.", "csv": "one/figure-6.csv"}
    figures = [figure | {"image": Image.from_svg(SVG)}]
    findings = Exact(exact, decided)
    tables = (third, fourth, INTERVALS, VERDICTS)
    return Studied("one", ("X",), ranks, findings, *tables, figures=figures, **options)


def config_of(**changes):
    config = {"study": ["one"], "datasets": {"one": MADE}, "metrics": [*LABELS]}
    return complete_config(config | changes)


def page_of(studied, printed=None, claims=None, **changes):
    """The page of a config, and its text."""
    captions = {"table-3": "What Table 3 holds.", "table-4": "What Table 4 holds."}
    captions |= {"sample-intervals": "What intervals hold.", "sample-verdicts": "Verdicts."}
    config = config_of(**changes)
    page = summary(config, [studied], captions, {"Code": "version 1"}, printed, claims)
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return page, re.sub(r"\s+", " ", text)


def answer_of(**changes):
    return answer(study(**changes), config_of(), None)


def test_the_answer_by_hand():
    answer = answer_of()
    assert answer["recommenders"] == ["Z", "X"]
    assert answer["exact"] == [0.09, 0.08]
    assert answer["sampled"] == [0.54, 0.66]
    assert answer["pairs"] == answer["wrong"] == [("Z", "X")]
    assert answer["wrong_of_all"] == 1
    assert answer["decided_of_all"] == 1
    assert answer["undecided_of_all"] == 0
    assert answer["unchanged"] == ["AUC"]  # which is right in all samples, and does not count
    # CLS: √((.01² + (.0² + .02²)) / 2) = .0158; without correction √((.58² + .01² + .45² + .01²) /
    # 2) = .519
    correction = answer["correction"]
    assert correction["nearest"] == ["CLS"]
    assert correction["best_for_order"] == ["BV 1"]
    by_hand = {
        "error": 0.01581,
        "uncorrected_error": 0.51918,
        "right": 0.5,
        "uncorrected_right": 0.0,
        "most_right": 0.9,
    }
    assert {key: correction[key] for key in by_hand} == pytest.approx(by_hand, abs=1e-5)
    # has the exact deviations
    once = answer_of(third=METRICS.assign(sd=np.nan, sd_exact=METRICS["sd"]))
    for sampled, exact in (answer["sides"], once["sides"]):
        assert exact.low.to_dict() == pytest.approx({"X": 0.07, "Z": 0.08})
        assert sampled.high.to_dict() == pytest.approx({"X": 0.68, "Z": 0.56})


ONLY_X = {"third": METRICS[METRICS["recommender"] == "X"], "fourth": table_4(), "decided": []}
EQUAL = {
    "third": table_3(
        X={"exact": (0.1, 0), "uncorrected": (0.5, 0)},
        Z={"exact": (0.2, 0), "uncorrected": (0.5, 0)},
    ),
    "fourth": ORDER.iloc[:1],
    "decided": DECIDED[:1],
}
THREE = {
    "third": table_3(
        A={"exact": (0.4, 0), "uncorrected": (0.9, 0)},
        B={"exact": (0.3, 0), "uncorrected": (0.8, 0)},
        C={"exact": (0.2, 0), "uncorrected": (0.85, 0)},
    ),
    "fourth": table_4(
        ("C", "A", "recall@10", "uncorrected", 1.0), ("C", "B", "recall@10", "uncorrected", 0.0)
    ),
    "decided": [("recall@10", "A", "C"), ("recall@10", "B", "C")],
}
"""A and B are better than C; between the two nothing is decided."""


def test_pairs_are_undecided_alike_or_wrong_and_one_recommender_has_none():
    """By AUC the pair is decided, and comes out right.

    By recall it is not decided, and its wrong order does not count.
    """
    undecided = answer_of(decided=DECIDED[1:])
    assert undecided["pairs"] == undecided["wrong"] == []
    assert undecided["decided_of_all"] == 0
    assert undecided["undecided_of_all"] == 1
    assert undecided["correction"]["right"] is None
    alike = answer_of(**EQUAL)
    assert alike["wrong"] == []
    assert alike["alike"] == [("Z", "X")]
    three = answer_of(**THREE)
    assert three["pairs"] == [("A", "C"), ("B", "C")]
    assert three["wrong"] == [("B", "C")]
    half = table_4(("X", "Z", "recall@10", "uncorrected", 0.5))
    assert answer_of(fourth=half)["wrong_of_all"] == 0
    single = answer_of(**ONLY_X)
    assert single["pairs"] == single["wrong"] == []
    assert single["correction"]["nearest"] == ["CLS"]


def test_the_cost_of_stages_is_that_of_the_smallest_depth_with_a_narrow_interval():
    rows = [
        ("X", "all candidates", np.nan, 3000.0, 0.010),
        ("X", "stages", 30.0, 70.0, 0.020),
        ("X", "stages", 100.0, 120.0, 0.012),
        ("X", "stages", 300.0, 200.0, 0.010),
        ("Y", "all candidates", np.nan, 3000.0, 0.010),
        ("Y", "stages", 30.0, 70.0, np.nan),
    ]
    budget = pd.DataFrame(rows, columns=["recommender", "way", "depth", "scores", "width"])
    [cost] = stage_costs(study(budget=budget))
    expected = {"dataset": "one", "recommender": "X", "scores": 120.0, "all_scores": 3000.0}
    assert cost == expected | {"ratio": pytest.approx(1.2)}


def test_what_exact_ranks_decide(caplog):
    """One never has a hit at 10, one has 80 of 400 (p = 2⁻⁷⁹), and a third as many, of other users.

    Without the same users, nothing is decided.
    """
    above = {
        "never": 30 + np.arange(400) % 20,
        "some": np.where(np.arange(400) % 5 == 0, 2, 900),
        "also": np.where(np.arange(400) % 5 == 1, 2, 900),
    }
    ranks = {
        name: table_of(np.column_stack([np.full(400, 1000), counts, np.zeros(400)]))
        for name, counts in above.items()
    }
    options = CompareOptions(metrics=["recall@10"])
    findings = exact_findings(ranks, options)
    assert findings.values["value"].tolist() == pytest.approx([0, 0.2, 0.2])
    decided = {("recall@10", "some", "never"), ("recall@10", "also", "never")}
    assert set(findings.decided) == decided
    others = table_of([(30, 1, 0), (20, 1, 0), (10, 1, 0)])
    assert exact_findings({"A": ranks["some"], "D": others}, options).decided is None
    assert "the exact ranks are not compared by user" in caplog.text


def printed(*rows):
    columns = ["table", "reading", "ok", "printed", "ours", "standard_error", "z"]
    return pd.DataFrame([(*row, 0.5, 0.5, 0.001, 0.0) for row in rows], columns=columns)


def test_printed_numbers_are_counted_by_reading_with_the_tables_that_have_one_and_claims_once():
    rows = [(1, "default", True)] * 2 + [(3, "default", True)] * 3 + [(3, "default", False)]
    rows += [(3, "as-printed", True)] * 4
    holds = ["yes", "yes", "no", "open", "yes", "no"]
    claims = pd.DataFrame({"reading": ["default"] * 4 + ["as-printed"] * 2, "holds": holds})
    _, text = page_of(study(), printed(*rows), claims)
    assert re.findall(r"It reproduces (\d of the \d) printed", text) == ["5 of the 6", "6 of the 6"]
    assert "2 of 4 claims that the paper makes in words hold; not holding: 1; too" in text
    _, text = page_of(study(), printed((1, "default", True)), sampling={"negatives": 50})
    assert "are not compared with the printed ones: sampling.negatives is 50, not 100" in text


RIGHT = table_3(
    X={"exact": (0.08, 0), "uncorrected": (0.5, 0.01)},
    Z={"exact": (0.09, 0), "uncorrected": (0.6, 0.01)},
)
UNSTEADY = table_4(
    ("X", "Z", "recall@10", "uncorrected", 0.6), ("X", "Z", "auc", "uncorrected", 0.7)
)
TWO_SIZES = {
    "third": by_size({20: METRICS, 50: RIGHT}),
    "fourth": by_size({20: ORDER, 50: ORDER}),
}
NOT_COMPUTED = {
    "third": METRICS[METRICS["estimator"].isin(["exact", "cls"])],
    "fourth": ORDER.iloc[2:4],
}


@pytest.mark.parametrize(
    ("studied", "config", "said", "unsaid"),
    [
        (
            {"facts": FACTS},
            {},
            ["3 of 20 held-out items", "1 of 9 users", "leaks the future", "X is trained once"],
            [],
        ),
        (
            {"row_of_ranks": (100, 1, 60)},
            {},
            ["Z: in 1 of 1 rows, half of the other candidates or more tie"],
            [],
        ),
        (
            ONLY_X,
            {"recommenders": {"X": {"type": "popularity"}}},
            ["of X is 8.0 %", "seems to be 66.0 %"],
            ["order recommenders correctly", "Lines cross", "its own scale", "Table 4."],
        ),
        ({"decided": []}, {}, ["Undecided", "Lines cross"], []),
        ({"decided": None}, {}, ["not of the same users", "not compared"], []),
        (
            NOT_COMPUTED,
            {},
            ["did not compute the uncorrected", "percentage points, with CLS."],
            ["Lines cross"],
        ),
        (
            {"third": RIGHT, "fourth": UNSTEADY},
            {},
            ["Only on average", "Z (9.0 %) is better than X (8.0 %)", "better than X in 60 %"],
            ["70 %"],
        ),
        (
            {},
            {"metrics": ["recall@10"]},
            ["1 of 1 decided comparisons", "over all metrics."],
            ["does not change on"],
        ),
        (EQUAL, {}, ["Z (20.0 %) is better than X (10.0 %)", " 0 of 1 decided"], ["Yes"]),
        (THREE, {}, ["No.", "Among 100 sampled negatives, Recall@10 orders 1 of 2 "], ["Yes"]),
        (
            TWO_SIZES,
            {"sampling": {"negatives": [20, 50]}},
            ["Not always.", "0 of 1 (one, 20 negatives), 1 of 1"],
            [],
        ),
    ],
)
def test_the_page_says_what_holds_for_the_study(studied, config, said, unsaid):
    _, text = page_of(study(**studied), **config)
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


def test_the_page_has_every_part_and_fetches_nothing():
    page, text = page_of(study(facts=FACTS, stand_in="ranks"))
    assert re.findall(r"<h2[^>]*>([\w ]+)<", page) == [
        "For your own evaluation",
        "Results on one",
        "What cannot be concluded",
        "What was studied",
        "What it was made from",
    ]
    assert "keep self: yes" in text
    assert "neighbours: none" in text
    first_screen = page[page.index('<section class="answer"') : page.index("</section>")]
    assert "The ranks of one are" in first_screen
    assert "--natural: 10.00in" in page  # 720 points
    assert not re.findall(r'src="(?!data:|#)', page)
    assert set(re.findall(r'href="([^#][^"]*)', page)) == {
        "one/figure-6.csv",
        "one/sample-intervals.csv",
        "one/sample-verdicts.csv",
        "one/table-3.csv",
        "one/table-4.csv",
    }
    assert "66.00<wbr>±1.00" in page  # what a sample shows is no truth
    rows = [row for table in cells_of_html(page) for row in table]
    assert ["Recall@10", "X", "3.00", "1.00 to 5.00", "none"] in rows
    assert ["X vs Z", "Recall@10", "Z is better", "50", "25", "25"] in rows
