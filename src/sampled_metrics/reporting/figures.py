"""The figures of a report, each narrow enough for a phone, and users by the rank of their held-out item (Figure 5)."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sampled_metrics.evaluation import plots
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.rendering.drawing import WIDTH, literal, new_figure, panels, style, styled
from sampled_metrics.reporting import sample_sizes

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")

_NUMBERED = 3  # most recommenders whose bars have room for numbers


def rank_histogram(tables: Mapping[str, ExactRanks], edges: Sequence[int]) -> pd.DataFrame:
    """Count the held-out items of each recommender by rank; ties count in expectation, so a count may be fractional.

    Args:
        tables: rank tables by recommender.
        edges: last rank of each bucket, ascending. The worse half of each user's candidates is one more bucket, for
            any number of candidates.

    Returns:
        Columns recommender, bucket, events.
    """
    largest_half = max(int(table.candidates.max(initial=0)) // 2 for table in tables.values())
    used = [edge for edge in edges if edge < largest_half]
    starts = [1, *(edge + 1 for edge in used)]
    buckets = [*(f"{start}–{edge}" for start, edge in zip(starts, used, strict=False)), f"{starts[-1]} to half"]
    rows = []
    for name, table in tables.items():
        half = table.candidates // 2
        lasts = [*(np.minimum(edge, half) for edge in used), half, table.candidates]
        firsts = [np.ones_like(half), *(last + 1 for last in lasts[:-1])]
        for bucket, first, last in zip([*buckets, "worse half"], firsts, lasts, strict=True):
            rows.append((name, bucket, table.expected_between(first, last)))
    return pd.DataFrame(rows, columns=["recommender", "bucket", "events"])


@styled
def draw(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw the table of `rank_histogram`: a bar for each bucket and recommender."""
    names = list(dict.fromkeys(table["recommender"]))
    figure, [panel] = panels(1, 1, 2.8, note)
    figure.set_figwidth(max(WIDTH, 0.22 * table["bucket"].nunique() * (len(names) + 1)))
    draw_bars(panel, table, names, numbered=len(names) <= _NUMBERED)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside upper left", ncols=4)  # no bar reaches it
    return figure


def draw_bars(panel: Axes, table: pd.DataFrame, recommenders: Sequence[str], *, numbered: bool = False) -> None:
    """Draw the table of `rank_histogram` into a panel, each recommender as its place among all of them says."""
    buckets = list(dict.fromkeys(table["bucket"]))
    drawn = [name for name in recommenders if (table["recommender"] == name).any()]
    width = 0.92 / len(drawn)
    upright = len(drawn) > 1 and table["events"].max() >= 10_000  # five digits are wider than a bar
    for number, name in enumerate(drawn):
        place = list(recommenders).index(name)
        bars = panel.bar(
            np.arange(len(buckets)) + (number - (len(drawn) - 1) / 2) * width,
            table[table["recommender"] == name].set_index("bucket")["events"].reindex(buckets),
            width,
            label=literal(name),
            color=style(place)["color"],
            hatch=HATCHES[place % len(HATCHES)],
            edgecolor="white",
            lw=0.5,
        )
        if numbered:
            panel.bar_label(bars, fmt="%.0f", fontsize="x-small", rotation=90 if upright else 0, padding=2 * upright)
    numbers = [bucket.replace(" to half", "–n/2").replace("worse half", "n/2–n") for bucket in buckets]
    panel.set_xticks(np.arange(len(buckets)), numbers)
    panel.tick_params(axis="x", length=0)
    panel.set_xlim(-0.5, len(buckets) - 0.5)
    panel.margins(y=0.25 if numbered and upright else 0.08)
    panel.set(xlabel="predicted rank of the held-out item", ylabel="held-out items")
    panel.grid(axis="x", visible=False)


_PHONE_WIDTH = 3.7
"""Inches."""

_HEIGHT = 3.2
_LEGEND = 40  # letters per line
_SIDE_BY_SIDE = 3  # most recommenders whose bars are in one figure


def intervals(table: pd.DataFrame) -> Iterator[tuple[Figure, str]]:
    """Draw the result of a function, a figure for each panel; yield each with its title."""
    picture = plots.picture(table)
    for panel in picture.panels if picture else []:
        figure = new_figure()
        plots.draw([panel], figure, width=_PHONE_WIDTH)
        yield figure, panel.title or panel.axis


@styled
def by_sample_size(table: pd.DataFrame) -> Figure:
    """Draw the expectation of one metric by number of negatives; columns as of `expected_by_sample_size`."""
    figure, [panel] = panels(1, 1)
    sample_sizes.draw_curves(panel, table)
    return _with_legend(figure)


def histograms(tables: Mapping[str, ExactRanks]) -> Iterator[Figure]:
    """Draw how many ranks are in buckets from 1, 2, 3 to 5, 6 to 10 and so on, a few recommenders in each figure."""
    counts = rank_histogram(tables, [digit * 10**power for power in range(9) for digit in (1, 2, 5)])
    counts["bucket"] = counts["bucket"].replace(r"^(\d+)–\1$", r"\1", regex=True)
    names, most = list(tables), 1.05 * counts["events"].max()
    for first in range(0, len(names), _SIDE_BY_SIDE):
        of_figure = counts[counts["recommender"].isin(names[first : first + _SIDE_BY_SIDE])]
        yield _histogram(of_figure, names, most)


@styled
def _histogram(counts: pd.DataFrame, names: Sequence[str], most: float) -> Figure:
    figure, [panel] = panels(1, 1)
    draw_bars(panel, counts, names)
    panel.tick_params(axis="x", rotation=90)
    panel.set(xlabel="rank", ylabel="ranks", ylim=(0, most))
    return _with_legend(figure)


@styled
def _with_legend(figure: Figure) -> Figure:
    """Set the size of a figure of one panel, with its legend above it."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.set_size_inches(_PHONE_WIDTH, _HEIGHT + 0.17 * len(labels))
    figure.legend(handles, [textwrap.fill(label, _LEGEND) for label in labels], loc="outside upper left")
    return figure
