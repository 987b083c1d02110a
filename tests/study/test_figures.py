"""The sample sizes of a figure, and the figure of the answer: heights of its values."""

import numpy as np
import pandas as pd
import pytest
from small_tables import table_of

from sampled_metrics_study.dataset_figures import default_sizes
from sampled_metrics_study.figures import Ends, draw


@pytest.mark.parametrize(
    ("candidates", "steps", "sizes"),
    [
        (1393, (1, 3), [10, 30, 100, 300, 1000]),
        (101, (1, 3), [10, 30, 100]),
        (100, (1, 3), [1, 3, 10, 30]),
        (10**6, (1, 1.5, 5), [10, 15, 50, 100, 150, 500, 1000, 1500]),
        (4, (1, 1.5, 2, 3, 5), [1, 2, 3]),
        (2, (1, 3), [1]),
    ],
)
def test_sizes_are_those_that_the_user_with_fewest_candidates_allows(candidates, steps, sizes):
    fewest = {"A": candidates + 7, "B": candidates}
    tables = {name: table_of([(n, 0, 0), (n + 5, 0, 0)]) for name, n in fewest.items()}
    assert default_sizes(tables, steps) == sizes


def side(values: dict[str, float], reach: float) -> Ends:
    value = pd.Series(values)
    return Ends("a side", value, value - reach, value + reach)


@pytest.mark.parametrize(
    ("exact", "sampled", "heights"),
    [
        # each side spans its intervals: .1 to .6 and .7 to .9; the best exact value is first
        ({"X": 0.2, "Y": 0.5}, {"X": 0.85, "Y": 0.75}, [[0.8, 0.25], [0.2, 0.75]]),
        # a scale from 0 to .8
        ({"X": 0.2}, {"X": 0.75}, [[0.25, 0.9375]]),
    ],
    ids=["two recommenders", "one recommender"],
)
def test_lines_go_from_the_exact_to_the_sampled_value(exact, sampled, heights):
    lines = draw(side(exact, 0.1), side(sampled, 0.05)).axes[0].lines
    drawn = [list(line.get_ydata()) for line in lines if list(line.get_xdata()) == [0, 1]]
    np.testing.assert_allclose(drawn, heights)


@pytest.mark.parametrize("letters", [1, 14, 60])
def test_names_are_within_the_figure_and_apart(letters):
    names = [end.rjust(letters, "a") for end in "xy"]
    figure = draw(*(side(dict.fromkeys(names, 0.5), 0.1) for _ in range(2)))
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    boxes = [text.get_window_extent() for text in texts]
    assert all(figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1 for box in boxes)
    upper, lower = (text.get_position()[1] for text in texts if text.get_position()[0] < 0)
    assert abs(upper - lower) == pytest.approx(0.06)
    drawn = " ".join(text.get_text() for text in texts)
    assert drawn.count("x  ") == drawn.count("y  ") == 1  # the ends of long names tell them apart
