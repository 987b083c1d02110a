"""Comparisons of samples that are drawn from exact ranks: how often they decide for the better recommender."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sampled_metrics._validation import Ints
from sampled_metrics.evaluation.compare import compare
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import draw


class Contender(NamedTuple):
    """A recommender of a pair.

    Attributes:
        ranks: its exact ranks.
        user: (rows,) the numbers of the users, from 0. Both recommenders have the same users.
    """

    ranks: ExactRanks
    user: Ints


class Simulated(NamedTuple):
    """How many of some simulated comparisons decide for the better recommender."""

    negatives: int
    decided: int
    comparisons: int

    @property
    def share(self) -> float:
        """The share of the comparisons that decide for the better recommender."""
        return self.decided / self.comparisons


def simulated_comparisons(
    worse: Contender, better: Contender, design: SamplingDesign, estimator: str, metric: Metric, number: int
) -> Simulated:
    """Simulate evaluations of as many new users as there are, each with samples of its own, and compare them.

    A new user has the ranks of one that is drawn with replacement. The seeds are 0, 1, ...

    Args:
        worse: a recommender.
        better: the better one by exact ranks.
        design: how negatives are drawn.
        estimator: of `compare`, such as decreasing.
        metric: the metric.
        number: of the comparisons.
    """
    decided = 0
    for seed in range(number):
        rng = np.random.default_rng(seed)
        users = int(worse.user.max()) + 1
        drawn = rng.integers(users, size=users)
        samples = {name: _sample(of_one, drawn, design, rng) for name, of_one in (("worse", worse), ("better", better))}
        compared = compare(samples, metrics=metric, estimator=estimator)
        decided += int(compared["conclusion"].iloc[0] == "better")
    return Simulated(design.negatives, decided, number)


def _sample(of_one: Contender, drawn: Ints, design: SamplingDesign, rng: np.random.Generator) -> SampledRanks:
    """Return samples of the rows of new users, who have the numbers of their places in `drawn`."""
    rows = np.argsort(of_one.user, kind="stable")
    counts = np.bincount(of_one.user)
    first = np.cumsum(counts) - counts
    of_drawn = counts[drawn]
    place = np.arange(of_drawn.sum()) - np.repeat(np.cumsum(of_drawn) - of_drawn, of_drawn)
    chosen = rows[np.repeat(first[drawn], of_drawn) + place]
    above, tied, candidates = (
        np.asarray(column)[chosen] for column in (of_one.ranks.above, of_one.ranks.tied, of_one.ranks.candidates)
    )
    x = draw(above, tied, candidates, design, rng).ranked_above("random")
    user = np.repeat(np.arange(len(drawn)), of_drawn)
    return SampledRanks(x, np.full_like(x, design.negatives), candidates, design.replacement, user)
