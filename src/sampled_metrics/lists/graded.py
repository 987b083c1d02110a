"""Metrics of ranked lists with graded relevance: one value per user.

The functions share these arguments:

- ``relevance``: (users, positions) grades in ranked order, so that column 0 holds rank 1. Grades
  are finite numbers from 0. NaN fills the end of shorter lists, as in the result of `padded`. A
  grade above 0 is relevant; `binary` sets another threshold. An item without a judgement has grade
  0, as in trec_eval.
- ``k``: the last rank that counts, also on the ideal list, a whole number from 1. All ranks count
  if it is None.
- ``judged``: (users, items) grades of all judged items of a user, on the list or not, in any order,
  filled up with NaN. It gives |R|, the number of relevant items, and the ideal list, which a list
  that was cut off does not have. If it is None, both come from the list.
- ``nothing_relevant``: the value of users with no relevant item (`ndcg`: no gain on the ideal
  list), in [0, 1] or NaN. `mean_over_users` ignores NaN. The default 0 follows the lecture for
  reciprocal rank and the article for NDCG.
- ``gain``: `linear_gain`, `exponential_gain`, `gain_above`, or another elementwise function of an
  array of grades that returns finite numbers from 0.
- ``discount``: `log2_discount`, `log_discount_from`, `half_life_discount`, or another function of
  an array of ranks; it returns divisors above 0 that never decrease.

Metrics return (users,) values, in [0, 1] unless stated otherwise. They raise a `DataError` if an
array is malformed, a gain is not a finite number from 0, or `judged` lacks items of the list, and a
`ConfigError` if another argument is not allowed.

The formulas, gains and discounts are those of `sampled_metrics.core.metrics`.

The article is "MRR vs MAP vs NDCG: Rank-Aware Evaluation Metrics And When To Use Them". The lecture
is the video on rank-aware top-N metrics that the article draws on, from a course of the University
of Minnesota.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from sampled_metrics._validation import Floats, is_real, is_whole, refuse_masked
from sampled_metrics.core.metrics import (
    FORMULAS,
    Discount,
    Formula,
    Gain,
    above,
    discounted,
    refuse_cells,
)
from sampled_metrics.core.metrics import exponential_gain as exponential_gain
from sampled_metrics.core.metrics import gain_above as gain_above
from sampled_metrics.core.metrics import half_life_discount as half_life_discount
from sampled_metrics.core.metrics import linear_gain as linear_gain
from sampled_metrics.core.metrics import log2_discount as log2_discount
from sampled_metrics.core.metrics import log_discount_from as log_discount_from
from sampled_metrics.errors import ConfigError, DataError

# --- input ---------------------------------------------------------------------------------------


def padded(lists: Sequence[Sequence[float]]) -> Floats:
    """Return lists of different lengths as one array, (users, longest), filled up with NaN.

    Args:
        lists: for each user, the grades in ranked order; a list may be empty.

    Raises:
        DataError: there is no list, all are empty, or one is not a list of numbers.
    """
    refuse_masked(lists, "lists to fill up")
    try:
        rows = [np.asarray(grades, dtype=np.float64) for grades in lists]
    except (TypeError, ValueError):
        rows = []
    if not rows or any(row.ndim != 1 for row in rows) or not any(row.size for row in rows):
        raise DataError(
            "lists to fill up have to be a list of numbers for every user, at least one of them "
            "not empty"
        )
    lengths = np.array([row.size for row in rows])
    filled = np.full((len(rows), lengths.max()), np.nan)
    filled[np.arange(lengths.max()) < lengths[:, np.newaxis]] = np.concatenate(rows)
    return filled


def binary(relevance: ArrayLike, least: float) -> Floats:
    """Return 1 for grades, of lists or judged, that are at least `least`, and 0 for others; NaN
    stays.

    Args:
        relevance: grades.
        least: the lowest grade that is relevant, above 0. The article's "bigger than 4" of five
            whole stars is 5.
    """
    least = above("least", least, 0)
    grades = _grades(relevance, "relevance")
    return np.where(np.isnan(grades), np.nan, grades >= least)


def ideal_order(judged: ArrayLike) -> Floats:
    """Return each user's grades as the ideal list: the highest first, NaN last."""
    return -np.sort(-_grades(judged, "judged"), axis=1)


