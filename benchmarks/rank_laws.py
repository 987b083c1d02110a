"""Laws of true ranks, of one recommender or of two on the same users, that a search can change step by step.

A law is a mixture of parts, such as single ranks, flat stretches and power laws. It can be written as text and read
back, so that the result of a search can be simulated again.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

ROUNDING = 1e-12
MOST_PARTS = 6
"""Largest number of parts of a changed law, which keeps its largest parts."""


@dataclass(frozen=True)
class Part:
    """A part of a law of ranks 1 ... n. Its kind says what its numbers are.

    - `ranks` first, last: all with the same probability; a single rank if they are equal;
    - `triangle` k: the probabilities fall in equal steps up to rank k;
    - `power` exponent, offset: ∝ (r + offset)^-exponent;
    - `lognormal` mean, deviation: of the logarithm of the rank;
    - `capped` first, shift, most: ∝ 1 / (r - shift) from the first on, but at most `most`.

    Attributes:
        share: share of the users.
        kind: one of the kinds above.
        numbers: numbers in the order above.
    """

    share: float
    kind: str
    numbers: tuple[float, ...]

    def words(self) -> str:
        """Return the part in words."""
        first, *rest = self.numbers
        if self.kind == "ranks":
            return f"{self.share:.4g} at {first:g}" + (f" to {rest[0]:g}" if rest[0] > first else "")
        if self.kind == "triangle":
            return f"{self.share:.4g} falling to {first:g}"
        if self.kind == "power":
            return f"{self.share:.4g} ∝ (r + {rest[0]:.3g})^-{first:.3g}"
        if self.kind == "lognormal":
            return f"{self.share:.4g} lognormal ({first:.3g}, {rest[0]:.3g})"
        return f"{self.share:.4g} ∝ 1 / (r - {rest[0]:g}) from {first:g}, at most {rest[1]:.4g}"

    def probabilities(self, n: int) -> np.ndarray:
        """Return (n,) probabilities of the ranks, without the share."""
        r, numbers = np.arange(1, n + 1), self.numbers
        if self.kind == "ranks":
            weights = 1.0 * ((r >= numbers[0]) & (r <= numbers[1]))
        elif self.kind == "triangle":
            weights = np.maximum(numbers[0] + 1.0 - r, 0.0)
        elif self.kind == "power":
            weights = (r + numbers[1]) ** -numbers[0]
        elif self.kind == "lognormal":
            weights = np.exp(-(((np.log(r) - numbers[0]) / numbers[1]) ** 2) / 2) / r
        elif self.kind == "capped":
            weights = _capped(r, *numbers)
        else:
            raise ValueError(f"no part of a law is called {self.kind}")
        return weights / weights.sum()


def _capped(r: np.ndarray, first: float, shift: float, most: float) -> np.ndarray:
    possible = r >= first
    falling = np.where(possible, 1.0 / np.where(possible, r - shift, 1.0), 0.0)
    scale = brentq(lambda c: np.minimum(c * falling, most * possible).sum() - 1, 0.0, 1.0 / falling[possible].min())
    return np.minimum(scale * falling, most * possible)


Law = tuple[Part, ...]
"""The parts of a law; their shares sum to 1."""


def ranks(first: int, last: int | None = None, share: float = 1.0) -> Part:
    """Return the part of a single rank, or of ranks with the same probability."""
    return Part(share, "ranks", (first, first if last is None else last))


def law(*parts: Part) -> Law:
    """Return the law of some parts. Equal parts become one, and the shares are scaled to sum to 1."""
    shares: dict[tuple[str, tuple[float, ...]], float] = {}
    for part in parts:
        key = part.kind, part.numbers
        shares[key] = shares.get(key, 0.0) + part.share
    total = sum(shares.values())
    return tuple(Part(share / total, *key) for key, share in shares.items() if share > ROUNDING * total)


def mixed(one: Law, other: Law, share: float) -> Law:
    """Return the first law with a share of the second."""
    scaled = [
        Part(part.share * factor, part.kind, part.numbers)
        for parts, factor in ((one, 1 - share), (other, share))
        for part in parts
    ]
    return law(*scaled)


@lru_cache(maxsize=1000)
def rank_probabilities(parts: Law, n: int) -> np.ndarray:
    """Return (n,) probabilities of the ranks."""
    weights = sum(part.share * part.probabilities(n) for part in parts)
    return np.asarray(weights / np.sum(weights))


def has_shape(probabilities: np.ndarray, shape: str) -> bool:
    """Return whether the probabilities of ranks meet an assumption, which is on the better half of the ranks only."""
    better_half = probabilities[: max(1, len(probabilities) // 2)]
    steps = np.diff(better_half)
    if shape == "decreasing":
        return bool((steps <= ROUNDING).all())
    if shape == "convex":
        return bool((steps <= ROUNDING).all() and (np.diff(steps) >= -ROUNDING).all())
    return True


@dataclass(frozen=True)
class Population:
    """The true ranks of one recommender, or of two on the same users.

    Attributes:
        sides: the law of each recommender.
        coupled: the share of users whose ranks by two recommenders are at the same quantile of both laws. If it is
            negative, they are at opposite quantiles. The ranks of the other users are independent.
    """

    sides: tuple[Law, ...]
    coupled: float = 0.0

    def words(self) -> str:
        """Return the population in words."""
        laws = [" + ".join(part.words() for part in side) for side in self.sides]
        if len(laws) == 1:
            return laws[0]
        direction = "opposite" if self.coupled < 0 else "coupled"
        users = "independent" if self.coupled == 0 else f"{abs(self.coupled):.2g} {direction}"
        return f"A: {laws[0]}; B: {laws[1]}; users: {users}"

    def text(self) -> str:
        """Return the population as JSON."""
        sides = [[[part.share, part.kind, *part.numbers] for part in side] for side in self.sides]
        return json.dumps({"sides": sides, "coupled": self.coupled})

    @classmethod
    def from_text(cls, text: str) -> "Population":
        """Return the population of a result of `text`."""
        fields = json.loads(text)
        sides = tuple(
            tuple(Part(share, kind, tuple(numbers)) for share, kind, *numbers in side) for side in fields["sides"]
        )
        return cls(sides, fields["coupled"])

    def keeps(self, shape: str, n: int) -> bool:
        """Return whether all laws have a shape."""
        return all(has_shape(rank_probabilities(side, n), shape) for side in self.sides)

    def truth(self, values: np.ndarray) -> float:
        """Return the true metric, or its difference B - A, from the (n,) values of the metric by rank."""
        means = [float(rank_probabilities(side, len(values)) @ values) for side in self.sides]
        return means[-1] - (means[0] if len(means) == 2 else 0.0)

    def worse(self, values: np.ndarray) -> float:
        """Return the smaller true metric of the recommenders."""
        return min(float(rank_probabilities(side, len(values)) @ values) for side in self.sides)

    def balanced(self, values: np.ndarray, ratio: float = 1.0, margin: float = 0.0) -> "Population":
        """Return a population in which the second metric is the first one times a ratio, and a margin.

        One law gets more users at rank 1. The population is the same if that is not possible.
        """
        first, second = (float(rank_probabilities(side, len(values)) @ values) for side in self.sides)
        gap = second - ratio * first - margin
        number, metric, missing = (0, first, gap / ratio) if gap > 0 else (1, second, -gap)
        if metric >= values[0] or missing < ROUNDING or missing > values[0] - metric:
            return self
        sides = list(self.sides)
        sides[number] = mixed(sides[number], law(ranks(1)), missing / (values[0] - metric))
        return Population(tuple(sides), self.coupled)

    def draw(self, n: int, users: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return (users,) true ranks of each recommender. The same generator gives common random numbers."""
        uniform, independent, choice = rng.random((3, users))
        dependent = uniform if self.coupled >= 0 else 1 - uniform
        quantiles = (uniform, np.where(choice < abs(self.coupled), dependent, independent))
        return tuple(
            np.searchsorted(np.cumsum(rank_probabilities(side, n))[:-1], quantile, side="right") + 1
            for side, quantile in zip(self.sides, quantiles, strict=False)
        )


