"""For whom a recommender is good: metrics and verdicts by thirds of the held-out rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.evaluation import compare, evaluate, plots
from sampled_metrics.evaluation.by_group import verdicts
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.groups import ALL
from sampled_metrics.rendering.drawing import new_figure

KINDS: dict[str, Callable[[Split], Ints]] = {
    "activity": lambda split: np.diff(split.training.indptr)[split.user],
    "item-popularity": lambda split: np.bincount(split.training.indices, minlength=split.shape.items)[split.item],
}
"""The kinds of groups: functions from a split to (rows,) numbers of training events, of the user or of the item."""

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
        DataError: the tables are not of this split, or all held-out rows are in one third.
    """
    for name, table in tables.items():
        same_users = np.array_equal(table.users.astype(str), split.user_ids[split.user].astype(str))
        if not same_users or not np.array_equal(table.candidates, split.candidates):
            raise DataError(f"{name}: its users or their candidates are not those of the split, so groups are not known")
    values, pairs = [], [pd.DataFrame(columns=_PAIRS)]
    for kind in kinds:
        groups = thirds(KINDS[kind](split))
        grouped = {name: replace(table, groups=groups) for name, table in tables.items()}
        values.append(pd.DataFrame(evaluate(grouped, metrics=metrics, groups=True)).assign(by=kind))
        if len(tables) > 1:
            first, second = list(tables)[:2]
            compared = pd.DataFrame(compare(grouped, metrics=metrics, groups=True))
            pairs.append(compared.assign(**{"a": first, "b": second, **compared, "by": kind}))
    of_values = pd.concat(values, ignore_index=True)
    return of_values[["by", *of_values.columns.drop("by")]], pd.concat(pairs, ignore_index=True)[_PAIRS]


def sentences(pairs: pd.DataFrame) -> list[str]:
    """Return sentences on the pairs of `by_groups` that groups order in different ways."""
    return [
        f"By {kind}: {sentence}"
        for kind, of_kind in pairs[pairs["group"] != ALL].groupby("by", sort=False)
        for sentence in verdicts(of_kind, metric_name)
    ]


def draw(values: pd.DataFrame, note: str) -> Figure:
    """Draw the metrics of `by_groups`: a panel for each metric, with the groups in rows."""
    shown = values[(values["group"] != ALL) | (values["by"] == values["by"].iloc[0])]
    labels = [
        group if group == ALL else f"{kind}: {group}" for kind, group in zip(shown["by"], shown["group"], strict=True)
    ]
    picture, figure = plots.picture(shown.drop(columns="by").assign(group=labels)), new_figure()
    if picture is not None:
        plots.draw(picture.panels, figure, f"{note}. The 95 % intervals are over users.")
    return figure
