"""What a number of scores buys: the width of an interval and the chance of a verdict, by ways to spend scores."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from sampled_metrics._running import Progress, no_progress
from sampled_metrics.data.split import Split
from sampled_metrics.evaluation.plan_stages import plan_stages
from sampled_metrics.metrics.metric import metric, metric_name
from sampled_metrics.ranking.stages import staged_ranks
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.staged import StagedRanks
from sampled_metrics.recommenders.models import Model
from sampled_metrics.rendering.drawing import literal, panels, plain_numbers, style, styled
from sampled_metrics.rendering.tables import Section, number
from sampled_metrics.study.proof import proven

TITLE = "What a number of scores buys"

METHODS = {
    "stages": "stages",
    "stop at k, part of users": "stop at k, some users",
    "all candidates, part of users": "all candidates, some users",
    "decreasing": "negatives, decreasing",
    "free": "negatives, free",
}
"""The ways to spend scores, as the figure names them."""

WIDTHS = ["recommender", "method", "depth", "scores", "users", "completed", "width"]
"""The columns of the table of widths."""

CHANCES = ["worse", "better", "method", "scores", "right"]
"""The columns of the table of the pair."""

_NUMBERS = 2**26  # numbers of the scores of a block of users
_COLUMNS = 3  # panels in a row
_LEGEND = 0.7  # height of the legend, in inches
_TITLE = 22  # letters in a line of the title of a panel


def pilot_of(model: Model, split: Split, k: int) -> StagedRanks:
    """Return the staged ranks of all users by depth None, in the order of popularity, from the scores of a model."""
    step = max(1, _NUMBERS // split.shape.items)
    parts = []
    for first in range(0, split.shape.users, step):
        block = slice(first, min(first + step, split.shape.users))
        scores = model.scores(block, split.training)
        parts.append(
            staged_ranks(
                lambda user, item: scores[user - first, item],  # noqa: B023  # it is called in this pass
                split.training,
                split.held_out,
                k=k,
                depth=None,
                users=block,
                pairs_per_call=2**20,
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
    """Return what scores buy, at a confidence of 95 %, for evaluations of as many users as there are.

    Stages, and parts of the users, are simulated as in `plan_stages`. Uniform negatives are those of `proven`.

    Args:
        pilots: the staged ranks of all users by depth None, by recommender.
        exact: their exact ranks.
        label: the metric.
        depths: the depths of stages.
        negatives: the m of samples; none for no rows of samples.
        pair: the two recommenders whose comparison is planned; None if there is one recommender.
        replacement: whether negatives are drawn with replacement.
        progress: wraps the recommenders, for a progress bar.

    Returns:
        The widths, with columns recommender, method, depth, scores, users, completed, width; and the chances that
        `compare` decides rightly between the pair, with columns worse, better, method, scores, right; no rows without a
        pair.
    """
    widths, chances = [], []
    for name in progress(list(pilots)):
        is_first = pair is not None and name == pair[0]
        names = pair if pair is not None and is_first else (name,)
        table = pd.DataFrame(
            plan_stages({one: pilots[one] for one in names}, metric=label, depths=depths, progress=no_progress)
        )
        if is_first:
            chances.append(table.rename(columns={"conclusive": "right"}))
        widths.append(table.assign(recommender=name))
    if negatives:
        alone, paired = proven(exact, label, negatives, replacement=replacement, shapes=("decreasing", "free"))
        users = next(iter(widths))["users"].iloc[0]
        alone = alone.assign(users=users, width=alone["high"] - alone["low"])
        if pair is not None:
            chances.append(_as_methods(paired[paired["worse"].isin(pair) & paired["better"].isin(pair)]))
        widths.append(_as_methods(alone))
    of_recommenders = pd.concat(widths, ignore_index=True)
    of_recommenders = of_recommenders.sort_values(
        "recommender", key=lambda names: names.map(list(pilots).index), kind="stable", ignore_index=True
    )
    of_pair = pd.concat(chances, ignore_index=True) if chances else pd.DataFrame(columns=["method", "scores", "right"])
    if pair is not None:
        measure = metric(label)
        worse, better = sorted(pair, key=lambda name: exact[name].mean(measure))
        of_pair = of_pair.assign(worse=worse, better=better)
    return of_recommenders[WIDTHS], of_pair.reindex(columns=CHANCES)


def _as_methods(sampled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `proven` with the columns method and scores."""
    return sampled.assign(method=sampled["assumption"], scores=sampled["negatives"] + 1.0)


