"""The figures of a report, each narrow enough for a phone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.reporting import plots
from sampled_metrics.reporting.drawing import add_legend, new_figure, panels, styled
from sampled_metrics.reporting.rank_histogram import draw_bars, rank_histogram

if TYPE_CHECKING:  # `drawing` says in one line that matplotlib is missing
    from matplotlib.figure import Figure

WIDTH = 3.7
"""Inches."""

_HEIGHT = 3.2
_SIDE_BY_SIDE = 3  # most recommenders whose bars are in one figure


def intervals(table: pd.DataFrame) -> Iterator[tuple[Figure, str]]:
    """Draw the result of a function, a figure for each panel; yield each with its title."""
    picture = plots.picture(table)
    for panel in picture.panels if picture else []:
        figure = new_figure()
        plots.draw([panel], figure, width=WIDTH)
        yield figure, panel.title or panel.axis


def histograms(tables: Mapping[str, ExactRanks]) -> Iterator[Figure]:
    """Draw how many ranks are in buckets from 1, 2, 3 to 5, 6 to 10 and so on.

    A figure has a few recommenders.
    """
    edges = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    counts = rank_histogram(tables, edges)
    counts["bucket"] = counts["bucket"].replace(r"^(\d+)–\1$", r"\1", regex=True)
    names = list(tables)
    top = 1.05 * counts["events"].max()
    for start in range(0, len(names), _SIDE_BY_SIDE):
        names_of_figure = names[start : start + _SIDE_BY_SIDE]
        yield _histogram(counts[counts["recommender"].isin(names_of_figure)], names, top)


@styled
def _histogram(counts: pd.DataFrame, names: Sequence[str], top: float) -> Figure:
    figure, [panel] = panels(1, 1)
    draw_bars(panel, counts, names)
    panel.tick_params(axis="x", rotation=90)
    panel.set(xlabel="rank", ylabel="held-out items", ylim=(0, top))
    figure.set_size_inches(WIDTH, _HEIGHT)
    add_legend(figure)
    return figure
