"""Outcomes of sampled evaluations, and the true ranks behind them, which estimators are fitted for.

An outcome is x of m sampled negatives above the held-out item, with n candidates. If all events
share n and m, the outcomes are x = 0 … m. If they differ, each (n, m, x) that occurs is an outcome.
A sample is a count of each outcome.

Sums over all ranks are weighted sums over a few. The ranks 1 … n are cut into panels, and the sum
over a panel of N ranks is a Gauss rule of 16 nodes. The nodes are the zeros of the discrete
Chebyshev polynomials on N points, so the rule is exact for sums of polynomials of degree up to 31.
Panels of 16 ranks or fewer are summed rank by rank.

P(x | rank) changes over a distance of about 1/√m in φ = 2 arcsin √(rank/n), so panels are no wider
than that. A metric changes relative to the rank, so a panel is no wider than the ranks before it.
The number of nodes grows as √m + log n.

Without replacement P(x | rank) is a polynomial in the rank only where x is possible. So ranks near
both ends are also summed one by one: those at which samples of all items above the rank, or of all
items below it, are not negligible.

The ranks of a user with 100 candidates say little about those of a user with 5000. So a
distribution of ranks is estimated for each class of users whose n differ by a factor of at most
1.25. Within a class, P(x | rank) and the metrics are means over the users whose n allows the rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sampled_metrics.checks import Floats, Ints, check_memory_limit
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign, pmf, sparse_pmf


@dataclass(frozen=True)
class Group:
    """The outcomes that share n and m.

    Attributes:
        candidates: n, the held-out item and the negatives that could have been drawn.
        negatives: m; it may be 0 in a thinned sample.
        replacement: whether negatives were drawn with replacement.
        events: the number of events of this group in the sample that showed the outcomes.
        outcomes: (of this group,) indices among all outcomes.
        x: (of this group,) numbers of negatives above the item.
    """

    candidates: int
    negatives: int
    replacement: bool
    events: int
    outcomes: Ints
    x: Ints

    def pmf(self, ranks: Floats, replacement: bool | None = None, x: Ints | None = None) -> Floats:
        """Return P(x | rank) for this n and m, taken as binomial or not; None follows the design.

        The result is (ranks, m + 1), or (ranks, columns) if x is given. Then each x must be likely
        at some rank, and negligible probabilities are 0.
        """
        if self.negatives == 0:
            return np.ones((len(ranks), 1 if x is None else len(x)))
        design = SamplingDesign(self.negatives, self.replacement).assumed(replacement)
        pool = self.candidates - 1
        probabilities = pmf if x is None or pool < self.negatives else sparse_pmf
        return probabilities(ranks - 1, pool, design, x)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of a sampled evaluation, in any order.

    Attributes:
        x: (outcomes,) sampled negatives that rank above the held-out item; the sampled rank is x +
            1.
        negatives: (outcomes,) m, sampled negatives.
        candidates: (outcomes,) n, the item and the negatives that could have been sampled.
        replacement: whether negatives were drawn with replacement.
        events: (outcomes,) numbers of events with the outcome in the sample that showed them; they
            weight the users of a class with different n.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    replacement: bool
    events: Ints

    @classmethod
    def from_design(cls, design: SamplingDesign, candidates: int) -> "Outcomes":
        """Return the outcomes x = 0 … m of a design where every event has n candidates.

        Raises:
            DataError: there are too many to hold in memory.
        """
        check_memory_limit(
            (6, design.negatives + 1), f"what samples of {design} can show", "take fewer"
        )
        x = np.arange(design.negatives + 1)
        ones = np.ones_like(x)
        return cls(x, design.negatives * ones, candidates * ones, design.replacement, ones)

    @classmethod
    def observed(cls, ranks: SampledRanks) -> tuple["Outcomes", Ints]:
        """Return the outcomes that occur in a sample, and the index of each event's outcome.

        `numpy.bincount` of the (events,) indices counts the outcomes.
        """
        table = np.stack((ranks.candidates, ranks.negatives, ranks.x), axis=-1)
        distinct, which, events = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        n, m, x = distinct.T
        return cls(x, m, n, ranks.replacement, events), np.asarray(which).ravel()

    def __len__(self) -> int:
        return len(self.x)

    @property
    def are_exact(self) -> bool:
        """Return whether every candidate was drawn, so that the sampled ranks are the true ones."""
        return not self.replacement and bool((self.negatives == self.candidates - 1).all())

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the outcomes by n and m."""
        keys = np.stack((self.candidates, self.negatives), axis=-1)
        distinct, which = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        members = np.split(order, ends[:-1])
        return tuple(
            Group(
                candidates=int(n),
                negatives=int(m),
                replacement=self.replacement,
                events=int(self.events[outcomes].sum()),
                outcomes=outcomes,
                x=self.x[outcomes],
            )
            for (n, m), outcomes in zip(distinct, members, strict=True)
        )