def sections(widths: pd.DataFrame, chances: pd.DataFrame, label: str) -> list[Section]:
    """Lay out the tables of `bought`."""
    what = metric_name(label)
    text = pd.DataFrame(
        {
            "Recommender": widths["recommender"],
            "Way": [_way(row) for row in widths.itertuples()],
            "Scores for each user": [number(value, ",.0f") for value in widths["scores"]],
            "Users": [f"{value:,}" for value in widths["users"].astype(int)],
            "Completed": ["" if np.isnan(value) else f"{value:,.0f}" for value in widths["completed"]],
            "Width": ["-" if np.isnan(value) else f"{100 * value:.2f}" for value in widths["width"]],
        }
    )
    tables = [(f"Width of the 95 % interval of {what}, in per cent", text)]
    if len(chances):
        pair = pd.DataFrame(
            {
                "Way": chances["method"],
                "Scores for each user": [number(value, ",.0f") for value in chances["scores"]],
                "Decided rightly": [number(100 * value, ".0f") for value in chances["right"]],
            }
        )
        worse, better = chances[["worse", "better"]].iloc[0]
        tables.append((f"How often compare decides by {what} that {better} is better than {worse}, in per cent", pair))
    return tables


def _way(row: object) -> str:
    method, depth = str(row.method), float(row.depth)  # type: ignore[attr-defined]  # a row of a table
    return f"{method}, depth {depth:g}" if not np.isnan(depth) else method


@styled
def draw(widths: pd.DataFrame, chances: pd.DataFrame, label: str, note: str = "") -> Figure:
    """Draw the results of `bought`: a panel of widths for each recommender, and one of the chance for the pair."""
    names = list(dict.fromkeys(widths["recommender"]))
    figure, axes = panels(len(names) + (len(chances) > 0), _COLUMNS, 2.2, f"Thin line: all candidates.  {note}")
    for panel, name in zip(axes, names, strict=False):
        table = widths[widths["recommender"] == name]
        _lines(panel, table, "width")
        exact = 100 * table.loc[table["method"] == "all candidates", "width"].iloc[0]
        panel.axhline(exact, color="black", linewidth=0.7, label="_")
        panel.set(title=literal(fill(name, _TITLE)), yscale="log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_locator(NullLocator())
    for panel in axes[: len(names) : _COLUMNS]:
        panel.set_ylabel(f"width for {metric_name(label)}, %")
    if len(chances):
        _lines(axes[-1], chances, "right")
        worse, better = chances[["worse", "better"]].iloc[0]
        axes[-1].set(title=literal(fill(f"{better} over {worse}", _TITLE)), ylim=(-3, 103), ylabel="decided rightly, %")
    for panel in axes:
        panel.set(xscale="log", xlabel="scores for each user")
        plain_numbers(panel.xaxis)
        panel.xaxis.set_minor_locator(NullLocator())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    figure.set_figheight(figure.get_figheight() + _LEGEND)
    return figure


def _lines(panel: Axes, table: pd.DataFrame, column: str) -> None:
    """Draw a line for each way to spend scores; those of some of the users end with all users."""
    for index, (method, name) in enumerate(METHODS.items()):
        line = table[table["method"].isin([method, method.removesuffix(", part of users")])]
        line = line.dropna(subset=column).sort_values("scores")
        if len(line):
            panel.plot(line["scores"], 100 * line[column], label=name, **style(index))