def _array(values: ArrayLike, name: str) -> Floats:
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(
            f"{name} has rows of different lengths; fill them up with NaN, as `padded` does"
        ) from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {array.dtype}; it has to be an array of numbers")
    if array.ndim != 2:
        raise DataError(
            f"{name} has shape {array.shape}; it has to be (users, positions), also for a single "
            "user"
        )
    if array.size == 0:
        raise DataError(
            f"{name} has shape {array.shape}; it has to hold a user and a position at least"
        )
    return array.astype(np.float64, copy=False)


def _grades(values: ArrayLike, name: str) -> Floats:
    grades = _array(values, name)
    refuse_cells(
        (grades < 0) | np.isinf(grades), grades, name, "a grade has to be a finite number from 0"
    )
    return grades


def _lists(relevance: ArrayLike) -> Floats:
    grades = _grades(relevance, "relevance")
    followed = np.isnan(grades[:, :-1]) & ~np.isnan(grades[:, 1:])
    refuse_cells(followed, grades, "relevance", "NaN may only fill up a list after its end")
    return grades


def _cutoff(k: int) -> int:
    if not is_whole(k) or k < 1:
        raise ConfigError(f"the cut-off k is {k!r}; it has to be a whole number from 1")
    return int(k)


def _convention(name: str, value: float, least: float = 0.0) -> float:
    if not is_real(value) or value < least or value > 1:
        raise ConfigError(f"{name} is {value!r}; it has to be a number from {least:g} to 1, or NaN")
    return float(value)


