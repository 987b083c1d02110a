"""Ranking metrics by label: their formulas, and their values at a rank and of ranked lists.

A metric is a sum over the relevant items of a user, up to rank k, divided by a number (eqs 3 to 6
of the paper). The metric of one relevant item, by its rank (eqs 8 to 13), is the sum of one term. A
new metric is an entry of `FORMULAS`. A metric with a parameter is a `MetricFamily`, an entry of
`METRICS`.

Ranks start at 1. `metric` finds a metric by a label such as ``recall@10``, ``ndcg``, ``auc``. Of
one relevant item, a metric is a function of the rank (eqs 7-13 of the paper), with values in [0,
1].

Papers differ in names: with one relevant item reciprocal rank (mrr) is average precision, and hit
rate is recall (section 3.1). Both names are registered.

The metrics of lists are those of the video lecture "Rank-Aware Top-N Metrics" of the Recommender
Systems Specialization, University of Minnesota, and of the article "MRR vs MAP vs NDCG: Rank-Aware
Evaluation Metrics And When To Use Them", which draws on it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics.checks import Floats, Ints, check_labels, did_you_mean, is_real, shown
from sampled_metrics.errors import ConfigError, DataError

Gain = Callable[[Floats], Floats]
"""An elementwise function of grades that never falls, with numbers from 0.

