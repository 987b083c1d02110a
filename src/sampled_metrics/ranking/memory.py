"""The memory budget of a job: what it may hold resident, and what the least is that would do.

What a job needs is worked out beforehand, from the size of the data, so that a budget that is too small is refused
before anything is read, and the same on every machine.
"""

import math
from typing import NamedTuple

from sampled_metrics.errors import ConfigError

MEGABYTE = 2**20

BASE = 200 * MEGABYTE
"""Python, its libraries, what snakemake puts before a script, and what an allocator keeps back."""


class Shape(NamedTuple):
    """The size of a split: how many users, items and training events it has."""

    users: int
    items: int
    events: int

    @property
    def held(self) -> int:
        """Bytes of a job that has read the split: events as a sparse matrix in double precision, and ids."""
        return BASE + 12 * self.events + 64 * self.users + 32 * self.items


def require(least: int, memory: int | None, what: str) -> None:
    """Refuse a budget that is too small.

    Args:
        least: bytes that are needed.
        memory: the budget in megabytes of 2²⁰ bytes; None for any amount.
        what: what they are needed for.

    Raises:
        ConfigError: it does not suffice; the message says what would.
    """
    if memory is not None and least > memory * MEGABYTE:
        enough = math.ceil(least / MEGABYTE)
        raise ConfigError(
            f"ranking.memory: {what} takes {enough} MB at least, and may take {memory}; give {enough} or more"
        )


def left(least: int, memory: int | None) -> float:
    """Return the bytes that a budget, in megabytes, leaves beyond the least; infinitely many without a budget."""
    return math.inf if memory is None else memory * MEGABYTE - least
