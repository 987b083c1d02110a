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
    pairs, names = table[table["group"] != ALL], whole.attrs["names"]
    of_two = [] if "a" in table else _of_two(pairs := pairs.assign(a=names[0], b=names[1]), name_of)
    about = {group: [part.attrs["assumption"], *part.attrs["about"]] for group, part in parts.items()}
    return table.with_cautions(cautions).with_remarks(
        [
            *whole.further_remarks,
            *verdicts(pairs, name_of),
            *(of_two or _best_of_several(parts, name_of)),
            *_of_groups(about, whole.further_remarks),
            f"The verdicts by group are adjusted for the {len(parts)} groups: {method}",
        ]
    )


def _of_groups(sentences: Mapping[str, Sequence[str]], known: Sequence[str]) -> list[str]:
    """Return sentences on groups that are not known of all rows, with the names of the groups."""
    return [f"{group}: {text}" for group, texts in sentences.items() for text in texts if text and text not in known]


def _named(groups: pd.Series[str]) -> str:
    """Return groups with their names."""
    return f"group{'s' * (len(groups) > 1)} {enumerated(groups.tolist())}"


def verdicts(pairs: pd.DataFrame, name_of: Callable[[str], str]) -> list[str]:
    """Return sentences on the pairs of recommenders that groups order in different ways.

    Args:
        pairs: rows of a comparison by group, with the columns a and b, without those of all rows.
        name_of: the name of what is compared, from the label of a metric.
    """
    sentences = []
    for (label, a, b), of_pair in pairs.groupby(["metric", "a", "b"], sort=False):
        better = _better(of_pair, a, b)
        if len(better) == 2:
            sentences.append(f"The order by {name_of(str(label))} {ORDER_DIFFERS}: {', and '.join(better)}.")
    return sentences


def _of_two(pairs: pd.DataFrame, name_of: Callable[[str], str]) -> list[str]:
    """Return a sentence for each metric on which of two recommenders is better in which groups."""
    sentences = []
    for (label, a, b), of_metric in pairs.groupby(["metric", "a", "b"], sort=False):
        rest = of_metric[~of_metric["conclusion"].isin([a, b])]
        others = [f"{word} for {_named(rows['group'])}" for word, rows in rest.groupby("conclusion")]
        sentences.append(f"{name_of(str(label))} by group: {'; '.join([*_better(of_metric, a, b), *others])}.")
    return sentences


def _best_of_several(parts: Mapping[str, Comparison], name_of: Callable[[str], str]) -> list[str]:
    """Return a sentence for each metric on the recommenders that may be the best of each group: no other is better."""
    groups_of: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for group, part in parts.items():
        for label, standings in part.by_metric.items():
            worse = {row for _, row in standings.decided}
            best = tuple(standing.name for row, standing in enumerate(standings.rows) if row not in worse)
            groups_of.setdefault(label, {}).setdefault(best, []).append(group)
    sentences = []
    for label, groups in groups_of.items():
        texts = [f"{enumerated(best, 'or')} for {_named(pd.Series(names))}" for best, names in groups.items()]
        sentences.append(f"The best by {name_of(label)}: {'; '.join(texts)}.")
    return sentences


def _better(of_pair: pd.DataFrame, a: str, b: str) -> list[str]:
    """Return for which groups the second of two recommenders is better, and for which the first."""
    groups = {name: of_pair["group"][of_pair["conclusion"] == name] for name in (b, a)}
    other = {b: a, a: b}
    return [f"{name} is better than {other[name]} for {_named(rows)}" for name, rows in groups.items() if len(rows)]
