"""Style, panels, names of lines, and output of all figures.

Figures are legible without colour and at half size.
"""

import html
import io
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from threading import RLock
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.errors import ConfigError

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation, Text
    from matplotlib.ticker import LogFormatter, LogLocator
except ModuleNotFoundError as missing:
    raise ConfigError(
        f"a figure needs {missing.name}, which is not installed: pip install "
        "'sampled-metrics[plots]'"
    ) from None

COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's colours, which are distinct for people with any colour vision."""
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

FEW = 6
"""Most lines that are named at their ends; more have a legend."""

_LONG = 16  # letters; lines with longer names have a legend, too
_LEGEND_ROW = 0.17  # inches

SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # matplotlib has it; it is near to the fonts of pages
    "font.size": 8.7,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 8.7,
    "axes.labelpad": 2,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
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

One thread draws at a time, as the settings are those of all threads.
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


def styles(number: int, *, marked: bool = False) -> list[dict[str, Any]]:
    """Return styles that differ in colour and dashes, and in markers if lines are marked."""
    return [style(index) | ({} if marked else {"marker": None}) for index in range(number)]


def draw_lines(
    panel: Axes,
    table: pd.DataFrame,
    by: str,
    x: str,
    y: str,
    name: Callable[[str], str] = str,
    *,
    marked: bool = False,
) -> None:
    """Draw one column over another, a line for each value of a third one.

    A line is named by a function of its value. A line that is 0 or 1 everywhere is drawn as a step.
    """
    curves = list(table.groupby(by, sort=False))
    for (label, curve), look in zip(curves, styles(len(curves), marked=marked), strict=True):
        step = "steps-mid" if {*curve[y]} == {0, 1} else "default"
        panel.plot(curve[x], curve[y], label=literal(name(str(label))), drawstyle=step, **look)


