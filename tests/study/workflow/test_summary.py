"""The summary of a run: its answer by hand, and what the page of a study says and does not say."""

import re

import numpy as np
import pandas as pd
import pytest
from made_up_project import complete_config
from small_tables import table_of

from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.reporting.page import Image
from sampled_metrics_study import tables
from sampled_metrics_study.decided import Exact, exact_findings
from sampled_metrics_study.repetitions import Evaluation, by_size, estimates, exact_moments, samples
from sampled_metrics_study.summary import Studied, answer, stage_costs, summary


@pytest.fixture
def not_drawn(monkeypatch):
    """The figure of an answer is not drawn, which takes most of the time."""
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
SHARES = {"uncorrected": (0.0, 1.0), "cls": (0.5, 0.9), "bv-1": (0.9, 1.0)}
LABELS = ("recall@10", "auc")
ORDER = table_4(
    *[
        ("X", "Z", label, name, share)
        for name, shares in SHARES.items()
        for label, share in zip(LABELS, shares, strict=True)
    ]
)
DECIDED = [(label, "Z", "X") for label in LABELS]
ONLY_X = {"third": METRICS[METRICS["recommender"] == "X"], "fourth": table_4(), "decided": []}
RANKS = table_of([(100, 1, 0), (201, 5, 2)])
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="720pt" height="72pt"></svg>'
MADE = {"format": "movielens-dat", "urls": ["https://a.b/c"]}
FEW = "users_left_out_with_few_training_events"
WITHOUT = "held_out_items_without_training_events"
COUNTED = dict.fromkeys(("events_left_out_by_core", FEW, WITHOUT), 0)
COUNTED |= {
    "users": 2,
    "items": 300,
    "events_in_file": 40,
    "training_events": 38,
    "held_out_items": 20,
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


def study(
    name="one",
    third=METRICS,
    fourth=ORDER,
    decided=DECIDED,
    trained=("X",),
    on_margin=(),
    ranks=RANKS,
    **options,
):
    """A study with exact values ± .01."""
    exact = third[third["estimator"] == "exact"].rename(columns={"mean": "value"})
    exact = exact.drop_duplicates(["recommender", "metric"])
    exact = exact.assign(low=exact["value"] - 0.01, high=exact["value"] + 0.01)
    figure = {"title": "A figure", "caption": "What it shows.", "csv": f"{name}/figure-6.csv"}
    figures = [figure | {"image": Image.from_svg(SVG)}]
    return Studied(
        name,
        trained,
        dict.fromkeys(exact["recommender"], ranks),
        Exact(exact, decided, on_margin),
        third,
        fourth,
        INTERVALS,
        VERDICTS,
        figures=figures,
        **options,
    )


def config_of(*studied, **changes):
    datasets = {dataset.name: MADE for dataset in studied}
    return complete_config(
        {"study": list(datasets), "datasets": datasets, "metrics": [*LABELS], **changes}
    )


def page_of(*studied, printed=None, claims=None, **changes):
    """The page of a config, and its text."""
    captions = {"table-3": "What Table 3 holds.", "table-4": "What Table 4 holds."}
    captions |= {"sample-intervals": "What intervals hold.", "sample-verdicts": "Verdicts."}
    page = summary(
        config_of(*studied, **changes), studied, captions, {"Code": "version 1"}, printed, claims
    )
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return page, re.sub(r"\s+", " ", text)


def rows_of(page, caption):
    """The rows of a table of a page, in html."""
    part = page[page.index(caption) :]
    return re.findall(r"<tr>(.*?)</tr>", part[: part.index("</table>")], re.DOTALL)[1:]


def answer_of(**changes):
    studied = study(**changes)
    return answer(studied, config_of(studied), None)


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


@pytest.mark.usefixtures("not_drawn")
def test_pairs_are_undecided_alike_or_wrong_and_one_recommender_has_none():
    """By AUC the pair is decided, and comes out right.

    By recall it is not decided, and its wrong order does not count.
    """
    undecided = answer_of(decided=DECIDED[1:])
    assert undecided["pairs"] == undecided["wrong"] == []
    assert undecided["wrong_of_all"] == 0
    assert undecided["decided_of_all"] == 0
    assert undecided["undecided_of_all"] == 1
    assert undecided["correction"]["right"] is None
    alike = answer_of(**EQUAL)
    assert alike["wrong"] == []
    assert alike["alike"] == [("Z", "X")]
    wrong = answer_of(**several(0.9, 0.8, 0.85))
    assert wrong["wrong"] == [("B", "C")]
    assert wrong["alike"] == []
    assert wrong["pairs"] == [("A", "C"), ("B", "C")]
    shares = table_4(
        ("X", "Z", "recall@10", "uncorrected", 0.49), ("X", "Z", "auc", "uncorrected", 0.5)
    )
    assert answer_of(fourth=shares)["wrong_of_all"] == 1
    half = table_4(("X", "Z", "recall@10", "uncorrected", 0.5))
    assert answer_of(fourth=half)["wrong_of_all"] == 0
    single = answer_of(**ONLY_X)
    assert single["pairs"] == single["wrong"] == []
    assert single["decided_of_all"] == 0
    assert single["correction"]["nearest"] == ["CLS"]
    assert single["correction"]["right"] is None


def test_the_cost_of_stages_is_that_of_the_smallest_depth_with_a_narrow_interval():
    depths = [(30.0, 70.0, 0.020), (100.0, 120.0, 0.012), (300.0, 200.0, 0.010)]
    rows = [(name, "all candidates", np.nan, 3000.0, 0.010) for name in "XY"]
    rows += [("X", "stages", *row) for row in depths] + [("Y", "stages", 30.0, 70.0, np.nan)]
    budget = pd.DataFrame(rows, columns=["recommender", "way", "depth", "scores", "width"])
    [cost] = stage_costs(study(budget=budget))
    assert cost == {
        "dataset": "one",
        "recommender": "X",
        "scores": 120.0,
        "all_scores": 3000.0,
        "ratio": pytest.approx(1.2),
    }


def test_ranks_of_other_users_state_no_order(caplog):
    ascending = table_of([(10, 1, 0), (20, 1, 0), (30, 1, 0)])
    descending = table_of([(30, 1, 0), (20, 1, 0), (10, 1, 0)])
    findings = exact_findings(
        {"A": ascending, "D": descending}, CompareOptions(metrics=["recall@10"])
    )
    assert findings.decided is None
    assert "the exact ranks are not compared by user" in caplog.text


def printed(*rows):
    columns = ["table", "reading", "ok", "printed", "ours", "standard_error", "z"]
    return pd.DataFrame([(*row, 0.5, 0.5, 0.001, 0.0) for row in rows], columns=columns)


@pytest.mark.usefixtures("not_drawn")
def test_printed_numbers_are_counted_by_reading_with_the_tables_that_have_one_and_claims_once():
    rows = [(1, "default", True)] * 2 + [(3, "default", True)] * 3 + [(3, "default", False)]
    holds = ["yes", "yes", "no", "open", "yes", "no"]
    claims = pd.DataFrame({"reading": ["default"] * 4 + ["as-printed"] * 2, "holds": holds})
    _, text = page_of(
        study(), printed=printed(*rows, *[(3, "as-printed", True)] * 4), claims=claims
    )
    assert re.findall(r"It reproduces (\d of the \d) printed", text) == ["5 of the 6", "6 of the 6"]
    assert (
        "2 of 4 claims that the paper makes in words hold; not holding: 1; too vague to check: 1."
        in text
    )
    assert "are not compared" not in text
    _, text = page_of(study(), printed=printed((1, "default", True)), sampling={"negatives": 50})
    assert "are not compared with the printed ones: sampling.negatives is 50, not 100" in text


LEAKS = "leaks the future between users"
AVOIDS = "The split global-time avoids this"
NO_ITEMS = "held-out items of one have no training"
FEW_EVENTS = "users of one are left out, as"
ABOUT_ORDERS = (
    "order recommenders correctly|Is the order|Lines cross|its own scale|Tables 3 and 4|Table 4."
)
CROSS = "Lines cross"
TWO_SIZES = {"sampling": {"negatives": [20, 50]}}
ONE = {"recommenders": {"X": {"type": "popularity"}}}
RIGHT = table_3(
    X={"exact": (0.08, 0), "uncorrected": (0.5, 0.01)},
    Z={"exact": (0.09, 0), "uncorrected": (0.6, 0.01)},
)
UNSTEADY = table_4(
    ("X", "Z", "recall@10", "uncorrected", 0.6), ("X", "Z", "auc", "uncorrected", 0.7)
)
ALIKE = table_3(
    X={"exact": (0.1, 0), "uncorrected": (0.5, 0)}, Z={"exact": (0.2, 0), "uncorrected": (0.5, 0)}
)
EQUAL = {"third": ALIKE, "fourth": ORDER.iloc[:1], "decided": DECIDED[:1]}
BETTER = "Z (9.0 %) is better than X (8.0 %)"
NOT_COMPUTED = {
    "third": METRICS[METRICS["estimator"].isin(["exact", "cls"])],
    "fourth": ORDER.iloc[2:4],
}


def several(*sampled):
    """A, B and so on are better than the last one; among the others nothing is decided."""
    *others, last = names = "ABCD"[: len(sampled)]
    means = dict(zip(names, sampled, strict=True))
    values = {
        name: {"exact": (0.4 - 0.1 * place, 0), "uncorrected": (means[name], 0)}
        for place, name in enumerate(names)
    }
    rows = [
        (last, name, "recall@10", "uncorrected", float(means[last] < means[name]))
        for name in others
    ]
    decided = [("recall@10", name, last) for name in others]
    return {"third": table_3(**values), "fourth": table_4(*rows), "decided": decided}


def two_sizes(among_20, among_50, **options):
    """The tables of 20 and 50 negatives."""
    return {
        "third": by_size({20: among_20, 50: among_50}),
        "fourth": by_size(dict.fromkeys((20, 50), ORDER)),
        **options,
    }


def counts(**changed):
    return {"facts": COUNTED | changed}


@pytest.mark.usefixtures("not_drawn")
@pytest.mark.parametrize(
    ("studied", "config", "said", "unsaid"),
    [
        (
            counts(**{WITHOUT: 3, "users": 8, FEW: 1}),
            {},
            f"3 of 20 {NO_ITEMS}|1 of 9 {FEW_EVENTS}",
            "",
        ),
        (
            {"ranks": table_of([(100, 1, 60)])},
            {},
            "Z: in 1 of 1 rows, half of the other candidates or more tie",
            "",
        ),
        # what cannot be concluded
        ({}, {}, f"{LEAKS}|{AVOIDS}|X is trained once|Y, Z were made elsewhere", ""),
        (ONLY_X, ONE, "of X is 8.0 %|seems to be 66.0 %", ABOUT_ORDERS),
        # what is drawn
        ({"decided": []}, {}, f"Undecided|{CROSS}", ""),
        ({"third": RIGHT}, {}, f"Yes.|: 1 of 1. By the exact values, {BETTER}.", "No."),
        (
            NOT_COMPUTED,
            {},
            "did not compute the uncorrected|percentage points, with CLS.",
            f"{CROSS}|two standard",
        ),
        # the verdict on decided pairs
        (
            {"third": RIGHT, "fourth": UNSTEADY},
            {},
            "Only on average.|Z comes out better than X in 60 %",
            "70 %",
        ),
        (
            EQUAL,
            {},
            "No.|, among 100 sampled negatives: 0 of 1.|Z (20.0 %) is better than X (10.0 %).",
            "Yes",
        ),
        (
            several(0.9, 0.8, 0.85),
            {},
            "No.|, among 100 sampled negatives: 1 of 2.|B (30.0 %) is better than C (20.0 %).",
            "Yes",
        ),
        (
            two_sizes(METRICS, RIGHT),
            TWO_SIZES,
            "Not always.|0 of 1 (one, 20 negatives), 1 of 1",
            "",
        ),
    ],
)
def test_the_page_says_what_holds_for_the_study(studied, config, said, unsaid):
    _, text = page_of(study(**studied), **config)
    assert [words for words in said.split("|") if words not in text] == []
    assert [words for words in unsaid.split("|") if words and words in text] == []


def test_the_page_has_every_part_and_fetches_nothing():
    page, text = page_of(study(facts=COUNTED, stand_in="ranks"))
    for heading in (
        "For your own evaluation",
        "What was studied",
        "Results on one",
        "What cannot be concluded",
    ):
        assert re.search(f"<h2[^>]*>{heading}", page)
    for said in (
        "factors: 16",
        "keep self: yes",
        "neighbours: none",
        "100, without replacement",
        "What it shows.",
    ):
        assert said in text
    assert "How much of the paper" not in text
    assert (
        page.index('<section class="answer"')
        < page.index("The ranks of one are")
        < page.index("</section>")
    )
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


@pytest.mark.usefixtures("not_drawn")
@pytest.mark.parametrize(
    ("decided", "said"), [(DECIDED, "decided"), ([], "undecided"), (None, "not compared")]
)
def test_table_4_marks_what_is_not_decided(decided, said):
    page, _ = page_of(study(decided=decided))
    rows = rows_of(page, "Table 4.")
    assert [re.findall(r">([\w ]*compared|\w*decided)<", row) for row in rows] == [[said], [said]]
    # of 1000 repetitions, .9 is not .5, and 1 is not .9; but it is 1
    bold = [re.findall(r"<strong>(\d+)</strong>", row) for row in rows]
    assert bold == ([["90"], ["100", "100"]] if said == "decided" else [[], []])


def test_what_a_reader_may_conclude_from_the_page_is_what_the_ranks_say():
    """One never has a hit at 10, one has 80 of 400 (p = 2⁻⁷⁹), and 100 negatives turn the order.

    A third has as many hits as the second, of other users.
    """
    fifth = np.arange(400) % 5
    ranks = {
        "never": 30 + np.arange(400) % 20,
        "some": np.where(fifth, 900, 3),
        "also": np.where(fifth - 1, 900, 3),
    }
    rank_tables = {}
    for name, ranks_of_users in ranks.items():
        rank_tables[name] = table_of([(1000, rank - 1, 0) for rank in ranks_of_users])
    evaluation = Evaluation(
        SamplingDesign(100), 20, ["default"], ["uncorrected", "bv-0.1"], [*LABELS], False
    )
    runs = {}
    for name, table in rank_tables.items():
        drawn = samples(table, evaluation.design, 20, ["random"], np.random.default_rng(7))
        runs[name] = estimates(table, evaluation, drawn)
    expected = {name: exact_moments(table, evaluation) for name, table in rank_tables.items()}
    findings = exact_findings(rank_tables, CompareOptions(metrics=[*LABELS]))
    decided = {(better, worse) for label, better, worse in findings.decided if label == "recall@10"}
    assert decided == {("some", "never"), ("also", "never")}
    recommenders = {name: {"type": "popularity"} for name in ranks}
    studied = Studied(
        "made",
        (),
        rank_tables,
        findings,
        tables.table_3(rank_tables, runs, expected),
        tables.table_4(rank_tables, runs, expected),
        INTERVALS,
        VERDICTS,
    )
    page, text = page_of(studied, recommenders=recommenders, sampling={"repetitions": 20})
    assert "by Recall@10, among 100 sampled negatives: 0 of 2." in text
    assert "over all metrics but AUC, which sampling does not change on average: 2 of 2." in text
    assert "Comparisons that the exact ranks do not decide: 1." in text
    cells = [
        re.findall(r"<t[dh][^>]*>\s*(.*?)\s*</t[dh]>", row, re.DOTALL)
        for row in rows_of(page, "Table 3.")[:3]
    ]
    best = "<strong>20.00</strong>"
    assert {row[1]: row[2] for row in cells} == {"never": "0.00", "some": best, "also": best}


def test_the_page_shows_what_a_sample_tells() -> None:
    page, text = page_of(study())
    [interval] = rows_of(page, "What one sample tells: exact")
    cells = re.findall(r"<t[dh][^>]*>\s*(.*?)\s*</t[dh]>", interval, re.DOTALL)
    assert cells == ["Recall@10", "X", "3.00", "1.00 to 5.00", "none"]
    [verdict] = rows_of(page, "What one sample tells: verdicts")
    cells = re.findall(r"<t[dh][^>]*>\s*(.*?)\s*</t[dh]>", verdict, re.DOTALL)
    assert cells == ["X vs Z", "Recall@10", "Z is better", "50", "25", "25"]
    assert "What intervals hold." in text
