"""The paper's figures, drawn from the tables that are written beside them; legible without colour."""

import os
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from sampled_metrics import _files
from sampled_metrics.study.names import estimator_name, metric_name

# Okabe and Ito's colours, which people with any colour vision can tell apart; each comes with a line and a marker
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")

SETTINGS: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "sampled-metrics",
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}


def draw(kind: str, table: pd.DataFrame) -> Figure:
    """Draw a figure of the paper from its table.

    Args:
        kind: figure-1 … figure-6.
        table: what the function of the same name in `toy` or `study` returned.
    """
    with mpl.rc_context(SETTINGS):
        return FIGURES[kind](table)


def write(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write a figure in the formats of the paths' endings, the same bytes for the same figure."""
    with mpl.rc_context(SETTINGS):
        for path in paths:
            with _files.atomic_write(path) as temporary:
                timeless = {"Date": None} if Path(path).suffix == ".svg" else {"Software": None}
                figure.savefig(temporary, dpi=150, metadata=timeless)


def _styles(number: int, *, marked: bool = False) -> Iterable[dict[str, Any]]:
    """Line styles that differ in colour and dashes, and, for lines through few points, in markers."""
    for colour, dashes, marker in islice(zip(cycle(COLOURS), cycle(DASHES), cycle(MARKERS), strict=False), number):
        yield {"color": colour, "linestyle": dashes} | ({"marker": marker, "markersize": 4} if marked else {})


def _panels(rows: int, columns: int, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(4.4 * columns, height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False).ravel().tolist()


def _grid(number: int) -> tuple[Figure, list[Axes]]:
    """Panels in two columns, or in one if there is one."""
    columns = min(number, 2)
    rows = -(-number // columns)
    figure, panels = _panels(rows, columns, 2.8)
    for unused in panels[number:]:
        unused.remove()
    return figure, panels[:number]


def _figure_1(table: pd.DataFrame) -> Figure:
    figure, panels = _panels(1, 2)
    for panel, which in zip(panels, ("all", "first"), strict=True):
        curves = list(table[table["panel"] == which].groupby("metric", sort=False))
        for (label, curve), style in zip(curves, _styles(len(curves)), strict=True):
            panel.plot(curve["rank"], curve["value"], label=metric_name(str(label)), **style)
        last = int(table.loc[table["panel"] == which, "rank"].max())
        panel.set(xlabel="predicted rank", ylabel="metric", xlim=(-0.01 * last, last), ylim=(-0.02, 1.05))
        panel.set_title({"all": "all ranks", "first": f"the first {last} ranks"}[which])
    panels[1].legend()
    return figure


def _figure_2(table: pd.DataFrame) -> Figure:
    figure, panels = _grid(table["metric"].nunique())
    for panel, (label, of_metric) in zip(panels, table.groupby("metric", sort=False), strict=True):
        curves = list(of_metric.groupby("recommender", sort=False))
        for (name, curve), style in zip(curves, _styles(len(curves), marked=True), strict=True):
            panel.plot(curve["negatives"], curve["expected"], label=str(name), **style)
        panel.set(xscale="log", title=metric_name(str(label)), ylim=(-0.03, 1.05))
        panel.set(xlabel="negatives sampled, m", ylabel="expected metric")
    panels[0].legend(title="recommender")
    return figure


def _figure_3(table: pd.DataFrame) -> Figure:
    figure, panels = _grid(table["metric"].nunique())
    exact = table["negatives"].max()
    for panel, (label, of_metric) in zip(panels, table.groupby("metric", sort=False), strict=True):
        curves = list(of_metric.groupby("negatives", sort=True))
        for (negatives, curve), style in zip(reversed(curves), _styles(len(curves)), strict=True):
            name = "all: the exact metric" if negatives == exact else f"{negatives}"
            panel.plot(curve["rank"], curve["expected"], label=name, **style)
        panel.set(title=metric_name(str(label)), ylim=(-0.03, 1.05), xlim=(0, curve["rank"].max()))
        panel.set(xlabel="true rank", ylabel="expected metric")
    panels[0].legend(title="negatives sampled, m", loc="lower left")
    return figure


def _figure_4(table: pd.DataFrame) -> Figure:
    figure, panels = _panels(1, 2, 4.2)
    names = sorted(dict.fromkeys(table["estimator"]), key=lambda name: name != "exact")
    styles = dict(zip(names, _styles(len(names), marked=True), strict=True))
    for panel, which in zip(panels, ("sampled", "expected"), strict=True):
        curves = table[table["panel"] == which]
        for number, name in enumerate(names):
            curve = curves[curves["estimator"] == name]
            if len(curve):
                # markers at every one of the first ranks in the sample, and staggered along the true ranks
                spaced = np.unique(np.geomspace(1, len(curve), 20).round().astype(int) - 1).tolist()
                marks = spaced if which == "sampled" else (number * 3, max(1, len(curve) // 12))
                panel.plot(curve["rank"], curve["value"], **styles[name], markevery=marks)
        panel.set_title({"sampled": "on the sample", "expected": "in expectation, on all items"}[which])
        panel.set_xlabel({"sampled": "rank in the sample", "expected": "true rank"}[which])
        panel.set(xscale="log", ylabel="corrected metric")
    handles = [Line2D([], [], label=estimator_name(name), **styles[name]) for name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _figure_5(table: pd.DataFrame) -> Figure:
    figure, [panel] = _panels(1, 1)
    buckets = list(dict.fromkeys(table["bucket"]))
    names = list(dict.fromkeys(table["recommender"]))
    figure.set_size_inches(max(8.0, 0.22 * len(buckets) * (len(names) + 1)), 3.4)
    width = 0.82 / len(names)
    colours, hatches = cycle(("#333333", *COLOURS[1:])), cycle(HATCHES)
    for number, name in enumerate(names):
        events = table[table["recommender"] == name].set_index("bucket")["events"].reindex(buckets)
        position = np.arange(len(buckets)) + (number - (len(names) - 1) / 2) * width
        panel.bar(
            position, events, width, label=name, color=next(colours), hatch=next(hatches), edgecolor="white", lw=0.5
        )
        if len(names) <= 4:
            for x, y in zip(position, events, strict=True):
                panel.annotate(f"{y:.0f}", (x, y), ha="center", va="bottom", fontsize=6.5)
    panel.set_xticks(np.arange(len(buckets)), buckets)
    panel.set(xlabel="predicted rank of the held-out item", ylabel="users")
    panel.grid(axis="x", visible=False)
    figure.legend(*panel.get_legend_handles_labels(), title="recommender", loc="outside right upper")
    return figure


def _figure_6(table: pd.DataFrame) -> Figure:
    estimators = list(dict.fromkeys(table["estimator"]))
    figure, panels = _panels(1, len(estimators), 3.4)
    for panel, label in zip(panels, estimators, strict=True):
        curves = list(table[table["estimator"] == label].groupby("recommender", sort=False))
        for (name, curve), style in zip(curves, _styles(len(curves), marked=True), strict=True):
            panel.plot(curve["negatives"], 100 * curve["expected"], label=str(name), **style)
            exact = 100 * curve["exact"].iloc[0]
            panel.axhline(exact, color=style["color"], linestyle=style["linestyle"], linewidth=0.7)
        panel.set(xscale="log", title=estimator_name(label), xlabel="negatives sampled, m")
        panel.set_ylabel(f"expected {metric_name(table['metric'].iloc[0])} in %")
        _plain_numbers(panel.xaxis)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, title="recommender\n(thin: exact)", loc="outside right upper")
    return figure


def _plain_numbers(axis: Axis) -> None:
    """Label an axis by 1, 2, 3 or by 10, 100, 1000, as it is long, rather than by powers."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(LogFormatter())


def estimator_study(compared: pd.DataFrame, ordered: pd.DataFrame) -> Figure:
    """Draw error and order of every estimator by sample size, a row of panels for each few estimators.

    Args:
        compared: what `estimator_study.study_estimators` returned, with a column recommender.
        ordered: what `estimator_study.order` returned.
    """
    error = compared[compared["metric"].str.startswith("recall@1-")]
    correct = ordered[ordered["metric"] != "auc"]
    labels = list(dict.fromkeys(compared.loc[compared["sample"] == "fixed", "estimator"]))
    rows = [labels[first : first + 7] for first in range(0, len(labels), 7)]
    with mpl.rc_context(SETTINGS):
        figure, panels = _panels(len(rows), 2, 3.4)
        for row, of_row in enumerate(rows):
            left, right = panels[2 * row : 2 * row + 2]
            for label, style in zip(of_row, _styles(len(of_row), marked=True), strict=True):
                _by_negatives(left, error, "error", label, style)
                _by_negatives(right, correct, "correct", label, style)
            if (compared["sample"] == "adaptive").any() and row == len(rows) - 1:
                star = {"color": "#7F7F7F", "linestyle": "none", "marker": "*", "markersize": 9}
                _by_negatives(left, error, "error", "adaptive", star, "adaptive")
                _by_negatives(right, correct, "correct", "adaptive", star, "adaptive")
            name = metric_name(str(error["metric"].iloc[0]))
            left.set(xscale="log", xlabel="negatives sampled, m", ylabel=f"error of {name} in %")
            if any((np.asarray(line.get_ydata(), dtype=np.float64) > 0).any() for line in left.get_lines()):
                left.set_yscale("log")
            right.set(xscale="log", xlabel="negatives sampled, m", ylabel="right order in %", ylim=(-3, 103))
            right.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
            for axis in (left.xaxis, left.yaxis, right.xaxis):
                _plain_numbers(axis)
        lowest, highest = zip(*(panel.get_ylim() for panel in panels[::2]), strict=True)
        for panel in panels[::2]:
            panel.set_ylim(min(lowest), max(highest))
    return figure


def _by_negatives(
    panel: Axes, table: pd.DataFrame, column: str, label: str, style: dict[str, Any], sample: str = "fixed"
) -> None:
    """Draw the mean of a column, over all else, by sample size."""
    cells = table[(table["sample"] == sample) & (table["estimator"] == label)]
    curve = 100 * cells.groupby("negatives")[column].mean().dropna()
    if sample != "fixed":
        curve = pd.Series({cells["negatives"].mean(): 100 * cells[column].mean()}).dropna()
    panel.plot(curve.index, curve, label=estimator_name(label), **style)


FIGURES = {
    "figure-1": _figure_1,
    "figure-2": _figure_2,
    "figure-3": _figure_3,
    "figure-4": _figure_4,
    "figure-5": _figure_5,
    "figure-6": _figure_6,
}
"""How each figure is drawn from its table."""
