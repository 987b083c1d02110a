"""The report of an estimator study: orders, tables and lines worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from rendering.read_pages import plain, written
from study.read_figures import assert_texts_are_apart, curves, texts

from sampled_metrics.rendering import drawing
from sampled_metrics.study.estimator_report import draw, order, sections

COLUMNS = ["negatives", "estimator", "metric", "exact", "mean", "sd"]


def moments(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


class TestOrder:
    def test_by_hand(self):
        one = moments((10.0, "cls", "ap", 0.3, 0.40, 0.03), (10.0, "cls", "auc", 0.9, 0.9, 0.0))
        other = moments((10.0, "cls", "ap", 0.2, 0.35, 0.04), (10.0, "cls", "auc", 0.95, 0.8, 0.0))
        found = order({"one": one, "other": other})
        assert list(found.columns) == ["negatives", "estimator", "metric", "worse", "better", "correct"]
        # a gap of .05 in deviations of √(.03² + .04²) = .05 of the difference: Φ(1)
        assert found.to_dict("records") == [
            dict(zip(found.columns, (10.0, "cls", "ap", "other", "one", pytest.approx(0.841344746)), strict=True)),
            dict(zip(found.columns, (10.0, "cls", "auc", "one", "other", 0.0), strict=True)),
        ]

    def test_whoever_comes_first(self):
        one = moments((10.0, "cls", "ap", 0.3, 0.40, 0.03))
        other = moments((10.0, "cls", "ap", 0.2, 0.35, 0.04))
        pd.testing.assert_frame_equal(order({"a": one, "b": other}), order({"b": other, "a": one}))

    def test_equal_exact_metrics_have_no_order(self):
        one = moments((10.0, "cls", "ap", 0.3, 0.40, 0.03))
        other = moments((10.0, "cls", "ap", 0.3 + 1e-14, 0.35, 0.04))
        found = order({"one": one, "other": other})
        assert found.empty
        assert list(found.columns) == ["negatives", "estimator", "metric", "worse", "better", "correct"]

    def test_one_recommender_has_no_pair(self):
        assert order({"one": moments((10.0, "cls", "ap", 0.3, 0.40, 0.03))}).empty

    def test_what_is_missing_stays_missing(self):
        for mean, sd in ((np.nan, np.nan), (0.4, np.nan)):
            one = moments((10.0, "cls", "ap", 0.3, mean, sd))
            other = moments((10.0, "cls", "ap", 0.2, 0.35, 0.04))
            assert np.isnan(order({"one": one, "other": other})["correct"]).tolist() == [True]

    def test_three_recommenders_have_three_pairs(self):
        exact = {"a": 0.1, "b": 0.3, "c": 0.2}
        each = {name: moments((10.0, "cls", "ap", at, at, 0.1)) for name, at in exact.items()}
        found = order(each)
        assert list(zip(found["worse"], found["better"], strict=True)) == [("a", "b"), ("a", "c"), ("c", "b")]

    @pytest.mark.parametrize("sizes", [(10.0, 20.0), (20.0, 10.0)])
    def test_a_size_is_compared_with_the_same_size_even_if_one_lacks_some(self, sizes):
        one = moments(*((m, "cls", "ap", 0.3, m, 0.0) for m in sizes))
        other = moments((10.0, "cls", "ap", 0.2, 9.0, 0.0))
        found = order({"one": one, "other": other})
        assert found[["negatives", "correct"]].to_numpy().tolist() == [[10, 1]]


NOTHING = float("nan")


def comparison_rows(*rows):
    columns = ["recommender", "negatives", "estimator", "metric", "exact", "mean", "bias", "sd", "error"]
    return pd.DataFrame(rows, columns=columns)


def order_rows(*rows):
    return pd.DataFrame(rows, columns=["negatives", "estimator", "metric", "worse", "better", "correct"])


COMPARED = comparison_rows(
    *(
        (name, m, label, "ap", 0.1, 0.1 + bias, bias, sd, NOTHING)
        for name, m, label, bias, sd in (
            ("X", 10.0, "cls", 0.02, 0.003),
            ("X", 20.0, "cls", -0.01, 0.002),
            ("X", 10.0, "bv-0", NOTHING, NOTHING),
            ("X", 20.0, "bv-0", 0.00456, 0.00123),
            ("Y", 10.0, "cls", 0.0, 0.0),
            ("Y", 20.0, "cls", 0.5, 0.1),
            ("Y", 10.0, "bv-0", NOTHING, NOTHING),
            ("Y", 20.0, "bv-0", NOTHING, NOTHING),
        )
    ),
    *(
        (name, m, label, "recall@1-50", NOTHING, NOTHING, NOTHING, NOTHING, error)
        for name, m, label, error in (
            ("X", 10.0, "cls", 0.1),
            ("X", 20.0, "cls", 0.05),
            ("X", 10.0, "bv-0", NOTHING),
            ("X", 20.0, "bv-0", 0.3),
            ("Y", 10.0, "cls", 0.3),
            ("Y", 20.0, "cls", 0.07),
            ("Y", 10.0, "bv-0", NOTHING),
            ("Y", 20.0, "bv-0", NOTHING),
        )
    ),
)
ORDERED = order_rows(
    (10.0, "cls", "ap", "X", "Y", 0.5),
    (10.0, "cls", "ndcg", "X", "Y", 0.7),
    (10.0, "cls", "auc", "X", "Y", 1.0),  # which every estimator orders rightly
    (20.0, "cls", "ap", "X", "Y", 0.914),
    (10.0, "bv-0", "ap", "X", "Y", NOTHING),
    (20.0, "bv-0", "ap", "X", "Y", 0.25),
)


class TestTables:
    def test_by_hand(self, tmp_path):
        laid_out = sections(COMPARED, ORDERED)
        markdown, latex, html = written(tmp_path, laid_out)
        assert markdown == plain(latex) == html
        error, chance, of_ap = markdown
        # the mean over the recommenders, of those that have one
        assert error == [
            ["Estimator", "m = 10", "m = 20"],
            ["CLS", "20.0", "6.0"],
            ["BV 0", "-", "30.0"],
        ]
        assert chance == [["Estimator", "m = 10", "m = 20"], ["CLS", "60", "91"], ["BV 0", "-", "25"]]
        assert of_ap == [
            ["Recommender", "Estimator", "m = 10", "m = 20"],
            ["X", "CLS", "+2.00±0.30", "-1.00±0.20"],
            ["X", "BV 0", "-", "+0.46±0.12"],
            ["Y", "CLS", "+0.00±0.00", "+50.00±10.00"],
            ["Y", "BV 0", "-", "-"],
        ]
        assert [heading.split(":")[0] for heading, _ in laid_out] == [
            "Error of Recall@1-50 in per cent",
            "Right order in per cent",
            "AP in per cent, by recommender",
        ]

    def test_one_recommender_has_errors_but_no_order(self, tmp_path):
        alone = COMPARED[COMPARED["recommender"] == "X"]
        markdown, _, html = written(tmp_path, sections(alone, ORDERED.iloc[:0]))
        assert markdown[0][1] == html[0][1] == ["CLS", "10.0", "5.0"]
        assert [row for row in markdown[-1] if row[0] == "Y"] == []

    def test_a_recommender_that_lacks_a_size_has_a_gap_there(self, tmp_path):
        # of Y, whose users have fewer candidates, there is no sample of 20
        lacking = COMPARED[(COMPARED["recommender"] == "X") | (COMPARED["negatives"] != 20)]
        of_ap = written(tmp_path, sections(lacking, ORDERED))[0][-1]
        assert of_ap[3] == ["Y", "CLS", "+0.00±0.00", "-"]

    def test_only_auc(self, tmp_path):
        of_auc = COMPARED.replace({"metric": {"ap": "auc"}})
        markdown, _, _ = written(tmp_path, sections(of_auc, ORDERED[ORDERED["metric"] == "auc"]))
        assert markdown[-1][0] == ["Recommender", "Estimator", "m = 10", "m = 20"]


def compared_rows(errors):
    """(recommender, negatives, estimator) → error of Recall@1 … 50."""
    return pd.DataFrame(
        [(*key, "recall@1-50", error) for key, error in errors.items()],
        columns=["recommender", "negatives", "estimator", "metric", "error"],
    )


def ordered_rows(chances):
    """(negatives, estimator, metric) → chance of the right order."""
    return pd.DataFrame(
        [(*key, "X", "Y", chance) for key, chance in chances.items()],
        columns=["negatives", "estimator", "metric", "worse", "better", "correct"],
    )


ERRORS = {
    ("X", 10.0, "cls"): 0.2,
    ("Y", 10.0, "cls"): 0.4,
    ("X", 100.0, "cls"): 0.1,
    ("Y", 100.0, "cls"): 0.1,
    ("X", 10.0, "bv-0"): NOTHING,
    ("Y", 10.0, "bv-0"): NOTHING,
    ("X", 100.0, "bv-0"): 0.6,
    ("Y", 100.0, "bv-0"): NOTHING,
}
CHANCES = {
    (10.0, "cls", "ap"): 0.5,
    (10.0, "cls", "ndcg"): 0.7,
    (10.0, "cls", "auc"): 1.0,
    (100.0, "cls", "ap"): 0.9,
    (10.0, "bv-0", "ap"): NOTHING,
    (100.0, "bv-0", "ap"): 0.25,
}


def shown(figure):
    """For each panel: sample size → estimator → the place of its mark, in per cent; a missing one has no mark."""
    left, right = figure.axes
    labels = [text.get_text() for text in left.get_yticklabels()]
    return [
        {
            size: {labels[row]: x for x, row in zip(*marks, strict=True) if not np.isnan(x)}
            for size, marks in curves(panel).items()
        }
        for panel in (left, right)
    ]


class TestDrawing:
    def test_means_by_sample_size(self):
        error, correct = shown(draw(compared_rows(ERRORS), ordered_rows(CHANCES)))
        assert error == {
            "m = 10": {"CLS": pytest.approx(30)},
            "m = 100": {"CLS": pytest.approx(10), "BV 0": pytest.approx(60)},
        }
        assert correct == {
            "m = 10": {"CLS": pytest.approx(60)},  # AUC is no part of it
            "m = 100": {"CLS": pytest.approx(90), "BV 0": pytest.approx(25)},
        }

    @pytest.mark.parametrize("number", [1, 3, 10, 15])
    def test_a_row_for_each_estimator_the_smallest_error_on_top_and_a_mark_for_each_size(self, number):
        sizes = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
        errors = {("X", m, f"bv-0.{at}"): 1 / at for at in range(1, number + 1) for m in sizes}
        figure = draw(compared_rows(errors), ordered_rows({}), "tiny: 20 users")
        left = figure.axes[0]
        assert [text.get_text() for text in left.get_yticklabels()] == [f"BV 0.{at}" for at in range(1, number + 1)]
        assert texts(figure.legends[0]) == [f"m = {m:g}" for m in sizes]
        for look in ({line.get_marker() for line in left.get_lines()}, {line.get_color() for line in left.get_lines()}):
            assert len(look) == len(sizes)
        assert_texts_are_apart(figure)

    @pytest.mark.parametrize(
        "errors",
        [
            dict.fromkeys(ERRORS, NOTHING),
            dict.fromkeys(ERRORS, 0.0),
            ERRORS | {("X", 10.0, "cls"): 0.0, ("Y", 10.0, "cls"): 0.0},
        ],
        ids=["none", "zero", "some zero"],
    )
    def test_errors_that_a_logarithmic_axis_does_not_have(self, errors, tmp_path):
        for chances in ({}, CHANCES):
            figure = draw(compared_rows(errors), ordered_rows(chances))
            drawing.write(figure, tmp_path / "a.svg")
            assert (tmp_path / "a.svg").stat().st_size > 0

    def test_one_recommender_has_no_order(self):
        assert shown(draw(compared_rows(ERRORS), ordered_rows({})))[1] == {}
