"""Findings: what a result says about its numbers, as data.

Readers of ranks and functions of results make them. A program filters the findings of a result by
`kind`. `sampled_metrics.core.evaluation.wording` turns them into sentences for people.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Finding:
    """What a result says about its numbers.

    Attributes:
        kind: what is found, such as better, undecided or contradicted; docs/reference/findings.md
            lists all kinds.
        metric: the label of the metric that it is about; empty if it is about all.
        names: the recommenders that it is about: one, or the two of a pair. Of a decided pair the
            better one is first. Empty if it is about all.
        group: the group of users that it is about; empty if it is about all users.
        values: numbers and labels that belong to it, by name.
    """

    kind: str
    metric: str = ""
    names: tuple[str, ...] = ()
    group: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def plain(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        return {
            "kind": self.kind,
            "metric": self.metric,
            "names": list(self.names),
            "group": self.group,
            "values": {name: plain(value) for name, value in self.values.items()},
        }


CAUTION = "caution"
"""Rank of a kind: numbers of the result may be wrong. Cautions stand above the numbers."""

REMARK = "remark"
"""Rank of a kind: what the numbers mean, or how they were computed."""


@dataclass(frozen=True)
class Kind:
    """A kind of finding: its sentence, and its row of docs/reference/findings.md.

    Attributes:
        name: the `kind` of the findings.
        rank: `CAUTION` or `REMARK`.
        text: the sentence, a format string with the values of the finding by name, and `metric`,
            `names` and `confidence` (`sampled_metrics.core.evaluation.wording`).
        when: when a result has such a finding.
        action: what to do then.
        values: the values of the finding.
    """

    name: str
    rank: str
    text: str
    when: str
    action: str
    values: str = ""


def about(findings: Iterable[Finding], name: str = "", group: str = "") -> list[Finding]:
    """Return the findings with the names of their recommender and group, where they have none."""
    names = (name,) if name else ()
    return [
        replace(finding, names=finding.names or names, group=finding.group or group)
        for finding in findings
    ]


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return the items by their key, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def from_source(findings: Iterable[Finding], source: str) -> list[Finding]:
    """Return the findings with the source, the name of a file or table, where they lack one."""
    return [replace(finding, values={"source": source, **finding.values}) for finding in findings]


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each once, in their order."""
    kept: list[Finding] = []
    seen: set[tuple[Any, ...]] = set()
    for finding in findings:
        key = _key(finding)
        if key not in seen:
            seen.add(key)
            kept.append(finding)
    return tuple(kept)


def of_all(findings: Iterable[Finding], names: Sequence[str]) -> list[Finding]:
    """Return findings; one that every recommender has is about all of them, without a name.

    `names` are the recommenders.
    """
    findings = list(findings)
    if len(names) < 2:
        return findings
    nameless = [replace(finding, names=()) for finding in distinct(findings) if is_of_one(finding)]
    counts = Counter(_key(finding) for finding in nameless)
    general = list[Finding]()
    for finding in findings:
        without_name = replace(finding, names=()) if is_of_one(finding) else finding
        is_shared = counts[_key(without_name)] == len(names)
        general.append(without_name if is_shared else finding)
    return general


def is_of_one(finding: Any) -> bool:
    """Return whether a finding is about a single recommender."""
    return len(finding.names) == 1


def _key(finding: Any) -> tuple[Any, ...]:
    """Return what distinguishes a finding from others."""
    return finding.kind, finding.metric, finding.names, finding.group, repr(finding.values)


def plain(value: Any) -> Any:
    """Return a value as JSON has it; what is not finite is None."""
    if isinstance(value, Mapping):
        return {str(name): plain(element) for name, element in value.items()}
    if isinstance(value, list | tuple):
        return [plain(element) for element in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
