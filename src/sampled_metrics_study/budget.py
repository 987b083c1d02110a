"""What a number of scores buys: results of `plan` for a dataset, as a page and a figure."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from sampled_metrics._defaults import DEFAULT_ESTIMATORS
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.planning.figure import way_style
from sampled_metrics.planning.plan import plan
from sampled_metrics.planning.words import way_in_words
from sampled_metrics.ranking.split import Split
from sampled_metrics.reporting.drawing import add_legend, literal, panels, plain_numbers, styled
from sampled_metrics.reporting.tables import Section
from sampled_metrics.running import Progress, no_progress
from sampled_metrics.stages.rank import staged_ranks
from sampled_metrics.stages.scoring import Ranker
from sampled_metrics.stages.table import StagedRanks
from sampled_metrics_study.recommenders.models import Model
from sampled_metrics_study.tables import worse_and_better

TITLE = "What a number of scores buys"

_PAIR_COLUMNS = ["worse", "better", "way", "scores", "users", "decided", "wrong"]
"""Columns of the table of a pair that has no rows."""

WAYS = {
    "stages": "stages",
    "stop at k, part of users": "stop at k, some users",
    "all candidates, part of users": "all candidates, some users",
    "decreasing": "negatives, decreasing",
    "free": "negatives, free",
}
"""The ways to spend scores, as the figure names them; those of negatives by their estimators."""

_BLOCK_SCORES = 2**26  # scores of a block of users
_COLUMNS = 3  # panels in a row
_APART = 1.06  # ratio of the places of the bars of two ways with the same number of scores
_END = {"linestyle": "none", "markersize": 3.5, "markerfacecolor": "white", "markeredgewidth": 0.9}
"""The look of the end of a bar, whose shape says which way it belongs to, also without colour."""

_TITLE = 22  # letters in a line of the title of a panel


def pilot_of(model: Model, split: Split, k: int) -> StagedRanks:
    """Return the staged ranks of all users by depth None, from the scores of a model.

    The candidates are in the order of popularity.
    """
    block_size = max(1, _BLOCK_SCORES // split.shape.items)
    parts = []
    for start in range(0, split.shape.users, block_size):
        block = slice(start, min(start + block_size, split.shape.users))
        scores = model.scores(block, split.training)
        parts.append(
            staged_ranks(
                Ranker(lambda user, item: scores[user - start, item], pairs_per_call=2**20),  # noqa: B023  # it is called in this pass
                split.training,
                split.held_out,
                k=k,
                depth=None,
                users=block,
            )
        )
    return StagedRanks.concat(parts)


def bought(
    pilots: Mapping[str, StagedRanks],
    exact: Mapping[str, ExactRanks],
    label: str,
    depths: Sequence[float],
    negatives: Sequence[int],
    pair: tuple[str, str] | None,
    *,
    replacement: bool,
    progress: Progress = no_progress,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what scores buy at a confidence of 95 %: widths, and the chances of a pair.

    The evaluations have all users.

    The pilots are the staged ranks of all users by depth None. An m that a user cannot have is left
    out. The first result has the rows of `plan` of each recommender, with a first column
    recommender; the second those of the pair, with first columns worse and better, and no rows
    without a pair, or if its exact metrics are equal.
    """
    options: dict[str, Any] = {
        "metric": label,
        "depths": depths,
        "negatives": negatives,
        "replacement": replacement,
        "estimators": DEFAULT_ESTIMATORS,
    }
    tables = []
    for name in progress(list(pilots)):
        table = pd.DataFrame(plan([exact[name], pilots[name]], **options))
        tables.append(table.assign(recommender=name))
    widths = _beginning_with(["recommender"], pd.concat(tables, ignore_index=True))
    exact_values = {name: exact[name].mean(metric(label)) for name in pair or ()}
    if pair is None or worse_and_better(pair, exact_values) is None:
        return widths, pd.DataFrame(columns=_PAIR_COLUMNS)
    result = plan({name: [exact[name], pilots[name]] for name in pair}, **options)
    [(better, worse)] = [
        finding.names for finding in result.findings if finding.kind == "plan-pair"
    ]
    chances = pd.DataFrame(result).assign(worse=worse, better=better)
    return widths, _beginning_with(["worse", "better"], chances)