An item with a gain is relevant.
"""

Discount = Callable[[Floats], Floats]
"""A function of ranks, with divisors above 0 that never fall."""


# --- gains and discounts ------------------------------------------------------------------------


def gain_from(lowest_relevant: float | None) -> Gain:
    """Return the gain that is 1 from the lowest relevant grade on, and 0 below it.

    If that is None, the grades above 0 are relevant.
    """
    if lowest_relevant is None:
        return lambda grades: np.where(grades > 0, 1.0, 0.0)
    return lambda grades: np.where(grades >= lowest_relevant, 1.0, 0.0)


def linear_gain(grades: Floats) -> Floats:
    """Gain of a grade: the grade itself (Järvelin and Kekäläinen 2002)."""
    return grades


def exponential_gain(grades: Floats) -> Floats:
    """Gain of a grade g: 2^g - 1 (Burges et al. 2005)."""
    return np.exp2(grades) - 1.0


def log2_discount(ranks: Floats) -> Floats:
    """Discount of a rank r: log2(r + 1), so 1, 1.58, 2, … (Burges et al. 2005; eq. 6 of the paper).

    trec_eval has it, too.
    """
    return np.log2(ranks + 1.0)


def log_discount_from(base: float) -> Discount:
    """Return the discount max(1, log_b r), with a base b above 1.

    The first b ranks have no discount. With base 2 the divisors are 1, 1, 1.58, 2, … (Järvelin and
    Kekäläinen 2002).
    """
    base = above("base", base, 1)
    return lambda ranks: np.maximum(np.log2(ranks) / np.log2(base), 1.0)


def half_life_discount(half_life: float) -> Discount:
    """Return the discount 2^((r - 1) / (half_life - 1)): 1 at rank 1, 2 at the half-life.

    The half-life, above 1, is the rank at which a user looks at the item with probability 1/2; 5 in
    Breese et al. (1998).
    """
    half_life = above("half-life", half_life, 1)

    def discount(ranks: Floats) -> Floats:
        with np.errstate(over="ignore"):  # a gain divided by infinity is 0
            return np.exp2((ranks - 1.0) / (half_life - 1.0))

    return discount


def above(name: str, value: float, bound: float) -> float:
    """Return a parameter, or raise ConfigError if it is not a finite number above a bound."""
    if not is_real(value) or not bound < value < np.inf:
        raise ConfigError(f"{name} is {value!r}; it must be a finite number above {bound:g}")
    return float(value)


# --- formulas -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """A metric at any cut-off: a sum of terms of relevant items up to rank k, divided by a number.

    Attributes:
        name: its name in tables and figures.
        suffixes: what may follow its name in a label: "", "@k".
        term: (r, i, g) → what the i-th relevant item of a list adds, at rank r with gain g;
            elementwise.
        divisor: (|R|, k) → the number; None for the sum of the ideal list, with the highest gains
            first.
        gain: the gain of a grade; None if an item is just relevant, with gain 1, or not.
        bounded: whether no value is above 1.
    """

    name: str
    suffixes: tuple[str, ...]
    term: Callable[[Any, Any, Any], Any]
    divisor: Callable[[Any, Any], Any] | None
    gain: Gain | None = None
    bounded: bool = True

    linear_in_rank = False

    def of_rank(self, rank: ArrayLike, candidates: ArrayLike, k: int | None) -> Floats:
        """Return the value of one relevant item with gain 1 at each rank, elementwise."""
        rank = np.asarray(rank, dtype=np.float64)
        last = _last(k)
        divisor = self.term(1.0, 1, 1.0) if self.divisor is None else self.divisor(1, last)
        terms = np.where(rank <= last, self.term(rank, 1, 1.0), 0.0)
        return np.asarray(terms / divisor)

    def gains(self, grades: Floats, relevant_from: float | None = None) -> Floats:
        """Return the gains of (users, …) grades, 0 of NaN.

        `relevant_from` is the lowest relevant grade.
        """
        padding = np.isnan(grades)
        gain = self.gain or gain_from(relevant_from)
        with np.errstate(over="ignore"):  # refused below
            gains = np.asarray(gain(np.where(padding, 0.0, grades)), dtype=np.float64)
        if not np.isfinite(gains).all():
            raise DataError(f"{self.name}: the gain of the grade {np.nanmax(grades):g} is infinite")
        return np.where(padding, 0.0, gains)

    def of_lists(self, gains: Floats, judged: Floats, k: int | None) -> Floats:
        """Return the (users,) values of lists, which are 0 for users with no relevant item.

        Args:
            gains: (users, positions) of the items on the lists, in ranked order.
            judged: (users, items) gains of all judged items of the user, on the list or not.
            k: the cut-off; None for the whole list.
        """
        relevant = (judged > 0).sum(axis=1)
        if self.divisor is not None:
            divisor = self.divisor(relevant, _last(k))
        else:  # the ideal list
            divisor = self._sums(-np.sort(-judged, axis=1), k)
        defined = (relevant > 0) & (divisor > 0)
        values = self._sums(gains, k) / np.where(defined, divisor, 1.0)
        if self.bounded:  # rounding may lead above 1
            values = np.minimum(values, 1.0)
        return np.where(defined, values, 0.0)

    def _sums(self, gains: Floats, k: int | None) -> Floats:
        gains = gains[:, :k]
        hits = gains > 0
        rank = np.arange(1.0, gains.shape[1] + 1)
        terms = self.term(rank, np.cumsum(hits, axis=1), gains)
        return np.where(hits, terms, 0.0).sum(axis=1)


def _last(k: int | None) -> float:
    return np.inf if k is None else k


def discounted(discount: Discount) -> Callable[[Any, Any, Any], Any]:
    """Return the term of DCG: gain / discount of the rank."""
    return lambda r, i, g: g / discount(r)


class Auc:
    """Area under the ROC curve of one relevant item among its candidates; not defined for lists."""

    name = "AUC"
    suffixes = ("",)
    linear_in_rank = True

    def of_rank(self, rank: ArrayLike, candidates: ArrayLike, k: int | None) -> Floats:
        """Return the value of one relevant item at rank r of n: (n - r) / (n - 1), eq. 7.

        A mean (fractional) rank gives the mean value, because the value is linear in the rank. For
        n = 1 the value is NaN.
        """
        n = np.asarray(candidates, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(n > 1, (n - np.asarray(rank, dtype=np.float64)) / (n - 1), np.nan)


@dataclass(frozen=True)
class MetricFamily:
    """Metrics with a parameter in the label.

    The key ``rbp-p`` of `METRICS` is the family of ``rbp-0.8``.

    Attributes:
        formula: p → the formula, or a ConfigError if the parameter is not allowed.
        example: a label of the family without a cut-off, for messages.
        suffixes: what may follow the parameter in a label, as in `Formula`.
    """

    formula: Callable[[float], Formula]
    example: str
    suffixes: tuple[str, ...] = ("", "@k")


_DCG = discounted(log2_discount)

FORMULAS = {
    "recall": Formula("Recall", ("@k",), lambda r, i, g: 1.0, lambda relevant, k: relevant),
    "hit-rate": Formula("Hit rate", ("@k",), lambda r, i, g: i == 1, lambda relevant, k: 1),
    "precision": Formula("Precision", ("@k",), lambda r, i, g: 1.0, lambda relevant, k: k),
    "ap": Formula(
        "AP", ("", "@k"), lambda r, i, g: i / r, lambda relevant, k: np.minimum(relevant, k)
    ),
    "mrr": Formula("MRR", ("", "@k"), lambda r, i, g: (i == 1) / r, lambda relevant, k: 1),
    "ndcg": Formula("NDCG", ("", "@k"), _DCG, None, linear_gain),
    "ndcg-exp": Formula("NDCG-exp", ("", "@k"), _DCG, None, exponential_gain),
    "dcg": Formula("DCG", ("", "@k"), _DCG, lambda relevant, k: 1, linear_gain, bounded=False),
    "dcg-exp": Formula(
        "DCG-exp", ("", "@k"), _DCG, lambda relevant, k: 1, exponential_gain, bounded=False
    ),
    "f1": Formula("F1", ("@k",), lambda r, i, g: 2.0, lambda relevant, k: relevant + k),
}
"""Metrics of lists by their names in labels, such as ``recall`` in ``recall@10``."""


def _normalised(name: str, discount: Callable[[float], Discount], example: str) -> MetricFamily:
    """Return NDCG with another discount, which has a parameter."""

    def formula(parameter: float) -> Formula:
        term = discounted(discount(parameter))
        return Formula(f"{name} {_as_text(parameter)}", ("", "@k"), term, None, linear_gain)

    return MetricFamily(formula, example)


def rank_biased_precision(p: float) -> Formula:
    """Return rank-biased precision: (1 - p) Σ p^(r - 1) over the ranks r of the relevant items.

    A user looks at the next item with probability p, which is between 0 and 1 (A. Moffat and J.
    Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 27, 2008).
    """
    if not 0 < p < 1:
        raise ConfigError(f"rbp: p must be a number between 0 and 1, such as 0.8, not {p:g}")
    return Formula(
        f"RBP {_as_text(p)}",
        ("", "@k"),
        lambda r, i, g: (1 - p) * p ** (r - 1.0),
        lambda relevant, k: 1,
    )


def _as_text(parameter: float) -> str:
    return np.format_float_positional(parameter, trim="-")


METRICS: dict[str, Formula | Auc | MetricFamily] = {
    **FORMULAS,
    "auc": Auc(),
    "ndcg-log-b": _normalised("NDCG-log", log_discount_from, "ndcg-log-2"),
    "half-life-h": _normalised("Half-life", half_life_discount, "half-life-5"),
    "rbp-p": MetricFamily(rank_biased_precision, "rbp-0.8"),
}
"""All metrics by their names in labels.