_NODES = 16  # of a panel
_WIDTH = 1.75  # widest panel, in φ √m; at 2.5, P(x | rank) is exact to 8 digits, and here to 12
_ALL = 512  # up to this n, every rank is a node


@dataclass(frozen=True)
class RankNodes:
    """Nodes and weights of sums over ranks: Σ_{r=1}^n g(r) = Σ_i weights_i g(ranks_i).

    Attributes:
        ranks: (nodes,) increasing ranks, not all of them whole.
        weights: (nodes,) numbers of ranks that the nodes stand for; their sum is n.
    """

    ranks: Floats
    weights: Floats


@lru_cache(maxsize=8)  # users with similar m have the same nodes
def rank_nodes(candidates: int, design: SamplingDesign, cutoffs: tuple[int, ...] = ()) -> RankNodes:
    """Return the nodes for sums over ranks 1 … n of products of P(x | rank), x of m, with metrics.

    A cut-off k is the end of a panel, so the node before it is at most k and the next one at least
    k + 1.
    """
    n = candidates
    ends = _NODES if design.replacement else _one_by_one(design.negatives / max(n - 1, 1))
    if n <= max(_ALL, 4 * ends):
        return RankNodes(np.arange(1.0, n + 1), np.ones(n))
    width = _WIDTH / np.sqrt(design.negatives)
    edges = _edges(n, ends, width, sorted(k for k in cutoffs if k < n))
    before = edges[:-1]
    size = np.diff(edges)
    wide = size > _NODES
    nodes, weights = _gauss(size[wide])
    one_by_one = [np.arange(1.0, ends + 1), np.arange(n - ends + 1.0, n + 1)]
    one_by_one += [
        edge + np.arange(1.0, count + 1)
        for edge, count in zip(before[~wide], size[~wide], strict=True)
    ]
    whole_ranks = np.concatenate(one_by_one)
    ranks = np.concatenate((whole_ranks, (before[wide, np.newaxis] + nodes).ravel()))
    weights_of_ranks = np.concatenate((np.ones_like(whole_ranks), weights.ravel()))
    order = np.argsort(ranks)
    return RankNodes(ranks[order], weights_of_ranks[order])


def _one_by_one(share: float) -> int:
    """Return a number of ranks such that P(x >= rank | rank) is below 10⁻¹³ beyond it (Chernoff).

    `share` is m/(n-1).
    """
    exponent = -np.log(share) - 1 + share if share < 1 else 0.0
    return int(min(np.ceil(30 / max(exponent, 1e-9)), 2**53)) + _NODES


def _edges(candidates: int, ends: int, width: float, cutoffs: list[int]) -> Ints:
    """Return the last ranks of panels between the ranks that are summed one by one."""
    edges = [ends]
    while edges[-1] < candidates - ends:
        last = edges[-1]
        angle = 2 * np.arcsin(np.sqrt(last / candidates)) + width
        reached = candidates if angle >= np.pi else int(candidates * np.sin(angle / 2) ** 2)
        following = min(max(last + _NODES, min(2 * last, reached)), candidates - ends)
        edges.append(next((k for k in cutoffs if last < k < following), following))
    return np.array(edges)


def _gauss(sizes: Ints) -> tuple[Floats, Floats]:
    """Return (panels, 16) nodes from 1 to N, and weights with the sum N, as Golub and Welsch do."""
    k = np.arange(1, _NODES)
    count = sizes[:, np.newaxis].astype(np.float64)
    matrices = np.zeros((len(sizes), _NODES, _NODES))
    matrices[:, k, k - 1] = np.sqrt(k**2 * (count**2 - k**2) / (4 * (4 * k**2 - 1.0)))
    zeros, vectors = np.linalg.eigh(matrices)
    return (count + 1) / 2 + zeros, count * vectors[:, 0] ** 2


FACTOR = 1.25
"""Largest ratio of the n of two users of a class."""


