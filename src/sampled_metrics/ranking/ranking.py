"""Rank each held-out item among its user's candidates, in blocks of users and bounded memory."""

from typing import Protocol

import numpy as np
import pandas as pd

from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._threads import on_one_thread
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import spare_memory
from sampled_metrics.ranking.scores import users_of_block
from sampled_metrics.ranks.table import RankTable


class Model(Protocol):
    """The part of a trained recommender that ranking uses."""

    @property
    def size(self) -> int:
        """Bytes of the model's arrays."""

    def least_memory(self, size: int, shape: Shape, threads: int) -> int:
        """Return the least bytes for ranking by a model of `size` bytes, in all threads together."""

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Return the counter of the candidates of a split's users; spare is the memory beyond the least, in bytes."""


@on_one_thread
def rank_held_out(
    model: Model,
    split: Split,
    progress: Progress = no_progress,
    *,
    users: slice = slice(None),
    precision: str = "float64",
    threads: int = 1,
    memory: int | None = None,
) -> RankTable:
    """Count, for each held-out item, the candidates that score above it, and those that tie with it.

    The candidates are all items except the user's training items and other held-out items.

    Args:
        model: the trained recommender.
        split: its training events and the held-out items.
        progress: wraps the range of blocks, for a progress bar.
        users: a part of the users, which are consecutive, as of `part_of_users`; all by default. The tables of parts,
            one after another, are the table of all users.
        precision: float64 or float32, the precision of the scores of factor models.
        threads: number of blocks to count at a time; the counts do not depend on it.
        memory: limit of resident memory in megabytes, including split and model; None for no limit. The counts do not
            depend on it.

    Raises:
        ConfigError: the memory is too small; the message states the smallest that is enough.
        DataError: a candidate's score is NaN or +inf, or a sum of similarities is not finite.
    """
    least = model.least_memory(model.size, split.ranking_shape, threads)
    spare = spare_memory(least, memory, "ranking")
    first, last, _ = users.indices(split.shape.users)
    rows = slice(*np.searchsorted(split.users, (first, last)))
    found = [np.empty((2, 0), dtype=np.int64)]
    for start, some in split.parts():
        here = slice(max(rows.start - start, 0), min(rows.stop - start, len(some.held_out)))
        if here.start < here.stop:
            counter = model.counter(some, precision=precision, threads=threads, spare=spare)
            found.append(np.stack(counter.count(here, threads, progress)))
    above, tied = np.concatenate(found, axis=1)
    user = split.users[rows]
    if split.user is not None:
        # of two items of a user, the one with the smaller count scores higher, and those with the same count tie
        of_user = pd.Series(above).groupby(user)
        smallest, largest = (of_user.rank(method).to_numpy().astype(np.int64) for method in ("min", "max"))
        above, tied = above - (smallest - 1), tied - (largest - smallest)
    return RankTable(split.user_ids[user], split.candidates[rows], above, tied)


def part_of_users(shape: Shape, part: int, parts: int) -> slice:
    """Return the consecutive users of one of several parts, from 1, which is empty if there are more parts than blocks.

    The last digit of a score may depend on the other users of its block, so no block of scores is divided.
    """
    size = users_of_block(shape.items)
    blocks = -(-shape.users // size)
    return slice((part - 1) * blocks // parts * size, min(part * blocks // parts * size, shape.users))
