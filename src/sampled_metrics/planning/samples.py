"""Samples of negatives of a pilot's exact ranks, and the values of users that estimators give."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.estimators.shapes import FREE, SHAPES
from sampled_metrics.core.estimators.strict_bounds import (
    SIGNIFICANCE,
    ShapeEstimate,
    ShapeTest,
    are_beyond,
    critical_statistic,
    has_bounds,
)
from sampled_metrics.core.evaluation.values import (
    UserValues,
    sampled_values,
    values_of_bounds,
    without_bias,
)
from sampled_metrics.core.inference.means import FEW_USERS
from sampled_metrics.core.inference.strict import HARDLY_WIDER, Sample, StrictValues
from sampled_metrics.core.sampling.distributions import SamplingDesign, sparse_pmf
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.planning.forecast import Possible, forecast
from sampled_metrics.planning.pilot import Law, Pilot, of_users, stratified

_MOST_SIZES = 12  # different n of simulated samples; more are taken together, with their mean
_NUMBERS = 2**22  # probabilities that are held at once
_OF_CRITICAL = 5  # evaluations whose tests give the critical value
_CHOOSING = 0.8  # share of the users whose sample chooses the weights of a fold


class Samples:
    """Samples of negatives of the population of a pilot.

    More than a dozen different numbers of candidates are taken as a dozen, each with its mean, for
    the estimators.
    """

    def __init__(self, pilot: Pilot, design: SamplingDesign) -> None:
        self.pilot = pilot
        self.design = design
        ranks = next(iter(pilot.exact.values()))

        # --- the numbers of candidates, and the size that each is taken as
        self.distinct, place = np.unique(ranks.candidates, return_inverse=True)
        groups = np.array_split(np.arange(len(self.distinct)), min(len(self.distinct), _MOST_SIZES))
        size = np.empty(len(self.distinct), dtype=np.int64)
        for group in groups:
            size[group] = round(float(ranks.candidates[np.isin(place, group)].mean()))
        self.sizes, self.number_of_size = np.unique(size, return_inverse=True)

        # --- the outcomes of each size: x from 0 to m
        m = design.negatives
        x = np.tile(np.arange(m + 1), len(self.sizes))
        n = np.repeat(self.sizes, m + 1)
        # an estimator takes the events of a size together, so that all may stand at x = 0
        counts = np.zeros((len(self.sizes), m + 1), dtype=np.int64)
        counts[:, 0] = np.bincount(self.number_of_size[place], minlength=len(self.sizes))
        self.outcomes = Outcomes(x, np.full_like(x, m), n, design.replacement, counts.ravel())

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """By recommender, the sample of the population, who have repeated samples each."""
        everyone = self.pilot.everyone
        population = np.repeat(np.arange(everyone.users), self.pilot.repeats)
        samples = {}
        for number, name in enumerate(everyone.exact):
            rows, owner = everyone.rows_of(name, population)
            rng = np.random.default_rng([number, self.design.negatives])
            column = self._drawn_outcomes(name, rows, owner % self.pilot.repeats, rng)
            weight = 1 / np.bincount(owner)[owner]
            shape = (len(population), len(self.outcomes))
            samples[name] = Sample(self.outcomes, csr_array((weight, (owner, column)), shape=shape))
        return samples

    def _drawn_outcomes(
        self, name: str, rows: Ints, repeat: Ints, rng: np.random.Generator
    ) -> Ints:
        """Return the (rows,) outcomes that are drawn for rows of a recommender.

        Negatives are drawn uniformly, and ties are broken at random.
        """
        table = self.pilot.everyone.exact[name]
        uniform = stratified(len(table), self.pilot.repeats, rng)[rows, repeat]
        tied_above = np.floor(rng.random(len(rows)) * (table.tied[rows] + 1)).astype(np.int64)
        n = table.candidates[rows]
        x = _quantiles(table.above[rows] + tied_above, n - 1, self.design, uniform)
        size = self.number_of_size[np.searchsorted(self.distinct, n)]
        return np.asarray(size * (self.design.negatives + 1) + x)

    def values(self, estimator: Estimator) -> dict[str, Possible]:
        """Return the values of the users by an estimator without bounds, by recommender."""
        metrics = [self.pilot.metric]
        estimate = estimator.fit(self.outcomes, metrics)
        by_recommender: dict[str, Possible] = {}
        for name, sample in self.samples.items():
            if estimate.weights is None:
                sample = self._without_added_users(sample)
            values = sampled_values(sample, estimate, metrics, SIGNIFICANCE)
            by_recommender[name] = [(1.0, self._with_added_users(values, name))]
        return by_recommender

    def _without_added_users(self, sample: Sample) -> Sample:
        return Sample(self.outcomes, sample.shares[: self.pilot.users * self.pilot.repeats])

    def _with_added_users(self, values: UserValues, name: str) -> UserValues:
        """Return values for the two users whom the pilot lacks, where they are left out.

        The user with the last item has the values of the largest x, and the other one those of the
        smallest x.
        """
        if values.users == len(self.samples[name]):
            return values
        sample = self._without_added_users(self.samples[name])
        x = sample.of_users(self.outcomes.x[np.newaxis].astype(np.float64))[0]
        added = np.repeat([x.argmax(), x.argmin()], self.pilot.repeats)
        return of_users(values, np.append(np.arange(values.users), added))


class BoundedSamples:
    """The values of users by an estimator of strict bounds.

    The weights are those that a sample of the expected shares chooses, for a number of users.
    """

    def __init__(
        self, samples: Samples, estimator: Estimator, alpha: float, evaluations: int
    ) -> None:
        self.evaluations = evaluations
        self.samples = samples
        self.pilot = samples.pilot
        self.alpha = alpha
        self.estimate = _bounded(estimator.fit(samples.outcomes, [self.pilot.metric]))
        self.values = cache(self._values)

    def _values(self, law: Law, users: int) -> dict[str, Possible]:
        """Return the values of users of a law, by recommender, for evaluations of so many."""
        return {name: self._possible(name, law, users) for name in law.shares}

    def _possible(self, name: str, law: Law, users: int) -> Possible:
        """Return the values under each assumption that an evaluation may take, with its chance."""
        sample = self.samples.samples[name]
        shares = self.pilot.shares_of_values(law, name, len(sample))
        expected = users * np.asarray(shares @ sample.shares)
        exact = self.pilot.everyone.values[name].low[0]
        shares_of_users = law.shares[name]
        variance = float(shares_of_users @ (exact - shares_of_users @ exact) ** 2)
        possible = []
        remaining = 1.0
        for assumption in SHAPES[SHAPES.index(self.estimate.estimator.shape) :: -1]:
            values = self._by_weights(sample, expected, assumption)
            if assumption == FREE:
                possible.append((remaining, values))
                break
            expected_ends = forecast(values, shares, users, self.alpha)
            if self._is_narrow(expected_ends.high - expected_ends.low, variance, users):
                continue
            left = remaining * self.contradicted[name, assumption]
            possible.append((remaining - left, values))
            remaining = left
        return [(chance, values) for chance, values in possible if chance > 0]

    def _by_weights(self, sample: Sample, expected: Floats, assumption: str) -> UserValues:
        """Return the values of all users by the weights that (outcomes,) expected counts choose."""
        deviations = -float(ndtri(self.alpha / 2))
        fits = self.estimate.fits_of_part(assumption, _CHOOSING * expected)
        choice = self.estimate.bounding_weights(fits, deviations)
        low, high = (sample.of_users(weights) for weights in choice.weights)
        bounds = np.stack((choice.least.T, choice.most.T), axis=-1)
        support = StrictValues(low, high, bounds, assumption, [])
        metrics = self.estimate.metrics
        # the value between the ends is not planned for, so that it moves none of them
        middle = (low.mean(axis=1) + high.mean(axis=1)) / 2
        return without_bias(values_of_bounds(support, metrics, middle), sample, metrics)

    def _is_narrow(self, width: float, variance: float, users: int) -> bool:
        """Return whether `correct` drops an assumption that alone decides."""
        if users < FEW_USERS or self.pilot.metric.label == "auc":
            return False
        exact_width = -2 * float(ndtri(self.alpha / 2)) * np.sqrt(variance / users)
        return width < HARDLY_WIDER * exact_width

    @cached_property
    def contradicted(self) -> dict[tuple[str, str], float]:
        """By recommender and assumption, the share of evaluations whose sample contradicts it.

        The evaluations have as many users as the pilot. All their samples come from one law, so
        that one critical value is enough.
        """
        shares_of = {}
        for name, sample in self.samples.samples.items():
            for assumption in SHAPES[SHAPES.index(self.estimate.estimator.shape) : 0 : -1]:
                tests_of_evaluations = self._tests(sample, assumption)
                few = tests_of_evaluations[:_OF_CRITICAL]
                critical = critical_statistic(few, 0, SIGNIFICANCE)
                contradictions = 0
                for tests in tests_of_evaluations:
                    contradictions += are_beyond(tests, [test.observed for test in tests], critical)
                shares_of[name, assumption] = contradictions / self.evaluations
        return shares_of

    def _tests(self, sample: Sample, assumption: str) -> list[list[ShapeTest]]:
        """Return the tests of an assumption by samples of users who are drawn from the pilot."""
        users = self.pilot.users
        ones = np.ones(users, dtype=np.int64)
        shares = sample.shares[: users * self.pilot.repeats]
        tests = []
        for number in range(self.evaluations):
            rng = np.random.default_rng([number, users])
            drawn = shares[rng.integers(0, shares.shape[0], users)]
            counts = np.asarray(drawn.sum(axis=0), dtype=np.float64)
            fits = self.estimate.fits(counts, assumption)
            tests.append(self.estimate.tests(ones, drawn, fits))
        return tests


def _bounded(estimate: Estimate) -> ShapeEstimate:
    assert has_bounds(estimate)
    return estimate


def _quantiles(above: Ints, pool: Ints, design: SamplingDesign, uniform: Floats) -> Ints:
    """Return the (rows,) quantiles of x of m negatives, where `above` of a pool are above."""
    width = design.negatives + 1
    pairs, which = np.unique(np.stack((above, pool)), axis=1, return_inverse=True)
    which = which.ravel()
    x = np.empty(len(above), dtype=np.int64)
    step = max(1, _NUMBERS // width)
    for start in range(0, pairs.shape[1], step):
        end = min(start + step, pairs.shape[1])
        probabilities = sparse_pmf(pairs[0, start:end], pairs[1, start:end], design)
        cumulative = np.minimum(np.cumsum(probabilities, axis=1), 1.0)
        cumulative[:, -1] = 1.0
        # the distributions one after another, so that one search finds the quantiles of all
        joined = (cumulative + np.arange(end - start)[:, np.newaxis]).ravel()
        in_block = (which >= start) & (which < end)
        number = which[in_block] - start
        places = np.searchsorted(joined, number + uniform[in_block], side="right")
        x[in_block] = places - number * width
    return x
