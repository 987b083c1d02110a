"""How often an interval of the mean of bounded values holds it: a search for the worst law, in seconds.

`evaluate` and `compare` of exact ranks are intervals of the mean of users' values between known bounds: 0 and 1 of a
metric, -1 and 1 of a difference. This file looks for laws of such values, and needs nothing of the library, so a
candidate for the interval can be tried before it is built in. It is a function of distinct values and how many users
have them:

    from bounded_means import worst
    worst(lambda values, counts, bounds, level: ..., bounds=(-1, 1), users=60)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Interval = Callable[[np.ndarray, np.ndarray, tuple[float, float], float], tuple[float, float]]
"""From (values,) increasing values, (values,) numbers of users, the bounds, and the level to the ends; NaN: none."""


@dataclass(frozen=True)
class Law:
    """Values of users, and their probabilities.

    Attributes:
        name: of a report.
        values: (values,) distinct.
        chances: (values,) that sum to 1.
    """

    name: str
    values: np.ndarray
    chances: np.ndarray

    @property
    def mean(self) -> float:
        """The truth."""
        return float(self.values @ self.chances)


@dataclass(frozen=True)
class Held:
    """Shares of the simulations of a law; together they are 1.

    Attributes:
        law: what was simulated.
        covered: the interval holds the mean.
        missed_below: the interval is below the mean.
        missed_above: the interval is above the mean.
        refused: there is no interval.
        width: the mean width of the intervals.
    """

    law: Law
    covered: float
    missed_below: float
    missed_above: float
    refused: float
    width: float

    @property
    def missed(self) -> float:
        """The share of wrong intervals."""
        return self.missed_below + self.missed_above


def coverage(
    interval: Interval, law: Law, bounds: tuple[float, float], users: int, level: float, simulations: int, seed: int
) -> Held:
    """Simulate a law; the intervals of equal samples are computed once.

    Laws that are simulated with the same seed have common random numbers: a user is at the same quantile of both.
    """
    uniform = np.random.default_rng(seed).random((simulations, users))
    last = np.cumsum(law.chances)[:-1]
    drawn = np.searchsorted(last, uniform.ravel(), side="right").reshape(uniform.shape)
    counts = np.stack([(drawn == at).sum(axis=1) for at in range(len(law.values))], axis=1)
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    order = np.argsort(law.values)
    ends = np.empty((len(distinct), 2))
    for at, row in enumerate(distinct[:, order]):
        seen = row > 0
        ends[at] = interval(law.values[order][seen], row[seen], bounds, level)
    share, given = times / simulations, np.isfinite(ends).all(axis=1)
    below, above = ends[:, 1] < law.mean - 1e-12, ends[:, 0] > law.mean + 1e-12
    width = share[given] @ np.diff(ends[given], axis=1)[:, 0] / max(share[given].sum(), 1e-300)
    shares = (share @ (given & ~below & ~above), share @ (given & below), share @ (given & above), share @ ~given)
    return Held(law, *map(float, shares), float(width))


def starts(bounds: tuple[float, float], users: int) -> list[Law]:
    """Return laws to begin with: rare values at an end, one or two other values, and many values."""
    low, high = map(float, bounds)
    found = []
    rare = np.unique(np.round([0.5 / users, 1 / users, 2 / users, 3 / users, 5 / users, 10 / users, 0.1, 0.3, 0.5], 6))
    for p in rare[(rare > 0) & (rare <= 0.5)]:
        for far, near in ((high, low), (low, high)):
            middle = near + (far - near) * np.array([0.01, 0.1, 0.5])
            found.append(Law(f"{p:g} at {far:g}, else {near:g}", np.array([near, far]), np.array([1 - p, p])))
            for other in middle:
                found.append(Law(f"{p:g} at {far:g}, else {other:g}", np.array([other, far]), np.array([1 - p, p])))
            values, chances = np.array([near, middle[1], far]), np.array([(1 - p) / 2, (1 - p) / 2, p])
            found.append(Law(f"{p:g} at {far:g}, else {near:g} or {middle[1]:g}", values, chances))
    grid = np.linspace(low, high, 21)
    for power in (1, 2, 4):
        chances = 1 / (1.0 + np.arange(21)) ** power
        found.append(Law(f"21 values, power {power}", grid, chances / chances.sum()))
    return found


def changed(law: Law, bounds: tuple[float, float], rng: np.random.Generator) -> Law:
    """Return a law near another one: a value moves, probability moves, or a value is new."""
    low, high = bounds
    values, chances = law.values.copy(), law.chances.copy()
    at = rng.integers(len(values))
    kind = rng.integers(3) if len(values) < 8 else rng.integers(2)
    if kind == 0:
        values[at] = np.clip(values[at] + (high - low) * rng.choice([0.2, 0.03, 0.005]) * rng.normal(), low, high)
    elif kind == 1:
        chances[at] *= np.exp(rng.normal() / 2)
    else:
        values, chances = np.append(values, rng.uniform(low, high)), np.append(chances, rng.choice([0.2, 0.02, 0.004]))
    values, which = np.unique(values, return_inverse=True)
    chances = np.bincount(which, chances)
    chances /= chances.sum()
    name = ", ".join(f"{p:.4g} at {value:.4g}" for p, value in zip(chances, values, strict=True))
    return Law(name if len(values) <= 8 else f"near {law.name}", values, chances)


def worst(
    interval: Interval,
    bounds: tuple[float, float] = (0.0, 1.0),
    users: int = 100,
    level: float = 0.95,
    simulations: int = 1000,
    steps: int = 30,
    seed: int = 1,
) -> Held:
    """Return the law that an interval misses most often, by new simulations.

    The starts are simulated, the worst is changed step by step with common random numbers, and the last one is
    simulated anew.
    """

    def tried(law: Law) -> Held:
        return coverage(interval, law, bounds, users, level, simulations, seed)

    rng = np.random.default_rng([seed, users])
    found = max((tried(law) for law in starts(bounds, users)), key=lambda each: each.missed)
    for _ in range(steps):
        found = max(found, tried(changed(found.law, bounds, rng)), key=lambda each: each.missed)
    return coverage(interval, found.law, bounds, users, level, simulations, seed + 1)
