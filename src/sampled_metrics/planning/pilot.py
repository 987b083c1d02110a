"""Evaluations that are simulated from a pilot.

Users are drawn anew, and have values by each way to evaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampled_metrics.checks import Floats, Ints
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


class Evaluation(NamedTuple):
    """A simulated evaluation.

    Attributes:
        values: of the users, by recommender.
        scores: for each user; NaN if they are known without a simulation.
        completed: number of users whose candidates are all scored, of stages; else NaN.
    """

    values: dict[str, UserValues]
    scores: float
    completed: float


LAWS = ("least", "most")
"""The distributions of users whose variance of the metric is the smallest and the largest that fit.
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
        """The pilot with two users more, whom it may have missed.

        The items of one of them are ranked last, and those of the other one first.
        """
        numbers = {
            name: np.append(numbers_of_users, [self.users, self.users + 1])
            for name, numbers_of_users in self.numbers.items()
        }
        exact = {name: _with_last_and_first(table) for name, table in self.exact.items()}
        staged = {name: _with_beaten_and_first(table) for name, table in self.staged.items()}
        return Pilot(exact, staged, numbers, self.metric)

    def drawn(self, number: int, users: int) -> Draw:
        """Return users who are drawn: the same for all recommenders and all ways to evaluate."""
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
        """By law and recommender, the cumulative shares of the users of `everyone`.

        That of the last user is left out.
        """
        sums = dict[str, dict[str, Floats]]({law: {} for law in LAWS})
        for name, values in self.values.items():
            laws = extreme_laws(values.low[0], self.metric.largest, _BOTH_ENDS)
            for law, shares in zip(LAWS, laws, strict=True):
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

    def of_stages(self, depth: float, draw: Draw) -> Evaluation:
        """Return the evaluation of users by staged ranks of a depth.

        Of several recommenders, the scores are the most, and the completed users the fewest.
        """
        users = len(next(iter(draw.users.values())))
        rng = np.random.default_rng([draw.number, 1])
        uniform = rng.random(users)
        fold = rng.integers(0, FOLDS, users)
        values = {}
        scores = []
        completed = []
        for name, known in self.everyone.staged.items():
            rows, owner = self.everyone.rows_of(name, draw.users[name])
            table = known.redrawn(rows, owner, uniform, fold, depth)
            values[name] = values_of(table, owner, [self.metric])
            scores.append(table.scores_per_user)
            completed.append(table.completed_users)
        return Evaluation(values, max(scores), min(completed))

    def rows_of(self, name: str, users: Ints) -> tuple[Ints, Ints]:
        """Return the rows of (draws,) users, and the number of the draw of each row.

        The rows of a draw are side by side.
        """
        numbers = self.numbers[name]
        order = np.argsort(numbers, kind="stable")
        rows_by_user = np.bincount(numbers)
        start_by_user = np.cumsum(rows_by_user) - rows_by_user
        rows_by_draw = rows_by_user[users]
        start_by_draw = np.cumsum(rows_by_draw) - rows_by_draw
        draw = np.repeat(np.arange(len(users)), rows_by_draw)
        place_in_draw = np.arange(len(draw)) - start_by_draw[draw]
        return order[start_by_user[users][draw] + place_in_draw], draw


def _with_last_and_first(table: ExactRanks) -> ExactRanks:
    """Return ranks with two rows more: an item that is ranked last, and one that is first."""
    n = _middle(table.candidates)
    candidates = np.append(table.candidates, [n, n])
    tied = np.append(table.tied, [0, 0])
    return ExactRanks(None, candidates, np.append(table.above, [n - 1, 0]), tied)