def _beginning_with(columns: list[str], table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of plans with some columns first."""
    return table[[*columns, *table.columns.drop(columns)]]


def sections(
    widths: pd.DataFrame, chances: pd.DataFrame, label: str, pair: tuple[str, str] | None = None
) -> list[Section]:
    """Lay out the tables of `bought`, and say that a pair has no order."""
    name = metric_name(label)
    cells = _laid_out(widths, ("width",))
    cells.insert(0, "Recommender", widths["recommender"])
    cells.insert(3, "Users", widths["users"].map("{:,.0f}".format))
    tables = [(f"Width of the 95 % interval of {name}, in percentage points", cells)]
    if len(chances):
        worse, better = chances[["worse", "better"]].iloc[0]
        heading = f"How often {better} comes out better than {worse} by {name}, in per cent"
        tables.append((heading, _laid_out(chances, ("decided", "wrong"))))
    elif pair:
        reason = f"they have the same exact {name}, so no order of them is right"
        tables.append(("Left out", pd.DataFrame({"Pair": [" and ".join(pair)], "Why": [reason]})))
    return tables


def _laid_out(table: pd.DataFrame, promises: Sequence[str]) -> pd.DataFrame:
    """Lay out ways to spend scores, with what they promise."""
    rows = table.to_dict("records")
    columns = {
        "Way": [way_in_words(row) for row in rows],
        "Scores for each user": [f"{row['scores']:,.0f}" for row in rows],
    }
    for name in promises:
        columns[name.capitalize()] = [_between(row, name) for row in rows]
    return pd.DataFrame(columns)


def _between(row: Mapping[str, float], name: str) -> str:
    """Return a promise with its interval, in per cent."""
    digits = ".2f" if name == "width" else ".0f"
    value, low, high = (
        f"{100 * row[column]:{digits}}" for column in (name, f"{name}_low", f"{name}_high")
    )
    return "-" if value == "nan" else f"{value} ({low} to {high})"


@styled
def draw(widths: pd.DataFrame, chances: pd.DataFrame, label: str, note: str = "") -> Figure:
    """Draw the results of `bought`: the widths of each recommender, and the chance for the pair.

    Each recommender has a panel, and so has the pair.
    """
    names = list(dict.fromkeys(widths["recommender"]))
    figure, axes = panels(
        len(names) + (len(chances) > 0),
        _COLUMNS,
        2.2,
        f"Bars: intervals of the plan. Horizontal line: all candidates.  {note}",
    )
    for panel, name in zip(axes, names, strict=False):
        table = widths[widths["recommender"] == name]
        _lines(panel, table, "width")
        exact = 100 * table.loc[table["way"] == "all candidates", "width"].iloc[0]
        panel.axhline(exact, color="black", linewidth=0.7, label="_")
        panel.set(title=literal(fill(name, _TITLE)), yscale="log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_locator(NullLocator())
    for panel in axes[: len(names) : _COLUMNS]:
        panel.set_ylabel(f"width for {metric_name(label)},\npercentage points")
    if len(chances):
        _lines(axes[-1], chances, "decided")
        worse, better = chances[["worse", "better"]].iloc[0]
        axes[-1].set(
            title=literal(fill(f"{better} over {worse}", _TITLE)),
            ylim=(-3, 103),
            ylabel="decided rightly, %",
        )
    for panel in axes:
        panel.set(xscale="log", xlabel="scores for each user")
        plain_numbers(panel.xaxis)
        panel.xaxis.set_minor_locator(NullLocator())
    add_legend(figure)
    return figure


def _lines(panel: Axes, table: pd.DataFrame, column: str) -> None:
    """Draw a line with a bar at each point for each way to spend scores.

    The line of a way that scores some of the users ends with all users.

    The bars are the intervals of `plan`. Ways with the same numbers of scores have their bars side
    by side, and each bar ends with the mark of the way, hollow.
    """
    ways = table["way"].where(table["way"] != "negatives", table["estimator"])
    for index, (way, name) in enumerate(WAYS.items()):
        is_on_line = ways.isin([way, way.removesuffix(", part of users")])
        line = table[is_on_line].dropna(subset=column).sort_values("scores")
        if len(line):
            ends = 100 * line[[f"{column}_low", f"{column}_high"]].to_numpy()
            shifted = line["scores"] * _APART ** (index - (len(WAYS) - 1) / 2)
            look = way_style("negatives" if way in DEFAULT_ESTIMATORS else way, way)
            panel.vlines(shifted, *ends.T, color=look["color"], linewidth=0.9, label="_")
            for end in ends.T:
                panel.plot(shifted, end, label="_", **look | _END)
            panel.plot(line["scores"], 100 * line[column], label=name, **look)
