"""Samples from strata in the estimator study: draws from exact counts by stratum, and estimates from them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics.estimators.stratified import ESTIMATORS
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.ranks.csv import read_columns
from sampled_metrics.ranks.frames import refuse_rows
from sampled_metrics.ranks.strata import strata_of
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.draws import draw_without_replacement
from sampled_metrics.sampling.strata import StratifiedOutcomes, StratifiedRanks

STRATA = "strata"
"""Name of the samples from strata, among the samples of the study."""


@dataclass(frozen=True)
class RanksByStratum:
    """Exact counts by stratum, and how negatives are drawn from the strata.

    Attributes:
        strata: names.
        above: (events, strata) candidates that score above the held-out item.
        tied: (events, strata) other candidates that score the same.
        sizes: (events, strata) candidates other than the held-out item.
        shares: (strata,) of the negatives, with the sum 1.
    """

    strata: tuple[str, ...]
    above: Ints
    tied: Ints
    sizes: Ints
    shares: Sequence[float]

    def drawn(self, negatives: int) -> Ints:
        """Return the (events, strata) numbers of negatives: m for each event, as long as it has so many candidates.

        What is more than the size of a stratum is drawn from the other strata.
        """
        drawn = np.minimum(allocation(negatives, self.shares), self.sizes)
        for stratum in range(len(self.strata)):
            left = self.sizes[:, stratum] - drawn[:, stratum]
            drawn[:, stratum] += np.minimum(negatives - drawn.sum(axis=1), left)
        return drawn

    def draw(self, drawn: Ints, rng: np.random.Generator) -> StratifiedRanks:
        """Draw a sample. The held-out item has a random place among its ties, the same one in each stratum."""
        above, tied = draw_without_replacement(self.above, self.tied, self.sizes, drawn, rng)
        place = rng.random((len(above), 1))
        return StratifiedRanks(self.strata, above + rng.binomial(tied, place), drawn, self.sizes)

    def estimates(
        self,
        negatives: int,
        labels: Sequence[str],
        metrics: Sequence[Metric],
        repetitions: int,
        rng: np.random.Generator,
    ) -> dict[str, Floats]:
        """Draw samples of m negatives, and return the (repetitions, metrics) estimates by estimator."""
        drawn = self.drawn(negatives)
        found: dict[str, list[Floats]] = {label: [] for label in labels}
        for _ in range(repetitions):
            outcomes, _ = StratifiedOutcomes.observed(self.draw(drawn, rng))
            for label, estimates in found.items():
                estimates.append(ESTIMATORS[label](outcomes, metrics).estimate(outcomes.events))
        return {label: np.array(estimates) for label, estimates in found.items()}


def allocation(negatives: int, shares: Sequence[float]) -> Ints:
    """Return the (strata,) numbers of negatives: the shares of m, at least 1, and rounded so that their sum is m."""
    wanted = negatives * np.asarray(shares)
    found = np.maximum(np.floor(wanted + 1e-9), 1)
    while found.sum() < negatives:
        found[np.argmax(wanted - found)] += 1
    while found.sum() > negatives:
        found[np.argmax(np.where(found > 1, found - wanted, -np.inf))] -= 1
    return found.astype(np.int64)


def read_by_stratum(path: str | os.PathLike[str], table: RankTable, shares: Sequence[float]) -> RanksByStratum:
    """Read counts by stratum, as the workflow writes them.

    Args:
        path: the file.
        table: the ranks of the same recommender.
        shares: (strata,) of the negatives.

    Raises:
        DataError: the file is damaged, or its sums over the strata are not the counts of the table.
    """
    columns = read_columns(path)
    strata = strata_of(columns)
    columns.require("user", *(f"{kind}_{name}" for name in strata for kind in ("above", "tied", "size")))
    above, tied, sizes = (
        np.stack([columns.whole_numbers(f"{kind}_{name}", 0) for name in strata], axis=1)
        for kind in ("above", "tied", "size")
    )
    sums = np.stack([above.sum(axis=1), tied.sum(axis=1), 1 + sizes.sum(axis=1)])
    counts = np.stack([table.above, table.tied, table.candidates])
    same_users = np.array_equal(np.asarray(columns.users()), table.users)
    wrong = (sums != counts).any(axis=0) if same_users else np.ones(len(columns), dtype=bool)
    message = "the counts by stratum are not those of the rank table; remove both files, and run again"
    refuse_rows(wrong, lambda row: message, columns.place)
    return RanksByStratum(strata, above, tied, sizes, shares)