def _with_beaten_and_first(table: StagedRanks) -> StagedRanks:
    """Return ranks with two rows more: an item beaten by the first candidates, and one by none."""
    row = int(np.flatnonzero(table.candidates == _middle(table.candidates))[0])
    beaten = len(table)
    hit_at_once = len(table) + 1
    rows = np.append(np.arange(len(table)), [row, row])
    columns: dict[str, Any] = {name: getattr(table, name)[rows] for name in _OF_ROWS}
    boundary = np.arange(len(table.boundaries))
    is_reached = boundary <= last_boundary(table.boundaries, table.candidates[[row]])
    columns["above_at"][hit_at_once] = np.where(is_reached, 0, -1)
    columns["above_at"][beaten] = np.where(boundary < 1, 0, -1)
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
    """Samples of negatives of a pilot's exact ranks, with the values of users by an estimator.

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

        self._samples: dict[tuple[str, int, str, int], Sample] = {}
        self._values: dict[tuple[str, int, str], Floats] = {}

    def sample(self, name: str, draw: Draw) -> Sample:
        """Return a sample of a recommender.

        Negatives are drawn uniformly, and ties are broken at random. The same draw has the same
        sample for all estimators.
        """
        users = draw.users[name]
        key = name, draw.number, draw.law, len(users)
        if key not in self._samples:
            rows, owner = self.pilot.everyone.rows_of(name, users)
            column = self._drawn_outcomes(name, rows, draw.number)
            weight = 1 / np.bincount(owner)[owner]
            shape = (len(users), len(self.outcomes))
            shares = csr_array((weight, (owner, column)), shape=shape)
            self._samples[key] = Sample(self.outcomes, shares)
        return self._samples[key]

    def _drawn_outcomes(self, name: str, rows: Ints, draw: int) -> Ints:
        """Return the (rows,) outcomes that are drawn for rows of a recommender, by their places."""
        m = self.design.negatives
        rng = np.random.default_rng([draw, m, [*self.pilot.exact].index(name)])
        table = self.pilot.everyone.exact[name]
        tied_above = np.floor(rng.random(len(rows)) * (table.tied[rows] + 1)).astype(np.int64)
        above = table.above[rows] + tied_above
        n = table.candidates[rows]
        if self.design.replacement:
            x = rng.binomial(m, above / (n - 1))
        else:
            x = rng.hypergeometric(above, n - 1 - above, m)
        return self.number_of_size[np.searchsorted(self.distinct, n)] * (m + 1) + x

    def moments(self, name: str, draw: Draw, estimate: Estimate) -> tuple[Floats, Floats] | None:
        """Return the value of the metric by strict bounds, and its variance; None without bounds.

        The value is the same for all assumptions. The variance over users is that of the exact
        ranks. Of many negatives the value is computed for a few
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
        """Return the weights of strict bounds by assumption, one function for each choosing sample.

        The samples are of four fifths of the users, as those that choose for a fold of five.
        """
        if not has_bounds(estimate):
            return []
        size = max(2, round(0.8 * users))
        draws = []
        for number in range(_CHOOSERS):
            rng = np.random.default_rng([number, users])
            draws.append(Draw(number, {name: rng.integers(0, self.pilot.users, size)}))
        deviations = -float(ndtri(alpha / 2))

        def weights(counts: Floats, assumption: str) -> Bounds:
            return estimate.bounding_weights(estimate.fits_of_part(assumption, counts), deviations)

        return [cache(partial(weights, self.sample(name, draw).counts)) for draw in draws]


def _from(choosers: Sequence[Callable[[str], Bounds]], draw: int) -> Chooser | None:
    """Return the weights of each fold, each by a sample; None if there are no weights to choose."""
    if not choosers:
        return None
    return lambda assumption, fold: choosers[(draw + fold) % len(choosers)](assumption)


def widths_of(values: Mapping[str, UserValues], alpha: float) -> Floats:
    """Return the (recommenders,) widths of the intervals of the metric; NaN without an interval."""
    ends = [user_values.interval(alpha) for user_values in values.values()]
    return np.array([(interval.high - interval.low)[0] for interval in ends])


def gaps_of(
    values: Mapping[str, UserValues], pairs: Sequence[tuple[str, str]], alpha: float
) -> Floats:
    """Return the (pairs, 3) difference of each pair, better less worse, and its interval's ends."""
    rows = []
    for worse, better in pairs:
        gap = values[better].minus(values[worse])
        ends = gap.interval(alpha)
        rows.append((gap.point[0], ends.low[0], ends.high[0]))
    return np.array(rows).reshape(-1, 3)
