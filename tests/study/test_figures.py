"""Figures drawn from small tables: the lines and bars that are there, what they show, and the bytes they become."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.paper import toy
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.study import figures
from sampled_metrics.study.repetitions import figure_5, figure_6

RANKS = {"A": [3, 3], "B": [1, 9], "C": [5, 5]}
TABLES = {
    name: RankTable(np.arange(3), np.full(3, 40), np.array(above), np.array([0, 2, 0]))
    for name, above in (("X", [0, 9, 30]), ("Y", [1, 2, 3]), ("Z", [0, 1, 35]))
}
METRICS = ["auc", "ap", "ndcg", "recall@2"]


def read_back(table, tmp_path):
    table.to_csv(tmp_path / "figure.csv", index=False)
    return pd.read_csv(tmp_path / "figure.csv")


@pytest.fixture(params=["figure-1", "figure-2", "figure-3", "figure-4", "figure-5", "figure-6"], ids=lambda kind: kind)
def kind(request):
    return request.param


def table_of(kind):
    return {
        "figure-1": lambda: toy.figure_1(5000, METRICS, 10),
        "figure-2": lambda: toy.figure_2(RANKS, 11, METRICS, [1, 4, 10]),
        "figure-3": lambda: toy.figure_3(60, METRICS, [1, 5], 30),
        "figure-4": lambda: toy.figure_4(60, "ap", 6, ["uncorrected", "cls", "bv-0.1"]),
        "figure-5": lambda: figure_5(TABLES, [5, 10]),
        "figure-6": lambda: figure_6(
            TABLES, "recall@2", ["uncorrected", "bv-0.1"], [5, 10], replacement=False, assume_replacement=True
        ),
    }[kind]()


@pytest.fixture
def drawn(tmp_path):
    return lambda kind: figures.draw(kind, read_back(table_of(kind), tmp_path))


def curves(panel):
    """Label → (x, y) of the lines with a label of their own."""
    return {
        line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line in panel.get_lines()
        if not line.get_label().startswith("_")
    }


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


class TestFigure1:
    def test_every_metric_in_both_panels_the_right_one_zoomed(self, drawn):
        whole, zoomed = drawn("figure-1").axes
        assert list(curves(whole)) == list(curves(zoomed)) == ["AUC", "AP", "NDCG", "Recall@2"]
        assert max(curves(whole)["AP"][0]) == 5000
        assert curves(zoomed)["AP"] == (list(range(1, 11)), pytest.approx([1 / r for r in range(1, 11)]))
        assert zoomed.get_xlim()[1] == 10
        assert zoomed.get_title() == "the first 10 ranks"
        assert (whole.get_xlabel(), whole.get_ylabel()) == ("predicted rank", "metric")
        assert texts(zoomed.get_legend()) == ["AUC", "AP", "NDCG", "Recall@2"]

    @pytest.mark.parametrize("candidates", [60, 300])
    def test_the_zoom_is_the_one_asked_for_with_few_candidates_too(self, candidates):
        _, zoomed = figures.draw("figure-1", toy.figure_1(candidates, METRICS, 10)).axes
        assert zoomed.get_xlim()[1] == 10


class TestFigure2:
    def test_a_panel_for_each_metric_and_a_line_for_each_recommender(self, drawn):
        panels = drawn("figure-2").axes
        table = table_of("figure-2")
        assert [panel.get_title() for panel in panels] == ["AUC", "AP", "NDCG", "Recall@2"]
        for panel, label in zip(panels, METRICS, strict=True):
            assert list(curves(panel)) == ["A", "B", "C"]
            for name, (x, y) in curves(panel).items():
                rows = table[(table["metric"] == label) & (table["recommender"] == name)]
                assert x == [1, 4, 10]
                assert y == pytest.approx(rows["expected"].tolist())
            assert panel.get_xscale() == "log"
            assert panel.get_xlabel() == "negatives sampled, m"

    @pytest.mark.parametrize("number", [1, 2, 3, 5, 6])
    def test_however_many_metrics_there_are_each_has_a_panel(self, number):
        labels = ["auc", "ap", "ndcg", "recall@2", "mrr", "ap@2"][:number]
        panels = figures.draw("figure-2", toy.figure_2(RANKS, 11, labels, [1, 4])).axes
        assert sum(len(curves(panel)) > 0 for panel in panels) == number


class TestFigure3:
    def test_a_line_for_each_sample_size_and_one_for_the_exact_metric(self, drawn):
        for panel, title in zip(drawn("figure-3").axes, ["AUC", "AP", "NDCG", "Recall@2"], strict=True):
            assert panel.get_title() == title
            assert set(curves(panel)) == {"1", "5", "all: the exact metric"}
            assert panel.get_xlabel() == "true rank"
        _, ap, *_ = drawn("figure-3").axes
        assert curves(ap)["all: the exact metric"] == (list(range(1, 31)), pytest.approx([1 / r for r in range(1, 31)]))

    @pytest.mark.parametrize("number", [1, 5])
    def test_however_many_metrics_there_are_each_has_a_panel(self, number):
        labels = ["auc", "ap", "ndcg", "recall@2", "mrr"][:number]
        panels = figures.draw("figure-3", toy.figure_3(60, labels, [1, 5], 30)).axes
        assert sum(len(curves(panel)) > 0 for panel in panels) == number


class TestFigure4:
    def test_every_estimator_in_both_panels_and_the_exact_metric_in_one(self, drawn):
        figure = drawn("figure-4")
        sampled, expected = figure.axes
        assert len(sampled.get_lines()) == 3
        assert len(expected.get_lines()) == 4
        assert [len(line.get_xdata()) for line in sampled.get_lines()] == [7, 7, 7]
        [legend] = figure.legends
        assert set(texts(legend)) == {"Exact", "Sampled (uncorrected)", "CLS", "BV 0.1"}
        assert (sampled.get_xlabel(), expected.get_xlabel()) == ("rank in the sample", "true rank")

    def test_an_estimator_has_one_style_in_both_panels_and_the_legend(self, drawn):
        figure = drawn("figure-4")
        sampled, expected = figure.axes
        table = table_of("figure-4")
        colours = {}
        for panel, which in ((sampled, "sampled"), (expected, "expected")):
            rows = table[table["panel"] == which]
            for line in panel.get_lines():
                [name] = [
                    name
                    for name, curve in rows.groupby("estimator")
                    if curve["value"].tolist() == pytest.approx(line.get_ydata().tolist(), abs=1e-12)
                ]
                colours.setdefault(name, set()).add(line.get_color())
        assert all(len(each) == 1 for each in colours.values())
        assert len(set.union(*colours.values())) == 4


class TestFigure5:
    def test_a_bar_for_each_bucket_and_recommender_as_high_as_its_users(self, drawn):
        [panel] = drawn("figure-5").axes
        table = table_of("figure-5")
        buckets = ["1–5", "6–10", "11 to half", "worse half"]
        assert [label.get_text() for label in panel.get_xticklabels()] == buckets
        assert [bars.get_label() for bars in panel.containers] == ["X", "Y", "Z"]
        for bars in panel.containers:
            of_one = table[table["recommender"] == bars.get_label()]
            assert [bar.get_height() for bar in bars] == pytest.approx(of_one["events"].tolist())
        assert (panel.get_xlabel(), panel.get_ylabel()) == ("predicted rank of the held-out item", "users")
        [legend] = panel.figure.legends
        assert texts(legend) == ["X", "Y", "Z"]

    def test_bars_stand_at_their_bucket_side_by_side(self, drawn):
        [panel] = drawn("figure-5").axes
        edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bars in panel.containers for bar in bars)
        assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(edges))
        for bars in panel.containers:
            assert [round(bar.get_x() + bar.get_width() / 2) for bar in bars] == [0, 1, 2, 3]

    def test_bars_can_be_told_apart_without_colour(self, drawn):
        [panel] = drawn("figure-5").axes
        assert len({bars[0].get_hatch() for bars in panel.containers}) == 3


class TestFigure6:
    def test_a_panel_for_each_estimator_lines_in_per_cent_and_the_exact_values(self, drawn):
        panels = drawn("figure-6").axes
        table = table_of("figure-6")
        assert [panel.get_title() for panel in panels] == ["Sampled (uncorrected)", "BV 0.1"]
        for panel, label in zip(panels, ["uncorrected", "bv-0.1"], strict=True):
            assert list(curves(panel)) == ["X", "Y", "Z"]
            for name, (x, y) in curves(panel).items():
                rows = table[(table["estimator"] == label) & (table["recommender"] == name)]
                assert x == [5, 10]
                assert y == pytest.approx((100 * rows["expected"]).tolist())
            exact = sorted(line.get_ydata()[0] for line in panel.get_lines() if line.get_label().startswith("_"))
            assert exact == pytest.approx(sorted(100 * table.groupby("recommender")["exact"].first()))
            assert panel.get_ylabel() == "expected Recall@2 in %"


def test_lines_of_a_panel_can_be_told_apart_without_colour(kind, drawn):
    if kind == "figure-5":
        pytest.skip("has bars")
    for panel in drawn(kind).axes:
        own = [line for line in panel.get_lines() if not line.get_label().startswith("_") or kind == "figure-4"]
        looks = {(line.get_marker(), str(line.get_linestyle()), str(line._dash_pattern)) for line in own}
        assert len(looks) == len(own)


def test_is_the_same_bytes_whenever_it_is_drawn(kind, drawn, tmp_path, monkeypatch):
    figures.write(drawn(kind), tmp_path / "1.svg", tmp_path / "1.png")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # another day
    monkeypatch.setattr("os.getpid", lambda: 22)
    figures.write(drawn(kind), tmp_path / "2.svg", tmp_path / "2.png")
    for ending, magic in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        first = (tmp_path / f"1.{ending}").read_bytes()
        assert first == (tmp_path / f"2.{ending}").read_bytes()
        assert first.startswith(magic)


def test_one_figure_is_written_in_every_format_asked_for(drawn, tmp_path):
    figures.write(drawn("figure-6"), tmp_path / "a.svg", tmp_path / "a.png")
    assert sorted(path.name for path in tmp_path.glob("a.*")) == ["a.png", "a.svg"]


def test_drawing_leaves_the_callers_settings_alone(drawn):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    drawn("figure-2")
    assert dict(mpl.rcParams) == before


# --- the comparison of estimators -------------------------------------------------------------------------------------

NOTHING = float("nan")


def compared_rows(errors):
    """(recommender, sample, negatives, estimator) → error of Recall@1 … 50."""
    return pd.DataFrame(
        [(*key, "recall@1-50", error) for key, error in errors.items()],
        columns=["recommender", "sample", "negatives", "estimator", "metric", "error"],
    )


def ordered_rows(chances):
    """(sample, negatives, estimator, metric) → chance of the right order."""
    return pd.DataFrame(
        [(*key, "X", "Y", chance) for key, chance in chances.items()],
        columns=["sample", "negatives", "estimator", "metric", "worse", "better", "correct"],
    )


ERRORS = {
    ("X", "fixed", 10.0, "cls"): 0.2,
    ("Y", "fixed", 10.0, "cls"): 0.4,
    ("X", "fixed", 100.0, "cls"): 0.1,
    ("Y", "fixed", 100.0, "cls"): 0.1,
    ("X", "fixed", 10.0, "mapping-bound"): NOTHING,
    ("Y", "fixed", 10.0, "mapping-bound"): NOTHING,
    ("X", "fixed", 100.0, "mapping-bound"): 0.6,
    ("Y", "fixed", 100.0, "mapping-bound"): NOTHING,
}
ADAPTIVE = {
    ("X", "adaptive", 200.0, "adaptive"): 0.02,
    ("Y", "adaptive", 300.0, "adaptive"): 0.04,
    ("X", "equal-cost", 200.0, "cls"): 0.9,
    ("Y", "equal-cost", 300.0, "cls"): 0.9,
}
CHANCES = {
    ("fixed", 10.0, "cls", "ap"): 0.5,
    ("fixed", 10.0, "cls", "ndcg"): 0.7,
    ("fixed", 10.0, "cls", "auc"): 1.0,
    ("fixed", 100.0, "cls", "ap"): 0.9,
    ("fixed", 10.0, "mapping-bound", "ap"): NOTHING,
    ("fixed", 100.0, "mapping-bound", "ap"): 0.25,
}


class TestComparison:
    def test_means_by_sample_size(self):
        left, right = figures.estimator_study(compared_rows(ERRORS), ordered_rows(CHANCES)).axes
        assert curves(left) == {
            "CLS": ([10, 100], pytest.approx([30, 10])),
            "Mapping, bound": ([100], pytest.approx([60])),
        }
        assert curves(right) == {
            "CLS": ([10, 100], pytest.approx([60, 90])),  # AUC is no part of it
            "Mapping, bound": ([100], pytest.approx([25])),
        }
        assert (left.get_xscale(), left.get_yscale(), right.get_xscale()) == ("log", "log", "log")
        assert left.get_ylabel() == "error of Recall@1-50 in %"
        assert texts(right.get_legend()) == ["CLS", "Mapping, bound"]

    def test_the_adaptive_sample_is_one_point_at_its_mean_size(self):
        chances = ordered_rows(CHANCES | {("adaptive", 250.0, "adaptive", "ap"): 0.95})
        left, right = figures.estimator_study(compared_rows(ERRORS | ADAPTIVE), chances).axes
        assert curves(left)["Adaptive (EM)"] == ([250], pytest.approx([3]))
        assert curves(right)["Adaptive (EM)"] == ([250], pytest.approx([95]))
        assert curves(left)["CLS"] == ([10, 100], pytest.approx([30, 10]))

    @pytest.mark.parametrize(("number", "rows"), [(1, 1), (7, 1), (8, 2), (14, 2), (15, 3)])
    def test_each_estimator_is_drawn_once(self, number, rows):
        names = [f"bv-0.{at}" for at in range(1, number + 1)]
        errors = {("X", "fixed", m, name): 0.1 for name in names for m in (10.0, 20.0)}
        panels = figures.estimator_study(compared_rows(errors | ADAPTIVE), ordered_rows({})).axes
        assert len(panels) == 2 * rows
        drawn = [label for panel in panels[::2] for label in curves(panel)]
        assert drawn == [*(f"BV 0.{at}" for at in range(1, number + 1)), "Adaptive (EM)"]
        for panel in panels[::2]:
            looks = {(line.get_marker(), str(line._dash_pattern)) for line in panel.get_lines()}
            assert len(looks) == len(panel.get_lines())

    @pytest.mark.parametrize(
        "errors",
        [
            dict.fromkeys(ERRORS, NOTHING),
            dict.fromkeys(ERRORS, 0.0),
            ERRORS | {("X", "fixed", 10.0, "cls"): 0.0, ("Y", "fixed", 10.0, "cls"): 0.0},
            dict.fromkeys(ERRORS | ADAPTIVE, NOTHING),
        ],
        ids=["none", "zero", "some zero", "none with an adaptive sample"],
    )
    def test_errors_that_a_logarithmic_axis_does_not_have(self, errors, tmp_path):
        for chances in ({}, CHANCES):
            figure = figures.estimator_study(compared_rows(errors), ordered_rows(chances))
            figures.write(figure, tmp_path / "a.svg", tmp_path / "a.png")
            assert (tmp_path / "a.svg").stat().st_size > 0

    def test_one_recommender_has_no_order(self, tmp_path):
        _, right = figures.estimator_study(compared_rows(ERRORS), ordered_rows({})).axes
        assert [x for x, _ in curves(right).values()] == [[], []]

    def test_is_the_same_bytes_twice(self, tmp_path):
        for name in ("1", "2"):
            figure = figures.estimator_study(compared_rows(ERRORS | ADAPTIVE), ordered_rows(CHANCES))
            figures.write(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
        for ending in ("svg", "png"):
            assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()
