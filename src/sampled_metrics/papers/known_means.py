"""Bounds of true metrics from a few means over users, such as the hit rate and the NDCG of a paper.

If x of a user's m sampled negatives rank above the held-out item, a sampled metric is the mean over
users of a function g(x). The means V of F such functions are known, up to rounding by h. Let p be
the distribution of x. For every λ,

    log E_p[exp(λ·g)] >= λ·V - |λ|·h - t / U                                      (1)

with U users. The largest violation over λ is the smallest Kullback-Leibler divergence from p of a
sample that has these means, so it is the likelihood ratio of p, and (1) holds for all λ together
with probability 1 - α if t is half the quantile of χ² with F degrees of freedom (Wilks). The
variance of g need not be known.

A single mean has this t, with the correction for few users of
`sampled_metrics.core.inference.means`. Several means have the t of one more than the largest number
of means, whatever their number is, and their bounds are cut to those of each mean alone. So a
further mean moves no bound outward. The further degree of freedom is for few users: six Poisson
counts, each around its mean, exceed this t in less than 5 % of samples.

With p = Bν for the proportions ν of a mixture (`sampled_metrics.core.estimators.shapes`), (1) is
linear in ν for each λ. So the bounds of a true metric are those of a linear programme with a row
for each λ. Rows are added where the solution violates (1) most (J. E. Kelley, The cutting-plane
method for solving convex programs, 1960), until it is nearly within. Rows that are missing make the
bounds wider, never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.special import chdtrc, chdtri, rel_entr

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.estimators.shapes import Mixture
from sampled_metrics.core.inference.means import SMALLEST_P_VALUE, p_value_of_deviance, threshold
from sampled_metrics.papers.dual_simplex import smallest

MOST_VALUES = 6
"""Largest number of values of a recommender that are taken together."""

_STEPS = 60  # most rows that are added for a bound
_STALLED = 5  # steps in which a bound has to move, or no more rows are added
_SLOW = 1e-3  # the part of itself by which it has to move
_CLOSE = 0.03  # relative violation of the threshold at which no more rows are added
_FIRST = (0.3, 1.0, 3.0)  # sizes of the first λ, relative to that of the best row for a mean alone
_STEEP = 300.0  # largest |λ| (max g - min g) for each function


@dataclass(frozen=True)
class KnownMeans:
    """Means over users of functions of the number of negatives above the held-out item.

    Attributes:
        functions: (F, m + 1) values of the functions at x = 0 … m, from 0 to 1. No two are the
            same.
        low: (F,) smallest means that round to the known ones.
        high: (F,) largest such means.
        users: U, the number of users.
        written: the values as they are written, such as 0.62, by the labels of the F metrics; it
            may be empty.
    """

    functions: Floats
    low: Floats
    high: Floats
    users: int
    written: Mapping[str, str] = field(default_factory=dict)

    def subset(self, rows: Sequence[int]) -> KnownMeans:
        """Return some of the means, by index."""
        chosen = list(rows)
        labels_and_values = list(self.written.items())
        written = dict(labels_and_values[row] for row in chosen) if labels_and_values else {}
        return KnownMeans(
            self.functions[chosen], self.low[chosen], self.high[chosen], self.users, written
        )

    def irreducible(self, contradict: Callable[[KnownMeans], bool]) -> KnownMeans:
        """Return means that contradict, none of which can be left out, given that all contradict.

        Each mean is left out in turn, the last one first, if the others contradict without it.
        """
        kept = list(range(len(self.functions)))
        for row in reversed(range(len(self.functions))):
            others = [index for index in kept if index != row]
            if others and contradict(self.subset(others)):
                kept = others
        return self.subset(kept)

    def limit(self, alpha: float) -> float:
        """Return t for an error rate α; it is the same for any several means."""
        if len(self.functions) == 1:
            return threshold(alpha, self._deciding)
        return float(chdtri(MOST_VALUES + 1, alpha) / 2)

    def p_value(self, deviance: float) -> float:
        """Return the error rate whose t is a deviance."""
        if len(self.functions) == 1:
            return p_value_of_deviance(deviance, self._deciding)
        return max(float(chdtrc(MOST_VALUES + 1, 2 * deviance)), SMALLEST_P_VALUE)

    @property
    def _deciding(self) -> float:
        """Return the number of users who decide a single mean, and one more, for `means.threshold`.

        The users are counted as if all others had the smallest value of the function, or all the
        largest one. The smallest reciprocal rank is 1 / (m + 1), so of a mean near it, few users
        decide.
        """
        smallest = self.functions.min(axis=1)
        largest = self.functions.max(axis=1)
        shares = np.minimum(self.low - smallest, largest - self.high) / (largest - smallest)
        return 1.0 + self.users * max(0.0, float(shares.min()))

    def ends_of_mean(self, row: int, alpha: float) -> tuple[float, float]:
        """Return the interval of the mean of a function over users like these, at an error rate α.

        For a given mean, the distribution on both ends of the function has the least divergence
        from a sample, so the interval is that of a share.
        """
        alone = self.subset([row])
        deviance = alone.limit(alpha) / self.users
        smallest = float(alone.functions.min())
        spread = float(np.ptp(alone.functions))
        low = _end_of_share((float(alone.low[0]) - smallest) / spread, deviance, 0.0)
        high = _end_of_share((float(alone.high[0]) - smallest) / spread, deviance, 1.0)
        return smallest + spread * low, smallest + spread * high

    def are_possible(self) -> bool:
        """Return whether any sample has all of these means."""
        from scipy.optimize import linprog  # slow to import

        rows = np.vstack((self.functions, -self.functions))
        ends = np.concatenate((self.high, -self.low))
        objective = np.zeros(rows.shape[1])
        total = np.ones((1, rows.shape[1]))
        solution = linprog(objective, rows, ends + 1e-9, total, [1.0], method="highs")
        return bool(solution.status == 0)

    def steepest(self, probabilities: Floats) -> tuple[Floats, float]:
        """Return the (F,) λ that violates (1) most, and U times the divergence.

        Both are for (m + 1,) probabilities of x.
        """
        from scipy.optimize import minimize

        count = len(self.functions)
        middle = (self.low + self.high) / 2
        half = (self.high - self.low) / 2
        centred = self.functions - middle[:, np.newaxis]
        spread = np.sqrt(np.maximum(centred**2 @ probabilities, 1 / self.users**2))
        scale = 1 / (spread * np.sqrt(self.users))
        logs = np.log(np.maximum(probabilities, 1e-300))

        def loss(coefficients: Floats) -> tuple[float, Floats]:
            """Return the loss and its slope at the positive and the negative parts of λ."""
            sides = coefficients.reshape(2, count)
            exponent = logs + ((sides[0] - sides[1]) * scale) @ centred
            peak = float(exponent.max())
            weights = np.exp(exponent - peak)
            total = peak + math.log(weights.sum())  # scipy's logsumexp takes five times as long
            mean = centred @ (weights / weights.sum()) * scale
            slope = np.concatenate((mean, -mean)) + np.tile(half * scale, 2)
            rounding = float(sides.sum(axis=0) @ (half * scale))
            return self.users * (total + rounding), self.users * slope

        solution = minimize(
            loss,
            np.zeros(2 * count),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, end) for end in np.tile(_STEEP / scale, 2)],
        )
        sides = solution.x.reshape(2, count)
        return (sides[0] - sides[1]) * scale, -float(solution.fun)


def _end_of_share(share: float, deviance: float, end: float) -> float:
    """Return the share towards an end whose divergence from the observed one is the deviance."""
    from scipy.optimize import brentq  # slow to import

    share = min(max(share, 0.0), 1.0)
    if share == end:
        return end

    def excess(p: float) -> float:
        return float(rel_entr(share, p) + rel_entr(1 - share, 1 - p)) - deviance

    return float(brentq(excess, *sorted((share, abs(end - 1e-15)))))


@dataclass(frozen=True)
class Row:
    """A row of the linear programme, which is (1) for a λ times a scale.

    Attributes:
        coefficients: (members,) means of (exp(λ·(g - V)) - 1) times the scale.
        loss: |λ|·h.
        scale: the scale, at which the largest part of the row is about 1.
    """

    coefficients: Floats
    loss: float
    scale: float


@dataclass
class KnownRegion:
    """The proportions of a mixture that agree with known means.

    Attributes:
        known: the means.
        mixture: what the members show; each x = 0 … m is a cell.
        rows: the rows of the linear programme, which are added as they are needed.
        bases: the last basis of the programme of each objective.
    """

    known: KnownMeans
    mixture: Mixture
    rows: list[Row] = field(default_factory=list)
    bases: dict[bytes, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        centred = self.known.functions - ((self.known.low + self.known.high) / 2)[:, np.newaxis]
        spread = np.sqrt((centred**2).mean(axis=1) * self.known.users)
        for unit, deviation in zip(np.eye(len(spread)), spread, strict=True):
            for side, size in product((-1, 1), _FIRST):
                self._add(side * size / deviation * unit)

    def _add(self, direction: Floats) -> None:
        known = self.known
        middle = (known.low + known.high) / 2
        half = (known.high - known.low) / 2
        exponents = direction @ (known.functions - middle[:, np.newaxis])
        scale = np.exp(-max(exponents.max(), 0.0)) / min(np.abs(exponents).max(), 1.0)
        coefficients = self.mixture.probabilities @ (np.expm1(exponents) * scale)
        self.rows.append(Row(coefficients, float(np.abs(direction) @ half), float(scale)))

    def contradicts(self, alpha: float) -> bool:
        """Return whether no proportions agree with the means, at an error rate α."""
        return self.deviance() > self.known.limit(alpha)

    def deviance(self) -> float:
        """Return the smallest t that some proportions agree with."""
        objective = np.append(np.zeros(len(self.mixture.probabilities)), 1.0)
        for _ in range(_STEPS):
            solution = self._solved(objective, None)
            share = min(solution[-1] / self.known.users, 1 - 1e-12)  # 1 - exp(-t / U)
            smallest = float(-self.known.users * np.log1p(-share))
            direction, violation = self.known.steepest(self._shown(solution[:-1]))
            if violation <= smallest + _CLOSE:
                break
            self._add(direction)
        return smallest

    def bounds(self, alphas: Sequence[float]) -> Floats:
        """Return the (levels, 2, metrics) smallest and largest metrics at each error rate.

        The bounds are those that all means have in common with each mean alone. A mean alone that
        contradicts the mixture is left out. Some proportions must agree with all means together.
        """
        count = len(self.known.functions)
        means = [self.known.subset([row]) for row in range(count)] if count > 1 else []
        regions = [KnownRegion(mean, self.mixture) for mean in means]
        deviances = [region.deviance() for region in regions]
        values = self.mixture.values.T
        ends_by_level = []
        for alpha in alphas:
            limit = self.known.limit(alpha)
            possible = [
                region
                for region, deviance in zip(regions, deviances, strict=True)
                if deviance <= region.known.limit(alpha)
            ]
            low = [-self._common_end(-value, limit, possible, alpha) for value in values]
            high = [self._common_end(value, limit, possible, alpha) for value in values]
            ends_by_level.append(np.sort([low, high], axis=0))
        return np.array(ends_by_level)

    def _common_end(
        self, value: Floats, limit: float, regions: Sequence[KnownRegion], alpha: float
    ) -> float:
        """Return the largest mean of (members,) values that this and other regions all allow.

        A region of a mean alone is asked only if the proportions of this end are outside it.
        """
        proportions = self._largest(value, limit)
        end = float(value @ proportions)
        probabilities = self._shown(proportions)
        for region in regions:
            limit_alone = region.known.limit(alpha)
            if region.known.steepest(probabilities)[1] > limit_alone:
                end = min(end, float(value @ region._largest(value, limit_alone)))
        return end

    def _largest(self, value: Floats, limit: float) -> Floats:
        """Return the (members,) proportions with the largest mean of (members,) values."""
        ends: list[float] = []
        for _ in range(_STEPS):
            proportions = self._solved(-value, limit)
            ends.append(float(value @ proportions))
            direction, violation = self.known.steepest(self._shown(proportions))
            earlier_end = ends[-_STALLED - 1] if len(ends) > _STALLED else np.inf
            is_slow = earlier_end - ends[-1] < _SLOW * abs(ends[-1])
            if violation <= limit * (1 + _CLOSE) or is_slow:
                break
            self._add(direction)
        return proportions

    def _shown(self, proportions: Floats) -> Floats:
        """Return the (m + 1,) probabilities of x."""
        shown = np.maximum(proportions, 0.0) @ self.mixture.probabilities
        return np.asarray(shown / shown.sum())

    def _solved(self, objective: Floats, limit: float | None) -> Floats:
        """Return the proportions with the smallest mean objective.

        Without a limit, the last variable is U (1 - exp(-t / U)).
        """
        from scipy.optimize import linprog

        rows = np.array([row.coefficients for row in self.rows])
        losses = np.array([row.loss for row in self.rows])
        scale = np.array([row.scale for row in self.rows])
        # Σ_x p_x (exp(λ·(g - V)) - 1) >= exp(-|λ|·h - t / U) - 1
        if limit is None:
            rows = np.column_stack((rows, np.exp(-losses) * scale / self.known.users))
            ends = np.expm1(-losses) * scale
            sums = np.append(np.ones(rows.shape[1] - 1), 0.0)
        else:
            ends = np.expm1(-losses - limit / self.known.users) * scale
            sums = np.ones(rows.shape[1])
        if len(self.known.functions) == 1:  # the programmes of several means are less stable
            key = objective.tobytes()
            solved = smallest(objective, rows, ends, sums, self.bases.get(key))
            if solved is not None:
                self.bases[key] = solved[1]
                return solved[0]
        solution = linprog(objective, -rows, -ends, sums[np.newaxis], [1.0], method="highs")
        if solution.x is None:
            raise ArithmeticError(
                f"the linear programme of known means has no solution: {solution.message}"
            )
        return np.asarray(solution.x)
