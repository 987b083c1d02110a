"""Random scores, for calibration: the expected AUC is 1/2, the expected Recall@k is k/n, with n candidates."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import RandomModel
from sampled_metrics.recommenders.recommender import Recommender


@dataclass(frozen=True)
class RandomScores(Recommender):
    """Scores are independent and uniform on [0, 1)."""

    def fit(self, training: csr_array, rng: np.random.Generator) -> RandomModel:
        """Draw the key of the scores from rng; the events do not matter."""
        return RandomModel(int(rng.integers(2**64, dtype=np.uint64)))

    @property
    def has_factors(self) -> bool:
        """The model has a key."""
        return False
