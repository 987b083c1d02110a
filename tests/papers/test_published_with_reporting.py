"""The figure of published numbers: intervals without a value."""

import pytest
from matplotlib import pyplot

import sampled_metrics as sm


def test_each_interval_is_drawn_with_its_ends_in_words():
    values = {"X": {"hr@10": 0.66}, "Y": {"hr@10": 0.40}}
    result = sm.published(values, negatives=100, candidates=3541, users=6040)
    axes = result.plot()
    drawn = []
    for point, _, [interval] in axes.containers:
        assert point.get_marker() in ("", "None")
        [[left, _], [right, _]] = interval.get_segments()[0]
        drawn.append((left, right))
    assert drawn == [pytest.approx(row) for row in zip(result["low"], result["high"], strict=True)]
    ends = [f"{row.low:.4g} to {row.high:.4g}" for row in result.itertuples()]
    assert [text.get_text() for text in axes.texts] == ends
    pyplot.close("all")
