"""Outcomes of sampled evaluations, which estimators are fitted for.

An outcome is x of m sampled negatives above the held-out item, with n candidates. If all events share n and m, the
outcomes are x = 0 … m. If they differ, each (n, m, x) that occurs is an outcome. A sample is a count of each outcome.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sampled_metrics._validation import Floats, Ints, check_memory_limit
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf, sparse_pmf


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

        The result is (ranks, m + 1), or (ranks, columns) if x is given. Then each x has to be likely at some rank, and
        negligible probabilities are 0.
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
        events: (outcomes,) numbers of events with the outcome in the sample that showed them; they weight the users
            of a class with different n.
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
        check_memory_limit((6, design.negatives + 1), f"what samples of {design} can show", "take fewer")
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