def _values(
    formula: Formula,
    relevance: ArrayLike,
    k: int | None,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Return the (users,) values of a formula; parameters as this module describes them."""
    convention = _convention("nothing_relevant", nothing_relevant)
    gains = formula.gains(_lists(relevance))
    of_judged = gains if judged is None else formula.gains(_grades(judged, "judged"))
    if len(of_judged) != len(gains):
        raise DataError(
            f"judged has {len(of_judged)} users and relevance {len(gains)}; each needs a row in "
            "both"
        )
    if judged is not None:
        _refuse_lacking(-np.sort(-gains, axis=1), -np.sort(-of_judged, axis=1))
    return formula.of_lists(gains, of_judged, None if k is None else _cutoff(k), convention)


def _refuse_lacking(gains: Floats, judged: Floats) -> None:
    """Raise DataError if gains on a list are not among those judged; both are (users, …), the
    highest first.
    """
    width = judged.shape[1]
    lacking = (gains[:, :width] > judged[:, : gains.shape[1]]).any(axis=1) | (
        gains[:, width:] > 0
    ).any(axis=1)
    if lacking.any():
        row = np.flatnonzero(lacking)[0]
        raise DataError(
            f"judged of user row {row} lacks grades that are on the list; it has to hold those too"
        )


# --- relevant or not ----------------------------------------------------------------------------


def reciprocal_rank(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Reciprocal rank (at k): 1 / rank of the first relevant item, and 0 if none is on the list
    (lecture).
    """
    return _values(FORMULAS["mrr"], relevance, k, judged, nothing_relevant)


def mean_reciprocal_rank(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> float:
    """MRR (at k): the mean over users of `reciprocal_rank` (both texts)."""
    return mean_over_users(
        reciprocal_rank(relevance, k, judged=judged, nothing_relevant=nothing_relevant)
    )


def average_precision(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Average precision (at k): Σ precision@i over the ranks i ≤ k of relevant items / min(|R|, k)
    (both texts).

    An item that is not on the list counts as precision 0, and k relevant items in the first k
    places give 1, as in eq. 5 of Krichene and Rendle. Without `judged` the mean is over the
    relevant items of the list, as in the texts. AP@k of trec_eval divides by |R|: cut the lists,
    ``relevance[:, :k]``, and pass `judged` but no `k`.
    """
    return _values(FORMULAS["ap"], relevance, k, judged, nothing_relevant)


def mean_average_precision(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> float:
    """MAP (at k): the mean over users of `average_precision` (both texts)."""
    return mean_over_users(
        average_precision(relevance, k, judged=judged, nothing_relevant=nothing_relevant)
    )


def precision(
    relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Precision@k: the relevant items among the first k / k, also if the list is shorter (both
    texts).
    """
    return _values(FORMULAS["precision"], relevance, _cutoff(k), judged, nothing_relevant)


def hit_rate(
    relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Hit rate at k: 1 if a relevant item is among the first k, else 0; also called success."""
    return _values(FORMULAS["hit-rate"], relevance, _cutoff(k), judged, nothing_relevant)


def recall(
    relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Recall@k: the relevant items among the first k / |R| (article)."""
    return _values(FORMULAS["recall"], relevance, _cutoff(k), judged, nothing_relevant)


def f1(
    relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """F1@k: the harmonic mean of precision@k and recall@k, 2 · hits / (k + |R|); 0 where both are 0
    (article).
    """
    return _values(FORMULAS["f1"], relevance, _cutoff(k), judged, nothing_relevant)


# --- discounted cumulative gain -----------------------------------------------------------------


def _with_gain(label: str, gain: Gain, discount: Discount) -> Formula:
    """Return a formula with another gain and another discount."""

    def checked(ranks: Floats) -> Floats:
        with np.errstate(over="ignore"):  # a gain divided by infinity is 0
            divisors = np.asarray(discount(ranks), dtype=np.float64)
        if (
            divisors.shape != ranks.shape
            or not (divisors > 0).all()
            or (divisors[1:] < divisors[:-1]).any()
        ):
            raise ConfigError(
                "a discount has to be one number above 0 for every rank, none smaller than that "
                "before"
            )
        return divisors

    return replace(FORMULAS[label], term=discounted(checked), gain=gain)


def dcg(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    gain: Gain = linear_gain,
    discount: Discount = log2_discount,
) -> Floats:
    """Discounted cumulative gain (at k): Σ over the ranks r ≤ k of gain(grade at r) / discount(r)
    (both texts).

    The unit is that of the gain.
    """
    return _values(_with_gain("dcg", gain, discount), relevance, k)


def ndcg(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    gain: Gain = linear_gain,
    discount: Discount = log2_discount,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Normalised DCG (at k): `dcg` divided by that of the ideal list, the highest gains first (both
    texts).
    """
    return _values(_with_gain("ndcg", gain, discount), relevance, k, judged, nothing_relevant)


def half_life_utility(
    relevance: ArrayLike, k: int | None = None, *, neutral: float = 0.0, half_life: float = 5.0
) -> Floats:
    """Half-life utility (at k): Σ over the ranks r of max(grade - neutral, 0) / 2^((r - 1) /
    (half_life - 1)).

    It is `dcg` with `gain_above` and `half_life_discount`, in the unit of the grades: the expected
    utility if the probability of looking at an item falls by the same factor at each rank (lecture;
    R_a of Breese et al. 1998). Breese et al. report 100 · Σ utility / Σ utility of `ideal_order`,
    summed over users.
    """
    return dcg(relevance, k, gain=gain_above(neutral), discount=half_life_discount(half_life))


def normalized_half_life_utility(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    neutral: float = 0.0,
    half_life: float = 5.0,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Half-life utility (at k) divided by that of the ideal list: `ndcg` with its gain and discount
    (lecture).
    """
    gain = gain_above(neutral)
    discount = half_life_discount(half_life)
    return ndcg(
        relevance, k, gain=gain, discount=discount, judged=judged, nothing_relevant=nothing_relevant
    )


# --- the whole order ----------------------------------------------------------------------------


def _scores(scores: ArrayLike | None, lists: Floats) -> Floats:
    """Return checked scores; the default scores fall by 1 from item to item."""
    if scores is None:
        return np.where(np.isnan(lists), np.nan, -np.arange(float(lists.shape[1])))
    array = _array(scores, "scores")
    if array.shape != lists.shape:
        raise DataError(
            f"scores have shape {array.shape} and relevance {lists.shape}; they have to be the same"
        )
    refuse_cells(np.isinf(array), array, "scores", "a score has to be a finite number")
    refuse_cells(
        np.isnan(array) != np.isnan(lists),
        array,
        "scores",
        "NaN has to stand where relevance is NaN, only there",
    )
    rises = np.diff(array, axis=1, prepend=np.inf) > 0
    refuse_cells(
        rises, array, "scores", "lists are in ranked order, so a score may not exceed that before"
    )
    return array


def spearman(
    relevance: ArrayLike, *, scores: ArrayLike | None = None, nothing_to_order: float = np.nan
) -> Floats:
    """Spearman's rank correlation of the recommender's order with the user's, tied ranks averaged
    (lecture).

    It is Pearson's correlation of the recommender's ranks, 1, 2, … down the list, with the user's
    ranks, highest grade first. Every item of the list counts, so pass judged items only.

    Args:
        relevance: the lists.
        scores: (users, positions) finite scores of the same items by the recommender,
            non-increasing, NaN where `relevance` is NaN. Equal scores are ties. If it is None,
            there are no ties.
        nothing_to_order: in [-1, 1] or NaN, the value of users with fewer than two items, or all
            tied on either side.

    Returns:
        (users,) values in [-1, 1].
    """
    convention = _convention("nothing_to_order", nothing_to_order, least=-1.0)
    lists = _lists(relevance)
    by_user, by_recommender = (
        rankdata(-values, axis=1, nan_policy="omit") for values in (lists, _scores(scores, lists))
    )
    mean_rank = (1 + (~np.isnan(lists)).sum(axis=1, keepdims=True)) / 2
    user, recommender = (np.nan_to_num(ranks - mean_rank) for ranks in (by_user, by_recommender))
    covariance = (user * recommender).sum(axis=1)
    spread = (user**2).sum(axis=1) * (recommender**2).sum(
        axis=1
    )  # exact, as ranks are multiples of 1/2
    return np.where(
        spread > 0,
        np.clip(covariance / np.sqrt(np.where(spread > 0, spread, 1.0)), -1, 1),
        convention,
    )


def concordant_pairs(
    relevance: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    tied: float = 0.5,
    nothing_to_order: float = np.nan,
) -> Floats:
    """Fraction of the pairs of items with different grades that are in the right order (lecture).

    With two grades it is the AUC. Every item of the list counts, so pass judged items only. Time
    grows with the square of the positions.

    Args:
        relevance: the lists.
        scores: as in `spearman`.
        tied: in [0, 1], value of a pair with equal scores: 1/2 as in the AUC, which breaks ties at
            random on average, or 0, which counts the pair as wrong.
        nothing_to_order: in [0, 1] or NaN, the value of users without two different grades.
    """
    convention = _convention("nothing_to_order", nothing_to_order)
    tied = _convention("tied", tied)
    if np.isnan(tied):
        raise ConfigError("tied is nan; it has to be a number from 0 to 1")
    lists = _lists(relevance)
    grades = np.ascontiguousarray(lists.T)
    ranked = np.ascontiguousarray(_scores(scores, lists).T)
    right = np.zeros(len(lists))
    pairs = np.zeros(len(lists))
    for i in range(len(grades) - 1):
        above = grades[i] > grades[i + 1 :]  # False beside the padding
        below = grades[i] < grades[i + 1 :]
        same = ranked[i] == ranked[i + 1 :]
        pairs += (above | below).sum(axis=0)
        right += (above & ~same).sum(axis=0) + tied * ((above | below) & same).sum(axis=0)
    return np.where(pairs > 0, right / np.maximum(pairs, 1), convention)


def mean_over_users(values: ArrayLike) -> float:
    """Mean of (users,) values of a metric over the users for whom it is not NaN; NaN if there is
    none.

    Raises:
        DataError: the values are not one number for each of one user or more, or infinite.
    """
    refuse_masked(values, "values")
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise DataError(
            f"values are {array.dtype} of shape {array.shape}; they have to be a number for each "
            "user"
        )
    if np.isinf(array).any():
        raise DataError(f"the value of user row {np.flatnonzero(np.isinf(array))[0]} is infinite")
    defined = array[~np.isnan(array)]
    return float(defined.mean()) if defined.size else float("nan")
