"""The verdict on two recommenders by a metric.

Rows, sentences, figures and LaTeX are made of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.families import holm
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.core.sampling.draws import EQUAL


class Conclusion(Enum):
    """What the interval of a difference says. The values are the kinds of findings."""

    BETTER = "better"
    UNDECIDED = "undecided"
    EQUIVALENT = "equivalent"
    NO_VERDICT = "no-verdict"


class Size(Enum):
    """By how much a recommender is better, beside a margin."""

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


@dataclass(frozen=True)
class AgainstMargin:
    """What is known of a pair beside a margin.

    Attributes:
        relative: the difference as a part of the worse value; NaN if that is 0.
        higher_a: share of the users for whom the first recommender ranks the held-out item higher;
            NaN if unknown.
        higher_b: that of the second one.
        size: by how much a recommender is better.
    """

    relative: float
    higher_a: float
    higher_b: float
    size: Size = Size.UNKNOWN


@dataclass(frozen=True)
class Verdict:
    """The verdict on two recommenders by a metric.

    A verdict stands among the findings of a result, and has their attributes: kind, names and
    values.

    Attributes:
        metric: the label of the metric.
        a: the first recommender.
        b: the second one.
        value_a: the value of the first one.
        value_b: the value of the second one.
        difference: the second value minus the first; NaN if the metric is not defined.
        low: the lower end of the interval of the difference; NaN if there is none.
        high: the upper end.
        p_value: two-sided, adjusted for the family; NaN if there is none.
        conclusion: what the interval says.
        users: the number of users.
        is_bounded: whether a user has a smallest and a largest value, so that more negatives would
            help.
        margin: what is known beside a margin; None without a margin.
        group: the group of users; empty for all users.
        of: `NEW_RUNS` or `THESE_RUNS` if there are several seeds, else empty.
    """

    metric: str
    a: str
    b: str
    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    conclusion: Conclusion
    users: int
    is_bounded: bool = False
    margin: AgainstMargin | None = None
    group: str = ""
    of: str = ""

    @property
    def better(self) -> str | None:
        """The name of the better recommender; None if no one is shown to be better."""
        if self.conclusion is not Conclusion.BETTER:
            return None
        return self.b if self.low > EQUAL else self.a

    @property
    def worse(self) -> str | None:
        """The name of the worse recommender; None if no one is shown to be better."""
        if self.better is None:
            return None
        return self.a if self.better == self.b else self.b

    @property
    def is_defined(self) -> bool:
        """Whether the metric is defined for both recommenders."""
        return not math.isnan(self.difference)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval of the difference."""
        return not math.isnan(self.low)

    @property
    def size(self) -> Size:
        """By how much a recommender is better; unknown without a margin."""
        return Size.UNKNOWN if self.margin is None else self.margin.size

    @property
    def kind(self) -> str:
        """The conclusion, as the kind of a finding."""
        return self.conclusion.value

    @property
    def names(self) -> tuple[str, str]:
        """The two recommenders, the better one first if one is better."""
        return (self.b, self.a) if self.better == self.b else (self.a, self.b)

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
        """The numbers of the verdict, by name, as a finding has them."""
        values: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "value_a": self.value_a,
            "value_b": self.value_b,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "is_bounded": self.is_bounded,
        }
        if self.margin is not None:
            values |= {"relative": self.margin.relative, "size": self.margin.size.value}
        if self.of:
            values["of"] = self.of
        return values

    @property
    def _key(self) -> tuple[str, str, str, str, str]:
        """What tells the verdict from all others of a result."""
        return self.metric, self.a, self.b, self.group, self.of

    def plain(self) -> dict[str, Any]:
        """Return the verdict as JSON has a finding."""
        return Finding(self.kind, self.metric, self.names, self.group, self.values).plain()

    def turned(self) -> Verdict:
        """Return the verdict on the same pair the other way round."""
        margin = self.margin
        if margin is not None:
            margin = replace(
                margin,
                relative=-margin.relative,
                higher_a=margin.higher_b,
                higher_b=margin.higher_a,
            )
        return replace(
            self,
            a=self.b,
            b=self.a,
            value_a=self.value_b,
            value_b=self.value_a,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            margin=margin,
        )

    def row(self) -> dict[str, Any]:
        """Return the row of a comparison, with all columns.

        What the verdict does not have is missing, or an empty text.
        """
        margin = self.margin or AgainstMargin(math.nan, math.nan, math.nan)
        return {
            "group": self.group or ALL,
            "of": self.of,
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "value_a": self.value_a,
            "value_b": self.value_b,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "relative": margin.relative,
            "higher_a": margin.higher_a,
            "higher_b": margin.higher_b,
            "p_value": self.p_value,
            "conclusion": self.in_words,
            "size": margin.size.value,
            "users": self.users,
        }


def conclusion_of(difference: float, low: float, high: float) -> Conclusion:
    """Return what the interval of a difference says, without a margin."""
    if math.isnan(difference) or math.isnan(low):
        return Conclusion.NO_VERDICT
    includes_zero = low <= EQUAL and high >= -EQUAL
    return Conclusion.UNDECIDED if includes_zero else Conclusion.BETTER


def adjusted(verdicts: Iterable[Verdict], *, has_all_pairs: bool = True) -> list[Verdict]:
    """Return verdicts with p-values adjusted by Holm's method, for each metric and question.

    The verdicts of all groups are a family, beside that of all users. The method needs the p-values
    of all pairs of a family; without them there is none.
    """
    if not has_all_pairs:
        return [replace(verdict, p_value=math.nan) for verdict in verdicts]
    verdicts = list(verdicts)
    # the places of the verdicts by metric, question, and whether they are of groups
    families: dict[tuple[str, str, bool], list[int]] = {}
    for place, verdict in enumerate(verdicts):
        families.setdefault((verdict.metric, verdict.of, bool(verdict.group)), []).append(place)
    for places in families.values():
        p_values = holm(np.array([verdicts[place].p_value for place in places]))
        for place, p_value in zip(places, p_values, strict=True):
            verdicts[place] = replace(verdicts[place], p_value=float(p_value))
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
    key = (row["metric"], a, b, "" if group == ALL else group, row.get("of", ""))
    for verdict in findings:
        if isinstance(verdict, Verdict) and verdict._key == key:
            return verdict
    return None
