"""Samples of negatives from strata: of each stratum, how many were drawn, and how many of these rank above.

If a_s of a user's N_s candidates in stratum s rank above the held-out item, and m_s of them are drawn without
replacement, the number x_s of those above is hypergeometric, independently for each stratum. The true rank is
1 + Σ_s a_s. A stratum of which all candidates are drawn is known.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import shown
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import Columns, Place, refuse_rows
from sampled_metrics.ranks.strata import strata_of

COLUMNS = ("above", "negatives", "size")
"""The columns of a stratum s begin with these: above_s, negatives_s and size_s; tied_s is optional."""


class _ByStratum:
    """What samples from strata and their outcomes, the rows, have in common."""

    x: Ints
    drawn: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.x)

    @property
    def candidates(self) -> Ints:
        """Return n, (rows,), the held-out item and all candidates."""
        return 1 + self.sizes.sum(axis=1)

    @property
    def negatives(self) -> Ints:
        """Return the (rows,) numbers of sampled negatives."""
        return np.asarray(self.drawn.sum(axis=1))


@dataclass(frozen=True)
class StratifiedRanks(_ByStratum):
    """The numbers of sampled negatives of each event that rank above its held-out item, by stratum.

    All rules about such samples are checked here.

    Attributes:
        strata: names.
        x: (events, strata) sampled negatives above the held-out item.
        drawn: (events, strata) m_s, the numbers of sampled negatives.
        sizes: (events, strata) N_s, the numbers of candidates other than the held-out item.
        user: (events,) the user of each event; None if users are not known.

    Raises:
        DataError: x, m and N of a stratum do not fit each other; the message names the event and the stratum.
    """

    strata: tuple[str, ...]
    x: Ints
    drawn: Ints
    sizes: Ints
    user: NDArray[np.generic] | None = None
    place: InitVar[Place | None] = None

    def __post_init__(self, place: Place | None) -> None:
        user = self.user
        where = place or (lambda row: f"event {row + 1}" if user is None else f"user {shown(user[row])}")
        for at, name in enumerate(self.strata):
            x, m, size = self.x[:, at], self.drawn[:, at], self.sizes[:, at]
            rules = [
                (m > size, "negatives_{name} is {m}, but the stratum has {size} candidates (size_{name})"),
                (x > m, "above_{name} is {x}, but {m} negatives were drawn (negatives_{name})"),
                ((m == 0) & (size > 0), "negatives_{name} is 0, but the stratum has {size} candidates (size_{name})"),
            ]

            def filled(message: str, row: int, name: str = name, at: int = at) -> str:
                x, m, size = (each[row, at] for each in (self.x, self.drawn, self.sizes))
                return message.format(name=name, x=x, m=m, size=size)

            for wrong, message in rules:
                refuse_rows(wrong, partial(filled, message), where)


@dataclass(frozen=True)
class StratifiedOutcomes(_ByStratum):
    """Outcomes of samples from strata.

    Attributes:
        x: (outcomes, strata) sampled negatives above the held-out item.
        drawn: (outcomes, strata) m_s.
        sizes: (outcomes, strata) N_s.
        events: (outcomes,) numbers of events with the outcome.
    """

    x: Ints
    drawn: Ints
    sizes: Ints
    events: Ints
    replacement = False

    @classmethod
    def observed(cls, ranks: StratifiedRanks) -> tuple[StratifiedOutcomes, Ints]:
        """Return the outcomes that occur in a sample, and the (events,) index of each event's outcome."""
        table = np.hstack((ranks.sizes, ranks.drawn, ranks.x))
        distinct, which, events = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        sizes, drawn, x = np.split(distinct, 3, axis=1)
        return cls(x, drawn, sizes, events), np.asarray(which).ravel()

    def only(self, outcomes: Ints) -> StratifiedOutcomes:
        """Return some of the outcomes, by index."""
        return StratifiedOutcomes(*(each[outcomes] for each in (self.x, self.drawn, self.sizes, self.events)))


def sums_of_strata(columns: Columns) -> tuple[Ints, Ints]:
    """Return the (events,) numbers above and tied in all strata together."""
    found = []
    for kind in ("above", "tied"):
        names = [f"{kind}_{name}" for name in strata_of(columns) if f"{kind}_{name}" in columns]
        found.append(sum((columns.whole_numbers(name, 0) for name in names), np.zeros(len(columns), dtype=np.int64)))
    return found[0], found[1]


def stratified_ranks(columns: Columns, seed: int = 0, exact: bool = False) -> StratifiedRanks:
    """Return the samples of a table with columns of strata, or exact counts as samples of everything.

    Tied negatives of a row count as above with the same chance, which is drawn for the row: the held-out item has a
    random place among them.

    Raises:
        DataError: a column is missing, or a number does not fit; the message names the stratum.
    """
    strata = strata_of(columns)
    if exact and (not strata or any(f"negatives_{name}" in columns for name in strata)):
        raise DataError(f"{columns.header}: must have exact counts by stratum, such as above_rest and size_rest")
    kinds = ("above", "size", "size") if exact else COLUMNS
    columns.require(*(f"{kind}_{name}" for name in strata for kind in kinds))
    for other in ("rank", "negatives"):
        if other in columns:
            raise DataError(f"{columns.header}: has strata and a column {other}; a sample has one of them")

    def numbers(kind: str) -> Ints:
        return np.stack([columns.whole_numbers(f"{kind}_{name}", 0) for name in strata], axis=1)

    x, drawn, sizes = map(numbers, kinds)
    tied = [name for name in strata if f"tied_{name}" in columns]
    if tied:
        rng = np.random.default_rng(seed)
        place = rng.random(len(x))
        for at, name in enumerate(strata):
            if name in tied:
                ties = columns.whole_numbers(f"tied_{name}", 0)
                over = ties > drawn[:, at] - x[:, at]
                refuse_rows(over, partial(_too_many_ties, name), columns.place)
                x[:, at] += rng.binomial(ties, place)
    found = StratifiedRanks(strata, x, drawn, sizes, columns.users(), columns.place)
    if "candidates" in columns:
        n = columns.whole_numbers("candidates", 1)
        wrong = n != found.candidates
        refuse_rows(
            wrong,
            lambda row: f"candidates is {n[row]}, but the strata have {found.candidates[row]} with the held-out item",
            columns.place,
        )
    return found


def _too_many_ties(name: str, row: int) -> str:
    return f"above_{name} and tied_{name} are more than negatives_{name}"
