"""Corrections of samples from strata, by the joint distribution of the numbers above in each stratum.

The distribution of the true rank is that of `sampled_metrics.estimators.smooth`: a smooth and non-increasing π_r. Given
the rank, its split among the strata is

    log c(a | r) = Σ_s g_s(a_s / (r - 1), log r) + a constant of r,

where g_s are products of cubic B-splines with a penalty on their differences. The estimate of a metric f is the mean
over users of E[f(r) | x], by Bayes' rule with the fitted distribution. If everything is drawn, it is the exact metric
up to the width of the ranges of ranks. Estimates are the mean over a grid of λ, weighted by the marginal likelihood.

Each estimate is linearized at the sample: a user's weight is the estimate plus the user's influence on it, so that
intervals follow as those of linear estimators.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.estimators.linear import LinearEstimate
from sampled_metrics.estimators.smooth import PRIOR, STRENGTHS, spline
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.split_nodes import SplitNodes
from sampled_metrics.sampling.strata import StratifiedOutcomes

ROUGHNESS = 0.1
"""Weight of the penalty on the differences of the coefficients of g."""

_RIDGE = 1e-3  # of the coefficients of the split, so that there is one optimum
_SHARES, _RANKS = {2: 5, 3: 3}, {2: 6, 3: 4}  # intervals of the splines, by the number of strata
_MOST_STEPS, _GAIN, _LEAST_SIZE = 200, 1e-2, 1e-6


def smooth(outcomes: StratifiedOutcomes, metrics: Sequence[Metric]) -> LinearEstimate:
    """Fit the smooth joint distribution."""
    sample = _Sample.of(outcomes, metrics)
    return _linearized(sample, *_Joint.of(sample).estimate())


def maximum_likelihood(
    outcomes: StratifiedOutcomes, metrics: Sequence[Metric], iterations: int = 100
) -> LinearEstimate:
    """Fit the joint distribution by EM, from a uniform one of the rank and of the split."""
    sample = _Sample.of(outcomes, metrics)
    return _linearized(sample, *_em(sample, iterations))


def rank_estimate(outcomes: StratifiedOutcomes, metrics: Sequence[Metric]) -> LinearEstimate:
    """Return the metrics of Horvitz and Thompson's rank, 1 + Σ_s x_s N_s / m_s, rounded down except for AUC."""
    rank = 1 + (outcomes.x * outcomes.sizes / np.maximum(outcomes.drawn, 1)).sum(axis=1)
    whole = np.floor(rank + 1e-9)
    ranks = [rank if metric.linear_in_rank else whole for metric in metrics]
    return _of_ranks(ranks, outcomes.candidates, metrics)


def uncorrected(outcomes: StratifiedOutcomes, metrics: Sequence[Metric]) -> LinearEstimate:
    """Return the metrics of the rank among the sampled negatives, as if they were all candidates."""
    ranks = [1 + outcomes.x.sum(axis=1)] * len(metrics)
    return _of_ranks(ranks, 1 + outcomes.negatives, metrics)


def _of_ranks(ranks: Sequence[Floats | Ints], candidates: Ints, metrics: Sequence[Metric]) -> LinearEstimate:
    """Return the metrics of (outcomes,) ranks, given for each metric."""
    weights = [metric.of_rank(rank, candidates) for metric, rank in zip(metrics, ranks, strict=True)]
    ends = np.array([[0.0, float(metric.of_rank(1, 2))] for metric in metrics])
    return LinearEstimate(np.stack(weights), (ends,))


