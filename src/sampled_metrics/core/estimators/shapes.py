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

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array

from sampled_metrics.checks import Floats, Ints, check_memory_limit
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
_MOST_CELLS = 1_000  # cells of a class from which on similar m share cells
_SIMILAR = 1.25  # largest ratio of two m that share cells
_SCALED_FROM = 1e-12  # shares of samples from here on are scaled alike
_KEPT = 4_000_000  # numbers of P(x | rank) that are held at a time
# further k around the cut-off of a known mean, in standard deviations of x
_AROUND = np.linspace(-6.0, 6.0, 193)
_LAST = 20  # the last ranks, which are taken one by one
_LAST_STEP = 1.15  # the ratio of the geometric steps before them


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
        """Return (dimensions, members) coordinates of the differences of members from shares.

        The (cells,) shares and the differences are scaled. The coordinates have the products of
        (probabilities - shares) * scale, up to a part of the shares that is the same for all
        members, and at right angles to their differences.
        """
        directions, coordinates = self._reduced
        orthonormal, upper = np.linalg.qr(directions * scale[:, np.newaxis])
        return np.asarray(upper @ coordinates - (orthonormal.T @ (shares * scale))[:, np.newaxis])

    @cached_property
    def _reduced(self) -> tuple[Floats, Floats]:
        """Return (cells, dimensions) and (dimensions, members) factors of the probabilities."""
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
    """Return the (outcomes of the class,) cells of the outcomes, and the number of cells."""
    cell_indices = np.empty(len(users.x), dtype=np.int64)
    count = 0
    for alike in _similar(np.unique(users.negatives).tolist()):
        for m in alike:
            has_m = users.negatives == m
            cell_indices[has_m] = count + _cells_of(m, alike[0])[users.x[has_m]]
        count += len(_cell_starts(alike[0]))
    return cell_indices, count


def _similar(increasing: Sequence[int]) -> list[list[int]]:
    """Return groups of increasing m that share cells.

    Each m has cells of its own. If these are more than a thousand, as where most users have an m of
    their own, similar m share cells. Otherwise most cells would be empty, and the bounds wide.
    """
    are_shared = sum(len(_cell_starts(m)) for m in increasing) > _MOST_CELLS
    groups: list[list[int]] = []
    for m in increasing:
        if are_shared and groups and m <= _SIMILAR * groups[-1][0]:
            groups[-1].append(m)
        else:
            groups.append([m])
    return groups


def _cells_of(negatives: int, smallest: int) -> Ints:
    """Return the (m + 1,) cells of x = 0 … m among those of the smallest similar m.

    x is in the cell of the whole number nearest to x times the smallest m, divided by m.
    """
    nearest = np.rint(np.arange(negatives + 1) * (smallest / max(negatives, 1)))
    return np.searchsorted(_cell_starts(smallest), nearest, side="right") - 1


def _cell_starts(negatives: int) -> Ints:
    """Return the smallest x of each cell.

    Each x is a cell if m is small. Otherwise a cell has about √x / 6 of them.

    P(x | rank) hardly changes over a cell, as its standard deviation is about √x. So little is lost
    for large m, and weights that are the same for all x of a cell are valid.
    """
    if negatives <= _EACH:
        return np.arange(negatives + 1)
    starts = [0]
    while starts[-1] <= negatives:
        width = max(1, int(np.sqrt(starts[-1]) / _PER_DEVIATION))
        starts.append(starts[-1] + width)
    return np.array(starts[:-1])


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
    is_binomial = users[0].replacement if replacement is None else replacement
    k = _members_k(users, metrics, finer, known or ())
    # the smallest and the largest n have members of their own, unless similar m have a single n
    several = False
    groups = list[list[Size]]()
    for alike in _similar(sorted({group.negatives for group in users})):
        groups.append([group for group in users if group.negatives in alike])
        several |= len({group.candidates for group in groups[-1]}) > 1
    ends = [min, max] if several else [max]
    mixtures_by_end = [
        _mixtures_of_end(end, groups, k, metrics, is_binomial, known is not None) for end in ends
    ]
    combined = {}
    for shape in MIXTURES:
        probabilities = [by_shape[shape].probabilities for by_shape in mixtures_by_end]
        values = [by_shape[shape].values for by_shape in mixtures_by_end]
        combined[shape] = Mixture(np.vstack(probabilities), np.vstack(values))
    return combined


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
    """Return true ranks whose sampled rank is near a cut-off."""
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


