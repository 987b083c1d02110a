"""Values by user: what every kind of ranks answers with, and what every interval is made of.

A metric is a mean over users. Of exact ranks and lists, the value of a user is the metric. Of staged ranks it is φ, of
sampled ranks the weight of a linear estimator, or the pseudo-value of another one. Their mean is the estimate. Strict
bounds give a user two values, whose means are, in expectation, at most and at least the metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.estimators.protocol import Estimate, Estimator
from sampled_metrics.estimators.shapes import FREE
from sampled_metrics.estimators.strict_bounds import has_bounds
from sampled_metrics.inference.findings import Finding
from sampled_metrics.inference.means import FEW_USERS, Intervals, intervals
from sampled_metrics.inference.seeds import SeedSpread, with_seeds
from sampled_metrics.inference.strict import Chooser, Sample, pseudo_values, strict_values, unexplained
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.ranks.table import Table

SHARED = "drawn-once"
"""The kind of finding that users share negatives, and that there is one draw of them."""

NO_INTERVAL = frozenset({"unexplained", SHARED})
"""Kinds of findings without whose cause no interval holds, so that there is none."""

NO_ASSUMPTION, NO_BIAS = "none", "bias is zero"
"""What an interval assumes, beside the assumptions on the ranks."""


@dataclass(frozen=True)
class UserValues:
    """Values of metrics for each user of a recommender.

    Attributes:
        low: (metrics, users) values whose mean is, in expectation, at most the metric.
        high: (metrics, users) values whose mean is at least the metric: the same array as `low` where the value of a
            user is known or without bias.
        bounds: (metrics, 2, 2) smallest and largest value of any user, seen or not, of low and of high; infinite if
            there are none, and then the interval is Student's.
        limits: (metrics, 2) smallest and largest value of the mean.
        point: (metrics,) the value that is printed.
        assumes: what has to be right for the interval to hold the metric: none, decreasing, or that the bias is zero.
        findings: what is to be said of the values.
        spreads: what the seeds of each recommender with several ones, or the draws, add to the variance of the mean.
        draws: the values of each draw of negatives that users share, if there are several.
    """

    low: Floats
    high: Floats
    bounds: Floats
    limits: Floats
    point: Floats
    assumes: str = NO_ASSUMPTION
    findings: tuple[Finding, ...] = ()
    spreads: tuple[SeedSpread, ...] = ()
    draws: tuple[UserValues, ...] = ()

    @property
    def have_one_value(self) -> bool:
        """Return whether a user has one value, known or estimated, and not a smallest and a largest one."""
        return self.high is self.low

    @property
    def has_interval(self) -> bool:
        """Return whether an interval of the mean can be trusted; a single user does not show how users vary."""
        return self.low.shape[1] > 1 and not any(finding.kind in NO_INTERVAL for finding in self.findings)

    def of_metric(self, number: int) -> UserValues:
        """Return the values of one metric."""
        one = slice(number, number + 1)
        low = self.low[one]
        high = low if self.have_one_value else self.high[one]
        return replace(
            self, low=low, high=high, bounds=self.bounds[one], limits=self.limits[one], point=self.point[one]
        )

    def interval(self, alpha: Floats | float, *, test: bool = False) -> Intervals:
        """Return the (metrics,) intervals of the mean; parameters as in `inference.means.intervals`."""
        ends = intervals(self.low, self.high, self.bounds, self.limits, alpha, test=test)
        if self.spreads:
            ends = with_seeds(ends, self.point, self.spreads, self.limits, alpha)
        if self.has_interval:
            return ends
        missing = np.full_like(ends.low, np.nan)
        error = missing if any(finding.kind == SHARED for finding in self.findings) else ends.standard_error
        return Intervals(missing, missing, error, missing)

    def minus(self, other: UserValues, ratio: float = 1.0) -> UserValues:
        """Return the values of these users minus those of another recommender of the same users, times a ratio above 0.

        The findings are those of both recommenders. Draws of shared negatives are paired: their spread is that of the
        differences.
        """
        if self.draws:
            pairs = zip(self.draws, other.draws, strict=True)
            return mean_of_seeds([one.minus(of_other, ratio) for one, of_other in pairs])
        low = self.low - ratio * other.high
        return UserValues(
            low,
            low if self.have_one_value and other.have_one_value else self.high - ratio * other.low,
            self.bounds - ratio * other.bounds[:, ::-1, ::-1],
            self.limits - ratio * other.limits[:, ::-1],
            self.point - ratio * other.point,
            findings=(*self.findings, *other.findings),
            spreads=(*self.spreads, *(spread.scaled(ratio) for spread in other.spreads)),
        )


def values_of(
    table: Any, user: Ints, metrics: Sequence[Metric], estimator: Estimator | None, alpha: float
) -> UserValues:
    """Return the values of any ranks or lists, and of sampled ranks by an estimator; as `sampled_values` does."""
    if estimator is None:
        return table_values(table, metrics, user)
    sample = Sample.from_ranks(table, user)
    estimate = estimator.fit(sample.outcomes, metrics)
    values = sampled_values(sample, estimate, metrics, alpha)
    further = [] if has_bounds(estimate) else unexplained(sample)
    return replace(values, findings=(*values.findings, *further, *about_users(user)))


def assumption_of(shape: str | None) -> str:
    """Return what the interval of an estimator assumes, by the shape of the ranks; None if it has no strict bounds."""
    return NO_BIAS if shape is None else NO_ASSUMPTION if shape == FREE else shape


def finding_of_bounds(row: Mapping[str, Any], negatives: Ints) -> Finding:
    """Return the finding on the strict bounds of a row of a result."""
    values = {name: row[name] for name in ("low", "high", "assumes", "estimator")}
    values |= {"least_negatives": int(negatives.min()), "most_negatives": int(negatives.max())}
    return Finding("bounds", row["metric"], values=values)


def place_of_users(table: Any, user: Ints, values: UserValues) -> Floats:
    """Return (1 or metrics, users) places of users, the smaller the better; NaN if they are not known.

    Places are ranks, which are the same for all metrics, or the negative values of lists.
    """
    places = table.places
    if places is not None:
        return mean_by_user(places[np.newaxis], user)
    return -values.low if table.has_values_of_users else np.full_like(values.low, np.nan)


def table_values(table: Table, metrics: Sequence[Metric], user: Ints) -> UserValues:
    """Return the values of exact ranks, staged ranks or lists; `user` has the (rows,) numbers of the users, from 0."""
    values, outcome, least, most, largest = table.outcome_values(metrics)
    low, bounds = mean_by_user(values[:, outcome], user), np.stack((least, most), axis=1)
    limits = np.stack((np.zeros_like(largest), largest), axis=1)
    both = np.stack((bounds, bounds), axis=1)
    findings = tuple(about_users(user, table))
    return UserValues(low, low, both, limits, low.mean(axis=1), findings=findings)


def sampled_values(
    sample: Sample,
    estimate: Estimate,
    metrics: Sequence[Metric],
    alpha: float,
    moments: tuple[Floats, Floats] | None = None,
    chosen: Chooser | None = None,
) -> UserValues:
    """Return the values of sampled ranks by a fitted estimator.

    Args:
        sample: the sampled ranks.
        estimate: the fitted estimator.
        metrics: the metrics.
        alpha: error rate of the interval for which strict bounds are best.
        moments: (metrics,) means and variances over users by a strict bound of the same sample, if they are known.
        chosen: weights of strict bounds that other samples chose, as in `strict_values`.
    """
    limits = np.array([(0.0, metric.largest) for metric in metrics])
    outcomes, drawn = sample.outcomes, (Finding(SHARED if sample.is_shared else "drawn-by-user"),)
    if has_bounds(estimate) and outcomes.are_exact:
        no_ties = np.zeros_like(outcomes.x)  # every candidate was drawn, so the ranks are exact
        exact = np.stack([metric.over_ties(outcomes.x, no_ties, outcomes.candidates) for metric in metrics])
        values = sample.of_users(exact)
        return UserValues(values, values, np.stack((limits, limits), axis=1), limits, values.mean(axis=1))
    if has_bounds(estimate):
        point, variances = estimate.moments(sample.counts) if moments is None else moments
        if sample.is_shared or len(sample) == 1:
            low, high = np.full((2, len(metrics), len(sample)), np.nan)
            return UserValues(low, high, np.stack((limits, limits), axis=1), limits, point, findings=drawn)
        low, high, bounds, assumption, findings = strict_values(estimate, sample, variances, alpha, chosen)
        return UserValues(low, high, bounds, limits, point, assumption_of(assumption), (*drawn, *findings))
    if estimate.weights is None:
        values, unbounded = pseudo_values(estimate, sample), np.array((-np.inf, np.inf))
        bounds = np.broadcast_to(unbounded, (len(metrics), 2, 2))
        return UserValues(values, values, bounds, limits, estimate.estimate(sample.counts), NO_BIAS, drawn)
    values = sample.of_users(estimate.weights)
    bounds = limits if estimate.bounds is None else np.stack(estimate.bounds, axis=1)
    both = np.stack((bounds, bounds), axis=1)
    return UserValues(values, values, both, bounds, estimate.estimate(sample.counts), NO_BIAS, drawn)


def mean_of_seeds(seeds: Sequence[UserValues]) -> UserValues:
    """Return the mean values over the seeds of a recommender, or over draws of negatives that users share.

    The spread between the seeds, or the draws, is that of independent ones.

    Raises:
        DataError: there are several seeds, and a user has a smallest and a largest value.
    """
    first, *further = seeds
    if not further:
        return first
    if not all(values.have_one_value for values in seeds):
        raise DataError(
            "strict bounds do not count the spread between seeds, or between draws of negatives; several seeds need "
            "exact ranks, or an estimator such as bv-0.1"
        )
    low, point_of_seeds = np.mean([values.low for values in seeds], axis=0), np.stack([one.point for one in seeds])
    bounds, limits, point = (
        np.mean([getattr(values, name) for values in seeds], axis=0) for name in ("bounds", "limits", "point")
    )
    spread = SeedSpread.from_seeds(point_of_seeds, np.stack([values.low for values in seeds]))
    findings = tuple(finding for values in seeds for finding in values.findings)
    draws: tuple[UserValues, ...] = ()
    if any(finding.kind == SHARED for finding in findings):
        draws, of_draws = tuple(seeds), Finding("draws", values={"draws": len(seeds)})
        findings = *(finding for finding in findings if finding.kind != SHARED), of_draws
    return UserValues(low, low, bounds, limits, point, first.assumes, findings, (spread,), draws)


def mean_by_user(values: Floats, user: Ints) -> Floats:
    """Return (metrics, users) means over the rows of each user, from (metrics, rows) values."""
    rows = np.bincount(user)
    if (rows == 1).all():
        means = np.empty_like(values)
        means[:, user] = values
        return means
    return np.stack([np.bincount(user, row) for row in values]) / rows


def about_users(user: Ints, table: Table | None = None) -> list[Finding]:
    """Return findings if users have several rows, or if there are too few users to rely on an interval."""
    rows = np.bincount(user)
    findings = [Finding("several-rows")] if (rows > 1).any() else []
    if len(rows) == 1:
        is_open = table is not None and not table.is_all_known
        findings.append(Finding("one-user", values={"is_open": is_open}))
    elif len(rows) < FEW_USERS:
        findings.append(Finding("few-users", values={"users": len(rows)}))
    return findings
