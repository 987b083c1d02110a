"""The base class of trained recommenders: scores, a file, checks, and ranking by the scores."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics import _files
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking.arrays import Factors, ScoreFunction
from sampled_metrics.ranking.loop import rank_users, users_of_batch
from sampled_metrics.ranks.exact import ExactRanks

Arrays = Mapping[str, NDArray[Any]]

BLOCK_BYTES = 2**24
"""Bytes of the scores of a block of users, if they are float64."""

_SINGLE = (bool, int, float, str)


@dataclass(frozen=True)
class Model(ABC):
    """A trained recommender.

    Attributes:
        kind: name of the kind in a model's file.
        tolerance: scores tie if they differ by no more than this fraction of the held-out item's; 0 by default.
        copies: number of copies of the model's arrays in memory while it ranks.
    """

    kind: ClassVar[str]
    copies: ClassVar[int] = 1
    tolerance = 0.0

    @abstractmethod
    def scores(self, users: slice, training: csr_array) -> NDArray[Any]:
        """Return the scores of some users and all items, (some users, items): higher is better, equal is a tie.

        Args:
            users: the users.
            training: (users, items) events of all users, on which the model was trained.
        """

    @on_one_thread
    def rank(
        self,
        split: Split,
        users: slice = slice(None),
        *,
        precision: str = "float64",
        threads: int = 1,
        progress: Progress = no_progress,
    ) -> ExactRanks:
        """Return the ranks of the held-out items among their users' candidates.

        Args:
            split: the training events and the held-out items.
            users: a part of the users, as `part_of_users` returns; all by default.
            precision: float64 or float32, the precision of the scores of factor models.
            threads: number of blocks of users to count at a time; the counts do not depend on it.
            progress: wraps the range of blocks, for a progress bar.

        Raises:
            DataError: a candidate's score is NaN or +inf.
        """
        return rank_users(
            self.scored(split.training, precision),
            split,
            users,
            batch_size=_users_of_block(split.shape),
            tolerance=(lambda user, target: self.tolerance * np.abs(target)) if self.tolerance else None,
            threads=threads,
            progress=progress,
        )

    def scored(self, training: csr_array, precision: str) -> ScoreFunction | Factors:
        """Return the scores in a form that `rank_users` takes; parameters as in `rank`."""
        return lambda users: self.scores(users, training)

    def arrays(self) -> Arrays:
        """Return the arrays that are stored, by name. The default is the fields of the class."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return a model made from the result of `arrays`; fields of type bool, int, float or str are single values."""
        types, names = get_type_hints(cls), [definition.name for definition in fields(cls)]
        return cls(**{name: arrays[name].item() if types[name] in _SINGLE else arrays[name] for name in names})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as npz."""
        _files.write_npz(path, kind=np.array(self.kind), **self.arrays())

    def check(self, split: Split, name: str) -> None:  # noqa: B027 - not abstract: some kinds have nothing to check
        """Raise an error if the model does not fit the split that it was trained on, or a number is not finite.

        Raises:
            DataError: the message begins with the name, of the recommender or of the model's file.
        """


def part_of_users(shape: Shape, part: int, parts: int) -> slice:
    """Return the consecutive users of one of several parts, which is empty if there are more parts than blocks.

    The last digit of a score may depend on the other users of its block, so no block of scores is divided.

    Args:
        shape: the size of the split.
        part: number of the part, from 1.
        parts: number of parts.
    """
    size = _users_of_block(shape)
    blocks = -(-shape.users // size)
    return slice((part - 1) * blocks // parts * size, min(part * blocks // parts * size, shape.users))


def _users_of_block(shape: Shape) -> int:
    return users_of_batch(shape.items, most_bytes=BLOCK_BYTES)
