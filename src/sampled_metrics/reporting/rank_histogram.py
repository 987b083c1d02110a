"""Users by the rank of their held-out item (Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.reporting.drawing import WIDTH, add_legend, literal, panels, styled, styles_of

if TYPE_CHECKING:  # `drawing` says in one line that matplotlib is missing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")

_NUMBERED = 3  # most recommenders whose bars have room for numbers


def rank_histogram(tables: Mapping[str, ExactRanks], edges: Sequence[int]) -> pd.DataFrame:
    """Count the held-out items of each recommender by rank.

    Ties count in expectation, so a count may be fractional.

    Args:
        tables: rank tables by recommender.
        edges: last rank of each bucket, ascending. The worse half of each user's candidates is one
            more bucket, for any number of candidates.

    Returns:
        Columns recommender, bucket, events.
    """
    largest_half = max(int(table.candidates.max(initial=0)) // 2 for table in tables.values())
    used = [edge for edge in edges if edge < largest_half]
    starts = [1, *(edge + 1 for edge in used)]
    buckets = [
        *(f"{start}–{edge}" for start, edge in zip(starts, used, strict=False)),
        f"{starts[-1]} to half",
    ]
    rows = []
    for name, table in tables.items():
        half = table.candidates // 2
        last_ranks = [*(np.minimum(edge, half) for edge in used), half, table.candidates]
        rank = np.ones_like(half)  # the first one of a bucket
        for bucket, last_rank in zip([*buckets, "worse half"], last_ranks, strict=True):
            rows.append((name, bucket, table.expected_between(rank, last_rank)))
            rank = last_rank + 1
    return pd.DataFrame(rows, columns=["recommender", "bucket", "events"])


@styled
def draw(table: pd.DataFrame, note: str = "") -> Figure:
    """Draw the table of `rank_histogram`: a bar for each bucket and recommender."""
    names = list(dict.fromkeys(table["recommender"]))
    figure, [panel] = panels(1, 1, 2.8, note)
    figure.set_figwidth(max(WIDTH, 0.22 * table["bucket"].nunique() * (len(names) + 1)))
    draw_bars(panel, table, names, numbered=len(names) <= _NUMBERED)
    add_legend(figure)
    return figure


def draw_bars(
    panel: Axes, table: pd.DataFrame, recommenders: Sequence[str], *, numbered: bool = False
) -> None:
    """Draw the table of `rank_histogram` into a panel.

    A recommender has the colour and the hatches of its place among all recommenders.
    """
    buckets = list(dict.fromkeys(table["bucket"]))
    drawn = [name for name in recommenders if (table["recommender"] == name).any()]
    width = 0.92 / len(drawn)
    styles = styles_of(recommenders)
    upright = len(drawn) > 1 and table["events"].max() >= 10_000  # five digits are wider than a bar
    for number, name in enumerate(drawn):
        place = list(recommenders).index(name)
        events = table[table["recommender"] == name].set_index("bucket")["events"]
        bars = panel.bar(
            np.arange(len(buckets)) + (number - (len(drawn) - 1) / 2) * width,
            events.reindex(buckets),
            width,
            label=literal(name),
            color=styles[name]["color"],
            hatch=HATCHES[place % len(HATCHES)],
            edgecolor="white",
            lw=0.5,
        )
        if numbered:
            panel.bar_label(
                bars,
                fmt="%.0f",
                fontsize="x-small",
                rotation=90 if upright else 0,
                padding=2 * upright,
            )
    labels = [
        bucket.replace(" to half", "–n/2").replace("worse half", "n/2–n") for bucket in buckets
    ]
    panel.set_xticks(np.arange(len(buckets)), labels)
    panel.tick_params(axis="x", length=0)
    panel.set_xlim(-0.5, len(buckets) - 0.5)
    panel.margins(y=0.25 if numbered and upright else 0.08)
    panel.set(xlabel="predicted rank of the held-out item", ylabel="held-out items")
    panel.grid(axis="x", visible=False)
