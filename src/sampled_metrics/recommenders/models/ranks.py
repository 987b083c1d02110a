"""Ranks that a recommender has counted itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.counter import Counter
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class RankModel(Model):
    """Counts of candidates in place of scores.

    Attributes:
        above: (users,) number of candidates that score higher than the held-out item.
        tied: (users,) number of other candidates that score the same.
    """

    kind: ClassVar[str] = "ranks"
    above: Ints
    tied: Ints

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Raise DataError: there are none."""
        raise DataError("a recommender that writes ranks has no scores")

    def counter(self, split: Split, *, precision: str, threads: int, spare: float) -> Counter:
        """Return what was counted."""
        return _Counted(self)


class _Counted(Counter):
    def __init__(self, model: RankModel) -> None:
        self._model, self.blocks = model, [np.arange(len(model.above))]

    def count_block(self, users: Ints) -> tuple[Ints, Ints]:
        return self._model.above[users], self._model.tied[users]
