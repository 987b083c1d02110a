"""The rank table: for each held-out event, how many candidates score above the held-out item, and how many tie with it.

Everything after ranking needs nothing else. A tie is kept as a count because a rank among ties is not one number: it is
uniform on above + 1 … above + tied + 1, anew in every repetition.
"""

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import files
from sampled_metrics.errors import DataError

if TYPE_CHECKING:  # ranking does not depend on metrics, so editing one ranks nothing anew
    from sampled_metrics.metrics import Metric
from sampled_metrics.arrays import Floats, Ints

COLUMNS = ("user", "candidates", "above", "tied")


@dataclass(frozen=True)
class RankTable:
    """Where a recommender ranks the held-out item of each event.

    Attributes:
        user: (events,) whose event it is.
        candidates: (events,) int, n: the items that were ranked, the held-out item included.
        above: (events,) int, candidates scored higher than the held-out item.
        tied: (events,) int, other candidates scored exactly the same.
    """

    user: NDArray[np.generic]
    candidates: Ints
    above: Ints
    tied: Ints

    def __post_init__(self) -> None:
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

    @property
    def typical_candidates(self) -> int:
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
            last = self.above + self.tied + 1
            squares = metric.of_rank(np.arange(1, last.max(initial=0) + 1), 0) ** 2
            running = np.concatenate(([0.0], np.cumsum(squares)))
            variance = np.maximum((running[last] - running[self.above]) / (self.tied + 1) - means**2, 0.0)
        return float(np.sqrt(variance[self.tied > 0].sum()) / len(self))

    def expected_between(self, first: Ints | int, last: Ints | int) -> float:
        """Expected number of events whose rank, ties broken at random, lies in first … last (both counted)."""
        lowest, highest = self.above + 1, self.above + self.tied + 1
        inside = np.minimum(highest, last) - np.maximum(lowest, first) + 1
        return float((np.clip(inside, 0, None) / (self.tied + 1)).sum())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the columns user, candidates, above, tied as csv (gzip where the name ends in .gz)."""
        files.write_csv(path, pd.DataFrame({name: getattr(self, name) for name in COLUMNS}))


def read_ranks(path: str | os.PathLike[str]) -> RankTable:
    """Read a rank table that `RankTable.write` wrote.

    Raises:
        DataError: the file is missing or is not such a table.
    """
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read as a rank table: {' '.join(str(error).split())}") from None
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise DataError(f"{path}: lacks column {', '.join(missing)}; a rank table has {', '.join(COLUMNS)}")
    for name in COLUMNS[1:]:
        if not pd.api.types.is_integer_dtype(table[name]):
            raise DataError(f"{path}: column {name} must hold whole numbers alone")
    try:
        return RankTable(table["user"].to_numpy(), *(table[name].to_numpy(dtype=np.int64) for name in COLUMNS[1:]))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
