"""Exact ranks that samples allow, as pilots of a plan.

A sampled pilot does not have the true ranks, but some distributions of them fit it. From each of these, every user is
given a rank that is drawn from the distribution given the user's own sample, so that users who are alike stay alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtri

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.estimators.shapes import density
from sampled_metrics.estimators.smooth import Smooth
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, StrictBounds
from sampled_metrics.inference.findings import Finding, about
from sampled_metrics.inference.samples import Sample
from sampled_metrics.inference.strict import strict_values
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import RankClass

_DISTANCE = 0.5 * float(ndtri(0.975))  # of the extremes from the best fit, in standard errors, as in `compare`


def laws_of_samples(
    tables: Mapping[str, SampledRanks], metric: Metric
) -> tuple[list[dict[str, ExactRanks]], list[Finding]]:
    """Return exact ranks of recommenders by three laws that fit their samples, and findings on the samples.

    The laws are smooth, closest and farthest. By the closest one, the recommenders that are better by the smooth ranks
    than the mean have the worst ranks by the metric that decreasing allows, and the others the best ones; by the
    farthest law the opposite. Of a single recommender, they are the worst and the best ranks.
    """
    of_tables, findings = {}, list[Finding]()
    for number, (name, table) in enumerate(tables.items()):
        of_tables[name], of_one = _ranks_that_fit(table, metric, number)
        findings += about(of_one, name)
    means = {name: float(laws["smooth"].values(metric).mean()) for name, laws in of_tables.items()}
    is_better = {name: mean >= np.mean(list(means.values())) for name, mean in means.items()}
    return [
        {name: laws["smooth"] for name, laws in of_tables.items()},
        {name: laws["low" if is_better[name] else "high"] for name, laws in of_tables.items()},
        {name: laws["high" if is_better[name] else "low"] for name, laws in of_tables.items()},
    ], findings


def _ranks_that_fit(table: SampledRanks, metric: Metric, seed: int) -> tuple[dict[str, ExactRanks], list[Finding]]:
    """Return smooth ranks, and those with the lowest and the highest metric that decreasing, or free, allows."""
    outcomes, outcome = Outcomes.observed(table)
    sample = Sample.from_ranks(table, table.user_numbers)
    counts = np.bincount(outcome, minlength=len(outcomes)).astype(np.float64)
    estimate = ShapeEstimate(StrictBounds("decreasing"), (metric,), outcomes)
    support = strict_values(estimate, sample, estimate.moments(counts)[1], 0.05)
    smooth = Smooth().fit(outcomes, (metric,)).distributions(counts[np.newaxis])
    fits = estimate.fits(counts, support.assumption)

    def extreme(side: int) -> list[tuple[RankClass, Floats, Floats]]:
        parts = []
        for users, fit in fits:
            if fit is not None:
                share = fit.users / counts.sum()
                proportions = fit.furthest(0, side, _DISTANCE * float(np.sqrt(share)))
                nodes = users.nodes((metric,))
                of_members = density(users.sizes, (metric,), support.assumption, nodes.ranks)
                parts.append((users, nodes.ranks, proportions @ of_members * nodes.weights))
        return parts

    distributions = {
        "smooth": [(one.users, one.ranks, one.probabilities[0]) for one in smooth],
        "low": extreme(-1),
        "high": extreme(1),
    }
    return {
        name: _drawn(table, outcome, parts, np.random.default_rng(seed)) for name, parts in distributions.items()
    }, [one for one in support.findings if one.kind != "supported"]


def _drawn(
    table: SampledRanks, outcome: Ints, parts: list[tuple[RankClass, Floats, Floats]], rng: np.random.Generator
) -> ExactRanks:
    """Draw the true rank of each row, given its outcome, from the distribution of ranks of its class."""
    above = np.zeros(len(table), dtype=np.int64)
    for users, ranks, probabilities in parts:
        column = np.full(outcome.max() + 1, -1)
        column[users.outcomes] = users.columns[2]
        rows = np.flatnonzero(column[outcome] >= 0)
        joint = np.cumsum(probabilities[:, np.newaxis] * users.likelihood(ranks, None), axis=0)
        for number in np.unique(column[outcome[rows]]):
            same = rows[column[outcome[rows]] == number]
            drawn = np.searchsorted(joint[:, number], rng.random(len(same)) * joint[-1, number], side="right")
            above[same] = np.round(ranks[np.minimum(drawn, len(ranks) - 1)]) - 1
    return ExactRanks(table.user, table.candidates, np.minimum(above, table.candidates - 1), np.zeros_like(above))
