"""Ranking metrics: from the ranks of the relevant items to a value in [0, 1] (section 3 of the paper).

Ranks start at 1. The functions on *sets* of ranks (eqs 2-6) take any number of relevant items an instance; the
functions of *one* rank (eqs 7-13) are what those become when an instance has one relevant item, and are what the rest
of the library uses. `metric` finds both by a label such as ``recall@10``, ``ndcg``, ``auc``.

Papers differ in names: with one relevant item reciprocal rank (mrr) is average precision, and hit rate is recall
(section 3.1). Both names are registered.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import refuse_masked
from sampled_metrics.errors import ConfigError

# --- any number of relevant items (eqs 2-6) ---------------------------------------------------------------------------


def _rank_sets(ranks: ArrayLike) -> Ints:
    """Return ranks as (instances, relevant), each row sorted, absent entries (0) last and as a rank beyond any."""
    refuse_masked(ranks, "ranks")
    sets = np.atleast_2d(np.asarray(ranks, dtype=np.int64))
    if (sets < 0).any():
        raise ValueError("ranks start at 1 (0 fills up the rows of instances with fewer relevant items)")
    sets = np.sort(np.where(sets == 0, np.iinfo(np.int64).max - 1, sets), axis=1)
    if sets.shape[1] == 0 or (sets[:, 0] == np.iinfo(np.int64).max - 1).any():
        raise ValueError("every instance needs at least one relevant item")
    return sets


def _relevant(sets: Ints) -> Ints:
    return (sets < np.iinfo(np.int64).max - 1).sum(axis=1)


def auc_of_sets(ranks: ArrayLike, candidates: ArrayLike) -> Floats:
    """Area under the ROC curve, eq. 2: how likely a relevant item is ranked above an irrelevant one.

    Args:
        ranks: (instances, relevant) ranks of the relevant items; rows with fewer are filled up with 0.
        candidates: (instances,) or one number: n, the items that were ranked, the relevant ones included.

    Returns:
        (instances,) values; NaN where every candidate is relevant.
    """
    sets = _rank_sets(ranks)
    relevant = _relevant(sets)
    n = np.asarray(candidates, dtype=np.float64)
    mean_rank = np.where(sets < np.iinfo(np.int64).max - 1, sets, 0).sum(axis=1) / relevant
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n > relevant, (n - (relevant - 1) / 2 - mean_rank) / (n - relevant), np.nan)


def precision_of_sets(ranks: ArrayLike, k: int) -> Floats:
    """Precision@k, eq. 3: the fraction of the first k items that are relevant; ranks as in `auc_of_sets`."""
    return (_rank_sets(ranks) <= k).sum(axis=1) / k


def recall_of_sets(ranks: ArrayLike, k: int) -> Floats:
    """Recall@k, eq. 4: the fraction of the relevant items that are among the first k; ranks as in `auc_of_sets`."""
    sets = _rank_sets(ranks)
    return (sets <= k).sum(axis=1) / _relevant(sets)


def hit_rate_of_sets(ranks: ArrayLike, k: int) -> Floats:
    """Hit rate@k: 1 if any relevant item is among the first k, else 0; ranks as in `auc_of_sets`."""
    return (_rank_sets(ranks)[:, 0] <= k).astype(np.float64)


def average_precision_of_sets(ranks: ArrayLike, k: int | None = None) -> Floats:
    """Average precision (at k), eq. 5: mean of the precision at the rank of each relevant item.

    The paper divides by min(|R|, k), so that k relevant items in the first k places give 1. Ranks as in `auc_of_sets`.
    """
    sets = _rank_sets(ranks)
    cutoff = np.iinfo(np.int64).max - 2 if k is None else k
    precision = np.arange(1, sets.shape[1] + 1) / sets
    return np.where(sets <= cutoff, precision, 0.0).sum(axis=1) / np.minimum(_relevant(sets), cutoff)


def ndcg_of_sets(ranks: ArrayLike, k: int | None = None) -> Floats:
    """Normalised discounted cumulative gain (at k), eq. 6, discount 1/log2(rank + 1); ranks as in `auc_of_sets`."""
    sets = _rank_sets(ranks)
    cutoff = np.iinfo(np.int64).max - 2 if k is None else k
    gain = np.where(sets <= cutoff, 1.0 / np.log2(sets + 1.0), 0.0).sum(axis=1)
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, sets.shape[1] + 2)))
    return gain / ideal[np.minimum(_relevant(sets), cutoff) - 1]


def reciprocal_rank_of_sets(ranks: ArrayLike, k: int | None = None) -> Floats:
    """Reciprocal rank (at k): 1 / rank of the best relevant item, 0 beyond k; ranks as in `auc_of_sets`."""
    best = _rank_sets(ranks)[:, 0]
    return np.where(best <= (best if k is None else k), 1.0 / best, 0.0)


# --- one relevant item (eqs 7-13) -------------------------------------------------------------------------------------


def auc(rank: ArrayLike, candidates: ArrayLike) -> Floats:
    """Area under the ROC curve of one relevant item at rank r of n candidates, eq. 7: (n - r) / (n - 1).

    Linear in the rank, so a mean (fractional) rank gives the mean value. NaN for n = 1, where nothing is ranked.
    """
    n = np.asarray(candidates, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n > 1, (n - np.asarray(rank, dtype=np.float64)) / (n - 1), np.nan)


def precision(rank: ArrayLike, k: int) -> Floats:
    """Precision@k of one relevant item, eq. 8: 1/k if its rank is at most k, else 0."""
    return (np.asarray(rank) <= k) / k


def recall(rank: ArrayLike, k: int) -> Floats:
    """Recall@k of one relevant item, eq. 9: 1 if its rank is at most k, else 0. Also called hit rate."""
    return (np.asarray(rank) <= k).astype(np.float64)


def average_precision(rank: ArrayLike, k: int | None = None) -> Floats:
    """Average precision of one relevant item, eqs 10 and 12: 1/r, and 0 beyond k. Also called reciprocal rank."""
    r = np.asarray(rank, dtype=np.float64)
    return 1.0 / r if k is None else np.where(r <= k, 1.0 / r, 0.0)


def ndcg(rank: ArrayLike, k: int | None = None) -> Floats:
    """NDCG of one relevant item, eqs 11 and 13: 1/log2(r + 1), and 0 beyond k."""
    r = np.asarray(rank, dtype=np.float64)
    gain: Floats = 1.0 / np.log2(r + 1.0)
    return gain if k is None else np.where(r <= k, gain, 0.0)


# --- the share of one of several relevant items -----------------------------------------------------------------------
#
# Every metric above is a sum over an instance's relevant items. Let the i-th best of R have b irrelevant items above
# it, out of N: its rank is b + i, and what it adds depends on b, i, R and N alone.


def _auc_share(better: Ints, pool: Ints, position: int, relevant: int) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pool > 0, (1.0 - better / pool) / relevant, np.nan)


def _precision_share(rank: Ints, position: int, relevant: int, k: int) -> Floats:
    return precision(rank, k)


def _recall_share(rank: Ints, position: int, relevant: int, k: int) -> Floats:
    return recall(rank, k) / relevant


def _hit_rate_share(rank: Ints, position: int, relevant: int, k: int) -> Floats:
    return recall(rank, k) if position == 1 else np.zeros(np.shape(rank))


def _average_precision_share(rank: Ints, position: int, relevant: int, k: int | None) -> Floats:
    return position * average_precision(rank, k) / min(relevant, k or relevant)


def _reciprocal_rank_share(rank: Ints, position: int, relevant: int, k: int | None) -> Floats:
    return average_precision(rank, k) if position == 1 else np.zeros(np.shape(rank))


def _ndcg_share(rank: Ints, position: int, relevant: int, k: int | None) -> Floats:
    ideal = (1.0 / np.log2(np.arange(2, min(relevant, k or relevant) + 2))).sum()
    return ndcg(rank, k) / ideal


# --- by label ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankMetric:
    """What one relevant item is worth, by its rank.

    Attributes:
        label: as in config and in the tables, for example ``recall@10``.
        of_rank: (rank, candidates) → value of one relevant item at that rank (eqs 7-13), elementwise.
        linear_in_rank: whether the value is linear in the rank (AUC alone). Every other metric ignores candidates.
    """

    label: str
    of_rank: Callable[[ArrayLike, ArrayLike], Floats]
    linear_in_rank: bool

    def values(self, candidates: int) -> Floats:
        """Return the metric at every rank 1 … n, as an (n,) array: f(r) of the estimators."""
        return self.of_rank(np.arange(1, candidates + 1), candidates)


@dataclass(frozen=True)
class Metric(RankMetric):
    """A metric with its cut-off, found by its label.

    Attributes:
        of_sets: (ranks of shape (instances, relevant), candidates) → (instances,) values (eqs 2-6).
        cutoff: k, or None.
        share: (better, pool, position, relevant) → what the relevant item in that position adds to the metric.
    """

    of_sets: Callable[[ArrayLike, ArrayLike], Floats]
    cutoff: int | None
    share: Callable[[Ints, Ints, int, int], Floats]

    def over_ties(self, above: ArrayLike, tied: ArrayLike, candidates: ArrayLike) -> Floats:
        """Expected value when ties are broken at random: the mean over the ranks above + 1 … above + tied + 1.

        Args:
            above: (events,) candidates scored higher than the held-out item.
            tied: (events,) other candidates scored the same.
            candidates: (events,) or one number: items that were ranked, the held-out one included.

        Returns:
            (events,) expected values.
        """
        above, tied = np.asarray(above, dtype=np.int64), np.asarray(tied, dtype=np.int64)
        if self.linear_in_rank:
            return self.of_rank(above + 1 + tied / 2, candidates)
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0), self.cutoff, above, tied)

    def squares_over_ties(self, above: Ints, tied: Ints) -> Floats:
        """Expected square when ties are broken at random, of a metric that is not linear; as of `over_ties`."""
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0) ** 2, self.cutoff, above, tied)

    def at_position(self, position: int, relevant: int) -> RankMetric:
        """Return what the i-th best of R relevant items adds, as a metric of its rank among the irrelevant ones.

        With b irrelevant items above it out of N, that rank is b + 1 among N + 1 candidates, and its rank among all
        items is b + i. The metric of eqs 2-6 is the sum over i = 1 … R.

        Args:
            position: i, from 1.
            relevant: R, how many are relevant.

        Raises:
            ValueError: position is not from 1 to relevant.
        """
        return _at_position(self, position, relevant)


SUMMED = 2**20
"""Up to this rank a metric is summed over ranks one by one; sums of what is beyond are integrals."""

_NODES, _SHARES = np.polynomial.legendre.leggauss(32)


def _mean_over_ranks(of_rank: Callable[[ArrayLike], Floats], cutoff: int | None, above: Ints, tied: Ints) -> Floats:
    """Mean of a function over the ranks above + 1 … above + tied + 1, (events,), in memory that is bounded.

    Args:
        of_rank: smooth in the logarithm of ranks up to the cut-off, and 0 beyond it.
        cutoff: k, or None.
        above: (events,) ints.
        tied: (events,) ints.
    """
    last: Ints = above + tied + 1 if cutoff is None else np.minimum(above + tied + 1, cutoff)
    summed = min(int(last.max(initial=0)), SUMMED)
    running = np.concatenate(([0.0], np.cumsum(of_rank(np.arange(1, summed + 1)))))
    total = running[np.minimum(last, summed)] - running[np.minimum(above, np.minimum(last, summed))]
    far = np.flatnonzero(last > np.maximum(above, SUMMED))
    for some in np.array_split(far, len(far) // SUMMED + 1):
        first = np.maximum(above[some], SUMMED)
        # the last rank by itself, as what is 0 beyond the cut-off is no integral up to half a rank after it
        total[some] += _integral(of_rank, first + 0.5, last[some] - first - 1) + of_rank(last[some])
    return total / (tied + 1)


def _integral(of_rank: Callable[[ArrayLike], Floats], start: Floats, length: Ints) -> Floats:
    """∫ f(r) dr from start on, (events,): the sum over the whole r there, but for some 1/(12 start²) of it at most.

    By Gauss and Legendre's rule for log r, exact up to degree 63, which is all digits where start ≥ 2²⁰.
    """
    width = np.log1p(length / start)
    total, weights = np.zeros(len(start)), np.zeros(len(start))
    for node, share in zip((_NODES + 1) / 2, _SHARES, strict=True):
        weight = share * np.exp(width * node)
        total += weight * of_rank(start * np.exp(width * node))
        weights += weight
    return length * (total / weights)


@cache
def _at_position(metric: Metric, position: int, relevant: int) -> RankMetric:
    if not 1 <= position <= relevant:
        raise ValueError(f"position must be from 1 to {relevant}, the relevant items, not {position}")
    if relevant == 1:
        return metric

    def of_rank(rank: ArrayLike, candidates: ArrayLike) -> Floats:
        better, pool = np.asarray(rank) - 1, np.asarray(candidates) - 1
        return metric.share(better, pool, position, relevant)

    return RankMetric(f"{metric.label} of {position}/{relevant}", of_rank, metric.linear_in_rank)


@dataclass(frozen=True)
class _Family:
    name: str  # as it is displayed
    build: Callable[[str, int | None], Metric]
    cutoff: str  # "needed", "possible" or "none"

    def allows(self, at: str, k: str) -> bool:
        if not at:
            return self.cutoff != "needed"
        return self.cutoff != "none" and re.fullmatch("[1-9][0-9]{0,8}", k) is not None

    def shapes(self, label: str) -> str:
        return {"needed": f"{label}@k", "possible": f"{label} or {label}@k", "none": label}[self.cutoff]


FAMILIES: dict[str, _Family] = {}


def _register(
    family: str,
    name: str,
    cutoff: str,
    of_rank: Callable[..., Floats],
    of_sets: Callable[..., Floats],
    share: Callable[..., Floats],
) -> None:
    """Add a family of metrics with a cut-off: functions of (rank, k), (sets, k) and (rank, position, relevant, k)."""

    def build(label: str, k: int | None) -> Metric:
        return Metric(
            label,
            lambda r, _: of_rank(r, k),
            False,
            lambda sets, _: of_sets(sets, k),
            k,
            lambda better, _, position, relevant: share(better + position, position, relevant, k),
        )

    FAMILIES[family] = _Family(name, build, cutoff)


_register("recall", "Recall", "needed", recall, recall_of_sets, _recall_share)
_register("hit-rate", "Hit rate", "needed", recall, hit_rate_of_sets, _hit_rate_share)
_register("precision", "Precision", "needed", precision, precision_of_sets, _precision_share)
_register("ap", "AP", "possible", average_precision, average_precision_of_sets, _average_precision_share)
_register("mrr", "MRR", "possible", average_precision, reciprocal_rank_of_sets, _reciprocal_rank_share)
_register("ndcg", "NDCG", "possible", ndcg, ndcg_of_sets, _ndcg_share)
FAMILIES["auc"] = _Family("AUC", lambda label, k: Metric(label, auc, True, auc_of_sets, k, _auc_share), "none")


@cache
def metric(label: str) -> Metric:
    """Return the metric of a label such as ``recall@10``, ``ndcg``, ``auc``; the same object for the same label.

    Raises:
        ConfigError: the label names no metric, or its cut-off is missing, not allowed or not a whole number from 1.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.metric("recall@10").values(12)
        array([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 0., 0.])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eqs 2 to 13.
    """
    name, at, k = label.partition("@")
    family = FAMILIES.get(name)
    if family is None or not family.allows(at, k):
        known = ", ".join(each.shapes(known_name) for known_name, each in FAMILIES.items())
        raise ConfigError(f"unknown metric {label!r}; it may be {known}, with k a whole number from 1 to 999999999")
    return family.build(label, int(k) if at else None)


def metric_name(label: str) -> str:
    """Return the name of a metric as it is displayed: ``ndcg@10`` is NDCG@10, ``recall@1-50`` is Recall@1-50.

    The label of no metric is its own name.
    """
    family, at, k = label.partition("@")
    return f"{FAMILIES[family].name}{at}{k}" if family in FAMILIES else label
