"""Figures of epochs."""

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from scores_of_epochs import HELD_OUT, ITEMS, NOTHING, scores_by_gain

import sampled_metrics as sm


def test_plot_draws_each_metric_by_epoch():
    training = NOTHING.copy()
    training[0] = np.arange(ITEMS) != HELD_OUT[0]  # one candidate: AUC is not defined
    validate = sm.validator(training, HELD_OUT, metrics=["ndcg@5", "auc"])
    with pytest.raises(sm.ConfigError, match="epoch"):
        validate.plot()
    for gain in (0, 2, 2):
        validate(scores_by_gain(gain, np.random.default_rng(8)))
    with pytest.raises(sm.ConfigError, match="ax"):
        validate.plot(ax=Figure().subplots())
    axes, _ = validate.plot()
    line = axes.get_lines()[0]
    np.testing.assert_array_equal(line.get_xydata(), validate.history[::2][["epoch", "value"]])
    pyplot.close("all")


def test_plot_tells_epochs_apart_without_colour():
    """References are filled, worse epochs are crosses, and those that may be the best are
    shaded.
    """
    rng = np.random.default_rng(8)
    validate = sm.validator(NOTHING, HELD_OUT, metrics="auc")
    for step, gain in {2: 0, 4: 2, 6: 2, 8: 0}.items():
        validate(scores_by_gain(gain, rng), step=step)
    assert validate.history["better"].tolist() == ["first", "yes", "undecided", "no"]
    panel = Figure().subplots()
    assert validate.plot(ax=panel) is panel
    marked = {
        (line.get_marker(), line.get_markerfacecolor()): line.get_xdata().tolist()
        for line in panel.get_lines()
        if line.get_marker() in ("o", "x")
    }
    assert marked == {("o", "#000000"): [2, 4], ("o", "white"): [6], ("x", "#000000"): [8]}
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in panel.patches]
    assert spans == [(3, 5), (5, 7)]
