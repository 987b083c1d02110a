"""For whom a recommender is good: metrics and verdicts by groups of the held-out rows."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sampled_metrics.errors import DataError
from sampled_metrics.evaluation import compare, evaluate
from sampled_metrics.evaluation.wording import remarks
from sampled_metrics.inference.findings import Finding, Setting
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.groups import ALL, LEFT_OUT
from sampled_metrics.rendering.drawing import literal, panels, style, styled

_LOG = logging.getLogger(__name__)

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
                _LOG.warning("%s: %s", kind, remark)
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
def draw(values: pd.DataFrame, note: str, recommenders: Sequence[str] = ()) -> Figure:
    """Draw the metrics of `by_groups`: a panel for each metric, with groups in rows and recommenders as marks.

    Args:
        values: the metrics.
        note: what they are of.
        recommenders: all recommenders of the study, some of which may have no groups, so that each has the colour that
            it has in other figures. By default, those of the values.
    """
    shown = values.assign(by=values["by"].where(values["group"] != ALL, ""))  # all rows are the same for each kind
    shown = shown.drop_duplicates(["by", "group", "recommender", "metric"])
    rows = list(dict.fromkeys(zip(shown["by"], shown["group"], strict=True)))
    names = list(dict.fromkeys(shown["recommender"]))
    all_names = list(recommenders or names)
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
            look = style(all_names.index(name)) | {"linestyle": "none", "label": literal(name)}
            panel.errorbar(100 * own["value"], height, xerr=100 * reach, **look)
        panel.set(title=metric_name(str(label)), xlabel="%", yticks=range(len(rows)), yticklabels=labels)
        panel.tick_params(axis="y", labelsize="small", length=0)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=4)
    return figure
