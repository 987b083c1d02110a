"""Ranks of held-out items that were completed for a known share of the users alone, and what they estimate.

The candidates of a user are scored in some order, up to boundaries D_0 = 0 < D_1 < … < D_B. A user is beaten once k
candidates score higher than the held-out item: the metric is 0 then, and nothing more is scored. From D_b on, a user
who is not beaten goes on only if the user's number v is below P_b. The numbers are uniform, and known before any score.

Let M_b(j) be a prediction of the metric f from the number j of candidates above at D_b. It is 0 for users who are
beaten, and M_{B+1} = f. Then

    φ = M_0 + Σ_b 1[not beaten at D_b and v < P_b] / P_b (M_{b+1} - M_b).

The mean of φ is that of f, whatever the predictions are, if they do not depend on the user. They are those of the other
folds of the users: means of the known f, weighted by the inverse of the share that went as far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.table import OutcomeValues, Ranked, span

if TYPE_CHECKING:  # ranking does not depend on metrics, so a new metric does not rerun it
    from sampled_metrics.metrics.metric import Metric

FEW_COMPLETED = 30
"""With fewer completed users, there is no interval."""

_EXPONENT = 0.75  # of the share of users who go on


def shares(depth: float | None, boundaries: Ints) -> Floats:
    """Return the (boundaries,) shares P_b = min(1, (depth / D_b)^(3/4)) of users who go on from a boundary.

    Args:
        depth: about how many candidates of each user are scored; None is all that are needed.
        boundaries: (boundaries,) ascending numbers of candidates, the first of which is 0.
    """
    if depth is None:
        return np.ones(len(boundaries))
    return np.minimum(1.0, (depth / np.maximum(boundaries, 1)) ** _EXPONENT)


@dataclass(frozen=True, repr=False)
class StagedRanks(Ranked):
    """Ranks of held-out items, completed for a known share of the users, one row for each held-out item.

    Attributes:
        user: (rows,) the user of each held-out item.
        candidates: (rows,) n: the number of items to rank, including the held-out item.
        k: candidates that score higher, with which a held-out item is beaten.
        depth: about how many candidates of each user are scored; None is all that are needed.
        seed: of the users' numbers and folds.
        boundaries: (boundaries,) ascending numbers of candidates, 0 first. A row has those below n / 2, and 0.
        above_at: (rows, boundaries) numbers of candidates above, up to k, among the first ones up to each boundary; -1
            where a row did not get there.
        above: (rows,) candidates that score higher, among those that were scored; k if the item is beaten.
        tied: (rows,) other candidates that score the same, among those that were scored; 0 if the item is beaten.
        complete: (rows,) whether all candidates were scored, and the item is not beaten.
        uniform: (rows,) the users' numbers v, uniform from 0 to 1.
        fold: (rows,) the folds of the users.
        scored: (rows,) how many scores were computed, that of the held-out item included.
    """

    user: NDArray[np.generic]
    candidates: Ints
    k: int
    depth: float | None
    seed: int
    boundaries: Ints
    above_at: Ints
    above: Ints
    tied: Ints
    complete: NDArray[np.bool_]
    uniform: Floats
    fold: Ints
    scored: Ints
    notes: tuple[str, ...] = ()
    source: str = ""
    cautions: tuple[str, ...] = ()

    kind: ClassVar[str] = "staged ranks"
    reader: ClassVar[str] = "staged_ranks"
    taken_by: ClassVar[tuple[str, ...]] = ("evaluate", "compare", "report")
    beside: ClassVar[tuple[str, ...]] = ("exact ranks",)

    @property
    def _among(self) -> str:
        return f"{self.scored.mean():,.0f} scores for each of {span(self.candidates)} candidates"

    @property
    def is_beaten(self) -> NDArray[np.bool_]:
        """Return whether k candidates score higher, (rows,)."""
        return self.above >= self.k

    @property
    def _last(self) -> Ints:
        """The (rows,) indices of the last boundary of each row."""
        return np.maximum(np.searchsorted(self.boundaries, self.candidates / 2, side="left") - 1, 0)

    @property
    def _entered(self) -> NDArray[np.bool_]:
        """Return whether a row goes on from each boundary, (rows, boundaries)."""
        reached = (self.above_at >= 0) & (self.above_at < self.k)
        return reached & (self.uniform[:, np.newaxis] < shares(self.depth, self.boundaries))

    @property
    def completed_users(self) -> int:
        """Return the number of users with an item that is not beaten and was completed."""
        return len(np.unique(self.user_numbers[self.complete]))

    @property
    def default_metrics(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the labels of the metrics that are computed if none are given."""
        return tuple(f"{name}@{self.k}" for name in ("recall", "ndcg", "mrr"))

    @property
    def _numbers(self) -> dict[str, Ints]:
        return {"n": self.candidates, "scores": self.scored}

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users, candidates, scores and completed users."""
        scores = f"{self.scored.mean():,.0f} for each row"
        return super().facts | {"Scores": scores, "Completed users": str(self.completed_users)}

    def title(self, names: str) -> str:
        """Return the title of a page about staged ranks of some recommenders."""
        return f"Staged ranks of {names}"

    def check_metrics(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if a metric has no cut-off, or one above k: the ranks above k are not known."""
        for metric in metrics.values():
            if metric.cutoff is None or metric.cutoff > self.k:
                what = "has no cut-off" if metric.cutoff is None else f"has a cut-off above k = {self.k}"
                raise ConfigError(
                    f"{metric.label} {what}: of staged ranks, only metrics of the first {self.k} ranks are known"
                )

    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the φ of each row, which is an outcome of its own."""
        phi, bounds = zip(*(self._phi(metric) for metric in metrics), strict=True)
        least, most = np.transpose(bounds)
        largest = np.array([metric.largest for metric in metrics])
        return OutcomeValues(np.stack(phi), np.arange(len(self)), least, most, largest)

    @property
    def design(self) -> dict[str, Any]:
        """Return k, depth and seed, which decide who goes on."""
        return {"k": self.k, "depth": self.depth, "seed": self.seed}

    def without_interval(self) -> str:
        """Return why there is no interval, with an upper bound in its place; empty if there is one.

        With few completed users, φ has rare large values that are not seen. The share of users who are not beaten at
        the last boundary that all may reach bounds the metric from above.
        """
        all_go_on = (shares(self.depth, self.boundaries) == 1).all()
        if all_go_on or self.completed_users >= FEW_COMPLETED:
            return ""
        full = int(np.flatnonzero(shares(self.depth, self.boundaries) == 1)[-1])
        until = min(full + 1, len(self.boundaries) - 1)
        users = len(np.unique(self.user_numbers))
        above = self.above_at[np.arange(len(self)), np.minimum(until, self._last)]
        still_open = len(np.unique(self.user_numbers[(above >= 0) & (above < self.k)]))
        most = float(betaincinv(still_open + 1, users - still_open, 0.975)) if still_open < users else 1.0
        return (
            f"Only {self.completed_users} users are completed, and an interval needs {FEW_COMPLETED}. With "
            f"97.5 % confidence, no metric is above {most:.3f}: of {users} users, {still_open} have fewer than "
            f"{self.k} candidates above the held-out item among the first {self.boundaries[until]}. Take a larger "
            "depth, or depth=None."
        )

    def _phi(self, metric: Metric) -> tuple[Floats, tuple[float, float]]:
        """Return the (rows,) φ, and the smallest and the largest value that they may have."""
        known = self.is_beaten | self.complete
        f = np.zeros(len(self))
        done = self.complete
        f[done] = metric.over_ties(self.above[done], self.tied[done], self.candidates[done])
        share, entered = shares(self.depth, self.boundaries), self._entered
        weights = known / share[np.maximum(entered.sum(axis=1) - 1, 0)]
        phi, bounds = np.empty(len(self)), []
        for fold in np.unique(self.fold):
            own = self.fold == fold
            predictions = self._predictions(f, weights * ~own)
            phi[own] = self._phi_of(np.flatnonzero(own), predictions, f, entered, share)
            bounds.append(_bounds(predictions, share, float(metric.of_rank(1, 2))))
        return phi, (min(low for low, _ in bounds), max(high for _, high in bounds))

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

    def _phi_of(self, rows: Ints, predictions: Floats, f: Floats, entered: NDArray[np.bool_], share: Floats) -> Floats:
        """Return the (rows,) φ of some rows."""
        last, phi = self._last[rows], np.full(len(rows), predictions[0, 0])
        for index in range(len(self.boundaries)):
            goes_on = entered[rows, index]
            is_last = index == last
            before = predictions[index, np.maximum(self.above_at[rows, index], 0)]
            after = f[rows].copy()
            if index + 1 < len(self.boundaries):
                at_next = np.clip(self.above_at[rows, index + 1], 0, self.k)
                after = np.where(is_last, after, predictions[index + 1, at_next])
            phi += np.where(goes_on, (after - before) / share[index], 0.0)
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
