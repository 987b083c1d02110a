"""Strict bounds of true metrics, if the distribution of true ranks has an assumed shape.

A sample shows x of m negatives above the held-out item. Weights w_x with

    Σ_x P(x | k) w_x >= f(k) for every member k of the mixture

(`sampled_metrics.core.estimators.shapes`) have a mean E[w_x] that is at least the true metric,
whatever the mixture is, so an upper confidence limit of the mean weight is one of the metric. Lower
bounds have <= instead. Of all such weights, those are taken whose limit is lowest for the sample
that the mixture fits best,

    minimise Σ_x p_x w_x + z sd(w) / √U,

with the fitted p and U users. The dual problem is that of one-at-a-time strict bounds: the largest
Σ_k ν_k f(k) over proportions ν of the mixture whose p(ν) is within z of the fitted p, in units of
its standard error. Non-negative least squares solve it on the path that trades distance for the
value of the metric.

Each class of users (`sampled_metrics.core.sampling.outcomes`) has its own ν.

References:
    P. B. Stark, Inference in infinite-dimensional inverse problems: discretization and duality,
    Journal of Geophysical Research 97, 1992. M. Kuusela and P. B. Stark, Shape-constrained
    uncertainty quantification in unfolding steeply falling elementary particle spectra, Annals of
    Applied Statistics 11, 2017. M. Stanley, P. Patil and M. Kuusela, Uncertainty quantification for
    wide-bin unfolding: one-at-a-time strict bounds and prior-optimized confidence intervals,
    Journal of Instrumentation 17, 2022.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.sparse import csr_array

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.estimators.linear import nonnegative_least_squares
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.estimators.rank_distribution import PlugIn
from sampled_metrics.core.estimators.shapes import FREE, MIXTURES, Mixture, cells, mixtures
from sampled_metrics.core.estimators.smooth import Smooth
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.sampling.outcomes import Outcomes, RankClass, Size, rank_classes

SIGNIFICANCE = 0.05
"""The sample contradicts a shape if the p-value of the shape is at most this."""

IMPOSSIBLE = 0.01
"""No ranks explain a sample if the p-value of `free` is at most this."""

_SMALLEST_CLASS = 0.005  # smallest share of the users that makes a class
# most steps of a fit, of the search for an end, and of those that leave members out
_MOST_STEPS = 30
_NEGLIGIBLE = 1e-3  # effects on a sample below this, in standard errors, are rounding
_PENALTY = 400.0  # weight of the distance of a metric from its target, relative to its range
_ZERO_SLOPE = 1e-9  # a slope that is no further below 0 is taken to be 0
# smallest sum of squares that slopes are compared with; the sum of a perfect fit is 0
_SMALLEST_SQUARES = 0.1
_ROUNDING = 1e-9  # relative error of the bounds of a distance
_FIRST_MEMBERS = 12  # number of members, about, that a fit without a start begins with
# the first target of a search, relative to the best mixture of the fit and one member
_FIRST_REACH = 5.0
_NEAR = 1 / 8  # below this part of the wanted distance, Newton's method would go too far
_GROWTH_FROM_NEAR = 3.0  # the next target after one that is so near, relative to it
_VISIBLE = 1.0  # smallest effect on a sample, in standard errors, that the test of a shape uses
# samples that fit no better than the observed one, itself included, at the significance of the test
_DECISIVE = 10
_OF_CRITICAL = 400  # samples whose statistics give a critical value


@dataclass(frozen=True)
class Tolerance:
    """The precision of a fit and its bounds.

    The bounds hold at any precision, and a lower one hardly widens them.

    Attributes:
        step: change of the fitted shares at which a fit ends, in standard errors of the largest
            share.
        distance: relative error of the distance at which the search for a bound ends.
        effect: smallest effect of a member on a sample that counts, in standard errors.
        slope: a member of the mixture is missing if its slope is below minus this part of the least
            sum of squares.
    """

    step: float
    distance: float
    effect: float
    slope: float


PRECISE = Tolerance(step=1e-4, distance=1e-2, effect=1e-3, slope=1e-5)
"""The tolerance for the users that are analysed."""

ROUGH = Tolerance(step=1e-2, distance=0.25, effect=0.1, slope=0.02)
"""The tolerance for weights that a part of the users chooses for others.

