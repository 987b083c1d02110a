"""Metrics of ranks that come in parts, as in a training loop, or from several processes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
import pandas as pd

from sampled_metrics._defaults import ESTIMATORS, METRICS
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._validation import shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import estimator_labels
from sampled_metrics.evaluation.correct import correct_units
from sampled_metrics.evaluation.evaluate import evaluate_units, exact_outcomes
from sampled_metrics.evaluation.intervals import IntervalOptions
from sampled_metrics.evaluation.result import Result
from sampled_metrics.evaluation.units import counted_units
from sampled_metrics.metrics.held_out import metric, metric_labels
from sampled_metrics.ranks.frames import PerUser, RanksLike, columns_of
from sampled_metrics.ranks.table import RankTable, rank_table
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks, sampled_ranks


class RankAccumulator:
    """Counts ranks part by part, and computes the metrics of all of them.

    It keeps how many users have the same candidates and rank, or candidates, negatives and sampled rank. So its memory
    depends on the number of different ones, not on the number of users, and the order of the parts does not matter.
    Each row is taken for a user of its own. It can be pickled, so that processes can send theirs to one that merges
    them.

    Args:
        candidates: n, as in `evaluate` and `correct`, unless it is a column.
        negatives: m, as in `correct`. If it is given, here or as a column of the ranks, the ranks are sampled.
        replacement: as in `correct`.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = sm.RankAccumulator(candidates=100)
        >>> ranks.update([1, 4, 20])
        >>> others = sm.RankAccumulator(candidates=100)
        >>> others.update([3, 50])
        >>> result = ranks.merge(others).compute(metrics=["recall@10", "auc"])
        >>> [(row.metric, row.value, row.users) for row in result.itertuples()]
        [('recall@10', 0.6, 5), ('auc', 0.8525252525252525, 5)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, sections 3 and 5.
    """

    def __init__(
        self,
        *,
        candidates: int | None = None,
        negatives: int | None = None,
        replacement: bool = False,
    ) -> None:
        self._candidates, self._negatives = candidates, negatives
        self._replacement = replacement
        self._sampled: bool | None = None if negatives is None else True
        self._counts: Counter[tuple[int, int, int]] = Counter()

    def update(self, ranks: RanksLike, *, candidates: PerUser | None = None, negatives: PerUser | None = None) -> None:
        """Count the ranks of some users.

        Args:
            ranks: as in `evaluate`, or as in `correct` if they are sampled.
            candidates: as in `evaluate`, for these users.
            negatives: as in `correct`, for these users.

        Raises:
            DataError: the ranks are wrong, a user has several rows, or exact ranks follow sampled ones or the reverse.
                Nothing is counted then.
        """
        n, m = (
            self._candidates if candidates is None else candidates,
            self._negatives if negatives is None else negatives,
        )
        is_sampled = m is not None or (not isinstance(ranks, RankTable) and "negatives" in columns_of(ranks, "ranks"))
        self._require_same_kind(is_sampled)
        if is_sampled:
            sample = sampled_ranks(ranks, n, m, replacement=self._replacement)
            user, columns = sample.user, (sample.candidates, sample.negatives, sample.x)
        else:
            table = rank_table(ranks, n)
            user, columns = table.user, (table.candidates, table.above, table.tied)
        if user is not None and len(again := user[pd.Series(user).duplicated().to_numpy()]):
            raise DataError(
                f"user {shown(again[0])} has several rows, and an accumulator keeps no users; take evaluate"
            )
        distinct, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
        self._counts.update(dict(zip(map(tuple, distinct.tolist()), counts.tolist(), strict=True)))
        self._sampled = is_sampled

    def merge(self, other: "RankAccumulator") -> Self:
        """Count the ranks of another accumulator too, and return this one; the other one does not change.

        Raises:
            DataError: one has exact ranks and the other one sampled ones, or they were sampled in different ways.
        """
        if self._replacement != other._replacement:
            raise DataError("accumulators to merge must have the same replacement")
        if other._sampled is not None:
            self._require_same_kind(other._sampled)
            self._sampled = other._sampled
        self._counts.update(other._counts)
        return self

    def compute(
        self,
        *,
        metrics: str | Sequence[str] = METRICS,
        estimators: str | Sequence[str] | None = None,
        confidence_level: float = 0.95,
        method: str | None = None,
        n_resamples: int = 1000,
        seed: int = 0,
        progress: Progress = no_progress,
    ) -> Result:
        """Return what `evaluate` returns of all ranks, or what `correct` returns if they are sampled.

        Args:
            metrics: as in `evaluate`.
            estimators: as in `correct`, for sampled ranks alone.
            confidence_level: as in `evaluate`.
            method: as in `evaluate`, or as in `correct`.
            n_resamples: as in `evaluate`.
            seed: as in `evaluate`.
            progress: as in `evaluate`.

        Raises:
            DataError: there are no ranks, or too few for an interval.
            ConfigError: an option is wrong.
        """
        if not self._counts:
            raise DataError("there are no ranks yet: call update first")
        labels, options = metric_labels(metrics), IntervalOptions(confidence_level, method, n_resamples, seed)
        distinct = np.array(sorted(self._counts), dtype=np.int64)
        counts = np.array([self._counts[row] for row in map(tuple, distinct.tolist())])
        kinds, n = counted_units(counts), distinct[:, 0]
        if self._sampled:
            sample = SampledRanks(distinct[:, 2], distinct[:, 1], n, self._replacement)
            outcomes = replace(Outcomes.observed(sample)[0], events=counts)
            wanted = estimator_labels(ESTIMATORS if estimators is None else estimators)
            return correct_units(outcomes, kinds, wanted, labels, options, progress)
        if estimators is not None:
            raise ConfigError("estimators correct sampled ranks, and these ranks are exact")
        table = RankTable(None, n, distinct[:, 1], distinct[:, 2])
        values, _ = exact_outcomes(table, [metric(label) for label in labels])
        return evaluate_units(values, kinds, labels, options, progress)

    def _require_same_kind(self, is_sampled: bool) -> None:
        if self._sampled not in (None, is_sampled):
            kinds = ("sampled", "exact") if is_sampled else ("exact", "sampled")
            raise DataError(
                f"these ranks are {kinds[0]}, and those before are {kinds[1]}; take one accumulator for each"
            )