def _mixtures_of_end(
    end: Callable[[Iterable[int]], int],
    users_by_m: Sequence[Sequence[Size]],
    k: Ints,
    metrics: tuple[Metric, ...],
    is_binomial: bool,
    keeps_each_x: bool,
) -> dict[str, Mixture]:
    """Return the mixture of each shape for users who have the smallest or the largest n.

    Args:
        end: min or max, of the users with similar m.
        users_by_m: the groups of the class, by similar m.
        k: of the members.
        metrics: the metrics.
        is_binomial: whether P(x | r) is taken as binomial.
        keeps_each_x: whether each x is a cell, also of large m.
    """
    total = sum(group.events for groups in users_by_m for group in groups)
    probabilities: dict[str, list[Floats]] = {shape: [] for shape in MIXTURES}
    values: dict[str, Floats | float] = dict.fromkeys(MIXTURES, 0.0)
    for groups in users_by_m:
        events = Counter[int]()
        for group in groups:
            events[group.negatives] += group.events
        smallest = min(events)
        largest = max(events)
        check_memory_limit(
            (16 * len(k), largest + 1),
            f"what samples of {largest} negatives can show",
            "take fewer",
        )
        n = end(group.candidates for group in groups)
        for m in sorted(events):
            share = events[m] / total
            cell_of_x = np.arange(m + 1) if keeps_each_x else _cells_of(m, smallest)
            taken, starts = np.unique(cell_of_x, return_index=True)
            members = _members(n, m, largest, k, metrics, is_binomial)
            for shape, (member_probabilities, member_values) in members.items():
                in_cells = share * np.add.reduceat(member_probabilities, starts, axis=1)
                if m == smallest:
                    probabilities[shape].append(in_cells)
                else:
                    probabilities[shape][-1][:, taken] += in_cells
                values[shape] = values[shape] + share * member_values
    return {
        shape: Mixture(np.hstack(probabilities[shape]), np.asarray(values[shape]))
        for shape in MIXTURES
    }


def _grid(candidates: int, cutoffs: set[int], finer: int) -> Ints:
    """Return increasing k from 1 to n."""
    if candidates <= _ALL + finer * _MORE:
        return np.arange(1, candidates + 1)
    steps = np.round(np.geomspace(_ALL, candidates, finer * _MORE + 1)).astype(np.int64)
    count = 1 + finer * int(np.log(candidates / 2 / _LAST) / np.log(_LAST_STEP))
    from_last = np.round(np.geomspace(_LAST, candidates / 2, count)).astype(np.int64)
    last_ranks = candidates - np.concatenate((np.arange(_LAST), from_last))
    # a cut-off, and the rank behind it
    ends = [k + more for k in cutoffs for more in (0, 1) if 1 <= k + more <= candidates]
    return np.unique(
        np.concatenate((np.arange(1, _ALL + 1), steps, last_ranks, np.array(ends, dtype=np.int64)))
    )


def _members(
    candidates: int,
    negatives: int,
    most_negatives: int,
    k: Ints,
    metrics: tuple[Metric, ...],
    is_binomial: bool,
) -> dict[str, tuple[Floats, Floats]]:
    """Return what the members of each shape show, for one n and m.

    The arrays are (members, m + 1) probabilities of x, and (members, metrics) values. The nodes of
    sums over ranks are those of the largest similar m.
    """
    k = np.minimum(k, candidates)
    half = max(1, candidates // 2)
    distinct, which = np.unique(k, return_inverse=True)
    sums, sums_by_rank = _sums_up_to(
        distinct, candidates, negatives, most_negatives, metrics, is_binomial
    )
    size = distinct[:, np.newaxis].astype(np.float64)
    single = np.diff(sums, axis=0, prepend=0.0) / np.diff(size, axis=0, prepend=0.0)
    uniform = sums / size
    triangles = ((size + 1) * sums - sums_by_rank) / (size * (size + 1) / 2)
    is_better_half = size <= half
    last_better = np.searchsorted(distinct, half, side="right") - 1
    decreasing = np.where(is_better_half, uniform, single)
    convex = np.where(is_better_half, triangles, single)
    members = {
        "free": single[which],
        "decreasing": decreasing[which],
        "convex": np.vstack((convex[which], uniform[last_better])),
    }
    return {
        shape: (columns[:, : negatives + 1], columns[:, negatives + 1 :])
        for shape, columns in members.items()
    }


def _sums_up_to(
    k: Ints,
    candidates: int,
    negatives: int,
    most_negatives: int,
    metrics: tuple[Metric, ...],
    is_binomial: bool,
) -> tuple[Floats, Floats]:
    """Return the sums of P(x | rank) and the metrics over the ranks up to each k, in two ways.

    Both are (k, m + 1 + metrics). In the second, each rank counts as often as its number says.
    """
    design = SamplingDesign(max(negatives, 1), is_binomial)
    nodes_design = SamplingDesign(max(most_negatives, 1), is_binomial)
    nodes = rank_nodes(candidates, nodes_design, tuple(map(int, k)))
    ends = np.concatenate(([0], np.searchsorted(nodes.ranks, k, side="right")))
    # each row has the weights of the nodes from one k to the next
    shape = (len(k), len(nodes.ranks))
    columns = np.arange(len(nodes.ranks))
    summing = csr_array((nodes.weights, columns, ends), shape=shape)
    summing_by_rank = csr_array((nodes.weights * nodes.ranks, columns, ends), shape=shape)
    sums = np.zeros((len(k), negatives + 1 + len(metrics)))
    sums_by_rank = np.zeros_like(sums)
    step = max(1, _KEPT // (negatives + 1))
    for start in range(0, len(nodes.ranks), step):
        block = slice(start, start + step)
        ranks = nodes.ranks[block]
        # without negatives, every sample has x = 0
        probabilities = (
            sparse_pmf(ranks - 1, candidates - 1, design) if negatives else np.ones((len(ranks), 1))
        )
        values = [metric.of_rank(ranks, candidates)[:, np.newaxis] for metric in metrics]
        shown = np.hstack((probabilities, *values))
        sums += summing[:, block] @ shown
        sums_by_rank += summing_by_rank[:, block] @ shown
    np.cumsum(sums, axis=0, out=sums)
    np.cumsum(sums_by_rank, axis=0, out=sums_by_rank)
    return sums, sums_by_rank
