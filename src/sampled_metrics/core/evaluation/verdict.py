"""The verdict on two recommenders by a metric.

Rows, sentences, figures and LaTeX are made of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

import numpy as np

from sampled_metrics.core.findings import Finding, grouped
from sampled_metrics.core.inference.families import holm
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.core.sampling.draws import EQUAL


class Conclusion(Enum):
    """What the interval of a difference says. The values are the kinds of findings."""

    BETTER = "better"
    UNDECIDED = "undecided"
    EQUIVALENT = "equivalent"
    NO_VERDICT = "no-verdict"


class Lead(Enum):
    """Whether the lead of a recommender exceeds the margin."""

    MORE = "more than the margin"
    LESS = "less than the margin"
    UNKNOWN = ""


_WORDS = {
    Conclusion.UNDECIDED: "undecided",
    Conclusion.EQUIVALENT: "equivalent",
    Conclusion.NO_VERDICT: "no verdict",
}
"""The words of the conclusions in which no recommender is better."""

VERDICTS = frozenset(conclusion.value for conclusion in Conclusion)
"""Kinds of findings on the order of two recommenders."""


def column(heading: str = "", when: str = "", **options: Any) -> Any:
    """Return a field of `Verdict` that is a column of a comparison.

    Args:
        heading: its heading on a page, in which {a} and {b} are the recommenders. The default is
            its name.
        when: the reason for which a comparison has the column: groups, seeds, margin, names or
            p_values. By default it has it always.
        options: further arguments of `dataclasses.field`.
    """
    return field(metadata={"heading": heading, "when": when}, **options)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on two recommenders by a metric.

    A verdict is one of the findings of a result, and has their attributes: kind, names and values.
    The fields are the columns of a comparison, in this order.

    Attributes:
        group: the group of users; empty for all users.
        inference: `NEW_RUNS` or `THESE_RUNS` if there are several seeds, else empty.
        metric: the label of the metric.
        a: the first recommender.
        b: the second one.
        value_a: the value of the first one.
        value_b: the value of the second one.
        difference: the second value minus the first; NaN if the metric is not defined.
        low: the lower end of the interval of the difference; NaN if there is none.
        high: the upper end.
        relative: the difference as a part of the worse value; NaN if that is 0, or without a
            margin.
        higher_a: share of the users for whom the first recommender ranks the held-out item higher;
            NaN if unknown, or without a margin.
        higher_b: the share for the second one.
        p_value: two-sided, adjusted for the family; NaN if there is none.
        conclusion: what the interval says.
        size: by how much a recommender is better; unknown without a margin.
        users: the number of users.
        is_bounded: whether a user has a smallest and a largest value, so that more negatives would
            help.
        assumes: what the interval assumes, as a clause, such as ", if …"; empty for nothing.
    """

    group: str = column(when="groups", default="")
    inference: str = column(when="seeds", default="")
    metric: str = column()
    a: str = column(when="names")
    b: str = column(when="names")
    value_a: float = column("Value of {a}")
    value_b: float = column("Value of {b}")
    difference: float = column("{b} - {a}")
    low: float = column()
    high: float = column()
    relative: float = column(when="margin", default=math.nan)
    higher_a: float = column("{a} higher", when="margin", default=math.nan)
    higher_b: float = column("{b} higher", when="margin", default=math.nan)
    p_value: float = column(when="p_values")
    conclusion: Conclusion = column()  # noqa: RUF009  # a field, as dataclasses.field is
    size: Lead = column(when="margin", default=Lead.UNKNOWN)  # noqa: RUF009
    users: int = column()
    is_bounded: bool = False
    assumes: str = ""

    @classmethod
    def columns(cls, reasons: Collection[str]) -> list[str]:
        """Return the names of the columns of a comparison, for the reasons that hold."""
        return [
            name
            for name, about in _COLUMNS.items()
            if not about["when"] or about["when"] in reasons
        ]

    @classmethod
    def headings(cls, a: str, b: str) -> dict[str, str]:
        """Return the headings of the columns that have one, for the names of two recommenders."""
        return {
            name: about["heading"].format(a=a, b=b)
            for name, about in _COLUMNS.items()
            if about["heading"]
        }

    @property
    def better(self) -> str | None:
        """The name of the better recommender; None if no one is shown to be better."""
        return self.names[0] if self.conclusion is Conclusion.BETTER else None

    @property
    def worse(self) -> str | None:
        """The name of the worse recommender; None if no one is shown to be better."""
        return self.names[1] if self.conclusion is Conclusion.BETTER else None

    @property
    def is_defined(self) -> bool:
        """Whether the metric is defined for both recommenders."""
        return not math.isnan(self.difference)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval of the difference."""
        return not math.isnan(self.low)

    @property
    def kind(self) -> str:
        """The conclusion, as the kind of a finding."""
        return self.conclusion.value

    @property
    def names(self) -> tuple[str, str]:
        """The two recommenders, the better one first if one is better."""
        is_b_better = self.conclusion is Conclusion.BETTER and self.low > EQUAL
        return (self.b, self.a) if is_b_better else (self.a, self.b)

    @property
    def in_words(self) -> str:
        """The conclusion in words, which is the name of the better recommender if one is better.

        The name of a recommender that is called as a conclusion is in quotation marks.
        """
        if self.better is None:
            return _WORDS[self.conclusion]
        is_like_conclusion = self.better.strip('"') in _WORDS.values()
        return f'"{self.better}"' if is_like_conclusion else self.better

    @property
    def values(self) -> Mapping[str, Any]:
        """The fields by name, as a finding has its values, and words for its sentence."""
        relative = f" ({100 * self.relative:+.3g} % of the worse value)"
        return self.plain_values() | {
            "size_in_words": f" by {self.size.value}" if self.size.value else "",
            "relative_in_words": "" if math.isnan(self.relative) else relative,
        }

    def plain_values(self) -> dict[str, Any]:
        """Return the fields by name, without those that a finding has as its own."""
        values = self.row() | {"is_bounded": self.is_bounded, "assumes": self.assumes}
        return {name: value for name, value in values.items() if name not in _OF_FINDING}

    @property
    def _key(self) -> tuple[str, str, str, str, str]:
        """What distinguishes the verdict from all others of a result."""
        return self.metric, self.a, self.b, self.group, self.inference

    def plain(self) -> dict[str, Any]:
        """Return the verdict as JSON has a finding."""
        values = self.plain_values()
        return Finding(self.kind, self.metric, self.names, self.group, values).plain()

    def row(self) -> dict[str, Any]:
        """Return the row of a comparison, with all columns."""
        row = {name: getattr(self, name) for name in _COLUMNS}
        in_words = {
            "group": self.group or ALL,
            "conclusion": self.in_words,
            "size": self.size.value,
        }
        return row | in_words


_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    entry.name: entry.metadata for entry in fields(Verdict) if entry.metadata
}
"""The fields that are columns, with their headings and when they are there."""

_OF_FINDING = {"group", "metric", "conclusion", "users"}
"""Fields that are attributes of a finding, and not among its values."""


def conclusion_of(difference: float, low: float, high: float) -> Conclusion:
    """Return what the interval of a difference says, without a margin."""
    if math.isnan(difference) or math.isnan(low):
        return Conclusion.NO_VERDICT
    includes_zero = low <= EQUAL and high >= -EQUAL
    return Conclusion.UNDECIDED if includes_zero else Conclusion.BETTER


def adjusted(verdicts: Iterable[Verdict], *, has_all_pairs: bool = True) -> list[Verdict]:
    """Return verdicts with p-values adjusted by Holm's method, for each metric and question.

    The verdicts of all groups are one family, and those of all users another. The method needs the
    p-values of all pairs of a family; without them there is none.
    """
    if not has_all_pairs:
        return [replace(verdict, p_value=math.nan) for verdict in verdicts]
    verdicts = list(verdicts)
    keys = [(verdict.metric, verdict.inference, bool(verdict.group)) for verdict in verdicts]
    for indices in grouped(range(len(verdicts)), lambda index: keys[index]).values():
        p_values = holm(np.array([verdicts[index].p_value for index in indices]))
        for index, p_value in zip(indices, p_values, strict=True):
            verdicts[index] = replace(verdicts[index], p_value=float(p_value))
    return verdicts


def verdict_of_row(
    row: Mapping[str, Any], findings: Iterable[Any], names: Sequence[str]
) -> Verdict | None:
    """Return the verdict of a row of a comparison; None of a metric that is not defined.

    A row of two recommenders, whose names are given, does not name them.
    """
    if "a" not in row and len(names) != 2:
        return None
    a, b = (row["a"], row["b"]) if "a" in row else names
    group = row.get("group", ALL)
    key = (row["metric"], a, b, "" if group == ALL else group, row.get("inference", ""))
    for verdict in findings:
        if isinstance(verdict, Verdict) and verdict._key == key:
            return verdict
    return None
