"""Evaluations that are simulated from a pilot: users drawn anew, and their values by each way to
evaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.core.estimators.protocol import Estimate, Estimator
from sampled_metrics.core.estimators.strict_bounds import Bounds, has_bounds
from sampled_metrics.core.evaluation.values import UserValues, sampled_values, values_of
from sampled_metrics.core.inference.strict import Chooser, Sample
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.planning.variances import extreme_laws
from sampled_metrics.stages.stopping import FOLDS, last_boundary
from sampled_metrics.stages.table import StagedRanks

_BOTH_ENDS = 0.05  # error rate of the laws of `LAWS` together


class Draw(NamedTuple):
    """Users of an evaluation.

    Attributes:
        number: of the draw; the same number has the same users for all ways to evaluate.
        users: by recommender, (users,) numbers of users of the pilot, who may be drawn several
            times.
        law: of which the users are drawn, one of `LAWS`.
    """

    number: int
    users: Mapping[str, Ints]
    law: str = "pilot"

    def first(self, users: int) -> Draw:
        """Return the draw of the first users alone."""
        return self._replace(users={name: numbers[:users] for name, numbers in self.users.items()})


LAWS = ("least", "most")
"""The distributions of users with the smallest and the largest variance of the metric that fit the
pilot.
"""


_MOST_SIZES = 12  # different n of simulated samples; more are taken together, with their mean
_VALUED = 200  # up to this m strict bounds have a value in each draw, beyond it in so many draws
_FEW_VALUES = 10
_CHOOSERS = 7  # samples that choose the weights of strict bounds for the folds of other samples


@dataclass(frozen=True)
class Pilot:
    """Ranks of some users, who stand for the population.

    Attributes:
        exact: exact ranks by recommender; none if they are not known.
        staged: staged ranks by depth None by recommender; none if they are not known.
        numbers: by recommender, the (rows,) numbers of the users from 0, the same for the same
            users.
        metric: the metric.
    """

    exact: Mapping[str, ExactRanks]
    staged: Mapping[str, StagedRanks]
    numbers: Mapping[str, Ints]
    metric: Metric

    @property
    def tables(self) -> Mapping[str, Any]:
        """Return the ranks that give the values of all candidates."""
        return self.exact or self.staged

    @property
    def users(self) -> int:
        """Return the number of users."""
        return int(next(iter(self.numbers.values())).max()) + 1

    @cached_property
    def values(self) -> dict[str, UserValues]:
        """The values of the users by exact ranks."""
        return {
            name: values_of(table, self.numbers[name], [self.metric])
            for name, table in self.tables.items()
        }

    @cached_property
    def everyone(self) -> Pilot:
        """The pilot with two users more, whom it may have missed: one whose items are ranked last,
        and one first.
        """
        numbers = {
            name: np.append(numbers_of_users, [self.users, self.users + 1])
            for name, numbers_of_users in self.numbers.items()
        }
        exact = {name: _with_last_and_first(table) for name, table in self.exact.items()}
        staged = {name: _with_beaten_and_first(table) for name, table in self.staged.items()}
        return Pilot(exact, staged, numbers, self.metric)

    def drawn(self, number: int, users: int) -> Draw:
        """Return users who are drawn, the same ones of all recommenders and for all ways to
        evaluate.
        """
        drawn = np.random.default_rng([number, users]).integers(0, self.users, users)
        return Draw(number, dict.fromkeys(self.tables, drawn))

    def drawn_of(self, law: str, number: int, users: int) -> Draw:
        """Return users who are drawn of one of `LAWS`, that of each recommender."""
        uniform = np.random.default_rng([number, users]).random(users)
        drawn = {
            name: np.searchsorted(sums, uniform, side="right")
            for name, sums in self._sums[law].items()
        }
        return Draw(number, drawn, law)

    @cached_property
    def _sums(self) -> dict[str, dict[str, Floats]]:
        """By law and recommender, the cumulative shares of the users of `everyone`, but for the
        last.
        """
        sums = dict[str, dict[str, Floats]]({law: {} for law in LAWS})
        for name, values in self.values.items():
            for law, shares in zip(
                LAWS, extreme_laws(values.low[0], self.metric.largest, _BOTH_ENDS), strict=True
            ):
                sums[law][name] = np.cumsum(np.append(shares.seen, shares.least))
        return sums

    def of_all_candidates(self, draw: Draw) -> dict[str, UserValues]:
        """Return the values of users whose items are ranked among all candidates."""
        values_of_all = self.everyone.values
        drawn = {name: values.low[:, draw.users[name]] for name, values in values_of_all.items()}
        return {
            name: replace(values_of_all[name], low=low, high=low, point=low.mean(axis=1))
            for name, low in drawn.items()
        }

    def of_stages(self, depth: float, draw: Draw) -> tuple[dict[str, UserValues], float, float]:
        """Return the values of staged ranks by a depth, the scores for each user, and the number of
        completed users.
        """
        users = len(next(iter(draw.users.values())))
        rng = np.random.default_rng([draw.number, 1])
        coins = rng.random(users), rng.integers(0, FOLDS, users)
        tables = {}
        for name, table in self.everyone.staged.items():
            rows, owner = self.everyone.rows_of(name, draw.users[name])
            tables[name] = table.redrawn(rows, owner, *coins, depth), owner
        values = {
            name: values_of(table, owner, [self.metric]) for name, (table, owner) in tables.items()
        }
        scores = max(table.scores_per_user for table, _ in tables.values())
        return values, scores, min(table.completed_users for table, _ in tables.values())

    def rows_of(self, name: str, users: Ints) -> tuple[Ints, Ints]:
        """Return the rows of (draws,) users, those of a draw side by side, and the number of their
        draw.
        """
        numbers = self.numbers[name]
        order = np.argsort(numbers, kind="stable")
        held = np.bincount(numbers)
        draw = np.repeat(np.arange(len(users)), held[users])
        offset = np.arange(len(draw)) - np.repeat(np.cumsum(held[users]) - held[users], held[users])
        return order[(np.cumsum(held) - held)[users][draw] + offset], draw


def _with_last_and_first(table: ExactRanks) -> ExactRanks:
    """Return ranks with two rows more, one whose item is ranked last, and one whose item is ranked
    first.
    """
    n = _middle(table.candidates)
    candidates = np.append(table.candidates, [n, n])
    tied = np.append(table.tied, [0, 0])
    return ExactRanks(None, candidates, np.append(table.above, [n - 1, 0]), tied)


def _with_beaten_and_first(table: StagedRanks) -> StagedRanks:
    """Return ranks with two rows more, one whose item is beaten by the first candidates, and one by
    none.
    """
    row = int(np.flatnonzero(table.candidates == _middle(table.candidates))[0])
    beaten = len(table)
    hit_at_once = len(table) + 1
    rows = np.append(np.arange(len(table)), [row, row])
    columns: dict[str, Any] = {name: getattr(table, name)[rows] for name in _OF_ROWS}
    reached = np.arange(len(table.boundaries)) <= last_boundary(
        table.boundaries, table.candidates[[row]]
    )
    columns["above_at"][hit_at_once] = np.where(reached, 0, -1)
    columns["above_at"][beaten] = np.where(np.arange(len(table.boundaries)) < 1, 0, -1)
    columns["above_at"][beaten, 1:2] = table.k
    columns["above"][[beaten, hit_at_once]] = table.k, 0
    columns["tied"][[beaten, hit_at_once]] = 0
    columns["complete"][[beaten, hit_at_once]] = False, True
    return replace(table, **columns)


_OF_ROWS = (
    *("user", "item", "score", "candidates", "above_at", "above", "tied"),
    *("uniform", "fold", "scored", "complete"),
)


def _middle(candidates: Ints) -> int:
    """Return the median number of candidates, which some row has."""
    return int(np.sort(candidates)[len(candidates) // 2])


class SampledPilot:
    """Samples of negatives of a pilot's exact ranks, and the values that an estimator gives their
    users.

    More than a dozen different numbers of candidates are taken as a dozen, each with its mean, for
    the estimators.
    """

    def __init__(self, pilot: Pilot, design: SamplingDesign) -> None:
        self.pilot = pilot
        self.design = design
        ranks = next(iter(pilot.exact.values()))
        distinct, which = np.unique(ranks.candidates, return_inverse=True)
        groups = np.array_split(np.arange(len(distinct)), min(len(distinct), _MOST_SIZES))
        size = np.empty(len(distinct), dtype=np.int64)
        for group in groups:
            rows = np.isin(which, group)
            size[group] = round(float(ranks.candidates[rows].mean()))
        self.sizes, self.number_of_size = np.unique(size, return_inverse=True)
        self.distinct = distinct
        m = design.negatives
        events = np.bincount(self.number_of_size[which], minlength=len(self.sizes))
        x = np.tile(np.arange(m + 1), len(self.sizes))
        n = np.repeat(self.sizes, m + 1)
        counts = np.zeros((len(self.sizes), m + 1), dtype=np.int64)
        counts[:, 0] = events
        self.outcomes = Outcomes(x, np.full_like(x, m), n, design.replacement, counts.ravel())
        self._samples: dict[tuple[str, int, str, int], Sample] = {}
        self._values: dict[tuple[str, int, str], Floats] = {}

    def sample(self, name: str, draw: Draw) -> Sample:
        """Return a sample of a recommender: negatives are drawn uniformly, and ties are broken at
        random.

        The same draw has the same sample for all estimators.
        """
        users = draw.users[name]
        key = name, draw.number, draw.law, len(users)
        if key not in self._samples:
            rng = np.random.default_rng(
                [draw.number, self.design.negatives, [*self.pilot.exact].index(name)]
            )
            table = self.pilot.everyone.exact[name]
            rows, owner = self.pilot.everyone.rows_of(name, users)
            above = table.above[rows] + np.floor(
                rng.random(len(rows)) * (table.tied[rows] + 1)
            ).astype(np.int64)
            n = table.candidates[rows]
            m = self.design.negatives
            if self.design.replacement:
                x = rng.binomial(m, above / (n - 1))
            else:
                x = rng.hypergeometric(above, n - 1 - above, m)
            column = self.number_of_size[np.searchsorted(self.distinct, n)] * (m + 1) + x
            shape = (len(users), len(self.outcomes))
            shares = csr_array((1 / np.bincount(owner)[owner], (owner, column)), shape=shape)
            self._samples[key] = Sample(self.outcomes, shares)
        return self._samples[key]

    def moments(self, name: str, draw: Draw, estimate: Estimate) -> tuple[Floats, Floats] | None:
        """Return the value of the metric by a strict bound, the same for all assumptions, and its
        variance over users.

        The variance is that of the exact ranks. Of many negatives the value is computed for a few
        draws only, as it takes far longer than the bounds; it is NaN for the others.
        """
        if not has_bounds(estimate):
            return None
        key = name, draw.number, draw.law
        if key not in self._values:
            is_valued = self.design.negatives <= _VALUED or draw.number < _FEW_VALUES
            counts = self.sample(name, draw).counts
            self._values[key] = estimate.estimate(counts) if is_valued else np.full(1, np.nan)
        values = self.pilot.everyone.values[name].low
        return self._values[key], values[:, draw.users[name]].var(axis=1)

    def values(
        self, estimator: Estimator, alpha: float, users: int
    ) -> Callable[[Draw], dict[str, UserValues]]:
        """Return the function that gives the values of users who are drawn.

        The weights of strict bounds are those that samples of their own choose, one for each fold
        of the users, and not the other folds of each sample: the weights of one sample are as good
        as those of another. They are best for the error rate `alpha`.
        """
        metrics = [self.pilot.metric]
        estimate = estimator.fit(self.outcomes, metrics)
        choosers = {name: self._choosers(name, estimate, alpha, users) for name in self.pilot.exact}

        def of_draw(draw: Draw) -> dict[str, UserValues]:
            return {
                name: sampled_values(
                    self.sample(name, draw),
                    estimate,
                    metrics,
                    alpha,
                    self.moments(name, draw, estimate),
                    _from(choosers_of_name, draw.number),
                )
                for name, choosers_of_name in choosers.items()
            }

        return of_draw

    def _choosers(
        self, name: str, estimate: Estimate, alpha: float, users: int
    ) -> list[Callable[[str], Bounds]]:
        """Return the weights of strict bounds by assumption, as samples of four fifths of the users
        choose them.
        """
        if not has_bounds(estimate):
            return []
        size = max(2, round(0.8 * users))
        rngs = [np.random.default_rng([number, users]) for number in range(_CHOOSERS)]
        draws = [
            Draw(number, {name: rng.integers(0, self.pilot.users, size)})
            for number, rng in enumerate(rngs)
        ]
        deviations = -float(ndtri(alpha / 2))

        def weights(counts: Floats, assumption: str) -> Bounds:
            return estimate.bounding_weights(estimate.fits_of_part(assumption, counts), deviations)

        return [cache(partial(weights, self.sample(name, draw).counts)) for draw in draws]


def _from(choosers: Sequence[Callable[[str], Bounds]], draw: int) -> Chooser | None:
    """Return the weights of each fold, by one sample for each fold; None for an estimator without
    weights to choose.
    """
    if not choosers:
        return None
    return lambda assumption, fold: choosers[(draw + fold) % len(choosers)](assumption)


def widths_of(values: Mapping[str, UserValues], alpha: float) -> Floats:
    """Return the (recommenders,) widths of the intervals of the metric; NaN where there is no
    interval.
    """
    ends = [user_values.interval(alpha) for user_values in values.values()]
    return np.array([(interval.high - interval.low)[0] for interval in ends])


def gaps_of(
    values: Mapping[str, UserValues], pairs: Sequence[tuple[str, str]], alpha: float
) -> Floats:
    """Return the (pairs, 3) difference of each pair, better less worse, and the ends of its
    interval.
    """
    rows = []
    for worse, better in pairs:
        gap = values[better].minus(values[worse])
        ends = gap.interval(alpha)
        rows.append((gap.point[0], ends.low[0], ends.high[0]))
    return np.array(rows).reshape(-1, 3)
