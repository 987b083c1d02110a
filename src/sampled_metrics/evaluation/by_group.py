"""Results of `evaluate` and `correct` by group of users, or of held-out items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sampled_metrics.evaluation.result import Result, together
from sampled_metrics.inference.findings import Finding
from sampled_metrics.ranks.groups import ALL, Groups, tables_by_group


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
    result = together({"": whole} | {group: result_of(part[name]) for group, part in parts.items()}, "group")
    result["group"] = result["group"].replace("", ALL)
    notes = [Finding("note", values={"text": text}) for text in left_out]
    return result.found([*notes, Finding("group-level")], whole.setting)
