"""The figure of a plan."""

import numpy as np
import read_and
from drawn_figures import require_that_no_text_is_cut_off
from matplotlib import pyplot


def test_no_text_is_cut_off():
    rng = np.random.default_rng(5)
    pilot = {"X": rng.integers(1, 101, 300), "Z": rng.integers(1, 61, 300)}
    options = {"candidates": 100, "negatives": [20], "estimators": "uncorrected"}
    require_that_no_text_is_cut_off(read_and.plan(pilot, **options))
    pyplot.close("all")