# --- first laws of a search -------------------------------------------------------------------------------------------


def starts(n: int, users: int) -> Iterator[Law]:
    """Yield laws of many shapes; the first ones differ most."""
    half = n // 2
    yield law(ranks(1, half))
    yield law(ranks(1, n))
    yield law(ranks(1, share=0.05), ranks(1, half, share=0.95))
    for p in (0.01, min(0.3, 3 / users)):
        yield law(ranks(1, share=p), ranks(half + 1, n, share=1 - p))
    yield law(Part(1.0, "power", (1.0, 0.0)))
    yield law(ranks(11))
    yield law(ranks(1, n // 3))
    yield law(Part(0.1, "triangle", (n // 10,)), Part(0.9, "ranks", (1, half)))
    yield law(ranks(1, 10, share=0.01), ranks(n, share=0.99))
    yield law(Part(1.0, "lognormal", (5.0, 2.5)))
    yield law(ranks(1, 10))
    yield law(Part(0.1, "ranks", (1, 10)), Part(0.9, "ranks", (1, half)))
    yield law(ranks(1, n // 10, share=0.3), ranks(half + 1, n, share=0.7))
    yield law(Part(1.0, "power", (1.5, 0.0)))
    yield law(Part(1.0, "triangle", (half,)))
    yield law(ranks(1, share=0.05), ranks(1, n, share=0.95))
    yield law(ranks(10, share=0.5), ranks(11, share=0.5))
    yield law(ranks(1, share=0.99), ranks(n, share=0.01))
    yield law(ranks(1, n // 10))
    for p in (0.004, 0.03, 0.1, min(0.3, 1 / users)):
        yield law(ranks(1, share=p), ranks(half + 1, n, share=1 - p))
    yield law(ranks(1, share=0.95), ranks(n, share=0.05))
    yield law(ranks(1, 10, share=0.05), ranks(n, share=0.95))
    yield law(ranks(1, share=0.2), ranks(11, share=0.8))
    for rank in (2, 88, half):
        yield law(ranks(rank))
    yield law(ranks(1, 20))
    for exponent, offset in ((0.7, 2.0), (1.0, 60.0)):
        yield law(Part(1.0, "power", (exponent, offset)))
    yield law(Part(1.0, "lognormal", (3.0, 1.0)))
    for k in (n // 3, n // 10, 10):
        yield law(Part(1.0, "triangle", (k,)))


def rare_hits(n: int) -> Iterator[Population]:
    """Yield pairs of about equal AP: rare hits at rank 1 and other ranks in the worse half, and a constant rank."""
    for k in (88, 30, 160, 10, 200):
        yield Population((law(ranks(n // 2 + 1, n)), law(ranks(k))))
    yield Population((law(ranks(n)), law(ranks(45))))


def capped_pair(n: int) -> Population:
    """Return two decreasing laws with equal Recall@10: one is flat in the middle, the other falls from the start."""
    top = Part(0.1, "ranks", (1, 10))
    return Population((law(top, Part(0.9, "ranks", (11, 200))), law(top, Part(0.9, "capped", (11, 8, 0.01 / 0.9)))))


def pairs(n: int, users: int) -> Iterator[Population]:
    """Yield pairs of laws, with independent, coupled and opposite users."""
    half = n // 2
    power, steep = law(Part(1.0, "power", (1.0, 0.0))), law(Part(1.0, "power", (1.5, 0.0)))
    lognormal, flat = law(Part(1.0, "lognormal", (5.0, 2.5))), law(ranks(1, half))
    all_ranks, third = law(ranks(1, n)), law(ranks(1, n // 3))
    yield capped_pair(n)
    yield Population((flat, flat))
    yield Population((law(Part(0.05, "ranks", (1, 10)), ranks(1, n, share=0.95)), third))
    yield Population((power, lognormal))
    yield Population((flat, power))
    yield Population((flat, power), 1.0)
    yield Population((steep, third), 1.0)
    yield Population((all_ranks, third), -1.0)
    yield Population((power, power), 0.9)
    yield Population((law(Part(1.0, "triangle", (half,))), law(Part(1.0, "triangle", (n // 10,)))))
    rare = law(ranks(1, share=min(0.02, 3 / users)), ranks(half + 1, n, share=1 - min(0.02, 3 / users)))
    yield Population((rare, rare))
    yield Population((rare, law(ranks(20, share=0.3), ranks(n, share=0.7))))
    yield Population((law(ranks(n)), law(ranks(1, share=0.02), ranks(n, share=0.98))))
    yield Population((law(ranks(1)), law(ranks(1, share=0.98), ranks(n, share=0.02))))
    yield Population((law(ranks(11)), law(ranks(10, share=0.05), ranks(12, share=0.95))))


# --- changes ----------------------------------------------------------------------------------------------------------


def changed(old: Law, shape: str, n: int, others: list[Law], rng: np.random.Generator) -> Law:
    """Return a law of the shape near an old one; the old one if no change keeps the shape."""
    for _ in range(50):
        kind = rng.integers(5)
        if kind == 0:
            new = _other_share(old, rng)
        elif kind == 1:
            new = _other_number(old, n, rng)
        elif kind == 2:
            new = mixed(old, law(_new_part(shape, n, rng)), 10 ** rng.uniform(-2.5, -0.3))
        elif kind == 3:
            new = mixed(old, others[rng.integers(len(others))], rng.choice([0.03, 0.1, 0.3]))
        else:
            new = law(*np.delete(np.array(old, dtype=object), rng.integers(len(old)))) if len(old) > 1 else old
        new = law(*sorted(new, key=lambda part: -part.share)[:MOST_PARTS])
        if new != old and has_shape(rank_probabilities(new, n), shape):
            return new
    return old


def _other_share(parts: Law, rng: np.random.Generator) -> Law:
    """Return a law with another share of one part."""
    index = rng.integers(len(parts))
    part = parts[index]
    other = Part(part.share * np.exp(0.7 * rng.normal()), part.kind, part.numbers)
    return law(*parts[:index], other, *parts[index + 1 :])


def _other_number(parts: Law, n: int, rng: np.random.Generator) -> Law:
    """Return a law with another number of one part."""
    index = rng.integers(len(parts))
    part = parts[index]
    factor = float(np.exp(rng.choice([0.05, 0.5]) * rng.normal()))

    def moved(rank: float) -> float:
        other = round(rank * factor)
        if other == rank:
            other += 1 if factor > 1 else -1
        return float(min(max(other, 1), n))

    numbers = part.numbers
    if part.kind == "ranks" and numbers[0] == numbers[1]:
        numbers = (moved(numbers[0]),) * 2
    elif part.kind == "ranks":
        end = 1 if numbers[0] == 1 else rng.integers(2)
        numbers = (moved(numbers[0]), numbers[1]) if end == 0 else (numbers[0], moved(numbers[1]))
        numbers = (min(numbers), max(numbers))
    elif part.kind == "triangle":
        numbers = (moved(numbers[0]),)
    elif part.kind != "capped":
        which = rng.integers(2)
        numbers = tuple(number * factor if place == which else number for place, number in enumerate(numbers))
    return law(*parts[:index], Part(part.share, part.kind, numbers), *parts[index + 1 :])


def _new_part(shape: str, n: int, rng: np.random.Generator) -> Part:
    half = max(1, n // 2)
    if rng.random() < 0.25:
        first = int(rng.integers(half + 1, n + 1))
        return ranks(first, n if rng.random() < 0.5 else first)
    k = round(half ** rng.random())
    if shape == "convex":
        return Part(1.0, "triangle", (k,)) if rng.random() < 0.8 else ranks(1, half)
    return ranks(1 if shape == "decreasing" or rng.random() < 0.3 else k, k)


def changed_population(
    old: Population, shape: str, n: int, others: list[Population], rng: np.random.Generator
) -> Population:
    """Return a population near an old one, with the same shape."""
    sides = list(old.sides)
    if len(sides) == 2 and rng.random() < 0.15:
        return Population(old.sides, float(rng.choice([0.0, 0.5, 0.9, 1.0, -1.0])))
    index = rng.integers(len(sides))
    laws = [side for population in others for side in population.sides]
    sides[index] = changed(sides[index], shape, n, laws, rng)
    return Population(tuple(sides), old.coupled)
