"""Models of random scores, which are not stored."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class RandomModel(Model):
    """Scores are independent and uniform on [0, 1), a function of key, user and item alone.

    Attributes:
        key: 0 … 2⁶⁴ - 1. Key and user select a stream of the counter-based generator Philox (Salmon et al., Parallel
            Random Numbers: As Easy as 1, 2, 3, SC 2011); an item's score is its number in that stream.
    """

    kind: ClassVar[str] = "random"
    key: int

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items; a score does not depend on the other users."""
        every, items = training.shape
        block = range(every)[users]
        scores = np.empty((len(block), items))
        for row, user in zip(scores, block, strict=True):
            key = np.array([self.key, user], dtype=np.uint64)
            np.random.Generator(np.random.Philox(key=key)).random(out=row)
        return scores
