"""Writing figures: the same bytes for the same figure."""

import numpy as np
import pytest
from read_figures import assert_texts_are_apart, names, texts

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.reporting import drawing
from sampled_metrics.reporting.rank_histogram import draw, rank_histogram

TABLE = rank_histogram(
    {"X": ExactRanks(np.arange(3), np.full(3, 40), np.array([0, 9, 30]), np.array([0, 2, 0]))}, [5]
)


def test_is_the_same_bytes_whenever_it_is_drawn(tmp_path, monkeypatch):
    drawing.write(draw(TABLE), tmp_path / "1.svg", tmp_path / "1.png")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # another day
    monkeypatch.setattr("os.getpid", lambda: 22)
    drawing.write(draw(TABLE), tmp_path / "2.svg", tmp_path / "2.png")
    for ending, magic in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        content = (tmp_path / f"1.{ending}").read_bytes()
        assert content == (tmp_path / f"2.{ending}").read_bytes()
        assert content.startswith(magic)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("second", "named"),
    [("also", ["high", "low, also"]), ("also, but longer", ["high", "also, but longer", "low"])],
)
@drawing.styled
def test_names_are_in_the_order_of_the_ends_and_apart_and_lines_that_coincide_share_a_short_one(
    second, named
):
    figure, [panel] = drawing.panels(1, 1)
    for name, end in {"low": 0.0, second: 0.0, "high": 1.0}.items():
        panel.plot([0, 1], [0.5, end], label=name)
    drawing.say_what_coincides(panel, is_named=True)
    drawing.name_lines(panel)
    assert sorted(names(panel)) == sorted(named)
    assert names(panel)[0] == "high"
    assert (panel.get_legend() is None) == (second == "also")
    assert_texts_are_apart(figure)


def test_many_lines_have_a_legend():
    figure, [panel] = drawing.panels(1, 1)
    for at in range(drawing.FEW + 1):
        panel.plot([0, 1], [0, at], label=f"line {at}")
    drawing.name_lines(panel)
    assert texts(figure.legends[0]) == [f"line {at}" for at in range(drawing.FEW + 1)]
    assert names(panel) == []
