"""Maximal entropy with minimal distribution bias (MES): the flattest distribution of true ranks that fits the sample.

Jin, Li, Gao, Liu, Zhang: On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021, arXiv 2103.01474.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, xlogy

from sampled_metrics._arrays import Floats
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.banded import Banded
from sampled_metrics.estimators.rank_prior import PlugIn, RankPrior
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.outcomes import Outcomes

GAP = 1e-8
"""Largest duality gap of a solution."""


@dataclass(frozen=True)
class MaximumEntropy(RankPrior):
    """min over the simplex of (m + 1) Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π).

    The dual, which is smooth and unconstrained, is solved. If n or m differ between events, x is compared over all
    events together: A is averaged over the events whose n allows the rank, and m + 1 over all events.

    Attributes:
        eta: η, the weight of entropy; 0.01 in the source.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    eta: float = 0.01
    replacement: bool | None = None

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ConfigError(f"η of mes must be more than 0, not {self.eta}")

    def __str__(self) -> str:
        return "mes" if self.eta == 0.01 else f"mes-{self.eta:g}"

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> PlugIn:
        """Keep the outcomes; raise DataError if m depends on the sample, as no design then gives P(x | r)."""
        if outcomes.adaptive:
            raise DataError(f"{self} is not valid on an adaptive sample; mle is valid")
        return super().fit(outcomes, metrics)

    def solve(self, outcomes: Outcomes, counts: np.ndarray) -> Floats:
        """Return (samples, largest n) distributions of true ranks."""
        if len(outcomes.groups) == 1:
            likelihood, scale = outcomes.likelihood(replacement=self.replacement), outcomes.negatives[0] + 1.0
            return np.stack([maximum_entropy(likelihood, sample, scale, self.eta)[0] for sample in counts])
        return np.stack([self._solve_mixed(outcomes, sample) for sample in counts])

    def _solve_mixed(self, outcomes: Outcomes, counts: np.ndarray) -> Floats:
        columns = int(outcomes.negatives.max()) + 1
        likelihood = np.zeros((outcomes.most_candidates, columns))
        allowed = np.zeros(outcomes.most_candidates)
        for group in outcomes.groups:
            events = counts[group.outcomes].sum()
            likelihood[: group.candidates, : group.negatives + 1] += events * group.distribution(self.replacement)
            allowed[: group.candidates] += events
        likelihood /= allowed[:, np.newaxis]
        x_counts = np.bincount(outcomes.x, weights=counts, minlength=columns)
        scale = float(counts @ (outcomes.negatives + 1) / counts.sum())
        return maximum_entropy(likelihood, x_counts, scale, self.eta)[0]


def maximum_entropy(likelihood: Floats, counts: np.ndarray, scale: float, eta: float) -> tuple[Floats, float]:
    """Minimise scale Σ_x h_x ((Aᵀπ)_x - h_x)² - η H(π) over distributions π.

    With v_x = scale h_x the dual is to minimise η log Σ_r exp(-(Aλ)_r / η) + Σ_x λ_x² / (4 v_x) + λᵀh, and
    π ∝ exp(-Aλ/η). In μ = λ / √(2v) its Hessian is at least the identity, and L-BFGS takes about fifty steps.

    The `likelihood` A is (n, outcomes), `counts` are (outcomes,) events, `scale` is m + 1 and `eta` is η. Returns the
    (n,) distribution and the duality gap. Raises DataError if the gap does not fall below 10⁻⁸.
    """
    seen = counts > 0
    bands, frequencies = Banded.of(likelihood[:, seen]), counts[seen] / counts.sum()
    unit = np.sqrt(2 * scale * frequencies)

    def distribution(mu: Floats) -> tuple[Floats, float]:
        exponents = bands.to_ranks(unit * mu) / -eta
        log_sum = float(logsumexp(exponents))
        return np.exp(exponents - log_sum), log_sum

    def dual(mu: Floats) -> tuple[float, Floats]:
        pi, log_sum = distribution(mu)
        value = eta * log_sum + 0.5 * mu @ mu + (unit * mu) @ frequencies
        return value, mu + unit * (frequencies - bands.to_outcomes(pi))

    from scipy.optimize import minimize  # slow to import, and used only here

    options = {"ftol": 0, "gtol": 1e-8, "maxcor": 30, "maxiter": 5000}
    solved = minimize(dual, np.zeros(len(unit)), jac=True, method="L-BFGS-B", options=options)
    pi, _ = distribution(solved.x)
    off = bands.to_outcomes(pi) - frequencies
    gap = float(scale * frequencies @ off**2 + eta * xlogy(pi, pi).sum() + solved.fun)
    if not gap <= GAP:
        raise DataError(f"mes: the duality gap is {gap:.1e}, not below {GAP:.0e}; is η = {eta:g} too small?")
    return pi, gap