# numbers of the probabilities of a class that are kept for other estimators and recommenders
_KEPT = 4_000_000

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
        """Return the size of each group.

        Classes with the same sizes differ in the ranks of their users only.
        """
        return tuple(
            Size(group.candidates, group.negatives, group.replacement, group.events)
            for group in self.groups
        )

    @cached_property
    def columns(self) -> tuple[Ints, Ints, Ints]:
        """Return m and x of the distinct (m, x), and the index of that of each outcome."""
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
        self,
        values_of: Callable[[Group, Floats], Floats],
        ranks: Floats,
        groups: Sequence[Group] | None = None,
    ) -> Floats:
        """Return the (ranks, …) mean of a function over the users whose n allows the rank, or 0."""
        total = np.zeros((len(ranks), 1))
        users = np.zeros((len(ranks), 1))
        for group in self.groups if groups is None else groups:
            allowed = int(np.searchsorted(ranks, group.candidates, side="right"))
            values = values_of(group, ranks[:allowed])
            if total.shape[1] != values.shape[1]:
                total = np.zeros((len(ranks), values.shape[1]))
            total[:allowed] += group.events * values
            users[:allowed] += group.events
        return total / np.maximum(users, 1)

    def probabilities(
        self, ranks: Floats, negatives: int, replacement: bool | None, x: Ints | None = None
    ) -> Floats:
        """Return P(x | rank) of the users with m negatives, (ranks, m + 1) or some columns."""
        groups = [group for group in self.groups if group.negatives == negatives]
        columns = negatives + 1 if x is None else len(x)
        check_memory_limit(
            (2 * len(ranks), columns), f"P(x | rank) of m = {negatives} negatives", "take fewer"
        )
        return self.mean(lambda group, allowed: group.pmf(allowed, replacement, x), ranks, groups)

    def likelihood(self, ranks: Floats, replacement: bool | None) -> Floats:
        """Return P(x | rank) of the distinct (m, x), (ranks, distinct (m, x))."""
        negatives, x, _ = self.columns
        likelihood = np.empty((len(ranks), len(x)))
        for m in map(int, np.unique(negatives)):
            has_m = negatives == m
            if len(ranks) * (m + 1) <= _KEPT:
                kept = _probabilities(self.sizes, ranks.tobytes(), m, replacement)
                likelihood[:, has_m] = kept[:, x[has_m]]
            else:
                likelihood[:, has_m] = self.probabilities(ranks, m, replacement, x[has_m])
        return likelihood

    def values(self, metrics: tuple[Metric, ...], ranks: Floats) -> Floats:
        """Return (ranks, metrics) values of the metrics."""
        return _values(self.sizes, metrics, ranks.tobytes())


def _without_outcomes(sizes: tuple[Size, ...]) -> RankClass:
    """Return a class of users whose outcomes are not known."""
    nothing = np.empty(0, dtype=np.int64)
    groups = tuple(
        Group(size.candidates, size.negatives, size.replacement, size.events, nothing, nothing)
        for size in sizes
    )
    return RankClass(groups, nothing, nothing, nothing)


@lru_cache(maxsize=32)
def _values(sizes: tuple[Size, ...], metrics: tuple[Metric, ...], ranks: bytes) -> Floats:
    """Return (ranks, metrics) values of the metrics, which all samples of a class share."""

    def values_of(group: Group, allowed: Floats) -> Floats:
        columns = [metric.of_rank(allowed, group.candidates) for metric in metrics]
        return np.stack(columns, axis=1)

    return _without_outcomes(sizes).mean(values_of, np.frombuffer(ranks))


@lru_cache(maxsize=8)
def _probabilities(
    sizes: tuple[Size, ...], ranks: bytes, negatives: int, replacement: bool | None
) -> Floats:
    """Return P(x | rank) of the users of a class with m negatives, (ranks, m + 1).

    The probabilities do not depend on what a sample shows, so all recommenders of the same users
    and all estimators share them.
    """
    users = _without_outcomes(sizes)
    return users.probabilities(np.frombuffer(ranks), negatives, replacement)


def rank_classes(outcomes: Outcomes, smallest_share: float = 0.0) -> tuple[RankClass, ...]:
    """Cut the outcomes into classes, from the largest n downwards.

    A class with less than the smallest share of the events joins that of the next larger n.
    """
    classes: list[list[Group]] = []
    for group in sorted(outcomes.groups, key=lambda group: -group.candidates):
        if classes and classes[-1][0].candidates <= FACTOR * group.candidates:
            classes[-1].append(group)
        else:
            classes.append([group])
    fewest_events = smallest_share * sum(group.events for group in outcomes.groups)
    kept: list[list[Group]] = []
    for groups in classes:
        if kept and sum(group.events for group in groups) < fewest_events:
            kept[-1] += groups
        else:
            kept.append(groups)
    return tuple(_rank_class(outcomes, groups) for groups in kept)


def _rank_class(outcomes: Outcomes, groups: Sequence[Group]) -> RankClass:
    """Return the class of some groups of outcomes."""
    members = np.concatenate([group.outcomes for group in groups])
    return RankClass(tuple(groups), members, outcomes.negatives[members], outcomes.x[members])
