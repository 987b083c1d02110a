"""Figures of results: they show the numbers of the table, and are legible without colour."""

import numpy as np
import pandas as pd
import pytest
import read_and
from drawn_figures import caption, require_that_no_text_is_cut_off
from matplotlib import pyplot
from matplotlib.figure import Figure

import sampled_metrics as sm
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.reporting.drawing import style
from sampled_metrics.reporting.plots import Mark, Panel, draw_panel

RNG = np.random.default_rng(5)
X = RNG.integers(1, 101, 300)
Z = RNG.integers(1, 61, 300)


def corrected(**options):
    """A result of sampled ranks."""
    ranks = np.random.default_rng(6).integers(1, 22, 300)
    sampled = {"candidates": 1000, "negatives": 20, "estimators": "uncorrected"}
    return read_and.correct(ranks, **sampled, **options)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def marks(axes):
    """The values of a panel from above, and the ends of their intervals."""
    return [
        (point.get_xdata()[0], tuple(bars[0].get_segments()[0][:, 0]) if bars else None)
        for point, _, bars in axes.containers
    ]


def test_values_and_intervals_are_drawn_with_what_is_decided():
    table = read_and.compare({"X": X, "Z": Z}, candidates=100, metrics=["recall@10", "recall@2"])
    assert list(table["conclusion"]) == ["Z", "undecided"]
    panels = table.plot()
    assert [axes.get_title() for axes in panels] == ["Recall@10", "Recall@2"]
    for row, axes in zip(table.itertuples(), panels, strict=True):
        [(value, ends)] = marks(axes)
        assert value == row.difference
        np.testing.assert_allclose(ends, (row.low, row.high))
    # the differences are 27 / 300 and 1 / 300
    assert [text.get_text() for axes in panels for text in axes.texts] == ["+0.09", "+0.003333"]
    assert [axes.containers[0][0].get_markerfacecolor() == "white" for axes in panels] == [
        False,
        True,
    ]
    assert "Hollow: undecided" in caption(panels[0].figure)


def test_expect_shows_exact_and_expected_values():
    estimators = ["uncorrected", "bv-0.1"]
    table = read_and.expect(
        {"X": X, "Z": Z}, 20, candidates=100, metrics="recall@10", estimators=estimators
    )
    axes = table.plot()
    expected = []
    for _, rows in table.groupby("recommender", sort=False):
        expected.append((rows["exact"].iloc[0], None))
        for row in rows.itertuples():
            ends = (row.expected - row.deviation, row.expected + row.deviation)
            expected.append((row.expected, pytest.approx(ends)))
    assert marks(axes)[:6] == expected
    assert len({point.get_marker() for point, _, _ in axes.containers}) == 3


def test_no_text_is_cut_off():
    require_that_no_text_is_cut_off(corrected())


def test_numbers_stay_within_their_axes():
    axes = Figure(figsize=(2.2, 3)).subplots()
    look = style(0)
    marks_of_row = [Mark(value, value, value, look) for value in (0.0, 0.5, 1.0)]
    marks_of_row.append(Mark(np.nan, 0.1, 0.2, look))
    draw_panel(Panel("", "value", {"row": marks_of_row}), axes)
    axes.figure.draw_without_rendering()
    for text in axes.texts:
        extent = text.get_window_extent()
        assert axes.bbox.x0 <= extent.x0 < extent.x1 <= axes.bbox.x1


def test_into_given_axes_into_a_file_of_another_format_or_as_pandas_draws(tmp_path):
    axes = Figure().subplots()
    table = corrected(metrics="auc")
    assert table.plot(ax=axes) is axes
    [row] = table.itertuples()
    assert marks(axes) == [(row.value, pytest.approx((row.low, row.high)))]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Sampled (uncorrected)"]
    assert "300 users" in axes.get_xlabel().replace("\n", " ")
    with pytest.raises(sm.ConfigError, match="svg"):
        table.plot(tmp_path / "figure.svg.gz")
    assert list(tmp_path.iterdir()) == []
    by_pandas = table.plot(x="metric", y="value", kind="bar")
    assert [bar.get_height() for bar in by_pandas.patches] == table["value"].tolist()


def values(*rows):
    """A table of values that has the columns of a result of evaluate."""
    table = pd.DataFrame(rows, columns=["recommender", "value", "low", "high"])
    return Result(table.assign(metric="recall@10", users=300))


@pytest.mark.parametrize(("rows", "left", "right"), [
    ([("X", 0.06, 0.0, 0.16), ("Y", 0.1, 0.02, 0.2)], 0.0, None),  # no value is below 0
    ([("X", 0.9, 0.8, 0.98), ("Y", 0.95, 0.9, 1.0)], None, 1.0),  # nor above 1
    # by an estimator that may be: 15 % of the width on each side
    ([("X", -0.02, -0.1, 0.06)], -0.124, 0.084),
])  # fmt: skip
def test_an_axis_of_values_ends_where_none_can_be(rows, left, right):
    low, high = values(*rows).plot().get_xlim()
    assert left is None or low == pytest.approx(left)
    assert right is None or high == pytest.approx(right)
