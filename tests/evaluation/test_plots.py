"""Figures of results: they show the numbers of the table, and are legible without colour."""

import numpy as np
import pytest
import read_and
from matplotlib import pyplot
from matplotlib.figure import Figure

import sampled_metrics as sm
from sampled_metrics.evaluation.plots import Mark, Panel, draw_panel, picture
from sampled_metrics.evaluation.result import Result

RNG = np.random.default_rng(5)
X, Z = RNG.integers(1, 101, 300), RNG.integers(1, 61, 300)
X_SAMPLED = RNG.integers(1, 22, 300)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def evaluated(**options):
    return read_and.evaluate(X, candidates=100, **options)


def corrected(**options):
    return read_and.correct(X_SAMPLED, candidates=1000, negatives=20, **options)


def compared(**options):
    return read_and.compare({"X": X, "Z": Z}, candidates=100, **options)


def expected(**options):
    return read_and.expect({"X": X, "Z": Z}, negatives=20, candidates=100, **options)


def planned(**options):
    options = {"negatives": [20], "draws": 40, "estimators": "uncorrected"} | options
    return read_and.plan({"X": X, "Z": Z}, candidates=100, **options)


def marks(axes):
    """The values of a panel from above, and the ends of their intervals."""
    return [
        (point.get_xdata()[0], tuple(bars[0].get_segments()[0][:, 0]) if bars else None)
        for point, _, bars in axes.containers
    ]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def labels(axes):
    return [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]


def caption(figure):
    return figure.get_supxlabel().replace("\n", " ")


def test_values_and_intervals_of_evaluate():
    table = evaluated(metrics=["recall@10", "ndcg@10"])
    axes = table.plot()
    assert labels(axes) == ["Recall@10", "NDCG@10"]
    assert axes.get_xlabel() == "value, 95 % interval"
    for row, (value, ends) in zip(table.itertuples(), marks(axes), strict=True):
        assert value == row.value
        np.testing.assert_allclose(ends, (row.low, row.high))
    assert texts(axes) == [f"{value:.4g}" for value in table["value"]]


def test_compare_shows_what_is_decided():
    table = compared(metrics=["recall@10", "recall@2"])
    assert list(table["conclusion"]) == ["Z", "undecided"]
    axes = table.plot()
    assert axes.get_xlabel() == "difference (Z - X), 95 % interval"
    assert texts(axes) == [
        f"{gap:+.4f}: {what}" for gap, what in zip(table["difference"], ("Z is better", "undecided"), strict=True)
    ]
    assert [point.get_markerfacecolor() == "white" for point, _, _ in axes.containers] == [False, True]
    for row, (value, ends) in zip(table.itertuples(), marks(axes), strict=True):
        assert value == row.difference
        np.testing.assert_allclose(ends, (row.low, row.high))
    assert "Hollow: undecided" in caption(axes.figure)
    assert "Hollow" not in caption(table.iloc[:1].plot().figure)


def test_compare_shows_an_interval_that_excludes_its_difference():
    table = compared(metrics="auc").assign(difference=0.5, low=0.1, high=0.3, conclusion="no verdict")
    axes = table.plot()
    assert marks(axes) == [(pytest.approx(0.2), pytest.approx((0.1, 0.3))), (0.5, None)]
    assert "no verdict, the interval excludes the difference itself." in caption(axes.figure)


def test_expect_shows_exact_and_expected_values():
    table = expected(metrics="recall@10", estimators=["uncorrected", "bv-0.1"])
    axes = table.plot()
    found = marks(axes)
    for row, place in zip(table.itertuples(), (1, 2, 4, 5), strict=True):
        assert found[place - 1 if row.estimator == "uncorrected" else place - 2] == (row.exact, None)
        assert found[place][0] == row.expected
        np.testing.assert_allclose(found[place][1], (row.expected - row.deviation, row.expected + row.deviation))
    [legend] = axes.figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["exact", "Sampled (uncorrected), expected", "BV 0.1, expected"]
    shapes = {point.get_marker() for point, _, _ in axes.containers}
    assert len(shapes) == 3


def test_the_caption_says_of_whom_an_estimator_assumes_less():
    columns = {"recommender": list("aabb"), "estimator": ["free", "decreasing"] * 2, "metric": "auc"}
    ends = {"value": 0.5, "low": 0.4, "high": 0.6, "assumes": ["none", "decreasing", "none", "none"]}
    text = picture(Result(columns | ends)).caption
    assert "Free, Decreasing of b: the 95 % interval holds the true metric without an assumption" in text
    assert "Decreasing of a: the 95 % interval holds the true metric if better ranks" in text


def test_a_name_with_dollar_signs_is_no_formula():
    table = read_and.compare(X, Z, candidates=100, metrics="recall@10", names=("a$_b$", "c$^d$"))
    axes = table.plot()
    axes.figure.draw_without_rendering()
    assert axes.get_xlabel().replace("\n", " ") == r"difference (c\$^d\$ - a\$_b\$), 95 % interval"


@pytest.mark.parametrize("function", [corrected, planned])
def test_no_text_is_cut_off(function):
    axes = np.ravel(function(estimators="uncorrected").plot())
    figure = axes[0].figure
    assert "300 users, n = 1" in caption(figure)
    figure.draw_without_rendering()
    drawn = [text for each in axes for text in (*each.texts, *each.get_yticklabels(), each.title)]
    for text in filter(lambda text: text.get_text(), (*drawn, *figure.texts)):
        box = text.get_window_extent()
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text


def test_into_given_axes_with_the_caption_below():
    axes = Figure().subplots()
    table = corrected(metrics="auc", estimators="free")
    assert table.plot(ax=axes) is axes
    assert len(marks(axes)) == 1
    assert "without an assumption" in axes.get_xlabel().replace("\n", " ")


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(sm.ConfigError, match="a figure is written as svg, png or pdf"):
        evaluated(metrics="auc").plot(tmp_path / "figure.svg.gz")
    assert list(tmp_path.iterdir()) == []


def test_with_arguments_of_pandas_or_its_methods():
    table = evaluated(metrics=["recall@10", "auc"])
    for axes in (table.plot(x="metric", y="value", kind="bar"), table.plot.bar(x="metric", y="value")):
        assert [bar.get_height() for bar in axes.patches] == table["value"].tolist()


def test_texts_stay_within_their_axes(tmp_path):
    """A text that is longer than the way from the marker to the axis moves."""
    figure = Figure(figsize=(3.7, 3))
    axes = figure.subplots()
    marks = [Mark(value, value, value, "+0.1234: new is better by more") for value in (0.0, 0.5, 1.0)]
    draw_panel(Panel("", "value", {"row": marks}), axes)
    figure.draw_without_rendering()
    for text in axes.texts:
        assert axes.bbox.x0 <= text.get_window_extent().x0 < text.get_window_extent().x1 <= axes.bbox.x1
