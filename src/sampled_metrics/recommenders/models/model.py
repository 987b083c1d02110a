"""The base class of trained recommenders: scores, a file, checks, and the counter that ranking uses."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, get_type_hints

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
    """A trained recommender. Ranking counts by its scores, unless a subclass returns another counter.

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
        """Return the arrays that are stored, by name. The default is the fields of the class."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return a model made from the result of `arrays`; fields of type bool, int, float or str are single values."""
        types, stored = get_type_hints(cls), {each.name: arrays[each.name] for each in fields(cls)}
        return cls(**{name: array.item() if types[name] in _SINGLE else array for name, array in stored.items()})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as npz."""
        _files.write_npz(path, kind=np.array(self.kind), **self.arrays())

    @property
    def size(self) -> int:
        """Bytes of the arrays; single numbers do not count."""
        return sum(array.nbytes for array in self.arrays().values() if array.ndim)

    def check(self, split: Split, name: str) -> None:  # noqa: B027 - not abstract: some kinds have nothing to check
        """Raise an error if the model does not fit the split that it was trained on, or a number is not finite.

        Raises:
            DataError: the message begins with the name, of the recommender or of the model's file.
        """

    @classmethod
    def least_memory(cls, size: int, shape: Shape, threads: int) -> int:
        """Return the least memory, in bytes, for ranking by a model whose arrays have `size` bytes."""
        return split_memory(shape) + size + threads * COPIES * max(BLOCK_BYTES, 8 * shape.items)

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Return the counter of the candidates above and tied with the held-out items.

        Args:
            split: training and held-out items.
            precision: float64 or float32; scores of factors are rounded to it.
            threads: number of blocks that are computed at the same time.
            spare: bytes of memory beyond `least_memory`.
        """
        return ScoreCounter(lambda users: self.scores(split.training, users, slice(None)), split.by_row, split.users)
