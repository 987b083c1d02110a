"""Writing figures: the same bytes for the same figure."""

import matplotlib as mpl
import numpy as np

from sampled_metrics import _drawing
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.study.rank_histogram import draw, rank_histogram

TABLE = rank_histogram({"X": RankTable(np.arange(3), np.full(3, 40), np.array([0, 9, 30]), np.array([0, 2, 0]))}, [5])


def test_is_the_same_bytes_whenever_it_is_drawn(tmp_path, monkeypatch):
    _drawing.write(draw(TABLE), tmp_path / "1.svg", tmp_path / "1.png")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # another day
    monkeypatch.setattr("os.getpid", lambda: 22)
    _drawing.write(draw(TABLE), tmp_path / "2.svg", tmp_path / "2.png")
    for ending, magic in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        first = (tmp_path / f"1.{ending}").read_bytes()
        assert first == (tmp_path / f"2.{ending}").read_bytes()
        assert first.startswith(magic)
    assert len(list(tmp_path.iterdir())) == 4


def test_drawing_leaves_the_callers_settings_alone():
    before = dict(mpl.rcParams)
    draw(TABLE)
    assert dict(mpl.rcParams) == before
