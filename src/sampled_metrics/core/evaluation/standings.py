"""Recommenders by a metric, best first, with letters for undecided groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.inference.families import Pair, groups, pairs_of

MANY = 10
"""The most recommenders of which all are named.

Of more, a sentence names the best alone, and a page and a figure have the pairs of this many best.
"""


class Standing(NamedTuple):
    """A recommender by a metric; two that share a letter are undecided."""

    name: str
    value: float
    letters: str


@dataclass(frozen=True)
class Standings:
    """The recommenders by a metric, best first, and which pairs are decided.

    Attributes:
        rows: the recommenders.
        decided: the decided pairs, the better one first, as places in the rows.
        groups: the largest groups of which all pairs are undecided, as places in the rows.
    """

    rows: list[Standing]
    decided: list[Pair]
    groups: list[tuple[int, ...]]

    @classmethod
    def from_verdicts(cls, verdicts: Iterable[Verdict]) -> Standings:
        """Return the standings from the verdicts on all pairs of recommenders by a metric."""
        verdicts = list(verdicts)
        values: dict[str, float] = {}
        for verdict in verdicts:
            values.setdefault(verdict.a, verdict.value_a)
            values.setdefault(verdict.b, verdict.value_b)
        names = sorted(values, key=lambda name: -values[name])
        row_of = {name: row for row, name in enumerate(names)}
        wins = sorted(
            (row_of[verdict.better], row_of[verdict.worse])
            for verdict in verdicts
            if verdict.better is not None and verdict.worse is not None
        )
        is_decided = {*wins, *((worse, better) for better, worse in wins)}
        undecided = [pair for pair in pairs_of(len(names)) if pair not in is_decided]
        undecided_groups = groups(undecided, range(len(names)))
        letters = [letter(index) for index, _ in enumerate(undecided_groups)]
        rows = list[Standing]()
        for row, name in enumerate(names):
            letters_of_groups = [
                letter
                for letter, group in zip(letters, undecided_groups, strict=True)
                if row in group
            ]
            rows.append(Standing(name, values[name], "".join(letters_of_groups)))
        return cls(rows, wins, undecided_groups)


def letter(index: int) -> str:
    """Return the letter of a number from 0: a to z, and then aa, bb and so on."""
    return chr(ord("a") + index % 26) * (1 + index // 26)


def best_of(values: Mapping[str, float], most: int) -> list[str]:
    """Return the names with the largest values, in the order of the mapping.

    Missing values are the smallest.
    """
    ordered = sorted(
        values,
        key=lambda name: -math.inf if math.isnan(values[name]) else values[name],
        reverse=True,
    )
    best = set(ordered[:most])
    return [name for name in values if name in best]
