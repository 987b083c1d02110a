"""The interface of recommenders: training and its memory."""

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.data.split import Shape
from sampled_metrics.recommenders.models import Model


class Recommender(ABC):
    """An algorithm with its parameters. A subclass is a dataclass whose fields are defined by `parameter`."""

    @abstractmethod
    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on events.

        Args:
            training: (users, items) 1.0 where there is an event.
            rng: the source of everything random.
        """

    @property
    def is_random(self) -> bool:
        """Whether training draws random numbers. If not, another seed of the study does not train again."""
        return True

    @property
    def has_factors(self) -> bool:
        """Whether the model may have factors. If not, another `ranking.precision` does not rank again."""
        return True

    def least_memory(self, shape: Shape) -> int:
        """Return the least bytes that training needs besides the events; 0 if `ranking.memory` does not limit it."""
        return 0

    def training_memory(self, shape: Shape) -> int:
        """Return the bytes to reserve for training on a cluster, by default for 128 factors of each user and item."""
        return reserved_memory(shape, 128 * (shape.users + shape.items))


def reserved_memory(shape: Shape, numbers: int) -> int:
    """Return the bytes to reserve for Python, the events, and four copies of a model of `numbers` numbers."""
    return 700 * 2**20 + 200 * shape.events + 4 * 8 * numbers
