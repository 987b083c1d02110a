"""The kinds of findings: an entry for each, with its words and with what the library does for it.

An entry is also the row of the kind in docs/reference/findings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sampled_metrics._registry import kinds_of_findings
from sampled_metrics.core.findings import Finding

if TYPE_CHECKING:
    from sampled_metrics.core.inference.setting import Setting


WORDS = {
    "Order of two recommenders": "sampled_metrics.core.evaluation.words.order",
    "Expectations": "sampled_metrics.core.evaluation.words.expected",
    "Sampled ranks": "sampled_metrics.core.evaluation.words.samples",
    "What was read": "sampled_metrics.core.evaluation.words.readers",
    "Any ranks": "sampled_metrics.core.evaluation.words.results",
}
"""The modules with the entries of the core, by the title of their table in the reference.

Those of other packages stand in `sampled_metrics._registry`.
"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is known of a kind of finding.

    Attributes:
        when: when a result has such a finding, for the reference.
        values: the values of the finding, for the reference.
        sentence: the sentence of a finding, or a function that returns it, or it and its clause. A
            text names in braces the values of the finding, and metric, estimator_name and
            confidence. Findings of the same sentence are one sentence, with all of their clauses in
            place of ``{}``, which a text doubles.
        clause: the clause of a sentence that is a text.
        together: the sentences of all findings of the kind, from these and from all findings, in
            place of `sentence`.
        is_caution: whether they stand above the numbers.
        is_first: whether they come before all other remarks.
        of_groups: whether they are told of each group, where they differ from those of all users.
        forbids_interval: whether no interval holds, so that there is none.
        names_recommenders: whether the sentence names its recommenders. Otherwise it begins with
            the name of the one that it is about, unless it is about all.
        names_groups: whether the sentence names its group, likewise.
    """

    when: str
    values: str = ""
    sentence: str | Callable[[Any, Setting], str | tuple[str, str]] = ""
    clause: str = ""
    together: Callable[[Sequence[Any], Sequence[Any], Setting], list[str]] | None = None
    is_caution: bool = False
    is_first: bool = False
    of_groups: bool = True
    forbids_interval: bool = False
    names_recommenders: bool = False
    names_groups: bool = False


class _Kinds(Mapping[str, Kind]):
    """All kinds by name.

    A module of their words is imported when a kind is looked up that those before it lack.
    """

    def __getitem__(self, name: str) -> Kind:
        for _, kinds in _tables():
            if name in kinds:
                return kinds[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for _, kinds in _tables() for name in kinds)

    def __len__(self) -> int:
        return sum(len(kinds) for _, kinds in _tables())


def _tables() -> Iterator[tuple[str, Mapping[str, Kind]]]:
    """Yield the kinds of each module, with the title of their table in the reference.

    Those of the core come first.
    """
    for title, module in WORDS.items():
        yield title, import_module(module).KINDS
    yield from kinds_of_findings()


KINDS: Mapping[str, Kind] = _Kinds()
"""What is known of each kind of finding."""


def repeated_by_group(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings on a group of those kinds that are told of each group."""
    return [finding for finding in findings if KINDS[finding.kind].of_groups]


def tables_of_reference() -> dict[str, list[tuple[str, Kind]]]:
    """Return the kinds by the title of their table in the reference."""
    return {title: list(kinds.items()) for title, kinds in _tables()}
