"""What every trained recommender has: scores, a file, a check, and how ranking counts by it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics import _files
from sampled_metrics._arrays import Floats
from sampled_metrics.data.split import Shape, Split
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.ranking.memory import BLOCK_BYTES, split_memory
from sampled_metrics.ranking.scores import COPIES, ScoreCounter

Arrays = Mapping[str, NDArray[Any]]

_SINGLE = (bool, int, float, str)


@dataclass(frozen=True)
class Model(ABC):
    """A trained recommender. A kind of model that says no more is counted by its scores.

    Attributes:
        kind: name of the kind in a model's file.
    """

    kind: ClassVar[str]

    @abstractmethod
    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block of users and items, (users, items): higher is better, equal is a tie.

        The model was trained on the events, (users, items).
        """

    def arrays(self) -> Arrays:
        """Return all that is stored of the model, by name: its fields, unless a kind says otherwise."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Make a model from what `arrays` returned: arrays, and where a field is of such a type, single values."""
        stored = ((field, arrays[field.name]) for field in fields(cls))
        return cls(**{each.name: array.item() if each.type in _SINGLE else array for each, array in stored})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as npz."""
        _files.write_npz(path, kind=np.array(self.kind), **self.arrays())

    @property
    def size(self) -> int:
        """Bytes of the arrays; single numbers do not count."""
        return sum(array.nbytes for array in self.arrays().values() if array.ndim)

    def check(self, split: Split, name: str) -> None:  # noqa: B027 - not abstract: some kinds have nothing to check
        """Refuse a model that does not fit the split that it was trained on, or has numbers that are not finite.

        Raises:
            DataError: the message begins with the name, of the recommender or of the model's file.
        """

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the bytes that ranking by a model, whose arrays have `size` bytes, takes at least in all threads."""
        return split_memory(shape) + size + threads * COPIES * max(BLOCK_BYTES, 8 * shape.items)

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Return what counts the candidates above and tied with the held-out items.

        Args:
            split: training and held-out items.
            precision: float64 or float32, what the scores of factors are rounded to.
            threads: how many blocks are worked on at a time.
            spare: bytes of memory beyond `least_memory`.
        """
        return ScoreCounter(lambda users: self.scores(split.training, users, slice(None)), split)