The name of a family ends in the symbol of its parameter, as ``rbp-p``.
"""

ALIASES = {
    **dict.fromkeys(("hr", "hit", "hits", "hitrate", "success"), "hit-rate"),
    **dict.fromkeys(("map", "average-precision"), "ap"),
    **dict.fromkeys(("rr", "reciprocal-rank", "recip-rank"), "mrr"),
    **{"p": "precision", "r": "recall", "ndcg-burges": "ndcg-exp", "dcg-burges": "dcg-exp"},
}
"""Other names of metrics."""


def formula_of(name: str) -> tuple[str, Formula | Auc] | None:
    """Return the usual name and the formula of a metric; None if there is no such metric.

    `name` is in small letters, such as ``hr`` or ``rbp-0.8``.

    Raises:
        ConfigError: its parameter is not a number, or not allowed.
    """
    usual = ALIASES.get(name, name)
    formula = METRICS.get(usual)
    if formula is not None and not isinstance(formula, MetricFamily):
        return usual, formula
    match = re.fullmatch(r"(.+?)-?([0-9.]+(?:e-?[0-9]+)?)", name)
    if match is None:
        return None
    family_name, parameter_text = match.groups()
    for key, family in METRICS.items():
        if isinstance(family, MetricFamily) and key.rpartition("-")[0] == family_name:
            try:
                parameter = float(parameter_text)
            except ValueError:
                raise ConfigError(f"{name}: {parameter_text!r} is not a number") from None
            return f"{family_name}-{_as_text(parameter)}", family.formula(parameter)
    return None


# --- metrics ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """A metric with its cut-off, found by its label: the value of one relevant item by its rank.

    Attributes:
        label: its label in config and tables, for example ``recall@10``.
        of_rank: (rank, candidates) → value of one relevant item at that rank (eqs 7-13),
            elementwise.
        linear_in_rank: whether the value is linear in the rank (AUC alone). Every other metric
            ignores candidates.
        cutoff: k, the last rank with a value above 0, or None.
        formula: the metric at any cut-off, also of lists; None for a metric of your own, which
            takes one rank.
    """

    label: str
    of_rank: Callable[[ArrayLike, ArrayLike], Floats]
    linear_in_rank: bool
    cutoff: int | None
    formula: Formula | Auc | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a metric of this library by its label, because its function cannot be pickled."""
        try:
            is_of_library = self.formula is not None and metric(self.label) is self
        except ConfigError:
            is_of_library = False
        return (metric, (self.label,)) if is_of_library else super().__reduce_ex__(protocol)

    @property
    def largest(self) -> float:
        """Return the largest value, which is the value of rank 1."""
        return float(self.of_rank(1, 2))

    def values(self, candidates: int) -> Floats:
        """Return the metric at every rank 1 … n, as an (n,) array: f(r) of the estimators."""
        return self.of_rank(np.arange(1, candidates + 1), candidates)

    def over_ties(self, above: ArrayLike, tied: ArrayLike, candidates: ArrayLike) -> Floats:
        """Return the mean over the ranks above + 1 … above + tied + 1: ties are broken at random.

        Args:
            above: (events,) number of candidates that score higher than the held-out item.
            tied: (events,) number of other candidates that score the same.
            candidates: (events,) or one number: the number of ranked items, including the held-out
                item.

        Returns:
            (events,) expected values.
        """
        above = np.asarray(above, dtype=np.int64)
        tied = np.asarray(tied, dtype=np.int64)
        if self.linear_in_rank:
            return self.of_rank(above + 1 + tied / 2, candidates)
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0), self.cutoff, above, tied)

    def squares_over_ties(self, above: Ints, tied: Ints) -> Floats:
        """Return the mean square over ties, for a metric that is not linear.

        Parameters as in `over_ties`.
        """
        return _mean_over_ranks(lambda rank: self.of_rank(rank, 0) ** 2, self.cutoff, above, tied)


