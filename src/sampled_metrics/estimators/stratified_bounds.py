"""Strict bounds of true metrics from stratified samples of negatives.

The candidates of a user fall into strata of known sizes N_s. Of each, m_s negatives are drawn without replacement, and
x_s of them rank above the held-out item. `sampled_metrics.estimators.strata_boxes` has the unknowns, which are the
proportions of users by how many items of each stratum rank above, and the shapes. Weights w of the samples with

    Σ_x P(x | a) w_x + Σ_j t_j rows_ja >= f(1 + Σ_s a_s) for every a, with multipliers t >= 0

have a mean that is at least the true metric, whatever the proportions are that keep the inequalities rows p >= 0. The
weights and multipliers with the lowest confidence limit come from `sampled_metrics.estimators.interior_point`; the
constant of the weights is then set so that the inequality holds for every a. The rest is as in
`sampled_metrics.estimators.strict_bounds`.

The order of the strata given the rank is free up to the shape, so the sample has to tell it. A class of users has
similar n, and similar sizes of the stratum whose sizes differ most, because users with few candidates in a stratum of
popular items have other ranks than those with many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.estimators.interior_point import furthest, nearest
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.estimators.shapes import Mixture
from sampled_metrics.estimators.strata_boxes import MOST_STRATA, Boxes
from sampled_metrics.estimators.stratified import smooth
from sampled_metrics.estimators.strict_bounds import (
    Bounds,
    Fit,
    ShapeEstimate,
    ShapeTest,
    bounds_of,
    inverse_errors,
    p_value_of,
)
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import rank_classes
from sampled_metrics.sampling.strata import StratifiedOutcomes

_LEAST = 0.005  # smallest share of the users that makes a class of similar n
_FACTOR = 1.5  # largest ratio of the sizes of a stratum of two users of a class
_USERS = 150  # least users of a class of similar sizes
_STEPS = 8  # most steps of the fit
_SAME = 0.2  # the fit ends if it moves by fewer standard errors
_NEGLIGIBLE = 0.5  # smallest effect of likely users on a sample, in standard errors, that matters
_LIKELY = 3  # steps of EM for proportions that are likely without a shape
_DIRECTIONS = 20  # of the test of a shape


@dataclass(frozen=True)
class StratifiedClass:
    """Users who share a distribution of ranks.

    Attributes:
        outcomes: (of this class,) indices among all outcomes.
        boxes: what they show.
    """

    outcomes: Ints
    boxes: Boxes


@dataclass(frozen=True)
class StratifiedFit(Fit):
    """The proportions of the boxes that fit a sample best.

    Attributes:
        rows: (rows, boxes) the inequalities of the shape.
        ends: (2, boxes, metrics) values for lower and upper bounds.
        likely: (boxes,) proportions that are likely without a shape.
    """

    rows: Floats
    ends: Floats
    likely: Floats

    @classmethod
    def of_boxes(cls, boxes: Boxes, shape: str, counts: Floats) -> "StratifiedFit":
        """Fit the proportions to (cells,) counts of users by reweighted least squares."""
        users, likely = float(counts.sum()), np.full(len(boxes.chances), 1 / len(boxes.chances))
        observed, rows = counts / users, boxes.rows[shape]
        for _ in range(_LIKELY):  # EM
            shown = likely @ boxes.chances
            likely *= boxes.chances @ np.divide(observed, shown, out=np.zeros_like(shown), where=shown > 0)
        start = _everywhere(likely)
        proportions, fitted = start, start @ boxes.chances
        for _ in range(_STEPS):
            scale = inverse_errors(fitted, users)
            coordinates, _ = _rotated((boxes.chances - observed) * scale, start)
            proportions = nearest(coordinates, rows, start)
            before, fitted = fitted, proportions @ boxes.chances
            if np.linalg.norm((fitted - before) * scale) < _SAME:
                break
        mixture, scale = Mixture(boxes.chances, boxes.values), inverse_errors(fitted, users)
        return cls(mixture, proportions, observed, fitted, scale, users, rows, boxes.ends[shape], likely)

    @cached_property
    def rotated(self) -> tuple[Floats, Floats]:
        """Return (dimensions, boxes) distances from the fitted shares, and the (cells, dimensions) directions."""
        return _rotated((self.mixture.chances - self.fitted) * self.scale, _everywhere(self.likely))

    def bound(self, metric: int, side: int, deviations: float) -> tuple[Floats, Floats]:
        """Return the (cells,) weights of a bound, and the (cells,) shares of the proportions that are there."""
        values = self.ends[max(side, 0), :, metric]
        if np.isnan(values).any() or np.ptp(values) == 0:
            return np.full_like(self.fitted, values.max()), self.fitted
        value, (coordinates, directions) = side * values, self.rotated
        proportions, slope, multipliers = furthest(
            coordinates, self.rows, value, _everywhere(self.likely), max(deviations, 1e-3)
        )
        weights = (directions @ slope) * self.scale
        weights -= weights @ self.fitted
        offset = float((value - self.mixture.chances @ weights + multipliers @ self.rows).max())
        if offset + deviations * np.linalg.norm(weights / self.scale) > value.max():
            weights, offset = np.zeros_like(weights), float(value.max())
        return side * (offset + weights), proportions @ self.mixture.chances


@dataclass(frozen=True)
class StratifiedTest(ShapeTest):
    """The test of a shape for a class of users."""

    @classmethod
    def of_fit(cls, fit: StratifiedFit) -> "StratifiedTest":
        """Prepare the test, along the directions in which likely boxes differ most."""
        _, found = _rotated((fit.mixture.chances - fit.fitted) * fit.scale, fit.likely)
        directions = found[:, -_DIRECTIONS:] * fit.scale[:, np.newaxis]
        directions -= fit.fitted @ directions
        return cls(fit, directions, (fit.mixture.chances @ directions).T, fit.observed @ directions)

    def statistic(self, place: Floats) -> float:
        """Return by how much the shape makes the squared distance of the nearest proportions larger.

        For `free` it is the squared distance. What the boxes cannot show is no evidence against a shape.
        """
        assert isinstance(self.fit, StratifiedFit)
        apart, start, rows = self.members - place[:, np.newaxis], _everywhere(self.fit.likely), self.fit.rows
        of_shape, free = (
            float(np.sum((apart @ nearest(apart, each, start)) ** 2)) if each is not None else 0.0
            for each in (rows, rows[:0] if len(rows) else None)
        )
        return of_shape - free


@dataclass(frozen=True)
class StratifiedShapeEstimate(ShapeEstimate):
    """Bounds for samples from strata with these outcomes, as `UniformShapeEstimate` for uniform ones.

    Raises:
        DataError: there are more than three strata.

    Examples:
        Users with 20 popular items and 80 others, of which 10 and 5 are drawn, and none, or one popular one, is above:

        >>> import numpy as np, sampled_metrics as sm
        >>> from sampled_metrics.estimators.strict_bounds import StrictBounds
        >>> from sampled_metrics.sampling.strata import StratifiedOutcomes
        >>> x, ones = np.array([[0, 0], [1, 0]]), np.ones((2, 1), dtype=int)
        >>> outcomes = StratifiedOutcomes(x, ones * [10, 5], ones * [20, 80], np.array([90, 10]))
        >>> estimate = StratifiedShapeEstimate(StrictBounds("decreasing"), (sm.metric("recall@10"),), outcomes)
        >>> low, high = estimate.bounds(estimate.fits(np.array([90.0, 10.0])), 1.96, [0]).weights[:, 0]
        >>> bool(0.5 < low @ [0.9, 0.1] < high @ [0.9, 0.1] <= 1.1)
        True
    """

    outcomes: StratifiedOutcomes

    def __post_init__(self) -> None:
        if (strata := self.outcomes.x.shape[1]) > MOST_STRATA:
            raise DataError(f"{self.estimator} takes up to {MOST_STRATA} strata, not {strata}; merge some")

    @cached_property
    def classes(self) -> tuple[StratifiedClass, ...]:
        """Return the classes of users with similar n and similar sizes of strata."""
        own = self.outcomes
        sums = Outcomes(own.x.sum(axis=1), own.negatives, own.candidates, False, own.events)
        return tuple(
            StratifiedClass(members, Boxes.of(own.only(members), self.metrics))
            for alike in rank_classes(sums, _LEAST)
            for members in _similar(alike.outcomes, own.sizes, own.events)
        )

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return the estimates by `smooth`."""
        return self._smooth.estimate(counts)

    @cached_property
    def _smooth(self) -> LinearEstimate:
        return smooth(self.outcomes, self.metrics)

    def fits(self, counts: Floats, shape: str | None = None) -> list[tuple[StratifiedClass, StratifiedFit]]:
        """Return the fits."""
        return [
            (users, StratifiedFit.of_boxes(users.boxes, shape or self.estimator.shape, _in_cells(users, counts)))
            for users in self.classes
            if counts[users.outcomes].sum() > 0
        ]

    def bounds(
        self, fits: Sequence[tuple[StratifiedClass, StratifiedFit]], deviations: float, wanted: Sequence[int]
    ) -> Bounds:
        """Return the bounds."""
        parts = [(users.outcomes, users.boxes.cells, fit) for users, fit in fits]
        return bounds_of(parts, len(self.outcomes), deviations, wanted)

    def p_value(
        self, users: Ints, shares: csr_array, fits: Sequence[tuple[StratifiedClass, StratifiedFit]], seed: int
    ) -> float:
        """Return the p-value."""
        tests: list[ShapeTest] = []
        for members, fit in fits:
            test: ShapeTest = StratifiedTest.of_fit(fit)
            if shares.nnz > shares.shape[0]:
                test = test.inflated(shares[:, members.outcomes] @ test.directions[members.boxes.cells], users)
            tests.append(test)
        return p_value_of(tests, seed)


