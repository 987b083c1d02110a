"""Models whose scores are dot products of factors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.arrays import Factors
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class FactorModel(Model):
    """Scores are dot products of factors.

    Attributes:
        user_factors: (users, d).
        item_factors: (items, d).
    """

    kind: ClassVar[str] = "factors"
    copies: ClassVar[int] = 3
    user_factors: Floats
    item_factors: Floats

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        return np.asarray(self.user_factors[users] @ self.item_factors.T)

    def scored(self, training: csr_array, precision: str) -> Factors:
        """Return the factors, from which `rank_users` counts faster than from scores."""
        return self.user_factors, self.item_factors.astype(precision, copy=False)

    def check(self, split: Split, name: str) -> None:
        """Refuse factors that are not finite, or do not have one row for each user and item of the split."""
        users, items = split.training.shape
        for factors, kind, count in ((self.user_factors, "user", users), (self.item_factors, "item", items)):
            if factors.ndim != 2 or len(factors) != count:
                raise DataError(f"{name}: has factors of shape {factors.shape} for {count} {kind}s")
            wrong = ~np.isfinite(factors).all(axis=1)
            if wrong.any():
                first = f"{kind} {int(np.argmax(wrong)) + 1} of {count}"
                raise DataError(f"{name}: the factors of {first} are not finite numbers")
        if self.user_factors.shape[1] != self.item_factors.shape[1]:
            lengths = f"{self.user_factors.shape[1]} and {self.item_factors.shape[1]}"
            raise DataError(f"{name}: the factors of users and items differ in length, {lengths}")
