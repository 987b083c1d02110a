"""Popularity: all users get the items in the order of their number of training events."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import FactorModel
from sampled_metrics.recommenders.recommender import Recommender


@dataclass(frozen=True)
class Popularity(Recommender):
    """An item's score is the number of its training events; equally popular items tie."""

    def fit(self, training: csr_array, rng: np.random.Generator) -> FactorModel:
        """Count the events of each item. Nothing is random."""
        users, items = training.shape
        events = np.bincount(training.indices, minlength=items).astype(np.float64)
        return FactorModel(np.ones((users, 1)), events[:, np.newaxis])  # one factor, so products are exact

    @property
    def is_random(self) -> bool:
        """Nothing is random."""
        return False
