"""The rank table: for each held-out event, how many candidates score above the held-out item, and how many tie with it.

Everything after ranking needs nothing else. A tie is kept as a count because a rank among ties is not one number: it is
uniform on above + 1 … above + tied + 1, anew in every repetition.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import _files
from sampled_metrics._validation import refuse_masked
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.csv import CsvTable, read_table

if TYPE_CHECKING:  # ranking does not depend on metrics, so editing one ranks nothing anew
    from sampled_metrics.metrics.held_out import Metric
from sampled_metrics._arrays import Floats, Ints

COLUMNS = ("user", "candidates", "above", "tied")


@dataclass(frozen=True)
class RankTable:
    """Where a recommender ranks the held-out item of each event.

    Attributes:
        user: (events,) whose event it is.
        candidates: (events,) int, n: the items that were ranked, the held-out item included.
        above: (events,) int, candidates scored higher than the held-out item.
        tied: (events,) int, other candidates scored exactly the same.
        numbered: whether user only numbers the events, as nothing says whose they are.
    """

    user: NDArray[np.generic]
    candidates: Ints
    above: Ints
    tied: Ints
    numbered: bool = False

    def __post_init__(self) -> None:
        for name in COLUMNS:
            refuse_masked(getattr(self, name), f"a rank table's {name}")
        if not len(self.user) == len(self.candidates) == len(self.above) == len(self.tied):
            raise DataError("a rank table's columns differ in length")
        wrong = (self.above < 0) | (self.tied < 0) | (self.above + self.tied >= self.candidates)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataError(
                f"user {self.user[at]}: above ({self.above[at]}) and tied ({self.tied[at]}) must be 0 or more, "
                f"and less than candidates ({self.candidates[at]}) together"
            )

    def __len__(self) -> int:
        return len(self.user)

    def rows(self, events: Ints) -> "RankTable":
        """Return the table of some of its events, in that order."""
        user, n = self.user[events], self.candidates[events]
        return RankTable(user, n, self.above[events], self.tied[events], self.numbered)

    @property
    def named_users(self) -> NDArray[np.generic] | None:
        """The (events,) users, or None where they are only numbers of events."""
        return None if self.numbered else self.user

    @property
    def mean_candidates(self) -> int:
        """The one n of the estimators: the mean number of candidates, rounded (3541 on MovieLens 1M)."""
        return round(float(self.candidates.mean()))

    def values(self, metric: "Metric") -> Floats:
        """Return the exact metric of each event, as (events,) expectations over its ties."""
        return metric.over_ties(self.above, self.tied, self.candidates)

    def tie_deviation(self, metric: "Metric") -> float:
        """Standard deviation of the mean metric when each event's ties are broken at random once."""
        means = self.values(metric)
        if metric.linear_in_rank:
            spread = metric.of_rank(1, self.candidates) - metric.of_rank(2, self.candidates)
            variance = spread**2 * ((self.tied + 1.0) ** 2 - 1) / 12
        else:
            variance = np.maximum(metric.squares_over_ties(self.above, self.tied) - means**2, 0.0)
        return float(np.sqrt(variance[self.tied > 0].sum()) / len(self))

    def expected_between(self, first: Ints | int, last: Ints | int) -> float:
        """Expected number of events whose rank, ties broken at random, lies in first … last (both counted)."""
        lowest, highest = self.above + 1, self.above + self.tied + 1
        inside = np.minimum(highest, last) - np.maximum(lowest, first) + 1
        return float((np.clip(inside, 0, None) / (self.tied + 1)).sum())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the columns user, candidates, above, tied as csv (gzip where the name ends in .gz)."""
        _files.write_csv(path, pd.DataFrame({name: getattr(self, name) for name in COLUMNS}))


RANKS = "ranks are a csv with the columns candidates, above and tied, or candidates and rank"
"""What a file of ranks holds, for messages."""

OF_A_SAMPLE = (
    "has a column negatives, so that its ranks are sampled ones; `correct` takes those, or remove the column if they "
    "are of all candidates"
)
"""Why ranks are not taken as exact ones, for messages."""


def read_ranks(path: str | os.PathLike[str], candidates: int | None = None) -> RankTable:
    """Read the ranks of held-out items, one event a line.

    The csv file (gzip where the name ends in .gz) has a header and the columns candidates, above and tied, or rank
    (from 1, best first, without ties) in place of the last two. A column user is optional; without it users are
    numbered. A column negatives is refused, as ranks among sampled negatives have it. Other columns are ignored.

    Args:
        path: the file.
        candidates: n of every event, for a file without that column.

    Raises:
        DataError: the file is missing or is not such a table; the message names the line.
    """
    return ranks_of(read_table(path, RANKS), candidates)


def ranks_of(table: CsvTable, candidates: int | None = None) -> RankTable:
    """Return the ranks that a csv table holds; columns, arguments and errors as of `read_ranks`."""
    if "negatives" in table:
        raise DataError(f"{table.name}, line 1: {OF_A_SAMPLE}")
    wanted = ["rank"] if "rank" in table and "above" not in table else ["above", "tied"]
    if "rank" in table and ("above" in table or "tied" in table):
        raise DataError(
            f"{table.name}, line 1: has both rank and above or tied; ranks are rank alone, or above and tied"
        )
    if candidates is not None and "candidates" in table:
        raise DataError(f"{table.name}, line 1: has a column candidates, so that candidates must not be given besides")
    if candidates is None:
        wanted = ["candidates", *wanted]
    table.require(wanted, "ranks are candidates, above and tied, or candidates and rank")
    numbers = {name: table.whole_numbers(name) for name in wanted}
    n = numbers.get("candidates", np.full(len(table), candidates or 0, dtype=np.int64))
    if "rank" in numbers:
        table.refuse(numbers["rank"] < 1, lambda row: f"rank {numbers['rank'][row]} is below 1")
        numbers |= {"above": numbers["rank"] - 1, "tied": np.zeros_like(numbers["rank"])}
    above, tied = numbers["above"], numbers["tied"]
    table.refuse(
        above + tied >= n,
        lambda row: f"rank {above[row] + tied[row] + 1} (ties included) is above the number of candidates, {n[row]}",
    )
    return RankTable(table.users(), n, above, tied, numbered="user" not in table)
