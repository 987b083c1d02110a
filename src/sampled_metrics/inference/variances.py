"""The distributions with the smallest and the largest variance that explain the values of users well.

The interval of a width needs them: a width depends on the variance of the values, which some users show only roughly.
The variance of a distribution F is the smallest E_F (y - c)² over c. So the ends of its interval by the likelihood
ratio are

    min over c of the lower end of the mean of (y - c)², and min over c of the upper end,

where the second is the largest variance, as E_F (y - c)² is linear in F and convex in c. The ends of the means are
those of `inference.means`, with the bounds of the values: a value that no user has may be in the distributions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.inference.means import LowerSide

_CLOSE = 1e-5  # of the best c, relative to the largest value


class Law(NamedTuple):
    """A distribution of values.

    Attributes:
        seen: (users,) shares of the users.
        least: share of the smallest possible value, beside them.
        most: share of the largest possible value, beside them.
    """

    seen: Floats
    least: float = 0.0
    most: float = 0.0


def extreme_laws(values: Floats, largest: float, alpha: float) -> tuple[Law, Law]:
    """Return the distributions with the smallest and the largest variance that explain values well.

    Args:
        values: (users,) values from 0 to `largest`.
        largest: the largest possible value.
        alpha: the error rate of both together.

    Examples:
        No user of 60 has a hit. So at most 6 % of users have hits, but for one case in 40:

        >>> _, law = extreme_laws(np.zeros(60), 1.0, alpha=0.05)
        >>> round(law.most, 3)
        0.06
    """
    distinct, group, counts = np.unique(values, return_inverse=True, return_counts=True)

    def of_center(center: float, sign: int) -> LowerSide:
        """Return what decides the lower end of the mean of (y - c)², or of its negative."""
        farthest = max(center, largest - center) ** 2
        bounds = np.array((0.0, farthest) if sign > 0 else (-farthest, 0.0))
        return LowerSide.from_values(sign * (distinct - center) ** 2, counts, bounds)

    laws = []
    for sign in (1, -1):
        best = minimize_scalar(
            lambda center, sign=sign: sign * of_center(center, sign).end(alpha),
            bounds=(0.0, largest),
            method="bounded",
            options={"xatol": _CLOSE * largest},
        )
        shares, beside = of_center(best.x, sign).law(alpha)
        if sign > 0:  # a value at the centre; the nearest one stands for it
            shares[np.abs(distinct - best.x).argmin()] += beside
            laws.append(Law((shares / counts)[group]))
        else:
            is_least = best.x > largest - best.x
            weight = _most_variable(np.append(distinct, largest * (not is_least)), counts, np.append(shares, beside))
            shares, beside = weight * shares + (1 - weight) * counts / counts.sum(), weight * beside
            laws.append(Law((shares / counts)[group], beside * is_least, beside * (not is_least)))
    return laws[0], laws[1]


def _most_variable(values: Floats, counts: Ints, shares: Floats) -> float:
    """Return the weight of a distribution whose mixture with that of the users has the largest variance.

    All mixtures explain the values as well. The variance is a + w b - (m + w d)² in the weight w: that of hits has its
    peak where half of the users have one.
    """
    change = shares - np.append(counts / counts.sum(), 0.0)
    mean, moved = float(counts @ values[:-1] / counts.sum()), float(change @ values)
    if not moved:
        return 1.0
    return float(np.clip((change @ values**2 - 2 * moved * mean) / (2 * moved**2), 0.0, 1.0))
