"""EASE, a linear model of all items with a zero diagonal (Steck, Embarrassingly Shallow Autoencoders, WWW 2019).

With X the (users, items) events, B minimises ‖X - XB‖² + λ ‖B‖² subject to diag(B) = 0, so that no item predicts
itself. In closed form B_ij = -P_ij / P_jj off the diagonal, with P = (XᵀX + λI)⁻¹ (section 3 there).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import SimilarityModel
from sampled_metrics.recommenders.parameters import parameter


@dataclass(frozen=True)
class EASE:
    """Scores are XB: a user's row of X times the weights between items."""

    regularization: float = parameter("λ, the price of ‖B‖²", type="number", exclusiveMinimum=0)

    def fit(self, training: csr_array, rng: np.random.Generator) -> SimilarityModel:
        """Solve for B, (items, items), in double precision. Nothing is random."""
        from threadpoolctl import threadpool_limits  # wanted for training alone

        gram = (training.T @ training).toarray()
        np.fill_diagonal(gram, gram.diagonal() + self.regularization)
        with threadpool_limits(1, "blas"):  # sums have one order
            weights = np.linalg.inv(gram)
        weights /= -weights.diagonal()
        np.fill_diagonal(weights, 0.0)
        return SimilarityModel(weights)