def planned_variances(
    above: Ints, sizes: Ints, metrics: Sequence[Metric]
) -> Callable[[Ints, np.random.Generator], tuple[Floats, Floats]]:
    """Fit the smooth distribution to exact numbers above, to find the variances that samples from strata will have.

    Args:
        above: (users, strata) a_s.
        sizes: (users, strata) N_s.
        metrics: of one relevant item.

    Returns:
        The function from (users, strata) numbers of negatives, and the random numbers of two samples of them, to the
        (metrics,) variances of the weights of `smooth`: over the samples of a user, and over users and samples. Divided
        by U, they are the squared errors that `correct` is to expect. Nothing is fitted to the samples.
    """
    known = _Joint.of(_Sample.of(_outcomes(above, sizes, sizes), metrics))
    _, exponents, splits, strength = max(known.modes(), key=lambda mode: mode[0])

    def variances(drawn: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        weights = []
        for _ in range(2):
            sample = _Sample.of(_outcomes(rng.hypergeometric(above, sizes - above, drawn), drawn, sizes), metrics)
            weights.append(_Joint.of(sample).fitted(exponents, splits, strength)[1][sample.row])
        return ((weights[0] - weights[1]) ** 2).mean(axis=0) / 2, np.var(weights, axis=(0, 1))

    return variances


def _outcomes(x: Ints, drawn: Ints, sizes: Ints) -> StratifiedOutcomes:
    return StratifiedOutcomes(x, drawn, sizes, np.ones(len(x), dtype=np.int64))


@dataclass(frozen=True)
class _Sample:
    """A sample on nodes.

    Attributes:
        nodes: of the joint distribution.
        likelihood: (rows, nodes) P(row | node).
        counts: (rows,) events.
        sizes: (strata,) mean sizes of the strata.
        candidates: the largest n.
        values: (ranges, metrics) means of the metrics.
        row: (outcomes,) the row of each outcome.
    """

    nodes: SplitNodes
    likelihood: Floats
    counts: Floats
    sizes: Floats
    candidates: int
    values: Floats
    row: Ints

    @classmethod
    def of(cls, outcomes: StratifiedOutcomes, metrics: Sequence[Metric]) -> "_Sample":
        """Lay out the nodes; each cut-off of a metric ends a range."""
        cutoffs = {metric.cutoff for metric in metrics if metric.cutoff is not None}
        nodes = SplitNodes.of(outcomes.sizes.max(axis=0), cutoffs)
        likelihood, row = nodes.likelihood(outcomes)
        counts = np.bincount(row, outcomes.events).astype(np.float64)
        sizes = np.average(outcomes.sizes, axis=0, weights=outcomes.events)
        values = nodes.values(tuple(metrics), outcomes.candidates, outcomes.events)
        return cls(nodes, likelihood, counts, sizes, int(outcomes.candidates.max()), values, row)


def _linearized(sample: _Sample, estimates: Floats, influence: Floats) -> LinearEstimate:
    """Return (metrics,) estimates as means of weights, from the (rows, metrics) influence of rows."""
    weights = estimates + influence - sample.counts @ influence / sample.counts.sum()
    return LinearEstimate(weights[sample.row].T, (np.stack((weights.min(axis=0), weights.max(axis=0)), axis=1),))


def _em(sample: _Sample, iterations: int) -> tuple[Floats, Floats]:
    """Return estimates by EM and the influence of rows, by differentiation of the iterations from the last one back."""
    nodes, likelihood, frequencies = sample.nodes, sample.likelihood, sample.counts / sample.counts.sum()
    widths = np.prod(nodes.high - nodes.low + 1.0, axis=1)
    of_range = np.bincount(nodes.range_of, widths)
    start = (nodes.last - nodes.first + 1.0)[nodes.range_of] * widths / of_range[nodes.range_of]
    path = [start / start.sum()]
    for _ in range(iterations):
        path.append(path[-1] * (likelihood.T @ (frequencies / _positive(likelihood @ path[-1]))))
    slope = sample.values[nodes.range_of]  # of the estimates by the (nodes,) probabilities
    estimates, influence = path[-1] @ slope, np.zeros((len(frequencies), slope.shape[1]))
    for distribution in path[-2::-1]:
        expected = _positive(likelihood @ distribution)
        joint = likelihood @ (distribution[:, np.newaxis] * slope) / expected[:, np.newaxis]
        influence += joint
        ratio = frequencies / expected
        slope = slope * (likelihood.T @ ratio)[:, np.newaxis] - likelihood.T @ (ratio[:, np.newaxis] * joint)
    return estimates, influence


@dataclass(frozen=True)
class _Joint:
    """The smooth model.

    Attributes:
        sample: what it is fitted to.
        rank_basis: (ranges, exponents) of log π_r.
        rank_penalty: (exponents, exponents) for λ = 1.
        split_basis: (nodes, coefficients) of log c.
        split_penalty: (coefficients, coefficients).
        base: (nodes,) log of the widths of the splits.
    """

    sample: _Sample
    rank_basis: Floats
    rank_penalty: Floats
    split_basis: Floats
    split_penalty: Floats
    base: Floats

    @classmethod
    def of(cls, sample: _Sample) -> "_Joint":
        """Lay out the model."""
        nodes, n = sample.nodes, sample.candidates
        ranks = 1 + (nodes.first + nodes.last) / 2
        basis, penalty = spline(ranks, n)
        split_basis, split_penalty = _split_basis(nodes, ranks[nodes.range_of], sample.sizes, n)
        others = np.delete(nodes.high - nodes.low + 1.0, int(np.argmax(sample.sizes)), axis=1)
        return cls(sample, basis, penalty, split_basis, split_penalty, np.log(others).sum(axis=1))

    def estimate(self) -> tuple[Floats, Floats]:
        """Return the mean estimates over λ, and the influence of rows."""
        modes = list(self.modes())
        evidence = np.array([each[0] for each in modes])
        chances = np.exp(evidence - evidence.max())
        chances /= chances.sum()
        fitted = [self.fitted(*each[1:]) for each in modes]
        estimates, influences = (np.tensordot(chances, np.array(each), axes=1) for each in zip(*fitted, strict=True))
        return estimates, influences

    def modes(self) -> Iterator[tuple[float, Floats, Floats, float]]:
        """Yield, for each λ, its log marginal likelihood, the exponents, the coefficients of the split, and λ."""
        exponents, splits = np.ones(self.rank_basis.shape[1]), np.zeros(self.split_basis.shape[1])
        for strength in STRENGTHS:
            exponents, splits = self._mode(exponents, splits, strength)
            _, information, value = self._information(exponents, splits, strength)
            log_det = np.linalg.slogdet(information)[1]
            evidence = value + (len(self.rank_penalty) - 1) * np.log(strength) / 2 - log_det / 2
            yield evidence, exponents, splits, float(strength)

    def fitted(self, exponents: Floats, splits: Floats, strength: float) -> tuple[Floats, Floats]:
        """Return the (metrics,) means of E[f(r) | x], and the (rows, metrics) influence of rows on them."""
        likelihood, counts, users = self.sample.likelihood, self.sample.counts, self.sample.counts.sum()
        scores, information, _ = self._information(exponents, splits, strength)
        joint, derivatives = self._derivatives(exponents, splits)
        expected, values = _positive(likelihood @ joint), self.sample.values[self.sample.nodes.range_of]
        of_rows = likelihood @ (joint[:, np.newaxis] * values) / expected[:, np.newaxis]  # E[f(r) | x]
        of_nodes = joint * (likelihood.T @ (counts / users / expected))  # mean of P(node | x)
        slope = derivatives.T @ (of_nodes[:, np.newaxis] * values) - scores.T @ (
            counts[:, np.newaxis] / users * of_rows
        )
        return counts @ of_rows / users, of_rows + users * scores @ np.linalg.solve(information, slope)

    def _mode(self, exponents: Floats, splits: Floats, strength: float) -> tuple[Floats, Floats]:
        """Return the most likely exponents and coefficients, by Fisher scoring with step halving."""
        count = len(exponents)
        for _ in range(_MOST_STEPS):
            scores, information, value = self._information(exponents, splits, strength)
            slope = self.sample.counts @ scores
            slope[:count] += PRIOR * (1 / exponents - 1) - strength * self.rank_penalty @ exponents
            slope[count:] -= self.split_penalty @ splits
            step = np.linalg.solve(information, slope)
            gain = slope @ step
            if gain < _GAIN:
                break
            size = min(1.0, 0.9 / max((-step[:count] / exponents).max(), 0.9))  # keeps the exponents above 0
            while size > _LEAST_SIZE:
                ahead = exponents + size * step[:count], splits + size * step[count:]
                if self._value(*ahead, strength) >= value + 1e-4 * size * gain:
                    break
                size /= 2
            else:
                break
            exponents, splits = ahead
        return exponents, splits

    def _model(self, exponents: Floats, splits: Floats) -> tuple[Floats, Floats]:
        """Return the (ranges,) π of ranges of ranks, and the (nodes,) chances of splits given the range."""
        nodes = self.sample.nodes
        logs = np.log(nodes.last - nodes.first + 1.0) - self.rank_basis @ exponents
        distribution = np.exp(logs - logs.max())
        logs = self.base + self.split_basis @ splits
        most = np.full(len(distribution), -np.inf)
        np.maximum.at(most, nodes.range_of, logs)
        chances = np.exp(logs - most[nodes.range_of])
        return distribution / distribution.sum(), chances / np.bincount(nodes.range_of, chances)[nodes.range_of]

    def _value(self, exponents: Floats, splits: Floats, strength: float) -> float:
        """Return the objective."""
        distribution, chances = self._model(exponents, splits)
        expected = _positive(self.sample.likelihood @ (distribution[self.sample.nodes.range_of] * chances))
        rough = strength * exponents @ self.rank_penalty @ exponents + splits @ self.split_penalty @ splits
        return float(self.sample.counts @ np.log(expected) - rough / 2 + PRIOR * (np.log(exponents) - exponents).sum())

    def _information(self, exponents: Floats, splits: Floats, strength: float) -> tuple[Floats, Floats, float]:
        """Return the (rows, parameters) scores of rows, the information, and the objective."""
        count, (joint, derivatives) = len(exponents), self._derivatives(exponents, splits)
        expected = _positive(self.sample.likelihood @ joint)
        scores = self.sample.likelihood @ (joint[:, np.newaxis] * derivatives) / expected[:, np.newaxis]
        information = (scores.T * self.sample.counts) @ scores
        information[:count, :count] += strength * self.rank_penalty + np.diag(PRIOR / exponents**2)
        information[count:, count:] += self.split_penalty
        return scores, information, self._value(exponents, splits, strength)

    def _derivatives(self, exponents: Floats, splits: Floats) -> tuple[Floats, Floats]:
        """Return the (nodes,) probabilities, and the (nodes, parameters) derivatives of their logarithms."""
        range_of = self.sample.nodes.range_of
        distribution, chances = self._model(exponents, splits)
        sums = np.zeros((len(distribution), self.split_basis.shape[1]))
        np.add.at(sums, range_of, chances[:, np.newaxis] * self.split_basis)
        of_ranks = distribution @ self.rank_basis - self.rank_basis
        return distribution[range_of] * chances, np.hstack((of_ranks[range_of], self.split_basis - sums[range_of]))


def _split_basis(nodes: SplitNodes, ranks: Floats, sizes: Floats, candidates: int) -> tuple[Floats, Floats]:
    """Return the (nodes, coefficients) basis of log c, and the matrix of its penalty."""
    from scipy.linalg import block_diag  # slow to import, and used only here

    strata = len(sizes)
    of_rank = _bsplines(np.log(ranks) / np.log(candidates), _RANKS[strata])
    rough = np.diff(np.eye(of_rank.shape[1]), axis=0)
    blocks, penalties = [], []
    shown = [int(np.argmin(sizes))] if strata == 2 else range(strata)  # of two, one share is 1 minus the other
    for stratum in shown:
        share = _bsplines(nodes.split[:, stratum] / np.maximum(ranks - 1, 1), _SHARES[strata])
        bend = np.diff(np.eye(share.shape[1]), n=2, axis=0)
        blocks.append((share[:, :, np.newaxis] * of_rank[:, np.newaxis, :]).reshape(len(share), -1))
        penalties.append(
            np.kron(bend.T @ bend, np.eye(of_rank.shape[1])) + np.kron(np.eye(share.shape[1]), rough.T @ rough)
        )
    penalty = ROUGHNESS * block_diag(*penalties)
    return np.hstack(blocks), penalty + _RIDGE * np.eye(len(penalty))


def _bsplines(places: Floats, intervals: int) -> Floats:
    """Return the (places, functions) cubic B-splines on equal intervals of 0 … 1."""
    from scipy.interpolate import BSpline  # slow to import, and used only here

    knots = np.arange(-3, intervals + 4.0)
    return np.asarray(BSpline.design_matrix(np.clip(intervals * places, 0, intervals), knots, 3).toarray())


def _positive(values: Floats) -> Floats:
    return np.maximum(values, np.finfo(np.float64).tiny)


LINEAR = {"uncorrected": uncorrected, "rank-estimate": rank_estimate}
"""The estimators whose weights do not depend on the sample, by label."""

ESTIMATORS = {**LINEAR, "mle": maximum_likelihood, "smooth": smooth}
"""The estimators of samples from strata, by label."""
