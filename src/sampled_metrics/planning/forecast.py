"""What an evaluation of some users is expected to show, from values of users and their shares.

An end of an interval is the mean of the values less a depth z s / √U, where s is their standard
deviation. An evaluation of other users has another mean and another s. The end moves by the mean
over its users of

    y - ȳ - depth ((y - ȳ)² / s² - 1) / 2,

the influence of a value y on the end. So the standard deviation of an end, or of a width, over
evaluations is that of the influences, divided by √U.

References:
    F. R. Hampel, The Influence Curve and its Role in Robust Estimation, Journal of the American
    Statistical Association 69, 1974.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from sampled_metrics.checks import Floats
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.inference.means import LowerSide

MOST_USERS = 10_000_000
"""The largest number of users that is planned for."""

DEVIATIONS = 1.959964
"""The quantile of the normal distribution of an interval at 95 %."""

_NO_WIDTH = 1e-12  # a width up to this is one of rounding
_CLOSE = 1.005  # ratio of two numbers of users at which a search ends


class Forecast(NamedTuple):
    """The expected interval of an evaluation.

    Attributes:
        low: expected lower end.
        high: expected upper end.
        low_mean: mean of the values of the lower end.
        high_mean: mean of the values of the upper end.
        low_error: standard deviation of the lower end over evaluations.
        high_error: that of the upper end.
        width_error: that of the width.
    """

    low: float
    high: float
    low_mean: float
    high_mean: float
    low_error: float
    high_error: float
    width_error: float


Possible = Sequence[tuple[float, UserValues]]
"""The values of the users of a recommender that an evaluation may have, each with its chance."""


def forecast(values: UserValues, shares: Floats, users: int, alpha: float) -> Forecast:
    """Return the expected interval of the mean of one metric.

    Args:
        values: of the metric.
        shares: (users of the values,) share of an evaluation's users who have the values of each.
        users: U, the number of users of an evaluation.
        alpha: the error rate of the interval.

    Examples:
        Of 2000 users, 5 % have a hit. The width is about 2 × 1.96 √(.05 × .95 / 2000) = .0191.

        >>> hits = np.array([[0.0, 1.0]])
        >>> values = UserValues(hits, hits, True, np.full((1, 2, 2), (0.0, 1.0)),
        ...     np.array([[0.0, 1.0]]), np.zeros(1))
        >>> expected = forecast(values, np.array([0.95, 0.05]), 2000, 0.05)
        >>> round(expected.high - expected.low, 4)
        0.0193
    """
    smallest, largest = values.limits[0]
    end, influence = _lower_end(values.low[0], values.bounds[0, 0], shares, users, alpha)
    high_values = -(values.low if values.one_value else values.high)[0]
    bounds = -values.bounds[0, 1, ::-1]
    negative_end, negative_influence = _lower_end(high_values, bounds, shares, users, alpha)
    return Forecast(
        low=max(end, smallest),
        high=min(-negative_end, largest),
        low_mean=float(shares @ values.low[0]),
        high_mean=-float(shares @ high_values),
        low_error=_error(influence, shares, users),
        high_error=_error(negative_influence, shares, users),
        width_error=_error(influence + negative_influence, shares, users),
    )


def _lower_end(
    values: Floats, bounds: Floats, shares: Floats, users: int, alpha: float
) -> tuple[float, Floats]:
    """Return the lower end of the mean of (groups,) values, and the influence of each on it."""
    mean = float(shares @ values)
    distances = values - mean
    squares = distances**2
    variance = float(shares @ squares)
    if np.isfinite(bounds).all():
        depth = LowerSide.from_values(values, users * shares, bounds).depth(alpha)
    else:
        depth = -float(stdtrit(users - 1, alpha / 2)) * np.sqrt(variance / users)
    if variance <= 0:
        return mean - depth, np.zeros_like(values)
    return mean - depth, distances - depth * (squares / variance - 1) / 2


def _error(influence: Floats, shares: Floats, users: int) -> float:
    return float(np.sqrt(shares @ influence**2 / users))


class Width(NamedTuple):
    """The width of the interval of evaluations of users of one law.

    Attributes:
        mean: over evaluations.
        spread: standard deviation of its logarithm.
        left: the mean width that remains with any number of users.
    """

    mean: float
    spread: float
    left: float


def has_gap(values: UserValues) -> bool:
    """Return whether values leave a width that remains with any number of users."""
    return not (values.one_value or np.array_equal(values.low, values.high))


def width_of(
    possible: Possible, shares: Floats, users: int, alpha: float, pilot_users: int
) -> Width:
    """Return the width of the interval of values that an evaluation may have.

    The part of the width that remains with any number of users is a mean over the users of the
    pilot. Its error counts, too.
    """
    chances = np.array([chance for chance, _ in possible])
    forecasts = [forecast(values, shares, users, alpha) for _, values in possible]
    widths = np.array([expected.high - expected.low for expected in forecasts])
    left = np.array([expected.high_mean - expected.low_mean for expected in forecasts])
    errors = np.array([expected.width_error for expected in forecasts])
    if any(has_gap(values) for _, values in possible):
        errors = errors * np.sqrt(1 + users / pilot_users)
    mean = float(chances @ widths)
    if widths.min() <= _NO_WIDTH:  # no end can move
        return Width(max(mean, 0.0), 0.0, float(chances @ left))
    logs = np.log(widths)
    within = chances @ (errors / widths) ** 2
    between = chances @ (logs - chances @ logs) ** 2
    return Width(mean, float(np.sqrt(within + between)), float(chances @ left))


class WidthForecast(NamedTuple):
    """The width of the interval of an evaluation of other users, with its interval.

    Attributes:
        width: the expected width.
        low: lower end of its interval.
        high: upper end.
        left: the part of the width that remains with any number of users.
    """

    width: float
    low: float
    high: float
    left: float

    @classmethod
    def from_laws(cls, widths: Sequence[Width], largest: float) -> WidthForecast:
        """Return the width with the users of the pilot, and an interval from those of other laws.

        The pilot and the evaluation are independent. So the distance of an end is the root of the
        sum of two squares: the distance of the mean of a law, and how far the widths of its
        evaluations vary. Both are distances of logarithms.

        Args:
            widths: of the pilot, and of other laws.
            largest: the largest possible width.
        """
        means = [width.mean for width in widths]
        center = means[0]
        if min(means) <= _NO_WIDTH:
            return cls(center, min(means), max(means), widths[0].left)
        below = 0.0
        above = 0.0
        for width in widths:
            moved = float(np.log(width.mean / center))
            distance = float(np.hypot(moved, DEVIATIONS * width.spread))
            if moved <= 0:
                below = max(below, distance)
            if moved >= 0:
                above = max(above, distance)
        high = min(center * float(np.exp(above)), largest)
        return cls(center, center * float(np.exp(-below)), high, widths[0].left)


def chance_above_0(end: float, error: float) -> float:
    """Return the chance that an end is above 0, from its expectation and its standard deviation."""
    if error <= 0:
        return float(end > 0)
    return float(ndtr(end / error))


def users_for(is_enough: Callable[[int], bool]) -> float:
    """Return the smallest number of users, from 2, that is enough; infinite if `MOST_USERS` is not.

    If a number of users is enough, so is every larger one. The result may be too large by half a
    per cent.

    Examples:
        >>> users_for(lambda users: users >= 100)
        100.0
        >>> users_for(lambda users: False)
        inf
    """
    if not is_enough(MOST_USERS):
        return np.inf
    below = 1
    enough = MOST_USERS
    while enough > below + 1 and enough > below * _CLOSE:
        middle = min(max(round(np.sqrt(below * enough)), below + 1), enough - 1)
        if is_enough(middle):
            enough = middle
        else:
            below = middle
    return float(enough)
