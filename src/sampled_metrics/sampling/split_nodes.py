"""True ranks by stratum as a few nodes, and the chance of each sample from strata at each of them.

A node is a range of ranks, and a split of the items above into a_1 … a_S of the strata. Ranges and splits are exact for
the first ranks, and geometric beyond them.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import check_memory_limit
from sampled_metrics.errors import DataError
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf
from sampled_metrics.sampling.strata import StratifiedOutcomes

RATIOS = {2: 1.2, 3: 1.35}
"""The ratio of the ends of ranges by the number of strata."""

MOST_ROWS = 2**13
"""Sizes of strata are merged further if there are more different outcomes than this."""

_BINS = 16  # most different sizes of a stratum with the same m; similar ones are merged
_EXACT = 4096  # up to this size of a stratum, chances are means over all numbers of a range
_POINTS = 64  # of a range, at which a metric is averaged


@dataclass(frozen=True)
class SplitNodes:
    """Nodes of the joint distribution of the numbers above by stratum.

    Attributes:
        first: (ranges,) smallest r - 1 of each range.
        last: (ranges,) largest r - 1.
        range_of: (nodes,) the range of each node.
        split: (nodes, strata) a_s, about.
        low: (nodes, strata) smallest a_s of a node.
        high: (nodes, strata) largest a_s.
    """

    first: Ints
    last: Ints
    range_of: Ints
    split: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, sizes: Ints, cutoffs: set[int]) -> "SplitNodes":
        """Return nodes for strata of at most these sizes, (strata,); each cut-off is the end of a range.

        Raises:
            DataError: there are more strata than nodes can be made for.
        """
        if len(sizes) not in RATIOS:
            raise DataError(f"there are {len(sizes)} strata; samples of 1 to {max(RATIOS)} strata can be corrected")
        ratio, largest = RATIOS[len(sizes)], int(np.argmax(sizes))
        order = [s for s in range(len(sizes)) if s != largest]
        first, last = _ranges(int(sizes.sum()), ratio, cutoffs)
        nodes = []
        for at, most in enumerate(last):
            parts = [(np.zeros(0, dtype=np.int64), int(most))]
            for stratum in order:
                parts = [
                    (np.append(done, (begin, end)), max(0, rest - (begin + end) // 2))
                    for done, rest in parts
                    for begin, end in zip(*_ranges(min(rest, int(sizes[stratum])), ratio, set()), strict=True)
                ]
            nodes += [(at, *done) for done, _ in parts]
        table = np.array(nodes)
        range_of, others = table[:, 0], table[:, 1:].reshape(len(table), -1, 2)
        low, high, split = (np.zeros((len(table), len(sizes)), dtype=np.int64) for _ in range(3))
        low[:, order], high[:, order] = others[:, :, 0], others[:, :, 1]
        split[:, order] = others.sum(axis=2) // 2
        rest = split.sum(axis=1)
        low[:, largest], high[:, largest] = first[range_of] - rest, last[range_of] - rest
        split[:, largest] = (first + last)[range_of] // 2 - rest
        possible = (low[:, largest] <= sizes[largest]) & (high[:, largest] >= 0)
        low, split = np.maximum(low, 0), np.maximum(split, 0)
        columns = (each[possible] for each in (range_of, split, low, high))
        return cls(first, last, *columns)

    def values(self, metrics: tuple[Metric, ...], candidates: Ints, events: Ints) -> Floats:
        """Return the (ranges, metrics) means of the metrics over the ranks of each range, and over users' n."""
        found = np.empty((len(self.first), len(metrics)))
        n, which = np.unique(candidates, return_inverse=True)
        users = np.bincount(which, events)
        for at, (low, high) in enumerate(zip(self.first, self.last, strict=True)):
            ranks = 1.0 + np.unique(np.linspace(low, high, min(_POINTS, high - low + 1)).round())
            for column, metric in enumerate(metrics):
                if metric.linear_in_rank:
                    allowed = np.minimum(ranks.mean(), n)
                    found[at, column] = np.average(metric.of_rank(allowed, n), weights=users)
                else:
                    found[at, column] = np.mean(metric.of_rank(ranks, n[-1]))
        return found

    def likelihood(self, outcomes: StratifiedOutcomes) -> tuple[Floats, Ints]:
        """Return P(row | node), (rows, nodes), and the (outcomes,) row of each outcome.

        A row is all outcomes with the same m and x, and the same sizes or, if there are many, similar ones.

        Raises:
            DataError: they do not fit into memory.
        """
        bins = _BINS
        while True:
            sizes = np.stack(
                [
                    _merged(*each, outcomes.events, bins)
                    for each in zip(outcomes.sizes.T, outcomes.drawn.T, strict=True)
                ],
                axis=1,
            )
            rows, which = np.unique(np.hstack((sizes, outcomes.drawn, outcomes.x)), axis=0, return_inverse=True)
            if len(rows) <= MOST_ROWS or bins == 1:
                break
            bins //= 2
        shape, largest = (len(rows), len(self.split)), int(np.argmax(self.high.max(axis=0)))
        widths = self.high - self.low
        reach = np.ceil((widths.sum(axis=1) - widths[:, largest]) / 2).astype(np.int64)
        check_memory_limit((3 * shape[0], shape[1]), "what samples from strata can show", "take fewer strata")
        found = np.ones(shape)
        for stratum, (size, drawn, x) in enumerate(zip(*np.split(rows.T, 3), strict=True)):
            low, high = self.low[:, stratum], self.high[:, stratum]
            whole = np.flatnonzero(drawn == size)
            number = x[whole, np.newaxis]
            # the rank and the split of a node are ranges, so the rest of the rank has a wider one
            more = reach if stratum == largest else 0
            found[whole] *= ((low - more <= number) & (number <= high + more)) / (high + 1 - low + 2 * more)
            pairs, of_rows = np.unique(np.stack((size, drawn)), axis=1, return_inverse=True)
            for at, (N, m) in enumerate(pairs.T):
                if m == N:
                    continue
                there = np.flatnonzero(of_rows.ravel() == at)
                found[there] *= self._chances(stratum, int(N), int(m)).T[x[there]]
        return found, np.asarray(which).ravel()

    def _chances(self, stratum: int, size: int, drawn: int) -> Floats:
        """Return P(x | node) of a stratum, (nodes, m + 1)."""
        design = SamplingDesign(max(drawn, 1))
        low, high = self.low[:, stratum], self.high[:, stratum]
        if size > _EXACT:
            middle, which = np.unique((low + np.minimum(high, size)) / 2, return_inverse=True)
            chances = pmf(np.minimum(middle, size), size, design) if drawn else np.ones((len(middle), 1))
            chances[middle > size] = 0
            return np.asarray(chances[which.ravel()])
        sums = np.zeros((size + 2, drawn + 1))
        chances = pmf(np.arange(size + 1), size, design) if drawn else np.ones((size + 1, 1))
        np.cumsum(chances, axis=0, out=sums[1:])
        ends = np.minimum(np.stack((low, high + 1)), size + 1)
        return np.asarray((sums[ends[1]] - sums[ends[0]]) / (high + 1 - low)[:, np.newaxis])


