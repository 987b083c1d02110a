"""Search for the law of bounded values whose mean an interval misses most often. It takes seconds.

The intervals of `evaluate` and `compare` of exact ranks are intervals of the mean of users' values between known
bounds: 0 and 1 for a metric, -1 and 1 for a difference. The search imports nothing of the library, so that an interval
can be tried before the library has it. An interval is a function of distinct values and the numbers of users with them:

    from bounded_means import worst
    worst(lambda values, counts, bounds, level: ..., bounds=(-1, 1), users=60)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Interval = Callable[[np.ndarray, np.ndarray, tuple[float, float], float], tuple[float, float]]
"""Function of (values,) increasing values, (values,) numbers of users, bounds and level. It returns the two ends.

The ends are NaN if there is no interval.
"""


@dataclass(frozen=True)
class Law:
    """Values of users, and their probabilities.

    Attributes:
        name: the law in words.
        values: (values,) distinct values.
        probabilities: (values,) probabilities that sum to 1.
    """

    name: str
    values: np.ndarray
    probabilities: np.ndarray

    @property
    def mean(self) -> float:
        """The mean of the values, which an interval should hold."""
        return float(self.values @ self.probabilities)


@dataclass(frozen=True)
class Held:
    """Shares of the simulations of a law. They sum to 1.

    Attributes:
        law: the simulated law.
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
    """Return the shares of the simulations of a law. The interval of equal samples is computed once.

    Laws with the same seed have common random numbers: a user is at the same quantile of each law.
    """
    uniform = np.random.default_rng(seed).random((simulations, users))
    cumulative = np.cumsum(law.probabilities)[:-1]
    drawn = np.searchsorted(cumulative, uniform.ravel(), side="right").reshape(uniform.shape)
    counts = np.stack([(drawn == index).sum(axis=1) for index in range(len(law.values))], axis=1)
    samples, times = np.unique(counts, axis=0, return_counts=True)
    order = np.argsort(law.values)
    ends = np.empty((len(samples), 2))
    for index, sample in enumerate(samples[:, order]):
        seen = sample > 0
        ends[index] = interval(law.values[order][seen], sample[seen], bounds, level)
    share, exists = times / simulations, np.isfinite(ends).all(axis=1)
    below, above = ends[:, 1] < law.mean - 1e-12, ends[:, 0] > law.mean + 1e-12
    width = share[exists] @ np.diff(ends[exists], axis=1)[:, 0] / max(share[exists].sum(), 1e-300)
    shares = (share @ (exists & ~below & ~above), share @ (exists & below), share @ (exists & above), share @ ~exists)
    return Held(law, *map(float, shares), float(width))


def starts(bounds: tuple[float, float], users: int) -> list[Law]:
    """Return the first laws of a search: rare values at an end, one or two other values, and many values."""
    low, high = map(float, bounds)
    laws = []
    rare = np.unique(np.round([0.5 / users, 1 / users, 2 / users, 3 / users, 5 / users, 10 / users, 0.1, 0.3, 0.5], 6))
    for p in rare[(rare > 0) & (rare <= 0.5)]:
        for far, near in ((high, low), (low, high)):
            middle = near + (far - near) * np.array([0.01, 0.1, 0.5])
            for other in (near, *middle):
                laws.append(Law(f"{p:g} at {far:g}, else {other:g}", np.array([other, far]), np.array([1 - p, p])))
            values, probabilities = np.array([near, middle[1], far]), np.array([(1 - p) / 2, (1 - p) / 2, p])
            laws.append(Law(f"{p:g} at {far:g}, else {near:g} or {middle[1]:g}", values, probabilities))
    grid = np.linspace(low, high, 21)
    for power in (1, 2, 4):
        weights = 1 / (1.0 + np.arange(21)) ** power
        laws.append(Law(f"21 values, power {power}", grid, weights / weights.sum()))
    return laws


def changed(law: Law, bounds: tuple[float, float], rng: np.random.Generator) -> Law:
    """Return a law near another one: a value moves, probability moves, or a value is new."""
    low, high = bounds
    values, probabilities = law.values.copy(), law.probabilities.copy()
    index = rng.integers(len(values))
    kind = rng.integers(3) if len(values) < 8 else rng.integers(2)
    if kind == 0:
        step = (high - low) * rng.choice([0.2, 0.03, 0.005]) * rng.normal()
        values[index] = np.clip(values[index] + step, low, high)
    elif kind == 1:
        probabilities[index] *= np.exp(rng.normal() / 2)
    else:
        values = np.append(values, rng.uniform(low, high))
        probabilities = np.append(probabilities, rng.choice([0.2, 0.02, 0.004]))
    values, inverse = np.unique(values, return_inverse=True)
    probabilities = np.bincount(inverse, probabilities)
    probabilities /= probabilities.sum()
    name = ", ".join(f"{p:.4g} at {value:.4g}" for p, value in zip(probabilities, values, strict=True))
    return Law(name if len(values) <= 8 else f"near {law.name}", values, probabilities)


def worst(
    interval: Interval,
    bounds: tuple[float, float] = (0.0, 1.0),
    users: int = 100,
    level: float = 0.95,
    simulations: int = 1000,
    steps: int = 30,
    seed: int = 1,
) -> Held:
    """Return the shares of the law whose mean an interval misses most often, from new simulations.

    The search simulates the first laws, and changes the worst of them step by step with common random numbers.
    """

    def simulated(law: Law) -> Held:
        return coverage(interval, law, bounds, users, level, simulations, seed)

    rng = np.random.default_rng([seed, users])
    worst_held = max(map(simulated, starts(bounds, users)), key=lambda held: held.missed)
    for _ in range(steps):
        near = simulated(changed(worst_held.law, bounds, rng))
        worst_held = max(worst_held, near, key=lambda held: held.missed)
    return coverage(interval, worst_held.law, bounds, users, level, simulations, seed + 1)
