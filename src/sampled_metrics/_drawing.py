"""Styles, panels and output of figures; legible without colour."""

import html
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.errors import ConfigError

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter
except ModuleNotFoundError as missing:
    raise ConfigError(
        f"a figure needs {missing.name}, which is not installed: pip install 'sampled-metrics[plot]'"
    ) from None

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

_TIMELESS: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}
"""The endings of figures, and the metadata that are left out, so that the same figure gives the same bytes."""

styled = mpl.rc_context(SETTINGS)
"""Decorator: a function that draws with `SETTINGS`."""


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a figure's name; raise ConfigError if figures are not written in that format."""
    ending = Path(path).suffix.lower()
    if ending not in _TIMELESS:
        raise ConfigError(f"{path}: a figure is written as svg, png or pdf, and the name must end in one of these")
    return ending


@styled
def write(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write a figure in the formats given by the paths' endings; the same figure gives the same bytes."""
    for path in paths:
        timeless = _TIMELESS[check_ending(path)]
        with _files.atomic_write(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=timeless)


@styled
def inline_svg(figure: Figure, label: str, prefix: str) -> str:
    """Return a figure as an svg element of an html page, in which text is text.

    Args:
        figure: the figure.
        label: what it shows, for readers who do not see it.
        prefix: begins each id, so that ids of several figures of a page differ.
    """
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has fonts of its own
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    element = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawn.getvalue()[drawn.getvalue().index("<svg") :])
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", element)
    return element.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1)


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


@styled
def new_figure(*, shown: bool = False) -> Figure:
    """Return an empty figure; if it is to be shown, it is one of pyplot, which notebooks and `pyplot.show` show."""
    if not shown:
        return Figure()
    from matplotlib import pyplot

    return pyplot.figure()


def panels(rows: int, columns: int, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row; height is that of a panel, in inches."""
    figure = Figure(figsize=(4.4 * columns, height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False).ravel().tolist()


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis by numbers such as 10 and 100, not by powers."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(LogFormatter())


def literal(name: str) -> str:
    """Return a name in which matplotlib takes no dollar sign as the beginning of a formula."""
    return name.replace("$", r"\$")
