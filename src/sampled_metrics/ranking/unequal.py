"""Negatives that were drawn with unequal, known probabilities, by popularity for instance.

An estimator for uniform samples is wrong for them: a popular item ranks high more often than others do. Two ways out:
*thinning* keeps each draw with the probability q_min / q_j, so that what is kept is a uniform sample, smaller and of a
random size, to which every estimator for samples of unequal m applies; *weighting* by 1 / q_j estimates the rank
(M. H. Hansen and W. N. Hurwitz, On the Theory of Sampling from Finite Populations, 1943), which is unbiased for the
rank and for AUC, and for nothing else.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import refuse_masked
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import refuse_rows


def keep(probability: Floats, smallest: Floats | float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which of the drawn negatives stay; they are a uniform sample. Chances may be in proportion to weights."""
    return rng.random(probability.shape) * probability < smallest


def thin(above: ArrayLike, probability: ArrayLike, smallest: ArrayLike, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Turn a weighted sample, drawn with replacement, into a uniform one of a random size.

    Args:
        above: (events, m) whether each drawn negative scores above the held-out item.
        probability: (events, m) q_j of the drawn negatives, the chance that one draw gives that item.
        smallest: (events,) or one number: q_min, the smallest chance among *all* negatives of the event, drawn or not.
        rng: the random stream.

    Returns:
        x, (events,) kept negatives above the held-out item, and m, (events,) kept negatives, which may be 0: a uniform
        sample with replacement.

    Raises:
        DataError: a probability is not in (0, 1], or below the smallest one: items that are never drawn say nothing
            about how many of them rank above, and no correction can.
    """
    drawn_above, chance = _checked(above, probability)
    refuse_masked(smallest, "smallest")
    least = np.broadcast_to(np.asarray(smallest, dtype=np.float64), len(chance))[:, np.newaxis]
    _refuse(~(least > 0), "has negatives that are never drawn (a smallest probability of 0), which nothing can correct")
    _refuse(chance < least * (1 - 1e-12), "has drawn a negative of less than the smallest probability")
    kept = keep(chance, least, rng)
    return (kept & drawn_above).sum(axis=1), kept.sum(axis=1)


def hansen_hurwitz_rank(above: ArrayLike, probability: ArrayLike) -> Floats:
    """Estimate the (events,) true ranks of the held-out items: 1 + mean over the draws of [above] / q_j.

    The estimates are unbiased if every negative can be drawn; any metric but AUC of them is biased, as those of the
    rank estimate of section 5.1 are. Arguments and errors are as of `thin`.
    """
    drawn_above, chance = _checked(above, probability)
    return 1.0 + np.where(drawn_above, 1.0 / chance, 0.0).mean(axis=1)


def _checked(above: ArrayLike, probability: ArrayLike) -> tuple[np.ndarray, Floats]:
    refuse_masked(above, "above")
    refuse_masked(probability, "probability")
    drawn_above = np.atleast_2d(np.asarray(above, dtype=bool))
    chance = np.atleast_2d(np.asarray(probability, dtype=np.float64))
    if drawn_above.shape != chance.shape or chance.shape[1] == 0:
        raise DataError(
            f"above {drawn_above.shape} and probability {chance.shape} must have the same shape, (events, negatives), "
            "with 1 or more negatives"
        )
    _refuse(~((chance > 0) & (chance <= 1)), "has a probability outside (0, 1]")
    return drawn_above, chance


def _refuse(wrong: ArrayLike, message: str) -> None:
    refuse_rows(np.any(wrong, axis=1), lambda row: message, lambda row: f"event {row + 1}")
