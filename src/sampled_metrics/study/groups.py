"""For whom a recommender is good: metrics and verdicts by thirds of the held-out rows."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.evaluation import compare, evaluate
from sampled_metrics.evaluation.by_group import verdicts
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.groups import ALL
from sampled_metrics.rendering.drawing import literal, panels, style, styled

KINDS: dict[str, Callable[[Split], Ints]] = {
    "activity": lambda split: np.diff(split.training.indptr)[split.user],
    "item-popularity": lambda split: np.bincount(split.training.indices, minlength=split.shape.items)[split.item],
}
"""The kinds of groups: functions from a split to (rows,) numbers of training events, of the user or of the item."""

_COLUMNS = 2  # panels in a row
_APART = 0.75  # of the height of a row, between the first recommender and the last

_PAIRS = [
    "by",
    "group",
    "metric",
    "a",
    "b",
    "value_a",
    "value_b",
    "difference",
    "low",
    "high",
    "p_value",
    "conclusion",
    "users",
]


def thirds(numbers: Ints) -> NDArray[np.str_]:
    """Return the (rows,) names of the thirds of numbers; equal numbers are in the same third.

    Examples:
        >>> thirds(np.array([1, 5, 9, 9, 2, 30])).tolist()
        ['lower third (1 to 2)', 'middle third (5 to 9)', 'middle third (5 to 9)', ...]
    """
    first, second = np.quantile(numbers, [1 / 3, 2 / 3], method="inverted_cdf")
    part = (numbers > first).astype(int) + (numbers > second)
    names = {}
    for number, name in enumerate(("lower", "middle", "upper")):
        own = numbers[part == number]
        names[number] = f"{name} third ({own.min()} to {own.max()})" if len(own) else ""
    return np.array([names[number] for number in part])


def by_groups(
    tables: Mapping[str, ExactRanks], split: Split, kinds: Sequence[str], metrics: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the metrics, and the comparisons of pairs, by kind of groups.

    Args:
        tables: rank tables of the split, by recommender.
        split: the split that they are of.
        kinds: keys of `KINDS`.
        metrics: labels.

    Returns:
        The results of `evaluate` and of `compare` with groups, each with a first column `by`. The verdicts of a kind
        are adjusted for its groups. The second one is empty if there is one recommender.

    Raises:
        DataError: the tables are not of this split, or no kind divides the rows. A kind that does not is left out, with
            a warning.
    """
    for name, table in tables.items():
        same_users = np.array_equal(table.users.astype(str), split.user_ids[split.user].astype(str))
        if not same_users or not np.array_equal(table.candidates, split.candidates):
            raise DataError(
                f"{name}: its users or their candidates are not those of the split, so groups are not known"
            )
    values, pairs = [], [pd.DataFrame(columns=_PAIRS)]
    for kind in kinds:
        groups = thirds(KINDS[kind](split))
        if len(np.unique(groups)) == 1:
            logging.getLogger(__name__).warning("%s is left out: all numbers of training events are equal", kind)
            continue
        grouped = {name: replace(table, groups=groups) for name, table in tables.items()}
        values.append(pd.DataFrame(evaluate(grouped, metrics=metrics, groups=True)).assign(by=kind))
        if len(tables) > 1:
            first, second = list(tables)[:2]
            compared = pd.DataFrame(compare(grouped, metrics=metrics, groups=True))
            pairs.append(compared.assign(**{"a": first, "b": second, **compared, "by": kind}))
    if not values:
        raise DataError("groups: no kind divides the held-out items")
    of_values = pd.concat(values, ignore_index=True)
    return of_values[["by", *of_values.columns.drop("by")]], pd.concat(pairs, ignore_index=True)[_PAIRS]


def sentences(pairs: pd.DataFrame) -> list[str]:
    """Return sentences on the pairs of `by_groups` that groups order in different ways."""
    return [
        f"By {kind}: {sentence}"
        for kind, of_kind in pairs[pairs["group"] != ALL].groupby("by", sort=False)
        for sentence in verdicts(of_kind, metric_name)
    ]


@styled
def draw(values: pd.DataFrame, note: str) -> Figure:
    """Draw the metrics of `by_groups`: a panel for each metric, with groups in rows and recommenders as marks."""
    shown = values[(values["group"] != ALL) | (values["by"] == values["by"].iloc[0])]
    rows = list(
        dict.fromkeys(
            (by if group != ALL else "", group) for by, group in zip(shown["by"], shown["group"], strict=True)
        )
    )
    names = list(dict.fromkeys(shown["recommender"]))
    labels = [f"{by}:\n{group}" if by else group for by, group in rows]
    metrics = list(shown.groupby("metric", sort=False))
    figure, axes = panels(
        len(metrics), _COLUMNS, 0.8 + 0.42 * len(rows), f"Intervals: 95 %, over users.  {note}", sharey=True
    )
    for panel, (label, of_metric) in zip(axes, metrics, strict=True):
        for number, name in enumerate(names):
            own = of_metric[of_metric["recommender"] == name].set_index(["by", "group"])
            own = own.loc[[(by or own.index[0][0], group) for by, group in rows]]
            height = np.arange(len(rows)) + _APART * (number - (len(names) - 1) / 2) / len(names)
            reach = np.abs(own[["low", "high"]].to_numpy().T - own["value"].to_numpy())
            look = style(number) | {"linestyle": "none", "label": literal(name)}
            panel.errorbar(100 * own["value"], height, xerr=100 * reach, **look)
        panel.set(title=metric_name(str(label)), xlabel="%", yticks=range(len(rows)), yticklabels=labels)
        panel.tick_params(axis="y", labelsize="small", length=0)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=4)
    return figure
