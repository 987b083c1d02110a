"""Classes of users who share one distribution of true ranks: users with similar numbers of candidates.

The ranks of a user with 100 candidates say little about those of a user with 5000. So a distribution of ranks is
estimated for each class of users whose n differ by a factor of at most 1.25. Within a class, P(x | rank) and the
metrics are means over the users whose n allows the rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sampled_metrics._validation import Floats, Ints, check_memory_limit
from sampled_metrics.metrics.metric import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Group, Outcomes
from sampled_metrics.sampling.rank_nodes import RankNodes, rank_nodes

FACTOR = 1.25
"""Largest ratio of the n of two users of a class."""


_KEPT = 4_000_000  # numbers of the probabilities of a class that are kept for other estimators and recommenders

FEW = 8
"""The different n of a class end panels of nodes if they are at most this many."""


@dataclass(frozen=True, order=True)
class Size:
    """What the users of a group share, whatever their ranks are.

    Attributes:
        candidates: n.
        negatives: m.
        replacement: whether negatives were drawn with replacement.
        events: the number of events.
    """

    candidates: int
    negatives: int
    replacement: bool
    events: int


@dataclass(frozen=True)
class RankClass:
    """Users with similar n.

    Attributes:
        groups: the outcomes of the class by n and m.
        outcomes: (of this class,) indices among all outcomes.
        negatives: (of this class,) m of each outcome.
        x: (of this class,) x of each outcome.
    """

    groups: tuple[Group, ...]
    outcomes: Ints
    negatives: Ints
    x: Ints

    @property
    def candidates(self) -> int:
        """Return the largest n."""
        return max(group.candidates for group in self.groups)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Return the size of each group. Classes with the same sizes differ in the ranks of their users only."""
        return tuple(Size(one.candidates, one.negatives, one.replacement, one.events) for one in self.groups)

    @cached_property
    def columns(self) -> tuple[Ints, Ints, Ints]:
        """Return m and x of the distinct (m, x), and the (of this class,) index of each outcome's."""
        pairs = np.stack((self.negatives, self.x), axis=1)
        distinct, which = np.unique(pairs, axis=0, return_inverse=True)
        return distinct[:, 0], distinct[:, 1], np.asarray(which).ravel()

    def counts(self, counts: np.ndarray) -> Floats:
        """Return (samples, distinct (m, x)) counts from (samples, all outcomes) ones."""
        m, _, which = self.columns
        sums = np.zeros((len(m), len(counts)))
        np.add.at(sums, which, counts[:, self.outcomes].T)
        return sums.T

    def nodes(self, metrics: tuple[Metric, ...]) -> RankNodes:
        """Return nodes for sums over the ranks of the class."""
        design = SamplingDesign(max(1, int(self.negatives.max())), self.groups[0].replacement)
        ends = {metric.cutoff for metric in metrics} - {None}
        smaller = {group.candidates for group in self.groups}
        if len(smaller) <= FEW:  # the means over users jump there
            ends |= smaller
        return rank_nodes(self.candidates, design, tuple(int(k) for k in ends if k))

    def mean(
        self, of_group: Callable[[Group, Floats], Floats], ranks: Floats, groups: Sequence[Group] | None = None
    ) -> Floats:
        """Return the (ranks, …) mean of a function over the users whose n allows the rank; 0 where none does."""
        total, users = np.zeros((len(ranks), 1)), np.zeros((len(ranks), 1))
        for group in self.groups if groups is None else groups:
            allowed = int(np.searchsorted(ranks, group.candidates, side="right"))
            values = of_group(group, ranks[:allowed])
            if total.shape[1] != values.shape[1]:
                total = np.zeros((len(ranks), values.shape[1]))
            total[:allowed] += group.events * values
            users[:allowed] += group.events
        return total / np.maximum(users, 1)

    def probabilities(self, ranks: Floats, negatives: int, replacement: bool | None, x: Ints | None = None) -> Floats:
        """Return P(x | rank) of the users with m negatives, (ranks, m + 1), or (ranks, columns) for some x."""
        groups = [group for group in self.groups if group.negatives == negatives]
        columns = negatives + 1 if x is None else len(x)
        check_memory_limit((2 * len(ranks), columns), f"P(x | rank) of m = {negatives} negatives", "take fewer")
        return self.mean(lambda group, allowed: group.pmf(allowed, replacement, x), ranks, groups)

    def likelihood(self, ranks: Floats, replacement: bool | None) -> Floats:
        """Return P(x | rank) of the distinct (m, x), (ranks, distinct (m, x))."""
        negatives, x, _ = self.columns
        likelihood = np.empty((len(ranks), len(x)))
        for m in map(int, np.unique(negatives)):
            if len(ranks) * (m + 1) <= _KEPT:
                of_m = _probabilities(self.sizes, ranks.tobytes(), m, replacement)[:, x[negatives == m]]
            else:
                of_m = self.probabilities(ranks, m, replacement, x[negatives == m])
            likelihood[:, negatives == m] = of_m
        return likelihood

    def values(self, metrics: tuple[Metric, ...], ranks: Floats) -> Floats:
        """Return (ranks, metrics) values of the metrics."""
        return self.mean(
            lambda group, allowed: np.stack([metric.of_rank(allowed, group.candidates) for metric in metrics], axis=1),
            ranks,
        )


@lru_cache(maxsize=8)
def _probabilities(sizes: tuple[Size, ...], ranks: bytes, negatives: int, replacement: bool | None) -> Floats:
    """Return P(x | rank) of the users of a class with m negatives, (ranks, m + 1).

    It does not depend on what a sample shows. So all recommenders of the same users have the same, and all estimators.
    """
    nothing = np.empty(0, dtype=np.int64)
    groups = tuple(
        Group(size.candidates, size.negatives, size.replacement, size.events, nothing, nothing) for size in sizes
    )
    return RankClass(groups, nothing, nothing, nothing).probabilities(np.frombuffer(ranks), negatives, replacement)


def rank_classes(outcomes: Outcomes, least: float = 0.0) -> tuple[RankClass, ...]:
    """Cut the outcomes into classes, from the largest n downwards.

    A class with less than a share `least` of the events joins the one with the next larger n.
    """
    classes: list[list[Group]] = []
    for group in sorted(outcomes.groups, key=lambda group: -group.candidates):
        if classes and classes[-1][0].candidates <= FACTOR * group.candidates:
            classes[-1].append(group)
        else:
            classes.append([group])
    few = least * sum(group.events for group in outcomes.groups)
    kept: list[list[Group]] = []
    for groups in classes:
        if kept and sum(group.events for group in groups) < few:
            kept[-1] += groups
        else:
            kept.append(groups)
    members = [np.concatenate([group.outcomes for group in groups]) for groups in kept]
    return tuple(
        RankClass(tuple(groups), of_class, outcomes.negatives[of_class], outcomes.x[of_class])
        for groups, of_class in zip(kept, members, strict=True)
    )
