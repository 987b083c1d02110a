"""The distributions of the smallest and the largest variance that explain values of users well.

The interval of a width needs them: a width depends on the variance of the values, which some users
show only roughly. The variance of a distribution F is the smallest E_F (y - c)² over c. So the ends
of its interval by the likelihood ratio are

    min over c of the lower end of the mean of (y - c)², and min over c of the upper end,

where the second is the largest variance, as E_F (y - c)² is linear in F and convex in c. The ends
of the means are those of `inference.means`, with the bounds of the values: a value that no user has
may be in the distributions.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from sampled_metrics.checks import Floats
from sampled_metrics.core.inference.means import LowerSide

_CLOSE = 1e-5  # of the best c, relative to the largest value
_GRID = 41  # values of c that are tried first
_BELOW = 0.5 - 1e-9  # just below the middle


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

    def best_center(sign: int) -> float:
        """Return the c with the smallest end.

        The lower end may have several minima in c, so a grid comes first.
        """

        def end(center: float) -> float:
            return sign * of_center(center, sign).end(alpha)

        grid = np.linspace(0.0, largest, _GRID)
        place = int(np.argmin([end(center) for center in grid]))
        bounds = grid[max(place - 1, 0)], grid[min(place + 1, _GRID - 1)]
        best = minimize_scalar(
            end, bounds=bounds, method="bounded", options={"xatol": _CLOSE * largest}
        )
        return float(best.x if best.fun < end(grid[place]) else grid[place])

    # --- the smallest variance
    center = best_center(1)
    least_variable, unseen = of_center(center, 1).law(alpha)
    # unseen values are at the centre, and the nearest distinct value stands for it
    least_variable[np.abs(distinct - center).argmin()] += unseen

    # --- the largest variance: shares of the distinct values, of 0 and of the largest
    points = np.append(distinct, [0.0, largest])
    observed = np.append(counts / counts.sum(), [0.0, 0.0])
    center = best_center(-1)
    # unseen values are at the bound that is farther from c; at the middle, at either
    seen, unseen = of_center(min(center, largest * _BELOW), -1).law(alpha)
    with_largest = np.append(seen, [0.0, unseen])
    seen, unseen = of_center(max(center, largest * (1 - _BELOW)), -1).law(alpha)
    with_zero = np.append(seen, [unseen, 0.0])
    pairs = combinations((observed, with_largest, with_zero), 2)
    mixtures = [_most_variable(points, law_1, law_2) for law_1, law_2 in pairs]
    most_variable = max(mixtures, key=lambda law: _variance(points, law))

    # --- users with the same value share the law's weight of it
    *_, share_of_0, share_of_largest = most_variable.tolist()
    seen = (most_variable[:-2] / counts)[group]
    return Law((least_variable / counts)[group]), Law(seen, share_of_0, share_of_largest)


def _variance(points: Floats, law: Floats) -> float:
    return float(law @ points**2 - (law @ points) ** 2)


def _most_variable(points: Floats, first_law: Floats, second_law: Floats) -> Floats:
    """Return the mixture of two distributions that has the largest variance.

    A mixture explains the values at least as well as the worse of the two. Its variance is a + w b
    - (m + w d)² in the weight w of the second one: that of hits has its peak where half of the
    users have one.
    """
    change = second_law - first_law
    mean = float(first_law @ points)
    moved = float(change @ points)
    rise = float(change @ points**2) - 2 * moved * mean
    weight = float(np.clip(rise / (2 * moved**2), 0.0, 1.0)) if moved else float(rise > 0)
    return first_law + weight * change
