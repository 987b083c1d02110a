"""The figure of samples from strata beside uniform samples: error by the number of scored items."""

import re
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from sampled_metrics._drawing import COLOURS, estimator_styles, panels, styled
from sampled_metrics.estimators import estimator_name
from sampled_metrics.metrics.held_out import metric_name
from sampled_metrics.study.stratified_study import STRATA

_SHOWN = ("smooth", "mle")
_COLUMNS = 3


def mean_errors(compared: pd.DataFrame) -> pd.DataFrame:
    """Average the errors of an estimator study over the recommenders.

    Args:
        compared: results of `study_estimators` of all recommenders.

    Returns:
        Columns metric, sample (fixed, which are uniform, and strata), estimator, negatives, rmse; without AUC.
    """
    cells = compared[compared["sample"].isin(["fixed", STRATA]) & compared["exact"].notna()]
    cells = cells[cells["metric"] != "auc"]
    keys = ["metric", "sample", "estimator", "negatives"]
    return cells.groupby(keys, sort=False)["rmse"].mean().reset_index()


@styled
def draw(errors: pd.DataFrame, note: str = "") -> Figure:
    """Draw the result of `mean_errors`: a panel for each metric, samples from strata solid and uniform ones dashed.

    Of uniform samples, BV is that with the γ of the smallest error, for each metric and sample size.
    """
    metrics = list(dict.fromkeys(errors["metric"]))
    figure, axes = panels(len(metrics), _COLUMNS, 3.0, note, sharey=True)
    look = estimator_styles(_SHOWN)
    for panel, label in zip(axes, metrics, strict=True):
        cells = errors[errors["metric"] == label]
        uniform, strata = (cells[cells["sample"] == sample] for sample in ("fixed", STRATA))
        bv = uniform[uniform["estimator"].map(lambda name: re.fullmatch(r"bv-[0-9.e-]+", name) is not None)]
        best = bv.groupby("negatives", as_index=False)["rmse"].min()
        _curve(panel, best, "uniform: BV, best γ", {"color": COLOURS[-1], "marker": "x"}, ":")
        for sample, of, dashes in (("uniform", uniform, "--"), ("from strata", strata, "-")):
            for name in _SHOWN:
                rows = of[of["estimator"] == name]
                _curve(panel, rows, f"{sample}: {estimator_name(name)}", look[name], dashes)
        panel.set(xscale="log", title=metric_name(str(label)), xlabel="items scored, m")
        panel.set_xticks(sorted(set(cells["negatives"])))
        if (cells["rmse"] > 0).any():
            panel.set_yscale("log")
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_locator(NullLocator())
    for panel in axes[::_COLUMNS]:
        panel.set_ylabel("RMSE in %")
    figure.legend(*axes[0].get_legend_handles_labels(), title="negatives: estimator", loc="outside upper left", ncols=3)
    return figure


def _curve(panel: Axes, rows: pd.DataFrame, label: str, style: dict[str, Any], dashes: str) -> None:
    if len(rows):
        rows = rows.sort_values("negatives")
        panel.plot(rows["negatives"], 100 * rows["rmse"], label=label, **{**style, "linestyle": dashes})
