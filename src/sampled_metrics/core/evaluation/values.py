"""Values by user: what every kind of ranks answers with, and what every interval is made of.

A metric is a mean over users. Of exact ranks and lists, the value of a user is the metric. Of
staged ranks it is φ, of sampled ranks the weight of a linear estimator, or the pseudo-value of
another one. Their mean is the estimate. Strict bounds give a user two values, whose means are, in
expectation, at most and at least the metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.estimators.shapes import DECREASING, FREE
from sampled_metrics.core.estimators.strict_bounds import has_bounds
from sampled_metrics.core.evaluation.phrases import ASSUMPTIONS, condition
from sampled_metrics.core.findings import Finding, grouped
from sampled_metrics.core.inference.means import FEW_USERS, Intervals, intervals
from sampled_metrics.core.inference.seeds import SeedSpread, with_seeds
from sampled_metrics.core.inference.strict import (
    Sample,
    StrictValues,
    pseudo_values,
    strict_values,
    unexplained,
)
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.runs import Runs
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import DataError

SHARED = "drawn-once"
"""The kind of finding that users share negatives, and that there is one draw of them."""

NO_ASSUMPTION = "none"
UNIFORM = "uniform negatives"
NO_BIAS = "bias is zero"
"""What an interval assumes, in addition to the assumptions on the ranks.

