"""EASE, a linear model of all items with a zero diagonal.

The source is Steck, Embarrassingly Shallow Autoencoders, WWW 2019.

With X the (users, items) events, B minimises ‖X - XB‖² + λ ‖B‖² subject to diag(B) = 0, so that no
item predicts itself. In closed form B_ij = -P_ij / P_jj off the diagonal, with P = (XᵀX + λI)⁻¹
(section 3 there).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.checks import Floats
from sampled_metrics.errors import ConfigError
from sampled_metrics.running import on_one_thread
from sampled_metrics_study.recommenders.models import SimilarityModel
from sampled_metrics_study.recommenders.recommender import Recommender, dense_memory, parameter


@dataclass(frozen=True)
class EASE(Recommender):
    """Scores are XB: a user's row of X times the weights between items."""

    is_random = has_factors = False
    regularization: float = parameter(
        "λ, the weight of ‖B‖²", default=500.0, type="number", exclusiveMinimum=0
    )

    def memory(self, users: int, items: int, events: int) -> int:
        """Return the bytes of the matrix, of its inverse and of a copy."""
        return dense_memory(items)

    @on_one_thread
    def fit(self, training: csr_array, rng: np.random.Generator) -> SimilarityModel:
        """Solve for B, (items, items), in double precision. Nothing is random.

        Raises:
            ConfigError: λ is too small for any digit of B to be certain.
        """
        gram = (training.T @ training).toarray()
        np.fill_diagonal(gram, gram.diagonal() + self.regularization)
        try:
            weights = np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            weights = np.full_like(gram, np.nan)
        self._require_digits(gram, weights)
        weights /= -weights.diagonal()
        np.fill_diagonal(weights, 0.0)
        return SimilarityModel(weights)

    def _require_digits(self, gram: Floats, inverse: Floats) -> None:
        """Refuse an inverse with a relative error of 1 or more."""
        # the relative error of P is n ε times the condition number of XᵀX + λI, scaled to a unit
        # diagonal so that the items' numbers of events have no effect
        scale = np.sqrt(gram.diagonal())
        with np.errstate(all="ignore"):
            norm = (np.abs(gram) @ (1 / scale) / scale).max()
            norm_of_inverse = (np.abs(inverse) @ scale * scale).max()
            error = norm * norm_of_inverse * len(gram) * np.finfo(np.float64).eps
        if not (error < 1 and (inverse.diagonal() > 0).all()):
            raise ConfigError(
                f"EASE: regularization {self.regularization:g} is too small: XᵀX + λI of these "
                "events cannot be inverted in double precision; take a larger one, such as 1 or "
                "more"
            )
