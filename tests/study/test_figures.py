"""The figure of the answer: heights of exact and sampled values."""

import pandas as pd
import pytest

from sampled_metrics.study.figures import Ends, draw


def side(values: dict[str, float], reach: float) -> Ends:
    value = pd.Series(values)
    return Ends("a side", value, value - reach, value + reach)


@pytest.mark.parametrize(
    ("exact", "sampled", "heights"),
    [
        # each side spans its intervals: .1 to .6 and .7 to .9
        ({"X": 0.2, "Y": 0.5}, {"X": 0.85, "Y": 0.75}, [[0.8, 0.25], [0.2, 0.75]]),  # the best exact value first
        ({"X": 0.2}, {"X": 0.75}, [[0.25, 0.9375]]),  # a scale from 0 to .8
    ],
)
def test_lines_go_from_the_exact_to_the_sampled_value(exact, sampled, heights):
    lines = draw(side(exact, 0.1), side(sampled, 0.05)).axes[0].lines
    found = [list(line.get_ydata()) for line in lines if list(line.get_xdata()) == [0, 1]]
    assert found == [pytest.approx(of_one) for of_one in heights]


@pytest.mark.parametrize("letters", [1, 10, 14, 20, 60])
def test_names_are_within_the_figure(letters):
    names = [end.rjust(letters, "a") for end in "xy"]
    figure = draw(*(side(dict.fromkeys(names, 0.5), 0.1) for _ in range(2)))
    figure.draw_without_rendering()
    edge = figure.bbox
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert edge.x0 <= box.x0 < box.x1 <= edge.x1
    drawn = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert drawn.count("x  ") == drawn.count("y  ") == 1  # the ends of long names tell them apart