All intervals of sampled ranks assume that negatives are drawn uniformly among the n candidates.
"""


@dataclass(frozen=True)
class UserValues:
    """Values of metrics for each user of a recommender.

    Attributes:
        low: (metrics, users) values whose mean is, in expectation, at most the metric.
        high: (metrics, users) values whose mean is at least the metric.
        one_value: whether a user has one value, known or estimated, so that low and high are the
            same, and not a smallest and a largest one.
        bounds: (metrics, 2, 2) smallest and largest value of any user, seen or not, of low and of
            high; infinite if there are none, and then the interval is Student's.
        limits: (metrics, 2) smallest and largest value of the mean.
        point: (metrics,) the value that is printed; every interval includes it.
        assumes: what must be true for the interval to hold the metric: nothing, uniform negatives,
            decreasing, or that the bias is zero.
        is_explained: whether a distribution of true ranks explains the sample. Otherwise there is
            no interval.
        is_shared: whether all users share one draw of negatives, so that there is no interval.
        findings: what is to be said of the values.
        spreads: what the seeds of each recommender with several ones, or the draws, add to the
            variance of the mean.
        draws: the values of each draw of negatives that users share, if there are several.
    """

    low: Floats
    high: Floats
    one_value: bool
    bounds: Floats
    limits: Floats
    point: Floats
    assumes: str = NO_ASSUMPTION
    is_explained: bool = True
    is_shared: bool = False
    findings: tuple[Finding, ...] = ()
    spreads: tuple[SeedSpread, ...] = ()
    draws: tuple[UserValues, ...] = ()

    @property
    def users(self) -> int:
        """The number of users."""
        return self.low.shape[1]

    @property
    def has_interval(self) -> bool:
        """Whether an interval of the mean can be trusted.

        A single user does not show how users vary.
        """
        return self.users > 1 and self.is_explained and not self.is_shared

    def of_metric(self, index: int) -> UserValues:
        """Return the values of one metric."""
        rows = slice(index, index + 1)
        return replace(
            self,
            low=self.low[rows],
            high=self.high[rows],
            bounds=self.bounds[rows],
            limits=self.limits[rows],
            point=self.point[rows],
            spreads=tuple(spread.of_metric(index) for spread in self.spreads),
            draws=tuple(draw.of_metric(index) for draw in self.draws),
        )

    def tested(self, not_explained: Sequence[Finding]) -> UserValues:
        """Return the values with the findings of `unexplained`; they have no interval if any."""
        findings = (*self.findings, *not_explained)
        is_explained = self.is_explained and not not_explained
        return replace(self, is_explained=is_explained, findings=findings)

    def of_these_runs(self) -> UserValues:
        """Return the values without the spread between seeds: only users are random."""
        return self if self.draws else replace(self, spreads=())

    def interval(self, alpha: Floats | float, *, test: bool = False) -> Intervals:
        """Return the (metrics,) intervals of the mean.

        Parameters are as in `inference.means.intervals`.
        """
        high = self.low if self.one_value else self.high
        ends = intervals(self.low, high, self.bounds, self.limits, alpha, test=test)
        if self.spreads:
            ends = with_seeds(ends, self.point, self.spreads, self.limits, alpha)
        if not self.one_value:
            ends = self._around_point(ends)
        if self.has_interval:
            return ends
        missing = np.full_like(ends.low, np.nan)
        error = missing if self.is_shared else ends.standard_error
        return Intervals(missing, missing, error, missing)

    def _around_point(self, ends: Intervals) -> Intervals:
        """Return intervals that include the point.

        The point is not made of the values of users. An end moves outward if the point is beyond
        it. If the point is on the other side of 0, the interval includes 0 at every level.
        """
        is_above = (self.low.mean(axis=1) > 0) & (self.point <= 0)
        is_below = (self.high.mean(axis=1) < 0) & (self.point >= 0)
        return replace(
            ends,
            low=np.where(self.point < ends.low, self.point, ends.low),
            high=np.where(self.point > ends.high, self.point, ends.high),
            p_value=np.where(is_above | is_below, 1.0, ends.p_value),
        )

    def minus(self, subtrahend: UserValues, ratio: float = 1.0) -> UserValues:
        """Return these values minus those of another recommender of the same users.

        The values of the other recommender are multiplied by `ratio`, which is above 0. The
        findings are those of both. Draws of shared negatives are paired: their spread is that of
        the differences.
        """
        if self.draws:
            pairs = zip(self.draws, subtrahend.draws, strict=True)
            return mean_of_runs([draw.minus(paired_draw, ratio) for draw, paired_draw in pairs])
        # the smallest difference is from the largest value of the other recommender
        low = self.low - ratio * subtrahend.high
        one_value = self.one_value and subtrahend.one_value
        return UserValues(
            low=low,
            high=low if one_value else self.high - ratio * subtrahend.low,
            one_value=one_value,
            bounds=self.bounds - ratio * subtrahend.bounds[:, ::-1, ::-1],
            limits=self.limits - ratio * subtrahend.limits[:, ::-1],
            point=self.point - ratio * subtrahend.point,
            is_explained=self.is_explained and subtrahend.is_explained,
            is_shared=self.is_shared or subtrahend.is_shared,
            findings=(*self.findings, *subtrahend.findings),
            spreads=(*self.spreads, *(spread.scaled(ratio) for spread in subtrahend.spreads)),
        )


def values_of(
    table: Any,
    user: Ints,
    metrics: Sequence[Metric],
    estimator: Estimator | None = None,
    alpha: float = 0.05,
) -> UserValues:
    """Return the values of ranks or lists.

    Args:
        table: exact ranks, staged ranks or lists; or sampled ranks, with an estimator.
        user: (rows,) numbers of the users, from 0.
        metrics: the metrics.
        estimator: corrects sampled ranks.
        alpha: error rate of the interval for which strict bounds are best.
    """
    if estimator is None:
        return _known(table, user, metrics)
    sample = Sample.from_ranks(table, user)
    estimate = estimator.fit(sample.outcomes, metrics)
    values = sampled_values(sample, estimate, metrics, alpha)
    if not has_bounds(estimate):
        values = values.tested(unexplained(sample))
    return replace(values, findings=(*values.findings, *about_users(user)))


def values_of_runs(
    runs: Runs, metrics: Sequence[Metric], estimator: Estimator | None = None, alpha: float = 0.05
) -> UserValues:
    """Return the mean values over the paired runs of a recommender.

    Parameters and errors are as in `values_of` and `mean_of_runs`.
    """
    tables = zip(runs.tables, runs.users, strict=True)
    return mean_of_runs(
        [values_of(table, users, metrics, estimator, alpha) for table, users in tables]
    )


def assumption_of(shape: str | None) -> str:
    """Return what the interval of an estimator assumes.

    `shape` is what its strict bounds assume of the ranks; None if it has none.
    """
    if shape is None:
        return NO_BIAS
    return UNIFORM if shape == FREE else shape


def finding_of_assumption(assumes: str) -> list[Finding]:
    """Return the finding on what strict bounds assume; none for other intervals."""
    shape = FREE if assumes == UNIFORM else assumes
    if shape not in ASSUMPTIONS:
        return []
    values = {"assumption": shape, "condition": condition(shape)}
    return [Finding("interval-assumes", values=values)]


def ranks_of_runs(runs: Runs, values: UserValues) -> Floats:
    """Return (1 or metrics, users) mean ranks of users over the runs; NaN if not known.

    The smaller the rank, the better.

    Ranks are the same for all metrics. Lists have their negative values in place of ranks.
    """
    if all(table.expected_above is not None for table in runs.tables):
        ranks_by_run = [
            mean_by_user(table.expected_above[np.newaxis], users)
            for table, users in zip(runs.tables, runs.users, strict=True)
        ]
        return np.mean(ranks_by_run, axis=0)
    return -values.low if runs.first_table.has_values_of_users else np.full_like(values.low, np.nan)


def _known(table: Table, user: Ints, metrics: Sequence[Metric]) -> UserValues:
    """Return the values of exact ranks, staged ranks or lists."""
    values, outcome, smallest, largest, largest_mean = table.outcome_values(metrics)
    return _of_one_value(
        mean_by_user(values[:, outcome], user),
        bounds=np.stack((smallest, largest), axis=1),
        limits=np.stack((np.zeros_like(largest_mean), largest_mean), axis=1),
        findings=tuple(about_users(user, table)),
    )


def _of_one_value(
    values: Floats, bounds: Floats, limits: Floats, point: Floats | None = None, **others: Any
) -> UserValues:
    """Return users with one value each, of (metrics, 2) bounds.

    The point is the mean of the values by default.
    """
    return UserValues(
        low=values,
        high=values,
        one_value=True,
        bounds=np.stack((bounds, bounds), axis=1),
        limits=limits,
        point=values.mean(axis=1) if point is None else point,
        **others,
    )


def sampled_values(
    sample: Sample,
    estimate: Estimate,
    metrics: Sequence[Metric],
    alpha: float,
    moments: tuple[Floats, Floats] | None = None,
) -> UserValues:
    """Return the values of sampled ranks by a fitted estimator.

    Args:
        sample: the sampled ranks.
        estimate: the fitted estimator.
        metrics: the metrics.
        alpha: error rate of the interval for which strict bounds are best.
        moments: (metrics,) means and variances over users by a strict bound of the same sample, if
            they are known.
    """
    if sample.is_popular:
        return _by_popularity(sample, estimate, metrics)
    if has_bounds(estimate) and sample.outcomes.are_exact:
        return _fully_sampled(sample, metrics)
    if has_bounds(estimate):
        values = _bounded(sample, estimate, metrics, alpha, moments)
    elif estimate.weights is None:
        values = _jackknife(sample, estimate, metrics)
    else:
        values = _linear(sample, estimate, metrics)
    if not estimate.is_linear:
        values = without_bias(values, sample, metrics)
    on_draws = Finding(SHARED if sample.is_shared else "drawn-by-user")
    findings = (on_draws, *values.findings)
    return replace(values, is_shared=sample.is_shared, findings=findings)


def are_unbiased(metrics: Sequence[Metric], negatives: Ints) -> NDArray[np.bool_]:
    """Return the (metrics,) metrics that sampling does not change in expectation.

    The number of sampled negatives above the held-out item has a mean that is linear in the rank,
    so these are the metrics that are linear in the rank, if every row has a negative.
    """
    have_negatives = bool((negatives > 0).all())
    return np.array([metric.linear_in_rank and have_negatives for metric in metrics])


def without_bias(values: UserValues, sample: Sample, metrics: Sequence[Metric]) -> UserValues:
    """Return values with the metrics of the sample where these have no bias.

    Linear estimators keep their own weights, whose bias is known. A user has one value, also by
    strict bounds.
    """
    rows = np.flatnonzero(are_unbiased(metrics, sample.outcomes.negatives)).tolist()
    low = values.low.copy()
    high = values.high.copy()
    bounds = values.bounds.copy()
    limits = values.limits.copy()
    point = values.point.copy()
    for row in rows:
        sampled_ranks = sample.outcomes.x + 1
        weights = metrics[row].of_rank(sampled_ranks, sample.outcomes.negatives + 1)
        values_of_users = sample.of_users(weights[np.newaxis])[0]
        point[row] = values_of_users.mean()
        limits[row] = (0.0, metrics[row].largest)
        bounds[row] = limits[row]
        # strict bounds of a single user, or of an impossible sample, are not known
        if np.isfinite(low[row]).all():
            low[row] = values_of_users
            high[row] = values_of_users
    return replace(values, low=low, high=high, bounds=bounds, limits=limits, point=point)


def _by_popularity(sample: Sample, estimate: Estimate, metrics: Sequence[Metric]) -> UserValues:
    """Return the smallest and largest values of users whose negatives are not drawn uniformly.

    Distinct negatives above or below the held-out item are as many candidates there. If negatives
    may be drawn again, several of them may be one candidate.
    """
    if not has_bounds(estimate):
        raise DataError(
            "negatives that are drawn by popularity have bounds, and no estimate; take the "
            "estimator free"
        )
    outcomes = sample.outcomes
    above = outcomes.x
    below = outcomes.negatives - outcomes.x
    if outcomes.replacement:
        above = np.minimum(above, 1)
        below = np.minimum(below, 1)
    n = outcomes.candidates
    limits = _limits(metrics)
    return UserValues(
        low=sample.of_users(np.stack([metric.of_rank(n - below, n) for metric in metrics])),
        high=sample.of_users(np.stack([metric.of_rank(above + 1, n) for metric in metrics])),
        one_value=False,
        bounds=np.stack((limits, limits), axis=1),
        limits=limits,
        point=np.full(len(metrics), np.nan),
        findings=(Finding("drawn-by-popularity"),),
    )


def _fully_sampled(sample: Sample, metrics: Sequence[Metric]) -> UserValues:
    """Return the values of a sample of all candidates, so that the ranks are exact."""
    limits = _limits(metrics)
    no_ties = np.zeros_like(sample.outcomes.x)
    x = sample.outcomes.x
    candidates = sample.outcomes.candidates
    values = np.stack([metric.over_ties(x, no_ties, candidates) for metric in metrics])
    return _of_one_value(sample.of_users(values), bounds=limits, limits=limits)


def _bounded(
    sample: Sample,
    estimate: Any,
    metrics: Sequence[Metric],
    alpha: float,
    moments: tuple[Floats, Floats] | None,
) -> UserValues:
    """Return the smallest and largest values of users by strict bounds, NaN where unknown."""
    limits = _limits(metrics)
    point, variances = estimate.moments(sample.counts) if moments is None else moments
    shows_nothing = sample.is_shared or len(sample) == 1
    if shows_nothing:
        missing = np.full((len(metrics), len(sample)), np.nan)
        bounds = np.stack((limits, limits), axis=1)
        return UserValues(
            low=missing, high=missing, one_value=False, bounds=bounds, limits=limits, point=point
        )
    support = strict_values(estimate, sample, variances, alpha)
    return values_of_bounds(support, metrics, point)


def values_of_bounds(support: StrictValues, metrics: Sequence[Metric], point: Floats) -> UserValues:
    """Return the smallest and largest values of users by strict bounds, with (metrics,) points."""
    return UserValues(
        low=support.low,
        high=support.high,
        one_value=False,
        bounds=support.bounds,
        limits=_limits(metrics),
        point=point,
        assumes=assumption_of(support.assumption),
        is_explained=support.is_explained,
        findings=tuple(support.findings),
    )


def _jackknife(sample: Sample, estimate: Estimate, metrics: Sequence[Metric]) -> UserValues:
    """Return the pseudo-values of users by an estimator that is not linear in the sample."""
    return _of_one_value(
        pseudo_values(estimate, sample),
        bounds=np.broadcast_to((-np.inf, np.inf), (len(metrics), 2)),
        limits=_limits(metrics),
        point=estimate.estimate(sample.counts),
        assumes=NO_BIAS,
    )


def _linear(sample: Sample, estimate: Estimate, metrics: Sequence[Metric]) -> UserValues:
    """Return the weights of users by an estimator that is linear in the sample."""
    assert estimate.weights is not None
    bounds = _limits(metrics) if estimate.bounds is None else np.stack(estimate.bounds, axis=1)
    return _of_one_value(
        sample.of_users(estimate.weights),
        bounds=bounds,
        limits=bounds,
        point=estimate.estimate(sample.counts),
        assumes=NO_BIAS,
    )


def _limits(metrics: Sequence[Metric]) -> Floats:
    """Return the (metrics, 2) smallest and largest value of a mean."""
    return np.array([(0.0, metric.largest) for metric in metrics])


def mean_of_runs(runs: Sequence[UserValues]) -> UserValues:
    """Return the mean values over seeds, or over draws of negatives that users share.

    The seeds, or the draws, are taken as independent. Strict bounds have none: the means of the
    smallest and of the largest values are at most and at least the mean metric of these seeds.

    Raises:
        DataError: there are several draws, and a user has a smallest and a largest value.
    """
    if len(runs) == 1:
        return runs[0]
    findings = tuple(finding for values in runs for finding in values.findings)
    are_draws = any(values.is_shared for values in runs)
    has_one_value = all(values.one_value for values in runs)
    if are_draws and not has_one_value:
        raise DataError(
            "strict bounds do not count the spread between draws of negatives; several draws need "
            "an estimator such as bv-0.1"
        )
    if are_draws:
        not_on_sharing = [finding for finding in findings if finding.kind != SHARED]
        findings = (*not_on_sharing, Finding("draws", values={"draws": len(runs)}))
    findings = _without_repeated_support(findings)
    low = np.mean([values.low for values in runs], axis=0)
    points = np.stack([values.point for values in runs])
    spreads: tuple[SeedSpread, ...] = ()
    if has_one_value:
        spreads = (SeedSpread.from_seeds(points, np.stack([values.low for values in runs])),)
    assumptions = {values.assumes for values in runs}
    return UserValues(
        low=low,
        high=low if has_one_value else np.mean([values.high for values in runs], axis=0),
        one_value=has_one_value,
        bounds=np.mean([values.bounds for values in runs], axis=0),
        limits=np.mean([values.limits for values in runs], axis=0),
        point=points.mean(axis=0),
        assumes=DECREASING if DECREASING in assumptions else runs[0].assumes,
        is_explained=all(values.is_explained for values in runs),
        findings=findings,
        spreads=spreads,
        draws=tuple(runs) if are_draws else (),
    )


def _without_repeated_support(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings of several runs, with the smallest p-value of each supported assumption."""
    others = [finding for finding in findings if finding.kind != "supported"]
    supported = [finding for finding in findings if finding.kind == "supported"]
    by_assumption = grouped(supported, lambda finding: finding.values["assumption"])
    smallest = [
        min(alike_findings, key=lambda finding: finding.values["p_value"])
        for alike_findings in by_assumption.values()
    ]
    return (*others, *smallest)


def mean_by_user(values: Floats, user: Ints) -> Floats:
    """Return (metrics, users) means over the rows of each user, from (metrics, rows) values."""
    rows_of_user = np.bincount(user)
    if (rows_of_user == 1).all():
        means = np.empty_like(values)
        means[:, user] = values
        return means
    sums = np.stack([np.bincount(user, values_of_metric) for values_of_metric in values])
    return sums / rows_of_user


def about_users(user: Ints, table: Table | None = None) -> list[Finding]:
    """Return findings on users with several rows, and on too few users for an interval."""
    rows_of_user = np.bincount(user)
    users = len(rows_of_user)
    findings = [Finding("several-rows")] if (rows_of_user > 1).any() else []
    if users == 1:
        is_open = table is not None and not table.is_all_known
        findings.append(Finding("one-open-user" if is_open else "one-user"))
    elif users < FEW_USERS:
        findings.append(Finding("few-users", values={"users": users}))
    return findings
