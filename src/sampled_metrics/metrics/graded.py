"""Metrics of ranked lists with graded relevance: of every user's list, a value (the article and the lecture).

A list is a row of ``relevance``, (users, positions): the grades of the items in ranked order, best first, so that
column 0 holds rank 1. Grades are finite numbers from 0, in any unit, and a grade above 0 is relevant to the metrics
that know only relevant and irrelevant (`binary` sets another threshold). NaN fills up the rows of shorter lists at
their end, and `padded` makes such rows. Give an item without a judgement grade 0, as trec_eval does.

Where a list is cut off, what is relevant but not on it still counts, in recall, average precision and the ideal DCG.
So these take ``judged``, (users, items): the grades of everything that is judged for the user, on the list or not, in
any order, NaN where there is nothing. Without it the list is taken to hold everything that is relevant.

The value of a user who has nothing relevant is a convention: the argument ``nothing_relevant``. Its default is 0, which
the lecture states for reciprocal rank and the article for NDCG; NaN leaves the user out of `mean_over_users`.

The article is "MRR vs MAP vs NDCG: Rank-Aware Evaluation Metrics And When To Use Them"; the lecture is the video on
rank-aware top-N metrics that the article draws on, from a course of the University of Minnesota.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import is_real, is_whole, refuse_masked
from sampled_metrics.errors import ConfigError, DataError

Gain = Callable[[Floats], Floats]  # grades, NaN at the padding → gains from 0, elementwise
Discount = Callable[[Floats], Floats]  # ranks 1, 2, … → what the gain at each rank is divided by

_BLOCK = 2048  # users whose pairs are counted at once, in the cache of a core


# --- input ------------------------------------------------------------------------------------------------------------


def padded(lists: Sequence[Sequence[float]]) -> Floats:
    """Return lists of different lengths as one array, its rows filled up with NaN.

    Args:
        lists: of each user, the grades in ranked order, best first; may be empty.

    Returns:
        (users, longest) grades, NaN after the end of a list.

    Raises:
        DataError: there is no list, all are empty, or one is no list of numbers.
    """
    refuse_masked(lists, "lists to fill up")
    try:
        rows = [np.asarray(each, dtype=np.float64) for each in lists]
    except (TypeError, ValueError):
        rows = []
    if not rows or any(row.ndim != 1 for row in rows) or not any(row.size for row in rows):
        raise DataError("lists to fill up have to be a list of numbers for every user, at least one of them not empty")
    lengths = np.array([row.size for row in rows])
    filled = np.full((len(rows), lengths.max()), np.nan)
    filled[np.arange(lengths.max()) < lengths[:, np.newaxis]] = np.concatenate(rows)
    return filled


def binary(relevance: ArrayLike, least: float) -> Floats:
    """Return grades as relevant or not: 1 where a grade is at least `least`, else 0, and NaN where it is NaN.

    Args:
        relevance: (users, positions or items) grades, NaN where there is nothing: lists, or what is judged.
        least: the lowest grade that is relevant. The article's "bigger than 4" of five whole stars is 5.

    Raises:
        DataError: the grades are not an array of two dimensions, or not finite numbers from 0.
        ConfigError: `least` is not a number above 0.
    """
    least = _parameter("least", least, above=0)
    grades = _array(relevance, "relevance")
    _refuse_bad_grades(grades, "relevance")
    return np.where(np.isnan(grades), np.nan, grades >= least)


def ideal_order(judged: ArrayLike) -> Floats:
    """Return each user's grades as the ideal list: the highest first, NaN last.

    Args:
        judged: (users, items) grades in any order, NaN where there is nothing.

    Raises:
        DataError: the grades are not an array of two dimensions, or not finite numbers from 0.
    """
    return -np.sort(-_judged(judged), axis=1)


def _array(values: ArrayLike, name: str) -> Floats:
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{name} has rows of different lengths; fill them up with NaN, as `padded` does") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {array.dtype}; it has to be an array of numbers")
    if array.ndim != 2:
        raise DataError(f"{name} has shape {array.shape}; it has to be (users, positions), also for a single user")
    if array.size == 0:
        raise DataError(f"{name} has shape {array.shape}; it has to hold a user and a position at least")
    return array.astype(np.float64, copy=False)


def _refuse(bad: NDArray[np.bool_], array: Floats, name: str, rule: str) -> None:
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(f"{name} of user row {row} is {array[row, column]:g} in column {column} (from 0); {rule}")


def _refuse_bad_grades(grades: Floats, name: str) -> None:
    _refuse((grades < 0) | np.isinf(grades), grades, name, "a grade has to be a finite number from 0")


def _lists(relevance: ArrayLike) -> Floats:
    grades = _array(relevance, "relevance")
    _refuse_bad_grades(grades, "relevance")
    padding = np.isnan(grades)
    followed = np.zeros_like(padding)
    followed[:, :-1] = padding[:, :-1] & ~padding[:, 1:]
    _refuse(followed, grades, "relevance", "NaN may only fill up a list after its end")
    return grades


def _judged(judged: ArrayLike) -> Floats:
    grades = _array(judged, "judged")
    _refuse_bad_grades(grades, "judged")
    return grades


def _judged_of(judged: ArrayLike, lists: Floats) -> Floats:
    grades = _judged(judged)
    if len(grades) != len(lists):
        raise DataError(f"judged has {len(grades)} users and relevance {len(lists)}; each needs a row in both")
    return grades


def _cutoff(k: int) -> int:
    if not is_whole(k) or k < 1:
        raise ConfigError(f"the cut-off k is {k!r}; it has to be a whole number from 1")
    return int(k)


def _parameter(name: str, value: float, *, above: float) -> float:
    if not is_real(value) or not above < value < np.inf:
        raise ConfigError(f"{name} is {value!r}; it has to be a finite number above {above:g}")
    return float(value)


def _convention(name: str, value: float, least: float = 0.0) -> float:
    if not is_real(value) or value < least or value > 1:
        raise ConfigError(f"{name} is {value!r}; it has to be a number from {least:g} to 1, or NaN")
    return float(value)


# --- relevant or not --------------------------------------------------------------------------------------------------


def _hits(
    relevance: ArrayLike, k: int | None, judged: ArrayLike | None, nothing_relevant: float
) -> tuple[NDArray[np.bool_], Ints, Callable[[Floats], Floats]]:
    """Check the arguments of a metric of relevant and irrelevant items, and return what it is made of.

    Returns:
        (users, at most k), whether the item at a rank is relevant; (users,), how many are relevant in all; and a
        function that puts the convention in place of the values of users with nothing relevant.
    """
    lists = _lists(relevance)
    convention = _convention("nothing_relevant", nothing_relevant)
    relevant = lists > 0
    total = listed = relevant.sum(axis=1)
    if judged is not None:
        total = (_judged_of(judged, lists) > 0).sum(axis=1)
        if (listed > total).any():
            row = np.flatnonzero(listed > total)[0]
            raise DataError(
                f"judged of user row {row} has {total[row]} relevant items, fewer than the {listed[row]} on the list; "
                "it has to hold those of the list too"
            )
    return relevant[:, : _ranks(lists, k)], total, lambda values: np.where(total > 0, values, convention)


def _ranks(lists: Floats, k: int | None) -> int:
    """Return how many positions there are up to a cut-off."""
    return lists.shape[1] if k is None else min(_cutoff(k), lists.shape[1])


def reciprocal_rank(
    relevance: ArrayLike, k: int | None = None, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Reciprocal rank (at k): 1 / rank of the first relevant item, and 0 if none is on the list (lecture).

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts; all do if None.
        judged: (users, items) grades of everything judged, here only to know who has nothing relevant at all.
        nothing_relevant: the value of users with nothing relevant; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the relevant items of the lists.
        ConfigError: `k` is no whole number from 1, or `nothing_relevant` neither in [0, 1] nor NaN.
    """
    hits, _, with_convention = _hits(relevance, k, judged, nothing_relevant)
    return with_convention(hits.any(axis=1) / (hits.argmax(axis=1) + 1.0))


