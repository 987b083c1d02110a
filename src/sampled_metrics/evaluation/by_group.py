"""Results by group of users, or of held-out items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from sampled_metrics._validation import enumerated
from sampled_metrics.evaluation.comparison import Comparison
from sampled_metrics.evaluation.result import Result, together
from sampled_metrics.ranks.groups import ALL, Groups, tables_by_group

ORDER_DIFFERS = "differs between groups"
"""Words of a sentence on a pair that two groups order in different ways."""

_ADJUSTED = "compare adjusts its verdicts for the number of groups"


def by_group(table: Any, name: str, groups: Groups, result_of: Callable[[Any], Result]) -> Result:
    """Return the result of a table, and with groups those of its parts, too, in one.

    Args:
        table: all rows.
        name: of the table, for messages.
        groups: as in `evaluate`; False gives the result of all rows alone.
        result_of: a function of a table.
    """
    parts, left_out = tables_by_group({name: table}, groups)
    whole = result_of(table)
    if not parts:
        return whole
    result = together({ALL: whole} | {group: result_of(part[name]) for group, part in parts.items()}, "group")
    result.attrs = whole.attrs
    level = f"{100 * whole.attrs['confidence_level']:g} %"
    return result.with_remarks([*left_out, f"The interval of each group is at {level} by itself; {_ADJUSTED}."])


def compared_by_group(
    whole: Comparison, parts: Mapping[str, Comparison], name_of: Callable[[str], str], method: str
) -> Comparison:
    """Return a comparison of all rows with those of groups.

    Args:
        whole: of all rows.
        parts: by group, with intervals that hold together, and p-values that are adjusted for the groups.
        name_of: the name of what is compared, from the label of a metric.
        method: how the intervals hold together, for a remark.
    """
    rows = [pd.DataFrame(part).assign(group=group) for group, part in {ALL: whole, **parts}.items()]
    table = Comparison(pd.concat(rows, ignore_index=True)).with_standings(whole.by_metric)
    table = table[["group", *table.columns.drop("group")]]
    table.attrs = whole.attrs
    cautions = [*whole.cautions, *_of_groups({group: part.cautions for group, part in parts.items()}, whole.cautions)]
    names = whole.attrs["names"]
    about = {group: [part.attrs["assumption"], *part.attrs["about"]] for group, part in parts.items()}
    return table.with_cautions(cautions).with_remarks(
        [
            *whole.further_remarks,
            *_verdicts(table[table["group"] != ALL], names, name_of),
            *_of_groups(about, whole.further_remarks),
            f"The verdicts by group are adjusted for the {len(parts)} groups: {method}",
        ]
    )


def _of_groups(sentences: Mapping[str, Sequence[str]], known: Sequence[str]) -> list[str]:
    """Return sentences on groups that are not known of all rows, with the names of the groups."""
    return [f"{group}: {text}" for group, texts in sentences.items() for text in texts if text and text not in known]


def _named(groups: Sequence[str]) -> str:
    """Return groups with their names."""
    return f"group{'s' * (len(groups) > 1)} {enumerated(groups)}"


def _verdicts(rows: pd.DataFrame, names: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Return sentences on who is better in which groups: where the order differs; of two recommenders, always."""
    pairs = rows if "a" in rows else rows.assign(a=names[0], b=names[1])
    sentences, further = [], []
    for (label, a, b), of_pair in pairs.groupby(["metric", "a", "b"], sort=False):
        groups = {conclusion: _named(of_one["group"].tolist()) for conclusion, of_one in of_pair.groupby("conclusion")}
        better = [f"{one} is better than {other} for {groups[one]}" for one, other in ((b, a), (a, b)) if one in groups]
        if len(better) == 2:
            sentences.append(f"The order by {name_of(str(label))} {ORDER_DIFFERS}: {', and '.join(better)}.")
        if len(names) == 2:
            others = [f"{word} for {groups[word]}" for word in groups if word not in (a, b)]
            further.append(f"{name_of(str(label))} by group: {'; '.join([*better, *others])}.")
    return [*sentences, *further]
