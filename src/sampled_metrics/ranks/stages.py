"""Unbiased values of a metric for rows of which a known share was completed.

The candidates of a user are scored in some order, up to boundaries D_0 = 0 < D_1 < … < D_B. A user is beaten once k
candidates score higher than the held-out item: the metric is 0 then, and nothing more is scored. From D_b on, a user
who is not beaten goes on only if the user's number v is below P_b. The numbers are uniform, and known before any score.

Let M_b(j) be a prediction of the metric f from the number j of candidates above at D_b. It is 0 for users who are
beaten, and M_{B+1} = f. Then

    φ = M_0 + Σ_b 1[not beaten at D_b and v < P_b] / P_b (M_{b+1} - M_b).

The mean of φ is that of f, whatever the predictions are, if they do not depend on the user. They are those of the other
folds of the users: means of the known f, weighted by the inverse of the share that went as far.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampled_metrics._validation import Floats, Ints

FOLDS = 5
"""Number of folds of the users, whose predictions are those of the others."""

_EXPONENT = 0.75  # of the share of users who go on


def boundaries(candidates: int) -> Ints:
    """Return 0 and the boundaries 10, 30, 100, 300, … below half of the largest number of candidates."""
    steps = [digit * 10**power for power in range(1, 12) for digit in (1, 3)]
    return np.array([0, *(step for step in steps if step < candidates / 2)])


def shares(depth: float | None, boundaries: Ints) -> Floats:
    """Return the (boundaries,) shares P_b = min(1, (depth / D_b)^(3/4)) of users who go on from a boundary.

    Args:
        depth: about how many candidates of each user are scored; None is all that are needed.
        boundaries: (boundaries,) ascending numbers of candidates, the first of which is 0.
    """
    if depth is None:
        return np.ones(len(boundaries))
    return np.minimum(1.0, (depth / np.maximum(boundaries, 1)) ** _EXPONENT)


def last_boundary(boundaries: Ints, candidates: Ints) -> Ints:
    """Return the (rows,) index of the last boundary below half of the (rows,) candidates, or 0."""
    return np.maximum(np.searchsorted(boundaries, candidates / 2, side="left") - 1, 0)


@dataclass(frozen=True)
class Stages:
    """How far rows went.

    Attributes:
        boundaries: (boundaries,) ascending numbers of candidates, 0 first.
        share: (boundaries,) shares of the rows that go on from each.
        above_at: (rows, boundaries) numbers of candidates above, up to k, among the first ones; -1 if not known.
        last: (rows,) the last boundary of each row.
        uniform: (rows,) the numbers v.
        k: number of candidates above with which a row is beaten.
    """

    boundaries: Ints
    share: Floats
    above_at: Ints
    last: Ints
    uniform: Floats
    k: int

    def phi(
        self, f: Floats, is_known: NDArray[np.bool_], fold: Ints, largest: float
    ) -> tuple[Floats, tuple[float, float]]:
        """Return the (rows,) φ, and the smallest and the largest value that they may have.

        Args:
            f: (rows,) values of the metric, where they are known.
            is_known: (rows,) where they are.
            fold: (rows,) the folds.
            largest: the largest value of the metric.
        """
        entered = self._entered
        weights = is_known / self.share[np.maximum(entered.sum(axis=1) - 1, 0)]
        phi, bounds = np.empty(len(f)), []
        for one in np.unique(fold):
            own = fold == one
            predictions = self._predictions(f, weights * ~own)
            phi[own] = self._phi_of(np.flatnonzero(own), predictions, f, entered)
            bounds.append(_bounds(predictions, self.share, largest))
        return phi, (min(low for low, _ in bounds), max(high for _, high in bounds))

    @property
    def _entered(self) -> NDArray[np.bool_]:
        """Return whether a row goes on from each boundary, (rows, boundaries)."""
        reached = (self.above_at >= 0) & (self.above_at < self.k)
        return reached & (self.uniform[:, np.newaxis] < self.share)

    def _predictions(self, f: Floats, weights: Floats) -> Floats:
        """Return the (boundaries, k + 1) predictions M_b(j), 0 at j = k, from rows with weights."""
        predictions = np.zeros((len(self.boundaries), self.k + 1))
        for index in range(len(self.boundaries)):
            rows = np.flatnonzero((self.above_at[:, index] >= 0) & (self.above_at[:, index] < self.k) & (weights > 0))
            if not len(rows):
                continue
            above, weight = self.above_at[rows, index], weights[rows]
            total = np.bincount(above, weight, self.k)
            sums = np.bincount(above, weight * f[rows], self.k)
            predictions[index, : self.k] = np.where(
                total > 0, sums / np.where(total > 0, total, 1.0), sums.sum() / total.sum()
            )
        return predictions

    def _phi_of(self, rows: Ints, predictions: Floats, f: Floats, entered: NDArray[np.bool_]) -> Floats:
        """Return the (rows,) φ of some rows."""
        last, phi = self.last[rows], np.full(len(rows), predictions[0, 0])
        for index in range(len(self.boundaries)):
            goes_on = entered[rows, index]
            is_last = index == last
            before = predictions[index, np.maximum(self.above_at[rows, index], 0)]
            after = f[rows].copy()
            if index + 1 < len(self.boundaries):
                at_next = np.clip(self.above_at[rows, index + 1], 0, self.k)
                after = np.where(is_last, after, predictions[index + 1, at_next])
            phi += np.where(goes_on, (after - before) / self.share[index], 0.0)
        return phi


def _bounds(predictions: Floats, share: Floats, largest: float) -> tuple[float, float]:
    """Return the smallest and the largest φ of a row, from (boundaries, k + 1) predictions and (boundaries,) shares.

    φ is (1 - 1 / P_0) M_0 + Σ_b (1 / P_{b-1} - 1 / P_b) M_b + M / P of the last stage, where M is the last prediction,
    or f. The coefficients of the sum are not positive.
    """
    low = np.minimum(predictions[:, :-1].min(axis=1), 0.0)
    high = predictions[:, :-1].max(axis=1)
    falls = np.append(0.0, 1 / share[:-1] - 1 / share[1:])  # P_0 is 1
    least, most = np.cumsum(falls * high), np.cumsum(falls * low)
    # a row may stop at boundary b with M_b, after it went on from b - 1, or be complete after the last one
    ends = [most[index - 1] + high[index] / share[index - 1] for index in range(1, len(share))]
    return float(least.min()), float(max([*ends, most[-1] + largest / share[-1], high[0]]))