SUMMED = 2**20
"""Up to this rank a metric is summed rank by rank; beyond it, sums are integrals."""

_NODES, _SHARES = np.polynomial.legendre.leggauss(32)


def _mean_over_ranks(
    value_at: Callable[[ArrayLike], Floats], cutoff: int | None, above: Ints, tied: Ints
) -> Floats:
    """Return the mean of a function over the ranks above + 1 … above + tied + 1, (events,).

    The memory is bounded, however many candidates tie.

    Args:
        value_at: the function, smooth in the logarithm of ranks up to the cut-off, and 0 beyond it.
        cutoff: k, or None.
        above: (events,) ints.
        tied: (events,) ints.
    """
    last: Ints = above + tied + 1 if cutoff is None else np.minimum(above + tied + 1, cutoff)
    summed = min(int(last.max(initial=0)), SUMMED)
    running = np.concatenate(([0.0], np.cumsum(value_at(np.arange(1, summed + 1)))))
    last_summed = np.minimum(last, summed)
    total = running[last_summed] - running[np.minimum(above, last_summed)]
    far = np.flatnonzero(last > np.maximum(above, SUMMED))
    for events in np.array_split(far, len(far) // SUMMED + 1):
        before = np.maximum(above[events], SUMMED)
        # the last rank is separate: at the cut-off, an integral to half a rank beyond it would
        # include zeros
        integral = _integral(value_at, before + 0.5, last[events] - before - 1)
        total[events] += integral + value_at(last[events])
    return total / (tied + 1)


def _integral(value_at: Callable[[ArrayLike], Floats], start: Floats, length: Ints) -> Floats:
    """Return ∫ f(r) dr from start, (events,), which stands for the sum over whole r.

    The relative difference of the two is at most 1/(12 start²). Gauss-Legendre quadrature in log r,
    exact up to degree 63, gives all digits if start ≥ 2²⁰.
    """
    width = np.log1p(length / start)
    total = np.zeros(len(start))
    weights = np.zeros(len(start))
    for node, share in zip((_NODES + 1) / 2, _SHARES, strict=True):
        weight = share * np.exp(width * node)
        total += weight * value_at(start * np.exp(width * node))
        weights += weight
    return length * (total / weights)


# --- by label -----------------------------------------------------------------------------------


MetricsLike = str | Metric | Sequence[str | Metric]
"""Accepted forms of metrics: one label or `Metric`, or several."""


def metric(label: str) -> Metric:
    """Return the metric of a label such as ``recall@10``, ``ndcg``, ``auc``.

    Case does not matter, and other names such as HR@10 or MAP@10 are accepted. Equal metrics are
    the same object.

    Raises:
        ConfigError: the label is unknown, or its cut-off is missing, not allowed or not a whole
            number from 1.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.metric("recall@10").values(12)
        array([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 0., 0.])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eqs 7 to
        13.
    """
    if not isinstance(label, str):
        raise ConfigError(f"a metric is a label such as 'recall@10', not {shown(label)}")
    name, separator, k = _parts(label)
    usual, formula = formula_of(name) or (name, None)
    if formula and not separator and "" not in formula.suffixes:
        raise ConfigError(f"metric {label!r} needs a cut-off, such as {label.strip()}@10")
    is_cutoff = re.fullmatch("[1-9][0-9]{0,8}", k) is not None
    suffix = "@k" if separator else ""
    if not formula or suffix not in formula.suffixes or is_cutoff != bool(separator):
        known = ", ".join(map(_written_labels, METRICS))
        examples = [
            formula.example if isinstance(formula, MetricFamily) else name
            for name, formula in METRICS.items()
        ]
        meant = did_you_mean(ALIASES.get(name, name), [*examples, *ALIASES], separator + k)
        stem = name.rstrip("0123456789")
        if stem != name and formula_of(stem):
            meant = f" (did you mean {stem}@{name.removeprefix(stem)}?)"
        raise ConfigError(
            f"unknown metric {label!r}{meant}; it may be {known}, with k a whole number from 1 "
            "to 999999999"
        )
    return _metric(usual, int(k) if separator else None)


def _written_labels(name: str) -> str:
    """Return how labels of a name of `METRICS` are written, such as "ap or ap@k"."""
    return " or ".join(name + suffix for suffix in METRICS[name].suffixes)


@cache
def _metric(name: str, k: int | None) -> Metric:
    named = formula_of(name)
    assert named
    formula = named[1]

    def of_rank(rank: ArrayLike, candidates: ArrayLike) -> Floats:
        return formula.of_rank(rank, candidates, k)

    label = name if k is None else f"{name}@{k}"
    return Metric(label, of_rank, formula.linear_in_rank, k, formula)


def _parts(label: str) -> tuple[str, str, str]:
    """Return the name of a metric in small letters, then @ and the cut-off if it has one."""
    name, separator, k = label.lower().partition("@")
    return re.sub(r"[\s_]+", "-", name.strip()), separator, k.strip()


def metrics_by_label(metrics: MetricsLike, what: str = "metrics") -> dict[str, Metric]:
    """Return one metric, or several, by label as written.

    HR@10 is the metric ``hit-rate@10`` by this name.

    A metric is given by its label, or as a `Metric`.

    Raises:
        ConfigError: there are none, one is unknown, or two are the same metric, such as hr@10 and
            hit-rate@10.
    """
    by_label: dict[str, Metric] = {}
    for label_or_metric in check_labels(metrics, what, Metric):
        if isinstance(label_or_metric, str):
            measure = metric(label_or_metric)
            label = label_or_metric.strip()
        else:
            measure = label_or_metric
            label = measure.label
        for known_label, known_measure in by_label.items():
            if measure.label == known_measure.label:
                raise ConfigError(
                    f"{what}: {known_label!r} and {label!r} are the same one; give it once"
                )
        by_label[label] = measure
    return by_label


def can_mislead(label: str) -> bool:
    """Return whether uniform negatives may order recommenders wrongly by a metric.

    A metric that is linear in the rank, which is AUC alone, has the same expectation as among all
    candidates. All other metrics, and labels that are not of this library, may order recommenders
    wrongly.
    """
    name, _, _ = _parts(label)
    named = formula_of(name)
    return named is None or not named[1].linear_in_rank


def metric_name(label: str) -> str:
    """Return the displayed name of a metric, such as NDCG@10 for ``ndcg@10``.

    Any other label is returned unchanged.
    """
    name, separator, k = _parts(label)
    named = formula_of(name)
    return f"{named[1].name}{separator}{k}" if named else label
