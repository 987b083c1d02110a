"""Ranks of the held-out items of a split by a trained recommender."""

import numpy as np

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.ranking.rank import TIE, rank_users, users_of_batch
from sampled_metrics.ranking.split import Shape, Split
from sampled_metrics.running import Progress, no_progress, on_one_thread
from sampled_metrics_study.recommenders.models import Model

BLOCK_BYTES = 2**24
"""Bytes of the scores of a block of users, if they are float64."""


@on_one_thread
def rank_by_model(
    model: Model,
    split: Split,
    users: slice = slice(None),
    *,
    precision: str = "float64",
    threads: int = 1,
    progress: Progress = no_progress,
) -> ExactRanks:
    """Return the ranks of the held-out items among their users' candidates.

    Args:
        model: a trained recommender.
        split: the training events and the held-out items.
        users: a part of the users, as `part_of_users` returns; all by default.
        precision: float64 or float32, the precision of the scores of factor models.
        threads: number of blocks of users to count at a time; the counts do not depend on it.
        progress: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: a candidate's score is NaN or +inf.
    """
    tolerance = TIE if model.are_sums else model.tolerance
    return rank_users(
        model.scored(split.training, precision),
        split,
        users,
        batch_size=_users_of_block(split.shape),
        tolerance=(lambda user, target: tolerance * np.abs(target)) if tolerance else None,
        threads=threads,
        progress=progress,
    )


def part_of_users(shape: Shape, part: int, parts: int) -> slice:
    """Return the consecutive users of one of several parts.

    A part is empty if there are more parts than blocks.

    The last digit of a score may depend on the other users of its block, so no block of scores is
    divided.

    Args:
        shape: the size of the split.
        part: number of the part, from 1.
        parts: number of parts.
    """
    size = _users_of_block(shape)
    blocks = -(-shape.users // size)
    first_block = (part - 1) * blocks // parts
    end_block = part * blocks // parts
    return slice(first_block * size, min(end_block * size, shape.users))


def _users_of_block(shape: Shape) -> int:
    return users_of_batch(shape.items, most_bytes=BLOCK_BYTES)