Such weights vary by more than the error.
"""


@dataclass(frozen=True)
class Fit:
    """The sample that the mixture fits best, for a class of users.

    Attributes:
        mixture: what the members of the mixture show.
        proportions: (members,) ν.
        observed: (cells,) observed shares of the users of the class.
        fitted: (cells,) the shares p(ν).
        scale: (cells,) inverse standard errors of the shares.
        users: U, the number of users of the class.
        tolerance: the tolerance of the bounds.
    """

    mixture: Mixture
    proportions: Floats
    observed: Floats
    fitted: Floats
    scale: Floats
    users: float
    tolerance: Tolerance

    @classmethod
    def from_counts(cls, mixture: Mixture, counts: Floats, tolerance: Tolerance = PRECISE) -> "Fit":
        """Fit the proportions to (cells,) counts of users.

        The likelihood is maximised by reweighted least squares.
        """
        users = float(counts.sum())
        observed = counts / users
        fitted = mixture.probabilities.mean(axis=0)
        proportions = np.zeros(len(mixture.probabilities))
        for _ in range(_MOST_STEPS):
            # the least squares are weighted by the errors of the fit before
            scale = inverse_errors(fitted, users)
            distances = _without_negligible(mixture.distances(observed, scale), tolerance)
            proportions = _nearest(distances, proportions, tolerance)
            before = fitted
            fitted = proportions @ mixture.probabilities
            largest_error = np.sqrt(fitted.max() / users)
            if np.abs(fitted - before).max() < tolerance.step * largest_error:
                break
        return cls(
            mixture=mixture,
            proportions=proportions,
            observed=observed,
            fitted=fitted,
            scale=inverse_errors(fitted, users),
            users=users,
            tolerance=tolerance,
        )

    def near(self, mixture: Mixture) -> "Fit":
        """Return the fit of another mixture to the sample that this one fits best.

        One user with equal shares of all outcomes is added to the sample, so that no outcome is
        taken as impossible.
        """
        shares = (self.users * self.fitted + 1 / len(self.fitted)) / (self.users + 1)
        scale = inverse_errors(shares, self.users)
        distances = _without_negligible(mixture.distances(shares, scale), self.tolerance)
        proportions = _nearest(distances, np.zeros(len(mixture.probabilities)), self.tolerance)
        return replace(self, mixture=mixture, proportions=proportions, fitted=shares, scale=scale)

    @cached_property
    def distances(self) -> Floats:
        """Return the (dimensions, members) distances from the fitted shares, in standard errors."""
        return _without_negligible(self.mixture.distances(self.fitted, self.scale), self.tolerance)

    def weights(self, metric: int, side: int, deviations: float) -> Floats:
        """Return the (cells,) weights of a bound of a metric.

        Args:
            metric: the index of the metric.
            side: 1 for the upper bound, -1 for the lower one.
            deviations: the distance z of the bound, in standard errors.
        """
        value = side * self.mixture.values[:, metric]
        if np.isnan(value).any():
            return np.full_like(self.fitted, np.nan)
        proportions = self._furthest(value, deviations)
        probabilities = self.mixture.probabilities
        # (cells,) in which direction the furthest sample is, with the mean 0 over the fitted one
        direction = (proportions @ probabilities - self.fitted) * self.scale**2
        direction -= direction @ self.fitted
        error = float(np.linalg.norm(direction / self.scale))

        # The weights are a line, offset + steepness * direction. The line through the members of
        # the support has the lowest limit. A level one takes its place if rounding spoils it.
        places = probabilities @ direction
        support = proportions > 1e-9 * proportions.max()
        centred = places[support] - places[support].mean()
        squares = centred @ centred
        steepness_of_support = centred @ value[support] / squares if squares > 0 else 0.0
        steepnesses = [0.0, max(steepness_of_support, 0.0)]
        # the smallest offsets for which no member has a value above its mean weight
        offsets = [float((value - steepness * places).max()) for steepness in steepnesses]
        limits = [
            offset + deviations * steepness * error
            for offset, steepness in zip(offsets, steepnesses, strict=True)
        ]
        best = int(np.argmin(limits))
        return side * (offsets[best] + steepnesses[best] * direction)

    def _furthest(self, value: Floats, deviations: float) -> Floats:
        """Return the proportions with the largest mean of (members,) values within a distance.

        The distance is in standard errors. The least distance at a value is a convex function of
        the value, so Newton's method approaches from above, after its first step at the latest. The
        value is held near its target by a penalty, from which the slope of the distance follows.
        The first target is a multiple of what the best mixture of the fit and one member reaches.
        Nothing depends on other users than those of the fit.
        """
        low = float(self.proportions @ value)
        high = float(value.max())
        value_range = float(np.ptp(value))
        # the first target: what is gained on the way from the fit to a member, up to the distance
        fitted_place = (self.distances @ self.proportions)[:, np.newaxis]
        from_fit = np.linalg.norm(self.distances - fitted_place, axis=0)
        reach = (value - low) * np.minimum(1.0, deviations / np.maximum(from_fit, 1e-300))
        target = min(low + _FIRST_REACH * float(reach.max()), high)
        proportions = self.proportions
        penalty = _PENALTY * max(deviations, 1e-3) / max(value_range, 1e-300)
        error = self.tolerance.distance * deviations
        for _ in range(_MOST_STEPS):
            if target - low <= 1e-9 * max(value_range, abs(low)):
                return self.proportions
            rows = np.vstack((self.distances, penalty * (value - target)))
            proportions = _nearest(rows, proportions, self.tolerance)
            distance = float(np.linalg.norm(self.distances @ proportions))
            reached = float(proportions @ value)
            is_far_enough = target == high or distance >= deviations - error
            if distance <= deviations + error and is_far_enough:
                break
            if distance < _NEAR * deviations:
                target = min(low + _GROWTH_FROM_NEAR * (target - low), high)
                continue
            slope = penalty**2 * (target - reached) / distance
            newton = reached - (distance - deviations) / slope
            # the penalty holds the value this much below its target
            target = min(newton + deviations * slope / penalty**2, high)
        return proportions


Fits = tuple[tuple[RankClass, Fit | None], ...]
"""The best fit of each class of users; None for a class without users in the sample."""


@dataclass(frozen=True)
class Bounds:
    """Weights whose mean is at most, or at least, the true metric.

    Index 0 is the lower bound, and 1 the upper one.

    Attributes:
        weights: (2, metrics, outcomes) weights.
        least: (2, metrics) smallest weights of any outcome, seen or not.
        most: (2, metrics) largest weights.
        fitted: (2, metrics) mean weights of the fitted sample.
    """

    weights: Floats
    least: Floats
    most: Floats
    fitted: Floats


@dataclass(frozen=True)
class StrictBounds(Estimator):
    """The estimator of the bounds under an assumption on the shape of the distribution of ranks.

    Attributes:
        shape: free or decreasing.
        replacement: whether P(x | r) is taken as binomial; None follows the design of the sample.
    """

    shape: str
    replacement: bool | None = None

    def __str__(self) -> str:
        return self.shape

    @property
    def assumed_shape(self) -> str:
        """Return the shape."""
        return self.shape

    def fit(self, outcomes: Outcomes, metrics: Sequence[Metric]) -> "ShapeEstimate":
        """Return the estimate, which chooses its weights by the sample."""
        return ShapeEstimate(self, tuple(metrics), outcomes)


@dataclass(frozen=True)
class ShapeEstimate(Estimate):
    """Bounds for samples with these outcomes; the value between them comes from `smooth`.

    Attributes:
        estimator: the estimator, which has the shape.
        metrics: the metrics of one relevant item.
        outcomes: the outcomes of the samples.
    """

    estimator: StrictBounds
    metrics: tuple[Metric, ...]
    outcomes: Outcomes

    @property
    def assumed_shape(self) -> str:
        """Return the shape of the estimator."""
        return self.estimator.shape

    def estimate(self, counts: np.ndarray) -> Floats:
        """Return (…, metrics) estimates by `smooth`, from (…, outcomes) counts."""
        return self._smooth.estimate(counts)

    def moments(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the (metrics,) means and variances over users, by `smooth`."""
        return self._smooth.moments(counts)

    @cached_property
    def _smooth(self) -> PlugIn:
        return Smooth(self.estimator.replacement).fit(self.outcomes, self.metrics)

    def fits(self, counts: Floats, shape: str | None = None) -> Fits:
        """Return the best fits with a shape, by default its own, to (outcomes,) counts."""
        shape = shape or self.estimator.shape
        return tuple(
            (rank_class, self._fit(rank_class, by_shape[shape], counts, PRECISE))
            for rank_class, by_shape in self._classes
        )

    def fits_of_part(self, shape: str, part: Floats) -> Fits:
        """Return fits for weights that are chosen by a part of the users, for others.

        The fits are near the best fit of the next stronger shape to the part, because that one
        varies less between parts of the users than the best fit of the shape itself.

        Args:
            shape: the shape of the bounds.
            part: (outcomes,) counts of the part.
        """
        stronger = MIXTURES[MIXTURES.index(shape) + 1]
        fits = []
        for rank_class, by_shape in self._classes:
            fit = self._fit(rank_class, by_shape[stronger], part, ROUGH)
            fits.append((rank_class, fit.near(by_shape[shape]) if fit else None))
        return tuple(fits)

    def _fit(
        self, rank_class: RankClass, mixture: Mixture, counts: Floats, tolerance: Tolerance
    ) -> Fit | None:
        """Return the fit to a class of users, from (outcomes,) counts; None without its users."""
        cell_counts = self._cell_counts(rank_class, counts)
        return Fit.from_counts(mixture, cell_counts, tolerance) if cell_counts.any() else None

    @cached_property
    def _classes(self) -> tuple[tuple[RankClass, dict[str, Mixture]], ...]:
        """Return the classes of users with the mixture of each shape."""
        return class_mixtures(self.outcomes, self.metrics, self.estimator.replacement)

    def _cell_counts(self, rank_class: RankClass, counts: Floats) -> Floats:
        """Return the (cells,) counts of a class of users, from (outcomes,) counts."""
        cell_indices, cells_in_all = cells(rank_class)
        sums = np.bincount(cell_indices, counts[rank_class.outcomes], minlength=cells_in_all)
        return sums.astype(np.float64)

    def bounding_weights(self, fits: Fits, deviations: float) -> Bounds:
        """Return the weights of the metrics whose bounds are best at so many standard errors.

        The standard errors of a class are a part of those of the mean of all users: √(its share of
        the users). A class without users in the fitted sample has the largest, or smallest, value
        of a metric as its weights.
        """
        shape = (2, len(self.metrics))
        weights = np.full((*shape, len(self.outcomes)), np.nan)
        smallest = np.full(shape, np.inf)
        largest = np.full(shape, -np.inf)
        fitted = np.zeros(shape)
        total = sum(fit.users for _, fit in fits if fit)
        for (rank_class, fit), (_, by_shape) in zip(fits, self._classes, strict=True):
            share = fit.users / total if fit else 0.0
            cell_indices, cells_in_all = cells(rank_class)
            for metric in range(len(self.metrics)):
                values = by_shape[FREE].values[:, metric]
                extremes = (values.min(), values.max())
                for end, side in enumerate((-1, 1)):
                    if fit is None:
                        cell_weights = np.full(cells_in_all, extremes[end])
                    else:
                        cell_weights = fit.weights(metric, side, deviations * float(np.sqrt(share)))
                        fitted[end, metric] += share * float(cell_weights @ fit.fitted)
                    weights[end, metric, rank_class.outcomes] = cell_weights[cell_indices]
                    smallest[end, metric] = min(smallest[end, metric], cell_weights.min())
                    largest[end, metric] = max(largest[end, metric], cell_weights.max())
        return Bounds(weights, least=smallest, most=largest, fitted=fitted)

    def p_value(
        self, users: Ints, shares: csr_array, fits: Fits, seed: int, significance: float
    ) -> float:
        """Return the p-value of the assumption that ranks have the shape of the fits.

        The statistic is the squared distance of the observed sample from the nearest one of the
        shape, in standard errors, along the directions in which a distribution of ranks can move a
        sample. Samples drawn from the best fit give its distribution. If users have several events,
        the samples vary more by the ratio of the variances over users and over events.

        Args:
            users: (groups,) numbers of users.
            shares: (groups, outcomes) shares of a user's events.
            fits: the best fit of each class of users.
            seed: the seed of the simulated samples.
            significance: the significance, as in `p_value_of`.
        """
        return p_value_of(self.tests(users, shares, fits), seed, significance)

    def tests(self, users: Ints, shares: csr_array, fits: Fits) -> "list[ShapeTest]":
        """Return the test of each class of users; parameters as in `p_value`."""
        tests = []
        has_several_events = shares.nnz > shares.shape[0]
        for (rank_class, fit), (_, by_shape) in zip(fits, self._classes, strict=True):
            if fit is None:
                continue
            test = ShapeTest.from_fit(fit, by_shape[FREE].probabilities)
            if has_several_events:
                cell_indices, _ = cells(rank_class)
                places = shares[:, rank_class.outcomes] @ test.directions[cell_indices]
                test = test.inflated(places, users)
            tests.append(test)
        return tests


