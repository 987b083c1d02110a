"""The figure of error at equal cost: means and lines worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from study.read_figures import curves, texts

from sampled_metrics import _drawing
from sampled_metrics.study.equal_cost import draw, mean_errors

CELLS = {
    # sample, negatives, estimator: rmse of X and Y
    ("fixed", 50.0, "bv-0.1"): (0.04, 0.06),
    ("fixed", 100.0, "bv-0.1"): (0.05, 0.05),
    ("fixed", 50.0, "bv-0.01"): (0.06, 0.06),
    ("fixed", 100.0, "bv-0.01"): (0.01, 0.03),
    ("fixed", 50.0, "bv-0.01-mle"): (0.001, 0.001),
    ("fixed", 100.0, "bv-0.01-mle"): (0.001, 0.001),
    ("fixed", 50.0, "smooth"): (0.02, 0.04),
    ("fixed", 100.0, "smooth"): (0.01, 0.02),
    ("adaptive", 77.0, "adaptive"): (0.5, 0.5),
    ("strata", 50.0, "smooth"): (0.01, 0.01),
    ("strata", 100.0, "smooth"): (0.005, 0.005),
    ("strata", 50.0, "rank-estimate"): (0.3, 0.5),
    ("strata", 100.0, "rank-estimate"): (0.2, 0.2),
}


def compared(cells=CELLS, metrics=("ap", "auc")):
    rows = [
        (recommender, *key, metric, np.nan if metric.startswith("recall@1-") else 0.1, error)
        for key, errors in cells.items()
        for recommender, error in zip("XY", errors, strict=True)
        for metric in (*metrics, "recall@1-50")
    ]
    return pd.DataFrame(rows, columns=["recommender", "sample", "negatives", "estimator", "metric", "exact", "rmse"])


def test_means_over_the_recommenders():
    found = mean_errors(compared())
    assert list(found.columns) == ["metric", "sample", "estimator", "negatives", "rmse"]
    assert set(found["metric"]) == {"ap"}
    assert {(row.sample, row.negatives, row.estimator): row.rmse for row in found.itertuples()} == {
        key: pytest.approx(sum(errors) / 2) for key, errors in CELLS.items() if key[0] != "adaptive"
    }


def test_lines():
    figure = draw(mean_errors(compared(metrics=("recall@10", "ap", "auc"))))
    recall, ap = figure.axes
    assert [panel.get_title() for panel in (recall, ap)] == ["Recall@10", "AP"]
    assert curves(recall) == {
        "uniform: BV, best γ": ([50, 100], pytest.approx([5, 2])),
        "uniform: Smooth": ([50, 100], pytest.approx([3, 1.5])),
        "from strata: Smooth": ([50, 100], pytest.approx([1, 0.5])),
    }
    assert texts(figure.legends[0]) == list(curves(recall))
    lines = {line.get_label(): line for line in recall.get_lines()}
    assert lines["uniform: Smooth"].get_linestyle() == "--"
    assert lines["from strata: Smooth"].get_linestyle() == "-"
    assert (recall.get_xscale(), recall.get_yscale()) == ("log", "log")


def test_no_two_estimators_have_a_colour():
    eighth = {("fixed", 50.0, f"bv-0.{at}"): (0.1, 0.1) for at in range(2, 8)}  # smooth is the eighth: grey
    for cells in (CELLS, eighth | {key: CELLS[key] for key in CELLS if "smooth" in key} | CELLS):
        lines = draw(mean_errors(compared(cells))).axes[0].get_lines()
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == len(lines) == 3


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7])
def test_a_panel_for_each_metric(number, tmp_path):
    figure = draw(mean_errors(compared(metrics=[f"recall@{k}" for k in range(1, number + 1)])))
    assert sum(panel.get_visible() for panel in figure.axes) == number
    _drawing.write(figure, tmp_path / "a.svg")


def test_errors_of_0_need_no_logarithmic_axis(tmp_path):
    figure = draw(mean_errors(compared(dict.fromkeys(CELLS, (0.0, 0.0)))))
    _drawing.write(figure, tmp_path / "a.svg")
    assert figure.axes[0].get_yscale() == "linear"
