"""Assumptions on the distribution of true ranks, as mixtures of a few distributions.

A user's true rank r has an unknown distribution π over 1 … n. Each assumption is a shape of π on
the better half of the ranks, up to h = n / 2. The worse half may have any distribution, as items
that tie at the bottom are frequent there.

- `free`: any distribution, a mixture of single ranks;
- `decreasing`: π does not increase up to h, a mixture of the uniform distributions on 1 … k, k <=
  h, and of single ranks above h;
- `convex`: π decreases up to h, and ever more slowly, a mixture of the triangles (k + 1 - r)₊, k <=
  h, of the uniform distribution on 1 … h, and of single ranks above h. No result assumes it (see
  `MIXTURES`).

The members of a mixture are indexed by k. All k up to 60 are taken, about 160 more in geometric
steps, the last 20, about 40 in geometric steps before them, and the cut-offs of the metrics. A
single rank k stands for all ranks from the k before it to k, so that no rank is left out. Where the
mean of a sampled metric alone is known, the mean at a rank changes fast around the rank whose
samples have the cut-off, so that more k are taken there (`mixtures`, `known`).

Users of a class (`sampled_metrics.core.sampling.outcomes`) have similar n, and their ranks may
depend on it. So a class has the members of its smallest and of its largest n. For a user with fewer
candidates, k is at most n.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints, check_memory_limit
from sampled_metrics.core.metrics import Metric
from sampled_metrics.core.sampling.distributions import SamplingDesign, sparse_pmf
from sampled_metrics.core.sampling.outcomes import RankClass, Size, rank_nodes

FREE = "free"
DECREASING = "decreasing"
SHAPES = (FREE, DECREASING)
"""The assumptions, the second one stronger than the first."""

MIXTURES = (*SHAPES, "convex")
"""All mixtures.

