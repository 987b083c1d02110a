"""What exact ranks and ranks among sampled negatives have in common."""

from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics._validation import Ints


class Ranked:
    """Ranks of held-out items, one row for each event.

    Attributes:
        user: (events,) the user of each event; None if users are not known.
        candidates: (events,) int, n: the number of ranked items, including the held-out item.
        notes: sentences on how the ranks were read.
        cautions: sentences on what would make all results of the ranks wrong.
        source: name of the file or table that they are from.
    """

    _kind: ClassVar[str]

    user: NDArray[np.generic] | None
    candidates: Ints
    notes: tuple[str, ...]
    cautions: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        users = len(np.unique(self.user_numbers))
        said = f"{self._kind} of {users:,} user{'s' * (users != 1)}"
        if users < len(self):
            said += f" in {len(self):,} rows"
        return f"{said}, {self._among}" if len(self) else said

    @property
    def _among(self) -> str:
        """What the held-out items are ranked among, in words."""
        raise NotImplementedError

    @cached_property
    def user_numbers(self) -> Ints:
        """The (events,) numbers of the users from 0; every event is a user of its own if users are not known."""
        if self.user is None:
            return np.arange(len(self))
        return np.asarray(pd.factorize(self.user, sort=True)[0])

    @property
    def description(self) -> str:
        """Return how many users, candidates and negatives there are, such as "60 users, n = 100, m = 20"."""
        parts = [f"{len(np.unique(self.user_numbers)):,} users"]
        for name, values in self._numbers.items():
            mean = " on average" if np.ptp(values) else ""
            parts.append(f"{name} = {np.mean(values):,.0f}{mean}")
        return ", ".join(parts)

    @property
    def _numbers(self) -> dict[str, Ints]:
        """The numbers that `description` names."""
        return {"n": self.candidates}


def span(numbers: Ints) -> str:
    """Return a number, or the smallest and the largest of several, in words."""
    least, most = int(numbers.min()), int(numbers.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
