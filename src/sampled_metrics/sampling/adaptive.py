"""Adaptive sampling: more negatives for the events whose held-out item is above all negatives drawn so far.

Li, Jin, Liu, Ren, Gao, Liu: Towards Reliable Item Sampling for Recommendation Evaluation, AAAI 2023, arXiv 2211.15743.
Top-heavy metrics depend on small ranks. A small sample cannot distinguish these: x is 0 for all of them. The stopping
rule depends only on the sample, so the likelihood of a rank given x of m is that of a fixed m, and EM is exact. Weights
that are fitted for a fixed m are not valid.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.design import SamplingDesign


@dataclass(frozen=True)
class AdaptiveDesign:
    """Negatives are drawn in steps, until one of them is above the held-out item or the steps end.

    Attributes:
        steps: numbers of negatives that the steps add; the source uses 99, 100, 200, 400, 800, 1600. Without
            replacement, an event draws at most all of its negatives.
        replacement: whether a negative may be drawn again.
    """

    steps: tuple[int, ...] = (99, 100, 200, 400, 800, 1600)
    replacement: bool = False

    def __post_init__(self) -> None:
        if not self.steps or min(self.steps) < 1:
            raise ConfigError(f"the steps of an adaptive sample must be 1 or more each, not {self.steps}")

    def sizes(self, candidates: Ints) -> list[Ints]:
        """Return the (events,) sample sizes after each step."""
        totals = np.cumsum(self.steps)
        if self.replacement:
            return [np.full_like(candidates, total) for total in totals]
        return [np.minimum(total, candidates - 1) for total in totals]


def draw_adaptive(table: RankTable, design: AdaptiveDesign, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw from the counts of a table; return (events,) x and (events,) m.

    The ties of an event are broken at random, once for all of its negatives. Raises DataError if an event has no
    negative to draw.
    """
    SamplingDesign(1, design.replacement).check(table.candidates)
    better = table.above + np.floor(rng.random(len(table)) * (table.tied + 1)).astype(np.int64)
    pool = table.candidates - 1
    x, drawn = np.zeros_like(pool), np.zeros_like(pool)
    for size in design.sizes(table.candidates):
        going_on = np.flatnonzero((x == 0) & (size > drawn))
        more, above, others = (size - drawn)[going_on], better[going_on], pool[going_on]
        if design.replacement:
            x[going_on] = rng.binomial(more, above / others)
        else:  # no better item has been drawn so far
            x[going_on] = rng.hypergeometric(above, others - above - drawn[going_on], more)
        drawn[going_on] = size[going_on]
    return x, drawn
