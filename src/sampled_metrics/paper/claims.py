"""Claims that the paper makes in words, and their checks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from sampled_metrics.rendering.tables import Section
from sampled_metrics.study.variants import VARIANTS

Finding = tuple[str, bool | None]
"""The measurement, in words, and whether the claim holds; None if the paper is not specific enough."""

COLUMNS = ["reading", "place", "claim", "ours", "holds"]
LOW_GAMMA = ("bv-0.1", "bv-0.01", "bv-0.001")


class Claim(NamedTuple):
    """A claim of the paper.

    Attributes:
        place: its place in the paper.
        words: its wording.
        check: tables of a study → finding.
    """

    place: str
    words: str
    check: Callable[[Any], Finding]


class Claims(list[Claim]):
    """Claims in the order of the paper. An instance is a decorator of functions that check a claim."""

    def __call__(self, place: str, words: str) -> Callable[[Callable[[Any], Finding]], Callable[[Any], Finding]]:
        """Register the decorated function as the check of a claim."""

        def register(check: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
            self.append(Claim(place, words, check))
            return check

        return register

    def check(self, tables: Any, reading: str) -> pd.DataFrame:
        """Check every claim on the tables of one reading; columns `COLUMNS`, holds is yes, no or open."""
        rows = []
        for place, words, check in self:
            ours, holds = check(tables)
            rows.append((reading, place, words, ours, "open" if holds is None else "yes" if holds else "no"))
        return pd.DataFrame(rows, columns=COLUMNS)


def order(values: "pd.Series[float]") -> str:
    """Name recommenders from best to worst: `Z > Y > X`."""
    return " > ".join(str(name) for name in values.sort_values(ascending=False, kind="stable").index)


def listed(values: "pd.Series[float]", digits: int = 3) -> str:
    """List values by name: `A 0.100, B 0.200`."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out checked claims, a section for each reading."""
    columns = {"place": "Where", "claim": "The paper says", "ours": "We find", "holds": "Holds"}
    return [
        (
            VARIANTS[str(name)].heading if table["reading"].nunique() > 1 else "",
            rows[list(columns)].rename(columns=columns),
        )
        for name, rows in table.groupby("reading", sort=False)
    ]