def _similar(outcomes: Ints, sizes: Ints, events: Ints) -> Iterator[Ints]:
    """Yield the indices of users whose sizes are similar in the stratum where they differ most."""
    scale = np.log(np.maximum(sizes[outcomes], 1))
    weights = events[outcomes] / events[outcomes].sum()
    scale = scale[:, np.argmax(weights @ (scale - weights @ scale) ** 2)]
    part = np.floor((scale.max() - scale) / np.log(_FACTOR)).astype(np.int64)
    few: list[int] = []
    for at in np.unique(part):  # from the largest on; too few users join those who follow, the last ones those before
        few.append(int(at))
        rest = events[outcomes[part > at]].sum()
        if rest == 0 or min(rest, events[outcomes[np.isin(part, few)]].sum()) >= _USERS:
            yield outcomes[np.isin(part, few)]
            few = []


def _in_cells(users: StratifiedClass, counts: Floats) -> Floats:
    return np.bincount(users.boxes.cells, counts[users.outcomes], minlength=users.boxes.chances.shape[1]).astype(float)


def _everywhere(proportions: Floats) -> Floats:
    """Return proportions above 0."""
    return 0.9 * proportions + 0.1 / len(proportions)


def _rotated(differences: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return (dimensions, boxes) coordinates of (boxes, cells) differences, and the (cells, dimensions) directions.

    Directions in which boxes with these weights differ by little are left out, so the weights of a bound do not use
    them.
    """
    squares, vectors = np.linalg.eigh((differences * weights[:, np.newaxis]).T @ differences)
    directions = vectors[:, squares > _NEGLIGIBLE**2]
    return np.ascontiguousarray((differences @ directions).T), directions