def mean_reciprocal_rank(
    relevance: ArrayLike, k: int | None = None, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> float:
    """MRR (at k): the mean over users of `reciprocal_rank`, whose arguments and errors it has (both texts)."""
    return mean_over_users(reciprocal_rank(relevance, k, judged=judged, nothing_relevant=nothing_relevant))


def average_precision(
    relevance: ArrayLike, k: int | None = None, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Average precision (at k): the mean of the precision at the rank of each relevant item (both texts).

    Σ over the ranks i ≤ k that hold a relevant item of precision@i, divided by min(|R|, k), with |R| relevant items in
    all. So an item that is not on the list counts as precision 0, and k relevant items in the first k places give 1, as
    in eq. 5 of Krichene and Rendle. trec_eval's AP@k divides by |R|: cut the lists, ``relevance[:, :k]``, pass
    `judged`, and no `k`. Without `judged` the mean is over the relevant items of the list, as the texts describe it.

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts; all do if None.
        judged: (users, items) grades of everything judged, from which |R| is counted; the list's if None.
        nothing_relevant: the value of users with nothing relevant; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the relevant items of the lists.
        ConfigError: `k` is no whole number from 1, or `nothing_relevant` neither in [0, 1] nor NaN.
    """
    hits, total, with_convention = _hits(relevance, k, judged, nothing_relevant)
    so_far = np.cumsum(hits, axis=1, dtype=np.float64)
    so_far *= hits
    precisions = so_far @ (1.0 / np.arange(1, hits.shape[1] + 1))
    averaged = total if k is None else np.minimum(total, k)
    return with_convention(precisions / np.maximum(averaged, 1))


def mean_average_precision(
    relevance: ArrayLike, k: int | None = None, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> float:
    """MAP (at k): the mean over users of `average_precision`, whose arguments and errors it has (both texts)."""
    return mean_over_users(average_precision(relevance, k, judged=judged, nothing_relevant=nothing_relevant))


def precision(
    relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0
) -> Floats:
    """Precision@k: the fraction of the first k items that are relevant (both texts).

    Divided by k also where a list is shorter: what it lacks counts as irrelevant.

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts.
        judged: (users, items) grades of everything judged, here only to know who has nothing relevant at all.
        nothing_relevant: the value of users with nothing relevant; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the relevant items of the lists.
        ConfigError: `k` is no whole number from 1, or `nothing_relevant` neither in [0, 1] nor NaN.
    """
    hits, _, with_convention = _hits(relevance, _cutoff(k), judged, nothing_relevant)
    return with_convention(hits.sum(axis=1) / k)


def recall(relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0) -> Floats:
    """Recall@k: the fraction of the relevant items that are among the first k (article).

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts.
        judged: (users, items) grades of everything judged, from which the relevant are counted; the list's if None.
        nothing_relevant: the value of users with nothing relevant; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the relevant items of the lists.
        ConfigError: `k` is no whole number from 1, or `nothing_relevant` neither in [0, 1] nor NaN.
    """
    hits, total, with_convention = _hits(relevance, _cutoff(k), judged, nothing_relevant)
    return with_convention(hits.sum(axis=1) / np.maximum(total, 1))


def f1(relevance: ArrayLike, k: int, *, judged: ArrayLike | None = None, nothing_relevant: float = 0.0) -> Floats:
    """F1@k: the harmonic mean of precision@k and recall@k, 2 · hits / (k + |R|); 0 where both are 0 (article).

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts.
        judged: (users, items) grades of everything judged, from which |R| is counted; the list's if None.
        nothing_relevant: the value of users with nothing relevant; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the relevant items of the lists.
        ConfigError: `k` is no whole number from 1, or `nothing_relevant` neither in [0, 1] nor NaN.
    """
    hits, total, with_convention = _hits(relevance, _cutoff(k), judged, nothing_relevant)
    return with_convention(2.0 * hits.sum(axis=1) / (k + total))


# --- gains: what a grade is worth -------------------------------------------------------------------------------------


def linear_gain(grades: Floats) -> Floats:
    """Gain of a grade: the grade itself (lecture; Järvelin and Kekäläinen 2002)."""
    return grades


def exponential_gain(grades: Floats) -> Floats:
    """Gain of a grade g: 2^g - 1, the article's industrial DCG (Burges et al. 2005)."""
    return np.exp2(grades) - 1.0


def gain_above(neutral: float) -> Gain:
    """Return the gain max(g - neutral, 0): nothing up to the neutral grade (Breese et al. 1998).

    Args:
        neutral: the grade of an item that the user neither likes nor dislikes, from 0.

    Raises:
        ConfigError: `neutral` is not a finite number from 0.
    """
    if not is_real(neutral) or not 0 <= neutral < np.inf:
        raise ConfigError(f"neutral is {neutral!r}; it has to be a finite number from 0")
    return lambda grades: np.maximum(grades - float(neutral), 0.0)


# --- discounts: what the gain at a rank is divided by -----------------------------------------------------------------


def log2_discount(ranks: Floats) -> Floats:
    """Discount of a rank r: log2(r + 1), so 1, 1.58, 2, … (Burges et al. 2005; trec_eval; eq. 6 of the paper)."""
    return np.log2(ranks + 1.0)


def log_discount_from(base: float) -> Discount:
    """Return the discount max(1, log_b r): none for the first b ranks (lecture; Järvelin and Kekäläinen 2002).

    Args:
        base: b, above 1; the lecture's is 2, whose discounts are 1, 1, 1.58, 2, ….

    Raises:
        ConfigError: `base` is not a finite number above 1.
    """
    base = _parameter("base", base, above=1)
    return lambda ranks: np.maximum(np.log2(ranks) / np.log2(base), 1.0)


def half_life_discount(half_life: float) -> Discount:
    """Return the discount 2^((r - 1) / (half_life - 1)): 1 at rank 1, 2 at the half-life (lecture; Breese et al. 1998).

    Args:
        half_life: α, the rank at which a user looks at the item with probability 1/2, above 1; 5 in Breese et al.

    Raises:
        ConfigError: `half_life` is not a finite number above 1.
    """
    half_life = _parameter("half_life", half_life, above=1)

    def discount(ranks: Floats) -> Floats:
        with np.errstate(over="ignore"):  # to infinity, where the gain comes to 0
            return np.exp2((ranks - 1.0) / (half_life - 1.0))

    return discount


# --- discounted cumulative gain ---------------------------------------------------------------------------------------


def _gains(grades: Floats, gain: Gain) -> Floats:
    """Return the gains of grades, 0 at the padding."""
    padding = np.isnan(grades)
    with np.errstate(over="ignore"):  # refused below
        gains = np.asarray(gain(np.where(padding, 0.0, grades)), dtype=np.float64)
    if gains.shape != grades.shape:
        raise ConfigError(f"the gain of {grades.shape} grades has shape {gains.shape}; it has to be elementwise")
    if not ((gains >= 0) & np.isfinite(gains)).all():
        row, column = np.argwhere(~((gains >= 0) & np.isfinite(gains)))[0]
        raise DataError(
            f"the gain of grade {grades[row, column]:g} of user row {row} is {gains[row, column]:g}; "
            "a gain has to be a finite number from 0"
        )
    return np.where(padding, 0.0, gains)


def _discounted(gains: Floats, k: int | None, discount: Discount) -> Floats:
    positions = _ranks(gains, k)
    divisors = np.asarray(discount(np.arange(1.0, positions + 1)), dtype=np.float64)
    if divisors.shape != (positions,) or not (divisors > 0).all() or (divisors[1:] < divisors[:-1]).any():
        raise ConfigError("a discount has to be one number above 0 for every rank, none smaller than that before")
    return gains[:, :positions] @ (1.0 / divisors)


def dcg(
    relevance: ArrayLike, k: int | None = None, *, gain: Gain = linear_gain, discount: Discount = log2_discount
) -> Floats:
    """Discounted cumulative gain (at k): Σ over the ranks r ≤ k of gain(grade at r) / discount(r) (both texts).

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts; all do if None.
        gain: `linear_gain`, `exponential_gain`, `gain_above`, or a function of an array of grades like these.
        discount: `log2_discount`, `log_discount_from`, `half_life_discount`, or a function of an array of ranks that
            returns divisors which never fall.

    Returns:
        (users,) sums, in the unit of the gain; 0 for a list without gain.

    Raises:
        DataError: `relevance` is malformed, or a gain of it not a finite number from 0.
        ConfigError: `k` is no whole number from 1, or `gain` or `discount` returns what it may not.
    """
    return _discounted(_gains(_lists(relevance), gain), k, discount)


def ndcg(
    relevance: ArrayLike,
    k: int | None = None,
    *,
    gain: Gain = linear_gain,
    discount: Discount = log2_discount,
    judged: ArrayLike | None = None,
    nothing_relevant: float = 0.0,
) -> Floats:
    """Normalised DCG (at k): `dcg` divided by that of the ideal list, the highest gains first (both texts).

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts, on the ideal list too; all do if None.
        gain: as of `dcg`.
        discount: as of `dcg`.
        judged: (users, items) grades of everything judged, of which the ideal list is made; those of the list if None.
        nothing_relevant: the value of users whose ideal list has no gain; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, a gain is not a finite number from 0, or `judged` does not hold the list.
        ConfigError: `k` is no whole number from 1, `gain` or `discount` returns what it may not, or `nothing_relevant`
            is neither in [0, 1] nor NaN.
    """
    convention = _convention("nothing_relevant", nothing_relevant)
    lists = _lists(relevance)
    listed = _gains(lists, gain)
    best = listed if judged is None else _gains(_judged_of(judged, lists), gain)
    best = np.sort(best, axis=1)[:, ::-1]
    if judged is not None:
        _refuse_better_than_judged(listed, best)
    ideal = _discounted(best, k, discount)
    values = _discounted(listed, k, discount) / np.where(ideal > 0, ideal, 1.0)
    return np.where(ideal > 0, np.minimum(values, 1.0), convention)  # a rounding error above 1


def _refuse_better_than_judged(listed: Floats, best: Floats) -> None:
    """Refuse lists whose gains, the highest first, exceed those of what is judged."""
    listed = np.sort(listed, axis=1)[:, ::-1]
    shared = min(listed.shape[1], best.shape[1])
    exceeds = (listed[:, :shared] > best[:, :shared]).any(axis=1) | (listed[:, shared:] > 0).any(axis=1)
    if exceeds.any():
        row = np.flatnonzero(exceeds)[0]
        raise DataError(f"judged of user row {row} lacks grades that are on the list; it has to hold those too")


def half_life_utility(
    relevance: ArrayLike, k: int | None = None, *, neutral: float = 0.0, half_life: float = 5.0
) -> Floats:
    """Half-life utility (at k): Σ over the ranks r of max(grade - neutral, 0) / 2^((r - 1) / (half_life - 1)).

    The utility that a user can expect who looks at every next item less often by the same factor (lecture; R_a of
    Breese et al. 1998). It is `dcg` with `gain_above` and `half_life_discount`. Breese et al. report, of all users
    together, 100 · Σ utility / Σ utility of `ideal_order`.

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts; all do if None.
        neutral: the grade up to which an item has no utility.
        half_life: the rank at which a user looks at the item with probability 1/2.

    Returns:
        (users,) sums, in the unit of the grades.

    Raises:
        DataError: `relevance` is malformed.
        ConfigError: `k` is no whole number from 1, `neutral` no finite number from 0 or `half_life` none above 1.
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
    """Half-life utility (at k) divided by the best that is achievable for the user (lecture).

    It is `ndcg` with `gain_above` and `half_life_discount`.

    Args:
        relevance: (users, positions) grades in ranked order, NaN after the end of a list.
        k: the last rank that counts, on the ideal list too; all do if None.
        neutral: the grade up to which an item has no utility.
        half_life: the rank at which a user looks at the item with probability 1/2.
        judged: (users, items) grades of everything judged, of which the ideal list is made; those of the list if None.
        nothing_relevant: the value of users with no grade above neutral; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1].

    Raises:
        DataError: an array is malformed, or `judged` does not hold the list.
        ConfigError: `k` is no whole number from 1, `neutral` no finite number from 0, `half_life` none above 1, or
            `nothing_relevant` neither in [0, 1] nor NaN.
    """
    return ndcg(
        relevance,
        k,
        gain=gain_above(neutral),
        discount=half_life_discount(half_life),
        judged=judged,
        nothing_relevant=nothing_relevant,
    )


# --- the whole order --------------------------------------------------------------------------------------------------


def _scores(scores: ArrayLike, lists: Floats) -> Floats:
    array = _array(scores, "scores")
    if array.shape != lists.shape:
        raise DataError(f"scores have shape {array.shape} and relevance {lists.shape}; they have to be the same")
    _refuse(np.isinf(array), array, "scores", "a score has to be a finite number")
    _refuse(np.isnan(array) != np.isnan(lists), array, "scores", "NaN has to stand where relevance is NaN, only there")
    rises = np.zeros(array.shape, dtype=bool)
    rises[:, 1:] = array[:, 1:] > array[:, :-1]
    _refuse(rises, array, "scores", "lists are in ranked order, so a score may not exceed that before")
    return array


def _average_ranks(in_order: Floats) -> Floats:
    """Return the ranks of rows that are in order: those of equal numbers are the mean of their positions, from 1."""
    starts_run = np.ones(in_order.shape, dtype=bool)
    starts_run[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    starts = np.flatnonzero(starts_run)
    sizes = np.diff(starts, append=in_order.size)
    return np.repeat(starts % in_order.shape[1] + (sizes + 1) / 2, sizes).reshape(in_order.shape)


def spearman(relevance: ArrayLike, *, scores: ArrayLike | None = None, nothing_to_order: float = np.nan) -> Floats:
    """Spearman's rank correlation of the recommender's order with the user's, tied ranks averaged (lecture).

    Pearson's correlation of the ranks: by the recommender, 1, 2, … down the list, and by the user, the highest grade
    first. Every item of the list counts, so hand over judged items only. Tied items all have the mean of their ranks.

    Args:
        relevance: (users, positions) grades in the recommender's order, NaN after the end of a list.
        scores: (users, positions) the recommender's scores of the same items, none above that before, NaN where
            `relevance` is: equal scores are ties. Without it the recommender ties nothing.
        nothing_to_order: the value of users without an order, on either side: fewer than two items, or all tied. NaN
            leaves them out of the mean.

    Returns:
        (users,) values in [-1, 1]: 1 where the orders are the same, -1 where they are opposite.

    Raises:
        DataError: an array is malformed, or `scores` do not fit `relevance`.
        ConfigError: `nothing_to_order` is neither in [-1, 1] nor NaN.
    """
    convention = _convention("nothing_to_order", nothing_to_order, least=-1.0)
    lists = _lists(relevance)
    lengths = (~np.isnan(lists)).sum(axis=1)[:, np.newaxis]
    best_first = np.argsort(-lists, axis=1)  # the padding last
    present = np.arange(lists.shape[1]) < lengths
    by_user = _average_ranks(np.take_along_axis(lists, best_first, axis=1))
    by_recommender = best_first + 1.0
    if scores is not None:
        by_recommender = np.take_along_axis(_average_ranks(_scores(scores, lists)), best_first, axis=1)
    mean_rank = (lengths + 1) / 2
    by_user = np.where(present, by_user - mean_rank, 0.0)
    by_recommender = np.where(present, by_recommender - mean_rank, 0.0)
    covariance = np.einsum("ij,ij->i", by_user, by_recommender)
    # multiples of 1/4, so that 0 is exactly 0
    spread = np.einsum("ij,ij->i", by_user, by_user) * np.einsum("ij,ij->i", by_recommender, by_recommender)
    return np.where(spread > 0, np.clip(covariance / np.sqrt(np.where(spread > 0, spread, 1.0)), -1, 1), convention)


def concordant_pairs(
    relevance: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    tied: float = 0.5,
    nothing_to_order: float = np.nan,
) -> Floats:
    """Fraction of concordant pairs: of the pairs of items with different grades, those in the right order (lecture).

    Every item of the list counts, so hand over judged items only. Time grows with the square of the positions.

    Args:
        relevance: (users, positions) grades in the recommender's order, NaN after the end of a list.
        scores: (users, positions) the recommender's scores of the same items, none above that before, NaN where
            `relevance` is: equal scores are ties. Without it the recommender ties nothing.
        tied: what a pair with equal scores counts: 1/2, as in the AUC and as if ties were broken at random, or 0, as
            not in the right order.
        nothing_to_order: the value of users without two different grades; NaN leaves them out of the mean.

    Returns:
        (users,) values in [0, 1]; with two grades only, the AUC.

    Raises:
        DataError: an array is malformed, or `scores` do not fit `relevance`.
        ConfigError: `tied` is not in [0, 1], or `nothing_to_order` neither in [0, 1] nor NaN.
    """
    convention = _convention("nothing_to_order", nothing_to_order)
    tied = _convention("tied", tied)
    if np.isnan(tied):
        raise ConfigError("tied is nan; it has to be a number from 0 to 1")
    lists = _lists(relevance)
    ranked = None if scores is None else _scores(scores, lists)
    right, pairs = np.empty(len(lists)), np.empty(len(lists))
    for start in range(0, len(lists), _BLOCK):
        block = slice(start, start + _BLOCK)
        right[block], pairs[block] = _count_pairs(lists[block], None if ranked is None else ranked[block], tied)
    return np.where(pairs > 0, right / np.maximum(pairs, 1), convention)


def _count_pairs(lists: Floats, scores: Floats | None, tied: float) -> tuple[Floats, Floats]:
    """Return (users,) concordant pairs, those with equal scores counted as `tied`, and pairs of different grades."""
    grades = np.ascontiguousarray(lists.T)
    ranked = None if scores is None else np.ascontiguousarray(scores.T)
    counter = np.min_scalar_type(len(grades))  # numpy adds small integers many times faster
    right, pairs = np.zeros(len(lists)), np.zeros(len(lists))
    for i in range(len(grades) - 1):
        above, below = grades[i] > grades[i + 1 :], grades[i] < grades[i + 1 :]  # False beside the padding
        concordant = above.sum(axis=0, dtype=counter)
        right += concordant
        pairs += concordant
        pairs += below.sum(axis=0, dtype=counter)
        if ranked is not None:
            same = ranked[i] == ranked[i + 1 :]
            right += (tied - 1) * (above & same).sum(axis=0, dtype=counter)
            right += tied * (below & same).sum(axis=0, dtype=counter)
    return right, pairs


# --- over users -------------------------------------------------------------------------------------------------------


def mean_over_users(values: ArrayLike) -> float:
    """Mean of a metric over the users for whom it is defined, that is not NaN; NaN if there is none.

    Args:
        values: (users,) values of a metric.

    Raises:
        DataError: the values are not one number for each of one user or more, or infinite.
    """
    refuse_masked(values, "values")
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise DataError(f"values are {array.dtype} of shape {array.shape}; they have to be a number for each user")
    if np.isinf(array).any():
        raise DataError(f"the value of user row {np.flatnonzero(np.isinf(array))[0]} is infinite")
    defined = array[~np.isnan(array)]
    return float(defined.mean()) if defined.size else float("nan")
