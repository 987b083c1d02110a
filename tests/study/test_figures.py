"""The sample sizes of a figure, and the figure of the answer: heights of its values."""

import numpy as np
import pandas as pd
import pytest
from small_tables import table_of

from sampled_metrics_study.dataset_figures import default_sizes, figure_5
from sampled_metrics_study.figures import Ends, draw


@pytest.mark.parametrize(
    ("candidates", "steps", "sizes"),
    [
        (101, (1, 3), [10, 30, 100]),
        (100, (1, 3), [1, 3, 10, 30]),
        (4, (1, 1.5, 2, 3, 5), [1, 2, 3]),
        (2, (1, 3), [1]),
    ],
)
def test_sizes_are_those_that_the_user_with_fewest_candidates_allows(candidates, steps, sizes):
    fewest = {"A": candidates + 7, "B": candidates}
    tables = {name: table_of([(n, 0, 0), (n + 5, 0, 0)]) for name, n in fewest.items()}
    assert default_sizes(tables, steps) == sizes


def test_the_edges_of_figure_5_may_be_in_any_order():
    ranks = {"A": table_of([(100, 0, 0), (100, 4, 0), (100, 30, 0), (100, 80, 0)])}
    table = figure_5(ranks, [20, 3])
    assert dict(zip(table["bucket"], table["events"], strict=True)) == {
        "1–3": 1,
        "4–20": 1,
        "21 to half": 1,
        "worse half": 1,
    }


def side(values, reach):
    value = pd.Series(values)
    return Ends("a side", value, value - reach, value + reach, "the reach")


@pytest.mark.parametrize(
    ("sampled", "exact", "heights"),
    [
        # each side spans its intervals: .7 to .9 and .1 to .6; the best exact value is first
        ({"X": 0.85, "Y": 0.75}, {"X": 0.2, "Y": 0.5}, [[0.25, 0.8], [0.75, 0.2]]),
        # a scale from 0 to .8
        ({"X": 0.75}, {"X": 0.2}, [[0.9375, 0.25]]),
    ],
    ids=["two recommenders", "one recommender"],
)
def test_lines_go_from_the_sampled_to_the_exact_value(sampled, exact, heights):
    figure = draw(side(sampled, 0.05), side(exact, 0.1))
    lines = figure.axes[0].lines
    drawn = [list(line.get_ydata()) for line in lines if list(line.get_xdata()) == [0, 1]]
    np.testing.assert_allclose(drawn, heights)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "X: 85.0 % → 20.0 %" in named or named == ["X: 75.0 % → 20.0 %"]


def test_the_scales_of_both_sides_are_in_per_cent():
    figure = draw(side({"X": 0.85, "Y": 0.75}, 0.05), side({"X": 0.2, "Y": 0.5}, 0.1))
    figure.draw_without_rendering()
    left, right = figure.axes[0].child_axes
    np.testing.assert_allclose(left.get_ylim(), (69, 91))
    np.testing.assert_allclose(right.get_ylim(), (7.5, 62.5))
