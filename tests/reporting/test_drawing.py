"""Writing figures: the same bytes for the same figure."""

import numpy as np
import pandas as pd
import pytest
from read_figures import assert_texts_are_apart, texts

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


@pytest.mark.parametrize("letters", [1, 90])
@drawing.styled
def test_a_legend_has_all_names_above_the_panel_whatever_their_length(letters):
    figure, [panel] = drawing.panels(1, 1)
    lines = [end.rjust(letters, "a") for end in "vwxyz"]
    table = pd.DataFrame({"name": np.repeat(lines, 2), "x": [0, 1] * 5, "y": np.arange(10)})
    styles = drawing.styles_of(lines)
    drawing.draw_lines(panel, table, "name", "x", "y", styles)
    drawing.add_legend(figure)
    assert [name.replace("\n", "") for name in texts(figure.legends[0])] == lines
    assert_texts_are_apart(figure)


def test_an_estimator_has_the_same_style_whichever_others_are_there():
    [alone] = drawing.styles_of(["free"], estimators=True).values()
    many = drawing.styles_of(["exact", "cls", "free", "decreasing"], estimators=True)
    assert many["free"] == alone
    assert len({str(look) for look in many.values()}) == 4
