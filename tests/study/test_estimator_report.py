"""The report of an estimator study: orders, tables and lines worked out by hand."""

import pandas as pd
import pytest
from rendering.read_pages import plain, written

from sampled_metrics.study.estimator_report import order_probabilities, sections

COLUMNS = ["negatives", "estimator", "metric", "exact", "mean", "sd"]


def moments(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


class TestOrder:
    def test_by_hand(self):
        one = moments((10.0, "cls", "ap", 0.3, 0.40, 0.03), (10.0, "cls", "auc", 0.9, 0.9, 0.0))
        other = moments((10.0, "cls", "ap", 0.2, 0.35, 0.04), (10.0, "cls", "auc", 0.95, 0.8, 0.0))
        found = order_probabilities({"one": one, "other": other})
        assert list(found.columns) == ["negatives", "estimator", "metric", "worse", "better", "correct"]
        # a gap of .05 in deviations of √(.03² + .04²) = .05 of the difference: Φ(1)
        assert found.to_dict("records") == [
            dict(zip(found.columns, (10.0, "cls", "ap", "other", "one", pytest.approx(0.841344746)), strict=True)),
            dict(zip(found.columns, (10.0, "cls", "auc", "one", "other", 0.0), strict=True)),
        ]


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
