"""Ranking metrics by label: their values at the rank of one relevant item, and of ranked lists.

Ranks start at 1. `metric` finds a metric by a label such as ``recall@10``, ``ndcg``, ``auc``. Of one relevant item, a
metric is a function of the rank (eqs 7-13 of the paper), with values in [0, 1]. The formulas are those of
`sampled_metrics.metrics.formulas`.

Papers differ in names: with one relevant item reciprocal rank (mrr) is average precision, and hit rate is recall
(section 3.1). Both names are registered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._validation import Floats, Ints, check_labels, did_you_mean
from sampled_metrics.errors import ConfigError
from sampled_metrics.metrics.formulas import ALIASES, METRICS, Auc, Formula, formula_of

# --- metrics ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """A metric with its cut-off, found by its label: the value of one relevant item by its rank.

    Attributes:
        label: its label in config and tables, for example ``recall@10``.
        of_rank: (rank, candidates) → value of one relevant item at that rank (eqs 7-13), elementwise.
        linear_in_rank: whether the value is linear in the rank (AUC alone). Every other metric ignores candidates.
        cutoff: k, the last rank with a value above 0, or None.
        formula: the metric at any cut-off, also of lists; None for a metric of your own, which is of one rank.
    """

    label: str
    of_rank: Callable[[ArrayLike, ArrayLike], Floats]
    linear_in_rank: bool
    cutoff: int | None
    formula: Formula | Auc | None = None

    @property
    def largest(self) -> float:
        """Return the largest value, that of rank 1."""
        return float(self.of_rank(1, 2))

    def values(self, candidates: int) -> Floats:
        """Return the metric at every rank 1 … n, as an (n,) array: f(r) of the estimators."""
        return self.of_rank(np.arange(1, candidates + 1), candidates)

    def over_ties(self, above: ArrayLike, tied: ArrayLike, candidates: ArrayLike) -> Floats:
        """Return the mean over the ranks above + 1 … above + tied + 1: the expectation if ties are broken at random.

        Args:
            above: (events,) number of candidates that score higher than the held-out item.
            tied: (events,) number of other candidates that score the same.
            candidates: (events,) or one number: the number of ranked items, including the held-out item.

        Returns:
            (events,) expected values.
        """
        above, tied = np.asarray(above, dtype=np.int64), np.asarray(tied, dtype=np.int64)
        if self.linear_in_rank:
            return self.of_rank(above + 1 + tied / 2, candidates)
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0), self.cutoff, above, tied)

    def squares_over_ties(self, above: Ints, tied: Ints) -> Floats:
        """Return the mean square over ties, for a metric that is not linear; parameters as in `over_ties`."""
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0) ** 2, self.cutoff, above, tied)


SUMMED = 2**20
"""Up to this rank a metric is summed rank by rank; beyond it, sums are integrals."""

_NODES, _SHARES = np.polynomial.legendre.leggauss(32)


def _mean_over_ranks(of_rank: Callable[[ArrayLike], Floats], cutoff: int | None, above: Ints, tied: Ints) -> Floats:
    """Return the mean of a function over the ranks above + 1 … above + tied + 1, (events,), in bounded memory.

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
        # the last rank is separate: at the cut-off, an integral to half a rank beyond it would include zeros
        total[some] += _integral(of_rank, first + 0.5, last[some] - first - 1) + of_rank(last[some])
    return total / (tied + 1)


def _integral(of_rank: Callable[[ArrayLike], Floats], start: Floats, length: Ints) -> Floats:
    """Return ∫ f(r) dr from start, (events,): the sum over whole r, with a relative error of at most 1/(12 start²).

    It uses Gauss-Legendre quadrature in log r, exact up to degree 63, which gives all digits if start ≥ 2²⁰.
    """
    width = np.log1p(length / start)
    total, weights = np.zeros(len(start)), np.zeros(len(start))
    for node, share in zip((_NODES + 1) / 2, _SHARES, strict=True):
        weight = share * np.exp(width * node)
        total += weight * of_rank(start * np.exp(width * node))
        weights += weight
    return length * (total / weights)