No interval assumes `convex`: weights that hold under `decreasing` are chosen near its best fit.
"""

_EACH = 200  # up to this m, each x is a cell
_PER_DEVIATION = 6.0  # cells in a standard deviation of x, for larger m
_ALL = 60  # every k up to here
_MORE = 160  # further k, in geometric steps
_RANK = 1e-9  # smallest relative size of a dimension in which members differ
_SCALED_FROM = 1e-12  # shares of samples from here on are scaled alike
_KEPT = 4_000_000  # numbers of P(x | rank) that are held at a time
# further k around the cut-off of a known mean, in standard deviations of x
_AROUND = np.linspace(-6.0, 6.0, 193)
_LAST = 20  # the last ranks that are taken one by one, and the ratio of the steps before them
_LAST_STEP = 1.15


@dataclass(frozen=True)
class Mixture:
    """What the members of a mixture show, for a class of users.

    The cells are the outcomes (m, x) of the class, for every x = 0 … m of every m, seen or not; of
    large m, several x are one cell, unless the mixture is made for known means.

    Attributes:
        probabilities: (members, cells) P(m, x | member), with the observed shares of m.
        values: (members, metrics) means of the metrics.
    """

    probabilities: Floats
    values: Floats

    def distances(self, shares: Floats, scale: Floats) -> Floats:
        """Return (dimensions, members) coordinates of the scaled differences of members from
        (cells,) shares.

        They have the products of (probabilities - shares) * scale, up to a part of the shares that
        is the same for all members, and at right angles to their differences.
        """
        directions, coordinates = self._reduced
        orthonormal, upper = np.linalg.qr(directions * scale[:, np.newaxis])
        return np.asarray(upper @ coordinates - (orthonormal.T @ (shares * scale))[:, np.newaxis])

    @cached_property
    def _reduced(self) -> tuple[Floats, Floats]:
        """Return (cells, dimensions) and (dimensions, members) factors of the scaled
        probabilities.
        """
        scale = 1 / np.sqrt(self.probabilities.mean(axis=0) + _SCALED_FROM)
        directions, upper, order = qr(
            (self.probabilities * scale).T, mode="economic", pivoting=True
        )
        size = np.abs(np.diag(upper))
        rank = int((size > _RANK * size[0]).sum())
        coordinates = np.empty((rank, len(self.probabilities)))
        coordinates[:, order] = upper[:rank]
        return directions[:, :rank] / scale[:, np.newaxis], coordinates


def cells(users: RankClass) -> tuple[Ints, int]:
    """Return the cell of each outcome of a class, (outcomes of the class,), and the number of
    cells.
    """
    of_outcomes = np.empty(len(users.x), dtype=np.int64)
    number = 0
    for m in np.unique(users.negatives):
        same = users.negatives == m
        first = _first_of_cells(int(m))
        of_outcomes[same] = number + np.searchsorted(first, users.x[same], side="right") - 1
        number += len(first)
    return of_outcomes, number


def _first_of_cells(negatives: int) -> Ints:
    """Return the smallest x of each cell: each x is one up to a number, and then x of about √x / 6
    are together.

    P(x | rank) hardly changes over a cell, as its standard deviation is about √x. So little is lost
    for large m, and weights that are the same for all x of a cell are valid.
    """
    if negatives <= _EACH:
        return np.arange(negatives + 1)
    first = [0]
    while first[-1] <= negatives:
        first.append(first[-1] + max(1, int(np.sqrt(first[-1]) / _PER_DEVIATION)))
    return np.array(first[:-1])


def mixtures(
    users: Sequence[Size],
    metrics: tuple[Metric, ...],
    replacement: bool | None = None,
    finer: int = 1,
    known: tuple[Metric, ...] | None = None,
) -> dict[str, Mixture]:
    """Return the mixture of each shape for a class of users.

    Args:
        users: the sizes of the groups of the class.
        metrics: the metrics.
        replacement: whether P(x | r) is taken as binomial; None follows the design.
        finer: factor of the number of k in geometric steps, to see that the grid suffices.
        known: the metrics of the sampled ranks whose means are known, where nothing else is; then
            each x is a cell, whatever m is, and there are more k where these metrics change.

    Raises:
        DataError: n or m is too large for the allowed memory.
    """
    replaced = users[0].replacement
    (by_size, ends) = _by_negatives(users)
    k = _members_k(users, metrics, finer, known or ())
    of_ends = [
        _of_end(end, by_size, k, replaced, metrics, replacement, known is not None) for end in ends
    ]
    return {
        shape: Mixture(
            np.vstack([members[shape].probabilities for members in of_ends]),
            np.vstack([members[shape].values for members in of_ends]),
        )
        for shape in MIXTURES
    }


def _members_k(
    users: Sequence[Size],
    metrics: tuple[Metric, ...],
    finer: int = 1,
    known: tuple[Metric, ...] = (),
) -> Ints:
    """Return the increasing k of the members for a class of users."""
    largest = max(group.candidates for group in users)
    cutoffs = {largest // 2} | {metric.cutoff for metric in metrics if metric.cutoff is not None}
    grid = _grid(largest, cutoffs, finer)
    if not known:
        return grid
    groups = [group for group in users if group.negatives]
    jumps = [_around(group, metric.cutoff) for group in groups for metric in known if metric.cutoff]
    # the rank of a cut-off is a member alone
    last_before = [cutoff - 1 for cutoff in cutoffs if 1 < cutoff <= largest]
    return np.unique(np.concatenate((grid, np.array(last_before, dtype=np.int64), *jumps)))


def _around(group: Size, cutoff: int) -> Ints:
    """Return ranks whose samples have about as many negatives above the item as a cut-off of the
    sampled rank.
    """
    pool = group.candidates - 1
    m = group.negatives
    share = min(1.0, (cutoff - 0.5) / m)
    variance = m * share * (1 - share)
    if not group.replacement:
        variance *= (pool - m) / max(pool - 1, 1)
    middle = 1 + share * pool  # in true ranks
    deviation = np.sqrt(variance) * pool / m
    ranks = np.concatenate((middle + deviation * _AROUND, middle + np.array([-1.0, 1.0])))
    return np.clip(np.floor(ranks).astype(np.int64), 1, group.candidates)


def _by_negatives(
    users: Sequence[Size],
) -> tuple[list[tuple[int, list[Size]]], list[Callable[[Iterable[int]], int]]]:
    """Return the groups of a class by m, and the n that have members: the smallest and the largest,
    or both as one.
    """
    by_size = [
        (m, list(groups))
        for m, groups in groupby(
            sorted(users, key=lambda group: group.negatives), key=lambda g: g.negatives
        )
    ]
    several = any(len({group.candidates for group in groups}) > 1 for _, groups in by_size)
    return by_size, [min, max] if several else [max]


def _of_end(
    end: Callable[[Iterable[int]], int],
    by_size: Sequence[tuple[int, Sequence[Size]]],
    k: Ints,
    replaced: bool,
    metrics: tuple[Metric, ...],
    replacement: bool | None,
    is_each: bool,
) -> dict[str, Mixture]:
    """Return the mixture of each shape for users who have the smallest or the largest n of their m.

    Args:
        end: min or max.
        by_size: the groups of the class, by m.
        k: of the members.
        replaced: whether negatives were drawn with replacement.
        metrics: the metrics.
        replacement: whether P(x | r) is taken as binomial; None follows `replaced`.
        is_each: whether each x is a cell, also of large m.
    """
    total = sum(group.events for _, groups in by_size for group in groups)
    probabilities: dict[str, list[Floats]] = {shape: [] for shape in MIXTURES}
    values: dict[str, Floats | float] = dict.fromkeys(MIXTURES, 0.0)
    for m, groups in by_size:
        check_memory_limit(
            (16 * len(k), m + 1), f"what samples of {m} negatives can show", "take fewer"
        )
        n = end(group.candidates for group in groups)
        share = sum(group.events for group in groups) / total
        first_of_cells = np.arange(m + 1) if is_each else _first_of_cells(m)
        for shape, (of_samples, of_metrics) in _members(
            n, m, k, replaced, metrics, replacement
        ).items():
            probabilities[shape].append(share * np.add.reduceat(of_samples, first_of_cells, axis=1))
            values[shape] = values[shape] + share * of_metrics
    return {
        shape: Mixture(np.hstack(probabilities[shape]), np.asarray(values[shape]))
        for shape in MIXTURES
    }


def _grid(candidates: int, cutoffs: set[int], finer: int) -> Ints:
    """Return increasing k from 1 to n."""
    if candidates <= _ALL + finer * _MORE:
        return np.arange(1, candidates + 1)
    steps = np.round(np.geomspace(_ALL, candidates, finer * _MORE + 1)).astype(np.int64)
    number = 1 + finer * int(np.log(candidates / 2 / _LAST) / np.log(_LAST_STEP))
    from_last = np.round(np.geomspace(_LAST, candidates / 2, number)).astype(np.int64)
    last = candidates - np.concatenate((np.arange(_LAST), from_last))
    of_metrics = [k + more for k in cutoffs for more in (0, 1) if 1 <= k + more <= candidates]
    return np.unique(
        np.concatenate((np.arange(1, _ALL + 1), steps, last, np.array(of_metrics, dtype=np.int64)))
    )


def _members(
    candidates: int,
    negatives: int,
    k: Ints,
    replaced: bool,
    metrics: tuple[Metric, ...],
    replacement: bool | None,
) -> dict[str, tuple[Floats, Floats]]:
    """Return (members, m + 1) probabilities and (members, metrics) values of each shape, for one n
    and m.
    """
    design = SamplingDesign(max(negatives, 1), replaced).assumed(replacement)
    k = np.minimum(k, candidates)
    half = max(1, candidates // 2)

    def shown_by(ranks: Floats) -> Floats:
        """Return P(x | rank) and the metrics, (ranks, m + 1 + metrics)."""
        probabilities = (
            sparse_pmf(ranks - 1, candidates - 1, design) if negatives else np.ones((len(ranks), 1))
        )
        return np.hstack(
            (
                probabilities,
                *(metric.of_rank(ranks, candidates)[:, np.newaxis] for metric in metrics),
            )
        )

    distinct, which = np.unique(k, return_inverse=True)
    nodes = rank_nodes(candidates, design, tuple(map(int, distinct)))
    ends = np.concatenate(([0], np.searchsorted(nodes.ranks, distinct, side="right")))
    shape = (len(distinct), len(nodes.ranks))
    between = [
        csr_array((weights, np.arange(len(weights)), ends), shape=shape)
        for weights in (nodes.weights, nodes.weights * nodes.ranks)
    ]
    sums, by_rank = (np.zeros((len(distinct), negatives + 1 + len(metrics))) for _ in between)
    step = max(1, _KEPT // (negatives + 1))
    for first in range(0, len(nodes.ranks), step):
        block = slice(first, first + step)
        of_nodes = shown_by(nodes.ranks[block])
        sums += between[0][:, block] @ of_nodes
        by_rank += between[1][:, block] @ of_nodes
    for total in (sums, by_rank):  # over the ranks up to each k
        np.cumsum(total, axis=0, out=total)
    size = distinct[:, np.newaxis].astype(np.float64)
    single = np.diff(sums, axis=0, prepend=0.0) / np.diff(size, axis=0, prepend=0.0)
    uniform = sums / size
    triangles = ((size + 1) * sums - by_rank) / (size * (size + 1) / 2)
    better = size <= half
    last = np.searchsorted(distinct, half, side="right") - 1
    members = {
        "free": single[which],
        "decreasing": np.where(better, uniform, single)[which],
        "convex": np.vstack((np.where(better, triangles, single)[which], uniform[last])),
    }
    return {
        shape: (both[:, : negatives + 1], both[:, negatives + 1 :])
        for shape, both in members.items()
    }
