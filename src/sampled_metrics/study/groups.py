"""For whom a recommender is good: metrics and verdicts by thirds of the held-out rows, or by a file of users."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.data.tables import refuse_rows
from sampled_metrics.errors import DataError
from sampled_metrics.evaluation import compare, evaluate
from sampled_metrics.evaluation.wording import remarks
from sampled_metrics.inference.findings import Finding, Setting
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.files import read_columns
from sampled_metrics.ranks.groups import ALL, LEFT_OUT, groups_of_rows
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


def by_thirds(tables: Mapping[str, ExactRanks], split: Split, kinds: Sequence[str]) -> dict[str, dict[str, ExactRanks]]:
    """Return tables whose groups are thirds of the held-out rows, by kind.

    Args:
        tables: rank tables of the split, by recommender.
        split: the split that they are of.
        kinds: keys of `KINDS`. One that does not divide the rows is left out, with a warning.

    Raises:
        DataError: the tables are not of this split.
    """
    for name, table in tables.items():
        same_users = np.array_equal(table.users.astype(str), split.user_ids[split.user].astype(str))
        if not same_users or not np.array_equal(table.candidates, split.candidates):
            raise DataError(
                f"{name}: its users or their candidates are not those of the split, so groups are not known"
            )
    grouped = {}
    for kind in kinds:
        groups = thirds(KINDS[kind](split))
        if len(np.unique(groups)) == 1:
            logging.getLogger(__name__).warning("%s is left out: all numbers of training events are equal", kind)
            continue
        grouped[kind] = {name: replace(table, groups=groups) for name, table in tables.items()}
    return grouped


def by_file(tables: Mapping[str, ExactRanks], path: str) -> dict[str, dict[str, ExactRanks]]:
    """Return tables whose groups are those of a file of users, by column.

    Args:
        tables: rank tables with users, by recommender.
        path: a csv or parquet file with a column user, and one or more columns with the names of groups.

    Raises:
        DataError: the file cannot be read, lacks a column, or has a user twice; or a user of a table has no group.
    """
    columns = read_columns(path)
    columns.require("user")
    frame = columns.frame.where(columns.frame.notna(), "").astype(str)
    kinds = [str(column) for column in frame.columns if column != "user"]
    if not kinds:
        raise DataError(f"{columns.header}: has no column of groups beside user")
    if unusable := sorted({*KINDS} & {*kinds}):
        raise DataError(f"{columns.header}: the column {unusable[0]} has the name of a kind of groups of the workflow")
    refuse_rows(frame["user"].duplicated(), lambda row: f"user {frame['user'].iloc[row]} is there twice", columns.place)
    of_users = {kind: dict(zip(frame["user"], frame[kind], strict=True)) for kind in kinds}
    grouped = {}
    for kind in kinds:
        try:
            grouped[kind] = {
                name: replace(table, groups=groups_of_rows(table, name, of_users[kind]))
                for name, table in tables.items()
            }
        except DataError as error:
            raise DataError(f"{columns.name}, column {kind}: {error}") from None
    return grouped


def by_groups(
    grouped: Mapping[str, Mapping[str, ExactRanks]], metrics: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the metrics, and the comparisons of pairs, by kind of groups.

    Args:
        grouped: rank tables with groups, by kind and recommender.
        metrics: labels.

    Returns:
        The results of `evaluate` and of `compare` with groups, each with a first column `by`. The verdicts of a kind
        are adjusted for its groups. The second one is empty if there is one recommender.

    Raises:
        DataError: there is no kind; or a kind has less than two groups, or too many.
    """
    if not grouped:
        raise DataError("groups: no kind divides the held-out items")
    values, pairs = [], [pd.DataFrame(columns=_PAIRS)]
    for kind, tables in grouped.items():
        try:
            of_groups = evaluate(tables, metrics=metrics, groups=True)
        except DataError as error:
            raise DataError(f"by {kind}: {error}") from None
        for remark in of_groups.remarks:
            if LEFT_OUT in remark:
                logging.getLogger(__name__).warning("%s: %s", kind, remark)
        values.append(pd.DataFrame(of_groups).assign(by=kind))
        if len(tables) > 1:
            first, second = list(tables)[:2]
            compared = pd.DataFrame(compare(tables, metrics=metrics, groups=True))
            pairs.append(compared.assign(**{"a": first, "b": second, **compared, "by": kind}))
    of_values = pd.concat(values, ignore_index=True)
    return of_values[["by", *of_values.columns.drop("by")]], pd.concat(pairs, ignore_index=True)[_PAIRS]


def sentences(pairs: pd.DataFrame) -> list[str]:
    """Return sentences on the pairs of `by_groups` that groups order in different ways."""
    sentences = []
    for (kind, label, a, b), of_pair in pairs[pairs["group"] != ALL].groupby(["by", "metric", "a", "b"], sort=False):
        groups = {name: of_pair["group"][of_pair["conclusion"] == name].tolist() for name in (a, b)}
        if all(groups.values()):
            differs = Finding("order-differs", str(label), (a, b), values=groups)
            sentences += [f"By {kind}: {text}" for text in remarks([differs], Setting())]
    return sentences


@styled
def draw(values: pd.DataFrame, note: str) -> Figure:
    """Draw the metrics of `by_groups`: a panel for each metric, with groups in rows and recommenders as marks."""
    shown = values.assign(by=values["by"].where(values["group"] != ALL, ""))  # all rows are the same for each kind
    shown = shown.drop_duplicates(["by", "group", "recommender", "metric"])
    rows = list(dict.fromkeys(zip(shown["by"], shown["group"], strict=True)))
    names = list(dict.fromkeys(shown["recommender"]))
    labels = [f"{by}:\n{group}" if by else group for by, group in rows]
    metrics = list(shown.groupby("metric", sort=False))
    figure, axes = panels(
        len(metrics), _COLUMNS, 0.8 + 0.42 * len(rows), f"Intervals: 95 %, over users.  {note}", sharey=True
    )
    for panel, (label, of_metric) in zip(axes, metrics, strict=True):
        for number, name in enumerate(names):
            own = of_metric[of_metric["recommender"] == name].set_index(["by", "group"]).reindex(rows)
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
