"""The users of a pilot, who stand for the population, and their values without negatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.core.evaluation.values import UserValues, values_of
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.planning.variances import extreme_laws
from sampled_metrics.stages.stopping import FOLDS, last_boundary
from sampled_metrics.stages.table import StagedRanks

_BOTH_ENDS = 0.05  # error rate of the two extreme laws together
_FEWEST_REPEATS = 8
_FEWEST_VALUES = 20_000  # of all users and their repeats


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution of users.

    Attributes:
        shares: by recommender, the (users of `Pilot.everyone`,) shares.
    """

    shares: Mapping[str, Floats]


@dataclass(frozen=True)
class Laws:
    """The distributions of users that fit a pilot.

    Attributes:
        pilot: the users of the pilot alike.
        least: the smallest variance of the metric, or of a difference.
        most: the largest one.
    """

    pilot: Law
    least: Law
    most: Law


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

    @property
    def repeats(self) -> int:
        """Return how often each user is evaluated by a way that has a random part."""
        return max(_FEWEST_REPEATS, round(_FEWEST_VALUES / self.users))

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

    @cached_property
    def laws(self) -> Laws:
        """The laws of each recommender by itself."""
        narrow_shares = {}
        wide_shares = {}
        for name, values in self.values.items():
            narrow, wide = extreme_laws(values.low[0], self.metric.largest, _BOTH_ENDS)
            narrow_shares[name] = np.append(narrow.seen, [narrow.least, narrow.most])
            wide_shares[name] = np.append(wide.seen, [wide.least, wide.most])
        return Laws(self._own_law, Law(narrow_shares), Law(wide_shares))

    def laws_of_pair(self, worse: str, better: str) -> Laws:
        """Return the laws of the difference of two recommenders."""
        largest = self.metric.largest
        difference = self.values[better].minus(self.values[worse]).low[0]
        laws = []
        for law in extreme_laws(difference + largest, 2 * largest, _BOTH_ENDS):
            shares = np.append(law.seen, [law.least, law.most])
            # where one of them has the smallest value, the other one has the largest
            laws.append(Law({better: shares, worse: shares[self.opposite]}))
        return Laws(self._own_law, *laws)

    @cached_property
    def opposite(self) -> Ints:
        """The numbers of the users of `everyone`, with the two whom the pilot lacks exchanged."""
        return np.append(np.arange(self.users), [self.users + 1, self.users])

    @cached_property
    def _own_law(self) -> Law:
        shares = np.append(np.full(self.users, 1 / self.users), [0.0, 0.0])
        return Law(dict.fromkeys(self.tables, shares))

    def shares_of_values(self, law: Law, name: str, values: int) -> Floats:
        """Return the (values,) shares of values, of which each user has the same number."""
        repeats = values // (self.users + 2)
        return np.repeat(law.shares[name] / repeats, repeats)

    def difference(self, better: UserValues, worse: UserValues) -> UserValues:
        """Return differences of values of `everyone`.

        The user whose item one recommender ranks last has the item that the other one ranks first.
        """
        repeats = better.users // (self.users + 2)
        places = np.arange(better.users).reshape(-1, repeats)[self.opposite].ravel()
        return better.minus(of_users(worse, places))

    def of_stages(self, depth: float) -> tuple[dict[str, UserValues], float]:
        """Return the values of users by staged ranks of a depth, and the scores for each user.

        Of several recommenders, the scores are the most.
        """
        everyone = self.everyone
        rng = np.random.default_rng(1)
        uniform = stratified(everyone.users, self.repeats, rng).ravel()
        fold = rng.integers(0, FOLDS, len(uniform))
        values = {}
        scores = []
        for name, known in everyone.staged.items():
            rows, owner = everyone.rows_of(name, np.repeat(np.arange(everyone.users), self.repeats))
            table = known.redrawn(rows, owner, uniform, fold, depth)
            values[name] = values_of(table, owner, [self.metric])
            users_of_pilot = self.users * self.repeats
            scores.append(table.scored[owner < users_of_pilot].sum() / users_of_pilot)
        return values, float(max(scores))

    def rows_of(self, name: str, users: Ints) -> tuple[Ints, Ints]:
        """Return the rows of (values,) users, and the number of the value that each belongs to.

        The rows of a value are side by side.
        """
        numbers = self.numbers[name]
        order = np.argsort(numbers, kind="stable")
        rows_by_user = np.bincount(numbers)
        start_by_user = np.cumsum(rows_by_user) - rows_by_user
        rows_by_value = rows_by_user[users]
        start_by_value = np.cumsum(rows_by_value) - rows_by_value
        value = np.repeat(np.arange(len(users)), rows_by_value)
        place_in_value = np.arange(len(value)) - start_by_value[value]
        return order[start_by_user[users][value] + place_in_value], value


def of_users(values: UserValues, users: Ints) -> UserValues:
    """Return the values of some users, each as often as the user is given."""
    low = values.low[:, users]
    return replace(values, low=low, high=low if values.one_value else values.high[:, users])


def stratified(groups: int, repeats: int, rng: np.random.Generator) -> Floats:
    """Return (groups, repeats) uniform numbers; those of a group are spread evenly over 0 to 1."""
    strata = rng.permuted(np.tile(np.arange(repeats), (groups, 1)), axis=1)
    return np.asarray((strata + rng.random((groups, repeats))) / repeats)


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
    columns["tied_at"][[beaten, hit_at_once]] = np.minimum(
        columns["above_at"][[beaten, hit_at_once]], 0
    )
    columns["above"][[beaten, hit_at_once]] = table.k, 0
    columns["tied"][[beaten, hit_at_once]] = 0
    columns["complete"][[beaten, hit_at_once]] = False, True
    return replace(table, **columns)


_OF_ROWS = (
    *("user", "item", "score", "candidates", "above_at", "tied_at", "above", "tied"),
    *("uniform", "fold", "scored", "complete"),
)


def _middle(candidates: Ints) -> int:
    """Return the median number of candidates, which some row has."""
    return int(np.sort(candidates)[len(candidates) // 2])
