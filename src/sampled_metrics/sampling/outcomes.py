"""What samples show, with the number of candidates and of negatives that each had: what estimators are fitted for.

An outcome is x of m sampled negatives above the held-out item, out of n candidates. A study in which every event has
the same n and m has the outcomes x = 0 … m; in a sample whose events differ, each (n, m, x) that occurs is an outcome.
Either way a sample is a count of each outcome.
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
from sampled_metrics.sampling.distributions import pmf, rank_distribution
from sampled_metrics.sampling.sampled_ranks import SampledRanks


@dataclass(frozen=True)
class Group:
    """The outcomes that share n, m and the number of relevant items.

    Attributes:
        candidates: n, the held-out item and the negatives that could have been drawn.
        negatives: m, which may be 0 where a sample was thinned.
        replacement: whether negatives were drawn with replacement.
        position: i, that it is the i-th best of the user's relevant items that is ranked.
        relevant: R, how many relevant items the user has.
        outcomes: (of this group,) where they stand among all outcomes.
        x: (of this group,) negatives above the item.
    """

    candidates: int
    negatives: int
    replacement: bool
    position: int
    relevant: int
    outcomes: Ints
    x: Ints

    def target(self, metric: Metric) -> RankMetric:
        """Return what the item in this position adds to a metric."""
        return metric.at_position(self.position, self.relevant)

    def distribution(self, replacement: bool | None = None) -> Floats:
        """P(x | rank) of this n and m, (n, m + 1), taken as binomial or not; None is as the negatives were drawn."""
        if self.negatives == 0:
            return np.ones((self.candidates, 1))
        return rank_distribution(self.candidates, SamplingDesign(self.negatives, self.replacement).assumed(replacement))

    def likelihood(self, replacement: bool | None = None) -> Floats:
        """P(outcome | rank) of these outcomes alone, (n, outcomes of this group); as of `distribution`."""
        if len(self.x) == self.negatives + 1:
            return self.distribution(replacement)[:, self.x]
        design = SamplingDesign(self.negatives, self.replacement).assumed(replacement)
        return pmf(np.arange(self.candidates), self.candidates - 1, design, self.x)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of a sampled evaluation, in any order.

    Attributes:
        x: (outcomes,) sampled negatives that rank above the held-out item; the sampled rank is x + 1.
        negatives: (outcomes,) m, sampled negatives.
        candidates: (outcomes,) n, the item and the negatives that could have been sampled.
        replacement: whether negatives were drawn with replacement.
        adaptive: whether m depends on what was seen, as in adaptive sampling.
        position: i, for the i-th best of several relevant items.
        relevant: (outcomes,) R, how many relevant items the user has.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    replacement: bool
    adaptive: bool
    position: int
    relevant: Ints

    @classmethod
    def of(cls, design: SamplingDesign, candidates: int) -> "Outcomes":
        """Return the outcomes x = 0 … m of a design where every event has n candidates.

        Raises:
            DataError: they are too many to hold.
        """
        check_memory_limit((6, design.negatives + 1), f"what samples of {design} can show", "take fewer")
        x = np.arange(design.negatives + 1)
        ones = np.ones_like(x)
        return cls(x, design.negatives * ones, candidates * ones, design.replacement, False, 1, ones)

    @classmethod
    def observed(cls, ranks: SampledRanks, *, position: int = 1, relevant: ArrayLike = 1) -> tuple["Outcomes", Ints]:
        """Return the outcomes that occur in a sample, and for each event the index of its own.

        `numpy.bincount` of the (events,) indices counts the outcomes. Raises DataError if an event has fewer relevant
        items than the position.
        """
        columns = np.broadcast_arrays(ranks.candidates, ranks.negatives, np.asarray(relevant, dtype=np.int64), ranks.x)
        table = np.stack(columns, axis=-1)
        few = table[:, 2] < position
        message = f"relevant items, but one in position {position}"
        refuse_rows(few, lambda row: f"{table[row, 2]} {message}", lambda row: f"event {row + 1}")
        distinct, which = np.unique(table, axis=0, return_inverse=True)
        n, m, r, x = distinct.T
        return cls(x, m, n, ranks.replacement, ranks.adaptive, position, r), np.asarray(which).ravel()

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The outcomes by n, m and R."""
        keys = np.stack((self.candidates, self.negatives, self.relevant), axis=-1)
        distinct, which = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        return tuple(
            Group(int(n), int(m), self.replacement, self.position, int(relevant), outcomes, self.x[outcomes])
            for (n, m, relevant), outcomes in zip(distinct, np.split(order, ends[:-1]), strict=True)
        )

    @property
    def most_candidates(self) -> int:
        """The largest n: ranks run from 1 to it."""
        return int(self.candidates.max())

    def likelihood(self, *, replacement: bool | None = None) -> Floats:
        """P(outcome | rank), as (largest n, outcomes); 0 where the rank is beyond the outcome's own n.

        Raises DataError if it would take too much memory; `replacement` is as of `Group.distribution`.
        """
        check_memory_limit(
            (self.most_candidates, len(self)),
            f"P(x | rank) of {self.most_candidates} candidates and {len(self)} outcomes",
            "take an estimator that does not hold it, such as bv-0.1 or cls",
        )
        if len(self.groups) == 1 and np.array_equal(self.x, np.arange(self.negatives[0] + 1)):
            return self.groups[0].distribution(replacement)
        likelihood = np.zeros((self.most_candidates, len(self)))
        for group in self.groups:
            likelihood[: group.candidates, group.outcomes] = group.likelihood(replacement)
        return likelihood
