"""Outcomes of sampled evaluations, which estimators are fitted for.

An outcome is x of m sampled negatives above the held-out item, with n candidates. If all events share n and m, the
outcomes are x = 0 … m. If they differ, each (n, m, x) that occurs is an outcome. A sample is a count of each outcome.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import check_memory_limit
from sampled_metrics.metrics.held_out import Metric, RankMetric
from sampled_metrics.ranks.frames import refuse_rows
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf, sparse_pmf
from sampled_metrics.sampling.sampled_ranks import SampledRanks
from sampled_metrics.sampling.strata import StratifiedOutcomes, StratifiedRanks


@dataclass(frozen=True)
class Group:
    """The outcomes that share n, m and the number of relevant items.

    Attributes:
        candidates: n, the held-out item and the negatives that could have been drawn.
        negatives: m; it may be 0 in a thinned sample.
        replacement: whether negatives were drawn with replacement.
        position: i, if the ranked item is the i-th best of the user's relevant items.
        relevant: R, the number of the user's relevant items.
        events: the number of events of this group in the sample that showed the outcomes.
        outcomes: (of this group,) indices among all outcomes.
        x: (of this group,) numbers of negatives above the item.
    """

    candidates: int
    negatives: int
    replacement: bool
    position: int
    relevant: int
    events: int
    outcomes: Ints
    x: Ints

    def target(self, metric: Metric) -> RankMetric:
        """Return the term of a metric for the item in this position."""
        return metric.at_position(self.position, self.relevant)

    def pmf(self, ranks: Floats, replacement: bool | None = None, x: Ints | None = None) -> Floats:
        """Return P(x | rank) for this n and m, taken as binomial or not; None follows the design.

        The result is (ranks, m + 1), or (ranks, columns) for some x. Of some x, negligible probabilities are 0 if each
        x is likely at some rank.
        """
        if self.negatives == 0:
            return np.ones((len(ranks), 1 if x is None else len(x)))
        design = SamplingDesign(self.negatives, self.replacement).assumed(replacement)
        pool = self.candidates - 1
        return (pmf if x is None or pool < self.negatives else sparse_pmf)(ranks - 1, pool, design, x)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of a sampled evaluation, in any order.

    Attributes:
        x: (outcomes,) sampled negatives that rank above the held-out item; the sampled rank is x + 1.
        negatives: (outcomes,) m, sampled negatives.
        candidates: (outcomes,) n, the item and the negatives that could have been sampled.
        replacement: whether negatives were drawn with replacement.
        position: i, for the i-th best of several relevant items.
        relevant: (outcomes,) R, numbers of the user's relevant items.
        events: (outcomes,) numbers of events with the outcome in the sample that showed them; they weight the users
            of a class with different n.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    replacement: bool
    position: int
    relevant: Ints
    events: Ints

    @classmethod
    def of(cls, design: SamplingDesign, candidates: int) -> "Outcomes":
        """Return the outcomes x = 0 … m of a design where every event has n candidates.

        Raises:
            DataError: there are too many to hold in memory.
        """
        check_memory_limit((6, design.negatives + 1), f"what samples of {design} can show", "take fewer")
        x = np.arange(design.negatives + 1)
        ones = np.ones_like(x)
        return cls(x, design.negatives * ones, candidates * ones, design.replacement, 1, ones, ones)

    @classmethod
    def observed(cls, ranks: SampledRanks, *, position: int = 1, relevant: ArrayLike = 1) -> tuple["Outcomes", Ints]:
        """Return the outcomes that occur in a sample, and the index of each event's outcome.

        `numpy.bincount` of the (events,) indices counts the outcomes. Raises DataError if an event has fewer relevant
        items than the position.
        """
        columns = np.broadcast_arrays(ranks.candidates, ranks.negatives, np.asarray(relevant, dtype=np.int64), ranks.x)
        table = np.stack(columns, axis=-1)
        few = table[:, 2] < position
        message = f"relevant items, but one in position {position}"
        refuse_rows(few, lambda row: f"{table[row, 2]} {message}", lambda row: f"event {row + 1}")
        distinct, which, events = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        n, m, r, x = distinct.T
        return cls(x, m, n, ranks.replacement, position, r, events), np.asarray(which).ravel()

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the outcomes by n, m and R."""
        keys = np.stack((self.candidates, self.negatives, self.relevant), axis=-1)
        distinct, which = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        members = np.split(order, ends[:-1])
        return tuple(
            Group(
                candidates=int(n),
                negatives=int(m),
                replacement=self.replacement,
                position=self.position,
                relevant=int(relevant),
                events=int(self.events[outcomes].sum()),
                outcomes=outcomes,
                x=self.x[outcomes],
            )
            for (n, m, relevant), outcomes in zip(distinct, members, strict=True)
        )


def observed(ranks: SampledRanks | StratifiedRanks) -> tuple[Outcomes | StratifiedOutcomes, Ints]:
    """Return the outcomes that occur in a sample, uniform or from strata, and the index of each event's outcome."""
    return StratifiedOutcomes.observed(ranks) if isinstance(ranks, StratifiedRanks) else Outcomes.observed(ranks)