# --- by label ---------------------------------------------------------------------------------------------------------


MetricsLike = str | Metric | Sequence[str | Metric]
"""Accepted forms of metrics: one label or `Metric`, or several."""


def metric(label: str) -> Metric:
    """Return the metric of a label such as ``recall@10``, ``ndcg``, ``auc``.

    Case does not matter, and other names such as HR@10 or MAP@10 are accepted. Equal metrics are the same object.

    Raises:
        ConfigError: the label is unknown, or its cut-off is missing, not allowed or not a whole number from 1.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.metric("recall@10").values(12)
        array([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 0., 0.])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eqs 7 to 13.
    """
    name, separator, k = _parts(label)
    usual, formula = formula_of(name) or (name, None)
    if formula and not separator and "" not in formula.suffixes:
        raise ConfigError(f"metric {label!r} needs a cut-off, such as {label.strip()}@10")
    is_cutoff = re.fullmatch("[1-9][0-9]{0,8}", k) is not None
    suffix = "@k" if separator else ""
    if not formula or suffix not in formula.suffixes or is_cutoff != bool(separator):
        known = ", ".join(" or ".join(key + end for end in one.suffixes) for key, one in METRICS.items())
        meant = did_you_mean(ALIASES.get(name, name), [*METRICS, *ALIASES], separator + k)
        raise ConfigError(
            f"unknown metric {label!r}{meant}; it may be {known}, with k a whole number from 1 to 999999999"
        )
    return _metric(usual, int(k) if separator else None)


@cache
def _metric(name: str, k: int | None) -> Metric:
    named = formula_of(name)
    assert named
    formula = named[1]

    def of_rank(rank: ArrayLike, candidates: ArrayLike) -> Floats:
        return formula.of_rank(rank, candidates, k)

    return Metric(name if k is None else f"{name}@{k}", of_rank, formula.linear_in_rank, k, formula)


def _parts(label: str) -> tuple[str, str, str]:
    """Return the name of a metric in small letters, then @ and the cut-off if it has one."""
    name, separator, k = label.lower().partition("@")
    return re.sub(r"[\s_]+", "-", name.strip()), separator, k.strip()


def metrics_by_label(given: MetricsLike, what: str = "metrics") -> dict[str, Metric]:
    """Return one metric, or several, by label as it is written: HR@10 is the metric ``hit-rate@10`` by this name.

    A metric is given by its label, or as a `Metric`.

    Raises:
        ConfigError: there are none, one is unknown, or two are the same metric, such as hr@10 and hit-rate@10.
    """
    by_label: dict[str, Metric] = {}
    for label_or_metric in check_labels(given, what, Metric):
        is_label = isinstance(label_or_metric, str)
        one = metric(label_or_metric) if is_label else label_or_metric
        label = label_or_metric.strip() if is_label else one.label
        for before, other in by_label.items():
            if one.label == other.label:
                raise ConfigError(f"{what}: {before!r} and {label!r} are the same one; give it once")
        by_label[label] = one
    return by_label


def alike(metrics: Mapping[str, Metric]) -> list[list[str]]:
    """Return the groups of two or more labels whose metrics have the same value at every rank of one relevant item.

    Metrics without a formula are left out: a function of your own may not accept every rank.
    """
    n = 2**30
    ranks = np.unique(np.geomspace(1, n, 1000).round())
    groups: dict[tuple[object, ...], list[str]] = {}
    for label, one in metrics.items():
        if one.formula is not None:
            groups.setdefault((one.cutoff, one.of_rank(ranks, n).tobytes()), []).append(label)
    return [labels for labels in groups.values() if len(labels) > 1]


def metric_name(label: str) -> str:
    """Return the displayed name of a metric: ``ndcg@10`` is NDCG@10, ``recall@1-50`` is Recall@1-50.

    Any other label is returned unchanged.
    """
    name, separator, k = _parts(label)
    named = formula_of(name)
    return f"{named[1].name}{separator}{k}" if named else label
