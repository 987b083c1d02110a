"""The figure of a plan: the width of the interval by each way, and the chance to decide rightly."""

from collections.abc import Callable

import pandas as pd

from sampled_metrics.core.evaluation.values import NO_ASSUMPTION, UNIFORM
from sampled_metrics.core.evaluation.words.captions import OF_PLAN, width_in_words
from sampled_metrics.planning.words import way_in_words
from sampled_metrics.reporting.plots import Mark, Panel, Picture


def _lay_out(table: pd.DataFrame) -> Picture:
    """Lay out a plan: the width by each way, and the chance that `compare` decides rightly."""
    rows = table.to_dict("records")
    labels = [f"{way_in_words(row)}: {row['scores']:,.0f} scores" for row in rows]
    panels = []
    for promise, title in (("width", "Width of the interval"), ("decided", "Decided rightly")):
        if promise not in table:
            continue
        marks = {}
        for label, row in zip(labels, rows, strict=True):
            value = float(row[promise])
            low = float(row[f"{promise}_low"])
            high = float(row[f"{promise}_high"])
            holds = row["assumes"] in (NO_ASSUMPTION, UNIFORM)
            marks[label] = [Mark(value, low, high, width_in_words(value), int(not holds), holds)]
        panels.append(Panel(title, "promise and its interval", marks, log=promise == "width"))
    return Picture(panels, OF_PLAN)


LAYOUTS: dict[tuple[str, ...], Callable[[pd.DataFrame], Picture]] = {
    ("way", "scores", "users", "assumes", "width"): _lay_out,
}
"""The columns of a plan, and the function that lays it out."""
