"""Style, panels, lines, legends, and output of all figures.

Figures are legible without colour and at half size.
"""

import html
import io
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase
from threading import RLock
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.core.estimators import line_styles
from sampled_metrics.errors import ConfigError

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter, LogLocator
except ModuleNotFoundError as missing:
    raise ConfigError(
        f"a figure needs {missing.name}, which is not installed: pip install "
        "'sampled-metrics[plots]'"
    ) from None

COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's colours, which are distinct for people with any colour vision.

The colour of an estimator is by its number in `line_styles`, and of a recommender by its place.
"""
ZERO = "#404040"
"""The colour of lines at a value, such as a difference of 0."""
RULE = "#bbbbbb"
"""The colour of lines between rows."""
SHADE = "#dddddd"
"""The colour of the grid and of shaded parts."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1, 3, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

WIDTH = 5.5
"""Width of a figure in inches: its text has 9 pixels if a page shows the figure at 415 pixels."""

LINE = 0.17
"""Height of a line of text, in inches."""

_LETTERS = 14  # letters of a legend by inch
_SAMPLE = 7  # letters that the sample of a line takes

SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # matplotlib has it; it is near to the fonts of pages
    "font.size": 8.7,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 8.7,
    "axes.titley": 1.0,
    "axes.labelpad": 2,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": SHADE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "savefig.dpi": 200,
    "svg.hashsalt": "sampled-metrics",
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}

_TIMELESS: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}
"""Ending of a figure → metadata that are left out, so that the same figure gives the same bytes."""

_LOCK = RLock()


@contextmanager
def _settings() -> Iterator[None]:
    with _LOCK, mpl.rc_context(SETTINGS):
        yield


styled = _settings()
"""Decorator: a function that draws with `SETTINGS`.

One thread draws at a time, because all threads share the settings.
"""


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a figure's name.

    Raises:
        ConfigError: figures are not written in that format.
    """
    ending = Path(path).suffix.lower()
    if ending not in _TIMELESS:
        raise ConfigError(
            f"{path}: a figure is written as svg, png or pdf, and the name must end in one of these"
        )
    return ending


@styled
def write(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write a figure in the formats of the paths' endings.

    The same figure gives the same bytes.
    """
    layout = figure.get_layout_engine()
    if layout is not None:  # once for all formats
        layout.execute(figure)
        with mpl.rc_context({"figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)
    for path in paths:
        timeless = _TIMELESS[check_ending(path)]
        with file_io.atomic_write(path) as temporary:
            figure.savefig(temporary, metadata=timeless)


@styled
def inline_svg(figure: Figure, label: str, prefix: str) -> str:
    """Return a figure as an svg element of an html page, in which text is text.

    Args:
        figure: the figure.
        label: what it shows, for readers who do not see it.
        prefix: start of all ids, so that the ids of several figures on a page differ.
    """
    buffer = io.StringIO()
    for text in figure.findobj(Text):
        # a browser may lack the font of the style; few fonts are wider
        text.set_fontfamily("sans-serif")
    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has fonts of its own
        left_out = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=left_out)
    svg = buffer.getvalue()
    element = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg[svg.index("<svg") :])
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", element)
    return element.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1)


