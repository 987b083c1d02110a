"""Styles, panels and output of figures; legible without colour."""

import os
from collections.abc import Callable, Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from sampled_metrics import _files

COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's colours, which are distinct for people with any colour vision."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

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

styled = mpl.rc_context(SETTINGS)
"""Decorator: a function that draws with `SETTINGS`."""


@styled
def write(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write a figure in the formats given by the paths' endings; the same figure gives the same bytes."""
    for path in paths:
        with _files.atomic_write(path) as temporary:
            timeless = {"Date": None} if Path(path).suffix == ".svg" else {"Software": None}
            figure.savefig(temporary, dpi=150, metadata=timeless)


def styles(number: int, *, marked: bool = False) -> Iterable[dict[str, Any]]:
    """Line styles that differ in colour and dashes, and in markers if lines are marked."""
    for colour, dashes, marker in islice(zip(cycle(COLOURS), cycle(DASHES), cycle(MARKERS), strict=False), number):
        yield {"color": colour, "linestyle": dashes} | ({"marker": marker, "markersize": 4} if marked else {})


def draw_lines(
    panel: Axes, table: pd.DataFrame, by: str, x: str, y: str, name: Callable[[str], str] = str, *, marked: bool = False
) -> None:
    """Draw one column over another, a line for each value of a third, named by a function of that value."""
    curves = list(table.groupby(by, sort=False))
    for (label, curve), style in zip(curves, styles(len(curves), marked=marked), strict=True):
        panel.plot(curve[x], curve[y], label=name(str(label)), **style)


def panels(rows: int, columns: int, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row; height is that of a panel, in inches."""
    figure = Figure(figsize=(4.4 * columns, height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False).ravel().tolist()


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis by numbers such as 10 and 100, not by powers."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(LogFormatter())
