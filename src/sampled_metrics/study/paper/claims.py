"""Claims that the paper makes in words, and their checks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from sampled_metrics.rendering.tables import Section
from sampled_metrics.study.variants import VARIANTS

WITHIN_NOISE = "within noise"
"""Verdict of a claim that does not hold here, by no more than the paper's random samples and start may explain."""

Finding = tuple[str, bool | str | None]
"""The measurement in words, and whether the claim holds: yes, no, `WITHIN_NOISE`, or None if the paper is too vague."""

COLUMNS = ["reading", "place", "claim", "tolerance", "ours", "holds"]
LOW_GAMMA = ("bv-0.1", "bv-0.01", "bv-0.001")


class Claim(NamedTuple):
    """A claim of the paper.

    Attributes:
        place: its place in the paper.
        words: its wording.
        tolerance: what still counts as what the words say; empty if nothing else does.
        check: tables of a study → finding.
    """

    place: str
    words: str
    tolerance: str
    check: Callable[[Any], Finding]


class Claims(list[Claim]):
    """Claims in the order of the paper. An instance is a decorator of the functions that check a claim."""

    def __call__(
        self, place: str, words: str, tolerance: str = ""
    ) -> Callable[[Callable[[Any], Finding]], Callable[[Any], Finding]]:
        """Return a decorator that registers a function as the check of a claim."""

        def register(check: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
            self.append(Claim(place, words, tolerance, check))
            return check

        return register

    def check(self, tables: Any, reading: str) -> pd.DataFrame:
        """Return every claim, checked on the tables of one reading, with `COLUMNS`.

        The column holds is yes, no, within noise or open.
        """
        rows = []
        for place, words, tolerance, check in self:
            ours, holds = check(tables)
            verdict = holds if isinstance(holds, str) else "open" if holds is None else "yes" if holds else "no"
            rows.append((reading, place, words, tolerance, ours, verdict))
        return pd.DataFrame(rows, columns=COLUMNS)


def order(values: "pd.Series[float]") -> str:
    """Return the names of recommenders from best to worst: `Z > Y > X`."""
    return " > ".join(str(name) for name in values.sort_values(ascending=False, kind="stable").index)


def by_name(values: "pd.Series[float]", digits: int = 3) -> str:
    """Return values with their names: `A 0.100, B 0.200`."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out checked claims, a section for each reading."""
    columns = {
        "place": "Where",
        "claim": "The paper says",
        "tolerance": "Tolerance",
        "ours": "We find",
        "holds": "Holds",
    }
    table = table.fillna({"tolerance": ""})
    return [
        (
            VARIANTS[str(name)].heading if table["reading"].nunique() > 1 else "",
            rows[list(columns)].rename(columns=columns),
        )
        for name, rows in table.groupby("reading", sort=False)
    ]