def style(number: int) -> dict[str, Any]:
    """Return the style of a line or a mark by its number.

    0 is black, and 56 more differ in colour or marker.
    """
    colour = COLOURS[1 + (number - 1) % (len(COLOURS) - 1)] if number else COLOURS[0]
    return {
        "color": colour,
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def styles_of(labels: Iterable[Any], *, estimators: bool = False) -> dict[Any, dict[str, Any]]:
    """Return the style of each label, which is the same in all figures.

    An estimator has the style of its `line_styles`. Recommenders, and whatever else a figure
    shows, have styles in their order.
    """
    distinct = list(dict.fromkeys(labels))
    if estimators:
        return {label: style(number) for label, number in line_styles(distinct).items()}
    return {label: style(number) for number, label in enumerate(distinct)}


def draw_lines(
    panel: Axes,
    table: pd.DataFrame,
    by: str,
    x: str,
    y: str,
    styles: Mapping[Any, Mapping[str, Any]],
    name: Callable[[str], str] = str,
    *,
    marked: bool = False,
) -> None:
    """Draw one column over another, a line for each value of a third one.

    A line is named by a function of its value. A line that is 0 or 1 everywhere is drawn as a step.
    """
    for label, curve in table.groupby(by, sort=False):
        look = styles[label] if marked else {**styles[label], "marker": None}
        step = "steps-mid" if {*curve[y]} == {0, 1} else "default"
        panel.plot(curve[x], curve[y], label=literal(name(str(label))), drawstyle=step, **look)


def add_legend(figure: Figure, handles: Sequence[Any] | None = None) -> None:
    """Add a legend above the panels, and make the figure higher by it.

    Args:
        figure: the figure, whose width is set.
        handles: what it shows; by default what is named in the first panel.
    """
    if handles is None:
        handles = figure.axes[0].get_legend_handles_labels()[0]
    letters = round(_LETTERS * figure.get_figwidth())
    names = [textwrap.fill(str(handle.get_label()), letters - _SAMPLE) for handle in handles]
    longest = max(len(line) for name in names for line in name.split("\n"))
    columns = min(max(1, letters // (longest + _SAMPLE)), len(names))
    figure.legend(handles=handles, labels=names, loc="outside upper left", ncols=columns)
    lines = [name.count("\n") + 1 for name in names]
    length = -(-len(names) // columns)  # of a column
    height = max(sum(lines[start : start + length]) for start in range(0, len(names), length))
    figure.set_figheight(figure.get_figheight() + LINE * height + 0.1)


@styled
def new_figure(*, shown: bool = False) -> Figure:
    """Return an empty figure.

    If `shown`, it is a figure of pyplot, which notebooks and `pyplot.show` display.
    """
    if not shown:
        return Figure()
    from matplotlib import pyplot

    return pyplot.figure()


def shown_or_written(
    path: str | os.PathLike[str] | None, draw: Callable[[Figure], Sequence[Axes]]
) -> Any:
    """Draw a figure of pyplot, or one that is written to a path, and return its axes.

    `draw` is the function that draws into an empty figure.

    Raises:
        ConfigError: the ending of the path is another one than svg, png or pdf.
        WriteError: the file cannot be written.
    """
    if path is not None:
        file_io.require_writable(path)
    figure = new_figure(shown=path is None)
    axes = draw(figure)
    if path is not None:
        write(figure, path)
    return axes[0] if len(axes) == 1 else np.array(axes)


def panels(
    number: int,
    columns: int,
    height: float = 2.0,
    note: str = "",
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row, each with a letter.

    Args:
        number: number of places for panels.
        columns: largest number of places in a row.
        height: height of a panel, in inches.
        note: the parameters of the figure, written below it.
        **shared: sharex and sharey, as in `Figure.subplots`.
    """
    columns = min(number, columns)
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, height * rows))
    every_panel = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    used = []
    for place, panel in enumerate(every_panel):
        if place < number:
            used.append(panel)
        else:
            panel.remove()
    for letter, panel in zip(ascii_lowercase if len(used) > 1 else "", used, strict=False):
        panel.set_title(letter, loc="left", x=-0.03, ha="right", fontweight="bold")
    if note:
        write_below(figure, note)
    return figure, used


def write_below(figure: Figure, text: str) -> None:
    """Write a text below a figure."""
    figure.supxlabel(text, x=0.01, ha="left", fontsize="small")


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis by numbers such as 10 and 100, not by powers."""
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(_FewerLabels())


class _FewerLabels(LogFormatter):
    """Labels of 2, 3 and 5 between powers of ten, and of all digits on an axis that is short.

    So none overlap.
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a number."""
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        first_digit = round(x / 10.0 ** np.floor(np.log10(x))) if x > 0 else 0
        is_long = high > 3 * low
        if is_long and first_digit not in (2, 3, 5):
            return ""
        return str(super().__call__(x, pos))


def in_lines(text: str, letters: int) -> str:
    """Return a text in lines of this many letters, with a per cent sign next to its number."""
    return textwrap.fill(literal(text).replace(" %", "\N{NO-BREAK SPACE}%"), letters)


def literal(name: str) -> str:
    """Return a name with its dollar signs escaped, so that matplotlib reads no formula."""
    return name.replace("$", r"\$")