def has_bounds(estimate: Estimate) -> TypeGuard[ShapeEstimate]:
    """Return whether an estimate gives strict bounds."""
    return estimate.assumed_shape is not None


@dataclass(frozen=True)
class ShapeTest:
    """The test of a shape for a class of users.

    Attributes:
        fit: the best fit of the shape.
        directions: (cells, dimensions) directions; the fitted shares are at 0.
        members: (dimensions, members) places of the members of the mixture.
        observed: (dimensions,) place of the observed sample.
        inflation: standard deviation over users, relative to that of as many independent events.
    """

    fit: Fit
    directions: Floats
    members: Floats
    observed: Floats
    inflation: float = 1.0

    @classmethod
    def from_fit(cls, fit: Fit, any_ranks: Floats) -> "ShapeTest":
        """Prepare the test from what any ranks can show, (ranks, cells)."""
        differences = (any_ranks - fit.fitted) * fit.scale
        left, singular, _ = np.linalg.svd(differences.T, full_matrices=False)
        directions = left[:, singular > _VISIBLE] * fit.scale[:, np.newaxis]
        directions -= fit.fitted @ directions  # so that the fitted shares are at 0
        members = (fit.mixture.probabilities @ directions).T
        return cls(fit, directions, members, observed=fit.observed @ directions)

    def inflated(self, places: Floats, users: Ints) -> "ShapeTest":
        """Return the test for users with several events.

        Args:
            places: (groups, dimensions) mean places of the events of a user.
            users: (groups,) numbers of users.
        """
        user_variance = float(users @ np.sum(places**2, axis=1)) / self.fit.users
        event_variance = float(self.fit.fitted @ np.sum(self.directions**2, axis=1))
        # one outcome is certain, up to rounding, so samples from the fit do not vary
        if event_variance <= _NEGLIGIBLE**2:
            return self
        return replace(self, inflation=float(np.sqrt(user_variance / event_variance)))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the (dimensions,) place of a sample that is drawn from the fit."""
        events = max(1, round(self.fit.users))
        probabilities = self.fit.fitted / self.fit.fitted.sum()
        inflated_shares = self.inflation * (rng.multinomial(events, probabilities) / events)
        return inflated_shares @ self.directions

    def statistic(self, place: Floats) -> float:
        """Return the squared distance of the nearest mixture from a place."""
        from_place = self.members - place[:, np.newaxis]
        proportions = _nearest(from_place, self._start, ROUGH)
        return float(np.sum((from_place @ proportions) ** 2))

    def is_beyond(self, place: Floats, limit: float) -> bool:
        """Return whether the statistic at a place is at least a limit.

        The steps to the nearest mixture have bounds of the statistic, and end once these decide.
        """
        from_place = self.members - place[:, np.newaxis]
        margin = _ROUNDING * abs(limit)
        for step in _steps(from_place, self._start, ROUGH):
            if step.upper_bound < limit - margin:
                return False
            if step.lower_bound > limit + margin:
                return True
        return float(np.sum((from_place @ step.proportions) ** 2)) >= limit

    @property
    def _start(self) -> Floats:
        """The (members,) proportions of the fit, from which the search for others starts."""
        start = np.zeros(self.members.shape[1])
        start[: len(self.fit.proportions)] = self.fit.proportions
        return start


def p_value_of(tests: Sequence[ShapeTest], seed: int, significance: float) -> float:
    """Return the share of samples from the fits that are as far from the shape as the observed one.

    The observed sample is one of them. The number of samples is that at which ten of them decide
    about the significance. Fewer are drawn once the p-value is certain to be above it.
    """
    rng = np.random.default_rng(seed)
    samples = round(_DECISIVE / significance)
    observed = sum(test.statistic(test.observed) for test in tests)
    limit = observed - _NEGLIGIBLE**2  # up to rounding
    # both count the observed sample
    further = 1
    drawn = 1
    while drawn < samples and further <= _DECISIVE:
        places = [test.draw(rng) for test in tests]
        further += are_beyond(tests, places, limit)
        drawn += 1
    return further / drawn


def critical_statistic(
    tests_of_samples: "Sequence[Sequence[ShapeTest]]", seed: int, significance: float
) -> float:
    """Return the statistic that a share `significance` of samples exceeds if the shape is right.

    The samples come from one law, so the tests of a few are enough.
    """
    rng = np.random.default_rng(seed)
    statistics = []
    for tests in tests_of_samples:
        for _ in range(_OF_CRITICAL // len(tests_of_samples)):
            statistics.append(sum(test.statistic(test.draw(rng)) for test in tests))
    return float(np.quantile(statistics, 1 - significance))


def are_beyond(tests: Sequence[ShapeTest], places: Sequence[Floats], limit: float) -> bool:
    """Return whether the sum of the statistics of tests at their places is at least a limit."""
    if not tests:
        return limit <= 0
    # a whole statistic takes longer than the side of a limit, which is enough of the last test
    before_last = zip(tests[:-1], places[:-1], strict=True)
    rest = limit - sum(test.statistic(place) for test, place in before_last)
    return tests[-1].is_beyond(places[-1], rest)


def class_mixtures(
    outcomes: Outcomes, metrics: tuple[Metric, ...], replacement: bool | None
) -> tuple[tuple[RankClass, dict[str, Mixture]], ...]:
    """Return the classes of users with the mixture of each shape."""
    classes = rank_classes(outcomes, _SMALLEST_CLASS)
    sizes_by_class = tuple(users.sizes for users in classes)
    mixtures_by_class = _mixtures(sizes_by_class, metrics, replacement)
    return tuple(zip(classes, mixtures_by_class, strict=True))


@lru_cache(maxsize=2)
def _mixtures(
    classes: tuple[tuple[Size, ...], ...], metrics: tuple[Metric, ...], replacement: bool | None
) -> tuple[dict[str, Mixture], ...]:
    """Return the mixtures of classes of users.

    Mixtures do not depend on what a sample shows. So the estimators of one call share them, and so
    do all recommenders of the same users, in this call and in the next one.
    """
    return tuple(mixtures(sizes, metrics, replacement) for sizes in classes)


def inverse_errors(shares: Floats, users: float) -> Floats:
    """Return the inverse standard errors of shares, with half a user added so that none is 0."""
    return np.sqrt(users * (users + 0.5) / (users * shares + 0.5 / len(shares)))


def _without_negligible(coordinates: Floats, tolerance: Tolerance) -> Floats:
    """Return (dimensions, members) coordinates with the same products, in fewer dimensions.

    Dimensions in which no member is further than a negligible distance from 0 are left out.
    """
    upper, order = qr(coordinates, mode="r", pivoting=True)
    # (dimensions,) the largest distance of a member from 0 in this dimension and the later ones
    largest_rest = np.sqrt(np.cumsum(upper[::-1] ** 2, axis=0)[::-1].max(axis=1))
    dimensions = int((largest_rest > tolerance.effect).sum())
    kept = np.empty((dimensions, coordinates.shape[1]))
    kept[:, order] = upper[:dimensions]
    return kept


def _nearest(coordinates: Floats, start: Floats, tolerance: Tolerance = PRECISE) -> Floats:
    """Return the (members,) proportions for which ‖Σ_k ν_k c_k‖ is least.

    The coordinates c are (dimensions, members). The proportions are those of the last of `_steps`.
    """
    for step in _steps(coordinates, start, tolerance):
        last = step
    return last.proportions


class _Step(NamedTuple):
    """A step to the nearest mixture.

    Attributes:
        taken: (members,) whether a member may have a proportion.
        solution: (taken,) best proportions of the members that are taken, up to a factor.
        residual: (dimensions + 1,) what these leave of the target, whose last dimension is the sum
            of the proportions.
        steepest: the largest increase of the fit by a member.
    """

    taken: NDArray[np.bool_]
    solution: Floats
    residual: Floats
    steepest: float

    @property
    def proportions(self) -> Floats:
        """The (members,) proportions."""
        proportions = np.zeros(len(self.taken))
        proportions[self.taken] = self.solution / self.solution.sum()
        return proportions

    @property
    def upper_bound(self) -> float:
        """The squared distance of these proportions. Later steps are nearer."""
        return float(np.sum(self.residual[:-1] ** 2) / self.solution.sum() ** 2)

    @property
    def lower_bound(self) -> float:
        """A squared distance that no proportions can be below.

        Less the steepest increase in its last dimension, the residual is at an obtuse angle to all
        members. So its part along the target is a bound of the residual of any proportions.
        """
        along = float(self.residual[-1]) - max(self.steepest, 0.0)
        if along <= 0:
            return 0.0
        across = float(np.sum(self.residual[:-1] ** 2))
        return along**2 / across if across > 0 else np.inf


def _steps(coordinates: Floats, start: Floats, tolerance: Tolerance) -> Iterator[_Step]:
    """Yield the steps to the proportions for which ‖Σ_k ν_k c_k‖ is least.

    A step minimises ‖Σ_k ν_k c_k‖² + (Σ_k ν_k - 1)² instead, whose ν has the same direction and is
    divided by its sum. The least sum of squares is 1 - Σ_k ν_k. The first step is for the members
    of `start`, or for a dozen if it is 0. Others are added until none is missing. Members whose
    proportion is 0 are left out, in the first steps only, so that rounding cannot repeat a step for
    ever.
    """
    members = coordinates.shape[1]
    rows = np.vstack((coordinates, np.ones(members)))
    target = np.zeros(len(coordinates) + 1)
    target[-1] = 1.0
    taken = start > 0
    if not taken.any():
        taken[:: max(1, members // _FIRST_MEMBERS)] = True
    for step in count():
        solution = nonnegative_least_squares(rows[:, taken], target)
        excess = rows[:, taken] @ solution - target
        slope = rows.T @ excess
        yield _Step(taken.copy(), solution, -excess, float(-slope.min()))
        least_squares = max(1 - solution.sum(), _SMALLEST_SQUARES)
        is_steep = slope < -max(tolerance.slope * least_squares, _ZERO_SLOPE)
        # of members side by side, which are nearly alike, the steepest is enough
        padded = np.concatenate(([np.inf], slope, [np.inf]))
        is_steepest_around = (slope <= padded[:-2]) & (slope <= padded[2:])
        missing = is_steep & is_steepest_around & ~taken
        if not missing.any():
            return
        if step < _MOST_STEPS:
            taken[taken] = solution > 0
        taken |= missing