def _ranges(largest: int, ratio: float, cutoffs: set[int]) -> tuple[Ints, Ints]:
    """Return the first and the last numbers of ranges of 0 … largest, single at first and then geometric."""
    single = round(2 / (ratio - 1))
    edges = [*range(min(single, largest) + 1)]
    while edges[-1] <= largest:
        edges.append(max(edges[-1] + 1, int(np.ceil(edges[-1] * ratio))))
    ends = np.unique([*(edge for edge in edges if edge <= largest), *(k for k in cutoffs if k <= largest), largest + 1])
    return ends[:-1], ends[1:] - 1


def _merged(sizes: Ints, drawn: Ints, events: Ints, bins: int) -> Ints:
    """Return (outcomes,) sizes of a stratum, with similar ones of the same m replaced by their mean."""
    if len(np.unique(sizes)) <= bins:
        return sizes
    found = sizes.copy()
    some = drawn < sizes  # the others are known, and stay
    if not some.any():
        return found
    logs = np.log(sizes[some])
    place = np.minimum((bins * (logs - logs.min()) / max(float(np.ptp(logs)), 1e-9)).astype(np.int64), bins - 1)
    _, which = np.unique(np.stack((place, drawn[some])), axis=1, return_inverse=True)
    which = np.asarray(which).ravel()
    mean = np.bincount(which, events[some] * sizes[some]) / np.bincount(which, events[some])
    found[some] = mean.round().astype(np.int64)[which]
    return found
