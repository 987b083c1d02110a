"""Implicit alternating least squares: recommender X of the paper (section 9).

The paper minimises Σ_H (ŷ - 1)² + α Σ_all ŷ² + λ ‖V‖², with ŷ a dot product of factors. `implicit`
minimises Σ c (p - s)² + reg ‖V'‖², with p = 1 and confidence c on the training pairs H, and p = 0,
c = 1 elsewhere. The two are the same problem, up to a factor, for s = (1 + α) ŷ, c = (1 + α)/α and
reg = λ (1 + α)/α: the paper's factors are implicit's divided by √(1 + α).

The paper gives neither its random start nor its number of iterations. Normal starts come close to
its numbers; the uniform positive start of `implicit` itself gives an AUC that is too high
(docs/reproduction.md). The defaults are those of X in the paper, with the iterations that fit its
numbers.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.running import on_one_thread
from sampled_metrics_study.recommenders.models import FactorModel
from sampled_metrics_study.recommenders.recommender import Recommender, factor_memory, parameter


@dataclass(frozen=True)
class IALS(Recommender):
    """Implicit alternating least squares, with exact solves in double precision."""

    factors: int = parameter("d, the length of a factor", default=16, type="integer", minimum=1)
    regularization: float = parameter(
        "λ, the weight of ‖V‖²", default=10.0, type="number", minimum=0
    )
    unobserved_weight: float = parameter(
        "α, the weight of ŷ² over all pairs", default=0.2, type="number", exclusiveMinimum=0
    )
    iterations: int = parameter(
        "number of passes over users and items", default=6, type="integer", minimum=1
    )
    initial_deviation: float = parameter(
        "standard deviation of the normal random start of each factor's elements",
        default=0.1,
        type="number",
        exclusiveMinimum=0,
    )

    def memory(self, users: int, items: int, events: int) -> int:
        """Return the bytes of the factors."""
        return factor_memory(users, items, self.factors)

    @on_one_thread
    def fit(self, training: csr_array, rng: np.random.Generator, threads: int = 1) -> FactorModel:
        """Train on (users, items) events, from a random start drawn from rng.

        Each factor is solved for on one thread, so the model does not depend on their number.
        """
        # slow to import, and needed for training only
        from implicit.als import AlternatingLeastSquares

        ratio = (1 + self.unobserved_weight) / self.unobserved_weight
        users, items = training.shape
        solver = AlternatingLeastSquares(
            factors=self.factors,
            regularization=self.regularization * ratio,
            iterations=self.iterations,
            use_cg=False,
            dtype=np.float64,
            num_threads=threads,
        )
        solver.user_factors = rng.normal(scale=self.initial_deviation, size=(users, self.factors))
        solver.item_factors = rng.normal(scale=self.initial_deviation, size=(items, self.factors))
        solver.fit(csr_matrix(training * ratio), show_progress=False)
        scale = np.sqrt(1 + self.unobserved_weight)
        return FactorModel(solver.user_factors / scale, solver.item_factors / scale)
