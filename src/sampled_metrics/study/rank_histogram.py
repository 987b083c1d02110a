"""Users by the rank of their held-out item (Figure 5)."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sampled_metrics._drawing import COLOURS, literal, panels, styled
from sampled_metrics.ranks.table import RankTable

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")


def rank_histogram(tables: Mapping[str, RankTable], edges: Sequence[int]) -> pd.DataFrame:
    """Count the events of each recommender by rank; ties count in expectation, so a count may be fractional.

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
def draw(table: pd.DataFrame) -> Figure:
    """Draw the table of `rank_histogram`: a bar for each bucket and recommender."""
    figure, [panel] = panels(1, 1)
    buckets = list(dict.fromkeys(table["bucket"]))
    names = list(dict.fromkeys(table["recommender"]))
    figure.set_size_inches(max(8.0, 0.22 * len(buckets) * (len(names) + 1)), 3.4)
    draw_bars(panel, table, numbered=len(names) <= 4)
    figure.legend(*panel.get_legend_handles_labels(), title="recommender", loc="outside right upper")
    return figure


def draw_bars(panel: Axes, table: pd.DataFrame, *, numbered: bool) -> None:
    """Draw the table of `rank_histogram` into a panel, with the number of users above each bar or not."""
    buckets = list(dict.fromkeys(table["bucket"]))
    names = list(dict.fromkeys(table["recommender"]))
    width = 0.82 / len(names)
    colours, hatches = cycle(("#333333", *COLOURS[1:])), cycle(HATCHES)
    for number, name in enumerate(names):
        events = table[table["recommender"] == name].set_index("bucket")["events"].reindex(buckets)
        position = np.arange(len(buckets)) + (number - (len(names) - 1) / 2) * width
        panel.bar(
            position,
            events,
            width,
            label=literal(name),
            color=next(colours),
            hatch=next(hatches),
            edgecolor="white",
            lw=0.5,
        )
        if numbered:
            for x, y in zip(position, events, strict=True):
                panel.annotate(f"{y:.0f}", (x, y), ha="center", va="bottom", fontsize=6.5)
    panel.set_xticks(np.arange(len(buckets)), buckets)
    panel.set(xlabel="predicted rank of the held-out item", ylabel="users")
    panel.grid(axis="x", visible=False)
