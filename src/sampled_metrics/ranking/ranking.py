"""Rank each held-out item among its user's candidates, in blocks of users and bounded memory."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import pandas as pd

from sampled_metrics._arrays import Ints
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import spare_memory
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


def rank_held_out(
    model: Model,
    split: Split,
    progress: Progress = no_progress,
    *,
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
        precision: float64 or float32, the precision of the scores of factor models.
        threads: number of blocks to count at a time; the counts do not depend on it.
        memory: limit of resident memory in megabytes, including split and model; None for no limit. The counts do not
            depend on it.

    Raises:
        ConfigError: the memory is too small; the message states the smallest that is enough.
        DataError: a candidate's score is not a finite number.
    """
    return gather(split, [rank_part(model, split, progress, precision=precision, threads=threads, memory=memory)])


def rank_part(
    model: Model,
    split: Split,
    progress: Progress = no_progress,
    *,
    part: int = 1,
    parts: int = 1,
    precision: str = "float64",
    threads: int = 1,
    memory: int | None = None,
) -> tuple[Ints, Ints, Ints]:
    """Count for one of several parts of the users, from 1; other arguments and errors as in `rank_held_out`.

    Returns:
        Indices, above and tied, (rows of the part,) each. The user's other held-out items are counted, too.
    """
    least = model.least_memory(model.size, split.ranking_shape, threads)
    spare = spare_memory(least, memory, "ranking")
    found = []
    for first, some in split.parts():
        counter = model.counter(some, precision=precision, threads=threads, spare=spare)
        count = len(counter.blocks)
        blocks = counter.blocks[(part - 1) * count // parts : part * count // parts]
        rows = first + np.concatenate([np.empty(0, dtype=np.int64), *blocks])
        found.append((rows, *counter.count(blocks, threads, progress)))
    rows, above, tied = (np.concatenate(each) for each in zip(*found, strict=True))
    return rows, above, tied


def gather(split: Split, parts: Iterable[tuple[Ints, Ints, Ints]]) -> RankTable:
    """Join the parts of a rank table, in the order of the split's rows.

    Raises:
        DataError: a part is missing or repeated.
    """
    rows, above, tied = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    if not np.array_equal(rows[order], np.arange(len(split.held_out))):
        raise DataError(f"the parts of the ranks have {len(rows)} users, not each of the {len(split.held_out)} once")
    above, tied = above[order], tied[order]
    if split.user is not None:
        # of two items of a user, the one with the smaller count scores higher, and those with the same count tie
        of_user = pd.Series(above).groupby(split.user)
        first, last = (of_user.rank(method).to_numpy().astype(np.int64) for method in ("min", "max"))
        above, tied = above - (first - 1), tied - (last - first)
    return RankTable(split.user_ids[split.users], split.candidates, above, tied)
