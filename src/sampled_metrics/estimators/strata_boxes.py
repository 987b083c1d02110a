"""What users whose candidates fall into strata show of how many items of each stratum rank above.

The unknown of a user is a = (a_1, …, a_S), how many candidates of each stratum rank above the held-out item; the rank
is 1 + Σ_s a_s. Possible a are cut into boxes, in which they are spread evenly: single numbers first, then ranges that
grow with the number, and small ones again at the end of a stratum. For users with a smaller stratum than others of
their class, the numbers beyond N_s / 2 are in proportion to its size. Samples x = (x_1, …, x_S) are cut into cells.

The shapes are inequalities for the proportions of the boxes:

- `free`: none;
- `decreasing`: better ranks are more frequent up to n / 2, and in each stratum smaller a_s up to N_s / 2, among
  the users for whom at most i items of the other strata rank above, for every i of a few;
- `convex`: moreover, the frequencies of ranks decrease ever more slowly up to n / 2.

n and N_s are those of the user with the smallest ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf
from sampled_metrics.sampling.strata import StratifiedOutcomes

MOST_STRATA = 3

_GRID = {1: (60, 1.04), 2: (10, 1.3), 3: (4, 2.0)}  # by strata: single numbers, and the ratio of the ranges after them
_SINGLE = {1: 60, 2: 20, 3: 4}  # by strata: cut-offs up to which numbers are single
_ENDS = np.array([0, 1, 3, 8, 20, 50])  # ranges begin so far from the end of a stratum
_TOLD = 2.0  # widest ranges, in standard errors of x N / m
_COMPARED = (10, 1.43), (5, 1.57)  # likewise, the ranges of ranks, and of a_s, whose frequencies are compared
_OTHERS = (0, 3, 15, 60)  # i
_CELLS = 200  # most cells
_SIZES = 8  # different sizes of a stratum that are taken; closer ones are taken at their mean
_POINTS = 16  # numbers that stand for a range of a stratum
_CORNERS = {1: 16, 2: 6, 3: 6}  # likewise in sums over strata


@dataclass(frozen=True)
class Boxes:
    """What the boxes show.

    Attributes:
        cells: (outcomes,) cell of each outcome.
        chances: (boxes, cells) P(cell | box).
        values: (boxes, metrics) means of the metrics.
        ends: by shape, (2, boxes, metrics) values for lower and upper bounds: the smallest and the largest of a box if
            the shape is free or a cut-off is within the box, and else the mean.
        rows: by shape, the (rows, boxes) inequalities: rows p >= 0.
    """

    cells: Ints
    chances: Floats
    values: Floats
    ends: dict[str, Floats]
    rows: dict[str, Floats]

    @classmethod
    def of(cls, users: StratifiedOutcomes, metrics: tuple[Metric, ...]) -> "Boxes":
        """Return the boxes; P(x | a) and the metrics are means over the users."""
        strata, largest, least = users.x.shape[1], users.sizes.max(axis=0), users.sizes.min(axis=0)
        half = int(1 + users.sizes.sum(axis=1).min()) // 2
        cuts = [half, *(metric.cutoff for metric in metrics if metric.cutoff is not None)]
        single, ratio = _GRID[strata]
        grid = max(single, min(max(cuts[1:], default=0), _SINGLE[strata])), ratio
        ranges = [
            _ranges(int(size), grid, cuts if strata == 1 else [], int(max(m, 1)))
            for size, m in zip(largest, users.drawn.max(axis=0), strict=True)
        ]
        which = np.stack(np.meshgrid(*(np.arange(len(each) - 1) for each in ranges), indexing="ij"), axis=-1)
        which = which.reshape(-1, strata)
        corners = list(product(range(_CORNERS[strata]), repeat=strata))
        points, inside = ([_points(each, number) for each in ranges] for number in (_POINTS, _CORNERS[strata]))
        limits = [np.stack((each[:-1], each[1:] - 1), axis=1) for each in ranges]

        def moved(numbers: list[Ints], sizes: Ints) -> list[Ints]:
            """Return the (ranges, points) numbers of each stratum for users with these sizes."""
            return [_moved(*each) for each in zip(numbers, largest, sizes, least // 2, strict=True)]

        def sums(numbers: list[Ints], corners: list[tuple[int, ...]]) -> Ints:
            """Return (boxes, corners) numbers above."""
            of_boxes = [each[box] for each, box in zip(numbers, which.T, strict=True)]
            return np.stack(
                [sum(each[:, at] for each, at in zip(of_boxes, corner, strict=True)) for corner in corners], 1
            )

        whole = (users.drawn == users.sizes).all(axis=0)
        first = _cells(
            users.drawn.max(axis=0), [each[:-1] if of_all else None for each, of_all in zip(ranges, whole, strict=True)]
        )
        lengths = tuple(len(each) for each in first)
        of_x = [np.searchsorted(each, x, side="right") - 1 for each, x in zip(first, users.x.T, strict=True)]
        chances, values = np.zeros((len(which), int(np.prod(lengths)))), np.zeros((5, len(which), len(metrics)))
        for drawn, sizes, share in _merged(users):
            shown = np.ones((len(which), 1))
            for numbers, box, start, m, size in zip(moved(points, sizes), which.T, first, drawn, sizes, strict=True):
                table = _table(numbers, start, int(m), int(size))[box]
                shown = (shown[:, :, np.newaxis] * table[:, np.newaxis]).reshape(len(which), -1)
            chances += share * shown
            n, above = int(sizes.sum()) + 1, sums(moved(inside, sizes), corners)
            ends = sums(moved(limits, sizes), [(0,) * strata, (1,) * strata])
            for at, metric in enumerate(metrics):
                spread, both = (metric.of_rank(1 + each, n) for each in (above, ends))
                cut = -1 if metric.cutoff is None else metric.cutoff
                within = (ends[:, 0] < cut) & (cut <= ends[:, 1])
                mean_and_ends = np.stack((spread.mean(1), both.min(1), both.max(1)))
                values[:3, :, at] += share * mean_and_ends
                values[3:, :, at] += share * np.where(within, mean_and_ends[1:], mean_and_ends[0])
        mean = np.round(users.events @ users.sizes / users.events.sum()).astype(np.int64)
        above = sums(moved(inside, mean), corners)
        compared = ranges[0] if strata == 1 else _ranges(int(largest.sum()), _COMPARED[0], cuts)
        ranks = _overlap(above, compared)
        rows = [_decreasing(ranks, compared, half)]
        for stratum in range(strata) if strata > 1 else ():
            own = _ranges(int(largest[stratum]), _COMPARED[1])
            mine = _overlap(points[stratum], own)[:, which[:, stratum]]
            own_corners = moved(inside, mean)[stratum][which[:, stratum]][:, [corner[stratum] for corner in corners]]
            few = [(above - own_corners <= most).mean(axis=1) for most in _OTHERS]
            rows += [_decreasing(mine * each, own, int(least[stratum]) // 2) for each in few]
        shapes = "free", "decreasing", "convex"
        parts = np.zeros((0, len(which))), np.vstack(rows), np.vstack((*rows, _slowing(ranks, compared, half)))
        cells = np.ravel_multi_index(tuple(of_x), lengths)
        ends_of = dict(zip(shapes, (values[1:3], values[3:], values[3:]), strict=True))
        return cls(cells, chances, values[0], ends_of, dict(zip(shapes, parts, strict=True)))


def _merged(users: StratifiedOutcomes) -> Iterator[tuple[Ints, Ints, float]]:
    """Yield (strata,) numbers drawn, (strata,) sizes, and the share of the users; close sizes are one."""
    known = users.drawn == users.sizes
    place = np.stack([_places(size) for size in users.sizes.T], axis=1)
    keys = np.hstack((place, np.where(known, -1, users.drawn)))
    which = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    weights = np.bincount(which, users.events)
    for at in np.flatnonzero(weights > 0):
        members = which == at
        sizes = np.round(users.events[members] @ users.sizes[members] / weights[at]).astype(np.int64)
        drawn = np.where(known[members][0], sizes, np.minimum(users.drawn[members][0], sizes))
        yield drawn, sizes, float(weights[at] / weights.sum())


def _ranges(size: int, grid: tuple[int, float], cuts: Sequence[int] = (), drawn: int | None = None) -> Ints:
    """Return the increasing first numbers of ranges of 0 … size, and size + 1.

    If negatives are drawn, ranges are no wider than these can tell, and small at the end.
    """
    single, ratio = grid
    found = list(range(min(single, size) + 1))
    while found[-1] <= size:
        last = found[-1]
        told = _TOLD * np.sqrt(last * (size - last) / drawn) if drawn else np.inf
        found.append(last + max(1, int(min((ratio - 1) * last, told))))
    ends = size - _ENDS[size / 2 > _ENDS] if drawn and size > single else _ENDS[:0]
    edges = np.unique(np.concatenate((found, ends, cuts)).astype(np.int64))
    return np.append(edges[edges <= size], size + 1)


def _cells(drawn: Ints, given: Sequence[Ints | None]) -> list[Ints]:
    """Return the first x of the cells of each stratum: as narrow as the number of cells allows, and wider later on.

    Cells that are given are taken. Those of a stratum of which all is drawn are its ranges, so that weights cannot tell
    the numbers of a range apart.
    """
    growth = 0.0
    while True:
        found = []
        for m, known in zip(map(int, drawn), given, strict=True):
            if known is not None:
                found.append(known)
                continue
            first = [0]
            while (following := max(first[-1] + 1, round(first[-1] * (1 + growth)))) <= m:
                first.append(following)
            found.append(np.array(first))
        if np.prod([len(each) for each in found]) <= _CELLS or growth > 100:
            return found
        growth += 0.02


def _points(ranges: Ints, number: int) -> Ints:
    """Return (ranges, number) numbers that are spread evenly over each range."""
    shares = (np.arange(number) + 0.5) / number
    return ranges[:-1, np.newaxis] + np.floor(np.diff(ranges)[:, np.newaxis] * shares).astype(np.int64)


def _moved(numbers: Ints, largest: int, size: int, half: int) -> Ints:
    """Return the numbers for a user with a smaller stratum: beyond `half`, they are in proportion to its size."""
    ratio = (size - half) / max(largest - half, 1)
    return np.where(numbers <= half, numbers, half + np.round((numbers - half) * ratio).astype(np.int64))


def _table(a: Ints, first: Ints, drawn: int, size: int) -> Floats:
    """Return P(cell | range) of a stratum, (ranges, cells), from the (ranges, points) numbers of the ranges."""
    if drawn == 0:
        return np.eye(1, len(first))[np.zeros(len(a), dtype=np.int64)]
    table = np.zeros((a.size, len(first)))
    possible = first[first <= drawn]
    table[:, : len(possible)] = np.add.reduceat(pmf(a.ravel(), size, SamplingDesign(drawn)), possible, axis=1)
    return table.reshape(*a.shape, -1).mean(axis=1)


def _overlap(numbers: Ints, ranges: Ints) -> Floats:
    """Return the share of each row of numbers in each range, (ranges, rows)."""
    place = np.searchsorted(ranges, numbers, side="right") - 1
    return np.stack([(place == at).mean(axis=1) for at in range(len(ranges) - 1)])


def _decreasing(masses: Floats, ranges: Ints, end: int) -> Floats:
    """Return the rows by which frequencies do not increase, from the (ranges, boxes) shares, as far as `end`."""
    width = np.diff(ranges)[:, np.newaxis]
    rows = (width[:-1] * -np.diff(masses / width, axis=0))[ranges[2:] <= end]
    return rows[np.abs(rows).max(axis=1, initial=0.0) > 0]


def _slowing(masses: Floats, ranges: Ints, end: int) -> Floats:
    """Return the rows by which frequencies decrease ever more slowly, likewise."""
    width, middle = np.diff(ranges)[:, np.newaxis], (ranges[:-1] + ranges[1:])[:, np.newaxis] / 2
    slopes = np.diff(masses / width, axis=0) / np.diff(middle, axis=0)
    return (width[1:-1] ** 2 * np.diff(slopes, axis=0))[ranges[3:] <= end]


def _places(sizes: Ints) -> Ints:
    """Return the place of each size among a few, on a logarithmic scale."""
    scale = np.log(np.maximum(sizes, 1))
    low, width = scale.min(), max(np.ptp(scale), 1e-12)
    return np.minimum((_SIZES * (scale - low) / width).astype(np.int64), _SIZES - 1)