def name_lines(*panels: Axes, legend: str = "outside upper left") -> None:
    """Name each line of panels of one figure at its end.

    Many lines, or long names, have a legend instead.

    A name at the end has a short sample of its line. It is as near to the end as the names above
    and below allow. Lines that coincide share a place, unless their names are long together. Call
    the function after the limits of the axes are set.
    """
    lines = _named_lines(panels[0])
    longest = max(len(str(line.get_label())) for line in lines)
    if not _have_names_at_ends(lines):
        columns = max(1, 60 // (longest + 8))
        figure: Any = panels[0].figure
        for_note = [Line2D([], [], linestyle="none", label=" ")] if "lower" in legend else []
        figure.legend(handles=[*lines, *for_note], loc=legend, ncols=columns)
        figure.set_figheight(figure.get_figheight() + _LEGEND_ROW * -(-len(lines) // columns))
        return
    from scipy.optimize import isotonic_regression  # slow to import, and used only here

    for panel in panels:
        groups = []
        for group in _coinciding(panel):
            groups += [group] if len(_together(group)) <= _LONG else [[line] for line in group]
        groups.sort(key=lambda group: _in_panel(group[0])[-1])
        ends = [_in_panel(group[0])[-1] for group in groups]
        # a name is as near to its end as those above and below it allow
        line_height = 1.25 * mpl.rcParams["font.size"] / (panel.bbox.height * 72 / panel.figure.dpi)
        spacing = line_height * np.arange(len(groups))
        heights = isotonic_regression(ends - spacing).x + spacing
        # clear of the numbers below the panel
        heights = np.maximum(heights, line_height / 2 + spacing)
        for group, height in zip(groups, heights, strict=True):
            for line in group:
                sample = Line2D([], [])
                sample.update_from(line)
                place = ([1.04, 1.1, 1.16], [height] * 3)
                sample.set(data=place, markevery=[1], transform=panel.transAxes, clip_on=False)
                panel.figure.add_artist(sample)
            panel.text(
                1.2, height, _together(group), va="center_baseline", transform=panel.transAxes
            )


def move_clear(texts: Sequence[Annotation]) -> None:
    """Move texts beside points to where they are clear.

    They are clear of lines, of one another and of the ends of their panels. A text that is clear
    stays where it is. Another one takes the first place that is clear, from the nearest one on, or
    that with the fewest points of lines. Call the function when the panels have all they will have.
    """
    if not texts:
        return
    figure: Any = texts[0].figure
    panels = list(figure.axes)
    before = [panel.get_position(original=True).frozen() for panel in panels]
    figure.get_layout_engine().execute(figure)
    points = {panel: _points_of_lines(panel) for panel in panels}
    taken: list[Any] = []
    for text in texts:
        panel: Any = text.axes
        place = text.get_position(), text.get_horizontalalignment(), text.get_verticalalignment()
        places = [place, *_places_around()]
        boxes = [_box_at(text, place) for place in places]
        hidden = [_hidden(box, points[panel], taken, panel) for box in boxes]
        best = int(np.argmin(hidden))
        _put(text, places[best])
        taken.append(boxes[best])
    for panel, position in zip(panels, before, strict=True):
        panel.set_position(position)  # the layout begins anew when the figure is written
        panel.set_in_layout(True)


# of a text: offset in points, and horizontal and vertical alignment
_Place = tuple[tuple[float, float], str, str]
_ENDS = 1000  # a text beyond the ends of a panel hides as much as that many points


def _places_around() -> list[_Place]:
    """Return places around a point, the nearest ones first."""
    places = list[_Place]()
    for distance in (6, 12, 20, 30, 42):
        for across, align in ((-1, "right"), (1, "left"), (0, "center")):
            places += [
                ((across * distance, -distance), align, "top"),
                ((across * distance, distance), align, "bottom"),
            ]
    return places


def _put(text: Annotation, place: _Place) -> None:
    offset, across, up = place
    text.set(position=offset, ha=across, va=up)


def _box_at(text: Annotation, place: _Place) -> Any:
    """Return the box of a text at a place, in pixels, with a margin."""
    _put(text, place)
    return text.get_window_extent().padded(1.5 * text.figure.dpi / 72)


def _points_of_lines(panel: Axes) -> Any:
    """Return (points, 2) places along the lines of a panel, in pixels, a pixel or so apart."""
    parts = []
    for line in panel.get_lines():
        corners = line.get_transform().transform(line.get_xydata())
        for start, end in pairwise(corners):
            steps = max(2, int(np.hypot(*(end - start))))
            parts.append(start + np.linspace(0, 1, steps)[:, np.newaxis] * (end - start))
        parts.append(corners)
    return np.concatenate(parts)


def _hidden(box: Any, points: Any, taken: Sequence[Any], panel: Axes) -> int:
    """Return how much a box hides: points of lines, boxes that are taken, the ends of a panel."""
    is_inside = (points >= box.min) & (points <= box.max)
    is_out = (box.min < panel.bbox.min).any() or (box.max > panel.bbox.max).any()
    overlaps = sum(box.overlaps(taken_box) for taken_box in taken)
    return int(is_inside.all(axis=1).sum()) + _ENDS * (int(is_out) + overlaps)


def say_what_coincides(panel: Axes, *, is_named: bool = False) -> None:
    """Write into a panel which of its lines coincide.

    Call the function after the limits of the axes are set.

    Args:
        panel: the panel.
        is_named: whether `name_lines` names the lines of this panel. Lines whose names share a
            place are left out.
    """
    groups = _coinciding(panel)
    at_ends = is_named and _have_names_at_ends(_named_lines(panel))
    alike = []
    for group in groups:
        shares_a_place = at_ends and len(_together(group)) <= _LONG
        if len(group) > 1 and not shares_a_place:
            alike.append(",\n".join(str(line.get_label()) for line in group))
    if not alike:
        return
    title = "coincide:\n" + ";\n".join(alike)
    if len(groups) == 1 < len(groups[0]) - 1:
        title = "all coincide"
    elif max(len(str(line.get_label())) for line in _named_lines(panel)) > _LONG:
        title = "some coincide"
    panel.legend(handles=[], title=title, title_fontsize="small").set_in_layout(False)


def _have_names_at_ends(lines: Sequence[Line2D]) -> bool:
    """Return whether lines are few, and their names short, so that each is named at its end."""
    return len(lines) <= FEW and all(len(str(line.get_label())) <= _LONG for line in lines)


def _coinciding(panel: Axes) -> list[list[Line2D]]:
    """Return the named lines of a panel in groups, each of lines that coincide."""
    groups: list[list[Line2D]] = []
    for line in _named_lines(panel):
        for group in groups:
            if np.allclose(_in_panel(group[0]), _in_panel(line), rtol=0, atol=0.01):
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def _together(group: Sequence[Line2D]) -> str:
    """Return the names of lines in one."""
    return ", ".join(str(line.get_label()) for line in group)


def _named_lines(panel: Axes) -> list[Line2D]:
    return [line for line in panel.get_lines() if not str(line.get_label()).startswith("_")]


def _in_panel(line: Line2D) -> Any:
    """Return the heights of a line's points, from 0 at the bottom of its panel to 1 at the top."""
    panel: Any = line.axes
    return panel.transLimits.transform(panel.transScale.transform(line.get_xydata()))[:, 1]


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
    empty: Collection[int] = (),
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row, each with a letter.

    Args:
        number: number of places for panels.
        columns: largest number of places in a row.
        height: height of a panel, in inches.
        note: the parameters of the figure, written below it.
        empty: places without a panel.
        **shared: sharex and sharey, as in `Figure.subplots`.
    """
    columns = min(number, columns)
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, height * rows))
    every_panel = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    used = []
    for place, panel in enumerate(every_panel):
        if place < number and place not in empty:
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


def literal(name: str) -> str:
    """Return a name with its dollar signs escaped, so that matplotlib reads no formula."""
    return name.replace("$", r"\$")
